//! Statements on the rows of one tenant. In every statement `$1` is the tenant, and it is always bound: a
//! statement without it fails.
//!
//! Statements are sent without names and with the types of their values, in one round trip each. So a
//! pooler may give each transaction another connection.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::join3;
use serde_json::Value;
use swarm_core::Timestamp;
use swarm_core::domain::{Seq, TenantId, Version};
use swarm_core::proof::hex;
use swarm_core::store::records::Record;
use swarm_core::store::{LogPosition, Versioned, time_of_read};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::failure::{Failure, Outcome};
use crate::schema::Schema;

/// The rows of one tenant, over one connection.
#[derive(Clone, Copy)]
pub(crate) struct Db<'a> {
    client: &'a Client,
    schema: &'a Schema,
    tenant: &'a TenantId,
}

/// A value of a statement: `$2`, `$3` and so on, which follow the tenant.
pub(crate) enum Arg<'a> {
    /// Text that may contain any character.
    Text(Cow<'a, str>),
    MaybeText(Option<Cow<'a, str>>),
    Number(i64),
    MaybeNumber(Option<i64>),
    Bytes(&'a [u8]),
    Texts(Vec<Cow<'a, str>>),
    Numbers(Vec<i64>),
    MaybeNumbers(Vec<Option<i64>>),
    ManyBytes(Vec<Vec<u8>>),
    Truth(bool),
}

pub(crate) fn text(value: &str) -> Arg<'_> {
    Arg::Text(escaped(value))
}

pub(crate) fn owned(value: String) -> Arg<'static> {
    Arg::Text(Cow::Owned(escaped(&value).into_owned()))
}

pub(crate) fn maybe_text(value: Option<&str>) -> Arg<'_> {
    Arg::MaybeText(value.map(escaped))
}

/// A number; PostgreSQL has no larger integers than `i64::MAX`.
pub(crate) fn number(value: u64) -> Arg<'static> {
    Arg::Number(signed(value))
}

/// A limit.
pub(crate) fn limit(value: usize) -> Arg<'static> {
    Arg::Number(i64::try_from(value).unwrap_or(i64::MAX))
}

/// The version after this one; the first where there is none.
pub(crate) fn after(expected: Option<Version>) -> Version {
    expected.map_or(Version(1), Version::next)
}

/// Text that may contain any character, as JSON.
pub(crate) fn any(text: &str) -> Value {
    escaped(text).into()
}

/// Bytes, as PostgreSQL reads them from text.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    format!("\\x{}", hex(bytes))
}

impl<'a> Arg<'a> {
    pub(crate) fn texts(values: impl Iterator<Item = &'a str>) -> Self {
        Self::Texts(values.map(escaped).collect())
    }

    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(value) => (value, Type::TEXT),
            Self::MaybeText(value) => (value, Type::TEXT),
            Self::Number(value) => (value, Type::INT8),
            Self::MaybeNumber(value) => (value, Type::INT8),
            Self::Bytes(value) => (value, Type::BYTEA),
            Self::Texts(value) => (value, Type::TEXT_ARRAY),
            Self::Numbers(value) => (value, Type::INT8_ARRAY),
            Self::MaybeNumbers(value) => (value, Type::INT8_ARRAY),
            Self::ManyBytes(value) => (value, Type::BYTEA_ARRAY),
            Self::Truth(value) => (value, Type::BOOL),
        }
    }
}

impl<'a> Db<'a> {
    pub(crate) fn new(client: &'a Client, schema: &'a Schema, tenant: &'a TenantId) -> Self {
        Self { client, schema, tenant }
    }

