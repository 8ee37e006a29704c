//! Statements on the rows of one tenant. In every statement `$1` is the tenant, and it is always bound: a
//! statement without it fails.
//!
//! Statements are sent without names and with the types of their values, in one round trip each. So a
//! pooler may give each transaction another connection.

use std::borrow::Cow;

use futures_util::future::join3;
use swarm_core::Timestamp;
use swarm_core::domain::TenantId;
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
    Text(Cow<'a, str>),
    Number(i64),
    Texts(Vec<Option<&'a str>>),
}

impl<'a> Arg<'a> {
    pub(crate) fn texts(values: impl IntoIterator<Item = &'a Option<String>>) -> Self {
        Self::Texts(values.into_iter().map(Option::as_deref).collect())
    }

    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(value) => (value, Type::TEXT),
            Self::Number(value) => (value, Type::INT8),
            Self::Texts(value) => (value, Type::TEXT_ARRAY),
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

/// The same, in a string of its own.
pub(crate) fn owned(text: &str) -> String {
    escaped(text).into_owned()
}

/// The text that was stored as this.
pub(crate) fn unescaped(stored: &str) -> String {
    if !stored.contains('\u{1}') {
        return stored.to_owned();
    }
    stored.replace("\u{1}\u{1}", "\0").replace("\u{1}\u{2}", "\u{1}")
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
