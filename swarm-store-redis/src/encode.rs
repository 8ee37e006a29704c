//! Splits queries and transactions into their shapes, and encodes the arguments of the scripts for these.

use std::borrow::Cow;
use std::sync::Arc;

use swarm_core::domain::{Digest, hex};
use swarm_core::store::Result;
use swarm_core::store::backend::shape::{Bindings, Place, WriteShape, of_queries, of_transaction};
use swarm_core::store::backend::{
    CommitId, Entry, Head, Item, Kind, Operation, PartSet, Query, Range, Table, Transaction, Value,
    Veil, Write, key_of,
};

use crate::keys::Keys;
use crate::schema::{Code, TOPICS, code};
use crate::script::{Argument, Cache, CommitShape, Compiled, PartKind, Piece, ReadShape};
use crate::script_call::{LONG, ScriptCall};
use crate::value::append_digest;

/// The size from which a part is not stored with its record, in bytes, so that a query without it reads less.
const INLINE: usize = 4 << 10;

/// The largest number with which a script calculates exactly. Larger ones are limits that nothing reaches.
const EXACT: i64 = 1 << 53;

/// The limit from which an answer may be large.
const LARGE: usize = 1_000;

/// The scripts that were compiled so far.
#[derive(Default)]
pub(crate) struct Scripts {
    reads: Cache<ReadShape>,
    commits: Cache<CommitShape>,
}

/// What a script is called with.
pub(crate) struct Encoded {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) fields: Arguments,
    pub(crate) arguments: Arguments,
}

/// Arguments, one after another.
#[derive(Default)]
pub(crate) struct Arguments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Arguments {
    /// Ends an argument, whose bytes were appended.
    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn push(&mut self, argument: &[u8]) {
        self.bytes.extend_from_slice(argument);
        self.end();
    }

    pub(crate) fn pass(&self, script: &mut ScriptCall<'_>) {
        let mut start = 0;
        for end in &self.ends {
            script.arg(self.bytes.get(start..*end).unwrap_or_default());
            start = *end;
        }
    }
}

/// Queries, encoded.
pub(crate) struct EncodedQueries {
    pub(crate) call: Encoded,
    /// Whether an answer may be so long that others should not wait for it.
    pub(crate) is_large: bool,
}

/// A transaction, encoded.
pub(crate) struct EncodedTransaction {
    pub(crate) call: Encoded,
    /// The key under which its outcome is kept.
    pub(crate) attempt: Option<String>,
    pub(crate) long_parts: Vec<LongPart>,
}

/// A part so long that it is in a key of its own, in pieces.
pub(crate) struct LongPart {
    pub(crate) key: String,
    pub(crate) staged: String,
    pub(crate) pieces: Vec<String>,
    /// The position of the text, and the name of the part.
    text: usize,
    name: String,
}

impl LongPart {
    /// The keys that its commit uses.
    pub(crate) fn keys(&self) -> [&String; 2] {
        [&self.key, &self.staged]
    }
}

impl EncodedTransaction {
    /// The size of the arguments.
    pub(crate) fn len(&self) -> usize {
        self.call.fields.bytes.len() + self.call.arguments.bytes.len()
    }
}

impl Scripts {
    /// Encodes queries. If they are judged, only a server that takes writes may answer.
    pub(crate) fn queries(
        &self,
        op: Operation,
        queries: &[Query],
        is_judged: bool,
    ) -> Result<EncodedQueries> {
        let is_large = queries.iter().any(|query| match query {
            Query::Rows(Range { limit, .. }) => *limit > LARGE,
            Query::Entries(entries) => entries.limit > LARGE,
            _ => false,
        });
        let (queries, bindings) = of_queries(queries);
        let shape = ReadShape { queries, is_judged };
        let compiled = self.reads.get(shape, |shape| shape.compile(op))?;
        let values = Values {
            bindings: &bindings,
            id: CommitId([0; 16]),
            seen: &Head::default(),
            long_parts: &[],
            parts: &[],
        };
        Ok(EncodedQueries { call: values.call(compiled), is_large })
    }

    /// Encodes a transaction.
    pub(crate) fn transaction(
        &self,
        op: Operation,
        keys: &Keys,
        transaction: &Transaction,
    ) -> Result<EncodedTransaction> {
        self.commit(op, keys, transaction, false)
    }

