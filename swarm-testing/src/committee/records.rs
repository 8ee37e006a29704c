//! Records to put on file, plain unless a test says otherwise.

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

/// The id that reads so.
pub fn id(text: &str) -> CommitteeMemberId {
    CommitteeMemberId::parse(text).unwrap()
}

/// A moment that no test will see.
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

/// The key that goes by this text, always the same: the member of that name has it.
pub fn key(text: &str) -> ApiKey {
    ApiKey::parse(&format!("ic_{text}_{}", "0".repeat(32))).unwrap()
}

/// The write of a new member.
pub fn creation(member: &CommitteeMember) -> CommitteeMemberChange {
    CommitteeMemberChange { member: member.clone(), expected: None }
}

/// A day whose briefs were generated, open to submissions for good.
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

/// The write of a new day without briefs.
pub fn first_save(day: &CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day: day.clone(), expected: None, briefs: None, act: act("first") }
}

/// The write of a day over the one on file.
pub fn next_save(judged: &Versioned<CommitteeDay>, day: CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day, expected: Some(judged.version), briefs: None, act: act("next") }
}

/// A brief with a mark in its text.
pub fn brief(member: &str, mark: &str) -> CommitteeBrief {
    CommitteeBrief {
        member_id: id(member),
        generated_at: Timestamp::EPOCH,
        head: format!("{mark}{{"),
        tail: format!("}}{mark}"),
    }
}

/// What a member sends, with a mark in the body.
pub fn posted(mark: &str) -> Vec<u8> {
    let body = format!(
        "REGIME {mark}\nALLOCATION {pad}\nSUBJECT\nSTANCE: neutral | CONFIDENCE: 0.5",
        pad = "x".repeat(80)
    );
    let fields: [(&str, Json); 3] =
        [("stance", "neutral".into()), ("confidence", 0.5.into()), ("body", Json::Text(body))];
    json::write(&Json::from(fields)).into_bytes()
}

/// Another attempt with each call.
pub fn attempt() -> AttemptId {
    AttemptId(u128::from(unique()).to_le_bytes())
}
