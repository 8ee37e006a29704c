//! What others do between a judgement and its commit.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use swarm_core::domain::{
    Actor, Attribution, MemberState, SessionPatch, SessionState, Timestamp, TokenClaim, TokenHash,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::rules::Submission;
use swarm_core::{MemberId, SessionId, Swarm, SystemEntropy, Tenant, TenantId};

use crate::fixture::{Clock, Fixture, now};
use crate::harness::{Answer, Author, signed_text};
use crate::observed_store::ObservedStore;

const DATE: &str = "2026-11-21";

type Interference = Box<dyn FnOnce(&Tenant) + Send>;

/// Runs what is to be run once, right before the next call of a method of the store.
struct Interleaving {
    fixture: Fixture,
    author: Author,
    meddle: Arc<Mutex<Option<(&'static str, Interference)>>>,
}

impl Interleaving {
    fn start() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let meddle: Arc<Mutex<Option<(&'static str, Interference)>>> = Arc::default();
        let tenant = OnceLock::new();
        let observed = {
            let (meddle, direct) = (Arc::clone(&meddle), store.clone());
            ObservedStore::new(&store, move |call| {
                let due = |next: &mut (&str, Interference)| !call.done && next.0 == call.method;
                let next = meddle.lock().unwrap().take_if(due);
                if let Some((_, meddle)) = next {
                    let id = || TenantId::parse("default").unwrap();
                    let swarm = || Swarm::new(direct.clone(), SystemEntropy).tenant(&id());
                    meddle(tenant.get_or_init(swarm));
                }
                Ok(())
            })
        };
        let fixture = Fixture::serve(clock, store, observed);
        fixture.convene(DATE, "aurora");
        let author = fixture.author();
        Self { fixture, author, meddle }
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

    fn submit(&self) -> Answer {
        self.fixture.client.submit(&self.author, self.author.draft(DATE, "aurora"))
    }

    fn submission(&self) -> Submission {
        Submission::new(self.author.key.sign(self.author.draft(DATE, "aurora")))
    }

    fn token(&self) -> TokenHash {
        TokenHash::of(self.author.token.as_bytes())
    }
}

#[test]
fn another_take_of_the_member_wins_the_revision() {
    let interleaving = Interleaving::start();
    let (token, other) = (interleaving.token(), interleaving.submission());
    interleaving
        .meddle(move |tenant| assert_eq!(now(tenant.submit(&token, &other)).unwrap().id.0, 1));
    let draft = interleaving.author.draft(DATE, "aurora");
    let answer = interleaving.fixture.client.submit(&interleaving.author, draft.clone());
    assert_eq!(answer.header("link"), None);
    answer.refused(409, "a concurrent submission from this member won the same revision; retry");
    assert_eq!(interleaving.fixture.takes().len(), 1);
    // What lost may be sent again as it is.
    let again = interleaving.fixture.client.submit(&interleaving.author, draft).expect(201);
    assert_eq!(again.json()["recommendationId"], 2);
}

#[test]
fn the_very_same_take_comes_first() {
    let interleaving = Interleaving::start();
    let draft = interleaving.author.draft(DATE, "aurora");
    let (token, same) =
        (interleaving.token(), Submission::new(interleaving.author.key.sign(draft.clone())));
    interleaving
        .meddle(move |tenant| assert_eq!(now(tenant.submit(&token, &same)).unwrap().id.0, 1));
    let answer = interleaving.fixture.client.submit(&interleaving.author, draft).expect(409);
    assert_eq!(answer.header("link"), Some("</swarm/takes/1>; rel=\"original\""));
    assert_eq!(answer.json()["recommendationId"], 1);
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

#[test]
fn the_session_is_aggregated() {
    let interleaving = Interleaving::start();
    let aggregate = |tenant: &Tenant| {
        now(tenant.advance(SessionId(1), SessionState::Aggregated, &Attribution::SCHEDULE))
            .unwrap();
    };
    interleaving.submit().expect(201);
    interleaving.meddle(aggregate);
    let answer = interleaving.submit();
    let error = "amendment window closed (session already aggregated); the take on file stands";
    answer.refused(409, error);
    // A first take is governed by the window alone.
    interleaving.fixture.convene(DATE, "aurora");
    interleaving.meddle(|tenant| {
        now(tenant.advance(SessionId(2), SessionState::Aggregated, &Attribution::SCHEDULE))
            .unwrap();
    });
    interleaving.submit().expect(201);
    assert_eq!(interleaving.fixture.takes().len(), 2);
}

#[test]
fn the_window_is_closed() {
    let interleaving = Interleaving::start();
    interleaving.meddle(|tenant| {
        let patch = SessionPatch { window_closes_at: Some(Some(Timestamp::EPOCH)), quorum: None };
        now(tenant.amend_session(SessionId(1), &patch, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(409, "submission window closed");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn the_roster_is_frozen_or_the_member_excused() {
    let interleaving = Interleaving::start();
    let path = "/sessions/1/roster";
    let id = interleaving.author.id.clone();
    let members = json!({ "members": [{ "memberId": id.as_str() }] });
    interleaving.fixture.client.operate(path, &members).expect(200);
    interleaving.meddle(move |tenant| {
        now(tenant.excuse(SessionId(1), &id, true, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(403, "member is excused from this session");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn the_member_is_deactivated() {
    let interleaving = Interleaving::start();
    let id = interleaving.author.id.clone();
    interleaving.meddle(move |tenant| {
        assert_eq!(now(tenant.deactivate(&id, &Actor::SCHEDULE)).unwrap(), MemberState::Inactive);
    });
    interleaving.submit().refused(401, "unknown member token");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn the_token_of_a_memo_is_replaced() {
    let interleaving = Interleaving::start();
    let id = interleaving.author.id.clone();
    interleaving.meddle_before("put_document", move |tenant| {
        now(tenant.rotate_key(&id, None, &Actor::SCHEDULE)).unwrap();
    });
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    let bearer = interleaving.author.bearer();
    let answer =
        interleaving.fixture.client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo);
    answer.refused(401, "unknown member token");
    interleaving.check_meddled();
    interleaving.fixture.client.get("/api/swarm/memos/1").refused(404, "no such memo");
}

/// A take is judged again for a newer session that is convened before its commit: it lands there,
/// or is refused by that one's rules.
#[test]
fn a_newer_session_is_convened() {
    let interleaving = Interleaving::start();
    let store = interleaving.fixture.port();
    interleaving.meddle(move |_| {
        assert_eq!(crate::fixture::convene(&*store, DATE, "aurora"), 2);
    });
    interleaving.submit().expect(201);
    interleaving.check_meddled();
    let landed = |take: &std::sync::Arc<swarm_core::Take>| take.session_id;
    assert_eq!(interleaving.fixture.takes().iter().map(landed).collect::<Vec<_>>(), [SessionId(2)]);

    let store = interleaving.fixture.port();
    interleaving.meddle(move |tenant| {
        assert_eq!(crate::fixture::convene(&*store, DATE, "aurora"), 3);
        let patch = SessionPatch { window_closes_at: Some(Some(Timestamp::EPOCH)), quorum: None };
        now(tenant.amend_session(SessionId(3), &patch, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(409, "submission window closed");
    interleaving.check_meddled();
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

/// The revision is free, the nonce is not.
#[test]
fn the_nonce_is_spent_in_another_session() {
    let interleaving = Interleaving::start();
    interleaving.fixture.convene(DATE, "basalt");
    let draft = |subject: &str| {
        let fields = json!({ "date": DATE, "subjectId": subject, "nonce": "one" });
        interleaving.author.key.sign(interleaving.author.draft_of(fields))
    };
    let (token, elsewhere) = (interleaving.token(), Submission::new(draft("basalt")));
    interleaving.meddle(move |tenant| drop(now(tenant.submit(&token, &elsewhere)).unwrap()));
    let answer = interleaving
        .fixture
        .client
        .submit_text(&interleaving.author, &signed_text(&draft("aurora")));
    assert_eq!(answer.header("link"), None);
    let error = "nonce already used by this member (replay); mint a fresh nonce to amend";
    answer.refused(409, error);
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

/// A take that comes in amid the aggregation is in the snapshot.
#[test]
fn a_take_comes_in_before_the_snapshot_is_written() {
    let interleaving = Interleaving::start();
    let (token, late) = (interleaving.token(), interleaving.submission());
    interleaving.meddle_before("aggregate", move |tenant| {
        assert_eq!(now(tenant.submit(&token, &late)).unwrap().id.0, 1);
    });
    let state = json!({ "state": "aggregated" });
    let answer =
        interleaving.fixture.client.operate("/sessions/1/state", &state).expect(200).json();
    interleaving.check_meddled();
    let snapshot = &answer["session"]["snapshot"];
    assert_eq!(snapshot["participation"]["members"], 1);
    assert_eq!(snapshot["quotes"][0]["takeId"], 1);
}

/// Approved, with the proof that claims its token.
fn claimant(interleaving: &Interleaving) -> (MemberId, KeyPair, String) {
    let client = &interleaving.fixture.client;
    let (id, key) = Author::apply(client, "B");
    client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    let proof = Author::proof(client, &id, &key);
    (id, key, proof)
}

fn claim(interleaving: &Interleaving, proof: &str) -> Answer {
    interleaving.fixture.client.post("/api/swarm/token-claim", &[], proof)
}

#[test]
fn the_same_proof_comes_first() {
    let interleaving = Interleaving::start();
    let (_, _, proof) = claimant(&interleaving);
    let mut fields = Json::read(proof.as_bytes()).unwrap().into_object();
    let same = TokenClaim::read(&mut fields).unwrap();
    let token: Arc<Mutex<String>> = Arc::default();
    let first = Arc::clone(&token);
    let service = format!("http://{}", interleaving.fixture.client.address);
    interleaving.meddle_before("save_member", move |tenant| {
        now(tenant.claim(same, &service)).unwrap().reveal().clone_into(&mut first.lock().unwrap());
    });
    claim(&interleaving, &proof).refused(409, "token already claimed");
    let bearer = format!("Bearer {}", token.lock().unwrap());
    let headers = [("authorization", bearer.as_str())];
    interleaving.fixture.client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(200);
}

#[test]
fn what_a_proof_relies_on_is_gone() {
    let interleaving = Interleaving::start();
    let (id, _, proof) = claimant(&interleaving);
    let clock = interleaving.fixture.clock.clone();
    interleaving.meddle_before("save_member", move |tenant| {
        // Within five minutes it would be the same one.
        clock.move_by(301_000);
        drop(now(tenant.challenge(&id, "http://test.example")).unwrap());
    });
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.check_meddled();

    let (id, _, proof) = claimant(&interleaving);
    interleaving.meddle_before("save_member", move |tenant| {
        assert_eq!(now(tenant.deactivate(&id, &Actor::SCHEDULE)).unwrap(), MemberState::Inactive);
    });
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.check_meddled();

    let (_, _, proof) = claimant(&interleaving);
    let clock = interleaving.fixture.clock.clone();
    interleaving.meddle_before("save_member", move |_| clock.move_by(600_001));
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.check_meddled();
}

#[test]
fn two_operators_move_one_member() {
    let interleaving = Interleaving::start();
    let (id, _) = Author::apply(&interleaving.fixture.client, "B");
    let member = json!({ "memberId": id.as_str() });
    interleaving.meddle_before("save_member", move |tenant| {
        assert_eq!(
            now(tenant.activate(&id, "http://a", &Actor::SCHEDULE)).unwrap(),
            MemberState::Approved
        );
    });
    interleaving.fixture.client.operate("/reject", &member).refused(409, "member is approved");
    interleaving.check_meddled();
}
