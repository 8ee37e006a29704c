//! Encodes queries and transactions as arguments of scripts, as `tables.lua` and `commit.lua` say.

use swarm_core::domain::{Digest, Version, hex};
use swarm_core::store::Result;
use swarm_core::store::backend::{
    Append, Body, Check, CommitId, Entries, Entry, Item, Kind, Operation, PartSet, Query, Range,
    Table, Term, Transaction, Value, Write, key_of,
};

use crate::keys::Keys;
use crate::msgpack::Writer;
use crate::schema::{Schema, TableSet, place_of};
use crate::script_call::LONG;

/// The size from which a part is not stored with its record, in bytes, so that a query without it reads less.
const INLINE: usize = if cfg!(test) { 8 } else { 4 << 10 };

/// The kind of a transaction that loads records.
const LOAD: i64 = 4;

/// Queries, encoded.
pub(crate) struct EncodedQueries {
    pub(crate) argument: Vec<u8>,
    pub(crate) used: TableSet,
    /// Whether an answer may be so long that others should not wait for it.
    pub(crate) is_large: bool,
}

/// A transaction, encoded.
pub(crate) struct EncodedTransaction {
    pub(crate) argument: Vec<u8>,
    pub(crate) used: TableSet,
    /// The tables that it changes.
    pub(crate) written: TableSet,
    /// The key under which its outcome is kept.
    pub(crate) attempt: Option<String>,
    pub(crate) long_parts: Vec<LongPart>,
}

/// A part so long that it is in a key of its own, in pieces.
pub(crate) struct LongPart {
    pub(crate) key: String,
    pub(crate) staged: String,
    pub(crate) pieces: Vec<String>,
}

impl LongPart {
    /// The keys that its commit uses.
    pub(crate) fn keys(&self) -> [String; 2] {
        [self.key.clone(), self.staged.clone()]
    }
}

/// Encodes queries.
pub(crate) fn queries(op: Operation, schema: Schema, queries: &[Query]) -> Result<EncodedQueries> {
    let mut encoder = Encoder { op, schema, used: TableSet::default() };
    let (mut out, mut is_large) = (Writer::default(), false);
    out.list(queries.len());
    for query in queries {
        match query {
            Query::Rows(range) => {
                is_large |= range.limit > LARGE;
                encoder.range(out.list(2).number(1), range)?;
            }
            Query::Count(range) => encoder.range(out.list(2).number(2), range)?,
            Query::Sequence(name) => drop(out.list(2).number(3).text(name)),
            Query::Entries(Entries { topic, after, limit }) => {
                is_large |= *limit > LARGE;
                schema.referred().for_each(|(number, _)| encoder.used.add(number));
                let topic = topic.map(|topic| key_of([&Value::Integer(topic)]));
                out.list(4).number(4).bytes_if_any(topic.as_deref());
                out.number(exact(after.0)).number(limit_of(*limit));
            }
            Query::CommitOf(seq) => drop(out.list(2).number(5).number(exact(seq.0))),
        }
    }
    Ok(EncodedQueries { argument: out.into_bytes(), used: encoder.used, is_large })
}

/// The limit from which an answer may be large.
const LARGE: usize = 1_000;

/// The numbers of the tables that entries may refer to, by name.
pub(crate) fn referred(schema: Schema) -> Vec<u8> {
    let mut out = Writer::default();
    out.map(schema.referred().count());
    for (number, table) in schema.referred() {
        out.text(table.name).size(number);
    }
    out.into_bytes()
}

/// Encodes a transaction.
pub(crate) fn transaction(
    op: Operation,
    schema: Schema,
    keys: &Keys,
    transaction: &Transaction,
) -> Result<EncodedTransaction> {
    let Transaction { id, kind, seen, repetition, checks, sequences, writes, entries, .. } =
        transaction;
    let mut encoder = Encoder { op, schema, used: TableSet::default() };
    let mut out = Writer::default();
    let kind = match kind {
        Kind::Usual => 0,
        Kind::AcceptClock => 1,
        Kind::AcceptLog => 2,
        Kind::Aside => 3,
    };
    out.list(12).number(kind).bytes(&id.0);
    out.number(exact(seen.log)).number(exact(seen.size.0));
    out.bytes_if_any(seen.commit.as_ref().map(|commit| &commit.0[..]));
    match repetition {
        Some(repetition) => {
            encoder.range(out.list(3), &repetition.range)?;
            out.size(place_of(repetition.column)).bytes(&key_of([&Value::from(&id.0[..])]));
        }
        None => drop(out.flag(false)),
    }
    out.list(checks.len());
    for check in checks {
        encoder.check(&mut out, check)?;
    }
    out.list(sequences.len());
    for name in sequences {
        out.text(name);
    }
    let mut changes = Changes::new(keys, *id);
    out.list(writes.len());
    for write in writes {
        changes.add(&mut encoder, &mut out, write)?;
    }
    out.list(entries.len());
    for entry in entries {
        encoder.entry(&mut out, entry)?;
    }
    // A repetition is recognized by its record.
    let attempt = repetition.is_none().then(|| keys.attempt(*id));
    Ok(changes.finish(out, encoder.used, attempt))
}

