//! Changes between a judgement and its commit.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use swarm_core::domain::{
    Actor, Attribution, Form, MemberState, SessionPatch, SessionState, Signed, Timestamp,
    TokenClaim, TokenHash,
};
use swarm_core::json::Json;
use swarm_core::proof::KeyPair;
use swarm_core::rules::Submission;
use swarm_core::{MemberId, SessionId, Swarm, SystemEntropy, Tenant, TenantId};

use crate::fixture::{Clock, Fixture, now};
use crate::harness::{Answer, Author, signed_text};
use crate::observed_store::observed_store;

const DATE: &str = "2026-11-21";

type Interference = Box<dyn FnOnce(&Tenant) + Send>;

/// Runs an interfering change once, right before the next call of a given store method.
struct Interleaving {
    fixture: Fixture,
    author: Author,
    interfere: Arc<Mutex<Option<(&'static str, Interference)>>>,
}

impl Interleaving {
    fn start() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let interfere: Arc<Mutex<Option<(&'static str, Interference)>>> = Arc::default();
        let tenant = OnceLock::new();
        let observed = {
            let (interfere, direct) = (Arc::clone(&interfere), store.clone());
            observed_store(&store, move |call| {
                let due = |next: &mut (&str, Interference)| !call.done && next.0 == call.op;
                let next = interfere.lock().unwrap().take_if(due);
                if let Some((_, interfere)) = next {
                    let id = || TenantId::parse("default").unwrap();
                    let swarm = || Swarm::new(direct.clone(), SystemEntropy).tenant(&id());
                    interfere(tenant.get_or_init(swarm));
                }
                Ok(())
            })
        };
        let fixture = Fixture::serve(clock, store, observed);
        fixture.convene(DATE, "aurora");
        let author = fixture.author();
        Self { fixture, author, interfere }
    }

    /// Runs `interfere` right before the next take is filed.
    fn interfere(&self, interfere: impl FnOnce(&Tenant) + Send + 'static) {
        self.interfere_before("file", interfere);
    }

    fn interfere_before(&self, op: &'static str, interfere: impl FnOnce(&Tenant) + Send + 'static) {
        *self.interfere.lock().unwrap() = Some((op, Box::new(interfere)));
    }

