//! What others do between a judgement and its commit.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use swarm_core::domain::{
    MemberState, SecretHash, SessionPatch, SessionState, Timestamp, TokenClaim,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::rules::Submission;
use swarm_core::{MemberId, SessionId, Swarm, SystemEntropy, Tenant, TenantId};

use crate::harness::{Answer, Author, signed_text};
use crate::relay::Relay;
use crate::world::{Clock, World, now};

const DATE: &str = "2026-11-21";

type Meddling = Box<dyn FnOnce(&Tenant) + Send>;

/// Runs what is to be run once, right before the next call of a method of the store.
struct Scene {
    world: World,
    author: Author,
    meddle: Arc<Mutex<Option<(&'static str, Meddling)>>>,
}

impl Scene {
    fn set() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let meddle: Arc<Mutex<Option<(&'static str, Meddling)>>> = Arc::default();
        let tenant = OnceLock::new();
        let relay = {
            let (meddle, direct) = (Arc::clone(&meddle), store.clone());
            Relay::new(&store, move |told| {
                let due = |next: &mut (&str, Meddling)| !told.done && next.0 == told.method;
                let next = meddle.lock().unwrap().take_if(due);
                if let Some((_, meddle)) = next {
                    let id = || TenantId::parse("default").unwrap();
                    let swarm = || Swarm::new(direct.clone(), SystemEntropy).tenant(&id());
                    meddle(tenant.get_or_init(swarm));
                }
                Ok(())
            })
        };
        let world = World::serve(clock, store, relay);
        world.convene(DATE, "aurora");
        let author = world.author();
        Self { world, author, meddle }
    }

    /// Before a take is filed.
    fn meddle(&self, meddle: impl FnOnce(&Tenant) + Send + 'static) {
        self.meddle_before("file", meddle);
    }

    fn meddle_before(&self, method: &'static str, meddle: impl FnOnce(&Tenant) + Send + 'static) {
        *self.meddle.lock().unwrap() = Some((method, Box::new(meddle)));
    }

    /// That what was to be run has run.
    fn check_meddled(&self) {
        assert!(self.meddle.lock().unwrap().is_none());
    }

    fn submission(&self) -> Submission {
        Submission::new(self.author.key.sign(self.author.draft(DATE, "aurora")))
    }

    fn token(&self) -> SecretHash {
        SecretHash::of(self.author.token.as_bytes())
    }
}

#[test]
fn another_take_of_the_member_wins_the_revision() {
    let scene = Scene::set();
    let (token, other) = (scene.token(), scene.submission());
    scene.meddle(move |tenant| assert_eq!(now(tenant.submit(&token, &other)).unwrap().id.0, 1));
    let draft = scene.author.draft(DATE, "aurora");
    let answer = scene.world.client.submit(&scene.author, draft.clone());
    assert_eq!(answer.header("link"), None);
    answer.refused(409, "a concurrent submission from this member won the same revision; retry");
    assert_eq!(scene.world.takes().len(), 1);
    // What lost may be sent again as it is.
    let again = scene.world.client.submit(&scene.author, draft).expect(201);
    assert_eq!(again.json()["recommendationId"], 2);
}

#[test]
fn the_very_same_take_comes_first() {
    let scene = Scene::set();
    let draft = scene.author.draft(DATE, "aurora");
    let (token, same) = (scene.token(), Submission::new(scene.author.key.sign(draft.clone())));
    scene.meddle(move |tenant| assert_eq!(now(tenant.submit(&token, &same)).unwrap().id.0, 1));
    let answer = scene.world.client.submit(&scene.author, draft).expect(409);
    assert_eq!(answer.header("link"), Some("</swarm/takes/1>; rel=\"original\""));
    assert_eq!(answer.json()["recommendationId"], 1);
    assert_eq!(scene.world.takes().len(), 1);
}

#[test]
fn the_session_is_aggregated() {
    let scene = Scene::set();
    let aggregate = |tenant: &Tenant| {
        now(tenant.advance(SessionId(1), SessionState::Aggregated)).unwrap();
    };
    scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora")).expect(201);
    scene.meddle(aggregate);
    let answer = scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora"));
    let error = "amendment window closed (session already aggregated); the take on file stands";
    answer.refused(409, error);
    // A first take is governed by the window alone.
    scene.world.convene(DATE, "aurora");
    scene.meddle(|tenant| {
        now(tenant.advance(SessionId(2), SessionState::Aggregated)).unwrap();
    });
    scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora")).expect(201);
    assert_eq!(scene.world.takes().len(), 2);
}

#[test]
fn the_window_is_closed() {
    let scene = Scene::set();
    scene.meddle(|tenant| {
        let patch = SessionPatch { window_closes_at: Some(Some(Timestamp::EPOCH)), quorum: None };
        now(tenant.amend_session(SessionId(1), &patch)).unwrap();
    });
    let answer = scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora"));
    answer.refused(409, "submission window closed");
    assert_eq!(scene.world.takes().len(), 0);
}

#[test]
fn the_roster_is_frozen_or_the_member_excused() {
    let scene = Scene::set();
    let path = "/sessions/1/roster";
    let id = scene.author.id.clone();
    let members = json!({ "members": [{ "memberId": id.as_str() }] });
    scene.world.client.operate(path, &members).expect(200);
    scene.meddle(move |tenant| {
        now(tenant.excuse(SessionId(1), &id, true)).unwrap();
    });
    let answer = scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora"));
    answer.refused(403, "member is excused from this session");
    assert_eq!(scene.world.takes().len(), 0);
}

#[test]
fn the_member_is_deactivated() {
    let scene = Scene::set();
    let id = scene.author.id.clone();
    scene.meddle(move |tenant| {
        assert_eq!(now(tenant.deactivate(&id)).unwrap(), MemberState::Inactive);
    });
    let answer = scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora"));
    answer.refused(401, "unknown member token");
    assert_eq!(scene.world.takes().len(), 0);
}

#[test]
fn the_token_of_a_memo_is_replaced() {
    let scene = Scene::set();
    let id = scene.author.id.clone();
    scene.meddle_before("put_document", move |tenant| {
        now(tenant.rotate_key(&id, None)).unwrap();
    });
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    let bearer = scene.author.bearer();
    let answer = scene.world.client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo);
    answer.refused(401, "unknown member token");
    scene.check_meddled();
    scene.world.client.get("/api/swarm/memos/1").refused(404, "no such memo");
}

