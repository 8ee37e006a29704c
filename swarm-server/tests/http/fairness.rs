//! Fairness: expensive requests of one client do not delay others.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use serde_json::json;
use swarm_core::store::backend::PartSet;
use swarm_redis_testing::wait_until;

use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Author, Client, signed_text};
use crate::observed_store::observed_store;
use crate::program::Program;
use crate::raw_http::{Connection, elsewhere, exchange};
use crate::routes;

/// Store calls of constant cost.
const CHEAP: [&str; 12] = [
    "may commit",
    "now",
    "tree",
    "tiles",
    "log position",
    "log",
    "basis",
    "file",
    "take",
    "member",
    "bearer",
    "ready",
];

/// More readers than threads that answer requests.
const READERS: usize = 8;

/// All reads that need no credential, with the page of the console that asks for it.
fn reads() -> impl Iterator<Item = &'static str> {
    let of_server = routes::all().filter(|route| route.info.is_of_server);
    let paths = routes::public_reads().chain(of_server).map(|route| route.path.as_str());
    paths.chain(["/operate", "/api/swarm/brief?date=2026-11-21&subject=aurora"])
}

/// The same request in other spellings.
fn spellings(path: &str) -> Vec<String> {
    let (path, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
    let join = if query.is_empty() { String::new() } else { format!("{query}&") };
    let mut spelled = vec![
        format!("{path}?{query}"),
        format!("{path}?{join}unknown={}", "x".repeat(600)),
        format!("{path}?unknown=1&{query}"),
    ];
    // A percent-encoded last letter of an id.
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

/// Submits a take with an additional header.
pub fn submit(server: SocketAddr, author: &Author, header: &str, body: &str) -> Vec<u8> {
    let (bearer, length) = (author.bearer(), body.len());
    format!(
        "POST /api/swarm/submit HTTP/1.1\r\nHost: {server}\r\nContent-Type: application/json\r\n\
         Authorization: {bearer}\r\n{header}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A store that is slow wherever its cost depends on the records, and counts callers.
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
        let observed = observed_store(&store, move |call| {
            if !call.done && !CHEAP.contains(&call.op) {
                called.lock().unwrap().push(format!("{}({})", call.op, call.arguments));
                drop(closed.read());
            }
            Ok(())
        });
        let (fixture, author) = Fixture::serve(clock, store, observed).filled();
        Self { fixture, author, gate, calls }
    }
}

#[test]
fn public_reads_do_not_delay_submits_in_any_spelling() {
    let SlowStore { fixture, author, gate, .. } = SlowStore::start();
    let mut submitter = Connection::open_from_elsewhere(fixture.server.address);
    fixture.client.convene("2026-11-22", "aurora");
    let mut refused = Vec::new();
    for path in reads().flat_map(spellings) {
        let closed = gate.write().unwrap();
        let mut readers: Vec<_> = (0..READERS)
            .map(|_| {
                let mut reader = Connection::open(fixture.server.address);
                reader.send(&get(&fixture, &path)).unwrap();
                reader
            })
            .collect();
        thread::sleep(Duration::from_millis(30));
        let body = signed_text(&author.key.sign(author.draft("2026-11-22", "aurora")));
        submitter.send(&submit(fixture.server.address, &author, "", &body)).unwrap();
        match submitter.receive(false) {
            // Five takes are filed; the others exceed the cap.
            Ok(answer) => assert!(matches!(answer.status, 201 | 409), "{path}: {answer:?}"),
            Err(_timeout) => {
                refused.push(path.clone());
                submitter = Connection::open_from_elsewhere(fixture.server.address);
            }
        }
        drop(closed);
        // The others get the same.
        assert_eq!(readers[0].receive_status(), 200, "{path}");
    }
    assert!(refused.is_empty(), "submits wait for these: {refused:#?}");
}

/// They look through the whole log for an entry that is not there.
#[test]
fn waiting_requests_with_a_filter_do_not_delay_submits() {
    let clock = Clock::noon();
    let (store, gate) = (clock.store(), Arc::<RwLock<()>>::default());
    let searches = Arc::<AtomicUsize>::default();
    let (closed, begun) = (Arc::clone(&gate), Arc::clone(&searches));
    let observed = observed_store(&store, move |call| {
        // A page of entries to which a filter is applied.
        if !call.done && call.op == "log" && call.arguments.contains("limit: 1000,") {
            begun.fetch_add(1, Ordering::Relaxed);
            drop(closed.read());
        }
        Ok(())
    });
    let (fixture, author) = Fixture::serve(clock, store, observed).filled();
    fixture.client.convene("2026-11-22", "aurora");
    let closed = gate.write().unwrap();
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let mut reader = Connection::open(fixture.server.address);
            reader.send(&get(&fixture, "/api/swarm/log?kind=operation&wait=60")).unwrap();
            reader
        })
        .collect();
    wait_until("they search", || searches.load(Ordering::Relaxed) > 0);
    thread::sleep(Duration::from_millis(30));
    let mut submitter = Connection::open_from_elsewhere(fixture.server.address);
    let body = signed_text(&author.key.sign(author.draft("2026-11-22", "aurora")));
    submitter.send(&submit(fixture.server.address, &author, "", &body)).unwrap();
    submitter.receive(false).unwrap().expect(201);
    drop((closed, readers));
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
        let is_of_open_ones = |call: &String| {
            ["\"scheduled\"", "\"collecting\"", "\"window_closed\""]
                .iter()
                .any(|state| call.contains(state))
        };
        let whole = format!("parts: {:?}", PartSet::ALL);
        let is_light = |call: &String| call.contains("limit: 1,") && !call.contains(&whole);
        assert!(of_sessions.all(|call| is_of_open_ones(call) || is_light(call)), "{calls:?}");
    }
}

