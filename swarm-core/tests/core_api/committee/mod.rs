//! Unit tests of the committee's rules, without a store.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod compose;
mod generate;
mod judge;
mod sessions;

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::committee::{
    CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeStatus, CommitteeTake, Generation,
    Voice,
};
use swarm_core::domain::{AttemptId, Day, Lens, Name, Subject, SubjectId, Version};
use swarm_core::json::{Json, Object};
use swarm_core::proof::ApiKey;
use swarm_core::rules::Versioned;
use swarm_core::rules::committee::{CommitteeBasis, judge};

const DEADLINE: &str = "2026-11-21T23:25:00.000Z";

fn at(text: &str) -> Timestamp {
    Timestamp::parse("moment", text).unwrap()
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn fields(text: &str) -> Object {
    Json::read(text.as_bytes()).unwrap().into_object()
}

fn key(member: &str) -> ApiKey {
    ApiKey::parse(&format!("ic_{member}_{}", "0f".repeat(16))).unwrap()
}

fn member(id: &str) -> CommitteeMember {
    CommitteeMember {
        id: CommitteeMemberId::parse(id).unwrap(),
        name: Name::parse("Ada").unwrap(),
        lens: Lens::parse("").unwrap(),
        voice: Voice::parse("").unwrap(),
        status: CommitteeStatus::Active,
        created_at: Timestamp::EPOCH,
        key: key(id).hash(),
    }
}

fn subject(id: &str, status: &str) -> Subject {
    let text = format!(r#"{{"id":"{id}","name":"The {id}","status":"{status}"}}"#);
    Subject::read(&mut fields(&text)).unwrap()
}

/// The day 2026-11-21 with briefs on `aurora` and a deadline at 23:25.
fn generated() -> CommitteeDay {
    let made = Generation {
        withdrawn: 0,
        subject_id: SubjectId::parse("aurora").unwrap(),
        deadline: at(DEADLINE),
        generated_at: at("2026-11-21T22:45:00Z"),
        briefs: 1,
    };
    CommitteeDay { generation: Some(made), ..CommitteeDay::blank(day("2026-11-21")) }
}

fn versioned<T>(record: T) -> Versioned<T> {
    Versioned { version: Version(3), record: Arc::new(record) }
}

fn facts(now: &str) -> CommitteeBasis {
    CommitteeBasis {
        now: at(now),
        member: Some(versioned(member("ada"))),
        session: Some(versioned(generated())),
    }
}

/// The body of a submission.
fn posted(stance: &str, confidence: f64, text: &str) -> Vec<u8> {
    let body = format!("{text}\nALLOCATION {}\nSUBJECT\n{}", "x".repeat(80), trailer());
    let fields: [(&str, Json); 3] =
        [("stance", stance.into()), ("confidence", confidence.into()), ("body", Json::Text(body))];
    swarm_core::json::write(&Json::from(fields)).into_bytes()
}

fn trailer() -> &'static str {
    "STANCE: bullish | CONFIDENCE: 0.72\n"
}

/// A stored take of `who`, committed at 22:50.
fn take(who: &str, stance: &str, confidence: f64, text: &str) -> Arc<CommitteeTake> {
    let facts =
        CommitteeBasis { member: Some(versioned(member(who))), ..facts("2026-11-21T22:50:00Z") };
    let prefix = swarm_core::domain::committee::KeyPrefix::parse("ic").unwrap();
    let posted = posted(stance, confidence, text);
    let filing = judge(&facts, &prefix, &key(who), &posted, AttemptId([0; 16])).unwrap();
    Arc::new(filing.take(at("2026-11-21T22:50:01.234Z")))
}
