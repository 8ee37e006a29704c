//! Fixtures and the conformance suite for stores of Swarm.
//!
//! [`conformance!`] generates the tests of the storage port for a store, [`backend_conformance!`] those of the port of
//! backends. The fixtures are for other
//! tests: a [`TestTenant`] is a fresh tenant of any store, an [`Author`] a member that can sign, and the
//! functions build minimal records.
//!
//! ```
//! # use std::sync::Arc;
//! # use swarm_core::Tenants;
//! use swarm_testing::TestTenant;
//!
//! # async fn filed_take_is_listed(store: Arc<dyn Tenants>) {
//! let tenant = TestTenant::fresh(store).await;
//! let ada = tenant.author("ada").await;
//! let session = tenant.convened("aurora").await;
//! let take = tenant.filed(&ada, &session, "nonce").await;
//! assert_eq!(tenant.takes(session.id).await, [take]);
//! # }
//! ```
//!
//! The fixtures panic when the store returns an error. A test that expects an error calls the store
//! directly, with [`TestTenant::store`].

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up panics")]

pub(crate) mod assertions;
mod author;
mod clock;
mod entropy;
mod log_scenario;
mod race;
mod records;
mod round_robin;
mod sealed;
mod test_tenant;

pub mod backend;
pub mod committee;
pub mod conformance;

pub use author::Author;
pub use clock::ManualClock;
pub use entropy::{Counter, SeededEntropy};
pub use log_scenario::{log_scenario, log_scenario_in};
pub use race::{count, race, unique};
pub use records::{
    FIRST, SALT, act, act_on, applicant, application, challenge, claimed, creation, day, figures,
    id, key, keys, mail, moment, object, odd_texts, quote, secret, seed, session_draft, subject,
};
pub use round_robin::RoundRobin;
pub use sealed::{SealedDesk, sealed_reads_return_the_same_bytes};
pub use test_tenant::{TestTenant, filed, judged, takes_of};
