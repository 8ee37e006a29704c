//! A tenant of a backend, and minimal records.

use std::sync::Arc;

use swarm_core::domain::{Seq, TenantId, Timestamp, Version};
use swarm_core::store::StoreErrorKind;
use swarm_core::store::backend::{
    Answer, Append, Assigned, Backend, Body, Check, CommitId, CommitOutcome, Decision, Entries,
    Entry, Head, Kind, PartSet, Query, Range, Reading, Row, Snapshot, Table, Term, Transaction,
    Value, Write,
};

use super::tables::{DEPOTS, PARCELS, SHELVES};
use crate::assertions::fail;
use crate::unique;

/// A tenant. Its methods panic on an error of the backend.
#[derive(Clone)]
pub(super) struct Tenant {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) id: TenantId,
}

impl Tenant {
    /// A new tenant. Its name is unique even if earlier runs used the same backend.
    pub(super) async fn fresh(backend: &Arc<dyn Backend>) -> Self {
        let lobby = TenantId::parse("backend").unwrap();
        let now = backend.read(&lobby, "test", Vec::new()).await.unwrap().clock.millis();
        let id = format!("backend-{now}-{}-{}", std::process::id(), unique());
        Self { backend: Arc::clone(backend), id: TenantId::parse(id).unwrap() }
    }

    pub(super) async fn read(&self, queries: Vec<Query>) -> Reading {
        self.backend.read(&self.id, "test", queries).await.unwrap()
    }

    pub(super) async fn answer(&self, query: Query) -> Answer {
        self.read(vec![query]).await.answers.remove(0)
    }

    /// The records of a range.
    pub(super) async fn records(&self, range: Range) -> Vec<Record> {
        records(&self.answer(Query::Rows(range)).await)
    }

    /// The integers in a column of the records of a range.
    pub(super) async fn integers(&self, range: Range, column: usize) -> Vec<i64> {
        integers(&self.answer(Query::Rows(range)).await, column)
    }

    /// The integers in the first column of the records of a range.
    pub(super) async fn ids(&self, range: Range) -> Vec<i64> {
        self.integers(range, 0).await
    }

    pub(super) async fn count(&self, range: Range) -> u64 {
        number(&self.answer(Query::Count(range)).await)
    }

    pub(super) async fn sequence(&self, name: &'static str) -> u64 {
        number(&self.answer(Query::Sequence(name)).await)
    }

    /// All entries of the log.
    pub(super) async fn log(&self) -> Vec<Entry> {
        self.entries(None, 0, usize::MAX).await
    }

    pub(super) async fn entries(&self, topic: Option<i64>, after: u64, limit: usize) -> Vec<Entry> {
        let entries = Entries { topic, after: Seq(after), limit, parts: PartSet::ALL };
        match self.answer(Query::Entries(entries)).await {
            Answer::Entries(entries) => entries,
            other => fail("the answer", &"entries", &other, format_args!("")),
        }
    }

    pub(super) async fn head(&self) -> Head {
        self.read(Vec::new()).await.head
    }

    /// The time of the backend's clock.
    pub(super) async fn clock(&self) -> Timestamp {
        self.read(Vec::new()).await.clock
    }

    pub(super) async fn snapshot(&self) -> Box<dyn Snapshot> {
        self.backend.snapshot(&self.id).await.unwrap()
    }

    pub(super) async fn try_commit(
        &self,
        transaction: Transaction,
    ) -> Result<CommitOutcome, StoreErrorKind> {
        let outcome = self.backend.commit(&self.id, "test", transaction).await;
        outcome.map_err(|error| error.kind())
    }

    pub(super) async fn commit(&self, transaction: Transaction) -> CommitOutcome {
        match self.try_commit(transaction).await {
            Ok(outcome) => outcome,
            Err(error) => fail("the outcome", &"no error", &error, format_args!("")),
        }
    }

    /// Commits a transaction whose checks are met.
    pub(super) async fn committed(&self, transaction: Transaction) -> Assigned {
        match self.commit(transaction).await.decision {
            Decision::Committed(assigned) => assigned,
            other => fail("the decision", &"Committed", &other, format_args!("")),
        }
    }

    pub(super) async fn write(&self, writes: Vec<Write>) {
        self.committed(Transaction { writes, ..transaction() }).await;
    }

    pub(super) async fn append(&self, entries: Vec<Append>) {
        self.committed(Transaction { entries, ..transaction() }).await;
    }

