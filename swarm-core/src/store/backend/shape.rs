//! Shapes of queries and transactions: what they have in common that differ in nothing but their values.
//!
//! A backend whose tables are on a server would send, and the server interpret, the same structure with every call. It compiles
//! each shape once instead, to a statement or a script with placeholders, and sends the values. The layer above has a few
//! dozen shapes, so a backend may keep what it has compiled for as long as it lives.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    Append, Body, Check, Join, Kind, PartSet, Query, Range, Table, Term, Transaction, Value, Write,
};

/// Where a compiled statement takes a value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The bound value with this position.
    Bound(usize),
    /// See [`Term::Found`].
    Found(usize, usize),
    /// See [`Term::Assigned`].
    Assigned(usize),
    /// See [`Term::AssignedText`].
    AssignedText(usize),
    /// See [`Term::Now`].
    Now,
}

/// The values of queries or of a transaction, which its shape refers to by their positions.
#[derive(Debug, Default)]
pub struct Bindings<'a> {
    /// The values.
    pub values: Vec<Cow<'a, Value>>,
    /// The parts of records that are written, and the texts of entries.
    pub texts: Vec<Option<Cow<'a, str>>>,
}

/// The shape of a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueryShape {
    /// See [`Query::Rows`].
    Rows(RangeShape),
    /// See [`Query::Count`].
    Count(RangeShape),
    /// See [`Query::Sequence`].
    Sequence(&'static str),
    /// See [`Query::Entries`]; the positions of its values.
    Entries {
        /// The topic.
        topic: Option<usize>,
        /// The number.
        after: usize,
        /// The maximum number of entries.
        limit: usize,
        /// See [`Entries::parts`](super::Entries::parts).
        parts: PartSet,
    },
    /// See [`Query::CommitOf`]; the position of the number.
    CommitOf(usize),
}

/// The shape of a [`Range`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RangeShape {
    /// See [`Range::table`].
    pub table: &'static Table,
    /// See [`Range::index`].
    pub index: Option<usize>,
    /// See [`Range::prefix`].
    pub prefix: Vec<Place>,
    /// See [`Range::after`].
    pub after: Option<Place>,
    /// See [`Range::before`].
    pub before: Option<Place>,
    /// See [`Range::is_descending`].
    pub is_descending: bool,
    /// See [`Range::having`].
    pub having: Option<usize>,
    /// See [`Range::limit`].
    pub limit: LimitShape,
    /// See [`Range::bytes`]; the position of the value, `None` for no limit.
    pub bytes: Option<usize>,
    /// See [`Range::parts`].
    pub parts: PartSet,
    /// See [`Range::join`].
    pub join: Option<Join>,
}

/// The shape of a [limit](Range::limit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitShape {
    /// One record.
    One,
    /// As many as the bound value with this position.
    Bound(usize),
    /// No limit.
    None,
}

/// The shape of a [`Transaction`]. Its identity and the position of the log that was seen are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionShape {
    /// See [`Transaction::kind`].
    pub kind: Kind,
    /// The range and the column of a [`Repetition`](super::Repetition).
    pub repetition: Option<(RangeShape, usize)>,
    /// See [`Transaction::checks`].
    pub checks: Vec<CheckShape>,
    /// See [`Transaction::sequences`].
    pub sequences: Vec<&'static str>,
    /// See [`Transaction::writes`].
    pub writes: Vec<WriteShape>,
    /// See [`Transaction::entries`].
    pub entries: Vec<AppendShape>,
}

