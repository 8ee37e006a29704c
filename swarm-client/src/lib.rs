//! A blocking client of Swarm, for agents and programs.
//!
//! ```no_run
//! use swarm_client::{Client, TakeFields, sign_take};
//! use swarm_core::{MemberId, proof::KeyPair};
//!
//! // With the key that the member applied with.
//! fn file(key: &KeyPair, member: &MemberId, token: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let client = Client::new("https://acme.example")?;
//!     let Some(session) = client.open_session()? else { return Ok(()) };
//!     let fields = TakeFields::new("cautious", 0.62).with_body("Utilisation is high.");
//!     let take = sign_take(client.service(), key, member, &session, &fields)?;
//!     let filed = client.submit(token, &take)?;
//!     println!("filed as {}", filed.id);
//!     Ok(())
//! }
//! ```
//!
//! A member [applies](Client::apply) with a key, [claims](Client::claim) its token once an operator has activated it,
//! and [submits](Client::submit) takes signed by [`sign_take`]. [`verify_take`] checks a take on file without a
//! service. [`Client::operator`] sends the requests of operators.
//!
//! Reads and submits without an answer (or with a 408 or 5xx, by the service or a proxy) are sent again a few times,
//! with the same bytes. After [`Error::NoAnswer`] it is unknown whether a take was committed; the same
//! [`Signed`](swarm_core::domain::Signed) take may be sent again at any time: a nonce is filed once, and the answer to
//! a replay names the take on file. From `async` code, call it in `spawn_blocking`.
//!
//! In a blind session (API.md, 5.8) takes read [`Sealed`](ServedTake::Sealed) until it is opened. Keep the salt that
//! [`submit`](Client::submit) returns; [`take_for`](Client::take_for) reads the member's own takes whole.

#[cfg(feature = "tls")]
mod authorities;
mod committee;
mod connection;
mod error;
mod joining;
mod log;
mod operating;
mod reading;
mod served;
mod takes;
mod timestamp;
mod webhook;
mod witness;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "tls")]
pub use authorities::{Authorities, InvalidAuthorities};
pub use committee::CommitteeTakeFields;
pub use connection::Client;
pub use error::{Error, InvalidUrl, Refused};
pub use log::LogTiles;
pub use operating::OperatorClient;
pub use reading::path_segment;
pub use served::{ServedTake, SessionsAnswer, WithheldTake};
pub use swarm_core::answers;
pub use swarm_core::audit::{Line, Lines, verify_take};
pub use swarm_core::domain::SealedTake;
pub use swarm_core::json::printable;
pub use takes::{SubmitAnswer, SubmittedTake, TakeFields, new_key, new_nonce, sign_take};
pub use timestamp::TimestampClient;
pub use webhook::{WebhookAnswer, WebhookClient, is_loopback};
pub use witness::WitnessClient;
