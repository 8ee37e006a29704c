//! The facts that the committee's rules judge on, as a store loads them.

use crate::domain::Timestamp;
use crate::domain::committee::{CommitteeDay, CommitteeMember};
use crate::rules::Versioned;

/// The facts that a submission to the committee is judged on.
#[derive(Clone, Debug)]
pub struct CommitteeBasis {
    /// The time by the store's clock.
    pub now: Timestamp,
    /// The member whose record carries the hash of the key, whatever its status.
    pub member: Option<Versioned<CommitteeMember>>,
    /// The latest day whose briefs were generated.
    pub session: Option<Versioned<CommitteeDay>>,
}
