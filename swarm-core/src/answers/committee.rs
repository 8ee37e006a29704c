//! Answers of the daily committee (API.md, 8).

use serde::{Deserialize, Serialize};

use crate::domain::committee::{CommitteeMemberId, CommitteeStatus, Voice};
use crate::domain::{Day, Lens, Name, SubjectId, Timestamp};

/// The receipt of a submission (API.md, 8.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommitteeReceipt {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The commit reference of the record.
    #[cfg_attr(feature = "schema", schemars(with = "crate::domain::Digest"))]
    pub commit: String,
    /// When the submission was committed. This is the only field of the record that its author does not know,
    /// and needs to recompute the reference.
    pub received_at: Timestamp,
}

/// The members of the committee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommitteeMembers {
    /// The members.
    pub members: Vec<ListedCommitteeMember>,
}

/// A member of the committee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct ListedCommitteeMember {
    /// The id.
    pub id: CommitteeMemberId,
    /// The name.
    pub name: Name,
    /// How it looks at subjects.
    pub lens: Lens,
    /// How it writes.
    pub voice: Voice,
    /// Whether the member may submit.
    pub status: CommitteeStatus,
}

/// The members that filed on a day of the committee, without their submissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CommitteeFiling"))]
#[non_exhaustive]
pub struct DayFiling {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The deadline.
    pub deadline_utc: Timestamp,
    /// The members that filed.
    pub filed: Vec<CommitteeMemberId>,
    /// The active members that have not filed.
    pub missing: Vec<CommitteeMemberId>,
}

/// The result of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "CommitteeGenerated")
)]
#[non_exhaustive]
pub struct GeneratedBriefs {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The last time at which a take is accepted.
    pub deadline_utc: Timestamp,
    /// The number of briefs: one for each active member.
    pub briefs: usize,
}
