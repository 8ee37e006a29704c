//! What tests build upon (feature `testing`): worlds of their own in any store, members that can
//! sign, and plain records to put on file.
//!
//! ```
//! # use std::sync::Arc;
//! # use swarm_core::Tenants;
//! use swarm_core::testing::World;
//!
//! # async fn a_take_is_on_file(store: Arc<dyn Tenants>) {
//! let world = World::fresh(store).await;
//! let ada = world.author("ada").await;
//! let session = world.convened("aurora").await;
//! let take = world.filed(&ada, &session, "nonce").await;
//! assert_eq!(world.takes(session.id).await, [take]);
//! # }
//! ```
//!
//! Everything here panics when it cannot do what it says: a test that cannot be set up has failed.
//! Whoever expects a store to fail asks it directly, by [`World::store`], and builds what it asks
//! with an [`Author`] and the functions of this module.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up panics")]

mod author;
mod clock;
pub(crate) mod promise;
mod race;
mod records;
mod world;

pub mod committee;

pub use author::Author;
pub use clock::ManualClock;
pub use race::{Counter, count, race, unique};
pub use records::{
    FIRST, act, act_on, applicant, challenge, claimed, creation, day, id, key, keys, mail, moment,
    object, odd_texts, secret, seed, session_draft, subject,
};
pub use world::{World, filed, judged};
