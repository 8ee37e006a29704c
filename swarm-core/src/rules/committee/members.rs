//! The rules for changes of a committee member (API.md, 8.8).

use crate::domain::committee::{
    CommitteeMember, CommitteeMemberDraft, CommitteeMemberPatch, CommitteeStatus, KeyPrefix,
};
use crate::domain::{Actor, OperatorAct, Timestamp, Version};
use crate::proof::ApiKey;
use crate::rules::Versioned;

/// A change of a committee member.
#[derive(Clone, Debug)]
pub struct CommitteeMemberChange {
    /// The complete new record.
    pub member: CommitteeMember,
    /// Guard: the version that was judged; `None`: the member must not exist.
    pub expected: Option<Version>,
    /// The act of the operator who makes the change, if any. It has no entry in the log.
    pub operator_act: Option<OperatorAct>,
}

/// Creates an active member, with a key made from `random`.
pub(crate) fn create_member(
    draft: &CommitteeMemberDraft,
    prefix: &KeyPrefix,
    random: [u8; 16],
    now: Timestamp,
    by: &Actor,
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
    let operator_act = OperatorAct::new(by, "committee-member.created", &member.id);
    (CommitteeMemberChange { member, expected: None, operator_act }, key)
}

/// Replaces the key of a member, of either status, by one made from `random`.
pub(crate) fn rotate_member_key(
    member: &Versioned<CommitteeMember>,
    prefix: &KeyPrefix,
    random: [u8; 16],
    by: &Actor,
) -> (CommitteeMemberChange, ApiKey) {
    let key = ApiKey::mint(prefix, &member.record.id, random);
    let rotated = CommitteeMember { key: key.hash(), ..CommitteeMember::clone(&member.record) };
    (changed(member, rotated, "committee-member.key-rotated", by), key)
}

/// Returns whether a member may read its briefs. A member that becomes inactive loses them at once.
pub(crate) fn has_briefs(member: &CommitteeMember) -> bool {
    member.status == CommitteeStatus::Active
}

/// Sets the status of a member. Its key does not change.
pub(crate) fn set_status(
    member: &Versioned<CommitteeMember>,
    status: CommitteeStatus,
    by: &Actor,
) -> CommitteeMemberChange {
    let member_now = CommitteeMember { status, ..CommitteeMember::clone(&member.record) };
    let act = match status {
        CommitteeStatus::Active => "committee-member.activated",
        CommitteeStatus::Inactive => "committee-member.deactivated",
    };
    changed(member, member_now, act, by)
}

/// Changes what is known of a member.
pub(crate) fn update_member(
    member: &Versioned<CommitteeMember>,
    patch: &CommitteeMemberPatch,
    by: &Actor,
) -> CommitteeMemberChange {
    let CommitteeMemberPatch { name, lens, voice } = patch.clone();
    let before = CommitteeMember::clone(&member.record);
    let member_now = CommitteeMember {
        name: name.unwrap_or_else(|| before.name.clone()),
        lens: lens.unwrap_or_else(|| before.lens.clone()),
        voice: voice.unwrap_or_else(|| before.voice.clone()),
        ..before
    };
    changed(member, member_now, "committee-member.updated", by)
}

fn changed(
    judged: &Versioned<CommitteeMember>,
    member: CommitteeMember,
    act: &'static str,
    by: &Actor,
) -> CommitteeMemberChange {
    let operator_act = OperatorAct::new(by, act, &member.id);
    CommitteeMemberChange { member, expected: Some(judged.version), operator_act }
}
