//! What others do to the committee between a judgement and its commit.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberId, CommitteeStatus, GenerationOrder, SubjectOrder,
};
use swarm_core::domain::json::Object;
use swarm_core::json::Json;
use swarm_core::{CommitteeSettings, CommitteeTenant, Committees, SystemEntropy, TenantId};

use crate::desk::{self, BRIEF, KEY, chair, records, refused, submit, take};
use crate::harness::Answer;
use crate::relay::Relay;
use crate::world::{Clock, World, now};

type Meddling = Box<dyn FnOnce(&CommitteeTenant) + Send>;

/// Runs what is to be run once, right before the next call of a method of the store.
struct Scene {
    world: World,
    next: Arc<Mutex<Option<(&'static str, Meddling)>>>,
}

impl Scene {
    /// The member `m`, the subjects `aurora` and `basalt`, and the briefs of the day about `aurora`.
    fn set() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let next: Arc<Mutex<Option<(&'static str, Meddling)>>> = Arc::default();
        let relay = {
            let (next, committees) = (next.clone(), Committees::new(store.clone(), SystemEntropy));
            let tenant = TenantId::parse("default").unwrap();
            let direct = committees.tenant(&tenant, CommitteeSettings::default());
            Relay::new(&store, move |told| {
                let due = |next: &mut (&str, Meddling)| !told.done && next.0 == told.method;
                let due = next.lock().unwrap().take_if(due);
                if let Some((_, meddle)) = due {
                    meddle(&direct);
                }
                Ok(())
            })
        };
        let world = World::serve(clock, store, relay);
        desk::seat(&*world.desk(), "m", KEY);
        for subject in ["aurora", "basalt"] {
            world.client.operate("/subjects", &json!({ "id": subject, "name": "S" })).expect(201);
        }
        chair(&world.client, "/briefs", &json!({ "subject_id": "aurora" })).expect(201);
        Self { world, next }
    }

    /// What `send` answers when `meddle` comes right before `method`.
    fn meddled(
        &self,
        method: &'static str,
        meddle: impl FnOnce(&CommitteeTenant) + Send + 'static,
        send: impl FnOnce() -> Answer,
    ) -> Answer {
        *self.next.lock().unwrap() = Some((method, Box::new(meddle)));
        let answer = send();
        assert!(self.next.lock().unwrap().is_none(), "{method} was not called");
        answer
    }

    /// A submission amid which `meddle` comes.
    fn submit_amid(&self, meddle: impl FnOnce(&CommitteeTenant) + Send + 'static) -> Answer {
        let send = || submit(&self.world.client, KEY, &take("bullish"));
        self.meddled("file_committee", meddle, send)
    }

