//! Decodes the answers of scripts.

use std::collections::HashMap;

use redis::Value as Reply;
use swarm_core::domain::{Seq, Version};
use swarm_core::store::Result;
use swarm_core::store::backend::{
    Answer, Assigned, Body, Check, CommitId, CommitOutcome, Decision, Entry, Head, Operation,
    PartSet, Query, Reading, Reference, Row, Table, Transaction, Value, key_of,
};
use swarm_core::{StoreError, Timestamp};

use crate::encode::{APART, BESIDE, SHORTENED, VEILED, reference};
use crate::keys::Keys;
use crate::schema::Schema;
use crate::value::Reader;

/// A long part that a record refers to.
pub(crate) struct Referred {
    pub(crate) key: String,
    pub(crate) pieces: usize,
}

/// Decodes answers with the long parts that have been read.
pub(crate) struct Decoder<'a> {
    op: Operation,
    schema: Schema,
    keys: &'a Keys,
    read: &'a HashMap<String, Box<str>>,
    /// Those that have not: the answer is incomplete.
    pub(crate) missing: Vec<Referred>,
}

/// What is stored of a part.
enum Part<'a> {
    None,
    Text(&'a [u8]),
    Shortened(&'a [u8]),
    Beside,
    Veiled,
    Apart { name: &'a [u8], pieces: usize },
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(
        op: Operation,
        schema: Schema,
        keys: &'a Keys,
        read: &'a HashMap<String, Box<str>>,
    ) -> Self {
        Self { op, schema, keys, read, missing: Vec::new() }
    }

    pub(crate) fn reading(&mut self, queries: &[Query], reply: &Reply) -> Result<Reading> {
        let [clock, head, answers] = self.list(reply)? else { return Err(self.odd()) };
        let clock = self.clock(clock)?;
        let head = match head {
            Reply::Nil => Head::default(),
            head => self.head(self.bytes(head)?)?,
        };
        let answers = queries.iter().zip(self.list(answers)?);
        let answers: Result<Vec<_>> =
            answers.map(|(query, reply)| self.answer(query, reply)).collect();
        let answers = answers?;
        if answers.len() != queries.len() {
            return Err(self.odd());
        }
        Ok(Reading { clock, head, answers })
    }

    fn answer(&mut self, query: &Query, reply: &Reply) -> Result<Answer> {
        Ok(match query {
            Query::Rows(range) => {
                let [has_more, found @ ..] = self.list(reply)? else { return Err(self.odd()) };
                let has_more = matches!(has_more, Reply::Int(1));
                let (mut rows, mut joined) = (Vec::new(), Vec::new());
                for found in found.chunks(if range.join.is_some() { 5 } else { 3 }) {
                    let [key, raw, parts, other @ ..] = found else { return Err(self.odd()) };
                    // The key that was asked for, or none that was found.
                    if *key == Reply::Nil || *raw == Reply::Nil && range.index.is_none() {
                        continue;
                    }
                    let row = self.row(range.table, range.parts, self.bytes(key)?, [raw, parts])?;
                    if let Some(join) = &range.join {
                        joined.push(match (other, row.columns.get(join.column)) {
                            ([Reply::Nil, _], _) => None,
                            ([raw, parts], Some(key)) => {
                                let key = key_of([key]);
                                Some(self.row(join.table, join.parts, &key, [raw, parts])?)
                            }
                            _ => return Err(self.odd()),
                        });
                    }
                    rows.push(row);
                }
                Answer::Rows { rows, joined, has_more }
            }
            Query::Count(_) => Answer::Number(self.integer(reply)?.unsigned_abs()),
            Query::Sequence(_) => Answer::Number(match reply {
                Reply::Nil => 0,
                reply => {
                    let text = std::str::from_utf8(self.bytes(reply)?).unwrap_or_default();
                    text.parse().map_err(|error| StoreError::corrupt(self.op, error))?
                }
            }),
            Query::Entries(asked) => {
                let mut entries = Vec::new();
                for entry in self.list(reply)?.chunks(4) {
                    let [seq, raw, row @ ..] = entry else { return Err(self.odd()) };
                    let seq = Seq(self.integer(seq)?.unsigned_abs());
                    entries.push(self.entry(seq, self.bytes(raw)?, row, asked.parts)?);
                }
                Answer::Entries(entries)
            }
            Query::CommitOf(_) => Answer::Commit(match reply {
                Reply::Nil => None,
                reply => Some(self.commit_id(self.bytes(reply)?)?),
            }),
        })
    }

    /// Decodes the outcome of a transaction; `None` if its long parts were not staged.
    pub(crate) fn outcome(
        &mut self,
        transaction: &Transaction,
        reply: &Reply,
    ) -> Result<Option<CommitOutcome>> {
        if let Reply::BulkString(made) = reply {
            return self.made(made).map(Some);
        }
        let [kind, rest @ ..] = self.list(reply)? else { return Err(self.odd()) };
        let (head, decision) = match (self.bytes(kind)?, rest) {
            (b"missing", []) => return Ok(None),
            (b"repeated", [head, key, raw, parts]) => {
                let range = transaction.repetition.as_ref().map(|it| &it.range);
                let range = range.ok_or_else(|| self.odd())?;
                let row = self.row(range.table, range.parts, self.bytes(key)?, [raw, parts])?;
                (head, Decision::Repeated(row))
            }
            (b"failed", [head, check, found @ ..]) => {
                let check = usize::try_from(self.integer(check)?).map_err(|_| self.odd())?;
                let found = match (transaction.checks.get(check), found) {
                    (Some(Check::None { range, .. }), [key, raw, parts]) => Some(self.row(
                        range.table,
                        PartSet::NONE,
                        self.bytes(key)?,
                        [raw, parts],
                    )?),
                    _ => None,
                };
                (head, Decision::Failed { check, found })
            }
            _ => return Err(self.odd()),
        };
        Ok(Some(CommitOutcome { head: self.head(self.bytes(head)?)?, decision }))
    }

    /// Decodes the outcome of a transaction that is committed: the length of the head and the head, the time, and the numbers.
    fn made(&self, made: &[u8]) -> Result<CommitOutcome> {
        let mut stored = Reader(made.strip_prefix(MADE).ok_or_else(|| self.odd())?);
        let head = stored.byte().and_then(|length| stored.take(usize::from(length)));
        let head = self.head(head.ok_or_else(|| self.odd())?)?;
        let at = stored.fixed(8).and_then(|at| Timestamp::from_millis(at.cast_signed()));
        let at = at.ok_or_else(|| self.odd())?;
        let numbers = std::iter::from_fn(|| stored.fixed(8)).collect();
        Ok(CommitOutcome { head, decision: Decision::Committed(Assigned { at, numbers }) })
    }

    fn row(
        &mut self,
        table: &'static Table,
        wanted: PartSet,
        key: &[u8],
        [raw, parts]: [&Reply; 2],
    ) -> Result<Row> {
        let (parts, texts) = match parts {
            Reply::Array(values) => match values.as_slice() {
                [parts, texts @ ..] => (parts, texts),
                [] => return Err(self.odd()),
            },
            parts => (parts, &[][..]),
        };
        let mut stored = Reader(match parts {
            Reply::Nil => &[],
            parts => self.bytes(parts)?,
        });
        let op = self.op;
        let garbled = || StoreError::corrupt(op, "a stored record is garbled");
        let (version, columns) = columns(table, key, self.bytes(raw)?).ok_or_else(garbled)?;
        let mut body = Vec::with_capacity(table.parts.len());
        for place in 0..table.parts.len() {
            if stored.0.is_empty() {
                break;
            }
            let text = match part(&mut stored).ok_or_else(garbled)? {
                _ if !wanted.has(place) => None,
                Part::None => None,
                Part::Text(text) => Some(self.text(text)?),
                Part::Shortened(text) => Some(restored(&columns, &self.text(text)?)),
                stored @ (Part::Beside | Part::Veiled) => {
                    let is_of = |pair: &&[Reply]| matches!(pair.first(), Some(Reply::Int(at)) if usize::try_from(*at) == Ok(place));
                    let text = texts.chunks(2).find(is_of).and_then(|pair| pair.get(1));
                    match (text, stored) {
                        (Some(text), _) => Some(self.text(self.bytes(text)?)?),
                        (None, Part::Veiled) if !wanted.has_veiled() => None,
                        (None, _) => return Err(garbled()),
                    }
                }
                Part::Apart { name, pieces } => {
                    let key = self.keys.part(table, &self.text(name)?);
                    let text = self.read.get(&key).cloned();
                    if text.is_none() {
                        self.missing.push(Referred { key, pieces });
                    }
                    text
                }
            };
            body.push(text);
        }
        let body = if body.is_empty() { Body::empty() } else { Body::of_texts(body) };
        let body = table.read_body(&columns, wanted, body);
        Ok(Row { version: Version(version), columns: columns.into(), body })
    }

    fn entry(&mut self, seq: Seq, raw: &[u8], row: &[Reply], wanted: PartSet) -> Result<Entry> {
        let op = self.op;
        let garbled = || StoreError::corrupt(op, "an entry of the log is garbled");
        let mut stored = Reader(raw);
        let commit = self.commit_id(stored.take(16).ok_or_else(garbled)?)?;
        let length = stored.byte().ok_or_else(garbled)?;
        let reference = match stored.take(usize::from(length)).ok_or_else(garbled)? {
            [] => None,
            referred => {
                let (code, key) = referred.split_at_checked(2).ok_or_else(garbled)?;
                let table = self.schema.referred(code).ok_or_else(garbled)?;
                let row = match row {
                    [Reply::Nil, _] => None,
                    [raw, parts] => Some(self.row(table, wanted, key, [raw, parts])?),
                    _ => return Err(self.odd()),
                };
                Some(Reference { table, key: Reader(key).number().ok_or_else(garbled)?, row })
            }
        };
        let at = stored.integer().and_then(Timestamp::from_millis).ok_or_else(garbled)?;
        let (mut topic, mut assigned) = (None, None);
        if !stored.0.is_empty() {
            topic = stored.value().ok_or_else(garbled)?.integer();
            assigned = stored.value().ok_or_else(garbled)?.integer();
        }
        let assigned = assigned.and_then(|number| u64::try_from(number).ok());
        let body = match stored.byte() {
            None => Body::empty(),
            Some(_) => Body::of_texts(vec![Some(self.text(stored.0)?)]),
        };
        Ok(Entry { seq, at, commit, topic, assigned, reference, body })
    }

    fn head(&self, stored: &[u8]) -> Result<Head> {
        if stored.is_empty() {
            return Ok(Head::default());
        }
        let mut stored = Reader(stored);
        let mut number = || stored.fixed(8).ok_or_else(|| self.odd());
        let (log, size, at) = (number()?, Seq(number()?), number()?);
        let at = Timestamp::from_millis(at.cast_signed());
        Ok(Head { log, size, at, commit: Some(self.commit_id(stored.0)?) })
    }

    fn commit_id(&self, bytes: &[u8]) -> Result<CommitId> {
        bytes.try_into().map(CommitId).map_err(|_| self.odd())
    }

    /// The time in seconds since 1970, and the microseconds.
    fn clock(&self, reply: &Reply) -> Result<Timestamp> {
        let number = |reply: &Reply| -> Option<i64> {
            std::str::from_utf8(self.bytes(reply).ok()?).ok()?.parse().ok()
        };
        let [seconds, micros] = self.list(reply)? else { return Err(self.odd()) };
        let time = number(seconds).zip(number(micros));
        let millis = time.map(|(seconds, micros)| seconds.saturating_mul(1_000) + micros / 1_000);
        millis.and_then(Timestamp::from_millis).ok_or_else(|| self.odd())
    }

    fn integer(&self, reply: &Reply) -> Result<i64> {
        match reply {
            Reply::Int(number) => Ok(*number),
            _ => Err(self.odd()),
        }
    }

    fn text(&self, bytes: &[u8]) -> Result<Box<str>> {
        let text = std::str::from_utf8(bytes).map(Into::into);
        text.map_err(|error| StoreError::corrupt(self.op, error))
    }

    fn bytes<'b>(&self, reply: &'b Reply) -> Result<&'b [u8]> {
        match reply {
            Reply::BulkString(bytes) => Ok(bytes),
            _ => Err(self.odd()),
        }
    }

    fn list<'b>(&self, reply: &'b Reply) -> Result<&'b [Reply]> {
        match reply {
            Reply::Array(values) => Ok(values),
            _ => Err(self.odd()),
        }
    }

    fn odd(&self) -> StoreError {
        StoreError::corrupt(self.op, "odd answer")
    }
}

