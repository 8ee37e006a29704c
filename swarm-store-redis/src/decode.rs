//! Decodes the answers of scripts.

use std::collections::HashMap;
use std::sync::Arc;

use redis::Value as Reply;
use swarm_core::domain::{Seq, Version};
use swarm_core::store::Result;
use swarm_core::store::backend::{
    Answer, Assigned, Body, Check, CommitId, Decision, Entry, Head, Operation, Outcome, PartSet,
    Query, Reading, Reference, Row, Table, Transaction, Value,
};
use swarm_core::{StoreError, Timestamp};

use crate::keys::Keys;
use crate::msgpack::Reader;
use crate::schema::Schema;

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
    WithTable,
    Referred { name: &'a [u8], pieces: usize },
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
        let (clock, head) = (self.time(clock)?, self.head(head)?);
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
                let [has_more, rows, joined] = self.list(reply)? else { return Err(self.odd()) };
                let has_more = matches!(has_more, Reply::Int(1));
                let rows = self.list(rows)?.iter();
                let rows = rows
                    .map(|row| self.row(range.table, range.parts, row))
                    .collect::<Result<_>>()?;
                let mut others = Vec::new();
                if let Some(join) = &range.join {
                    for other in self.list(joined)? {
                        others.push(match other {
                            Reply::Nil => None,
                            other => Some(self.row(join.table, join.parts, other)?),
                        });
                    }
                }
                Answer::Rows { rows, joined: others, has_more }
            }
            Query::Count(_) | Query::Sequence(_) => Answer::Number(self.number(reply)?),
            Query::Entries(_) => {
                let mut entries = Vec::new();
                for entry in self.list(reply)?.chunks(3) {
                    let [seq, raw, row] = entry else { return Err(self.odd()) };
                    entries.push(self.entry(Seq(self.number(seq)?), self.bytes(raw)?, row)?);
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
    ) -> Result<Option<Outcome>> {
        let [kind, rest @ ..] = self.list(reply)? else { return Err(self.odd()) };
        let (head, decision) = match (self.bytes(kind)?, rest) {
            (b"missing", []) => return Ok(None),
            (b"made", [head, at, numbers @ ..]) => {
                let at = self.time(at)?;
                let numbers =
                    numbers.iter().map(|number| self.number(number)).collect::<Result<_>>()?;
                (head, Decision::Committed(Assigned { at, numbers }))
            }
            (b"repeated", [head, row]) => {
                let range = transaction.repetition.as_ref().map(|it| &it.range);
                let range = range.ok_or_else(|| self.odd())?;
                (head, Decision::Repeated(self.row(range.table, range.parts, row)?))
            }
            (b"failed", [head, check, found @ ..]) => {
                let check = usize::try_from(self.number(check)?).map_err(|_| self.odd())?;
                let found = match (transaction.checks.get(check), found) {
                    (Some(Check::None { range, .. }), [row]) => {
                        Some(self.row(range.table, range.parts, row)?)
                    }
                    _ => None,
                };
                (head, Decision::Failed { check, found })
            }
            _ => return Err(self.odd()),
        };
        Ok(Some(Outcome { head: self.head(head)?, decision }))
    }

    fn row(&mut self, table: &'static Table, wanted: PartSet, reply: &Reply) -> Result<Row> {
        let (raw, texts) = match reply {
            Reply::Array(values) => match values.as_slice() {
                [raw, texts @ ..] => (raw, texts),
                [] => return Err(self.odd()),
            },
            raw => (raw, &[][..]),
        };
        let garbled = || StoreError::corrupt(self.op, "a stored record is garbled");
        let raw = self.bytes(raw)?;
        let mut stored = Reader::of(raw);
        let length = stored.list().filter(|it| *it == table.columns.len() + 2);
        length.ok_or_else(garbled)?;
        let version = stored.number().and_then(|it| u64::try_from(it).ok()).ok_or_else(garbled)?;
        stored.number().ok_or_else(garbled)?;
        let mut columns = Vec::with_capacity(table.columns.len());
        for _ in table.columns {
            columns.push(stored.bytes().and_then(value).ok_or_else(garbled)?);
        }
        let mut parts = Vec::new();
        if !stored.is_empty() {
            stored.list().filter(|it| *it == table.parts.len()).ok_or_else(garbled)?;
            for _ in table.parts {
                parts.push(part(&mut stored).ok_or_else(garbled)?);
            }
        }
        let mut body = Vec::with_capacity(parts.len());
        for (place, part) in parts.into_iter().enumerate() {
            let text = match part {
                _ if !wanted.has(place) => None,
                Part::None => None,
                Part::Text(text) => Some(self.text(text)?),
                Part::WithTable => {
                    let is_of = |pair: &&[Reply]| matches!(pair.first(), Some(Reply::Int(at)) if usize::try_from(*at) == Ok(place));
                    let text = texts.chunks(2).find(is_of).and_then(|pair| pair.get(1));
                    Some(self.text(self.bytes(text.ok_or_else(garbled)?)?)?)
                }
                Part::Referred { name, pieces } => {
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
        Ok(Row {
            version: Version(version),
            columns: columns.into(),
            body: if body.is_empty() { Body::empty() } else { Body::of_texts(body) },
        })
    }

    fn entry(&mut self, seq: Seq, raw: &[u8], row: &Reply) -> Result<Entry> {
        let op = self.op;
        let garbled = || StoreError::corrupt(op, "an entry of the log is garbled");
        let mut stored = Reader::of(raw);
        stored.list().filter(|it| *it == 7).ok_or_else(garbled)?;
        let at = stored.number().and_then(Timestamp::from_millis).ok_or_else(garbled)?;
        let commit = self.commit_id(stored.bytes().ok_or_else(garbled)?)?;
        let topic = stored.bytes_if_any().ok_or_else(garbled)?;
        let topic = topic.and_then(value).and_then(|topic| topic.integer());
        let assigned = stored.number_if_any().ok_or_else(garbled)?;
        let assigned = assigned.and_then(|number| u64::try_from(number).ok());
        let table = stored.bytes_if_any().ok_or_else(garbled)?;
        let key = stored.bytes_if_any().ok_or_else(garbled)?;
        let text = stored.bytes_if_any().ok_or_else(garbled)?;
        let reference = match table {
            Some(table) => {
                let table = self.schema.named(table).ok_or_else(garbled)?;
                let key = key.and_then(value).and_then(|key| key.integer());
                let key = key.and_then(|key| u64::try_from(key).ok()).ok_or_else(garbled)?;
                let row = match row {
                    Reply::Nil => None,
                    row => Some(self.row(table, PartSet::ALL, row)?),
                };
                Some(Reference { table, key, row })
            }
            None => None,
        };
        let body = match text {
            Some(text) => Body::of_texts(vec![Some(self.text(text)?)]),
            None => Body::empty(),
        };
        Ok(Entry { seq, at, commit, topic, assigned, reference, body })
    }

    fn head(&self, reply: &Reply) -> Result<Head> {
        let text = self.bytes(reply)?;
        if text.is_empty() {
            return Ok(Head::default());
        }
        let mut words = text.splitn(4, |byte| *byte == b' ');
        let mut number =
            || -> Option<i64> { std::str::from_utf8(words.next()?).ok()?.parse().ok() };
        let numbers = number().zip(number()).zip(number());
        let ((log, size), at) = numbers.ok_or_else(|| self.odd())?;
        let commit = self.commit_id(words.next().unwrap_or_default())?;
        let count = |number: i64| u64::try_from(number).map_err(|_| self.odd());
        Ok(Head {
            log: count(log)?,
            size: Seq(count(size)?),
            at: Timestamp::from_millis(at),
            commit: Some(commit),
        })
    }

    fn commit_id(&self, bytes: &[u8]) -> Result<CommitId> {
        bytes.try_into().map(CommitId).map_err(|_| self.odd())
    }

    fn time(&self, reply: &Reply) -> Result<Timestamp> {
        let millis = std::str::from_utf8(self.bytes(reply)?).ok().and_then(|it| it.parse().ok());
        millis.and_then(Timestamp::from_millis).ok_or_else(|| self.odd())
    }

    fn number(&self, reply: &Reply) -> Result<u64> {
        let number = std::str::from_utf8(self.bytes(reply)?).ok().and_then(|it| it.parse().ok());
        number.ok_or_else(|| self.odd())
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

fn part<'a>(stored: &mut Reader<'a>) -> Option<Part<'a>> {
    if stored.is_bytes() {
        return Some(Part::Text(stored.bytes()?));
    }
    if !stored.is_list() {
        return Some(match stored.number_if_any()? {
            Some(_) => Part::WithTable,
            None => Part::None,
        });
    }
    stored.list().filter(|it| *it == 3)?;
    let (name, pieces) = (stored.bytes()?, usize::try_from(stored.number()?).ok()?);
    stored.number()?;
    Some(Part::Referred { name, pieces })
}

/// The value of these bytes, which [`Value::append_to`] has written.
fn value(bytes: &[u8]) -> Option<Value> {
    Some(match bytes.split_first()? {
        (0, []) => Value::Null,
        (1, number) => {
            let number = u64::from_be_bytes(number.try_into().ok()?);
            Value::Integer((number ^ (1 << 63)).cast_signed())
        }
        (2, text) => Value::Text(String::from_utf8(unescaped(text)?).ok()?.into()),
        (3, bytes) => Value::Bytes(Arc::from(unescaped(bytes)?)),
        _ => return None,
    })
}

/// The bytes before the zero byte at the end, without the bytes that follow zero bytes among them.
fn unescaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let (0, bytes) = bytes.split_last()? else { return None };
    let mut all = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while let Some(byte) = bytes.next() {
        all.push(*byte);
        if *byte == 0 && bytes.next() != Some(&255) {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use swarm_core::store::backend::key_of;

    use super::*;

    #[test]
    fn values_are_read_from_their_keys() {
        let texts = ["", "\0", "\0\0a", "a\0", "ä", "a\u{ff}"];
        let numbers = [i64::MIN, -1, 0, 1, i64::MAX];
        let bytes = [&[][..], &[0], &[0, 255], &[255, 0, 0]];
        let values = [Value::Null].into_iter().chain(numbers.map(Value::Integer));
        let values = values.chain(texts.map(Value::from)).chain(bytes.map(Value::from));
        for one in values {
            assert_eq!(value(&key_of([&one])), Some(one));
        }
        for odd in [&[][..], &[0, 0], &[1, 0], &[2], &[2, 0, 0], &[2, 255, 0], &[4, 0]] {
            assert_eq!(value(odd), None, "{odd:?}");
        }
    }
}
