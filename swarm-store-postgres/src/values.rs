//! Values as the database sends and keeps them.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{Seq, Version};
use swarm_core::store::backend::{
    Body, ColumnKind, CommitId, Head, PartSet, Row as Record, Table, Value,
};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::failure::{Failure, Outcome};

/// The fields of a composite value, which are read one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Fields<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::of(raw)?)
    }

    /// The functions of the store return records as bytes.
    fn accepts(kind: &Type) -> bool {
        *kind == Type::RECORD || *kind == Type::BYTEA
    }
}

impl<'a> Fields<'a> {
    fn of(raw: &'a [u8]) -> Outcome<Self> {
        // The number of the fields comes first.
        raw.get(4..).map(Self).ok_or_else(garbled)
    }

    /// The next field; `None` if it is null.
    fn next(&mut self) -> Outcome<Option<&'a [u8]>> {
        // Its type comes first.
        let header = self.0.split_at_checked(8).and_then(|(header, rest)| {
            let length = i32::from_be_bytes(header.get(4..)?.try_into().ok()?);
            Some((length, rest))
        });
        let (length, rest) = header.ok_or_else(garbled)?;
        let Ok(length) = usize::try_from(length) else {
            self.0 = rest;
            return Ok(None);
        };
        let (field, rest) = rest.split_at_checked(length).ok_or_else(garbled)?;
        self.0 = rest;
        Ok(Some(field))
    }

    pub(crate) fn number(&mut self) -> Outcome<Option<i64>> {
        let number = |field: &[u8]| field.try_into().map(i64::from_be_bytes);
        self.next()?.map(number).transpose().map_err(|_| garbled())
    }

    /// A number that is not negative.
    pub(crate) fn unsigned(&mut self) -> Outcome<u64> {
        unsigned(self.number()?.ok_or_else(garbled)?)
    }

    pub(crate) fn time(&mut self) -> Outcome<Option<Timestamp>> {
        self.number()?.map(timestamp).transpose()
    }

    pub(crate) fn commit(&mut self) -> Outcome<Option<CommitId>> {
        self.next()?.map(commit_id).transpose()
    }

    fn text(&mut self) -> Outcome<Option<Cow<'a, str>>> {
        let text = self.next()?.map(std::str::from_utf8).transpose().map_err(|_| garbled())?;
        Ok(text.map(unescaped))
    }

    fn value(&mut self, kind: ColumnKind) -> Outcome<Value> {
        Ok(match kind {
            ColumnKind::Integer | ColumnKind::Time => {
                self.number()?.map_or(Value::Null, Value::Integer)
            }
            ColumnKind::Text => self.text()?.as_deref().into(),
            ColumnKind::Bytes => self.next()?.into(),
        })
    }

    /// A record of a table, of which these parts were read, as [`record`](crate::sql::record) writes it.
    pub(crate) fn record(&mut self, table: &Table, parts: PartSet) -> Outcome<Record> {
        let version = Version(self.unsigned()?);
        let columns = table.columns.iter().map(|column| self.value(column.kind));
        let columns: Arc<[_]> = columns.collect::<Outcome<_>>()?;
        let body = match table.parts.is_empty() {
            true => Body::empty(),
            false => {
                let texts = (0..table.parts.len()).map(|part| match parts.has(part) {
                    true => Ok(self.text()?.map(|text| text.into_owned().into_boxed_str())),
                    false => Ok(None),
                });
                Body::of_texts(texts.collect::<Outcome<_>>()?)
            }
        };
        let body = table.read_body(&columns, parts, body);
        Ok(Record { version, columns, body })
    }

    /// The end of the log: its number, that of the last entry, and the time and the commit of that one.
    pub(crate) fn head(&mut self) -> Outcome<Head> {
        let (log, size) = (self.unsigned()?, Seq(self.unsigned()?));
        Ok(Head { log, size, at: self.time()?, commit: self.commit()? })
    }
}

fn garbled() -> Failure {
    Failure::corrupt("a value")
}

pub(crate) fn commit_id(bytes: &[u8]) -> Outcome<CommitId> {
    let id = bytes.try_into().map_err(|_| Failure::corrupt("no identity of a commit"))?;
    Ok(CommitId(id))
}

/// The text as it is stored. PostgreSQL keeps every character but U+0000, so U+0000 and U+0001 become U+0001
/// and one more character. The order of texts stays that of their bytes.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', '\u{1}']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\u{1}', "\u{1}\u{2}").replace('\0', "\u{1}\u{1}"))
}

/// The text that was stored as this.
fn unescaped(stored: &str) -> Cow<'_, str> {
    if !stored.contains('\u{1}') {
        return Cow::Borrowed(stored);
    }
    Cow::Owned(stored.replace("\u{1}\u{1}", "\0").replace("\u{1}\u{2}", "\u{1}"))
}

/// A number column of a row.
pub(crate) fn number_of(row: &Row, column: usize) -> Outcome<u64> {
    unsigned(row.try_get(column)?)
}

/// A column of a row that is a moment, in milliseconds since 1970.
pub(crate) fn moment_of(row: &Row, column: usize) -> Outcome<Timestamp> {
    timestamp(row.try_get(column)?)
}

pub(crate) fn timestamp(millis: i64) -> Outcome<Timestamp> {
    Timestamp::from_millis(millis).ok_or_else(|| Failure::corrupt("no moment"))
}

pub(crate) fn unsigned(number: i64) -> Outcome<u64> {
    u64::try_from(number).map_err(|_| Failure::corrupt("a negative number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_texts_are_restored_and_keep_their_order() {
        let texts = [
            "",
            "\0",
            "\0\0",
            "\0\u{1}",
            "\0\u{2}",
            "\u{1}",
            "\u{1}\0",
            "\u{1}\u{1}",
            "\u{2}",
            "a",
        ];
        for pair in texts.windows(2) {
            assert!(pair[0] < pair[1] && escaped(pair[0]) < escaped(pair[1]), "{pair:?}");
        }
        for text in texts {
            assert!(!escaped(text).contains('\0'));
            assert_eq!(unescaped(&escaped(text)), text);
        }
    }
}
