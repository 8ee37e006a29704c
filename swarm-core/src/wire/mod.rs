//! HTTP responses for the results of the core, independent of the server: an [`Answer`] has a
//! status and a JSON body.
//!
//! ```
//! use swarm_core::{SubmitError, Take, wire};
//!
//! fn answer(outcome: Result<&Take, &SubmitError>) -> wire::Answer {
//!     match outcome {
//!         Ok(take) => wire::takes::filed(take),
//!         Err(error) => error.into(),
//!     }
//! }
//! ```
//!
//! An error also has a [`Problem`], whose code goes into the header `Swarm-Error`. [`hint`] gives
//! the optional header `Swarm-Hint`, [`hint_quoting`] one that quotes what was sent. An error that no rule made is a [`RequestError`].
//!
//! Types whose serialization is public (a take, a session, a subject, a memo) go through
//! [`Answer::ok`]. The front end sets the headers: content type `application/json`, and
//! `Link: …; rel="original"` for the [`original`](crate::Rejection::original) of a rejection.

#[cfg(feature = "committee")]
pub mod committee;
pub mod desk;
pub mod documents;
pub mod log;
pub mod members;
#[cfg(feature = "schema")]
pub mod schema;
pub mod scores;
pub mod sessions;
pub mod takes;
pub mod warning;
pub mod webhooks;

mod answer;
mod error;
mod hint;
mod problem;
mod request_error;

pub use answer::Answer;
#[cfg(feature = "committee")]
pub use committee::{committee_hint, committee_hint_quoting};
pub use hint::{hint, hint_quoting, parameters_hint};
pub use problem::{Audience, Problem};
pub use request_error::RequestError;
