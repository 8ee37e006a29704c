//! The opening, through two servers on one store that have seen nothing of each other: what they cached, races, and outages.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};
use swarm_core::service::BlindSessions;
use swarm_core::{MemberId, Swarm, SystemEntropy, Tenant, TenantId};

use crate::backend::{Backend, now, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, Server};

on_every_store! {
    no_server_serves_what_it_cached_before_the_opening,
    takes_that_race_with_the_opening_are_sealed_or_open,
}

const DAY: &str = "2026-11-21";

/// What every body begins with.
const SAID: &str = "Rates fall. ";

/// Paths that show what the takes say once they are opened.
const PATHS: [&str; 8] = [
    "/api/swarm/sessions/1",
    "/api/swarm/sessions/2026-11-21/aurora",
    "/api/swarm/takes/1",
    "/swarm/members/ada/feed.xml",
    "/swarm/sessions/1",
    "/swarm/sessions/1.json",
    "/swarm/takes",
    "/swarm/takes/1",
];

/// Two servers on one store.
struct Servers {
    fixture: Fixture,
    other: Server,
    backend: Backend,
}

impl Servers {
    fn on(backend: &Backend) -> Self {
        let (fixture, other) = (Fixture::on(backend), Server::on(backend.opened_again()));
        Self { fixture, other, backend: backend.clone() }
    }

    fn clients(&self) -> [Client; 2] {
        [&self.fixture.server, &self.other].map(Server::client)
    }

    /// The service in a third process.
    fn tenant(&self) -> Tenant {
        let swarm = Swarm::new(self.backend.opened_again(), SystemEntropy);
        swarm.tenant(&TenantId::parse("default").unwrap())
    }
}

fn no_server_serves_what_it_cached_before_the_opening(backend: &Backend) {
    let servers = Servers::on(backend);
    let clients = servers.clients();
    let session = convene(&clients[0], "aurora", Value::Null);
    let body = SAID.repeat(800);
    for name in ["ada", "grace", "hedy", "lise"] {
        let author = servers.fixture.author_named(MemberId::parse(name).unwrap());
        let say = json!({ "date": DAY, "subjectId": "aurora", "body": body });
        clients[0].submit(&author, author.draft_of(say)).expect(201);
    }
    let tags = clients.each_ref().map(|client| {
        PATHS.map(|path| {
            let [first, second] = [0, 1].map(|_| client.get(path).expect(200));
            assert!(!first.text.contains(SAID) && first.text == second.text, "{path}");
            second.header("etag").unwrap().to_owned()
        })
    });

    let [begun, done, over] = [0; 3].map(|_| AtomicBool::new(false));
    let (begun, done, over) = (&begun, &done, &over);
    thread::scope(|scope| {
        for client in servers.clients() {
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    for path in PATHS {
                        let must_be_open = done.load(Ordering::SeqCst);
                        let answer = client.get(path).expect(200);
                        let is_open = answer.text.contains(SAID);
                        assert!(is_open || !must_be_open, "{path} is sealed after the opening");
                        assert!(begun.load(Ordering::SeqCst) || !is_open, "{path} is open");
                        assert!(is_whole(path, &answer.text), "{path} is half open");
                    }
                }
            });
        }
        begun.store(true, Ordering::SeqCst);
        aggregate(&clients[0], session).unwrap();
        done.store(true, Ordering::SeqCst);
        for (client, tags) in clients.iter().zip(tags) {
            for (path, tag) in PATHS.iter().zip(tags) {
                let answer = client.send("GET", path, &[("if-none-match", &tag)], b"").expect(200);
                assert!(answer.text.contains(SAID), "{path}");
            }
        }
        over.store(true, Ordering::SeqCst);
    });
}

/// Whether all takes of the session are open, or none.
fn is_whole(path: &str, text: &str) -> bool {
    if !path.starts_with("/api/swarm/sessions/") {
        return true;
    }
    let answer: Value = serde_json::from_str(text).unwrap();
    let is_opened = answer["session"]["openedAt"].is_string();
    let takes = answer["takes"].as_array().unwrap();
    takes.iter().all(|take| take["stance"].is_string() == is_opened)
}

fn takes_that_race_with_the_opening_are_sealed_or_open(backend: &Backend) {
    let servers = Servers::on(backend);
    for round in 0..4 {
        race(&servers, round);
    }
}