#[test]
fn pages_read_no_subject_that_they_do_not_name() {
    let SlowStore { fixture, calls, .. } = SlowStore::start();
    fixture.client.operate("/subjects", &json!({ "id": "unnamed", "name": "Unnamed" })).expect(201);
    for path in [
        "/",
        "/feed.xml",
        "/swarm/sessions",
        "/swarm/members/m",
        "/swarm/subjects/aurora",
        "/swarm/committee",
        "/swarm/committee/2026-11-21",
    ] {
        calls.lock().unwrap().clear();
        fixture.client.get(path).expect(200);
        let calls = calls.lock().unwrap();
        assert!(!calls.iter().any(|call| call == "documents(Subjects; None)"), "{path}: {calls:?}");
    }
}

/// A take whose body is too large for the allowance of a connection.
fn padded_take(author: &Author) -> String {
    let take = signed_text(&author.key.sign(author.draft("2026-11-21", "aurora")));
    take + &" ".repeat(100_000)
}

/// Sends the head of a request of 256 KiB, and part of its body, which holds memory of the budget.
fn stall(mut connection: Connection, server: SocketAddr, header: &str) -> Connection {
    let head = format!(
        "POST /api/swarm/signing-payload HTTP/1.1\r\nHost: {server}\r\n\
         Content-Type: application/json\r\n{header}Content-Length: 262144\r\n\r\n"
    );
    connection.send(head.as_bytes()).unwrap();
    // The server may refuse it and close the connection meanwhile.
    let _ = connection.send(&[b' '; 240_000]);
    connection
}

const STALLED: usize = 300;

#[test]
fn stalled_bodies_of_one_address_do_not_delay_takes() {
    let fixture = Fixture::start();
    let (author, server) = (fixture.author(), fixture.server.address);
    fixture.client.convene("2026-11-21", "aurora");
    let open = |_| stall(Connection::open_from_elsewhere(server), server, "");
    let stalled: Vec<_> = (0..STALLED).map(open).collect();
    thread::sleep(Duration::from_millis(200));
    let take = submit(server, &author, "", &padded_take(&author));
    exchange(server, &take).expect(201);
    drop(stalled);
}

