//! Transactions, and their outcomes.

use crate::domain::{Seq, Timestamp, Version};

use super::{Assigned, Body, CommitId, Head, Range, Row, Table, Term};

/// Changes of a tenant's records that are committed together, or not at all.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Its identity.
    pub id: CommitId,
    /// How it is dated, and what it requires of the log.
    pub kind: Kind,
    /// The position of the log that was seen. A commit is refused unless the log continues from there.
    pub seen: Head,
    /// How a repetition is recognized, for a transaction that may be sent twice.
    pub repetition: Option<Repetition>,
    /// The conditions, in order. Nothing is written unless all of them are met.
    pub checks: Vec<Check>,
    /// The sequences from which the commit takes a number each.
    pub sequences: Vec<&'static str>,
    /// The changes, in order.
    pub writes: Vec<Write>,
    /// What is appended to the log, in order.
    pub entries: Vec<Append>,
    /// Whether what it replaces or removes should not stay in the files of the database either. A backend that cannot see to that
    /// leaves it to the database: PostgreSQL keeps it until the next vacuum, Redis until its append-only file is rewritten.
    pub erases: bool,
}

impl Transaction {
    /// Returns the same transaction with the [texts](Body::written) of all bodies.
    #[must_use]
    pub fn with_texts(mut self) -> Self {
        for write in &mut self.writes {
            if let Write::Insert { table, body, .. } | Write::Put { table, body, .. } = write {
                *body = body.written(table.parts.len());
            }
        }
        for entry in &mut self.entries {
            let (Append::Entry { body, .. } | Append::Each { body, .. }) = entry;
            *body = body.written(1);
        }
        self
    }
}

/// How a transaction is dated, and what it requires of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The usual one: at the time of the store's clock, or of the last entry if that is later. It is refused if the clock is
    /// more than an hour behind.
    Usual,
    /// At the time of the store's clock, even if that is earlier.
    AcceptClock,
    /// Whatever the log is, and however far the clock is behind. It begins another log, whose number is one higher than that
    /// of the stored and of the seen log; this number takes the place of the first sequence's. It has at
    /// least one entry, which keeps the number.
    AcceptLog,
    /// Records that serve proofs of the log: whatever log and clock are. It has no entries, and no feed announces it.
    Aside,
}

/// How a transaction that was committed before is recognized: the record that it wrote has its identity.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// The range in which the record is the only one.
    pub range: Range,
    /// The position of the column that has the identity of the transaction.
    pub column: usize,
}

/// A condition of a transaction.
#[derive(Clone, Debug)]
pub enum Check {
    /// The record with this key has this version; `None`: there is none.
    Version {
        /// The table.
        table: &'static Table,
        /// The key.
        key: Vec<Term>,
        /// The version.
        expected: Option<Version>,
    },
    /// The time of the commit is not later than this.
    NotAfter(Timestamp),
    /// The first record of the range has this value in the column with this position.
    First {
        /// The range.
        range: Range,
        /// The position of the column.
        column: usize,
        /// The value.
        value: Term,
        /// The version that the record has as well.
        version: Option<Version>,
    },
    /// Each record of the range has at most this in the column with this position.
    AtMost {
        /// The range.
        range: Range,
        /// The position of the column.
        column: usize,
        /// The value.
        most: Term,
    },
    /// There is no record in the range, but for the one with this key. If there is, the outcome shows it.
    None {
        /// The range.
        range: Range,
        /// The key of the record that does not count.
        except: Vec<Term>,
    },
    /// The number of records in the range, without the one with this key, is at least and at most as large.
    Count {
        /// The range.
        range: Range,
        /// The key of the record that does not count.
        except: Vec<Term>,
        /// The lowest permitted number.
        least: u64,
        /// The highest permitted number.
        most: u64,
    },
    /// The sum that is kept in this sequence is at most as large, before the changes.
    Sum(&'static str, u64),
}

/// A change of records.
#[derive(Clone, Debug)]
pub enum Write {
    /// A record that is not there yet: its key was assigned by the commit, or its absence was checked. Its version is 1.
    Insert {
        /// The table.
        table: &'static Table,
        /// The values of all columns.
        columns: Vec<Term>,
        /// The parts.
        body: Body,
    },
    /// A record that may be there, and is then replaced: its version is one higher.
    Put {
        /// The table.
        table: &'static Table,
        /// The values of all columns.
        columns: Vec<Term>,
        /// The parts.
        body: Body,
    },
    /// One column of all records in a range gets this value. Their versions and bodies stay.
    Set {
        /// The range.
        range: Range,
        /// The position of the column.
        column: usize,
        /// The value.
        value: Term,
    },
    /// The records in the range are removed.
    Remove(Range),
    /// Adds to the sum that is kept in a sequence. It is never below 0.
    Add(&'static str, i64),
}

/// What a transaction appends to the log.
#[derive(Clone, Debug)]
pub enum Append {
    /// One entry.
    Entry {
        /// The topic of the entry, by which [`Entries::topic`](super::Entries::topic) finds it.
        topic: Option<Term>,
        /// The position of the sequence whose number is kept with the entry.
        assigned: Option<usize>,
        /// The table and the key of a record that it refers to. The table's key is a single integer.
        reference: Option<(&'static Table, Term)>,
        /// Its text, as part 0.
        body: Body,
    },
    /// An entry that refers to each record in the range, in its order.
    Each {
        /// The range. The key of its table is a single integer.
        range: Range,
        /// The text of each, as part 0.
        body: Body,
    },
}

/// What became of a transaction.
#[derive(Debug)]
pub struct CommitOutcome {
    /// The end of the log after it.
    pub head: Head,
    /// What was decided.
    pub decision: Decision,
}

/// What was decided about a transaction.
#[derive(Debug)]
pub enum Decision {
    /// It is committed.
    Committed(Assigned),
    /// It had been committed before: this is the record by which it was recognized.
    Repeated(Row),
    /// Nothing was written, because the check with this position was not met.
    Failed {
        /// The position of the check.
        check: usize,
        /// For [`Check::None`]: the record.
        found: Option<Row>,
    },
}

impl Head {
    /// Returns whether the log goes on from here, which was seen: a log with the number `log`, whose entry with the number
    /// [`size`](Self::size) was appended by `commit`; or one that has begun since.
    pub fn continues(&self, log: u64, commit: Option<CommitId>) -> bool {
        self.size == Seq(0)
            || log > self.log
            || (log == self.log && commit.is_some() && commit == self.commit)
    }

    /// Returns the number of the entry whose commit must be compared to see that a log continues from here; `None` if
    /// there is nothing to compare.
    pub fn compared(&self) -> Option<Seq> {
        (self.size > Seq(0)).then_some(self.size)
    }
}