    /// Runs a statement; returns the rows that it finds.
    pub(crate) async fn rows(&self, sql: &str, args: &[Arg<'_>]) -> Outcome<Vec<Row>> {
        let (sql, tenant) = (self.schema.qualify(sql), self.tenant.as_str());
        Ok(self.client.query_typed(&sql, &bound(&tenant, args)).await?)
    }

    /// The same, in a transaction under READ COMMITTED that is begun and committed by statements of its own. All three
    /// are sent at once.
    pub(crate) async fn rows_of_transaction(
        &self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Outcome<Vec<Row>> {
        let begin = self.client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED");
        // After an error of the statement it rolls back.
        let commit = self.client.batch_execute("COMMIT");
        let (begun, rows, committed) = join3(begin, self.rows(sql, args), commit).await;
        begun?;
        let rows = rows?;
        committed?;
        Ok(rows)
    }

    /// The row that a statement finds, if any.
    pub(crate) async fn one<T>(
        &self,
        sql: &str,
        args: &[Arg<'_>],
        read: impl Fn(&Row) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        self.rows(sql, args).await?.first().map(read).transpose()
    }
}

fn bound<'b>(tenant: &'b &str, args: &'b [Arg<'_>]) -> Vec<(&'b (dyn ToSql + Sync), Type)> {
    let tenant: (&(dyn ToSql + Sync), Type) = (tenant, Type::TEXT);
    std::iter::once(tenant).chain(args.iter().map(Arg::typed)).collect()
}

/// The text as it is stored. PostgreSQL keeps every character but U+0000, so U+0000 and U+0001 become U+0001
/// and one more character. The order of texts stays that of their bytes.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', '\u{1}']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\u{1}', "\u{1}\u{2}").replace('\0', "\u{1}\u{1}"))
}

/// The text that was stored as this.
pub(crate) fn unescaped(stored: &str) -> String {
    stored.replace("\u{1}\u{1}", "\0").replace("\u{1}\u{2}", "\u{1}")
}

/// A text column of a row.
pub(crate) fn text_of(row: &Row, column: usize) -> Outcome<String> {
    Ok(unescaped(row.try_get(column)?))
}

/// The record of a row that begins with its text.
pub(crate) fn record<T: Record>(row: &Row) -> Outcome<Arc<T>> {
    Ok(Arc::new(T::from_text(row.try_get(0)?)?))
}

/// The record of a row that begins with its version and its text.
pub(crate) fn versioned<T: Record>(row: &Row) -> Outcome<Versioned<T>> {
    let version = Version(number_of(row, 0)?);
    Ok(Versioned { version, record: Arc::new(T::from_text(row.try_get(1)?)?) })
}

/// The record of a row that has its version and its text from a column on, if any.
pub(crate) fn versioned_at<T: Record>(row: &Row, first: usize) -> Outcome<Option<Versioned<T>>> {
    let Some(text) = row.try_get(first + 1)? else { return Ok(None) };
    let version = Version(number_of(row, first)?);
    Ok(Some(Versioned { version, record: Arc::new(T::from_text(text)?) }))
}

/// A number column of a row.
pub(crate) fn number_of(row: &Row, column: usize) -> Outcome<u64> {
    unsigned(row.try_get(column)?)
}

/// A column of a row that is a moment, in milliseconds since 1970.
pub(crate) fn moment_of(row: &Row, column: usize) -> Outcome<Timestamp> {
    timestamp(row.try_get(column)?)
}

/// As [`moment_of`], if there is one.
pub(crate) fn maybe_moment_of(row: &Row, column: usize) -> Outcome<Option<Timestamp>> {
    row.try_get::<_, Option<i64>>(column)?.map(timestamp).transpose()
}

/// The time of a read, of a row that begins with the time of the clock and that of the last row of the log.
pub(crate) fn time_of(row: &Row) -> Outcome<Timestamp> {
    Ok(time_of_read(moment_of(row, 0)?, maybe_moment_of(row, 1)?))
}

/// The position of a log: the columns with its number, the number of its last row, and the fingerprint of that row, if any.
pub(crate) fn position_of(row: &Row, columns: [usize; 3]) -> Outcome<LogPosition> {
    let [log, size, last] = columns;
    Ok(LogPosition {
        log: number_of(row, log)?,
        size: Seq(number_of(row, size)?),
        last: row.try_get::<_, Option<&str>>(last)?.unwrap_or_default().into(),
    })
}

pub(crate) fn timestamp(millis: i64) -> Outcome<Timestamp> {
    Timestamp::from_millis(millis).ok_or_else(|| Failure::corrupt("no moment"))
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
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
