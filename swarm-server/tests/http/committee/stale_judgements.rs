//! Changes to the committee between a judgement and its commit.

use std::sync::{Arc, Mutex};
use swarm_core::domain::Actor;

use serde_json::{Value, json};
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberId, CommitteeStatus, GenerationOrder, SubjectOrder,
};
use swarm_core::domain::json::Object;
use swarm_core::json::Json;
use swarm_core::proof::ApiKey;
use swarm_core::{CommitteeSettings, CommitteeTenant, Committees, SystemEntropy, TenantId};

use crate::committee_fixture::{self, BRIEF, KEY, chair, records, refused, submit, take};
use crate::fixture::{Clock, Fixture, now};
use crate::harness::Answer;
use crate::observed_store::observed_store;

type Interference = Box<dyn FnOnce(&CommitteeTenant) + Send>;

/// Runs an interfering change once, right before the next call of a given store method.
struct Interleaving {
    fixture: Fixture,
    next: Arc<Mutex<Option<(&'static str, Interference)>>>,
}

impl Interleaving {
    /// The member `m`, the subjects `aurora` and `basalt`, and the briefs of the day about `aurora`.
    fn start() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let next: Arc<Mutex<Option<(&'static str, Interference)>>> = Arc::default();
        let observed = {
            let (next, committees) = (next.clone(), Committees::new(store.clone(), SystemEntropy));
            let tenant = TenantId::parse("default").unwrap();
            let direct = committees.tenant(&tenant, CommitteeSettings::default());
            observed_store(&store, move |call| {
                let due = |next: &mut (&str, Interference)| !call.done && next.0 == call.op;
                let due = next.lock().unwrap().take_if(due);
                if let Some((_, interfere)) = due {
                    interfere(&direct);
                }
                Ok(())
            })
        };
        let fixture = Fixture::serve(clock, store, observed);
        committee_fixture::insert_member(&fixture.committee(), "m", KEY);
        for subject in ["aurora", "basalt"] {
            fixture.client.operate("/subjects", &json!({ "id": subject, "name": "S" })).expect(201);
        }
        chair(&fixture.client, "/briefs", &json!({ "subject_id": "aurora" })).expect(201);
        Self { fixture, next }
    }

    /// The answer of `send` when `interfere` runs right before `method`.
    fn with_interference(
        &self,
        method: &'static str,
        interfere: impl FnOnce(&CommitteeTenant) + Send + 'static,
        send: impl FnOnce() -> Answer,
    ) -> Answer {
        *self.next.lock().unwrap() = Some((method, Box::new(interfere)));
        let answer = send();
        assert!(self.next.lock().unwrap().is_none(), "{method} was not called");
        answer
    }

    /// Submits a take, with `interfere` right before its commit.
    fn submit_with(&self, interfere: impl FnOnce(&CommitteeTenant) + Send + 'static) -> Answer {
        let send = || submit(&self.fixture.client, KEY, &take("bullish"));
        self.with_interference("file committee", interfere, send)
    }

