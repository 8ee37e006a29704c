//! The records of a tenant in a connection, within one transaction of it.

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};
use swarm_core::domain::{Seq, Version};
use swarm_core::store::Result;
use swarm_core::store::backend::engine::{Scan, Tables, TablesMut};
use swarm_core::store::backend::{
    Body, CommitId, Entries, Entry, Head, PartSet, Reference, Row, Table, Value,
};
use swarm_core::{TenantId, Timestamp};

use crate::failure::{Failure, Outcome};
use crate::sql::{Extent, Statement, Statements};

/// The records of one tenant, in one snapshot or write transaction.
pub(crate) struct TenantTables<'a> {
    db: &'a Connection,
    statements: &'a Statements,
    tenant: &'a str,
}

impl<'a> TenantTables<'a> {
    pub(crate) fn new(
        db: &'a Connection,
        statements: &'a Statements,
        tenant: &'a TenantId,
    ) -> Self {
        Self { db, statements, tenant: tenant.as_str() }
    }

    /// Whether the tenant has records other than transient ones.
    pub(crate) fn is_used(&self) -> Outcome<bool> {
        Ok(self.first(&self.statements.is_used(), [], |_| Ok(()))?.is_some())
    }

    /// Passes each row that a statement finds to a function, until it returns false. `?1` is the tenant; the values are those of
    /// `?2`, `?3` and so on.
    fn each<'v>(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = ValueRef<'v>>,
        mut read: impl FnMut(&rusqlite::Row<'_>) -> Outcome<bool>,
    ) -> Outcome<()> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if !read(row)? {
                break;
            }
        }
        Ok(())
    }

    /// The first row that a statement finds, if any.
    fn first<'v, T>(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = ValueRef<'v>>,
        read: impl Fn(&rusqlite::Row<'_>) -> Outcome<T>,
    ) -> Outcome<Option<T>> {
        let mut found = None;
        self.each(sql, values, |row| {
            found = Some(read(row)?);
            Ok(false)
        })?;
        Ok(found)
    }

    /// Runs a statement that changes rows.
    fn run<'v>(&self, sql: &str, values: impl IntoIterator<Item = ValueRef<'v>>) -> Outcome<()> {
        self.bound(sql, values)?.raw_execute()?;
        Ok(())
    }

    fn bound<'v>(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = ValueRef<'v>>,
    ) -> Outcome<CachedStatement<'a>> {
        let mut statement = self.db.prepare_cached(sql)?;
        statement.raw_bind_parameter(1, self.tenant)?;
        for (place, value) in (2..).zip(values) {
            statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(value))?;
        }
        Ok(statement)
    }

    fn select(&self, scan: &Scan<'_>, take: &mut dyn FnMut(Row) -> Result<bool>) -> Outcome<()> {
        let Scan { table, parts, .. } = *scan;
        let sql = self.statements.text(table, Statement::Select(Extent::of(scan), parts));
        self.each(&sql, bindable_all(scan), |row| Ok(take(record(table, parts, row)?)?))
    }

    /// Runs a statement that binds all that is stored of a record.
    fn store(&self, table: &'static Table, statement: Statement, row: &Row) -> Outcome<()> {
        let parts: Vec<Option<Cow<'_, str>>> =
            (0..table.parts.len()).map(|part| row.body.part(part)).collect();
        let parts = parts.iter().map(|part| ValueRef::from(part.as_deref()));
        let columns = row.columns.iter().map(bindable);
        let values = columns.chain([number(row.version.0)]).chain(parts);
        self.run(&self.statements.text(table, statement), values)
    }

    /// Runs a statement that binds the key of a record, and a value.
    fn change(
        &self,
        table: &'static Table,
        statement: Statement,
        row: &Row,
        value: Option<&Value>,
    ) -> Outcome<()> {
        let values = row.columns.iter().take(table.key).chain(value).map(bindable);
        self.run(&self.statements.text(table, statement), values)
    }

    fn entry(&self, row: &rusqlite::Row<'_>) -> Outcome<Entry> {
        let reference = match text(row, 5)? {
            None => None,
            Some(name) => {
                let table = self.statements.tables.iter().find(|table| *table.name == *name);
                let table =
                    *table.ok_or_else(|| Failure::corrupt("an entry refers to no table"))?;
                Some(Reference { table, key: unsigned(row.get(6)?)?, row: None })
            }
        };
        Ok(Entry {
            seq: Seq(unsigned(row.get(0)?)?),
            at: timestamp(row.get(1)?)?,
            commit: CommitId(row.get(2)?),
            topic: row.get(3)?,
            assigned: row.get::<_, Option<i64>>(4)?.map(unsigned).transpose()?,
            reference,
            body: Body::of_texts(vec![text(row, 7)?]),
        })
    }

    fn append_entry(&self, entry: &Entry) -> Outcome<()> {
        const APPEND: &str = "INSERT INTO log VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let Entry { seq, at, commit, topic, assigned, reference, body } = entry;
        let reference = reference.as_ref();
        self.run(
            APPEND,
            [
                number(seq.0),
                ValueRef::Integer(at.millis()),
                ValueRef::Blob(&commit.0),
                topic.map_or(ValueRef::Null, ValueRef::Integer),
                assigned.map_or(ValueRef::Null, number),
                reference.map(|it| it.table.name).into(),
                reference.map_or(ValueRef::Null, |it| number(it.key)),
                body.part(0).as_deref().into(),
            ],
        )
    }
}

