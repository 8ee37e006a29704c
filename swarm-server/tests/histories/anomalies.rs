//! Anomalies found by longer histories, each reproduced separately.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::Timestamp;

use crate::checks::within;
use crate::client::Member;
use crate::desk::{DATE, outcome};
use crate::history::Outcome;
use crate::servers::{Servers, Store};
use crate::timeline::millis;

/// A take that loses a race against its own copy is answered with the id of the copy.
#[test]
fn copies_of_a_take_sent_at_once_name_the_take_on_file() {
    let servers = Servers::start(Store::redis());
    let [here, there] = [servers.client(0), servers.client(1)];
    subject(&servers, "aurora");
    convene(&servers, "aurora", None);
    for round in 0..60 {
        let member = Member::join(&here, round);
        let sign = |nonce: &str| member.sign(DATE, "aurora", &format!("{round}-{nonce}"));
        filed(here.submit(&member, &sign("known here")));
        filed(there.submit(&member, &sign("elsewhere")));
        let (copy, start) = (sign("copy"), Barrier::new(4));
        let send = || {
            start.wait();
            servers.client(0).submit(&member, &copy).and_then(outcome).unwrap()
        };
        let outcomes = thread::scope(|scope| {
            let sent: Vec<_> = (0..4).map(|_| scope.spawn(send)).collect();
            sent.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        let filed = outcomes.iter().find_map(|it| match it {
            Outcome::Filed(id) => Some(*id),
            _ => None,
        });
        assert!(filed.is_some(), "round {round}: {outcomes:?}");
        let original = |it: &Outcome| match it {
            Outcome::Conflict { original, .. } => *original,
            Outcome::Filed(id) => Some(*id),
            Outcome::Refused(_) => None,
        };
        assert!(outcomes.iter().all(|it| original(it) == filed), "round {round}: {outcomes:?}");
    }
}

/// Deadlines move among takes, and each answer agrees with itself.
#[test]
fn session_shows_no_take_after_its_deadline() {
    for store in [Store::sqlite(), Store::redis()] {
        let servers = Servers::start(store);
        let members: Vec<_> = (0..120).map(|it| Member::join(&servers.client(0), it)).collect();
        subject(&servers, "aurora");
        let (ended, id) = (AtomicBool::new(false), convene(&servers, "aurora", None));
        let move_deadlines = || {
            let (client, path) = (servers.client(1), format!("/sessions/{id}"));
            while !ended.load(Ordering::SeqCst) {
                for deadline in [in_millis(1), in_millis(60_000)] {
                    let patch = json!({ "windowClosesAt": deadline });
                    client.operate("PATCH", &path, &patch).unwrap();
                }
            }
        };
        let read = || {
            let (client, path) = (servers.client(0), format!("/api/swarm/sessions/{id}"));
            let answers = (0..60).map(|_| client.get(&path).unwrap().body);
            answers.filter_map(|answer| agrees(&answer).err()).next()
        };
        let late = thread::scope(|scope| {
            for members in members.chunks(20) {
                scope.spawn(|| file_all(&servers, members, &ended));
            }
            scope.spawn(move_deadlines);
            let readers: Vec<_> = (0..10).map(|_| scope.spawn(read)).collect();
            let late = readers.into_iter().filter_map(|it| it.join().unwrap()).next();
            ended.store(true, Ordering::SeqCst);
            late
        });
        assert_eq!(late, None);
    }
}

fn agrees(answer: &Value) -> Result<(), String> {
    let Some(deadline) = millis(&answer["session"]["windowClosesAt"]) else { return Ok(()) };
    let takes = answer["takes"].as_array().unwrap();
    match takes.iter().find(|take| millis(&take["filedAt"]).unwrap() > deadline) {
        Some(late) => Err(format!("{late} in {}", answer["session"])),
        None => Ok(()),
    }
}

/// Two sessions side by side in the list change in turn, and no list shows the later change without
/// the one before it.
#[test]
fn list_shows_no_change_without_those_before_it() {
    /// Pairs of neighbours, the first of which changes first.
    const PAIRS: [[u64; 2]; 3] = [[25, 24], [17, 16], [9, 8]];
    for store in [Store::sqlite(), Store::redis()] {
        let (servers, ended) = (Servers::start(store), AtomicBool::new(false));
        subject(&servers, "aurora");
        for _ in 0..32 {
            convene(&servers, "aurora", None);
        }
        let change = |pair: [u64; 2]| {
            let client = servers.client(1);
            for round in 1_u64.. {
                for id in pair {
                    if ended.load(Ordering::SeqCst) {
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
            lists.filter_map(|list| torn(&list, &PAIRS)).next()
        };
        let torn = thread::scope(|scope| {
            for pair in PAIRS {
                scope.spawn(move || change(pair));
            }
            let readers: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
            let torn = readers.into_iter().filter_map(|it| it.join().unwrap()).next();
            ended.store(true, Ordering::SeqCst);
            torn
        });
        assert_eq!(torn, None);
    }
}

/// A pair whose second is shown at a later round than its first, with the rounds.
fn torn(list: &Value, pairs: &[[u64; 2]]) -> Option<[(u64, u64); 2]> {
    let sessions = list["sessions"].as_array().unwrap();
    let round = |id: u64| {
        let session = sessions.iter().find(|session| session["id"] == id);
        session.and_then(|session| session["quorum"].as_u64()).unwrap_or(0)
    };
    let shown = pairs.iter().map(|pair| pair.map(|id| (id, round(id))));
    shown.clone().find(|[first, second]| second.1 > first.1)
}

/// A session is aggregated at the first attempt, however many clients file in it.
#[test]
fn aggregation_ends_while_takes_arrive() {
    for store in [Store::sqlite(), Store::redis()] {
        let servers = Servers::start(store);
        let members: Vec<_> = (0..160).map(|it| Member::join(&servers.client(0), it)).collect();
        subject(&servers, "aurora");
        for _ in 0..3 {
            let (ended, id) = (AtomicBool::new(false), convene(&servers, "aurora", None));
            let answer = thread::scope(|scope| {
                for members in members.chunks(20) {
                    scope.spawn(|| file_all(&servers, members, &ended));
                }
                thread::sleep(Duration::from_millis(100));
                let state = json!({ "state": "aggregated" });
                let path = format!("/sessions/{id}/state");
                let answer = servers.client(1).operate("POST", &path, &state).unwrap();
                ended.store(true, Ordering::SeqCst);
                answer
            });
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
}

/// A server is killed right after it has answered: the other one closes the window in time.
#[test]
fn window_closes_in_time_after_the_server_that_convened_is_killed() {
    let servers = Servers::start(Store::redis());
    let survivor = servers.client(1);
    subject(&servers, "aurora");
    // Long enough for the survivor to have looked at the tenant, and to wait until it hears of a change.
    thread::sleep(Duration::from_secs(8));
    let id = convene(&servers, "aurora", Some(in_millis(1_500)));
    servers.kill(0);
    let is_closed = || {
        let session = survivor.get(&format!("/api/swarm/sessions/{id}")).unwrap().body;
        session["session"]["state"] == "window_closed"
    };
    assert!(within(Duration::from_millis(16_500), is_closed), "its window stands open");
}

fn subject(servers: &Servers, id: &str) {
    let subject = json!({ "id": id, "name": id });
    servers.client(0).operate("POST", "/subjects", &subject).unwrap();
}

/// Convenes a session through the first server, about a subject that is there.
fn convene(servers: &Servers, subject: &str, deadline: Option<String>) -> u64 {
    let client = servers.client(0);
    let session = json!({ "date": DATE, "subjectId": subject, "windowClosesAt": deadline });
    let answer = client.operate("POST", "/sessions", &session).unwrap();
    answer.body["session"]["id"].as_u64().expect("a session")
}

/// Each member files as often as it may, in turn, through either server.
fn file_all(servers: &Servers, members: &[Member], ended: &AtomicBool) {
    static NONCE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let clients = [servers.client(0), servers.client(1)];
    for round in 0..5 {
        for member in members {
            if ended.load(Ordering::SeqCst) {
                return;
            }
            let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_string();
            let body = member.sign(DATE, "aurora", &nonce);
            clients[round % 2].submit(member, &body).unwrap();
        }
    }
}

fn filed(answer: Option<crate::client::Answer>) {
    let outcome = answer.and_then(outcome);
    assert!(matches!(outcome, Some(Outcome::Filed(_))), "{outcome:?}");
}

fn in_millis(millis: i64) -> String {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let moment = i64::try_from(now).unwrap() + millis;
    Timestamp::from_millis(moment).unwrap().to_string()
}
