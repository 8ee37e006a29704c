//! The workload: threads that convene and close sessions, file takes, withhold them and admit members, through either server.
//! A request may get no answer, and may have been committed all the same.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name};

use crate::harness::{ADMIN, Answer, Author, Client, fresh_key, fresh_nonce, signed_text};
use crate::histories::Random;

const DAY: &str = "2026-11-21";

/// Members that file takes, and are on each roster.
const AUTHORS: usize = 6;

/// A text of every take: no event and no mail has it.
pub const TEXT: &str = "hushed-text";

/// The confidence of the takes that stay sealed.
pub const SEALED_CONFIDENCE: f64 = 0.8137;

/// When a session shows its takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shows {
    AtOnce,
    /// It is blind, and some are opened.
    OnceOpened,
    /// It is blind, and stays sealed.
    Never,
}

#[derive(Clone, Debug)]
struct ConvenedSession {
    id: u64,
    subject: String,
    shows: Shows,
}

/// What was done, as far as answers said so.
#[derive(Default)]
pub struct Done {
    sessions: Mutex<Vec<ConvenedSession>>,
    /// Takes that may be withheld.
    takes: Mutex<Vec<u64>>,
    pub withheld: Mutex<Vec<u64>>,
    /// Ids of those who applied.
    pub applied: Mutex<Vec<String>>,
    /// Signatures of takes that were never sealed.
    pub shown: Mutex<Vec<String>>,
    /// Salts and signatures of takes in sessions that may have been opened.
    pub opened: Mutex<Vec<String>>,
    /// Sessions with such takes.
    openable: Mutex<Vec<u64>>,
    /// Whether one of them was opened.
    is_opened: AtomicBool,
    /// Salts and signatures of takes that stay sealed. A signature is here before the take is sent.
    pub sealed: Mutex<Vec<String>>,
}

impl Done {
    /// Whether everything was done at least once that the checks are about.
    pub fn is_everything(&self) -> bool {
        let is_done = |texts: &Mutex<Vec<String>>| !texts.lock().unwrap().is_empty();
        [&self.applied, &self.shown, &self.sealed].into_iter().all(is_done)
            && !self.withheld.lock().unwrap().is_empty()
            && self.is_opened.load(Ordering::SeqCst)
    }
}

/// Both servers, as clients see them.
pub struct Workload {
    /// Those of the servers that ran last.
    pub clients: [Mutex<Client>; 2],
    pub is_over: AtomicBool,
    pub done: Done,
    authors: Vec<Author>,
    /// The deadline of sessions.
    deadline: String,
}

impl Workload {
    pub fn begin(clients: [Client; 2], deadline: String) -> Self {
        let join = |number| Author::join(&clients[number % 2], &format!("author-{number}"));
        let authors = (0..AUTHORS).map(join).collect();
        let clients = clients.map(Mutex::new);
        Self { clients, is_over: AtomicBool::new(false), done: Done::default(), authors, deadline }
    }

    /// Works until it is over.
    pub fn run(&self, random: &mut Random) {
        self.convene(random);
        while !self.is_over.load(Ordering::SeqCst) {
            match random.below(10) {
                0 | 1 => self.convene(random),
                2..=6 => self.file(random),
                7 => self.withhold(random),
                8 => self.close(random),
                _ => self.admit(random),
            };
            sleep(Duration::from_millis(5 + random.below(20)));
        }
    }

    fn client(&self, random: &mut Random) -> Client {
        self.clients[usize::from(random.below(2) == 0)].lock().unwrap().clone()
    }

    fn convene(&self, random: &mut Random) -> Option<()> {
        let client = self.client(random);
        let subject = format!("subject-{}", fresh_nonce());
        let shows = [Shows::AtOnce, Shows::OnceOpened, Shows::Never][random.below(3) as usize];
        let roster: Vec<_> =
            self.authors.iter().map(|it| json!({ "memberId": it.id.as_str() })).collect();
        accepted(operate(&client, "/subjects", &json!({ "id": subject, "name": subject })))?;
        // A blind session with a deadline is not opened before it.
        let deadline = (shows != Shows::OnceOpened).then_some(&self.deadline);
        let session = json!({
            "date": DAY, "subjectId": subject, "blind": shows != Shows::AtOnce, "roster": roster,
            "windowClosesAt": deadline,
        });
        let convened = accepted(operate(&client, "/sessions", &session))?;
        let id = convened.json()["session"]["id"].as_u64().unwrap();
        self.done.sessions.lock().unwrap().push(ConvenedSession { id, subject, shows });
        Some(())
    }

