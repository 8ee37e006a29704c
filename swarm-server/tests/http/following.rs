//! Following the log (API.md, 11.10): filters, requests that wait, and streams of events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client};
use crate::program::Program;

on_every_store! {
    log_is_filtered,
    waiting_request_is_answered_by_the_next_commit,
    commit_of_another_server_ends_a_wait,
}

const DAY: &str = "2026-11-21";

/// The numbers of the entries of a page, and where the next one begins.
fn page(client: &Client, query: &str) -> (Vec<u64>, u64, bool) {
    let page = client.get(&format!("/api/swarm/log?{query}")).expect(200).json();
    let seqs = page["entries"].as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap());
    (seqs.collect(), page["next"].as_u64().unwrap(), page["more"].as_bool().unwrap())
}

fn log_is_filtered(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let (ada, bob) = (Author::join(&client, "Ada"), Author::join(&client, "Bob"));
    for subject in ["aurora", "borealis"] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
        client.convene(DAY, subject);
        for author in [&ada, &bob] {
            client.submit(author, author.draft(DAY, subject)).expect(201);
        }
    }
    let whole = client.log_entries();
    let end = whole.len() as u64;
    let seqs = |is: &dyn Fn(&Value) -> bool| -> Vec<u64> {
        whole.iter().filter(|it| is(it)).map(|it| it["seq"].as_u64().unwrap()).collect()
    };
    let takes = seqs(&|it| it["kind"] == "take");
    let of_ada = |it: &Value| it["memberId"] == json!(ada.id) || it["id"] == json!(ada.id);
    let in_2 = |it: &Value| it["sessionId"] == 2 || it["session"]["id"] == 2;
    for (query, expected) in [
        ("kind=take".to_owned(), takes.clone()),
        ("kind=take,member".to_owned(), seqs(&|it| it["kind"] == "take" || it["kind"] == "member")),
        (format!("member={}", ada.id), seqs(&of_ada)),
        ("session=2".to_owned(), seqs(&in_2)),
        (format!("session=2&member={}", ada.id), seqs(&|it| in_2(it) && of_ada(it))),
        (
            "subject=borealis".to_owned(),
            seqs(&|it| in_2(it) || it["kind"] == "subject" && it["id"] == "borealis"),
        ),
        ("session=99".to_owned(), Vec::new()),
    ] {
        assert_eq!(page(&client, &query), (expected, end, false), "{query}");
    }
    let (first, next, more) = page(&client, "kind=take&limit=3");
    assert_eq!((&first[..], more), (&takes[..3], true));
    assert!((takes[2]..takes[3]).contains(&next), "{next}");
    assert_eq!(page(&client, &format!("kind=take&limit=3&after={next}")).0, &takes[3..]);
    for bad in [
        "kind=takes",
        "kind=take,,memo",
        "session=x",
        "session=0x1",
        "member=%FF",
        "wait=61",
        "wait=-1",
    ] {
        client.get(&format!("/api/swarm/log?{bad}")).unread(400, "invalid query");
    }
}

/// Makes a request that waits, and the commit that ends it once it does. Returns the page and the time until the answer.
fn waited(client: &Client, query: &str, commit: impl FnOnce()) -> (Value, Duration) {
    let path = format!("/api/swarm/log?{query}");
    thread::scope(|scope| {
        let began = Instant::now();
        let waiting = scope.spawn(|| client.get(&path).expect(200).json());
        thread::sleep(Duration::from_millis(700));
        assert!(!waiting.is_finished(), "{query} does not wait");
        commit();
        (waiting.join().unwrap(), began.elapsed())
    })
}

fn waiting_request_is_answered_by_the_next_commit(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.convene(DAY, "aurora");
    let (_, end, _) = page(&client, "limit=1000");
    let (found, took) = waited(&client, &format!("after={end}&wait=20&kind=take"), || {
        client.operate("/subjects", &json!({ "id": "aurora", "name": "Other" })).expect(200);
        client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    });
    let kinds: Vec<_> =
        found["entries"].as_array().unwrap().iter().map(|it| it["kind"].clone()).collect();
    assert_eq!((kinds, found["next"].as_u64()), (vec![json!("take")], Some(end + 2)));
    assert!(took < Duration::from_secs(5), "{took:?}");
    // There is an entry already, or none comes.
    let began = Instant::now();
    assert_eq!(page(&client, &format!("after={end}&wait=20")).0, [end + 1, end + 2]);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(page(&client, &format!("after={}&wait=1", end + 2)), (vec![], end + 2, false));
    assert!(began.elapsed() >= Duration::from_secs(1));
}

