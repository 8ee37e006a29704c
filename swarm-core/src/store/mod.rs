//! Storage: the [port of a backend](backend), and the record layer that stores the records of the service in one.
//!
//! A [`Store`] has the records of all tenants, [`Records`] those of one. They compare facts and contain no rules: a write carries
//! guards, the facts that the decision relied on, and is committed only while they hold.
//!
//! `Ok` means that the store answered, `Err` that it could not. A lost race is an outcome, not an error. A limit of a query may be
//! anything up to `usize::MAX`.
//!
//! After an error, a commit may have been made. A store over a network sends one again by itself after a lost answer,
//! and recognizes it: a filing by its attempt, others by ids of its own. The service sends none again: a change
//! that is guarded by a version is judged again, and an operator who repeats a convocation, or a member a
//! memo, after an error may get two. The suites in `swarm_testing` test a backend, and the records in it.

pub mod backend;
#[cfg(feature = "committee")]
mod committee;
mod documents;
mod error;
mod group_commit;
mod interceptor;
mod layout;
mod log;
mod members;
mod outbox;
mod read_only;
mod record_layer;
mod seen;
mod sessions;
mod takes;
mod transfer;
mod webhooks;

/// The attribute macro for implementations of a [`Backend`](backend::Backend), from the crate `async-trait`.
pub use async_trait::async_trait;

pub use backend::{Changes, Readiness};
#[cfg(feature = "committee")]
pub use committee::{CommitteeFiled, CommitteeSessionQuery, CommitteeTakesQuery};
pub use documents::{
    Collection, Document, DocumentDraft, DocumentGuard, DocumentPage, DocumentQuery, Held, Put,
};
pub use error::{StoreError, StoreErrorKind};
pub use group_commit::{BatchCommit, GroupCommit};
pub use interceptor::Interceptor;
pub use layout::other_layout;
pub use log::{
    ActQuery, CLOCK_TOLERANCE_MILLIS, TreeChange, TreeState, time_of_commit, time_of_read,
};
pub use members::{MemberQuery, MemberSaved};
pub use outbox::{MessageQuery, Queued};
pub use read_only::ReadOnly;
pub use record_layer::{Countable, Dump, Records, Restore, Store, TABLES};
pub use seen::{Changing, LogIdentity, LogPosition, SeenLog, SeenLogs};
pub use sessions::{Aggregated, Saved, SessionList, SessionQuery, SummaryQuery};
pub use takes::{
    BasisQuery, Caller, Filed, MemberTake, MemberTakeQuery, Revisions, SessionAuthors,
    SessionTakes, TakeContext, TakeQuery,
};
pub use transfer::{Restored, Stored, StoredDocument, TenantHead, restored_attempt};

pub use webhooks::{DeliveryQuery, WebhookBasis};

// The facts that a store loads for the rules, and the changes that it commits.
#[cfg(feature = "committee")]
pub use crate::rules::committee::{
    CommitteeBasis, CommitteeDayChange, CommitteeFiling, CommitteeMemberChange,
};
pub use crate::rules::{
    Act, Aggregation, Basis, ChallengeBucket, ChallengeOffer, ChallengeSlot, Convocation,
    CountedDocuments, DeliveryChange, DocumentCount, DocumentQuota, Filing, MemberBasis,
    MemberChange, MemberRemoval, MessageChange, ProvenChallenge, QueuedMail, SessionChange,
    TakeMark, TakeMarks, Versioned, WebhookChange,
};

/// The result of a call of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