impl Tables for TenantTables<'_> {
    fn row(&self, table: &'static Table, key: &[Value], parts: PartSet) -> Result<Option<Row>> {
        let (after, before) = (None, None);
        let scan =
            Scan { table, index: None, prefix: key, after, before, is_descending: false, parts };
        let mut found = None;
        self.select(&scan, &mut |row| {
            found = Some(row);
            Ok(false)
        })?;
        Ok(found)
    }

    fn scan(&self, scan: &Scan<'_>, each: &mut dyn FnMut(Row) -> Result<bool>) -> Result<()> {
        Ok(self.select(scan, each)?)
    }

    fn count(&self, scan: &Scan<'_>, except: &[Value], most: usize) -> Result<usize> {
        let statement =
            Statement::Count { extent: Extent::of(scan), has_except: !except.is_empty() };
        let most = ValueRef::Integer(i64::try_from(most).unwrap_or(i64::MAX));
        let values = bindable_all(scan).chain(except.iter().map(bindable)).chain([most]);
        let sql = self.statements.text(scan.table, statement);
        let counted = self.first(&sql, values, |row| unsigned(row.get(0)?))?;
        Ok(usize::try_from(counted.unwrap_or(0)).unwrap_or(usize::MAX))
    }

    fn sequence(&self, name: &str) -> Result<u64> {
        const LAST: &str = "SELECT number FROM sequences WHERE tenant = ?1 AND name = ?2";
        let last = self.first(LAST, [name.into()], |row| unsigned(row.get(0)?))?;
        Ok(last.unwrap_or(0))
    }

    fn head(&self) -> Result<Head> {
        const LAST: &str = "SELECT seq, at, commit_id FROM log
            WHERE tenant = ?1 ORDER BY seq DESC LIMIT 1";
        const NUMBER: &str = "SELECT number FROM logs WHERE tenant = ?1";
        let number = self.first(NUMBER, [], |row| unsigned(row.get(0)?))?;
        let last = self.first(LAST, [], |row| {
            Ok((Seq(unsigned(row.get(0)?)?), timestamp(row.get(1)?)?, CommitId(row.get(2)?)))
        })?;
        let log = number.unwrap_or(1);
        Ok(match last {
            Some((size, at, commit)) => Head { log, size, at: Some(at), commit: Some(commit) },
            None => Head { log, ..Head::default() },
        })
    }

    fn commit_of(&self, seq: Seq) -> Result<Option<CommitId>> {
        const COMMIT: &str = "SELECT commit_id FROM log WHERE tenant = ?1 AND seq = ?2";
        Ok(self.first(COMMIT, [number(seq.0)], |row| Ok(CommitId(row.get(0)?)))?)
    }

    fn entries(&self, entries: &Entries) -> Result<Vec<Entry>> {
        const ALL: &str =
            "SELECT seq, at, commit_id, topic, assigned, refers, record, entry FROM log
            WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        // The index is named because the planner would read the whole log, which is in order.
        const ABOUT: &str =
            "SELECT seq, at, commit_id, topic, assigned, refers, record, entry FROM log
            INDEXED BY log_by_topic
            WHERE tenant = ?1 AND seq > ?2 AND topic = ?4 ORDER BY seq LIMIT ?3";
        let limit = i64::try_from(entries.limit).unwrap_or(i64::MAX);
        let values = [number(entries.after.0), ValueRef::Integer(limit)];
        let values = values.into_iter().chain(entries.topic.map(ValueRef::Integer));
        let mut found = Vec::new();
        self.each(if entries.topic.is_some() { ABOUT } else { ALL }, values, |row| {
            found.push(self.entry(row)?);
            Ok(true)
        })?;
        Ok(found)
    }
}

