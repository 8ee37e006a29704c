//! The takes of the committee, as sent and as stored.

use serde::Serialize;

use super::{CommitteeBody, CommitteeMemberId, CommitteeStance};
use crate::domain::text::text;
use crate::domain::{Confidence, Day, Invalid, SubjectId, Timestamp};

text!(
    /// The name of the model that wrote a take.
    Model, "model", 0..=200
);

/// The fields of a submission, all valid (API.md, 8.4).
#[derive(Clone, Debug, PartialEq)]
pub struct CommitteeDraft {
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The name of the model that wrote it, if given.
    pub model: Option<Model>,
    /// The time when the take was written, if given.
    pub generated_at: Option<Timestamp>,
}

/// A stored submission: immutable. Serializing it gives the canonical text that
/// [`commit_reference`](crate::proof::commit_reference) digests: the order of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommitteeTake {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The name of the model that wrote it; `null` if not given.
    pub model: Option<Model>,
    /// The time when the take was written; the time when it was received if not given.
    pub generated_at: Timestamp,
    /// The time of the commit, by the store's clock.
    pub received_at: Timestamp,
}
