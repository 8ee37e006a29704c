//! What becomes of a member of the committee (API.md, 8.8).

use crate::domain::committee::{CommitteeMember, CommitteeMemberDraft, CommitteeStatus, KeyPrefix};
use crate::domain::{Timestamp, Version};
use crate::proof::ApiKey;
use crate::rules::Versioned;

/// The write of a member of the committee.
#[derive(Clone, Debug)]
pub struct CommitteeMemberChange {
    /// The whole record to write.
    pub member: CommitteeMember,
    /// The version that was judged; `None`: there must be no such member.
    pub expected: Option<Version>,
}

/// Creates an active member with the key that `random` makes.
pub fn create_member(
    draft: &CommitteeMemberDraft,
    prefix: &KeyPrefix,
    random: [u8; 16],
    now: Timestamp,
) -> (CommitteeMemberChange, ApiKey) {
    let key = ApiKey::mint(prefix, &draft.id, random);
    let member = CommitteeMember {
        id: draft.id.clone(),
        name: draft.name.clone(),
        lens: draft.lens.clone(),
        voice: draft.voice.clone(),
        status: CommitteeStatus::Active,
        created_at: now,
        key: key.hash(),
    };
    (CommitteeMemberChange { member, expected: None }, key)
}

/// Gives a member, whatever its status, the key that `random` makes, in place of the one it has.
pub fn rotate_member_key(
    member: &Versioned<CommitteeMember>,
    prefix: &KeyPrefix,
    random: [u8; 16],
) -> (CommitteeMemberChange, ApiKey) {
    let key = ApiKey::mint(prefix, &member.record.id, random);
    let rotated = CommitteeMember { key: key.hash(), ..CommitteeMember::clone(&member.record) };
    (CommitteeMemberChange { member: rotated, expected: Some(member.version) }, key)
}

/// Whether a member has briefs: from the commit on that makes it inactive it has none.
pub fn has_briefs(member: &CommitteeMember) -> bool {
    member.status == CommitteeStatus::Active
}

/// Sets the status of a member. Its key stays.
pub fn set_status(
    member: &Versioned<CommitteeMember>,
    status: CommitteeStatus,
) -> CommitteeMemberChange {
    let member_now = CommitteeMember { status, ..CommitteeMember::clone(&member.record) };
    CommitteeMemberChange { member: member_now, expected: Some(member.version) }
}