    /// Encodes a transaction that loads these records. The time until they expire is to follow as the last argument.
    pub(crate) fn load(
        &self,
        op: Operation,
        keys: &Keys,
        id: CommitId,
        items: Vec<Item>,
    ) -> Result<EncodedTransaction> {
        let (mut sequences, mut entries, mut topics) = (Vec::new(), Vec::new(), Vec::new());
        let (mut writes, mut head) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Write(write) => writes.push(write),
                Item::Sequence(name, number) => {
                    sequences.push([b"sequence ", name.as_bytes()].concat());
                    sequences.push(number.to_string().into_bytes());
                }
                Item::Entry(log, entry) => {
                    entries.push(stored_entry(&entry));
                    topics.extend(entry.topic.map(|topic| topic_entry(topic, entry.seq.0)));
                    head = stored_head(log, &entry);
                }
            }
        }
        let mut encoded = self.commit(op, keys, &loading(id, writes), true)?;
        let arguments = &mut encoded.call.arguments;
        arguments.push((sequences.len() / 2).to_string().as_bytes());
        sequences.iter().for_each(|argument| arguments.push(argument));
        for list in [entries, topics] {
            arguments.push(list.len().to_string().as_bytes());
            list.iter().for_each(|argument| arguments.push(argument));
        }
        arguments.push(&head);
        Ok(encoded)
    }

    fn commit(
        &self,
        op: Operation,
        keys: &Keys,
        transaction: &Transaction,
        is_load: bool,
    ) -> Result<EncodedTransaction> {
        let (shape, bindings) = of_transaction(transaction);
        let mut parts = vec![PartKind::Inside; bindings.texts.len()];
        let mut long_parts = Vec::new();
        for (count, write) in shape.writes.iter().enumerate() {
            let (WriteShape::Insert(table, columns, first)
            | WriteShape::Put(table, columns, first)) = write
            else {
                continue;
            };
            for part in 0..table.parts.len() {
                let at = first + part;
                let Some(Some(text)) = bindings.texts.get(at) else { continue };
                let Some(kind) = parts.get_mut(at) else { continue };
                if is_veiled(table, part, columns, &bindings) {
                    *kind = PartKind::Veiled;
                } else if text.len() >= LONG {
                    *kind = PartKind::Apart;
                    let key = columns.get(..table.key).unwrap_or_default();
                    let name = name(key, &bindings, transaction.id, count, part, text);
                    let (key, staged) =
                        (keys.part(table, &name), keys.staged(table, &name, transaction.id));
                    long_parts.push(LongPart { key, staged, pieces: pieces(text), text: at, name });
                } else if text.len() >= INLINE {
                    *kind = PartKind::Beside;
                }
            }
        }
        let nulls = bindings.values.iter().enumerate().filter(|(_, value)| value.is_null());
        let nulls = nulls.map(|(place, _)| place).collect();
        let shape = CommitShape { shape, parts: parts.clone(), nulls, is_load };
        let compiled = self.commits.get(shape, |shape| shape.compile(op))?;
        let Transaction { id, seen, .. } = transaction;
        let values =
            Values { bindings: &bindings, id: *id, seen, long_parts: &long_parts, parts: &parts };
        let call = values.call(compiled);
        // A repetition is recognized by its record.
        let attempt = transaction.repetition.is_none().then(|| keys.attempt(*id));
        Ok(EncodedTransaction { call, attempt, long_parts })
    }
}

/// The number of the values that are stored in a record before this column, which is not of the key: the version is the first.
fn values_before(table: &Table, column: usize) -> usize {
    1 + column.saturating_sub(table.key)
}

/// Whether a part of a record with these columns can be veiled.
fn is_veiled(table: &Table, part: usize, columns: &[Place], bindings: &Bindings<'_>) -> bool {
    let veil = table.veil_of(part, PartSet::SHOWN);
    match veil.and_then(|veil| columns.get(veil.having)) {
        Some(Place::Bound(value)) => bindings.values.get(*value).is_some_and(|it| !it.is_null()),
        Some(_) => true,
        None => false,
    }
}

/// The transaction that makes these changes.
fn loading(id: CommitId, writes: Vec<Write>) -> Transaction {
    Transaction {
        id,
        kind: Kind::Aside,
        seen: Head::default(),
        repetition: None,
        checks: Vec::new(),
        sequences: Vec::new(),
        writes,
        entries: Vec::new(),
        erases: false,
    }
}

/// The values of a call.
struct Values<'a> {
    bindings: &'a Bindings<'a>,
    id: CommitId,
    seen: &'a Head,
    long_parts: &'a [LongPart],
    /// Where each text is stored.
    parts: &'a [PartKind],
}