    #[track_caller]
    fn check_kept(&self, count: usize) {
        assert_eq!(records(&*self.world.desk()).len(), count);
    }
}

fn member() -> CommitteeMemberId {
    CommitteeMemberId::parse("m").unwrap()
}

fn fields(value: &Value) -> Object {
    Json::read(value.to_string().as_bytes()).unwrap().into_object()
}

fn generate(desk: &CommitteeTenant, order: &Value) {
    now(desk.generate(&GenerationOrder::read(&mut fields(order)).unwrap())).unwrap();
}

fn deactivate(desk: &CommitteeTenant) {
    now(desk.set_member_status(&member(), CommitteeStatus::Inactive)).unwrap();
}

#[test]
fn a_key_that_is_replaced_before_the_commit_is_dead() {
    let scene = Scene::set();
    let rotate = |desk: &CommitteeTenant| drop(now(desk.rotate_member_key(&member())).unwrap());
    refused(scene.submit_amid(rotate), 401, "invalid key");
    scene.check_kept(0);
}

#[test]
fn a_member_that_is_deactivated_before_the_commit_is_inactive() {
    let scene = Scene::set();
    refused(scene.submit_amid(deactivate), 403, "member is not active");
    scene.check_kept(0);
}

#[test]
fn a_deadline_that_passes_before_the_commit_has_passed() {
    let scene = Scene::set();
    let clock = scene.world.clock.clone();
    let half_a_day = 12 * 60 * 60 * 1_000 - 1;
    refused(scene.submit_amid(move |_| clock.move_by(half_a_day)), 409, "submission window closed");
    scene.check_kept(0);
}

#[test]
fn a_deadline_that_is_moved_before_the_commit_counts() {
    let scene = Scene::set();
    let close = |desk: &CommitteeTenant| {
        generate(desk, &json!({ "deadline_utc": "2026-11-21T11:59:59.999Z" }));
    };
    refused(scene.submit_amid(close), 409, "submission window closed");
    scene.check_kept(0);
}

#[test]
fn a_take_is_about_the_subject_of_its_commit() {
    let scene = Scene::set();
    let turn = |desk: &CommitteeTenant| generate(desk, &json!({ "subject_id": "basalt" }));
    let receipt = scene.submit_amid(turn).expect(200).json();
    assert_eq!(receipt["subject_id"], "basalt");
    assert_eq!(records(&*scene.world.desk())[0]["subject_id"], "basalt");
    scene.check_kept(1);
}

#[test]
fn a_submission_that_comes_before_the_commit_stands_beside_it() {
    let scene = Scene::set();
    let first = |desk: &CommitteeTenant| {
        let text = take("bearish").to_string();
        now(desk.submit(Some(KEY), text.as_bytes())).unwrap();
    };
    scene.submit_amid(first).expect(200);
    let stances: Vec<_> =
        records(&*scene.world.desk()).iter().map(|take| take["stance"].clone()).collect();
    assert_eq!(stances, ["bearish", "bullish"]);
}

#[test]
fn briefs_are_about_the_subject_that_was_set_last() {
    let scene = Scene::set();
    let set = |desk: &CommitteeTenant| {
        let order = json!({ "date": "2026-11-21", "subject_id": "basalt" });
        now(desk.set_subject(&SubjectOrder::read(&mut fields(&order)).unwrap())).unwrap();
    };
    let send = || chair(&scene.world.client, "/briefs", &json!({}));
    let made = scene.meddled("save_committee_day", set, send).expect(201).json();
    assert_eq!(made["subject_id"], "basalt");
    assert_eq!(scene.world.client.get(BRIEF).expect(200).json()["subject_id"], "basalt");
}

#[test]
fn a_synthesis_and_a_generation_both_stand() {
    let scene = Scene::set();
    let turn = |desk: &CommitteeTenant| generate(desk, &json!({ "subject_id": "basalt" }));
    let synthesis = json!({ "date": "2026-11-21", "synthesis": "Calm." });
    let send = || chair(&scene.world.client, "/synthesis", &synthesis);
    scene.meddled("save_committee_day", turn, send).expect(200);
    let session = scene.world.client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(
        (&session["subject_id"], &session["synthesis"]),
        (&json!("basalt"), &json!("Calm."))
    );
}

#[test]
fn a_rotation_and_a_status_both_stand() {
    let scene = Scene::set();
    let send = || chair(&scene.world.client, "/members/m/rotate-key", &Value::Null);
    let rotated = scene.meddled("save_committee_member", deactivate, send).expect(200).json();
    let key = rotated["api_key"].as_str().unwrap();
    refused(submit(&scene.world.client, key, &take("bullish")), 403, "member is not active");
    refused(submit(&scene.world.client, KEY, &take("bullish")), 401, "invalid key");
}

#[test]
fn an_id_that_is_given_before_the_commit_is_taken() {
    let scene = Scene::set();
    let body = json!({ "id": "n", "name": "Another" });
    let create = |desk: &CommitteeTenant| {
        let draft = json!({ "id": "n", "name": "The first" });
        now(desk.create_member(&CommitteeMemberDraft::read(&mut fields(&draft)).unwrap())).unwrap();
    };
    let send = || chair(&scene.world.client, "/members", &body);
    refused(scene.meddled("save_committee_member", create, send), 409, "member id already taken");
    let members = now(scene.world.desk().committee_members()).unwrap();
    assert_eq!(members[1].record.name.as_str(), "The first");
}