/// Encodes a transaction that loads these records.
pub(crate) fn load(
    op: Operation,
    schema: Schema,
    keys: &Keys,
    id: CommitId,
    items: &[Item],
) -> Result<EncodedTransaction> {
    let mut encoder = Encoder { op, schema, used: TableSet::default() };
    let mut changes = Changes::new(keys, id);
    let mut written = Writer::default();
    let (mut count, mut entries) = (0, Vec::new());
    for item in items {
        match item {
            Item::Write(write) => changes.add(&mut encoder, &mut written, write)?,
            Item::Sequence(name, number) => {
                written.list(3).number(6).text(name).text(&number.to_string());
            }
            Item::Entry(log, entry) => {
                entries.push((*log, entry));
                continue;
            }
        }
        count += 1;
    }
    let mut out = Writer::default();
    out.list(12).number(LOAD).bytes(&id.0).number(0).number(0).flag(false).flag(false);
    out.list(0).list(0);
    out.list(count).append(written).list(entries.len());
    for (log, entry) in entries {
        loaded_entry(&mut out, log, entry);
    }
    let attempt = Some(keys.attempt(id));
    Ok(changes.finish(out, encoder.used, attempt))
}

/// An entry as it is stored, its topic, and the end of the log with it.
fn loaded_entry(out: &mut Writer, log: u64, entry: &Entry) {
    let Entry { seq, at, commit, topic, assigned, reference, body } = entry;
    let topic = topic.map(|topic| key_of([&Value::Integer(topic)]));
    let mut stored = Writer::default();
    stored.list(7).number(at.millis()).bytes(&commit.0).bytes_if_any(topic.as_deref());
    match assigned {
        Some(number) => stored.number(exact(*number)),
        None => stored.flag(false),
    };
    match reference {
        Some(reference) => {
            stored.text(reference.table.name).bytes(&key_of([&Value::from(reference.key)]))
        }
        None => stored.flag(false).flag(false),
    };
    stored.bytes_if_any(body.part(0).as_deref().map(str::as_bytes));
    out.list(7).number(3).bytes(&stored.into_bytes()).bytes_if_any(topic.as_deref());
    out.number(exact(log)).number(exact(seq.0)).number(at.millis()).bytes(&commit.0);
}

struct Encoder {
    op: Operation,
    schema: Schema,
    used: TableSet,
}

impl Encoder {
    /// Marks a table as used; returns its number.
    fn table(&mut self, table: &Table) -> Result<usize> {
        let number = self.schema.number(self.op, table)?;
        self.used.add(number);
        Ok(number)
    }

    fn range(&mut self, out: &mut Writer, range: &Range) -> Result<()> {
        let Range { table, index, prefix, after, before, is_descending, .. } = range;
        out.list(11).size(self.table(table)?);
        if index.is_none() && prefix.len() == table.key {
            out.number(-1);
            bound(out, prefix.iter(), false);
            bound(out, prefix.iter(), false);
        } else {
            out.size(index.map_or(0, |index| index + 1));
            // No value begins with this byte, so it is higher than all keys that go on from here.
            bound(out, prefix.iter().chain(after), after.is_some());
            bound(out, prefix.iter().chain(before), before.is_none());
        }
        out.flag(*is_descending).number(limit_of(range.limit)).size(range.distinct);
        out.size(range.having.map_or(0, place_of)).number(limit_of(range.bytes));
        out.number(wanted(table, range.parts));
        match &range.join {
            Some(join) => {
                out.list(3).size(self.table(join.table)?).size(place_of(join.column));
                out.number(wanted(join.table, join.parts));
            }
            None => drop(out.flag(false)),
        }
        Ok(())
    }

