//! The takes of the committee, and what is kept of them.

use serde::Serialize;

use super::{CommitteeBody, CommitteeMemberId, CommitteeStance};
use crate::domain::text::text;
use crate::domain::{Confidence, Day, Invalid, SubjectId, Timestamp, bounded};

text!(
    /// The name of the model that wrote a take.
    Model, "model", 0..=200
);

/// The fields of a submission, all valid (API.md, 8.4).
#[derive(Clone, Debug, PartialEq)]
pub struct CommitteeDraft {
    /// The position taken.
    pub stance: CommitteeStance,
    /// How sure the member is.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The model that wrote it, if given.
    pub model: Option<Model>,
    /// When it was written, if given.
    pub generated_at: Option<Timestamp>,
}

/// A submission on file: immutable. Serialized, its fields in this order *are* the canonical text
/// that [`commit_reference`](crate::proof::commit_reference) digests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommitteeTake {
    /// Whose it is.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// How sure the member is.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The model that wrote it; `null` if not given.
    pub model: Option<Model>,
    /// When it was written; if that was not given, when it was received.
    pub generated_at: Timestamp,
    /// When it was committed, by the store's clock.
    pub received_at: Timestamp,
}
