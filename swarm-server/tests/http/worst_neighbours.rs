//! One tenant, or one address, does its worst: others still join, submit and read, and memory stays limited.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::json;
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_redis_testing::wait_until;

use crate::harness::{Author, fresh_key, signed_text};
use crate::program::{Program, configuration};
use crate::raw_http::elsewhere;
use crate::tenant_configuration::tenant;

const MIB: usize = 1 << 20;
const DATE: &str = "2026-11-21";

/// Subjects of the large tenant; each has almost the largest body of a request.
const SUBJECTS: usize = 150;
const NOTE: usize = 240_000;

/// Readers of the large tenant, which read slowly or not at all.
const READERS: usize = 64;

/// Of two tenants, one has the largest documents, and readers who are slow to read them.
#[test]
fn largest_documents_of_a_tenant_do_not_delay_another() {
    let file = configuration("largest.toml", &(tenant("large", "") + &tenant("small", "")));
    let serve = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let program = Program::start(&serve, &[]);
    let [large, small] = ["large", "small"].map(|id| program.client.at(&format!("{id}.example")));
    for number in 0..SUBJECTS {
        let note = "n".repeat(NOTE);
        let subject = json!({ "id": subject(number), "name": "s", "structuralNotes": [note] });
        large.operate("/subjects", &subject).expect(201);
    }
    let author = Author::join(&small, "Ada");
    for number in 0..4 {
        small.convene(DATE, &subject(number));
    }
    let before = program.memory();
    let readers: Vec<_> = (0..READERS).map(|number| slow_reader(&program, number)).collect();
    for number in 0..20 {
        small.submit(&author, author.draft(DATE, &subject(number / 5))).expect(201);
        small.get("/api/swarm/sessions").expect(200);
    }
    // The readers ask for more than a gigabyte.
    let grown = program.peak_memory().saturating_sub(before);
    assert!(grown < 256 * MIB, "grown by {} MiB", grown / MIB);
    drop(readers);
}

fn subject(number: usize) -> String {
    format!("subject-{number:03}")
}

/// Asks for as many large documents as an answer holds, in an answer that no other reader asks for.
fn slow_reader(program: &Program, number: usize) -> TcpStream {
    let mut reader = elsewhere(program.client.address, Some(4_096));
    let path = match number % 4 {
        0 => format!("/swarm/subjects/{}", subject(number)),
        1 => format!("/api/swarm/subjects/{}", subject(number)),
        _ => format!("/api/swarm/subjects?after={}", subject(number)),
    };
    let head = format!("GET {path} HTTP/1.1\r\nHost: large.example\r\n\r\n");
    reader.write_all(head.as_bytes()).unwrap();
    reader
}

/// An address opens slow reads, stalled bodies and half-sent heads, applies until its quota is reached, and reads the
/// guides without a pause.
#[test]
fn address_at_its_worst_does_not_keep_others_out() {
    let lines = "[tenants.quotas]\napplications_per_address = 6";
    let file = configuration("worst.toml", &tenant("desk", lines));
    let serve = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let program = Program::start(&serve, &[]);
    let desk = program.client.at("desk.example");
    desk.convene(DATE, "aurora");
    let author = Author::join(&desk, "Ada");
    let body = "\u{1f680}".repeat(10_000);
    let draft = json!({ "date": DATE, "subjectId": "aurora", "body": body });
    desk.submit(&author, author.draft_of(draft)).expect(201);

    let attack = Attack::begin(program.client.address);
    wait_until("the attack is under way, and its applications are limited", || {
        attack.rounds() > 8 && attack.limited.load(Ordering::SeqCst) > 0
    });
    for name in ["Grace", "Edsger", "Barbara"] {
        let newcomer = Author::join(&desk, name);
        desk.submit(&newcomer, newcomer.draft(DATE, "aurora")).expect(201);
        for path in ["/", "/skill.md", "/api/swarm/sessions/1", "/api/swarm/members"] {
            desk.get(path).expect(200);
        }
    }
    let rounds = attack.rounds();
    wait_until("the attack is still under way", || attack.rounds() > rounds);
    attack.end();
}

/// Threads that attack from an address of their own.
struct Attack {
    is_over: Arc<AtomicBool>,
    /// How often a thread began again.
    rounds: Arc<AtomicUsize>,
    /// Applications that were answered with 429.
    limited: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Attack {
    fn begin(server: SocketAddr) -> Self {
        let (is_over, rounds, limited) =
            (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default(), Arc::default());
        let mut attack = Self { is_over, rounds, limited, threads: Vec::new() };
        // Connections that are held, so many at a time.
        let read = request("GET", "/api/swarm/sessions/1", 0);
        let body = request("POST", "/api/swarm/signing-payload", 262_144) + &" ".repeat(200_000);
        for (text, connections) in [(read, 60), (body, 60), ("GET / HTTP/1.1\r\nHost:".into(), 200)]
        {
            attack.spawn(move |_| hold(server, &text, connections));
        }
        for path in ["/", "/llms.txt", "/skill.md", "/feed.xml", "/openapi.json", "/swarm/members"]
        {
            attack.spawn(move |_| {
                ask(server, &request("GET", path, 0));
            });
        }
        for _ in 0..2 {
            attack.spawn(move |limited| {
                let application = application();
                let head = request("POST", "/api/swarm/apply", application.len());
                let answer = ask(server, &(head + &application));
                limited.fetch_add(usize::from(answer.contains(" 429 ")), Ordering::SeqCst);
            });
        }
        attack
    }

    fn spawn(&mut self, round: impl Fn(&AtomicUsize) + Send + 'static) {
        let (is_over, rounds, limited) =
            (Arc::clone(&self.is_over), Arc::clone(&self.rounds), Arc::clone(&self.limited));
        self.threads.push(thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                round(&limited);
                rounds.fetch_add(1, Ordering::SeqCst);
            }
        }));
    }

    fn rounds(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }

    fn end(self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn request(method: &str, path: &str, length: usize) -> String {
    let framing = match length {
        0 => String::new(),
        _ => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nHost: desk.example\r\nConnection: close\r\n{framing}\r\n")
}

fn application() -> String {
    let key = fresh_key();
    signed_text(&key.sign(Application {
        name: Name::parse("Mallory").unwrap(),
        contact: Contact::parse("m@test.example").unwrap(),
        lens: Lens::parse("l".repeat(2_000)).unwrap(),
        public_key: key.public_key().to_string(),
    }))
}

/// Opens connections that send a text and read nothing, and holds them for a second.
fn hold(server: SocketAddr, text: &str, connections: usize) {
    let connections: Vec<_> = (0..connections)
        .map(|_| {
            let mut connection = elsewhere(server, Some(4_096));
            connection.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
            // The server may refuse it and close the connection meanwhile.
            let _ = connection.write_all(text.as_bytes());
            connection
        })
        .collect();
    thread::sleep(Duration::from_secs(1));
    drop(connections);
}

/// The head of the answer to a request; empty if the server closes the connection.
fn ask(server: SocketAddr, text: &str) -> String {
    let mut connection = elsewhere(server, None);
    let mut answer = Vec::new();
    let _ = connection.write_all(text.as_bytes());
    let _ = connection.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned()
}
