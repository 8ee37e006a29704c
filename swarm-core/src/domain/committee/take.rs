//! The takes of the committee, and what is kept of them.

use serde::Serialize;

use super::{CommitteeBody, CommitteeMemberId};
use crate::domain::text::text;
use crate::domain::{Confidence, Day, Invalid, SubjectId, Timestamp, bounded};

/// The five stances of the committee (specification, section 2B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the specification gives these words no other meaning")]
pub enum CommitteeStance {
    Bullish,
    Constructive,
    Neutral,
    Cautious,
    Bearish,
}

impl CommitteeStance {
    /// All of them, in the order of the specification.
    pub const ALL: [Self; 5] =
        [Self::Bullish, Self::Constructive, Self::Neutral, Self::Cautious, Self::Bearish];

    /// The stance with exactly this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stance| stance.as_str() == text)
    }

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bullish => "bullish",
            Self::Constructive => "constructive",
            Self::Neutral => "neutral",
            Self::Cautious => "cautious",
            Self::Bearish => "bearish",
        }
    }
}

impl std::fmt::Display for CommitteeStance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

text!(
    /// The name of the model that wrote a take.
    Model, "model", 0..=200
);

/// The fields of a submission, all valid (specification, section 2B).
#[derive(Clone, Debug, PartialEq)]
pub struct CommitteeDraft {
    /// The position taken.
    pub stance: CommitteeStance,
    /// How sure the member is.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// What wrote it, where that is told.
    pub model: Option<Model>,
    /// When it was written, where that is told.
    pub generated_at: Option<Timestamp>,
}

/// A submission on file: immutable. Serialized, its fields in this order *are* the canonical text
/// that [`commit`](crate::proof::commit) digests.
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
    /// What wrote it; `null` where that was not told.
    pub model: Option<Model>,
    /// When it was written; where that was not told, when it was received.
    pub generated_at: Timestamp,
    /// When it was committed, by the store's clock.
    pub received_at: Timestamp,
}