impl Values<'_> {
    fn call(&self, compiled: Arc<Compiled>) -> Encoded {
        let encoded = |arguments: &[Argument]| {
            let mut encoded = Arguments::default();
            for argument in arguments {
                self.argument(&mut encoded.bytes, argument);
                encoded.end();
            }
            encoded
        };
        let (fields, arguments) = (encoded(&compiled.fields), encoded(&compiled.arguments));
        Encoded { compiled, fields, arguments }
    }

    fn argument(&self, out: &mut Vec<u8>, argument: &Argument) {
        match argument {
            Argument::Bytes(pieces) => self.bytes(out, pieces),
            Argument::Number(value) => {
                let number = self.integer(*value).clamp(-EXACT, EXACT);
                out.extend_from_slice(number.to_string().as_bytes());
            }
            Argument::Index(seq) => {
                let place = self.integer(*seq).checked_sub(1).filter(|place| *place >= 0);
                out.extend_from_slice(place.unwrap_or(EXACT).to_string().as_bytes());
            }
            Argument::Topic(topic, after) => {
                let after = u64::try_from(self.integer(*after)).unwrap_or(0);
                out.push(b'[');
                out.extend(topic_entry(self.integer(*topic), after.saturating_add(1)));
            }
            Argument::Id => out.extend(self.id.0),
            Argument::Seen => {
                let Head { log, size, commit, .. } = self.seen;
                out.extend([log.to_be_bytes(), size.0.to_be_bytes()].concat());
                out.extend(commit.map_or([0; 16], |commit| commit.0));
            }
            Argument::Parts(table, first, referred) => self.parts(out, table, *first, referred),
            Argument::Names(table, first) => {
                let is_of =
                    |part: &&LongPart| (*first..first + table.parts.len()).contains(&part.text);
                let names = self.long_parts.iter().filter(is_of);
                names.for_each(|part| out.extend_from_slice(part.name.as_bytes()));
            }
            Argument::Text(text) => {
                out.extend_from_slice(self.text(*text).unwrap_or_default().as_bytes());
            }
            Argument::Pieces => {
                let count = |part: &LongPart| u32::try_from(part.pieces.len()).unwrap_or(u32::MAX);
                out.extend(self.long_parts.iter().flat_map(|part| count(part).to_be_bytes()));
            }
            Argument::Entry(text, is_plain) => out.extend(entry_text(self.text(*text), *is_plain)),
            Argument::Blocks(blocks) => out.extend_from_slice(blocks),
        }
    }

    fn bytes(&self, out: &mut Vec<u8>, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Value(value) => {
                    if let Some(value) = self.bindings.values.get(*value) {
                        value.append_to(out);
                    }
                }
                Piece::Length(values) => {
                    let mut key = Vec::with_capacity(64);
                    let values = values.iter().filter_map(|at| self.bindings.values.get(*at));
                    values.for_each(|value| value.append_to(&mut key));
                    out.extend(u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
                }
                Piece::Id => Value::from(&self.id.0[..]).append_to(out),
                Piece::Digest(values) => {
                    let mut bytes = Vec::with_capacity(96);
                    let values = values.iter().filter_map(|at| self.bindings.values.get(*at));
                    values.for_each(|value| value.append_to(&mut bytes));
                    append_digest(out, &bytes);
                }
            }
        }
    }

    /// The text with references to columns in the place of their values; `None` if there are none.
    fn shortened(&self, text: &str, referred: &[(usize, usize)]) -> Option<String> {
        const WORTHWHILE: usize = 8;
        let mut short = Cow::Borrowed(text);
        for (column, value) in referred {
            let value = self.bindings.values.get(*value).and_then(|value| value.text());
            let value = value.filter(|it| it.len() >= WORTHWHILE && !it.contains(SUBSTITUTE));
            if let Some(value) = value.filter(|value| short.contains(*value)) {
                short = Cow::Owned(short.replace(value, &reference(*column)?));
            }
        }
        match short {
            Cow::Owned(short) if !text.contains(SUBSTITUTE) => Some(short),
            _ => None,
        }
    }

    fn integer(&self, value: usize) -> i64 {
        self.bindings.values.get(value).and_then(|value| value.integer()).unwrap_or(0)
    }

    fn text(&self, text: usize) -> Option<&str> {
        self.bindings.texts.get(text)?.as_deref()
    }

    /// The parts of a record: a null, or the length and the text; or that it is in the hash of parts, its length, and for a veiled
    /// one where what veils it is; or that it is in a key of its own, its length, the number of its pieces and its name. Nulls at the end are left out.
    fn parts(&self, out: &mut Vec<u8>, table: &Table, first: usize, referred: &[(usize, usize)]) {
        let mut places = first..first + table.parts.len();
        let end = places.rfind(|place| self.text(*place).is_some()).map_or(first, |last| last + 1);
        for place in first..end {
            let Some(text) = self.text(place) else {
                out.push(0);
                continue;
            };
            let length = text.len();
            let long = self.long_parts.iter().find(|part| part.text == place);
            match (self.parts.get(place), long) {
                (Some(PartKind::Apart), Some(LongPart { pieces, name, .. })) => {
                    out.push(APART);
                    append_size(out, length);
                    append_size(out, pieces.len());
                    out.extend_from_slice(name.as_bytes());
                }
                (Some(PartKind::Veiled), _) => {
                    out.push(VEILED);
                    append_size(out, length);
                    if let Some(Veil { key, table: other, until, .. }) = &table.veiled {
                        append_size(out, values_before(table, *key));
                        out.extend_from_slice(&code(other.name));
                        append_size(out, values_before(other, *until));
                    }
                }
                (Some(PartKind::Beside), _) => {
                    out.push(BESIDE);
                    append_size(out, length);
                }
                _ => match self.shortened(text, referred) {
                    Some(short) => {
                        out.push(SHORTENED);
                        append_size(out, length);
                        append_size(out, short.len());
                        out.extend_from_slice(short.as_bytes());
                    }
                    None => {
                        append_size(out, length);
                        out.extend_from_slice(text.as_bytes());
                    }
                },
            }
        }
    }
}

