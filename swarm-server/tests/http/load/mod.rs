//! Load: members file without a pause, and retry byte for byte when the store is unavailable. The committee
//! submits at the same time.

mod committee;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::json;
use swarm_redis_testing::wait_until;

use crate::fixture::Fixture;
use crate::harness::{Answer, Author, Client, fresh_nonce, signed_text};

const DATE: &str = "2026-11-21";
const MEMBERS: usize = 8;

/// Enough for any test: each session accepts five takes per member.
const SESSIONS: usize = 400;

pub struct Load {
    tally: Arc<Tally>,
    members: Vec<JoinHandle<Vec<Known>>>,
    committee: committee::Load,
}

/// A take as its member knows it: its id and nonce.
type Known = (u64, String);

#[derive(Default)]
struct Tally {
    ended: AtomicBool,
    filed: AtomicUsize,
    unavailable: AtomicUsize,
    found: AtomicUsize,
}

impl Load {
    /// Starts filing takes for the fixture, at this address.
    pub fn start(fixture: &Fixture, address: SocketAddr) -> Self {
        for number in 0..SESSIONS {
            fixture.convene(DATE, &subject(number));
        }
        let tally = Arc::<Tally>::default();
        let member = |_| {
            let (author, tally) = (fixture.author(), Arc::clone(&tally));
            thread::spawn(move || tally.file_on(&Client::new(address), &author))
        };
        let members = (0..MEMBERS).map(member).collect();
        Self { members, tally, committee: committee::Load::start(fixture, address) }
    }

    /// The number of takes answered with 503.
    pub fn unavailable(&self) -> usize {
        self.tally.unavailable.load(Ordering::SeqCst)
    }

    /// The number of takes that a retry after 503 found on file.
    pub fn found(&self) -> usize {
        self.tally.found.load(Ordering::SeqCst)
    }

    /// Waits until `more` takes and `more` submissions were acknowledged.
    pub fn wait_for(&self, more: usize) {
        let filed = || [self.tally.filed.load(Ordering::SeqCst), self.committee.submitted()];
        self.wait_for_more("more takes are filed", more, filed);
    }

    /// Waits until `more` takes and `more` submissions failed because the store is unavailable.
    pub fn wait_for_refusals(&self, more: usize) {
        let refused = || [self.unavailable(), self.committee.failed()];
        self.wait_for_more("the store is unavailable", more, refused);
    }

    fn wait_for_more(&self, what: &str, more: usize, counts: impl Fn() -> [usize; 2]) {
        let enough = counts().map(|count| count + more);
        self.wait_until(what, || counts().iter().zip(enough).all(|(count, goal)| *count >= goal));
    }

    fn wait_until(&self, what: &str, done: impl Fn() -> bool) {
        wait_until(what, || {
            let failed = self.members.iter().any(JoinHandle::is_finished)
                || self.committee.members.iter().any(JoinHandle::is_finished);
            assert!(!failed, "a member got a wrong answer, see above");
            done()
        });
    }

    /// Stops, and checks that each acknowledged take is stored once.
    pub fn end(self, fixture: &Fixture) {
        self.committee.end(fixture);
        self.tally.ended.store(true, Ordering::SeqCst);
        let members = self.members.into_iter();
        let mut known: Vec<Known> = members.flat_map(|member| member.join().unwrap()).collect();
        known.sort();
        let takes = fixture.takes();
        let on_file = takes.iter().map(|take| (take.id.0, take.draft().nonce.as_str().to_owned()));
        assert_eq!(known, on_file.collect::<Vec<_>>());
    }
}

impl Tally {
    fn file_on(&self, client: &Client, author: &Author) -> Vec<Known> {
        let mut known = vec![];
        while !self.ended.load(Ordering::SeqCst) {
            let (nonce, session) = (fresh_nonce(), known.len() / 5);
            assert!(session < SESSIONS, "every session has five takes of this member");
            let fields = json!({ "date": DATE, "subjectId": subject(session), "nonce": nonce });
            let text = signed_text(&author.key.sign(author.draft_of(fields)));
            known.push((self.file(client, author, &text), nonce));
            self.filed.fetch_add(1, Ordering::SeqCst);
        }
        known
    }

    /// Retries a take until it is known to be on file; returns its id.
    fn file(&self, client: &Client, author: &Author, text: &str) -> u64 {
        let mut answer = client.submit_text(author, text);
        while answer.status == 503 {
            answer.refused(503, "store unavailable");
            self.unavailable.fetch_add(1, Ordering::SeqCst);
            client.get("/healthz").expect(200);
            answer = client.submit_text(author, text);
            if answer.status == 409 {
                self.found.fetch_add(1, Ordering::SeqCst);
                return id(&answer);
            }
        }
        id(&answer.expect(201))
    }
}

fn id(answer: &Answer) -> u64 {
    answer.json()["recommendationId"].as_u64().unwrap_or_else(|| panic!("no take: {answer:?}"))
}

fn subject(number: usize) -> String {
    format!("subject-{number}")
}