#[test]
fn client_behind_a_proxy_is_the_forwarded_address() {
    let serve = ["serve", "--store=memory", "--trust-forwarded"];
    let program = Program::start(&serve, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let (server, author) = (program.client.address, Author::join(&program.client, "Ada"));
    program.client.convene("2026-11-21", "aurora");
    // A client may send this header itself: only the value that the proxy appends counts.
    let stranger = "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-For: 203.0.113.1\r\n";
    let member = "X-Forwarded-For: 203.0.113.1, 198.51.100.7\r\n";
    // No take, so that it can be sent again until the server has read what the stalled connections sent.
    let probe = submit(server, &author, stranger, &" ".repeat(100_000));
    let attack = StalledBodies::of(server, stranger);
    // On a busy machine its connection may be reset before the answer is read.
    let is_refused = || {
        let mut connection = Connection::open(server);
        let _ = connection.send(&probe);
        connection.receive(false).is_ok_and(|answer| answer.status == 503)
    };
    wait_until("the share of that address is used up", is_refused);
    exchange(server, &submit(server, &author, member, &padded_take(&author))).expect(201);
    drop(attack);
}

/// Keeps stalled bodies of one client open until it is dropped. The server gives each up after some
/// seconds, so they are replaced all the time.
struct StalledBodies(Arc<AtomicBool>);

impl StalledBodies {
    fn of(server: SocketAddr, header: &'static str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&is_over);
        thread::spawn(move || {
            let mut stalled = VecDeque::new();
            while !is_stopped.load(Ordering::Relaxed) {
                // On a busy machine many are given up before the last one is open.
                stalled.retain(Connection::is_unanswered);
                stalled.push_back(stall(Connection::open(server), server, header));
                if stalled.len() > STALLED {
                    // Not at once: whatever waits for memory would soon get that of those replaced.
                    thread::sleep(Duration::from_millis(500));
                    stalled.pop_front();
                }
            }
        });
        Self(is_over)
    }
}

impl Drop for StalledBodies {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A session of more than 4 MB; each page is a separate answer.
fn large_session(fixture: &Fixture) {
    fixture.client.convene("2026-11-21", "aurora");
    for _ in 0..TAKES {
        let author = fixture.author();
        let body = "\u{1f680}".repeat(10_000);
        let draft = json!({ "date": "2026-11-21", "subjectId": "aurora", "body": body });
        fixture.client.submit(&author, author.draft_of(draft)).expect(201);
    }
}

const TAKES: usize = 110;
const SLOW_READERS: usize = 30;

#[test]
fn slow_readers_of_one_address_do_not_fail_reads_of_others() {
    let fixture = Fixture::start();
    large_session(&fixture);
    let address = fixture.server.address;
    let page = |limit: usize| format!("/api/swarm/sessions/1?limit={limit}");
    let readers: Vec<_> = (0..SLOW_READERS)
        .map(|number| {
            let mut reader = elsewhere(address, Some(4_096));
            reader.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
            reader.write_all(&get(&fixture, &page(TAKES - number))).unwrap();
            reader
        })
        .collect();
    let statuses: Vec<_> = readers
        .into_iter()
        .map(|mut reader| {
            let mut line = [0; 12];
            reader.read_exact(&mut line).unwrap();
            (String::from_utf8_lossy(&line[9..]).into_owned(), reader)
        })
        .collect();
    let served = statuses.iter().filter(|(status, _)| status == "200").count();
    assert!((2..SLOW_READERS).contains(&served), "{served} were served");
    let client: Client = fixture.server.client();
    for limit in TAKES - SLOW_READERS - 10..=TAKES - SLOW_READERS {
        client.get(&page(limit)).expect(200);
    }
    drop(statuses);
}
