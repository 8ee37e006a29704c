//! Members, operators and readers at work through both servers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use swarm_core::Timestamp;

use crate::client::{Answer, Client, Member};
use crate::history::{History, Outcome, What};
use crate::servers::Servers;

pub const DATE: &str = "2026-11-21";
const SUBJECTS: [&str; 3] = ["aurora", "borealis", "corona"];
const MEMBERS: u64 = 6;
const OPERATORS: u64 = 2;
const READERS: u64 = 2;

/// Who works, and on what.
struct Desk<'a> {
    servers: &'a Servers,
    history: &'a History,
    ended: &'a AtomicBool,
    /// The last session that is known.
    sessions: &'a AtomicU64,
}

/// Works for this long; what happened.
pub fn record(servers: &Servers, duration: Duration) -> History {
    let (history, ended, sessions) = Default::default();
    let client = servers.client(0);
    for subject in SUBJECTS {
        let subject = json!({ "id": subject, "name": subject });
        client.operate("POST", "/subjects", &subject).unwrap();
    }
    let members: Vec<_> = (0..MEMBERS).map(|number| Member::join(&client, number)).collect();
    let desk = Desk { servers, history: &history, ended: &ended, sessions: &sessions };
    for _ in SUBJECTS {
        desk.convene(&mut Random(1));
    }
    thread::scope(|scope| {
        for (member, seed) in members.iter().zip(100..) {
            let desk = &desk;
            scope.spawn(move || desk.file_takes(member, &mut Random(seed)));
        }
        for seed in 200..200 + OPERATORS {
            scope.spawn({
                let desk = &desk;
                move || desk.operate(&mut Random(seed))
            });
        }
        for seed in 300..300 + READERS {
            scope.spawn({
                let desk = &desk;
                move || desk.read(&mut Random(seed))
            });
        }
        scope.spawn(|| desk.kill_servers(&mut Random(400)));
        thread::sleep(duration);
        ended.store(true, Ordering::SeqCst);
    });
    history
}

