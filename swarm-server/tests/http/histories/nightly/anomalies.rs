//! Anomalies that longer histories found, each reproduced by a workload of its own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_redis_testing::wait_until;

use crate::histories::client::Member;
use crate::histories::history::Outcome;
use crate::histories::servers::{Servers, Store};
use crate::histories::timeline::millis;
use crate::histories::workload::{DATE, in_millis};

/// A take that loses a race against a copy of itself is answered with the id of that copy.
#[test]
fn copies_of_a_take_sent_at_once_name_the_take_on_file() {
    let servers = Servers::start(Store::redis());
    let [one, other] = [servers.client(0), servers.client(1)];
    create_subject(&servers, "aurora");
    convene(&servers, "aurora", None);
    for round in 0..60 {
        let member = Member::join(&one, round);
        let sign = |nonce: &str| member.sign(DATE, "aurora", &format!("{round}-{nonce}"));
        // The second take, filed through the other server, makes stale what the first server has cached.
        for (client, nonce) in [(&one, "first"), (&other, "second")] {
            let outcome = Outcome::of(client.submit(&member, &sign(nonce)));
            assert!(matches!(outcome, Outcome::Filed(_)), "{outcome:?}");
        }
        let (copy, start) = (sign("copy"), Barrier::new(4));
        let send = || {
            start.wait();
            Outcome::of(servers.client(0).submit(&member, &copy))
        };
        let outcomes = thread::scope(|scope| {
            let sent: Vec<_> = (0..4).map(|_| scope.spawn(send)).collect();
            sent.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let id = |outcome: &Outcome| match outcome {
            Outcome::Filed(id) => Some(*id),
            Outcome::Conflict { original, .. } => *original,
            _ => None,
        };
        let filed = outcomes.iter().find(|outcome| matches!(outcome, Outcome::Filed(_)));
        let filed = filed.and_then(id);
        assert!(filed.is_some(), "round {round}: {outcomes:?}");
        assert!(outcomes.iter().all(|outcome| id(outcome) == filed), "round {round}: {outcomes:?}");
    }
}

/// Deadlines move while takes are filed, and no answer shows a take that was filed after the deadline in it.
#[test]
fn session_shows_no_take_after_its_deadline() {
    for store in [Store::sqlite(), Store::redis()] {
        let servers = Servers::start(store);
        let members: Vec<_> = (0..120).map(|it| Member::join(&servers.client(0), it)).collect();
        create_subject(&servers, "aurora");
        let (is_over, id) = (AtomicBool::new(false), convene(&servers, "aurora", None));
        let move_deadlines = || {
            let (client, path) = (servers.client(1), format!("/sessions/{id}"));
            while !is_over.load(Ordering::SeqCst) {
                for deadline in [in_millis(1), in_millis(60_000)] {
                    let patch = json!({ "windowClosesAt": deadline });
                    client.operate("PATCH", &path, &patch).unwrap();
                }
            }
        };
        let read = || {
            let (client, path) = (servers.client(0), format!("/api/swarm/sessions/{id}"));
            let answers = (0..60).map(|_| client.get(&path).unwrap().body);
            answers.filter_map(|answer| late_take(&answer)).next()
        };
        let late = thread::scope(|scope| {
            for members in members.chunks(20) {
                scope.spawn(|| file_all(&servers, members, &is_over, &AtomicU64::new(0)));
            }
            scope.spawn(move_deadlines);
            let readers: Vec<_> = (0..10).map(|_| scope.spawn(read)).collect();
            let late = readers.into_iter().filter_map(|thread| thread.join().unwrap()).next();
            is_over.store(true, Ordering::SeqCst);
            late
        });
        assert_eq!(late, None);
    }
}

/// A take in this answer that was filed after the deadline in it.
fn late_take(answer: &Value) -> Option<String> {
    let deadline = millis(&answer["session"]["windowClosesAt"])?;
    let mut takes = answer["takes"].as_array().unwrap().iter();
    let late = takes.find(|take| millis(&take["filedAt"]).unwrap() > deadline)?;
    Some(format!("{late} in {}", answer["session"]))
}

/// Pairs of neighbours in the list change in turn, and no list shows the second change without the first.
#[test]
fn list_shows_no_change_without_those_before_it() {
    /// Ids of neighbours; the first of each pair changes first.
    const PAIRS: [[u64; 2]; 3] = [[25, 24], [17, 16], [9, 8]];
    for store in [Store::sqlite(), Store::redis()] {
        let (servers, is_over) = (Servers::start(store), AtomicBool::new(false));
        create_subject(&servers, "aurora");
        for _ in 0..32 {
            convene(&servers, "aurora", None);
        }
        let change = |pair: [u64; 2]| {
            let client = servers.client(1);
            for round in 1_u64.. {
                for id in pair {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    let patch = json!({ "quorum": round });
                    client.operate("PATCH", &format!("/sessions/{id}"), &patch).unwrap();
                }
            }
        };
        let read = || {
            let client = servers.client(0);
            let lists = (0..60).map(|_| client.get("/api/swarm/sessions").unwrap().body);
            lists.filter_map(|list| inconsistent_pair(&list, &PAIRS)).next()
        };
        let inconsistent = thread::scope(|scope| {
            for pair in PAIRS {
                scope.spawn(move || change(pair));
            }
            let readers: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
            let found = readers.into_iter().filter_map(|thread| thread.join().unwrap()).next();
            is_over.store(true, Ordering::SeqCst);
            found
        });
        assert_eq!(inconsistent, None);
    }
}

/// A pair of which the second session is shown at a later round than the first, with both rounds.
fn inconsistent_pair(list: &Value, pairs: &[[u64; 2]]) -> Option<[(u64, u64); 2]> {
    let sessions = list["sessions"].as_array().unwrap();
    let round = |id: u64| {
        let session = sessions.iter().find(|session| session["id"] == id);
        session.and_then(|session| session["quorum"].as_u64()).unwrap_or(0)
    };
    let mut shown = pairs.iter().map(|pair| pair.map(|id| (id, round(id))));
    shown.find(|[first, second]| second.1 > first.1)
}

/// A session is aggregated by one request, however many clients file in it meanwhile.
#[test]
fn aggregation_ends_while_takes_arrive() {
    for store in [Store::sqlite(), Store::redis()] {
        let servers = Servers::start(store);
        let members: Vec<_> = (0..160).map(|it| Member::join(&servers.client(0), it)).collect();
        create_subject(&servers, "aurora");
        for _ in 0..3 {
            let (is_over, id) = (AtomicBool::new(false), convene(&servers, "aurora", None));
            let filed = AtomicU64::new(0);
            let answer = thread::scope(|scope| {
                for members in members.chunks(20) {
                    scope.spawn(|| file_all(&servers, members, &is_over, &filed));
                }
                wait_until("takes arrive", || filed.load(Ordering::SeqCst) > 16);
                let state = json!({ "state": "aggregated" });
                let path = format!("/sessions/{id}/state");
                let answer = servers.client(1).operate("POST", &path, &state).unwrap();
                is_over.store(true, Ordering::SeqCst);
                answer
            });
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
}

/// A server is killed right after it has convened a session: the other one closes the window.
#[test]
fn window_closes_after_the_server_that_convened_is_killed() {
    let servers = Servers::start(Store::redis());
    let survivor = servers.client(1);
    create_subject(&servers, "aurora");
    // Quiet for long enough that the survivor waits to hear of a change, instead of being about to look anyway.
    thread::sleep(Duration::from_secs(8));
    let session = convene(&servers, "aurora", Some(in_millis(1_500)));
    servers.kill(0);
    // Due within 15 s. Without an announcement, the survivor would look again after ten minutes.
    wait_until("the window closes", || {
        let answer = survivor.get(&format!("/api/swarm/sessions/{session}")).unwrap().body;
        answer["session"]["state"] == "window_closed"
    });
}

fn create_subject(servers: &Servers, id: &str) {
    let subject = json!({ "id": id, "name": id });
    servers.client(0).operate("POST", "/subjects", &subject).unwrap();
}

/// Convenes a session through the first server; returns its id.
fn convene(servers: &Servers, subject: &str, deadline: Option<String>) -> u64 {
    let client = servers.client(0);
    let session = json!({ "date": DATE, "subjectId": subject, "windowClosesAt": deadline });
    let answer = client.operate("POST", "/sessions", &session).unwrap();
    answer.body["session"]["id"].as_u64().expect("a session")
}

/// Each member in turn files five takes, through either server, until `is_over`. Counts answers.
fn file_all(servers: &Servers, members: &[Member], is_over: &AtomicBool, answered: &AtomicU64) {
    static NONCE: AtomicU64 = AtomicU64::new(0);
    let clients = [servers.client(0), servers.client(1)];
    for round in 0..5 {
        for member in members {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_string();
            let body = member.sign(DATE, "aurora", &nonce);
            clients[round % 2].submit(member, &body).unwrap();
            answered.fetch_add(1, Ordering::SeqCst);
        }
    }
}
