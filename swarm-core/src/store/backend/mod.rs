//! The port of a storage backend: tables, transactions and a log, and nothing of takes or sessions.
//!
//! A backend stores what the [`Records`](crate::store::Records) of this crate declare. It has eight methods, and contains no
//! rule. Everything that it must do right is here:
//!
//! - **Tenants** share nothing. Every method names the tenant, and no record of another one may show.
//! - **Atomic.** A [`Transaction`] is committed whole or not at all, and durably, before
//!   [`commit`](Backend::commit) returns. Its checks, its writes and its entries are one step: no other commit of the
//!   tenant comes between.
//! - **The clock is read inside that step**, once, after every wait for a lock. So the time that a commit waits counts
//!   towards its deadline. The store's clock is the only one that counts.
//! - **One position.** The queries of one [`read`](Backend::read) are answered as of one moment, at which every commit is
//!   visible whole or not at all. A read that begins after a commit has returned sees it.
//! - **The log** of a tenant has numbers from 1 without a gap. A commit appends its entries with its time, and nothing that is not
//!   committed leaves a number unused.
//! - **Seen before written.** The position that a process has seen is compared inside the commit
//!   ([`Transaction::seen`]): a store that was wiped, restored or failed over is not written to by a process that has seen more.
//! - **A lost answer.** After an error, a transaction may have been committed. A backend that sends one again by itself
//!   must be able to tell that it was made: by its [`id`](Transaction::id), which is that of the entry with the next number, or by
//!   its [`repetition`](Transaction::repetition). One that cannot tell returns
//!   [`StoreErrorKind::Unavailable`](crate::store::StoreErrorKind::Unavailable) and sends nothing again.
//! - **Values.** The columns of a key, or of an index with the primary key, are together up to 1,300 bytes as [`key_of`] writes them; the
//!   tenant, and what a backend adds, come on top. A text may contain U+0000; an integer is any `i64`, a time may be before 1970.
//!   Most parts are up to 100 KiB; the snapshot of a session with many takes may be hundreds of megabytes.
//! - **Blocking.** A method may block its thread for microseconds, not for the disk or the network.
//! - **Cancellation.** A future may be dropped at any time. A commit that was begun then is made or not, whole.
//!
//! A store on a server compiles each [`shape`] of a query or a transaction once, and sends values.
//!
//! A store in the same process gets queries and transactions from the [`engine`]; it implements
//! [`Tables`](engine::Tables) and [`TablesMut`](engine::TablesMut).

mod body;
pub mod engine;
mod own_tables;
mod query;
mod schema;
pub mod shape;
mod transaction;
mod value;

use async_trait::async_trait;

use super::Result;
use crate::domain::{TenantId, Timestamp};

pub use body::{Body, Parts};
pub use own_tables::{LOG, SEQUENCES};
pub use query::{
    Answer, CommitId, Entries, Entry, Head, Join, Query, Range, Reading, Reference, Row,
};
pub use schema::{Column, ColumnKind, Index, PartSet, Table, Veil};
pub use transaction::{
    Append, Check, CommitOutcome, Decision, Kind, Repetition, Transaction, Write,
};
pub use value::{Assigned, Term, Value, key_length, key_of};

/// The name of an operation, for errors and logs.
pub type Operation = &'static str;

/// Storage for records and logs of many tenants: see the [module](self).
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Answers queries about a tenant's records, at one position of its log.
    ///
    /// # Errors
    /// The errors of the store, here and below.
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading>;

    /// Carries out a transaction.
    ///
    /// # Errors
    /// See [`engine::commit`], which says what is checked, in which order.
    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome>;

    /// Fixes the state of a tenant's records for a read that takes long. Later commits do not show in it, and are not delayed.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>>;

    /// Begins to write records of tenants that have none.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn load(&self) -> Result<Box<dyn Load>>;

    /// Returns the tenants that have records other than transient ones, by id.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn tenants(&self) -> Result<Vec<TenantId>>;

    /// Removes everything of a tenant: its records, its sequences and its log. After an error, or if the process was killed, a part may be
    /// left; another call removes the rest. The caller has stopped all use of the tenant: what a commit writes meanwhile may stay.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn remove(&self, tenant: &TenantId) -> Result<()>;

    /// Returns the time, and which tenants **other** processes may have changed since the last call: by a removal, a [`Load`], or a
    /// commit of any kind but [`Kind::Aside`]. The first call may know nothing, and answer `None`. Own commits may be
    /// among the changes: each costs a needless read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn changes(&self) -> Result<Changes>;

    /// Checks that the store answers and takes commits. It writes nothing that can be read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn ready(&self) -> Result<Readiness>;
}

/// The changes since the last call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The time by the store's clock. If its tenants have different clocks, by one of them.
    pub now: Timestamp,
    /// The tenants that [`Backend::changes`] has to name, and possibly others. `None` means that any tenant may have changed.
    pub tenants: Option<Vec<TenantId>>,
}

/// The condition of a store that answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Risks of losing acknowledged records, and reasons why none can be acknowledged, each as a
    /// sentence for the operator. They are public, so they name settings, but no hosts or secrets.
    pub warnings: Vec<String>,
}

/// A tenant's records at one moment. Dropping it releases what the store holds for it.
#[async_trait]
pub trait Snapshot: Send {
    /// Answers queries.
    ///
    /// # Errors
    /// The errors of the store.
    async fn read(&mut self, queries: Vec<Query>) -> Result<Reading>;
}

/// Records that are written but not committed. Dropping it discards them; if the process is killed, they are discarded too, or
/// at least never read.
#[async_trait]
pub trait Load: Send {
    /// Writes records of a tenant. All records of a tenant are written before the first of the next one, and entries of its log in
    /// order.
    ///
    /// # Errors
    /// The errors of the store, here and below.
    async fn write(&mut self, tenant: &TenantId, items: Vec<Item>) -> Result<()>;

    /// Commits everything, durably; each tenant atomically. Returns a tenant that has records other than transient ones, if
    /// there is one, with nothing committed.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    async fn commit(self: Box<Self>) -> Result<Option<TenantId>>;

    /// Discards everything at once.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    async fn discard(self: Box<Self>) -> Result<()>;
}

/// What a [`Load`] writes.
#[derive(Clone, Debug)]
pub enum Item {
    /// A change of records, without placeholders: [`engine::write`] makes it.
    Write(Write),
    /// The last number of a sequence, or its sum.
    Sequence(&'static str, u64),
    /// An entry of the log with this number.
    Entry(u64, Entry),
}
