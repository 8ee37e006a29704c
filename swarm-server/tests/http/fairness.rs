//! Fairness: what strangers ask for holds up nobody else.

use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use crate::fixture::{Clock, Fixture};
use crate::harness::Author;
use crate::observed_store::ObservedStore;
use crate::raw_http::{Connection, exchange};
use crate::routes;

/// Calls of the store whose cost does not depend on what is stored.
const CHEAP: [&str; 9] =
    ["now", "log_position", "seen_log", "log", "basis", "file", "take", "member", "bearer"];

/// More than the threads that answer requests.
const READERS: usize = 8;

/// The same request, spelled in other ways.
fn spellings(path: &str) -> Vec<String> {
    let (path, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
    let join = if query.is_empty() { String::new() } else { format!("{query}&") };
    let mut spelled = vec![
        format!("{path}?{query}"),
        format!("{path}?{join}unknown={}", "x".repeat(600)),
        format!("{path}?unknown=1&{query}"),
    ];
    // An open part of the path: the last letter of an id.
    if let Some(before) = path.strip_suffix('1') {
        spelled.push(format!("{before}%31?{query}"));
    } else if let Some(before) = path.strip_suffix("aurora") {
        spelled.push(format!("{before}auror%61?{query}"));
    }
    spelled
}

fn get(fixture: &Fixture, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", fixture.server.address)
        .into_bytes()
}

/// A store that is slow wherever its work depends on what is stored, and who asks for it.
struct SlowStore {
    fixture: Fixture,
    author: Author,
    gate: Arc<RwLock<()>>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl SlowStore {
    fn start() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let (gate, calls) = (Arc::<RwLock<()>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let (closed, called) = (Arc::clone(&gate), Arc::clone(&calls));
        let observed = ObservedStore::new(&store, move |call| {
            if !call.done && !CHEAP.contains(&call.method) {
                called.lock().unwrap().push(format!("{}({})", call.method, call.arguments));
                drop(closed.read());
            }
            Ok(())
        });
        let (fixture, author) = Fixture::serve(clock, store, observed).filled();
        Self { fixture, author, gate, calls }
    }
}

#[test]
fn public_reads_hold_up_no_submit_however_they_are_spelled() {
    let SlowStore { fixture, author, gate, .. } = SlowStore::start();
    let mut submitter = Connection::open_from_elsewhere(fixture.server.address);
    fixture.client.convene("2026-11-22", "aurora");
    let mut refused = Vec::new();
    for path in routes::READS.iter().flat_map(|path| spellings(path)) {
        let closed = gate.write().unwrap();
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                let mut reader = Connection::open(fixture.server.address);
                reader.send(&get(&fixture, &path)).unwrap();
                reader
            })
            .collect();
        thread::sleep(Duration::from_millis(30));
        let body =
            crate::harness::signed_text(&author.key.sign(author.draft("2026-11-22", "aurora")));
        let head = format!(
            "POST /api/swarm/submit HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Authorization: {}\r\nContent-Length: {}\r\n\r\n",
            fixture.server.address,
            author.bearer(),
            body.len()
        );
        submitter.send((head + &body).as_bytes()).unwrap();
        match submitter.receive(false) {
            // Five takes are filed, and all others are one too many.
            Ok(answer) => assert!(matches!(answer.status, 201 | 409), "{path}: {answer:?}"),
            Err(_timeout) => {
                refused.push(path);
                submitter = Connection::open_from_elsewhere(fixture.server.address);
            }
        }
        drop(closed);
        for mut reader in readers {
            assert_eq!(reader.receive(false).unwrap().status, 200);
        }
    }
    assert!(refused.is_empty(), "submits wait for these: {refused:#?}");
}

#[test]
fn spellings_of_a_request_share_one_cached_answer() {
    let SlowStore { fixture, calls, .. } = SlowStore::start();
    for path in [
        "/api/swarm/sessions/1",
        "/api/swarm/sessions",
        "/api/swarm/sessions/2026-11-21/aurora",
        "/api/swarm/subjects/aurora",
        "/api/swarm/memos/1",
        "/api/swarm/brief?session=1",
    ] {
        calls.lock().unwrap().clear();
        exchange(fixture.server.address, &get(&fixture, path)).expect(200);
        let made = std::mem::take(&mut *calls.lock().unwrap());
        assert!(!made.is_empty(), "{path}");
        for spelled in spellings(path) {
            exchange(fixture.server.address, &get(&fixture, &spelled)).expect(200);
        }
        assert_eq!(*calls.lock().unwrap(), [""; 0], "{path}");
    }
}

#[test]
fn guides_read_open_sessions_alone() {
    let SlowStore { fixture, calls, .. } = SlowStore::start();
    for path in ["/llms.txt", "/skill.md", "/.well-known/swarm.json"] {
        calls.lock().unwrap().clear();
        fixture.client.get(path).expect(200);
        let calls = calls.lock().unwrap();
        let mut of_sessions = calls.iter().filter(|call| call.starts_with("session"));
        assert!(of_sessions.all(|call| call.contains("state: Some(Collecting)")), "{calls:?}");
    }
}