fn commit_of_another_server_ends_a_wait(backend: &Backend) {
    let (one, other) = (backend.serve(), backend.serve());
    let (reader, writer) = (one.client(), other.client());
    writer.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let (found, took) = waited(&reader, "after=1&wait=20", || {
        let session = json!({ "date": DAY, "subjectId": "aurora" });
        writer.operate("/sessions", &session).expect(201);
    });
    assert_eq!(found["entries"][0]["act"], "convened");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// A stream of events, as its lines.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(fixture: &Fixture, query: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(fixture.client.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let request =
            format!("GET /api/swarm/events?{query} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = Self(BufReader::new(stream));
        assert_eq!(events.line().unwrap(), "HTTP/1.1 200 OK");
        let head: Vec<_> =
            std::iter::from_fn(|| events.line().filter(|it| it != ": open")).collect();
        let caching = "cache-control: no-store, no-transform";
        assert!(head.iter().any(|line| line.eq_ignore_ascii_case(caching)), "{head:?}");
        events
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// The next event: its id, its name and its data.
    fn next(&mut self) -> (u64, String, Value) {
        let mut field = |name: &str| loop {
            let line = self.line().unwrap();
            if let Some(value) = line.strip_prefix(name) {
                return value.to_owned();
            }
        };
        let (id, name, data) = (field("id: "), field("event: "), field("data: "));
        (id.parse().unwrap(), name, serde_json::from_str(&data).unwrap())
    }
}

#[test]
fn events_are_streamed_and_resumed() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let mut all = Events::open(&fixture, "", "");
    let mut takes = Events::open(&fixture, "kind=take", "");
    let names: Vec<_> = (0..3).map(|_| all.next().1).collect();
    assert_eq!(names, ["member.activated", "member.claimed", "subject"]);
    client.operate("/sessions", &json!({ "date": DAY, "subjectId": "aurora" })).expect(201);
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    assert_eq!(all.next().1, "session.convened");
    let (seq, name, take) = all.next();
    assert_eq!((seq, name.as_str(), &take), (5, "take.filed", &takes.next().2));
    let log = client.get("/api/swarm/log?after=4").expect(200).json();
    assert_eq!(take, log["entries"][0]);
    // Where the header cannot be sent, libraries send a parameter.
    for (query, header) in [
        ("after=1", "Last-Event-ID: 4\r\n"),
        ("after=1&lastEventId=4", ""),
        ("lastEventId=1", "Last-Event-ID: 4\r\n"),
    ] {
        assert_eq!(Events::open(&fixture, query, header).next().0, 5, "{query} {header}");
    }
    assert_eq!(Events::open(&fixture, "after=4&lastEventId=", "").next().0, 5);
    let invalid = client.get("/api/swarm/events?lastEventId=-1").expect(400);
    assert!(invalid.header("swarm-hint").unwrap().contains("lastEventId"), "{invalid:?}");
    let filters = "session=1&subject=aurora";
    let mut filtered = Events::open(&fixture, filters, "");
    assert_eq!((filtered.next().0, filtered.next().0), (4, 5));
    // A log that went back does not have that entry.
    let mut ahead = Events::open(&fixture, "", "Last-Event-ID: 100\r\n");
    assert_eq!(ahead.next(), (5, "reset".to_owned(), json!({ "log": 1, "size": 5 })));
    client.operate("/subjects", &json!({ "id": "borealis", "name": "Borealis" })).expect(201);
    assert_eq!(ahead.next().0, 6);
}

/// Far from the end of the log the entries are read in parts, near it they are those that all streams share.
#[test]
fn stream_of_a_long_log_has_each_entry_once() {
    const ENTRIES: u64 = 600;
    let fixture = Fixture::start();
    let client = &fixture.client;
    let put = |number: u64| {
        let subject = json!({ "id": format!("subject-{number}"), "name": "A subject" });
        client.operate("/subjects", &subject).expect(201);
    };
    (1..=ENTRIES).for_each(put);
    let [mut all, mut same] = [(); 2].map(|()| Events::open(&fixture, "", ""));
    let mut late = Events::open(&fixture, &format!("after={}", ENTRIES - 3), "");
    let mut others = Events::open(&fixture, "kind=session", "");
    for number in 1..=ENTRIES {
        assert_eq!((all.next().0, same.next().0), (number, number));
    }
    thread::scope(|scope| {
        scope.spawn(|| (ENTRIES + 1..=ENTRIES + 300).for_each(put));
        for number in ENTRIES + 1..=ENTRIES + 300 {
            assert_eq!((all.next().0, same.next().0), (number, number));
        }
    });
    for number in ENTRIES - 2..=ENTRIES + 300 {
        assert_eq!(late.next().0, number);
    }
    client.operate("/sessions", &json!({ "date": DAY, "subjectId": "subject-1" })).expect(201);
    assert_eq!(others.next().1, "session.convened");
}

#[test]
fn streams_and_waiting_requests_end_when_the_server_stops() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let address = program.client.address;
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET /api/swarm/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut events = Events(BufReader::new(stream));
    while events.line().unwrap() != ": open" {}
    let client = program.client.clone();
    let waiting = thread::spawn(move || client.get("/api/swarm/log?wait=60").expect(200).json());
    thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    program.signal("TERM");
    while events.line().is_some() {}
    assert_eq!(waiting.join().unwrap()["entries"], json!([]));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