    #[track_caller]
    fn assert_stored(&self, count: usize) {
        assert_eq!(records(&self.fixture.committee()).len(), count);
    }
}

fn member() -> CommitteeMemberId {
    CommitteeMemberId::parse("m").unwrap()
}

fn fields(value: &Value) -> Object {
    Json::read(value.to_string().as_bytes()).unwrap().into_object()
}

fn generate(committee: &CommitteeTenant, order: &Value) {
    now(committee.generate(&GenerationOrder::read(&mut fields(order)).unwrap(), &Actor::SCHEDULE))
        .unwrap();
}

fn deactivate(committee: &CommitteeTenant) {
    now(committee.set_member_status(&member(), CommitteeStatus::Inactive, &Actor::OPERATOR))
        .unwrap();
}

#[test]
fn key_rotated_before_the_commit_is_invalid() {
    let interleaving = Interleaving::start();
    let rotate = |committee: &CommitteeTenant| {
        drop(now(committee.rotate_member_key(&member(), &Actor::OPERATOR)).unwrap())
    };
    refused(interleaving.submit_with(rotate), 401, "invalid key");
    interleaving.assert_stored(0);
}

#[test]
fn member_deactivated_before_the_commit_is_refused() {
    let interleaving = Interleaving::start();
    refused(interleaving.submit_with(deactivate), 403, "member is not active");
    interleaving.assert_stored(0);
}

#[test]
fn deadline_passed_before_the_commit_refuses() {
    let interleaving = Interleaving::start();
    let clock = interleaving.fixture.clock.clone();
    let half_a_day = 12 * 60 * 60 * 1_000 - 1;
    refused(
        interleaving.submit_with(move |_| clock.move_by(half_a_day)),
        409,
        "submission window closed",
    );
    interleaving.assert_stored(0);
}

#[test]
fn deadline_moved_before_the_commit_applies() {
    let interleaving = Interleaving::start();
    let close = |committee: &CommitteeTenant| {
        generate(committee, &json!({ "deadline_utc": "2026-11-21T11:59:59.999Z" }));
    };
    refused(interleaving.submit_with(close), 409, "submission window closed");
    interleaving.assert_stored(0);
}

#[test]
fn take_has_the_subject_at_its_commit() {
    let interleaving = Interleaving::start();
    let turn =
        |committee: &CommitteeTenant| generate(committee, &json!({ "subject_id": "basalt" }));
    let receipt = interleaving.submit_with(turn).expect(200).json();
    assert_eq!(receipt["subject_id"], "basalt");
    assert_eq!(records(&interleaving.fixture.committee())[0]["subject_id"], "basalt");
    interleaving.assert_stored(1);
}

#[test]
fn concurrent_submissions_are_both_stored() {
    let interleaving = Interleaving::start();
    let first = |committee: &CommitteeTenant| {
        let text = take("bearish").to_string();
        now(committee.submit(&ApiKey::parse(KEY).unwrap(), text.as_bytes())).unwrap();
    };
    interleaving.submit_with(first).expect(200);
    let stances: Vec<_> = records(&interleaving.fixture.committee())
        .iter()
        .map(|take| take["stance"].clone())
        .collect();
    assert_eq!(stances, ["bearish", "bullish"]);
}

#[test]
fn briefs_are_about_the_subject_that_was_set_last() {
    let interleaving = Interleaving::start();
    let set = |committee: &CommitteeTenant| {
        let order = json!({ "date": "2026-11-21", "subject_id": "basalt" });
        now(committee
            .set_subject(&SubjectOrder::read(&mut fields(&order)).unwrap(), &Actor::SCHEDULE))
        .unwrap();
    };
    let send = || chair(&interleaving.fixture.client, "/briefs", &json!({}));
    let made = interleaving.with_interference("save committee day", set, send).expect(201).json();
    assert_eq!(made["subject_id"], "basalt");
    assert_eq!(interleaving.fixture.client.get(BRIEF).expect(200).json()["subject_id"], "basalt");
}

#[test]
fn concurrent_synthesis_and_generation_are_both_stored() {
    let interleaving = Interleaving::start();
    let turn =
        |committee: &CommitteeTenant| generate(committee, &json!({ "subject_id": "basalt" }));
    let synthesis = json!({ "date": "2026-11-21", "synthesis": "Calm." });
    let send = || chair(&interleaving.fixture.client, "/synthesis", &synthesis);
    interleaving.with_interference("save committee day", turn, send).expect(200);
    let session = interleaving.fixture.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(
        (&session["subject_id"], &session["synthesis"]),
        (&json!("basalt"), &json!("Calm."))
    );
}

#[test]
fn concurrent_rotation_and_status_change_are_both_stored() {
    let interleaving = Interleaving::start();
    let send = || chair(&interleaving.fixture.client, "/members/m/rotate-key", &Value::Null);
    let rotated = interleaving
        .with_interference("save committee member", deactivate, send)
        .expect(200)
        .json();
    let key = rotated["api_key"].as_str().unwrap();
    refused(
        submit(&interleaving.fixture.client, key, &take("bullish")),
        403,
        "member is not active",
    );
    refused(submit(&interleaving.fixture.client, KEY, &take("bullish")), 401, "invalid key");
}

#[test]
fn id_created_before_the_commit_is_taken() {
    let interleaving = Interleaving::start();
    let body = json!({ "id": "n", "name": "Another" });
    let create = |committee: &CommitteeTenant| {
        let draft = json!({ "id": "n", "name": "The first" });
        now(committee.create_member(
            &CommitteeMemberDraft::read(&mut fields(&draft)).unwrap(),
            &Actor::OPERATOR,
        ))
        .unwrap();
    };
    let send = || chair(&interleaving.fixture.client, "/members", &body);
    refused(
        interleaving.with_interference("save committee member", create, send),
        409,
        "member id already taken",
    );
    let members = now(interleaving.fixture.committee().committee_members()).unwrap();
    assert_eq!(members[1].record.name.as_str(), "The first");
}
