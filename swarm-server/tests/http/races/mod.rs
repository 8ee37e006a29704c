//! Races: many clients send conflicting requests concurrently, over separate connections, to a store whose calls
//! interleave. On Redis and PostgreSQL they use two servers with wrong clocks, on SQLite two servers with the same file.

mod committee;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name};

use crate::backend::{Backend, on_every_store};
use crate::fixture::{Clock, Fixture};
use crate::harness::{Answer, Author, Client, fresh_key, signed_text};
use crate::observed_store::ObservedStore;
use crate::program::Program;
use crate::wrong_clocks::{on_one_file, wrong_clocks};

on_every_store! {
    racing_takes_win_each_revision_once,
    one_of_racing_copies_of_a_take_is_filed,
    one_of_racing_takes_with_the_same_nonce_is_filed,
    one_of_racing_claims_gets_the_token,
    one_of_racing_applications_with_the_same_key_is_accepted,
    aggregation_during_amendments_is_a_consistent_snapshot,
}

const DATE: &str = "2026-11-21";
const RACERS: usize = 64;
const ROUNDS: usize = 20;

const LOST_RACE: &str = "a concurrent submission from this member won the same revision; retry";
const CAP: &str = "amendment cap reached (5 takes per member per session)";
const NONCE_USED: &str = "nonce already used by this member (replay); mint a fresh nonce to amend";

/// A fixture whose requests interleave between any two store calls.
struct RaceFixture {
    fixture: Fixture,
    /// Other servers on its store, which the racers use instead of the fixture's own.
    servers: Vec<(Program, Clock)>,
}

impl RaceFixture {
    fn start(backend: &Backend) -> Self {
        let redis = backend.redis.as_ref().map(|redis| redis.url());
        let servers = match (redis.or(backend.postgres.clone()), &backend.folder) {
            (Some(url), _) => wrong_clocks(&url, &backend.clock),
            (None, Some(folder)) => on_one_file(folder, &backend.clock),
            (None, None) => {
                let clock = Clock::noon();
                let store = clock.store();
                let observed = ObservedStore::new(&store, |_| Ok(()));
                return Self { fixture: Fixture::serve(clock, store, observed), servers: vec![] };
            }
        };
        Self { fixture: Fixture::on(backend), servers: servers.into() }
    }

    /// The client of a racer, with its own connection.
    fn client(&self, racer: usize) -> Client {
        let address = match self.servers.len() {
            0 => self.fixture.server.address,
            count => self.servers[racer % count].0.client.address,
        };
        Client::new(address)
    }

    /// Runs `act` on a connection per racer, concurrently within a round; returns the results by round.
    fn race<T: Send>(&self, act: impl Fn(&Client, usize, usize) -> T + Sync) -> Vec<Vec<T>> {
        let start = Barrier::new(RACERS);
        let (start, act) = (&start, &act);
        let mut rounds: Vec<Vec<T>> = (0..ROUNDS).map(|_| vec![]).collect();
        thread::scope(|scope| {
            let racer = |racer: usize| {
                let client = self.client(racer);
                scope.spawn(move || {
                    client.get("/healthz").expect(200);
                    let round = |round| {
                        start.wait();
                        act(&client, round, racer)
                    };
                    (0..ROUNDS).map(round).collect::<Vec<_>>()
                })
            };
            let racers: Vec<_> = (0..RACERS).map(racer).collect();
            for racer in racers {
                for (round, outcome) in rounds.iter_mut().zip(racer.join().unwrap()) {
                    round.push(outcome);
                }
            }
        });
        rounds
    }
}

fn subject(round: usize) -> String {
    format!("round-{round}")
}

fn racing_takes_win_each_revision_once(backend: &Backend) {
    let races = RaceFixture::start(backend);
    let fixture = &races.fixture;
    let author = fixture.author();
    let sign = |round: usize| {
        fixture.convene(DATE, &subject(round));
        let sign = |_| signed_text(&author.key.sign(author.draft(DATE, &subject(round))));
        (0..RACERS).map(sign).collect()
    };
    let texts: Vec<Vec<String>> = (0..ROUNDS).map(sign).collect();
    let rounds =
        races.race(|client, round, racer| client.submit_text(&author, &texts[round][racer]));
    let mut lost = 0;
    for (round, answers) in rounds.into_iter().enumerate() {
        let mut filed = vec![];
        for answer in answers {
            let body = answer.json();
            if answer.status == 201 {
                filed.push(body["recommendationId"].as_u64().unwrap());
                continue;
            }
            let error = body["error"].as_str().unwrap().to_owned();
            assert!([LOST_RACE, CAP].contains(&error.as_str()), "{answer:?}");
            lost += usize::from(error == LOST_RACE);
            answer.refused(409, &error);
        }
        let takes = fixture.takes();
        let here = takes.iter().filter(|take| take.draft().subject_id.as_str() == subject(round));
        let on_file: BTreeMap<_, _> = here.map(|take| (take.revision.get(), take.id.0)).collect();
        let revisions: Vec<u8> = on_file.keys().copied().collect();
        assert!((1..=5).contains(&filed.len()), "{filed:?}");
        assert_eq!(revisions, (1..=5).take(filed.len()).collect::<Vec<u8>>());
        filed.sort_unstable();
        // A higher revision was filed later.
        assert_eq!(on_file.into_values().collect::<Vec<_>>(), filed);
    }
    println!("{lost} of {} lost a race", RACERS * ROUNDS);
}

