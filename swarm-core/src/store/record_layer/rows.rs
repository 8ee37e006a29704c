//! Reads values from rows, and the answers to queries one after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;

use crate::domain::Timestamp;
use crate::records::{Record, Unreadable, parse};
use crate::rules::Versioned;
use crate::store::StoreError;
use crate::store::backend::{Answer, Body, Entry, Parts, Row, Value};

/// The answers to the queries of an operation, in their order.
pub(super) struct Answers {
    op: &'static str,
    answers: std::vec::IntoIter<Answer>,
    damage: Damage,
}

impl Answers {
    pub(super) fn new(op: &'static str, answers: Vec<Answer>, damage: &Damage) -> Self {
        Self { op, answers: answers.into_iter(), damage: damage.clone() }
    }

    /// The records of the next answer.
    pub(super) fn rows(&mut self) -> Vec<Row> {
        match self.answers.next() {
            Some(Answer::Rows { rows, .. }) => rows,
            _ => Vec::new(),
        }
    }

    /// The records of the next answer, and whether there are more.
    pub(super) fn page(&mut self) -> (Vec<Row>, bool) {
        match self.answers.next() {
            Some(Answer::Rows { rows, has_more, .. }) => (rows, has_more),
            _ => (Vec::new(), false),
        }
    }

    /// The records of the next answer, each with the one that it was joined with.
    pub(super) fn joined(&mut self) -> Vec<(Row, Option<Row>)> {
        match self.answers.next() {
            Some(Answer::Rows { rows, joined, .. }) => rows.into_iter().zip(joined).collect(),
            _ => Vec::new(),
        }
    }

    /// The first record of each of the other answers that have one.
    pub(super) fn first_rows(&mut self) -> Vec<Row> {
        let answers = self.answers.by_ref().filter_map(|answer| match answer {
            Answer::Rows { rows, .. } => rows.into_iter().next(),
            _ => None,
        });
        answers.collect()
    }

    /// The first record of the next answer.
    pub(super) fn row(&mut self) -> Option<Row> {
        self.rows().into_iter().next()
    }

    /// The number in the next answer.
    pub(super) fn number(&mut self) -> u64 {
        match self.answers.next() {
            Some(Answer::Number(number)) => number,
            _ => 0,
        }
    }

    /// The entries in the next answer.
    pub(super) fn entries(&mut self) -> Vec<Entry> {
        match self.answers.next() {
            Some(Answer::Entries(entries)) => entries,
            _ => Vec::new(),
        }
    }

    /// An error of the operation: a stored record is not valid.
    pub(super) fn corrupt(&self) -> impl Fn(Unreadable) -> StoreError + use<> {
        self.damage.corrupt(self.op)
    }
}

/// Whether a stored record was found that is not valid. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Damage(Arc<AtomicBool>);

impl Damage {
    pub(super) fn is_found(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error of the operation named `op`: a stored record is not valid.
    pub(super) fn corrupt(&self, op: &'static str) -> impl Fn(Unreadable) -> StoreError + use<> {
        let Self(is_found) = self.clone();
        move |unreadable| {
            is_found.store(true, Ordering::Relaxed);
            StoreError::corrupt(op, format!("a stored record is garbled: {unreadable}"))
        }
    }
}

/// What reads a value from a row.
pub(super) type Outcome<T> = std::result::Result<T, Unreadable>;

pub(super) fn integer(row: &Row, column: usize) -> Outcome<i64> {
    let number = row.columns.get(column).and_then(Value::integer);
    number.ok_or_else(|| Unreadable::new("a column has no number"))
}

pub(super) fn number(row: &Row, column: usize) -> Outcome<u64> {
    u64::try_from(integer(row, column)?).map_err(|_| Unreadable::new("a number is negative"))
}

pub(super) fn small<T: TryFrom<i64>>(row: &Row, column: usize) -> Outcome<Option<T>> {
    let number = row.columns.get(column).and_then(Value::integer).map(T::try_from);
    number.transpose().map_err(|_| Unreadable::new("a number is too large"))
}

pub(super) fn flag(row: &Row, column: usize) -> bool {
    row.columns.get(column).and_then(Value::integer) == Some(1)
}

pub(super) fn time_if_any(row: &Row, column: usize) -> Outcome<Option<Timestamp>> {
    let Some(millis) = row.columns.get(column).and_then(Value::integer) else { return Ok(None) };
    let time =
        Timestamp::from_millis(millis).ok_or_else(|| Unreadable::new("a time is out of range"))?;
    Ok(Some(time))
}

pub(super) fn time(row: &Row, column: usize) -> Outcome<Timestamp> {
    time_if_any(row, column)?.ok_or_else(|| Unreadable::new("a column has no time"))
}

pub(super) fn text(row: &Row, column: usize) -> Outcome<&str> {
    let text = row.columns.get(column).and_then(Value::text);
    text.ok_or_else(|| Unreadable::new("a column has no text"))
}

pub(super) fn text_if_any(row: &Row, column: usize) -> Option<&str> {
    row.columns.get(column).and_then(Value::text)
}

/// A part that the record must have.
pub(super) fn part(row: &Row, part: usize) -> Outcome<std::borrow::Cow<'_, str>> {
    row.body.part(part).ok_or_else(|| Unreadable::new("a part is missing"))
}

/// Reads a part that is JSON; `None` if the record does not have it.
pub(super) fn parsed<T: DeserializeOwned>(row: &Row, part: usize) -> Outcome<Option<T>> {
    row.body.part(part).map(|text| parse(&text)).transpose()
}

/// A record whose body is its text alone, as part 0.
pub(super) struct Whole<T>(pub(super) Arc<T>);

impl<T: Record + Send + Sync + 'static> Parts for Whole<T> {
    fn part(&self, position: usize) -> Option<std::borrow::Cow<'_, str>> {
        (position == 0).then(|| self.0.to_text().into())
    }
}

/// The body of a record that is its text alone.
pub(super) fn whole<T: Record + Send + Sync + 'static>(record: T) -> Body {
    Body::of(Whole(Arc::new(record)))
}

/// Reads a record whose body is its text alone.
pub(super) fn read_whole<T: Record + Send + Sync + 'static>(row: &Row) -> Outcome<Arc<T>> {
    match row.body.source::<Whole<T>>() {
        Some(Whole(record)) => Ok(Arc::clone(record)),
        None => Ok(Arc::new(T::from_text(&part(row, 0)?)?)),
    }
}

/// Reads such a record with its version.
pub(super) fn versioned<T: Record + Send + Sync + 'static>(row: &Row) -> Outcome<Versioned<T>> {
    Ok(Versioned { version: row.version, record: read_whole(row)? })
}
