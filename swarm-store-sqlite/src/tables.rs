//! The records of a tenant in a connection, within one transaction of it.

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};
use swarm_core::TenantId;
use swarm_core::domain::Version;
use swarm_core::store::Result;
use swarm_core::store::backend::engine::{Scan, Tables, TablesMut};
use swarm_core::store::backend::{Body, PartSet, Row, Table, Value};

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
}

impl Tables for TenantTables<'_> {
    fn declared(&self) -> &[&'static Table] {
        self.statements.tables
    }

    fn row(&self, table: &'static Table, key: &[Value], parts: PartSet) -> Result<Option<Row>> {
        let scan = Scan { prefix: key, parts, ..Scan::all(table) };
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