    fn file(&self, random: &mut Random) -> Option<()> {
        let session = one_of(&self.done.sessions, random)?;
        let author = &self.authors[random.below(AUTHORS as u64) as usize];
        let confidence = if session.shows == Shows::Never { SEALED_CONFIDENCE } else { 0.5 };
        let (nonce, subject) = (fresh_nonce(), &session.subject);
        let draft = author.draft_of(json!({
            "date": DAY, "subjectId": subject, "nonce": nonce, "confidence": confidence,
            "body": format!("{TEXT} of {nonce}"), "memoUrl": format!("https://{TEXT}.example/{nonce}"),
        }));
        let signed = author.key.sign(draft);
        let signature = signed.signature.as_str().to_owned();
        if session.shows == Shows::Never {
            self.done.sealed.lock().unwrap().push(signature.clone());
        }
        let answer = self.client(random).try_submit(author, &signed_text(&signed));
        let filed = accepted(answer.ok())?;
        let salt = filed.header("swarm-seal").map(str::to_owned);
        if session.shows == Shows::Never {
            self.done.sealed.lock().unwrap().push(salt.expect("the session is sealed"));
            return Some(());
        }
        let id = filed.json()["recommendationId"].as_u64().unwrap();
        self.done.takes.lock().unwrap().push(id);
        match salt {
            Some(salt) => {
                self.done.opened.lock().unwrap().extend([salt, signature]);
                self.done.openable.lock().unwrap().push(session.id);
            }
            // It shows its takes at once, or was opened meanwhile.
            None => self.done.shown.lock().unwrap().push(signature),
        }
        Some(())
    }

    /// One that is sealed is not withheld.
    fn withhold(&self, random: &mut Random) -> Option<()> {
        let take = one_of(&self.done.takes, random)?;
        let path = format!("/takes/{take}/withhold");
        accepted(operate(&self.client(random), &path, &json!({ "note": "it names a client" })))?;
        self.done.withheld.lock().unwrap().push(take);
        Some(())
    }

    /// Aggregates a session, which opens it if it is blind.
    fn close(&self, random: &mut Random) -> Option<()> {
        let session = one_of(&self.done.sessions, random).filter(|it| it.shows != Shows::Never)?;
        let path = format!("/sessions/{}/state", session.id);
        accepted(operate(&self.client(random), &path, &json!({ "state": "aggregated" })))?;
        self.done.sessions.lock().unwrap().retain(|it| it.id != session.id);
        if self.done.openable.lock().unwrap().contains(&session.id) {
            self.done.is_opened.store(true, Ordering::SeqCst);
        }
        Some(())
    }

    /// An application, and the activation, which queues a mail.
    fn admit(&self, random: &mut Random) -> Option<()> {
        let key = fresh_key();
        let name = format!("applicant-{}", fresh_nonce());
        let application = key.sign(Application {
            name: Name::parse(&*name).unwrap(),
            contact: Contact::parse(format!("{name}@test.example")).unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: key.public_key().to_string(),
        });
        let text = signed_text(&application);
        let headers = [("content-type", "application/json")];
        let answer =
            self.client(random).try_send("POST", "/api/swarm/apply", &headers, text.as_bytes());
        let id = accepted(answer.ok())?.json()["memberId"].as_str().unwrap().to_owned();
        self.done.applied.lock().unwrap().push(id.clone());
        let activation = json!({ "memberId": id });
        // The second one, where the first had no answer.
        accepted(operate(&self.client(random), "/activate", &activation))
            .or_else(|| accepted(operate(&self.client(random), "/activate", &activation)))?;
        Some(())
    }
}

fn one_of<T: Clone>(all: &Mutex<Vec<T>>, random: &mut Random) -> Option<T> {
    let all = all.lock().unwrap();
    let index = random.below(all.len().max(1) as u64);
    all.get(index as usize).cloned()
}

/// The answer, unless the server was killed.
fn operate(client: &Client, path: &str, body: &Value) -> Option<Answer> {
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin{path}");
    client.try_send("POST", &path, &headers, body.to_string().as_bytes()).ok()
}

/// The answer, if it was accepted.
fn accepted(answer: Option<Answer>) -> Option<Answer> {
    let answer = answer?;
    // 503: the store is held by a server that was killed.
    assert!(answer.status < 500 || answer.status == 503, "{answer:?}");
    (answer.status < 300).then_some(answer)
}