/// Members file and amend through both servers, while others close and open the session, aggregate it, and move its deadline.
fn race(servers: &Servers, round: usize) {
    const MEMBERS: usize = 6;
    let (clock, clients) = (&servers.fixture.clock, servers.clients());
    let subject = format!("round-{round}");
    let session = convene(&clients[0], &subject, clock.after(60_000).into());
    let authors: Vec<_> = (0..MEMBERS).map(|_| servers.fixture.author()).collect();
    let start = Barrier::new(MEMBERS + 3);
    let (start, subject, clients) = (&start, &*subject, &clients);
    let filed: Vec<_> = thread::scope(|scope| {
        let filing = |(nth, author)| {
            scope.spawn(move || {
                start.wait();
                file(&clients[nth % 2], author, subject)
            })
        };
        let filing: Vec<_> = authors.iter().enumerate().map(filing).collect();
        for client in clients {
            scope.spawn(move || {
                start.wait();
                let later = json!({ "windowClosesAt": clock.after(120_000) }).to_string();
                let admin = [("x-admin-token", ADMIN), ("content-type", "application/json")];
                let path = format!("/api/swarm/admin/sessions/{session}");
                client.send("PATCH", &path, &admin, later.as_bytes());
                for state in ["window_closed", "collecting", "aggregated"] {
                    let path = format!("/sessions/{session}/state");
                    client.operate(&path, &json!({ "state": state }));
                }
            });
        }
        let tenant = servers.tenant();
        scope.spawn(move || {
            start.wait();
            if round.is_multiple_of(2) {
                clock.move_by(60_001);
            }
            now(tenant.close_due_sessions()).unwrap();
            now(tenant.open_due_sessions(&mut BlindSessions::default())).unwrap();
        });
        filing.into_iter().flat_map(|filed| filed.join().unwrap()).collect()
    });
    // Before its deadline it is opened by nobody.
    clock.move_by(120_001);
    let tenant = servers.tenant();
    now(tenant.close_due_sessions()).unwrap();
    now(tenant.open_due_sessions(&mut BlindSessions::default())).unwrap();
    let log = Log::read(&clients[0]);
    assert!(log.is_opened(&clients[1], session));
    for (take, was_sealed) in filed {
        let record = clients[1].get(&format!("/api/swarm/takes/{take}")).expect(200).json();
        assert_eq!(record["salt"].is_string(), was_sealed, "{record}");
    }
}

/// Files as often as it may; returns the takes that were accepted, and whether they were sealed.
fn file(client: &Client, author: &Author, subject: &str) -> Vec<(u64, bool)> {
    let mut filed = Vec::new();
    for _ in 0..3 {
        let answer = client.submit(author, author.draft(DAY, subject));
        assert!(answer.status < 500, "{answer:?}");
        if answer.status == 201 {
            let take = answer.json()["recommendationId"].as_u64().unwrap();
            filed.push((take, answer.headers.contains_key("swarm-seal")));
        }
    }
    filed
}

/// Convenes a blind session; returns its id.
pub fn convene(client: &Client, subject: &str, window_closes_at: Value) -> u64 {
    client.operate("/subjects", &json!({ "id": subject, "name": subject }));
    let session = json!({
        "date": DAY, "subjectId": subject, "blind": true, "windowClosesAt": window_closes_at,
    });
    let convened = client.operate("/sessions", &session).expect(201).json();
    convened["session"]["id"].as_u64().unwrap()
}

/// Aggregates a session, and so opens it; an error if the server is gone.
pub fn aggregate(client: &Client, session: u64) -> Result<u16, ureq::Error> {
    let path = format!("/api/swarm/admin/sessions/{session}/state");
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let answer = client.try_send("POST", &path, &headers, br#"{"state":"aggregated"}"#)?;
    Ok(answer.status)
}

/// All entries of the log.
pub struct Log(Vec<Value>);

impl Log {
    pub fn read(client: &Client) -> Self {
        let mut entries: Vec<Value> = Vec::new();
        loop {
            let path = format!("/api/swarm/log?limit=1000&after={}", entries.len());
            let page = client.get(&path).expect(200).json()["entries"].clone();
            let page = page.as_array().unwrap();
            entries.extend(page.iter().cloned());
            if page.len() < 1_000 {
                return Self(entries);
            }
        }
    }

    /// Whether a session is opened. Checks that each of its takes is sealed or open: by the log, and by what the server
    /// shows of it.
    pub fn is_opened(&self, client: &Client, session: u64) -> bool {
        let is_of =
            |entry: &Value, kind: &str| entry["kind"] == kind && entry["sessionId"] == session;
        let is_act = |entry: &Value| {
            entry["kind"] == "session"
                && entry["act"] == "opened"
                && entry["session"]["id"] == session
        };
        let opened: Vec<_> = (0..self.0.len()).filter(|place| is_act(&self.0[*place])).collect();
        assert!(opened.len() <= 1, "opened at {opened:?}");
        let opened = opened.first().copied();
        let end = opened.unwrap_or(self.0.len());
        let is_sealed = |entry: &&Value| entry["sealed"].is_string();
        let (before, after) = self.0.split_at(end);
        let sealed: Vec<_> = before.iter().filter(|entry| is_of(entry, "take")).collect();
        assert!(sealed.iter().all(is_sealed), "a take was open before the opening");
        assert!(!after.iter().filter(|entry| is_of(entry, "take")).any(|it| is_sealed(&it)));
        let ids: Vec<_> = sealed.iter().map(|entry| &entry["id"]).collect();
        let openings: Vec<_> =
            after.iter().skip(1).take_while(|it| it["kind"] == "opening").collect();
        assert_eq!(
            openings.iter().map(|it| &it["id"]).collect::<Vec<_>>(),
            if opened.is_some() { ids.clone() } else { vec![] }
        );
        let all = self.0.iter().filter(|it| it["kind"] == "opening" && ids.contains(&&it["id"]));
        assert_eq!(all.count(), openings.len(), "opened elsewhere in the log");
        let read = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
        assert_eq!(read["session"]["openedAt"].is_string(), opened.is_some());
        for id in ids {
            let take = client.get(&format!("/api/swarm/takes/{id}")).expect(200).json();
            assert_eq!(take["stance"].is_string(), opened.is_some(), "{take}");
        }
        opened.is_some()
    }
}
