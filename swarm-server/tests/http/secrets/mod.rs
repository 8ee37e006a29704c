//! Secrets that never reach the store, and answers that do not reveal whether a member exists.

mod broken;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use swarm_core::MemberId;

use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Author, fresh_key};
use crate::observed_store::observed_store;

const DATE: &str = "2026-11-21";
const CHALLENGE: &str = "/api/swarm/token-claim/challenge";

/// A fixture that records all calls of its store.
pub struct SpiedFixture {
    pub fixture: Fixture,
    heard: Arc<Mutex<Vec<(&'static str, String)>>>,
}

impl SpiedFixture {
    pub fn start() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let heard: Arc<Mutex<Vec<(&'static str, String)>>> = Arc::default();
        let spy = {
            let heard = Arc::clone(&heard);
            observed_store(&store, move |call| {
                if !call.done {
                    heard.lock().unwrap().push((call.op, call.arguments.to_owned()));
                }
                Ok(())
            })
        };
        Self { fixture: Fixture::serve(clock, store, spy), heard }
    }

    pub fn heard(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }
}

#[test]
fn tokens_and_challenges_never_reach_the_store() {
    let spied = SpiedFixture::start();
    let client = &spied.fixture.client;
    client.convene(DATE, "aurora");
    let (id, key) = Author::apply(client, "Ada");
    let member = json!({ "memberId": id.as_str() });
    client.operate("/activate", &member).expect(200);
    let proof = Author::proof(client, &id, &key);
    let challenge = serde_json::from_str::<Value>(&proof).unwrap()["challenge"].clone();
    let claimed = client.post("/api/swarm/token-claim", &[], &proof).expect(201).json();
    client.post("/api/swarm/token-claim", &[], &proof).expect(409);
    let token = claimed["token"].as_str().unwrap().to_owned();
    let author = Author { id, key, token: token.clone() };
    let take = author.draft(DATE, "aurora");
    client.submit(&author, take.clone()).expect(201);
    client.submit(&author, take).expect(409);
    let bearer = author.bearer();
    let headers = [("authorization", bearer.as_str())];
    client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(200);
    client.operate("/deactivate", &member).expect(200);
    client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(401);

    let heard = spied.heard();
    let methods: BTreeSet<_> = heard.iter().map(|(method, _)| *method).collect();
    for method in ["now", "member", "save member", "give challenge", "basis", "file", "bearer"] {
        assert!(methods.contains(method), "{method} was not heard: {methods:?}");
    }
    // The recording works: it contains text that is not secret.
    for (method, text) in [("save member", author.id.as_str()), ("file", "A take.")] {
        assert!(heard.iter().any(|(name, said)| *name == method && said.contains(text)));
    }
    let uuid = token.rsplit('_').next().unwrap();
    let challenge = challenge.as_str().unwrap();
    // The hashes of the token and the challenge are what is stored.
    for secret in [&*token, uuid, challenge, ADMIN] {
        for (method, said) in &heard {
            assert!(!said.contains(secret), "{method} was told {secret}: {said}");
        }
    }
}

/// A member id per state, and an unknown one, all of the same length.
fn members(fixture: &Fixture) -> Vec<(&'static str, MemberId)> {
    let client = &fixture.client;
    let operate = |path: &str, id: &MemberId| {
        client.operate(path, &json!({ "memberId": id.as_str() })).expect(200);
    };
    let unknown = MemberId::parse("2a5c1d1e-0000-4000-8000-000000000000").unwrap();
    let mut members = vec![("unknown", unknown)];
    for state in ["applied", "rejected", "approved", "claimed", "inactive", "inactive, claimed"] {
        let (id, key) = Author::apply(client, "A");
        match state {
            "applied" => {}
            "rejected" => operate("/reject", &id),
            _ => operate("/activate", &id),
        }
        if state.contains("claimed") {
            Author::claim(client, &id, &key).expect(201);
        }
        if state.contains("inactive") {
            operate("/deactivate", &id);
        }
        members.push((state, id));
    }
    members
}

/// Status, headers, the length of each field, the calls of the store.
type Seen = (u16, Vec<String>, Vec<(String, usize)>, Vec<&'static str>);

/// What an observer sees of a challenge: its answer without the random parts, and the store calls.
fn seen(spied: &SpiedFixture, id: &MemberId) -> Seen {
    spied.heard();
    let body = json!({ "memberId": id.as_str() }).to_string();
    let answer = spied.fixture.client.post(CHALLENGE, &[], &body);
    let own = |name: &str| matches!(name, "date" | "x-request-id");
    let headers = answer.headers.iter().filter(|(name, _)| !own(name.as_str()));
    let headers = headers.map(|(name, value)| format!("{name}: {value:?}")).collect();
    let fields = answer.json();
    assert_eq!(fields["memberId"], id.as_str());
    assert_eq!(fields["expiresAt"], spied.fixture.clock.after(600_000));
    let fields = fields.as_object().unwrap().iter();
    let lengths = fields.map(|(key, value)| (key.clone(), value.as_str().unwrap().len())).collect();
    let calls = spied.heard().into_iter().map(|(method, _)| method).collect();
    (answer.status, headers, lengths, calls)
}

#[test]
fn challenges_do_not_reveal_members() {
    let spied = SpiedFixture::start();
    let members = members(&spied.fixture);
    let expected = seen(&spied, &members[0].1);
    assert_eq!(expected.0, 200);
    for (state, id) in &members {
        for _ in 0..2 {
            assert_eq!(seen(&spied, id), expected, "{state}");
        }
    }
    // The order of fields and the shape of the text are the same, too.
    let shape = |id: &MemberId| {
        let body = json!({ "memberId": id.as_str() }).to_string();
        let text = spied.fixture.client.post(CHALLENGE, &[], &body).expect(200).text;
        let keys = text.split('"').skip(1).step_by(4).map(str::to_owned);
        (text.len(), keys.collect::<Vec<_>>())
    };
    let first = shape(&members[0].1);
    assert!(members.iter().all(|(_, id)| shape(id) == first));
}

/// Refused claims are identical for all of them.
#[test]
fn refused_claims_do_not_reveal_members() {
    let spied = SpiedFixture::start();
    let key = fresh_key();
    let mut answers = BTreeSet::new();
    for (state, id) in members(&spied.fixture) {
        let proof = Author::proof(&spied.fixture.client, &id, &key);
        spied.heard();
        let answer = spied.fixture.client.post("/api/swarm/token-claim", &[], &proof);
        let calls: Vec<_> = spied.heard().into_iter().map(|(method, _)| method).collect();
        assert_eq!(answer.status, 401, "{state}: {answer:?}");
        answers.insert((answer.text, calls));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
}