impl TablesMut for TenantTables<'_> {
    fn insert(&mut self, table: &'static Table, row: Row) -> Result<()> {
        Ok(self.store(table, Statement::Insert, &row)?)
    }

    fn replace(&mut self, table: &'static Table, _: &Row, row: Row) -> Result<()> {
        Ok(self.store(table, Statement::Replace, &row)?)
    }

    fn set(&mut self, table: &'static Table, old: &Row, column: usize, value: Value) -> Result<()> {
        Ok(self.change(table, Statement::Set(column), old, Some(&value))?)
    }

    fn remove(&mut self, table: &'static Table, old: &Row) -> Result<()> {
        Ok(self.change(table, Statement::Remove, old, None)?)
    }

    fn set_sequence(&mut self, name: &'static str, last: u64) -> Result<()> {
        const SET: &str = "INSERT INTO sequences VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET number = excluded.number";
        Ok(self.run(SET, [name.into(), number(last)])?)
    }

    fn append(&mut self, log: u64, entries: Vec<Entry>) -> Result<()> {
        const NUMBER: &str = "INSERT INTO logs VALUES (?1, ?2)
            ON CONFLICT DO UPDATE SET number = excluded.number WHERE number <> excluded.number";
        if log > 1 {
            self.run(NUMBER, [number(log)])?;
        }
        Ok(entries.iter().try_for_each(|entry| self.append_entry(entry))?)
    }
}

/// The record of a row: its version, its columns, and the parts that were selected.
fn record(table: &Table, parts: PartSet, row: &rusqlite::Row<'_>) -> Outcome<Row> {
    let columns = (1..=table.columns.len()).map(|place| value(row.get_ref(place)?));
    let columns = columns.collect::<Outcome<_>>()?;
    let mut places = table.columns.len() + 1..;
    let part = |part: usize| match parts.has(part).then(|| places.next()).flatten() {
        Some(place) => text(row, place),
        None => Ok(None),
    };
    let body = match parts {
        PartSet::NONE => Body::empty(),
        _ => Body::of_texts((0..table.parts.len()).map(part).collect::<Outcome<_>>()?),
    };
    Ok(Row { version: Version(unsigned(row.get(0)?)?), columns, body })
}

fn value(value: ValueRef<'_>) -> Outcome<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(_) => value.as_str().map_err(Failure::corrupt)?.into(),
        ValueRef::Blob(bytes) => bytes.into(),
        ValueRef::Real(_) => return Err(Failure::corrupt("a number that is no integer")),
    })
}

/// The values of a range, in the order in which they are bound.
fn bindable_all<'a>(scan: &Scan<'a>) -> impl Iterator<Item = ValueRef<'a>> {
    scan.prefix.iter().chain(scan.after).chain(scan.before).map(bindable)
}

fn bindable(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(number) => ValueRef::Integer(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
    }
}

fn text(row: &rusqlite::Row<'_>, place: usize) -> Outcome<Option<Box<str>>> {
    Ok(row.get_ref(place)?.as_str_or_null().map_err(Failure::corrupt)?.map(Into::into))
}

/// A number as a value; SQLite has no larger integers than `i64::MAX`.
fn number(number: u64) -> ValueRef<'static> {
    ValueRef::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn unsigned(number: i64) -> Outcome<u64> {
    u64::try_from(number).map_err(|_| Failure::corrupt("a negative number"))
}

/// A time in milliseconds since 1970.
fn timestamp(millis: i64) -> Outcome<Timestamp> {
    Timestamp::from_millis(millis).ok_or_else(|| Failure::corrupt("no moment"))
}