    fn check(&mut self, out: &mut Writer, check: &Check) -> Result<()> {
        match check {
            Check::Version { table, key, expected } => {
                out.list(4).number(1).size(self.table(table)?).bytes(&plain_key(key));
                version_if_any(out, *expected);
            }
            Check::NotAfter(deadline) => drop(out.list(2).number(2).number(deadline.millis())),
            Check::First { range, column, value, version } => {
                self.range(out.list(5).number(3), range)?;
                out.size(place_of(*column)).bytes(&plain_key(std::slice::from_ref(value)));
                version_if_any(out, *version);
            }
            Check::AtMost { range, column, most } => {
                self.range(out.list(4).number(4), range)?;
                out.size(place_of(*column)).bytes(&plain_key(std::slice::from_ref(most)));
            }
            Check::None { range, except } => {
                self.range(out.list(3).number(5), range)?;
                out.bytes(&plain_key(except));
            }
            Check::Count { range, except, least, most } => {
                self.range(out.list(5).number(6), range)?;
                out.bytes(&plain_key(except)).number(exact(*least)).number(exact(*most));
            }
            Check::Sum(name, most) => drop(out.list(3).number(7).text(name).number(exact(*most))),
        }
        Ok(())
    }

    fn entry(&mut self, out: &mut Writer, entry: &Append) -> Result<()> {
        match entry {
            Append::Entry { topic, assigned, reference, body } => {
                out.list(6).number(1);
                term_if_any(out, topic.as_ref());
                out.size(assigned.map_or(0, |sequence| sequence + 1));
                out.bytes_if_any(reference.as_ref().map(|(table, _)| table.name.as_bytes()));
                term_if_any(out, reference.as_ref().map(|(_, key)| key));
                out.bytes_if_any(body.part(0).as_deref().map(str::as_bytes));
            }
            Append::Each { range, body } => {
                self.range(out.list(4).number(2), range)?;
                out.text(range.table.name);
                out.bytes_if_any(body.part(0).as_deref().map(str::as_bytes));
            }
        }
        Ok(())
    }
}

/// The changes of a transaction.
struct Changes<'a> {
    keys: &'a Keys,
    id: CommitId,
    written: TableSet,
    long_parts: Vec<LongPart>,
    count: usize,
}

impl<'a> Changes<'a> {
    fn new(keys: &'a Keys, id: CommitId) -> Self {
        Self { keys, id, written: TableSet::default(), long_parts: Vec::new(), count: 0 }
    }

    fn add(&mut self, encoder: &mut Encoder, out: &mut Writer, write: &Write) -> Result<()> {
        self.count += 1;
        match write {
            Write::Insert { table, columns, body } => {
                self.row(encoder, out.list(7).number(1), table, columns, body)?;
            }
            Write::Put { table, columns, body } => {
                self.row(encoder, out.list(7).number(2), table, columns, body)?;
            }
            Write::Set { range, column, value } => {
                self.written.add(encoder.table(range.table)?);
                encoder.range(out.list(4).number(3), range)?;
                term(out.size(place_of(*column)), value);
            }
            Write::Remove(range) => {
                self.written.add(encoder.table(range.table)?);
                encoder.range(out.list(2).number(4), range)?;
            }
            Write::Add(name, amount) => drop(out.list(3).number(5).text(name).number(*amount)),
        }
        Ok(())
    }

    fn row(
        &mut self,
        encoder: &mut Encoder,
        out: &mut Writer,
        table: &'static Table,
        columns: &[Term],
        body: &Body,
    ) -> Result<()> {
        let number = encoder.table(table)?;
        self.written.add(number);
        out.size(number).list(columns.len());
        columns.iter().for_each(|column| term(out, column));
        let (mut stored, mut elsewhere) = (Writer::default(), Writer::default());
        let (mut lengthy, mut names) = (0, Vec::new());
        if !table.parts.is_empty() {
            stored.list(table.parts.len());
        }
        for place in 0..table.parts.len() {
            let Some(text) = body.part(place) else {
                stored.flag(false);
                continue;
            };
            match text.len() {
                length if length < INLINE => drop(stored.text(&text)),
                length if length < LONG => {
                    stored.size(length);
                    elsewhere.list(2).size(place).text(&text);
                    lengthy += 1;
                }
                length => {
                    let (name, pieces) = (self.name(table, columns, place, &text), pieces(&text));
                    stored.list(3).text(&name).size(pieces.len()).size(length);
                    let key = self.keys.part(table, &name);
                    let staged = self.keys.staged(table, &name, self.id);
                    self.long_parts.push(LongPart { key, staged, pieces });
                    names.push(name);
                }
            }
        }
        out.bytes(&stored.into_bytes()).number(i64::from(lengthy > 0 || !names.is_empty()));
        out.list(lengthy).append(elsewhere).list(names.len());
        for name in &names {
            out.text(name);
        }
        Ok(())
    }