/// A newer session of the day takes the takes that are judged after it was convened; one that was
/// judged before may land in the older.
#[test]
fn a_newer_session_is_convened() {
    let scene = Scene::set();
    let store = scene.world.port();
    scene.meddle(move |_| {
        assert_eq!(crate::world::convene(&*store, DATE, "aurora"), 2);
    });
    scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora")).expect(201);
    scene.world.client.submit(&scene.author, scene.author.draft(DATE, "aurora")).expect(201);
    let takes = scene.world.takes();
    let last = takes.last().unwrap();
    assert_eq!((takes.len(), last.session_id), (2, SessionId(2)));
}

/// The revision is free, the nonce is not.
#[test]
fn the_nonce_is_spent_in_another_session() {
    let scene = Scene::set();
    scene.world.convene(DATE, "basalt");
    let draft = |subject: &str| {
        let fields = json!({ "date": DATE, "subjectId": subject, "nonce": "one" });
        scene.author.key.sign(scene.author.draft_of(fields))
    };
    let (token, elsewhere) = (scene.token(), Submission::new(draft("basalt")));
    scene.meddle(move |tenant| drop(now(tenant.submit(&token, &elsewhere)).unwrap()));
    let answer = scene.world.client.submit_text(&scene.author, &signed_text(&draft("aurora")));
    assert_eq!(answer.header("link"), None);
    let error = "nonce already used by this member (replay); mint a fresh nonce to amend";
    answer.refused(409, error);
    assert_eq!(scene.world.takes().len(), 1);
}

/// A take that comes in amid the aggregation is in the snapshot.
#[test]
fn a_take_comes_in_before_the_snapshot_is_written() {
    let scene = Scene::set();
    let (token, late) = (scene.token(), scene.submission());
    scene.meddle_before("save_session", move |tenant| {
        assert_eq!(now(tenant.submit(&token, &late)).unwrap().id.0, 1);
    });
    let state = json!({ "state": "aggregated" });
    let answer = scene.world.client.operate("/sessions/1/state", &state).expect(200).json();
    scene.check_meddled();
    let snapshot = &answer["session"]["snapshot"];
    assert_eq!(snapshot["participation"]["members"], 1);
    assert_eq!(snapshot["quotes"][0]["takeId"], 1);
}

/// Approved, with the proof that claims its token.
fn claimant(scene: &Scene) -> (MemberId, KeyPair, String) {
    let client = &scene.world.client;
    let (id, key) = Author::apply(client, "B");
    client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    let proof = Author::proof(client, &id, &key);
    (id, key, proof)
}

fn claim(scene: &Scene, proof: &str) -> Answer {
    scene.world.client.post("/api/swarm/token-claim", &[], proof)
}

#[test]
fn the_same_proof_comes_first() {
    let scene = Scene::set();
    let (_, _, proof) = claimant(&scene);
    let mut fields = Json::read(proof.as_bytes()).unwrap().into_object();
    let same = TokenClaim::read(&mut fields).unwrap();
    let token: Arc<Mutex<String>> = Arc::default();
    let first = Arc::clone(&token);
    scene.meddle_before("save_member", move |tenant| {
        now(tenant.claim(same)).unwrap().reveal().clone_into(&mut first.lock().unwrap());
    });
    claim(&scene, &proof).refused(409, "token already claimed");
    let bearer = format!("Bearer {}", token.lock().unwrap());
    let headers = [("authorization", bearer.as_str())];
    scene.world.client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(200);
}

#[test]
fn what_a_proof_relies_on_is_gone() {
    let scene = Scene::set();
    let (id, _, proof) = claimant(&scene);
    scene.meddle_before("save_member", move |tenant| drop(now(tenant.challenge(&id)).unwrap()));
    claim(&scene, &proof).refused(401, "token claim refused");
    scene.check_meddled();

    let (id, _, proof) = claimant(&scene);
    scene.meddle_before("save_member", move |tenant| {
        assert_eq!(now(tenant.deactivate(&id)).unwrap(), MemberState::Inactive);
    });
    claim(&scene, &proof).refused(401, "token claim refused");
    scene.check_meddled();

    let (_, _, proof) = claimant(&scene);
    let clock = scene.world.clock.clone();
    scene.meddle_before("save_member", move |_| clock.move_by(600_001));
    claim(&scene, &proof).refused(401, "token claim refused");
    scene.check_meddled();
}

#[test]
fn two_operators_move_one_member() {
    let scene = Scene::set();
    let (id, _) = Author::apply(&scene.world.client, "B");
    let member = json!({ "memberId": id.as_str() });
    scene.meddle_before("save_member", move |tenant| {
        assert_eq!(now(tenant.activate(&id, "http://a")).unwrap(), MemberState::Approved);
    });
    scene.world.client.operate("/reject", &member).refused(409, "member is approved");
    scene.check_meddled();
}