fn append_size(out: &mut Vec<u8>, size: usize) {
    Value::from(u64::try_from(size).unwrap_or(u64::MAX)).append_to(out);
}

/// What the description of a part begins with, if its text does not follow.
pub(crate) const BESIDE: u8 = 48;
pub(crate) const APART: u8 = 49;
pub(crate) const SHORTENED: u8 = 50;
pub(crate) const VEILED: u8 = 51;

/// What stands for the value of a column in a text.
pub(crate) fn reference(column: usize) -> Option<String> {
    let digit = u32::try_from(column).ok().and_then(|column| char::from_digit(column, 36))?;
    Some([SUBSTITUTE, digit].iter().collect())
}

/// The control character that begins it. A text that has it is not shortened.
const SUBSTITUTE: char = '\u{1a}';

/// The text of an entry of the log, or nothing if it has none. If the entry has no topic and no number, nulls for these precede
/// the text.
fn entry_text(text: Option<&str>, is_plain: bool) -> Vec<u8> {
    let nulls: &[u8] = if is_plain { &[0, 0] } else { &[] };
    text.map_or_else(Vec::new, |text| [nulls, b"\x01", text.as_bytes()].concat())
}

/// An entry about a topic, in the order.
fn topic_entry(topic: i64, seq: u64) -> Vec<u8> {
    let mut out = TOPICS.to_vec();
    Value::Integer(topic).append_to(&mut out);
    out.extend(seq.to_be_bytes().iter().skip(2));
    out
}

/// An entry of the log: the commit, the length of a reference and the reference, the time, the topic, an assigned number, and
/// the text. It ends early if it has no more of these.
fn stored_entry(entry: &Entry) -> Vec<u8> {
    let Entry { at, commit, topic, assigned, reference, body, .. } = entry;
    let mut out = commit.0.to_vec();
    let referred = reference.as_ref().map(|reference| {
        let code: Code = code(reference.table.name);
        [&code[..], &key_of(&[reference.key.into()])].concat()
    });
    let referred = referred.unwrap_or_default();
    out.push(u8::try_from(referred.len()).unwrap_or(u8::MAX));
    out.extend(referred);
    Value::from(*at).append_to(&mut out);
    let is_plain = topic.is_none() && assigned.is_none();
    if !is_plain {
        topic.map_or(Value::Null, Value::Integer).append_to(&mut out);
        Value::from(*assigned).append_to(&mut out);
    }
    out.extend(entry_text(body.part(0).as_deref(), is_plain));
    out
}

/// The end of the log with this entry.
fn stored_head(log: u64, entry: &Entry) -> Vec<u8> {
    let Entry { seq, at, commit, .. } = entry;
    let numbers = [log.to_be_bytes(), seq.0.to_be_bytes(), at.millis().to_be_bytes()];
    [&numbers.concat()[..], &commit.0].concat()
}

/// The name of a long part: no other record has the same, and another text gets another one. So the text under a name never
/// changes, and need not be written again with its record.
fn name(
    key: &[Place],
    bindings: &Bindings<'_>,
    id: CommitId,
    count: usize,
    part: usize,
    text: &str,
) -> String {
    let mut owner = Vec::new();
    for place in key {
        match place {
            Place::Bound(value) => {
                let value: Option<&Cow<'_, Value>> = bindings.values.get(*value);
                value.into_iter().for_each(|value| value.append_to(&mut owner));
            }
            // The key is not known before the commit.
            _ => owner.extend([&id.0[..], &count.to_be_bytes()].concat()),
        }
    }
    owner.extend(part.to_be_bytes());
    owner.extend(Digest::of(text.as_bytes()).as_bytes());
    hex(Digest::of(&owner).as_bytes())
}

/// Divides a text between characters.
fn pieces(mut text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = (LONG..text.len()).find(|end| text.is_char_boundary(*end));
        let (piece, rest) = text.split_at(end.unwrap_or(text.len()));
        pieces.push(piece.to_owned());
        text = rest;
    }
    pieces
}
