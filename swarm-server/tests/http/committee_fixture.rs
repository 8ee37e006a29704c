//! Fixtures of the committee: members with known keys, and valid takes.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use swarm_core::domain::committee::{CommitteeMember, CommitteeMemberDraft, CommitteeStatus};
use swarm_core::domain::{ApiKeyHash, Day, Timestamp};
use swarm_core::json::Json;
use swarm_core::store::{
    CommitteeMemberChange, CommitteeSessionQuery, CommitteeTakesQuery, Records, Saved,
};

use crate::fixture::now;
use crate::harness::{ADMIN, Answer, Client};

/// The key of the member `m`.
pub const KEY: &str = "ic_m_0123456789abcdef0123456789abcdef";

/// The brief of the member `m`.
pub const BRIEF: &str = "/data/committee/briefs/today/m.json";

/// Inserts a member with this key directly into the store.
pub fn insert_member(port: &Records, id: &str, key: &str) {
    let draft = json!({ "id": id, "name": "A member" }).to_string();
    let mut draft = Json::read(draft.as_bytes()).unwrap().into_object();
    let CommitteeMemberDraft { id, name, lens, voice } =
        CommitteeMemberDraft::read(&mut draft).unwrap();
    let (status, key) = (CommitteeStatus::Active, ApiKeyHash::of(key.as_bytes()));
    let member =
        CommitteeMember { id, name, lens, voice, status, created_at: Timestamp::EPOCH, key };
    let change = CommitteeMemberChange { member, expected: None, operator_act: None };
    assert_eq!(now(port.save_committee_member(&change)).unwrap(), Saved::Saved);
}

/// All records as text, for comparisons. Days are without their versions, since generating the same briefs
/// again changes only these.
pub fn print(port: &Records) -> String {
    let mut all = String::new();
    for member in now(port.committee_members()).unwrap() {
        writeln!(all, "{member:?} {:?}", member.record.key.as_bytes()).unwrap();
    }
    let everything = CommitteeSessionQuery { limit: usize::MAX, ..Default::default() };
    let sessions = now(port.committee_sessions(&everything)).unwrap();
    let mut days: Vec<Day> = sessions.iter().map(|day| day.record.date).collect();
    days.push(Day::parse("2026-11-21").unwrap());
    days.push(Day::parse("2026-11-22").unwrap());
    for day in days {
        let record = now(port.committee_day(day)).unwrap().map(|day| day.record);
        writeln!(all, "{record:?}").unwrap();
        writeln!(all, "{:?}", now(port.committee_briefs(day, None)).unwrap()).unwrap();
        let takes = now(port.committee_takes(&CommitteeTakesQuery::On(&[day]))).unwrap();
        writeln!(all, "{takes:?}").unwrap();
    }
    all
}

/// A POST with the operator's token, below `/api/ic/admin`.
pub fn chair(client: &Client, path: &str, body: &Value) -> Answer {
    let path = format!("/api/ic/admin{path}");
    client.post(&path, &[("x-admin-token", ADMIN)], &body.to_string())
}

pub fn submit(client: &Client, key: &str, body: &Value) -> Answer {
    client.post("/api/ic/submit", &[("x-ic-key", key)], &body.to_string())
}

/// A take with this stance.
pub fn take(stance: &str) -> Value {
    let body = format!(
        "REGIME: calm.\nALLOCATION: {}.\nSUBJECT: sound.\nSTANCE: {stance} | CONFIDENCE: 0.6\n",
        "half in cash ".repeat(8)
    );
    json!({ "stance": stance, "confidence": 0.6, "body": body, "model": "m-1" })
}

/// A valid take, except for this field.
pub fn take_with(field: &str, value: Value) -> Value {
    let mut fields = take("bullish");
    fields[field] = value;
    fields
}

/// The stored takes of the day of the tests, as JSON, in the order of their commits.
pub fn records(port: &Records) -> Vec<Value> {
    records_of(port, Day::parse("2026-11-21").unwrap())
}

/// The stored takes of this day.
pub fn records_of(port: &Records, day: Day) -> Vec<Value> {
    let takes = now(port.committee_takes(&CommitteeTakesQuery::On(&[day]))).unwrap();
    takes.iter().map(|take| serde_json::to_value(&**take).unwrap()).collect()
}

/// The reference of a record, as its member computes it (API.md, committee). Its confidence must not be a
/// whole number, which would be written as `1.0` here.
pub fn commit_of(record: &Value) -> String {
    const KEYS: [&str; 9] = [
        "member_id",
        "date",
        "subject_id",
        "stance",
        "confidence",
        "body",
        "model",
        "generated_at",
        "received_at",
    ];
    let fields: Vec<_> = KEYS.iter().map(|key| format!("\"{key}\":{}", record[key])).collect();
    let digest = Sha256::digest(format!("{{{}}}", fields.join(",")).as_bytes());
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// A refusal in the form of the committee.
#[track_caller]
pub fn refused(answer: Answer, status: u16, error: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let body = answer.json();
    assert_eq!(body["error"], error, "{body}");
    assert!(
        body.as_object().unwrap().keys().all(|key| key == "error" || key == "detail"),
        "{body}"
    );
}