    /// Returns the position of the first check that is not met, and the record that shows it.
    pub(super) async fn unmet(&self, checks: Vec<Check>) -> Option<(usize, Option<Record>)> {
        match self.commit(Transaction { checks, ..transaction() }).await.decision {
            Decision::Committed(_) => None,
            Decision::Failed { check, found } => Some((check, found.as_ref().map(Record::of))),
            other => fail("the decision", &"Committed or Failed", &other, format_args!("")),
        }
    }

    pub(super) async fn is_met(&self, check: Check) -> bool {
        self.unmet(vec![check]).await.is_none()
    }
}

/// A record that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) version: Version,
    pub(super) columns: Vec<Value>,
    pub(super) parts: [Option<String>; 2],
}

impl Record {
    pub(super) fn of(row: &Row) -> Self {
        let part = |part| row.body.part(part).map(std::borrow::Cow::into_owned);
        Self { version: row.version, columns: row.columns.to_vec(), parts: [part(0), part(1)] }
    }
}

pub(super) fn records(answer: &Answer) -> Vec<Record> {
    answer.rows().iter().map(Record::of).collect()
}

pub(super) fn integers(answer: &Answer, column: usize) -> Vec<i64> {
    answer.rows().iter().filter_map(|row| row.columns.get(column)?.integer()).collect()
}

pub(super) fn number(answer: &Answer) -> u64 {
    match answer {
        Answer::Number(number) => *number,
        other => fail("the answer", &"a number", other, format_args!("")),
    }
}

/// A transaction that does nothing, with a new identity.
pub(super) fn transaction() -> Transaction {
    Transaction {
        id: commit_id(),
        kind: Kind::Usual,
        seen: Head::default(),
        repetition: None,
        checks: Vec::new(),
        sequences: Vec::new(),
        writes: Vec::new(),
        entries: Vec::new(),
        erases: false,
    }
}

pub(super) fn commit_id() -> CommitId {
    CommitId(uuid::Uuid::new_v4().into_bytes())
}

pub(super) fn int(number: i64) -> Term {
    Term::Value(Value::Integer(number))
}

/// The columns of a parcel of which some are not null.
pub(super) fn columns(id: Term, others: &[(usize, Term)]) -> Vec<Term> {
    let null = Term::Value(Value::Null);
    let mut columns = vec![null; PARCELS.columns.len()];
    columns[0] = id;
    others.iter().for_each(|(column, value)| columns[*column] = value.clone());
    columns
}

pub(super) fn body(parts: &[&str]) -> Body {
    Body::of_texts(parts.iter().map(|text| Some((*text).into())).collect())
}

/// Puts a parcel, whose label says its id.
pub(super) fn parcel(id: i64, others: &[(usize, Term)]) -> Write {
    let body = body(&[&format!("label {id}")]);
    Write::Put { table: &PARCELS, columns: columns(int(id), others), body }
}

/// Puts a parcel without parts.
pub(super) fn bare_parcel(id: i64) -> Write {
    Write::Put { table: &PARCELS, columns: columns(int(id), &[]), body: Body::empty() }
}

/// Puts a depot.
pub(super) fn depot(name: &str, capacity: i64) -> Write {
    let columns = vec![name.into(), int(capacity)];
    Write::Put { table: &DEPOTS, columns, body: body(&[&format!("address of {name}")]) }
}

/// Puts a shelf.
pub(super) fn shelf(depot: &str, number: i64, load: impl Into<Term>) -> Write {
    let columns = vec![depot.into(), int(number), load.into()];
    Write::Put { table: &SHELVES, columns, body: Body::empty() }
}

pub(super) fn all(table: &'static Table) -> Range {
    Range::all(table)
}

/// The parcel with this id.
pub(super) fn with_id(id: i64) -> Range {
    Range::key(&PARCELS, vec![int(id)])
}

/// The parcels in an index, with these values in its first columns.
pub(super) fn indexed(index: usize, prefix: &[Term]) -> Range {
    Range::index(&PARCELS, index, prefix.to_vec())
}

pub(super) fn descending(range: Range) -> Range {
    Range { is_descending: true, ..range }
}

/// An entry about no topic.
pub(super) fn entry(text: &str) -> Append {
    Append::Entry { topic: None, assigned: None, reference: None, body: body(&[text]) }
}

pub(super) fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq.0).collect()
}

pub(super) fn text(entry: &Entry) -> String {
    entry.body.part(0).unwrap_or_default().into_owned()
}