    /// The name of a long part: no other record has the same, and another text gets another one. So the text under a name never
    /// changes, and need not be written again with its record.
    fn name(&self, table: &Table, columns: &[Term], part: usize, text: &str) -> String {
        let key = columns.get(..table.key).unwrap_or_default();
        let mut owner = plain_key(key);
        if key.iter().any(|term| !matches!(term, Term::Value(_))) {
            // The key is not known before the commit.
            owner.extend(self.id.0);
            owner.extend(self.count.to_be_bytes());
        }
        owner.extend(part.to_be_bytes());
        owner.extend(Digest::of(text.as_bytes()).as_bytes());
        hex(Digest::of(&owner).as_bytes())
    }

    fn finish(
        self,
        mut out: Writer,
        used: TableSet,
        attempt: Option<String>,
    ) -> EncodedTransaction {
        out.bytes_if_any(attempt.as_deref().map(str::as_bytes));
        out.list(self.long_parts.len());
        for LongPart { key, staged, pieces } in &self.long_parts {
            out.list(3).text(key).text(staged).size(pieces.len());
        }
        let Self { written, long_parts, .. } = self;
        EncodedTransaction { argument: out.into_bytes(), used, written, attempt, long_parts }
    }
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

/// The bytes of an end of a range, or a list of pieces, some of which are found by earlier queries.
fn bound<'a>(out: &mut Writer, terms: impl Iterator<Item = &'a Term> + Clone, ends: bool) {
    let is_plain = |term: &Term| matches!(term, Term::Value(_));
    let end = ends.then_some(255);
    if terms.clone().all(is_plain) {
        let mut bytes = Vec::with_capacity(64);
        terms.for_each(|term| append_plain(&mut bytes, term));
        bytes.extend(end);
        out.bytes(&bytes);
        return;
    }
    out.list(terms.clone().count() + usize::from(ends));
    for term in terms {
        match term {
            Term::Value(value) => out.bytes(&key_of([value])),
            Term::Found(query, column) => out.list(2).size(query + 1).size(place_of(*column)),
            Term::Assigned(_) | Term::AssignedText(_) | Term::Now => out.flag(false),
        };
    }
    if let Some(end) = end {
        out.bytes(&[end]);
    }
}

/// The bytes of values; terms of other kinds are left out.
fn plain_key(terms: &[Term]) -> Vec<u8> {
    let mut key = Vec::with_capacity(64);
    terms.iter().for_each(|term| append_plain(&mut key, term));
    key
}

fn append_plain(key: &mut Vec<u8>, term: &Term) {
    if let Term::Value(value) = term {
        value.append_to(key);
    }
}

/// A value that a commit writes, or a number for the one that it assigns: 0 for its time, the place of a sequence for its
/// number, and the negative place for the number as text.
fn term(out: &mut Writer, term: &Term) {
    let place = |sequence: usize| i64::try_from(sequence).unwrap_or(i64::MAX - 1) + 1;
    match term {
        Term::Value(value) => out.bytes(&key_of([value])),
        Term::Now => out.number(0),
        Term::Assigned(sequence) => out.number(place(*sequence)),
        Term::AssignedText(sequence) => out.number(-place(*sequence)),
        Term::Found(..) => out.bytes(&key_of([&Value::Null])),
    };
}

fn term_if_any(out: &mut Writer, of: Option<&Term>) {
    match of {
        Some(of) => term(out, of),
        None => drop(out.flag(false)),
    }
}

fn version_if_any(out: &mut Writer, version: Option<Version>) {
    match version {
        Some(version) => out.number(exact(version.0)),
        None => out.flag(false),
    };
}

/// The parts of a table that are wanted, as bits.
fn wanted(table: &Table, parts: PartSet) -> i64 {
    (0..table.parts.len()).filter(|part| parts.has(*part)).fold(0, |bits, part| bits | 1 << part)
}

/// A number with which a script calculates exactly. Larger ones do not occur.
fn exact(number: u64) -> i64 {
    const MAX: u64 = 1 << 53;
    i64::try_from(number.min(MAX)).unwrap_or(i64::MAX)
}

/// A limit; -1 if there is none in practice.
fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).ok().filter(|limit| *limit < 1 << 40).unwrap_or(-1)
}
