//! The storage port: what the rules need of a store, cut by unit of consistency.
//!
//! A store keeps records and compares facts. It knows no rule: a write carries, as its guard, the
//! facts that the judgement behind it relied on, and the store commits it only while they hold.
//! `Ok` means that the store answered, `Err` that it could not; a lost race is an outcome, not an
//! error. The suite in `swarm_testing::conformance` tests whether an implementation does this.

mod changes;
mod committee;
mod counts;
mod documents;
mod error;
mod forward;
mod interceptor;
mod log;
mod members;
mod methods;
mod outbox;
pub mod records;
mod seen;
mod sessions;
mod takes;

use std::sync::Arc;

use crate::domain::{TenantId, Timestamp};

/// The attribute that implementations of the port need: the one of the crate `async-trait`.
pub use async_trait::async_trait;

pub use changes::{ChangeFeed, Changes};
pub use committee::{
    Committee, CommitteeFiled, CommitteeSessionQuery, CommitteeStore, CommitteeTakesQuery,
    CommitteeTenants,
};
pub use counts::{Countable, Counts};
pub use documents::{Collection, Document, DocumentDraft, DocumentGuard, Documents, Put};
pub use error::{StoreError, StoreErrorKind};
pub use interceptor::{Intercepted, Interceptor};
pub use log::{CLOCK_TOLERANCE_MILLIS, Log, time_of_commit, time_of_read};
pub use members::{MemberQuery, MemberSaved, Members};
pub use outbox::{MessageQuery, Outbox};
pub use seen::{Changing, LogPosition, SeenLog, SeenLogs};
pub use sessions::{Saved, SessionQuery, Sessions};
pub use takes::{BasisQuery, Filed, TakeQuery, Takes};

// What a store loads for the rules, and what it commits for them.
pub use crate::rules::committee::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiling, CommitteeMemberChange,
};
pub use crate::rules::{
    Basis, ChallengeBucket, ChallengeOffer, ChallengeSlot, Convocation, DocumentQuota, Filing,
    MemberBasis, MemberChange, MessageChange, ProvenChallenge, SessionChange, Versioned,
};

/// What every method of the port returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// All tenants of one store.
#[async_trait]
pub trait Tenants: Send + Sync {
    /// One tenant's part of the store. Cheap, no I/O: no method of [`Store`] takes a tenant, so
    /// none can omit it. Two tenants share nothing, ids included.
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store>;

    /// Checks that the store answers, and how far it can be trusted. It is not ready while a tenant
    /// may not commit because the clock is too far behind its log, or because that log went back:
    /// see [`SeenLogs`].
    async fn ready(&self) -> Result<Readiness>;
}

/// The condition of a store that answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// What may cost records that were acknowledged, or keeps any from being so, each in a sentence
    /// for the operator. Anybody may read them: they name settings, no host and no secret.
    pub warnings: Vec<String>,
}

/// One tenant's records.
pub trait Store: Clock + Members + Sessions + Takes + Documents + Outbox + Log + Counts {}

impl<T> Store for T where T: Clock + Members + Sessions + Takes + Documents + Outbox + Log + Counts {}

/// The clock of the store, the only one that counts. A commit that it stamps or guards reads it
/// once, inside the critical section: when no other commit can come in between, and before anything
/// is written. So the time that a commit spends waiting for its turn counts towards its deadline.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The time by the clock that also stamps and guards commits.
    async fn now(&self) -> Result<Timestamp>;
}
