//! Rows and answers, from what the functions of the database return.

use std::sync::Arc;

use swarm_core::domain::{Seq, Version};
use swarm_core::store::backend::{
    Answer, Assigned, Body, ColumnKind, CommitId, Decision, Entry, Head, Outcome as Committed,
    Query, Range, Reading, Reference, Row as Record, Table, Value,
};
use swarm_core::store::{Result, StoreError};
use tokio_postgres::Row;

use crate::db::{number_of, timestamp, unescaped, unsigned};
use crate::failure::{Failure, Outcome};
use crate::program::Transacted;
use crate::schema;
use crate::sql::Declared;

/// A record, from its version, the values of its columns and its parts, in this column and those after it; `None` if there is none.
fn record(row: &Row, first: usize, table: &'static Table) -> Outcome<Option<Record>> {
    let Some(version) = row.try_get::<_, Option<i64>>(first)? else { return Ok(None) };
    let columns: Vec<Option<&str>> = row.try_get(first + 1)?;
    let parts: Vec<Option<&str>> = row.try_get(first + 2)?;
    if columns.len() != table.columns.len() {
        return Err(Failure::corrupt(format!("{} columns of {}", columns.len(), table.name)));
    }
    let values = columns.into_iter().zip(table.columns);
    let values = values.map(|(text, column)| value(text, column.kind));
    let columns: Arc<[_]> = values.collect::<Outcome<_>>()?;
    let body = match parts.is_empty() {
        true => Body::empty(),
        false => body(parts),
    };
    Ok(Some(Record { version: Version(unsigned(version)?), columns, body }))
}

fn body(parts: Vec<Option<&str>>) -> Body {
    Body::of_texts(parts.into_iter().map(|part| part.map(|text| unescaped(text).into())).collect())
}

fn value(text: Option<&str>, kind: ColumnKind) -> Outcome<Value> {
    let Some(text) = text else { return Ok(Value::Null) };
    Ok(match kind {
        ColumnKind::Integer | ColumnKind::Time => Value::Integer(integer(text)?),
        ColumnKind::Text => unescaped(text).into(),
        ColumnKind::Bytes => Value::Bytes(bytes(text)?.into()),
    })
}

fn integer(text: &str) -> Outcome<i64> {
    text.parse().map_err(|_| Failure::corrupt("no integer"))
}

/// Bytes, from hexadecimal digits.
fn bytes(digits: &str) -> Outcome<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    pairs.map(byte).collect::<Option<_>>().ok_or_else(|| Failure::corrupt("no bytes"))
}

fn commit_id(digits: &str) -> Outcome<CommitId> {
    let id = bytes(digits)?.try_into().map_err(|_| Failure::corrupt("no identity of a commit"))?;
    Ok(CommitId(id))
}

/// The answers to queries, from the rows of `read_2`.
pub(crate) fn reading(rows: &[Row], queries: &[Query], tables: Declared) -> Outcome<Reading> {
    let (first, mut rows) = rows.split_first().ok_or_else(|| Failure::corrupt("no answer"))?;
    let head: Vec<Option<&str>> = first.try_get(2)?;
    let [Some(clock), Some(log), Some(size), at, commit] = head[..] else {
        return Err(Failure::corrupt("no end of the log"));
    };
    let head = Head {
        log: unsigned(integer(log)?)?,
        size: Seq(unsigned(integer(size)?)?),
        at: at.map(|at| timestamp(integer(at)?)).transpose()?,
        commit: commit.map(commit_id).transpose()?,
    };
    let mut answers = Vec::with_capacity(queries.len());
    for (number, query) in (0_i32..).zip(queries) {
        let mut count = 0;
        for row in rows {
            if row.try_get::<_, i32>(0)? != number {
                break;
            }
            count += 1;
        }
        let (of_query, rest) = rows.split_at_checked(count).unwrap_or((rows, &[]));
        rows = rest;
        answers.push(answer(of_query, query, tables)?);
    }
    Ok(Reading { clock: timestamp(integer(clock)?)?, head, answers })
}

