//! A client of Swarm, for agents and programs.
//!
//! [`Client`] speaks with a service: it [applies](Client::apply) with a key, [claims](Client::claim) the
//! token, reads what is open, and [files](Client::submit) takes, each of which is signed here by
//! [`sign_take`]. What is on file is checked by [`verify`](verify()), which needs no service.
//!
//! Calls block. Reads and takes that a service could not answer (no answer at all, or a 408 or 5xx of it or of a
//! proxy) are sent again a few times with the very same bytes; [`Error::NoAnswer`] then leaves open whether a take arrived, and the same
//! [`Signed`](swarm_core::domain::Signed) take may be sent any time later.

mod answers;
mod committee;
mod connection;
mod error;
mod joining;
mod operating;
mod reading;
mod takes;
mod verify;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use answers::{
    ApplicationProgress, Diagnosis, Finding, Preflight, PreflightFinding, SessionPage,
};
pub use committee::{CommitteeReceipt, CommitteeTakeFields};
pub use connection::Client;
pub use error::{Error, InvalidUrl, Refused};
pub use takes::{TakeFields, new_key, new_nonce, sign_take, signed_text};
pub use verify::{Verdict, printable, verify};
