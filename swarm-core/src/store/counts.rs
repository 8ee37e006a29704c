//! How many records there are, for monitoring.

use async_trait::async_trait;

use super::Result;
use crate::domain::{MailState, MemberState, SessionState};

/// Records of one kind that are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Countable {
    /// Members.
    Members(MemberState),
    /// Sessions.
    Sessions(SessionState),
    /// Messages.
    Messages(MailState),
}

/// The part of the port that counts. It takes part in no guard: a count may be out of date when it
/// arrives.
#[async_trait]
pub trait Counts: Send + Sync {
    /// How many of these there are. A store reads no record for it.
    async fn count(&self, what: Countable) -> Result<u64>;
}
