//! The storage port: the traits that a store implements, one for each unit of consistency.
//!
//! A store keeps records and compares facts. It contains no rules: a write carries guards, the
//! facts that the decision relied on, and the store commits it only while they hold.
//!
//! `Ok` means that the store answered, `Err` that it could not. A lost race is an outcome, not an
//! error. A limit of a query may be anything up to `usize::MAX`.
//!
//! After an error, a commit may have been made. A store over a network sends one again by itself after a lost answer,
//! and recognizes it: a filing by its attempt, others by ids of its own. The service sends none again: a change
//! that is guarded by a version is judged again, and an operator who repeats a convocation, or a member a
//! memo, after an error may get two. The suite in `swarm_testing::conformance` tests an implementation.

pub mod backend;
mod changes;
mod committee;
mod counts;
mod documents;
mod error;
mod forward;
mod group_commit;
mod interceptor;
mod layout;
mod log;
mod members;
mod methods;
mod outbox;
mod read_only;
mod record_layer;
mod reply;
mod seen;
mod sessions;
mod takes;
mod transfer;
mod webhooks;

use std::sync::Arc;

use crate::domain::{TenantId, Timestamp};

/// The attribute macro for implementations of the port, from the crate `async-trait`.
pub use async_trait::async_trait;

pub use changes::{ChangeFeed, Changes};
pub use committee::{
    Committee, CommitteeFiled, CommitteeSessionQuery, CommitteeStore, CommitteeTakesQuery,
    CommitteeTenants,
};
pub use counts::{Countable, Counts};
pub use documents::{
    Collection, Document, DocumentDraft, DocumentGuard, DocumentPage, DocumentQuery, Documents,
    Held, Put,
};
pub use error::{StoreError, StoreErrorKind};
pub use group_commit::{BatchCommit, GroupCommit};
pub use interceptor::{Intercepted, Interceptor};
pub use layout::other_layout;
pub use log::{
    ActQuery, CLOCK_TOLERANCE_MILLIS, Log, TreeChange, TreeState, time_of_commit, time_of_read,
};
pub use members::{MemberQuery, MemberSaved, Members};
pub use outbox::{MessageQuery, Outbox, Queued};
pub use read_only::ReadOnly;
pub use record_layer::{Records, TABLES};
pub(crate) use reply::reply;
pub use seen::{Changing, LogPosition, SeenLog, SeenLogs};
pub use sessions::{Aggregated, Saved, SessionList, SessionQuery, Sessions, SummaryQuery};
pub use takes::{
    BasisQuery, Caller, Filed, MemberTake, MemberTakeQuery, Revisions, SessionAuthors,
    SessionTakes, TakeContext, TakeQuery, Takes,
};
pub use transfer::{
    Dump, Restore, Restored, Stored, StoredDocument, TenantHead, Transfer, restored_attempt,
};

pub use webhooks::{DeliveryQuery, WebhookBasis, Webhooks};

// The facts that a store loads for the rules, and the changes that it commits.
pub use crate::rules::committee::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiling, CommitteeMemberChange,
};
pub use crate::rules::{
    Act, Aggregation, Basis, ChallengeBucket, ChallengeOffer, ChallengeSlot, Convocation,
    CountedDocuments, DeliveryChange, DocumentCount, DocumentQuota, Filing, MemberBasis,
    MemberChange, MemberRemoval, MessageChange, ProvenChallenge, QueuedMail, SessionChange,
    TakeMark, TakeMarks, Versioned, WebhookChange,
};

/// The result of every method of the port.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// All tenants of one store.
#[async_trait]
pub trait Tenants: Send + Sync {
    /// Opens one tenant's part of the store. It is cheap and does no I/O. No method of [`Store`]
    /// takes a tenant, so none can omit it. Tenants share nothing, not even the sequences of ids.
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store>;

    /// Opens one tenant's part of the store for a dry run: a commit is judged and answered as by [`open`](Self::open), and
    /// nothing is written. The numbers that it would assign are 0. It is cheap and does no I/O.
    fn open_dry_run(&self, tenant: &TenantId) -> Arc<dyn Store>;

    /// Checks that the store answers, and that it can be trusted. It is not ready while a tenant
    /// may not commit because the clock is too far behind its log, or because that log went back:
    /// see [`SeenLogs`]. It writes nothing, and advances no position.
    async fn ready(&self) -> Result<Readiness>;
}

/// The condition of a store that answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Risks of losing acknowledged records, and reasons why none can be acknowledged, each as a
    /// sentence for the operator. They are public, so they name settings, but no hosts or secrets.
    pub warnings: Vec<String>,
}

/// One tenant's records.
pub trait Store:
    Clock + Members + Sessions + Takes + Documents + Outbox + Log + Webhooks + Counts
{
}

impl<T> Store for T where
    T: Clock + Members + Sessions + Takes + Documents + Outbox + Log + Webhooks + Counts
{
}

/// The clock of the store, the only clock that counts. A commit that uses it reads it once, inside
/// its critical section and before it writes anything. So the time that a commit waits for a lock
/// counts towards its deadline.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The time by the clock that commits use.
    async fn now(&self) -> Result<Timestamp>;
}