/// What the outcome of a transaction that is committed begins with.
pub(crate) const MADE: &[u8] = b"made";

/// The version and the columns of a record.
fn columns(table: &Table, key: &[u8], raw: &[u8]) -> Option<(u64, Vec<Value>)> {
    let (mut key, mut stored) = (Reader(key), Reader(raw));
    stored.byte().filter(|flag| *flag < 2)?;
    let version = stored.number()?;
    let mut columns = Vec::with_capacity(table.columns.len());
    for place in 0..table.columns.len() {
        columns.push(match place < table.key {
            true => key.value()?,
            // Nulls at the end are left out.
            false if stored.0.is_empty() => Value::Null,
            false => stored.value()?,
        });
    }
    (key.0.is_empty() && stored.0.is_empty()).then_some((version, columns))
}

/// A text with the values of columns in the place of references to them.
fn restored(columns: &[Value], text: &str) -> Box<str> {
    let mut text = text.to_owned();
    for (column, value) in columns.iter().enumerate() {
        if let (Some(value), Some(reference)) = (value.text(), reference(column)) {
            text = text.replace(&reference, value);
        }
    }
    text.into()
}

fn part<'a>(stored: &mut Reader<'a>) -> Option<Part<'a>> {
    match stored.0.first()? {
        0 => stored.byte().map(|_| Part::None),
        &SHORTENED => {
            stored.byte()?;
            stored.number()?;
            let length = usize::try_from(stored.number()?).ok()?;
            stored.take(length).map(Part::Shortened)
        }
        &BESIDE => {
            stored.byte()?;
            stored.number().map(|_| Part::Beside)
        }
        &VEILED => {
            stored.byte()?;
            stored.number()?;
            stored.number()?;
            stored.take(2)?;
            stored.number().map(|_| Part::Veiled)
        }
        &APART => {
            stored.byte()?;
            stored.number()?;
            let pieces = usize::try_from(stored.number()?).ok()?;
            Some(Part::Apart { name: stored.take(64)?, pieces })
        }
        _ => {
            let length = usize::try_from(stored.number()?).ok()?;
            stored.take(length).map(Part::Text)
        }
    }
}
