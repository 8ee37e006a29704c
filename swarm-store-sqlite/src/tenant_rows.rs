//! Statements on the rows of one tenant. In every statement `?1` is the tenant, and it is always bound: a
//! statement without it fails.

use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, Row, ToSql};
use swarm_core::Timestamp;
use swarm_core::domain::{TenantId, Version};
use swarm_core::store::records::Record;
use swarm_core::store::{Saved, Versioned, time_of_commit, time_of_read};

use crate::database::TimeSource;
use crate::failure::{Failure, Outcome};

/// The rows of one tenant, in one snapshot or write transaction.
pub(crate) struct TenantRows<'a> {
    db: &'a Connection,
    tenant: &'a str,
    clock: &'a TimeSource,
}

/// The values of `?2`, `?3` and so on, which follow the tenant.
pub(crate) type Values<'a> = &'a [&'a dyn ToSql];

impl<'a> TenantRows<'a> {
    pub(crate) fn new(db: &'a Connection, tenant: &'a TenantId, clock: &'a TimeSource) -> Self {
        Self { db, tenant: tenant.as_str(), clock }
    }

    /// The row that a statement finds, if any.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: Values<'_>,
        read: impl FnOnce(&Row<'_>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        rows.next()?.map(read).transpose()
    }

    /// Reads each row that a statement finds, one at a time.
    pub(crate) fn each(
        &self,
        sql: &str,
        values: Values<'_>,
        mut read: impl FnMut(&Row<'_>) -> Outcome<()>,
    ) -> Outcome<()> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            read(row)?;
        }
        Ok(())
    }

    /// All rows that a statement finds.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: Values<'_>,
        read: impl Fn(&Row<'_>) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, values, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Passes the rows that a statement finds to a function, until it returns false.
    pub(crate) fn each_while(
        &self,
        sql: &str,
        values: Values<'_>,
        mut take: impl FnMut(&Row<'_>) -> Outcome<bool>,
    ) -> Outcome<()> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if !take(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Whether a statement finds a row.
    pub(crate) fn any(&self, sql: &str, values: Values<'_>) -> Outcome<bool> {
        Ok(self.one(sql, values, |_| Ok(()))?.is_some())
    }

    /// The number that a statement finds, if any.
    pub(crate) fn number(&self, sql: &str, values: Values<'_>) -> Outcome<Option<u64>> {
        let found: Option<Option<i64>> = self.one(sql, values, |row| Ok(row.get(0)?))?;
        found.flatten().map(unsigned).transpose()
    }

    /// The next id, given a statement that selects the last one.
    pub(crate) fn next_id(&self, last: &str, values: Values<'_>) -> Outcome<u64> {
        Ok(self.number(last, values)?.unwrap_or(0).saturating_add(1))
    }

    /// Runs a statement that changes rows; returns their number.
    pub(crate) fn run(&self, sql: &str, values: Values<'_>) -> Outcome<usize> {
        Ok(self.bound(sql, values)?.raw_execute()?)
    }

    /// The time of a read: that of the clock, or of the last row of the log if that is later.
    pub(crate) fn now(&self) -> Outcome<Timestamp> {
        Ok(time_of_read((self.clock)(), last_time(self)?))
    }

    /// The time of the current commit. It never decreases from commit to commit, in any process.
    pub(crate) fn time_of_commit(&self) -> Outcome<Timestamp> {
        Ok(time_of_commit((self.clock)(), last_time(self)?)?)
    }

    /// The time of the clock, even if it is behind the log.
    pub(crate) fn clock(&self) -> Timestamp {
        (self.clock)()
    }

    fn bound(&self, sql: &str, values: Values<'_>) -> Outcome<CachedStatement<'a>> {
        let mut statement = self.db.prepare_cached(sql)?;
        statement.raw_bind_parameter(1, self.tenant)?;
        for (place, value) in (2..).zip(values) {
            statement.raw_bind_parameter(place, value)?;
        }
        Ok(statement)
    }
}

/// The record of a row that begins with its text.
pub(crate) fn record<T: Record>(row: &Row<'_>) -> Outcome<Arc<T>> {
    Ok(Arc::new(T::from_text(text(row, 0)?)?))
}

/// The record of a row that begins with its version and its text.
pub(crate) fn versioned<T: Record>(row: &Row<'_>) -> Outcome<Versioned<T>> {
    let version = Version(unsigned(row.get(0)?)?);
    Ok(Versioned { version, record: Arc::new(T::from_text(text(row, 1)?)?) })
}

/// A text column of a row.
pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Outcome<&'a str> {
    row.get_ref(column)?.as_str().map_err(Failure::corrupt)
}

/// The outcome of a write that is guarded by a version, from the number of rows it changed.
pub(crate) fn saved(changed: Outcome<usize>) -> Outcome<Saved> {
    Ok(if changed? == 0 { Saved::Stale } else { Saved::Saved })
}

/// The version after this one; the first version if none is expected.
pub(crate) fn next(expected: Option<Version>) -> i64 {
    signed(expected.map_or(Version(1), Version::next).0)
}

/// A limit as an argument of a statement.
pub(crate) fn limit_arg(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A number as an argument of a statement; SQLite has no larger integers than `i64::MAX`.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number from a row.
pub(crate) fn unsigned(number: i64) -> Outcome<u64> {
    u64::try_from(number).map_err(|_| Failure::corrupt("a negative number"))
}

/// A time from a row, in milliseconds since 1970.
pub(crate) fn timestamp(millis: i64) -> Outcome<Timestamp> {
    Timestamp::from_millis(millis).ok_or_else(|| Failure::corrupt("no moment"))
}

/// When the last row of the log was appended.
fn last_time(world: &TenantRows<'_>) -> Outcome<Option<Timestamp>> {
    const LAST_TIME: &str = "SELECT at FROM log WHERE tenant = ?1 ORDER BY seq DESC LIMIT 1";
    world.one(LAST_TIME, &[], |row| timestamp(row.get(0)?))
}