/// The shape of a [`Check`]. A number is the position of a bound value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CheckShape {
    /// See [`Check::Version`]: the key, and the version, of which `None` remains.
    Version(&'static Table, Vec<Place>, Option<usize>),
    /// See [`Check::NotAfter`].
    NotAfter(usize),
    /// See [`Check::First`].
    First {
        /// The range.
        range: RangeShape,
        /// The position of the column.
        column: usize,
        /// The value.
        value: Place,
        /// The version.
        version: Option<usize>,
    },
    /// See [`Check::AtMost`]: the range, the position of the column and the value.
    AtMost(RangeShape, usize, Place),
    /// See [`Check::None`]: the range, and the key of the record that does not count.
    None(RangeShape, Vec<Place>),
    /// See [`Check::Count`].
    Count {
        /// The range.
        range: RangeShape,
        /// The key of the record that does not count.
        except: Vec<Place>,
        /// The lowest permitted number.
        least: usize,
        /// The highest permitted number.
        most: usize,
    },
    /// See [`Check::Sum`].
    Sum(&'static str, usize),
}

/// The shape of a [`Write`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WriteShape {
    /// See [`Write::Insert`]: the columns, and the position of the first part among the texts.
    Insert(&'static Table, Vec<Place>, usize),
    /// See [`Write::Put`]: the same.
    Put(&'static Table, Vec<Place>, usize),
    /// See [`Write::Set`]: the range, the position of the column and the value.
    Set(RangeShape, usize, Place),
    /// See [`Write::Remove`].
    Remove(RangeShape),
    /// See [`Write::Add`]: the sequence, and the position of the amount.
    Add(&'static str, usize),
}

/// The shape of an [`Append`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AppendShape {
    /// See [`Append::Entry`].
    Entry {
        /// The topic.
        topic: Option<Place>,
        /// The position of the sequence whose number is kept with the entry.
        assigned: Option<usize>,
        /// The table and the key of the record that it refers to.
        reference: Option<(&'static Table, Place)>,
        /// The position of its text.
        text: usize,
    },
    /// See [`Append::Each`]: the range, and the position of the text.
    Each(RangeShape, usize),
}

/// Returns the shapes of queries that are asked together, and their values.
pub fn of_queries(queries: &[Query]) -> (Vec<QueryShape>, Bindings<'_>) {
    let mut bindings = Bindings::default();
    let shapes = queries.iter().map(|query| bindings.query(query)).collect();
    (shapes, bindings)
}

/// Returns the shape of a transaction, and its values.
pub fn of_transaction(transaction: &Transaction) -> (TransactionShape, Bindings<'_>) {
    let mut bindings = Bindings::default();
    let repetition = transaction.repetition.as_ref();
    let shape = TransactionShape {
        kind: transaction.kind,
        repetition: repetition.map(|it| (bindings.range(&it.range), it.column)),
        checks: transaction.checks.iter().map(|check| bindings.check(check)).collect(),
        sequences: transaction.sequences.clone(),
        writes: transaction.writes.iter().map(|write| bindings.write(write)).collect(),
        entries: transaction.entries.iter().map(|entry| bindings.append(entry)).collect(),
    };
    (shape, bindings)
}

/// Returns the shape of a write, and its values: for a backend that makes many writes in a loop.
pub fn of_write(write: &Write) -> (WriteShape, Bindings<'_>) {
    let mut bindings = Bindings::default();
    let shape = bindings.write(write);
    (shape, bindings)
}

impl<'a> Bindings<'a> {
    fn query(&mut self, query: &'a Query) -> QueryShape {
        match query {
            Query::Rows(range) => QueryShape::Rows(self.range(range)),
            Query::Count(range) => QueryShape::Count(self.range(range)),
            Query::Sequence(name) => QueryShape::Sequence(name),
            Query::Entries(entries) => QueryShape::Entries {
                topic: entries.topic.map(|topic| self.bind(Value::Integer(topic))),
                after: self.bind(entries.after.0),
                limit: self.bind(size(entries.limit)),
                parts: entries.parts,
            },
            Query::CommitOf(seq) => QueryShape::CommitOf(self.bind(seq.0)),
        }
    }

    fn range(&mut self, range: &'a Range) -> RangeShape {
        RangeShape {
            table: range.table,
            index: range.index,
            prefix: self.places(&range.prefix),
            after: range.after.as_ref().map(|term| self.place(term)),
            before: range.before.as_ref().map(|term| self.place(term)),
            is_descending: range.is_descending,
            having: range.having,
            limit: match range.limit {
                1 => LimitShape::One,
                usize::MAX => LimitShape::None,
                limit => LimitShape::Bound(self.bind(size(limit))),
            },
            bytes: (range.bytes < usize::MAX).then(|| self.bind(size(range.bytes))),
            parts: range.parts,
            join: range.join.clone(),
        }
    }

    fn check(&mut self, check: &'a Check) -> CheckShape {
        match check {
            Check::Version { table, key, expected } => {
                let key = self.places(key);
                CheckShape::Version(table, key, expected.map(|version| self.bind(version.0)))
            }
            Check::NotAfter(time) => CheckShape::NotAfter(self.bind(*time)),
            Check::First { range, column, value, version } => CheckShape::First {
                range: self.range(range),
                column: *column,
                value: self.place(value),
                version: version.map(|version| self.bind(version.0)),
            },
            Check::AtMost { range, column, most } => {
                CheckShape::AtMost(self.range(range), *column, self.place(most))
            }
            Check::None { range, except } => {
                CheckShape::None(self.range(range), self.places(except))
            }
            Check::Count { range, except, least, most } => CheckShape::Count {
                range: self.range(range),
                except: self.places(except),
                least: self.bind(*least),
                most: self.bind(*most),
            },
            Check::Sum(name, most) => CheckShape::Sum(name, self.bind(*most)),
        }
    }

    fn write(&mut self, write: &'a Write) -> WriteShape {
        match write {
            Write::Insert { table, columns, body } => {
                WriteShape::Insert(table, self.places(columns), self.text(body, table.parts.len()))
            }
            Write::Put { table, columns, body } => {
                WriteShape::Put(table, self.places(columns), self.text(body, table.parts.len()))
            }
            Write::Set { range, column, value } => {
                WriteShape::Set(self.range(range), *column, self.place(value))
            }
            Write::Remove(range) => WriteShape::Remove(self.range(range)),
            Write::Add(name, amount) => WriteShape::Add(name, self.bind(Value::Integer(*amount))),
        }
    }

    fn append(&mut self, entry: &'a Append) -> AppendShape {
        match entry {
            Append::Entry { topic, assigned, reference, body } => AppendShape::Entry {
                topic: topic.as_ref().map(|term| self.place(term)),
                assigned: *assigned,
                reference: reference.as_ref().map(|(table, key)| (*table, self.place(key))),
                text: self.text(body, 1),
            },
            Append::Each { range, body } => {
                AppendShape::Each(self.range(range), self.text(body, 1))
            }
        }
    }

    fn places(&mut self, terms: &'a [Term]) -> Vec<Place> {
        terms.iter().map(|term| self.place(term)).collect()
    }

    fn place(&mut self, term: &'a Term) -> Place {
        match term {
            Term::Value(value) => Place::Bound(self.push(Cow::Borrowed(value))),
            Term::Found(query, column) => Place::Found(*query, *column),
            Term::Assigned(sequence) => Place::Assigned(*sequence),
            Term::AssignedText(sequence) => Place::AssignedText(*sequence),
            Term::Now => Place::Now,
        }
    }

    fn bind(&mut self, value: impl Into<Value>) -> usize {
        self.push(Cow::Owned(value.into()))
    }

    /// A text or bytes that are shared with an earlier value are that value, so that a statement is sent them once. Equal values
    /// are not: which ones are equal is no part of a shape.
    fn push(&mut self, value: Cow<'a, Value>) -> usize {
        let known = self.values.iter().position(|known| is_same(known, &value));
        known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }

    /// Returns the position of the first of the texts of a body with this number of parts.
    fn text(&mut self, body: &'a Body, parts: usize) -> usize {
        let first = self.texts.len();
        self.texts.extend((0..parts).map(|part| body.part(part)));
        first
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => Arc::ptr_eq(one, other),
        (Value::Bytes(one), Value::Bytes(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

fn size(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