impl Desk<'_> {
    fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// A member files, amends, sends what it sent before, and what it has no answer to.
    fn file_takes(&self, member: &Member, random: &mut Random) {
        let mut sent: Vec<(String, String)> = Vec::new();
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let nonce = format!("{}-{number}", member.id);
            let replay = random.below(4) == 0 && !sent.is_empty();
            let (nonce, body) = if replay {
                sent[random.below(sent.len() as u64) as usize].clone()
            } else {
                let subject = SUBJECTS[random.below(3) as usize];
                let body = member.sign(DATE, subject, &nonce);
                sent.push((nonce.clone(), body.clone()));
                (nonce, body)
            };
            while self.submit(member, &nonce, &body, random).is_none() {
                thread::sleep(Duration::from_millis(30));
            }
        }
    }

    /// Sends a submission once, or to both servers at once; `None` where an outcome is not known.
    fn submit(&self, member: &Member, nonce: &str, body: &str, random: &mut Random) -> Option<()> {
        let first = random.next();
        let send = |server: u64| {
            let begin = Instant::now();
            let outcome = self.servers.client(server).submit(member, body).and_then(outcome);
            let is_known = outcome.is_some();
            let (member, nonce) = (member.id.clone(), nonce.to_owned());
            self.history.record(begin, What::Submitted { member, nonce, outcome });
            is_known.then_some(())
        };
        if random.below(5) > 0 {
            return send(first);
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| send(first + 1));
            let (one, other) = (send(first), other.join().unwrap());
            one.and(other)
        })
    }

    fn operate(&self, random: &mut Random) {
        while !self.is_over() {
            match random.below(20) {
                0 | 1 => self.convene(random),
                2 => self.move_to(random, "window_closed"),
                3 => self.move_to(random, "collecting"),
                4 => self.move_to(random, "aggregated"),
                5 => self.move_to(random, "published"),
                _ => self.move_deadline(random),
            }
            thread::sleep(Duration::from_millis(random.below(20)));
        }
    }

    fn convene(&self, random: &mut Random) {
        let subject = SUBJECTS[(self.sessions.load(Ordering::SeqCst) % 3) as usize];
        let mut session = json!({ "date": DATE, "subjectId": subject, "quorum": unique() });
        if random.below(2) == 0 {
            session["windowClosesAt"] = self.in_millis(500 + random.below(3_000)).into();
        }
        let answer = self.change("POST", "/sessions", &session, random);
        if let Some(id) = answer.and_then(|answer| answer.body["session"]["id"].as_u64()) {
            self.sessions.fetch_max(id, Ordering::SeqCst);
        }
    }

    fn move_to(&self, random: &mut Random, state: &str) {
        let path = format!("/sessions/{}/state", self.some_session(random));
        self.change("POST", &path, &json!({ "state": state }), random);
    }

    /// To shortly before or after now, or away. The quorum is another each time, so that no two
    /// records of a session are alike.
    fn move_deadline(&self, random: &mut Random) {
        let deadline = match random.below(4) {
            0 => Value::Null,
            _ => self.in_millis(random.below(1_500)).into(),
        };
        let patch = json!({ "windowClosesAt": deadline, "quorum": unique() });
        let path = format!("/sessions/{}", self.some_session(random));
        self.change("PATCH", &path, &patch, random);
    }

    fn change(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        random: &mut Random,
    ) -> Option<Answer> {
        let begin = Instant::now();
        let answer = self.servers.client(random.next()).operate(method, path, body);
        let status = answer.as_ref().map(|answer| answer.status);
        self.history.record(begin, What::Operated { path: path.to_owned(), status });
        answer
    }

    fn read(&self, random: &mut Random) {
        let mut after = 0;
        while !self.is_over() {
            let client = self.servers.client(random.next());
            let begin = Instant::now();
            match random.below(8) {
                0 | 1 => self.note(begin, &client, "/api/swarm/sessions", |answer| {
                    What::Sessions { answer }
                }),
                2 => {
                    let subject = SUBJECTS[random.below(3) as usize];
                    let path = format!("/api/swarm/sessions/{DATE}/{subject}");
                    self.note(begin, &client, &path, |answer| What::SessionOn { answer });
                }
                3 => {
                    let path = format!("/api/swarm/log?after={after}&limit=500");
                    self.note(begin, &client, &path, |answer| {
                        let entries = answer["entries"].as_array().unwrap().clone();
                        let begin =
                            std::mem::replace(&mut after, answer["next"].as_u64().unwrap_or(0));
                        What::Log { after: begin, entries }
                    });
                }
                _ => {
                    let id = self.some_session(random);
                    let path = format!("/api/swarm/sessions/{id}");
                    self.note(begin, &client, &path, |answer| What::Session { answer });
                }
            }
        }
    }

    fn note(&self, begin: Instant, client: &Client, path: &str, what: impl FnOnce(Value) -> What) {
        match client.get(path) {
            Some(Answer { status: 200, body }) => self.history.record(begin, what(body)),
            Some(Answer { status, body }) => {
                let path = path.to_owned();
                self.history.record(begin, What::Odd { path, status, body });
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }

    fn kill_servers(&self, random: &mut Random) {
        while !self.is_over() {
            thread::sleep(Duration::from_millis(1_000 + random.below(1_500)));
            let begin = Instant::now();
            self.servers.kill_and_restart(random.next());
            self.history.record(begin, What::Killed);
        }
    }

    /// One of the newest sessions.
    fn some_session(&self, random: &mut Random) -> u64 {
        let last = self.sessions.load(Ordering::SeqCst);
        last - random.below(last.min(5))
    }

    fn in_millis(&self, millis: u64) -> String {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let moment = i64::try_from(now + u128::from(millis)).unwrap();
        Timestamp::from_millis(moment).unwrap().to_string()
    }
}

/// What a submission was answered.
pub fn outcome(answer: Answer) -> Option<Outcome> {
    let number = answer.body["recommendationId"].as_u64();
    let error = answer.body["error"].as_str().unwrap_or_default().to_owned();
    match answer.status {
        201 => Some(Outcome::Filed(number.unwrap())),
        409 => Some(Outcome::Conflict { error, original: number }),
        503 => None,
        status => Some(Outcome::Refused(status)),
    }
}

/// A number that no other call answers.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Numbers that follow from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