fn one_of_racing_copies_of_a_take_is_filed(backend: &Backend) {
    let races = RaceFixture::start(backend);
    let fixture = &races.fixture;
    let author = fixture.author();
    let servers = [races.client(1), races.client(0)];
    let sign = |round: usize| {
        fixture.convene(DATE, &subject(round));
        // Two revisions before, through one server and then through another: what the first one knows is outdated.
        for server in &servers {
            server.submit(&author, author.draft(DATE, &subject(round))).expect(201);
        }
        signed_text(&author.key.sign(author.draft(DATE, &subject(round))))
    };
    let texts: Vec<String> = (0..ROUNDS).map(sign).collect();
    let rounds = races.race(|client, round, _| client.submit_text(&author, &texts[round]));
    for answers in rounds {
        let filed: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert_eq!(filed.len(), 1);
        let id = filed[0].json()["recommendationId"].clone();
        let link = format!("</swarm/takes/{id}>; rel=\"original\"");
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            let body = answer.json();
            let error = body["error"].as_str().unwrap();
            assert!([LOST_RACE, NONCE_USED].contains(&error), "{answer:?}");
            let stands = json!({
                "ok": false, "status": 409, "error": error, "recommendationId": id,
            });
            assert_eq!((answer.status, body), (409, stands));
            assert_eq!(answer.header("link"), Some(link.as_str()));
        }
    }
    assert_eq!(fixture.takes().len(), 3 * ROUNDS);
}

/// Different takes with the same nonce: one is filed, and the refusals of the others do not name it.
fn one_of_racing_takes_with_the_same_nonce_is_filed(backend: &Backend) {
    let races = RaceFixture::start(backend);
    let fixture = &races.fixture;
    let author = fixture.author();
    let sign = |round: usize| {
        fixture.convene(DATE, &subject(round));
        let sign = |racer: usize| {
            signed_text(&author.key.sign(author.draft_of(json!({
                "date": DATE, "subjectId": subject(round), "nonce": format!("nonce of {round}"),
                "body": format!("by {racer}"),
            }))))
        };
        (0..RACERS).map(sign).collect()
    };
    let texts: Vec<Vec<String>> = (0..ROUNDS).map(sign).collect();
    let rounds =
        races.race(|client, round, racer| client.submit_text(&author, &texts[round][racer]));
    for answers in rounds {
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        for answer in answers.into_iter().filter(|answer| answer.status != 201) {
            let error = answer.json()["error"].as_str().unwrap().to_owned();
            assert!([LOST_RACE, NONCE_USED].contains(&error.as_str()), "{answer:?}");
            assert_eq!(answer.header("link"), None);
            answer.refused(409, &error);
        }
    }
    assert_eq!(fixture.takes().len(), ROUNDS);
}

const HOST: &str = "127.0.0.1";

fn one_of_racing_claims_gets_the_token(backend: &Backend) {
    let races = RaceFixture::start(backend);
    let fixture = &races.fixture;
    let client = &fixture.client;
    let proof = |_| {
        let (id, key) = Author::apply(client, "A");
        client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
        // Challenges contain the requested host, which is the same for both servers.
        (id.clone(), Author::proof(&client.at(HOST), &id, &key))
    };
    let proofs: Vec<_> = (0..ROUNDS).map(proof).collect();
    let rounds = races.race(|client, round, _| {
        client.at(HOST).post("/api/swarm/token-claim", &[], &proofs[round].1)
    });
    for (answers, (id, _)) in rounds.into_iter().zip(&proofs) {
        let mut tokens = vec![];
        for answer in answers {
            match answer.status {
                201 => tokens.push(answer.json()["token"].as_str().unwrap().to_owned()),
                _ => answer.refused(409, "token already claimed"),
            }
        }
        assert_eq!(tokens.len(), 1);
        let bearer = format!("Bearer {}", tokens[0]);
        let headers = [("authorization", bearer.as_str())];
        let who = client.send("GET", "/api/swarm/verify-token", &headers, b"").expect(200);
        assert_eq!(who.json(), json!({ "memberId": id.as_str() }));
    }
}

