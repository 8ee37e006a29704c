//! Minimal records of the committee for tests.

use crate::act;
use crate::{day, moment, subject, unique};
use swarm_core::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberDraft, CommitteeMemberId,
    CommitteeStatus, Generation, Voice,
};
use swarm_core::domain::json::{self, Json};
use swarm_core::domain::{AttemptId, Lens, Name, Timestamp};
use swarm_core::proof::ApiKey;
use swarm_core::store::{CommitteeDayChange, CommitteeMemberChange, Versioned};

/// Parses a member id.
pub fn id(text: &str) -> CommitteeMemberId {
    CommitteeMemberId::parse(text).unwrap()
}

/// A time in the far future.
pub fn far() -> Timestamp {
    moment("2999-12-31T23:59:59.999Z")
}

/// A member to create.
pub fn draft(name: &str) -> CommitteeMemberDraft {
    CommitteeMemberDraft {
        id: id(name),
        name: Name::parse("Ada").unwrap(),
        lens: Lens::parse("").unwrap(),
        voice: Voice::parse("").unwrap(),
    }
}

/// An active member.
pub fn member(name: &str) -> CommitteeMember {
    let CommitteeMemberDraft { id, name: called, lens, voice } = draft(name);
    CommitteeMember {
        id,
        name: called,
        lens,
        voice,
        status: CommitteeStatus::Active,
        created_at: Timestamp::EPOCH,
        key: key(name).hash(),
    }
}

/// The key of the member with this name; derived from the name.
pub fn key(text: &str) -> ApiKey {
    ApiKey::parse(&format!("ic_{text}_{}", "0".repeat(32))).unwrap()
}

/// The change that creates a member.
pub fn creation(member: &CommitteeMember) -> CommitteeMemberChange {
    CommitteeMemberChange { member: member.clone(), expected: None }
}

/// A day with generated briefs and a deadline in the far future.
pub fn open_day(date: &str, about: &str) -> CommitteeDay {
    let generation = Generation {
        withdrawn: 0,
        subject_id: subject(about),
        deadline: far(),
        generated_at: Timestamp::EPOCH,
        briefs: 0,
    };
    CommitteeDay { generation: Some(generation), ..CommitteeDay::blank(day(date)) }
}

/// The change that creates a day, without briefs.
pub fn first_save(day: &CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day: day.clone(), expected: None, briefs: None, act: act("first") }
}

/// The change that replaces a stored day.
pub fn next_save(judged: &Versioned<CommitteeDay>, day: CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day, expected: Some(judged.version), briefs: None, act: act("next") }
}

/// A brief with `mark` in its text.
pub fn brief(member: &str, mark: &str) -> CommitteeBrief {
    CommitteeBrief {
        member_id: id(member),
        generated_at: Timestamp::EPOCH,
        head: format!("{mark}{{"),
        tail: format!("}}{mark}"),
    }
}

/// The body of a submission with `mark` in its text.
pub fn posted(mark: &str) -> Vec<u8> {
    let body = format!(
        "REGIME {mark}\nALLOCATION {pad}\nSUBJECT\nSTANCE: neutral | CONFIDENCE: 0.5",
        pad = "x".repeat(80)
    );
    let fields: [(&str, Json); 3] =
        [("stance", "neutral".into()), ("confidence", 0.5.into()), ("body", Json::Text(body))];
    json::write(&Json::from(fields)).into_bytes()
}

/// A new attempt id.
pub fn attempt() -> AttemptId {
    AttemptId(u128::from(unique()).to_le_bytes())
}
