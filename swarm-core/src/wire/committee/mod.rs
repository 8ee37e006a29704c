//! Responses of the daily committee (API.md, 8), except brief files, which
//! [`CommitteeBrief::text`](crate::domain::committee::CommitteeBrief::text) writes.

mod errors;

use std::sync::Arc;

use serde::Serialize;

use crate::answers::{CommitteeMembers, CommitteeReceipt, GeneratedBriefs, ListedCommitteeMember};
use crate::domain::committee::{CommitteeMember, CommitteeMemberId, CommitteeStatus, Voice};
use crate::domain::{Lens, Name};
use crate::proof::ApiKey;
use crate::rules::committee::SessionLine;
use crate::wire::Answer;

#[cfg(feature = "schema")]
pub(super) use errors::Detailed;
pub use errors::{committee_hint, committee_hint_quoting};

/// Returns the response with the receipt of a committed submission: `{ok, …receipt}`.
pub fn filed(receipt: &CommitteeReceipt) -> Answer {
    done(200, receipt)
}

/// Returns the response with a page of sessions: `{sessions}`.
pub fn sessions(sessions: &[SessionLine]) -> Answer {
    Answer::ok(&CommitteeSessions { sessions })
}

/// A page of sessions.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CommitteeSessions<'a> {
    /// The sessions.
    sessions: &'a [SessionLine],
}

/// Returns the response with all members, for operators: `{members: [{id, name, lens, voice, status}]}`.
pub fn members(members: &[Arc<CommitteeMember>]) -> Answer {
    let listed = |member: &Arc<CommitteeMember>| ListedCommitteeMember {
        id: member.id.clone(),
        name: member.name.clone(),
        lens: member.lens.clone(),
        voice: member.voice.clone(),
        status: member.status,
    };
    Answer::ok(&CommitteeMembers { members: members.iter().map(listed).collect() })
}

/// Returns the response with a changed member: `{ok, member_id, name, lens, voice, status}`.
pub fn member_updated(member: &CommitteeMember) -> Answer {
    let CommitteeMember { id, name, lens, voice, status, .. } = member;
    done(200, &CommitteeMemberUpdated { member_id: id, name, lens, voice, status: *status })
}

/// The member is changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CommitteeMemberUpdated<'a> {
    /// The id.
    member_id: &'a CommitteeMemberId,
    /// The name.
    name: &'a Name,
    /// How it looks at subjects.
    lens: &'a Lens,
    /// How it writes.
    voice: &'a Voice,
    /// Whether the member may submit.
    status: CommitteeStatus,
}

/// Returns the response with a new member and its key, which is shown once: 201 `{ok, member_id, api_key}`.
pub fn member_created(member_id: &CommitteeMemberId, key: &ApiKey) -> Answer {
    keyed(201, member_id, key)
}

/// Returns the response with a member's new key, which is shown once: `{ok, member_id, api_key}`.
pub fn key_rotated(member_id: &CommitteeMemberId, key: &ApiKey) -> Answer {
    keyed(200, member_id, key)
}

fn keyed(status: u16, member_id: &CommitteeMemberId, key: &ApiKey) -> Answer {
    done(status, &CommitteeKey { member_id, api_key: key.reveal() })
}

/// The API key, shown only once.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CommitteeKey<'a> {
    /// The member that it belongs to.
    member_id: &'a CommitteeMemberId,
    /// The key.
    api_key: &'a str,
}

/// Generated briefs: 201 `{ok, …generated}`.
pub fn generated(generated: &GeneratedBriefs) -> Answer {
    done(201, generated)
}

/// Returns the response after a status, a subject or a synthesis was set: `{ok}`.
pub fn written() -> Answer {
    done(200, &CommitteeWritten {})
}

/// What was sent is written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CommitteeWritten {}

/// `{ok: true, …fields}`.
fn done<T: Serialize>(status: u16, fields: &T) -> Answer {
    #[derive(Serialize)]
    struct Done<'a, T> {
        ok: bool,
        #[serde(flatten)]
        fields: &'a T,
    }
    Answer::new(status, &Done { ok: true, fields })
}