    /// Checks that the change has run.
    fn assert_interfered(&self) {
        assert!(self.interfere.lock().unwrap().is_none());
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
fn concurrent_take_wins_the_revision() {
    let interleaving = Interleaving::start();
    let (token, other) = (interleaving.token(), interleaving.submission());
    interleaving
        .interfere(move |tenant| assert_eq!(now(tenant.submit(&token, &other)).unwrap().id.0, 1));
    let draft = interleaving.author.draft(DATE, "aurora");
    let answer = interleaving.fixture.client.submit(&interleaving.author, draft.clone());
    assert_eq!(answer.header("link"), None);
    answer.refused(409, "a concurrent submission from this member won the same revision; retry");
    assert_eq!(interleaving.fixture.takes().len(), 1);
    // The losing take may be sent again unchanged.
    let again = interleaving.fixture.client.submit(&interleaving.author, draft).expect(201);
    assert_eq!(again.json()["recommendationId"], 2);
}

#[test]
fn same_take_is_filed_first() {
    let interleaving = Interleaving::start();
    let draft = interleaving.author.draft(DATE, "aurora");
    let (token, same) =
        (interleaving.token(), Submission::new(interleaving.author.key.sign(draft.clone())));
    interleaving
        .interfere(move |tenant| assert_eq!(now(tenant.submit(&token, &same)).unwrap().id.0, 1));
    let answer = interleaving.fixture.client.submit(&interleaving.author, draft).expect(409);
    assert_eq!(answer.header("link"), Some("</swarm/takes/1>; rel=\"original\""));
    assert_eq!(answer.json()["recommendationId"], 1);
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

#[test]
fn session_aggregated_before_the_commit() {
    let interleaving = Interleaving::start();
    let aggregate = |tenant: &Tenant| {
        now(tenant.advance(SessionId(1), SessionState::Aggregated, &Attribution::SCHEDULE))
            .unwrap();
    };
    interleaving.submit().expect(201);
    interleaving.interfere(aggregate);
    let answer = interleaving.submit();
    let error = "amendment window closed (session already aggregated); the take on file stands";
    answer.refused(409, error);
    // A first take is governed by the window alone.
    interleaving.fixture.convene(DATE, "aurora");
    interleaving.interfere(|tenant| {
        now(tenant.advance(SessionId(2), SessionState::Aggregated, &Attribution::SCHEDULE))
            .unwrap();
    });
    interleaving.submit().expect(201);
    assert_eq!(interleaving.fixture.takes().len(), 2);
}

#[test]
fn window_closed_before_the_commit() {
    let interleaving = Interleaving::start();
    interleaving.interfere(|tenant| {
        let patch = SessionPatch {
            window_closes_at: Some(Some(Timestamp::EPOCH)),
            quorum: None,
            ..SessionPatch::default()
        };
        now(tenant.amend_session(SessionId(1), &patch, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(409, "submission window closed");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn roster_frozen_or_member_excused_before_the_commit() {
    let interleaving = Interleaving::start();
    let path = "/sessions/1/roster";
    let id = interleaving.author.id.clone();
    let members = json!({ "members": [{ "memberId": id.as_str() }] });
    interleaving.fixture.client.operate(path, &members).expect(200);
    interleaving.interfere(move |tenant| {
        now(tenant.excuse(SessionId(1), &id, true, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(403, "member is excused from this session");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn member_deactivated_before_the_commit() {
    let interleaving = Interleaving::start();
    let id = interleaving.author.id.clone();
    interleaving.interfere(move |tenant| {
        assert_eq!(now(tenant.deactivate(&id, &Actor::SCHEDULE)).unwrap(), MemberState::Inactive);
    });
    interleaving.submit().refused(401, "unknown member token");
    assert_eq!(interleaving.fixture.takes().len(), 0);
}

#[test]
fn token_rotated_before_a_memo_is_published() {
    let interleaving = Interleaving::start();
    let id = interleaving.author.id.clone();
    interleaving.interfere_before("put document", move |tenant| {
        now(tenant.rotate_key(&id, None, &Actor::SCHEDULE)).unwrap();
    });
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    let bearer = interleaving.author.bearer();
    let answer =
        interleaving.fixture.client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo);
    answer.refused(401, "unknown member token");
    interleaving.assert_interfered();
    interleaving.fixture.client.get("/api/swarm/memos/1").refused(404, "no such memo");
}

/// The take is judged again for the newer session: it is filed there, or refused by its rules.
#[test]
fn newer_session_convened_before_the_commit() {
    let interleaving = Interleaving::start();
    let store = interleaving.fixture.port();
    interleaving.interfere(move |_| {
        assert_eq!(crate::fixture::convene(&store, DATE, "aurora"), 2);
    });
    interleaving.submit().expect(201);
    interleaving.assert_interfered();
    let landed = |take: &std::sync::Arc<swarm_core::Take>| take.session_id;
    assert_eq!(interleaving.fixture.takes().iter().map(landed).collect::<Vec<_>>(), [SessionId(2)]);

    let store = interleaving.fixture.port();
    interleaving.interfere(move |tenant| {
        assert_eq!(crate::fixture::convene(&store, DATE, "aurora"), 3);
        let patch = SessionPatch {
            window_closes_at: Some(Some(Timestamp::EPOCH)),
            quorum: None,
            ..SessionPatch::default()
        };
        now(tenant.amend_session(SessionId(3), &patch, &Attribution::SCHEDULE)).unwrap();
    });
    interleaving.submit().refused(409, "submission window closed");
    interleaving.assert_interfered();
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

/// The revision is free, the nonce is not.
#[test]
fn nonce_spent_in_another_session_before_the_commit() {
    let interleaving = Interleaving::start();
    interleaving.fixture.convene(DATE, "basalt");
    let draft = |subject: &str| {
        let fields = json!({ "date": DATE, "subjectId": subject, "nonce": "one" });
        interleaving.author.key.sign(interleaving.author.draft_of(fields))
    };
    let (token, elsewhere) = (interleaving.token(), Submission::new(draft("basalt")));
    interleaving.interfere(move |tenant| drop(now(tenant.submit(&token, &elsewhere)).unwrap()));
    let answer = interleaving
        .fixture
        .client
        .submit_text(&interleaving.author, &signed_text(&draft("aurora")));
    assert_eq!(answer.header("link"), None);
    let error = "nonce already used by this member (replay); mint a fresh nonce to amend";
    answer.refused(409, error);
    assert_eq!(interleaving.fixture.takes().len(), 1);
}

/// A take filed during the aggregation is in the snapshot.
#[test]
fn take_filed_before_the_snapshot_is_written() {
    let interleaving = Interleaving::start();
    let (token, late) = (interleaving.token(), interleaving.submission());
    interleaving.interfere_before("save session", move |tenant| {
        assert_eq!(now(tenant.submit(&token, &late)).unwrap().id.0, 1);
    });
    let state = json!({ "state": "aggregated" });
    let answer =
        interleaving.fixture.client.operate("/sessions/1/state", &state).expect(200).json();
    interleaving.assert_interfered();
    let snapshot = &answer["session"]["snapshot"];
    assert_eq!(snapshot["participation"]["members"], 1);
    assert_eq!(snapshot["quotes"][0]["takeId"], 1);
}

/// An approved member with a valid proof.
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
fn same_proof_claims_first() {
    let interleaving = Interleaving::start();
    let (_, _, proof) = claimant(&interleaving);
    let mut fields = Json::read(proof.as_bytes()).unwrap().into_object();
    let same = Signed::<TokenClaim>::read(&mut fields).unwrap();
    let token: Arc<Mutex<String>> = Arc::default();
    let first = Arc::clone(&token);
    let service = format!("http://{}", interleaving.fixture.client.address);
    interleaving.interfere_before("save member", move |tenant| {
        now(tenant.claim(same, &service)).unwrap().reveal().clone_into(&mut first.lock().unwrap());
    });
    claim(&interleaving, &proof).refused(409, "token already claimed");
    let bearer = format!("Bearer {}", token.lock().unwrap());
    let headers = [("authorization", bearer.as_str())];
    interleaving.fixture.client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(200);
}

#[test]
fn proof_is_refused_when_its_facts_have_changed() {
    let interleaving = Interleaving::start();
    let (id, _, proof) = claimant(&interleaving);
    let clock = interleaving.fixture.clock.clone();
    interleaving.interfere_before("save member", move |tenant| {
        // A challenge requested within five minutes would be the same.
        clock.move_by(301_000);
        drop(now(tenant.challenge(&id, "http://test.example")).unwrap());
    });
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.assert_interfered();

    let (id, _, proof) = claimant(&interleaving);
    interleaving.interfere_before("save member", move |tenant| {
        assert_eq!(now(tenant.deactivate(&id, &Actor::SCHEDULE)).unwrap(), MemberState::Inactive);
    });
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.assert_interfered();

    let (_, _, proof) = claimant(&interleaving);
    let clock = interleaving.fixture.clock.clone();
    interleaving.interfere_before("save member", move |_| clock.move_by(600_001));
    claim(&interleaving, &proof).refused(401, "token claim refused");
    interleaving.assert_interfered();
}

#[test]
fn two_operators_change_one_member() {
    let interleaving = Interleaving::start();
    let (id, _) = Author::apply(&interleaving.fixture.client, "B");
    let member = json!({ "memberId": id.as_str() });
    interleaving.interfere_before("save member", move |tenant| {
        assert_eq!(
            now(tenant.activate(&id, "http://a", &Actor::SCHEDULE)).unwrap(),
            MemberState::Approved
        );
    });
    interleaving.fixture.client.operate("/reject", &member).refused(409, "member is approved");
    interleaving.assert_interfered();
}
