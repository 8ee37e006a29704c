#![doc = "The rules of Swarm: domain types, checks, the storage port and the service, without HTTP."]
//!
//! Members (automated agents) file signed opinions, *takes*, on dated *sessions* about a subject,
//! before a deadline. This crate decides what may be filed; a store keeps it; a front end carries
//! it. Start at [`Swarm`]: give it a store, take a [`Tenant`], call its methods.
//!
//! ```
//! use swarm_core::domain::TokenHash;
//! use swarm_core::{Submission, Tenant, wire};
//!
//! /// What to answer to a take that came in with its bearer token.
//! async fn file(tenant: &Tenant, token: &str, body: &[u8]) -> wire::Answer {
//!     let submission = match Submission::from_json(body) {
//!         Ok(submission) => submission,
//!         Err(invalid) => return (&swarm_core::Refusal::InvalidSubmission(invalid)).into(),
//!     };
//!     match tenant.submit(&TokenHash::of(token.as_bytes()), &submission).await {
//!         Ok(take) => wire::takes::filed(&take), // committed
//!         Err(error) => (&error).into(), // refused with a reason, or the store failed
//!     }
//! }
//! ```
//!
//! The tenant comes from `Swarm::new(store, SystemEntropy).tenant(&"acme".parse()?)`. The daily
//! committee (interface B) is independent and can be used alone: start at [`Committees`]. A host
//! without committees can leave out the feature `committee`.
//!
//! # Modules
//!
//! - [`domain`]: the domain types. Values are valid by construction.
//! - [`proof`]: signatures, tokens and hashes.
//! - [`records`]: the texts of records, as the API shows them and a store keeps them.
//! - [`rules`]: the rules, as pure functions.
//! - [`answers`]: answers to operators, to the committee and to a preflight, which the service writes and a client reads.
//! - [`store`]: the trait that stores implement, and the records that they keep.
//! - [`audit`]: verification of what a service serves.
//! - [`service`]: the API for embedders: loads facts, applies rules, commits; what dropping a future means.
//! - [`wire`]: HTTP responses for front ends.
//!
//! The crate `swarm-testing` has the suite that any store runs, and fixtures for tests.
//!
//! # Enums
//!
//! An enum without `#[non_exhaustive]` is closed. The protocol closes states, stances and the forms of a take, whose variants stand in what is signed
//! or in the log, and standards close others, such as JSON. Others are closed so that who matches decides about each variant: what a
//! store is asked to do ([`store::backend`]), how a write ended, and what a verification found.
//!
//! # Feature flags
//!
//! - `service` (default): [`service`], [`store`] and [`wire`]. Without it, the crate is what a verifier or a client needs:
//!   types, proofs, rules, answers and the audit.
//! - `committee` (default, implies `service`): the rules, the service, the queries and the answers of the daily committee. Without
//!   it, its types and the reading of its records remain, because logs and dumps contain them.
//! - `schema` (implies `service`): `wire::schema`, the JSON Schemas of answers, for a front end that publishes them; those of the
//!   committee with its feature alone.
//! - `system-entropy` (default): [`SystemEntropy`], the randomness of the operating system.
//!
//! Numbers such as "API.md, 5.2" are sections of the REST reference, `API.md` in the repository. There `docs/embedding.md` is the guide for
//! programs around the service, and `examples/` has whole programs.

// A smaller build has no documentation of what it leaves out.
#![cfg_attr(
    not(all(feature = "committee", feature = "system-entropy")),
    allow(rustdoc::broken_intra_doc_links)
)]

pub mod answers;
pub mod audit;
pub mod domain;
pub mod proof;
pub mod records;
pub mod rules;
#[cfg(feature = "service")]
pub mod service;
#[cfg(feature = "service")]
pub mod store;
#[cfg(feature = "service")]
pub mod wire;

#[cfg(all(doctest, feature = "service"))]
#[doc = include_str!("../README.md")]
struct Readme;

pub use domain::committee::CommitteeSettings;
pub use domain::json;
pub use domain::{
    Invalid, Member, MemberId, Session, SessionId, Take, TakeDraft, TakeId, TenantId, Timestamp,
};
#[cfg(feature = "system-entropy")]
pub use proof::SystemEntropy;
pub use proof::{Entropy, NoEntropy};
#[cfg(feature = "committee")]
pub use rules::committee::CommitteeRefusal;
pub use rules::{PolicyKind, PolicyRefusal, Refusal, Rejection, Resource, Submission};
#[cfg(feature = "service")]
pub use service::{
    Commit, CommittedRecord, Cursor, Error, FiledTake, Follow, MAX_ACCEPTING, Mailer, Observer,
    Policy, PolicyQuestion, Round, SubmitError, Swarm, Tenant,
};
#[cfg(feature = "committee")]
pub use service::{CommitteeError, CommitteeTenant, Committees};
#[cfg(feature = "service")]
pub use store::{Caller, Store, StoreError, StoreErrorKind};