fn one_of_racing_applications_with_the_same_key_is_accepted(backend: &Backend) {
    let races = RaceFixture::start(backend);
    let apply = |_| {
        let key = fresh_key();
        let sign = |racer: usize| {
            signed_text(&key.sign(Application {
                name: Name::parse(format!("racer {racer}")).unwrap(),
                contact: Contact::parse("c").unwrap(),
                lens: Lens::parse("").unwrap(),
                public_key: key.public_key().to_string(),
            }))
        };
        (0..RACERS).map(sign).collect()
    };
    let texts: Vec<Vec<String>> = (0..ROUNDS).map(apply).collect();
    let rounds = races
        .race(|client, round, racer| client.post("/api/swarm/apply", &[], &texts[round][racer]));
    for answers in rounds {
        let taken: Vec<Value> =
            answers.iter().filter(|answer| answer.status == 201).map(Answer::json).collect();
        assert_eq!(taken.len(), 1, "{answers:?}");
        let held = json!({
            "ok": false, "status": 409, "error": "public key already registered",
            "memberId": taken[0]["memberId"],
        });
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            assert_eq!((answer.status, answer.json()), (409, held.clone()));
        }
    }
}

/// A round of concurrent amendments, while an operator aggregates.
fn aggregate_during_amendments(races: &RaceFixture, round: usize) {
    let fixture = &races.fixture;
    const MEMBERS: usize = 12;
    let session = fixture.convene(DATE, &subject(round));
    let authors: Vec<Author> = (0..MEMBERS).map(|_| fixture.author()).collect();
    let start = Barrier::new(MEMBERS + 1);
    let start = &start;
    let frozen = thread::scope(|scope| {
        for (at, author) in authors.iter().enumerate() {
            let client = races.client(at);
            let sign = |_| signed_text(&author.key.sign(author.draft(DATE, &subject(round))));
            let texts: Vec<String> = (0..5).map(sign).collect();
            scope.spawn(move || {
                // A third of the members file before the race, so that there is something to amend.
                let early = usize::from(at.is_multiple_of(3));
                for text in &texts[..early] {
                    client.submit_text(author, text).expect(201);
                }
                start.wait();
                for text in &texts[early..] {
                    let answer = client.submit_text(author, text);
                    if answer.status != 201 {
                        answer.refused(409, "amendment window closed (session already aggregated); the take on file stands");
                    }
                }
            });
        }
        let client = races.client(0);
        client.get("/healthz").expect(200);
        start.wait();
        let path = format!("/sessions/{session}/state");
        let answer = client.operate(&path, &json!({ "state": "aggregated" })).expect(200);
        answer.json()["session"]["snapshot"].clone()
    });
    check_snapshot(fixture, session, &frozen);
    // Later takes do not change the snapshot.
    let late = fixture.author();
    fixture.client.submit(&late, late.draft(DATE, &subject(round))).expect(201);
    fixture
        .client
        .operate(&format!("/sessions/{session}/state"), &json!({ "state": "published" }))
        .expect(200);
    check_snapshot(fixture, session, &frozen);
}

/// Checks that the snapshot quotes the highest revisions filed before it, and is read as written.
fn check_snapshot(fixture: &Fixture, session: u64, frozen: &Value) {
    let read = fixture.client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    assert_eq!(read["session"]["snapshot"], *frozen);
    let quotes = frozen["quotes"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let quoted: HashMap<&str, &Value> =
        quotes.iter().map(|quote| (quote["memberId"].as_str().unwrap(), quote)).collect();
    assert_eq!(quoted.len(), quotes.len());
    assert_eq!(frozen["participation"]["members"], quotes.len());
    let takes = fixture.takes();
    let takes: Vec<_> = takes.iter().filter(|take| take.session_id.0 == session).collect();
    // Every take filed before the snapshot is of a quoted member; members who are not quoted filed
    // later.
    let last = takes.iter().filter(|take| quoted.contains_key(take.draft().member_id.as_str()));
    let last = last.map(|take| take.id.0).max().unwrap_or(0);
    let mut latest: HashMap<&str, (u64, u64)> = HashMap::new();
    for take in &takes {
        let member = take.draft().member_id.as_str();
        latest.insert(member, (take.id.0, take.revision.get().into()));
        let late = !quoted.contains_key(member);
        assert!(!late || (take.id.0 > last && take.revision.get() == 1), "{take:?} after {last}");
    }
    for (member, quote) in quoted {
        let (id, revision) = latest[member];
        assert_eq!((number(&quote["takeId"]), number(&quote["revision"])), (id, revision));
        assert_eq!(quote["body"], "A take.");
    }
}

fn aggregation_during_amendments_is_a_consistent_snapshot(backend: &Backend) {
    let races = RaceFixture::start(backend);
    for round in 0..ROUNDS {
        aggregate_during_amendments(&races, round);
    }
    let ids: HashSet<_> = races.fixture.takes().iter().map(|take| take.id).collect();
    assert_eq!(ids.len(), races.fixture.takes().len());
}