fn answer(rows: &[Row], query: &Query, tables: Declared) -> Outcome<Answer> {
    Ok(match query {
        Query::Rows(range) => records(rows, range)?,
        Query::Count(_) | Query::Sequence(_) => {
            Answer::Number(unsigned(integer(single(rows)?.unwrap_or("0"))?)?)
        }
        Query::CommitOf(_) => Answer::Commit(single(rows)?.map(commit_id).transpose()?),
        Query::Entries(_) => {
            Answer::Entries(rows.iter().map(|row| entry(row, tables)).collect::<Outcome<_>>()?)
        }
    })
}

/// The only value of the only row.
fn single(rows: &[Row]) -> Outcome<Option<&str>> {
    let Some(row) = rows.first() else { return Ok(None) };
    let values: Vec<Option<&str>> = row.try_get(2)?;
    Ok(values.into_iter().next().flatten())
}

fn records(rows: &[Row], range: &Range) -> Outcome<Answer> {
    let (mut found, mut joined, mut has_more) = (Vec::new(), Vec::new(), false);
    for row in rows {
        found.extend(record(row, 1, range.table)?);
        if let Some(join) = &range.join {
            joined.push(record(row, 4, join.table)?);
        }
        let total: Option<i64> = row.try_get(7)?;
        has_more = total.is_some_and(|total| total.unsigned_abs() > rows.len() as u64);
    }
    Ok(Answer::Rows { rows: found, joined, has_more })
}

fn entry(row: &Row, tables: Declared) -> Outcome<Entry> {
    let columns: Vec<Option<&str>> = row.try_get(2)?;
    let [Some(at), Some(commit), topic, assigned, refers, key] = columns[..] else {
        return Err(Failure::corrupt("an entry of the log"));
    };
    let number = |text: Option<&str>| text.map(|text| unsigned(integer(text)?)).transpose();
    let reference = refers.map(|name| {
        let table = tables.iter().copied().find(|table| table.name == name);
        let table = table.ok_or_else(|| Failure::corrupt("no such table"))?;
        let key = number(key)?.ok_or_else(|| Failure::corrupt("an entry without its record"))?;
        Ok::<_, Failure>(Reference { table, key, row: record(row, 4, table)? })
    });
    Ok(Entry {
        seq: Seq(number_of(row, 1)?),
        at: timestamp(integer(at)?)?,
        commit: commit_id(commit)?,
        topic: topic.map(integer).transpose()?,
        assigned: number(assigned)?,
        reference: reference.transpose()?,
        body: body(row.try_get(3)?),
    })
}

/// What became of a transaction, from a row of `commit_2`.
pub(crate) fn committed(
    row: &Row,
    transaction: &Transacted,
    op: &'static str,
) -> Outcome<Result<Committed>> {
    let (outcome, at): (&str, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
    if outcome == "other layout" {
        return Err(schema::other_layout(at.unwrap_or_default()));
    }
    let head = Head {
        log: number_of(row, 7)?,
        size: Seq(number_of(row, 8)?),
        at: row.try_get::<_, Option<i64>>(9)?.map(timestamp).transpose()?,
        commit: row.try_get::<_, Option<&str>>(10)?.map(commit_id).transpose()?,
    };
    let decision = match outcome {
        "committed" => {
            let at = timestamp(at.ok_or_else(|| Failure::corrupt("a commit without a time"))?)?;
            let numbers: Vec<i64> = row.try_get(2)?;
            let numbers = numbers.into_iter().map(unsigned).collect::<Outcome<_>>()?;
            Decision::Committed(Assigned { at, numbers })
        }
        "repeated" => {
            let found = transaction.repeated.map(|table| record(row, 4, table)).transpose()?;
            let found = found.flatten().ok_or_else(|| Failure::corrupt("no repetition"))?;
            Decision::Repeated(found)
        }
        "failed" => {
            let check = row.try_get::<_, i32>(3)?;
            let check = usize::try_from(check).map_err(|_| Failure::corrupt("no check"))?;
            let table = transaction.found.get(check).copied().flatten();
            let found = table.map(|table| record(row, 4, table)).transpose()?.flatten();
            Decision::Failed { check, found }
        }
        "another log" => return Ok(Err(StoreError::contended(op, "another log has begun"))),
        "went back" => return Ok(Err(StoreError::went_back(op))),
        "clock behind" => return Ok(Err(StoreError::clock_behind(op))),
        other => return Err(Failure::corrupt(format!("the outcome {other}"))),
    };
    Ok(Ok(Committed { head, decision }))
}
