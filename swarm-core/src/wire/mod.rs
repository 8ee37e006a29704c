//! What a front end answers over HTTP, whatever server it is built on: an [`Answer`] has a status and
//! a JSON text, and is made of what the core said.
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
//! An error has a [`Problem`] too, which goes into the header `Swarm-Error`; [`hint`] makes what may stand in
//! `Swarm-Hint`.
//!
//! What is public as it is (a take, a session, a subject, a memo) goes through [`Answer::ok`]. Headers
//! are the front end's own: content type `application/json`, and `Link: …; rel="original"` for the
//! [`original`](crate::Rejection::original) of a rejection.

pub mod committee;
pub mod documents;
pub mod log;
pub mod members;
pub mod sessions;
pub mod takes;

mod answer;
mod error;
mod hint;
mod problem;
mod status;

pub use answer::Answer;
pub use hint::{JSON as JSON_HINT, committee_hint, field_hint, hint};
pub use problem::{NOT_PERSISTED, Problem};
pub use status::Status;
