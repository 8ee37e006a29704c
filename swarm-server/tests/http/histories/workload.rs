//! The workload: members, operators and readers that send random requests to both servers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use swarm_core::Timestamp;
use swarm_redis_testing::wait_until;

use crate::histories::client::{Answer, Client, Member};
use crate::histories::history::{EventKind, History, Outcome};
use crate::histories::nemesis;
use crate::histories::servers::Servers;

pub const DATE: &str = "2026-11-21";
const SUBJECTS: [&str; 3] = ["aurora", "borealis", "corona"];
const MEMBERS: u64 = 6;
const OPERATORS: u64 = 2;
const READERS: u64 = 2;

/// The pause after a request without an answer.
const RETRY_PAUSE: Duration = Duration::from_millis(30);

struct Workload<'a> {
    servers: &'a Servers,
    history: &'a History,
    is_over: &'a AtomicBool,
    /// The highest id of a session that an operator was told.
    last_session: &'a AtomicU64,
}

/// Runs the workload and the nemesis for this long, and until each kind of kill happened; returns the history.
pub fn record(servers: &Servers, duration: Duration) -> History {
    let (history, is_over, last_session) = Default::default();
    let client = servers.client(0);
    for subject in SUBJECTS {
        let subject = json!({ "id": subject, "name": subject });
        client.operate("POST", "/subjects", &subject).unwrap();
    }
    let members: Vec<_> = (0..MEMBERS).map(|number| Member::join(&client, number)).collect();
    let workload =
        Workload { servers, history: &history, is_over: &is_over, last_session: &last_session };
    for _ in SUBJECTS {
        workload.convene(&mut Random(1));
    }
    let (workload, kills) = (&workload, AtomicUsize::new(0));
    thread::scope(|scope| {
        for (member, seed) in members.iter().zip(100..) {
            scope.spawn(move || workload.file_takes(member, &mut Random(seed)));
        }
        for seed in 200..200 + OPERATORS {
            scope.spawn(move || workload.operate(&mut Random(seed)));
        }
        for seed in 300..300 + READERS {
            scope.spawn(move || workload.read(&mut Random(seed)));
        }
        scope.spawn(|| nemesis::run(servers, &history, &is_over, &kills));
        thread::sleep(duration);
        wait_until("everything was killed once", || {
            kills.load(Ordering::SeqCst) >= nemesis::MIN_KILLS && history.has_enough()
        });
        is_over.store(true, Ordering::SeqCst);
    });
    history
}

impl Workload<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// A member files and amends, sends earlier submissions again, and retries until it has an answer.
    fn file_takes(&self, member: &Member, random: &mut Random) {
        let mut sent: Vec<(String, String)> = Vec::new();
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let is_replay = random.below(4) == 0 && !sent.is_empty();
            let (nonce, body) = if is_replay {
                sent[random.below(sent.len() as u64) as usize].clone()
            } else {
                let nonce = format!("{}-{number}", member.id);
                let subject = SUBJECTS[random.below(3) as usize];
                let body = member.sign(DATE, subject, &nonce);
                sent.push((nonce.clone(), body.clone()));
                (nonce, body)
            };
            while !self.submit(member, &nonce, &body, random) {
                thread::sleep(RETRY_PAUSE);
            }
        }
    }

    /// Sends a submission to one server, or to both at once. Returns whether every outcome is known.
    fn submit(&self, member: &Member, nonce: &str, body: &str, random: &mut Random) -> bool {
        let first = random.next();
        let send = |server: u64| {
            let begin = Instant::now();
            let outcome = Outcome::of(self.servers.client(server).submit(member, body));
            let is_known = outcome.is_known();
            let (member, nonce) = (member.id.clone(), nonce.to_owned());
            self.history.record(begin, EventKind::Submitted { member, nonce, outcome });
            is_known
        };
        if random.below(5) > 0 {
            return send(first);
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| send(first + 1));
            let (one, other) = (send(first), other.join().unwrap());
            one && other
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
        let subject = SUBJECTS[(self.last_session.load(Ordering::SeqCst) % 3) as usize];
        let mut session = json!({ "date": DATE, "subjectId": subject, "quorum": unique() });
        if random.below(2) == 0 {
            session["windowClosesAt"] = in_millis(500 + random.below(3_000)).into();
        }
        let answer = self.change("POST", "/sessions", &session, random);
        if let Some(id) = answer.and_then(|answer| answer.body["session"]["id"].as_u64()) {
            self.last_session.fetch_max(id, Ordering::SeqCst);
        }
    }

    fn move_to(&self, random: &mut Random, state: &str) {
        let path = format!("/sessions/{}/state", self.recent_session(random));
        self.change("POST", &path, &json!({ "state": state }), random);
    }

    /// Moves a deadline to shortly before or after now, or removes it. The quorum differs each time, so that no
    /// two records of a session are alike.
    fn move_deadline(&self, random: &mut Random) {
        let deadline = match random.below(4) {
            0 => Value::Null,
            _ => in_millis(random.below(1_500)).into(),
        };
        let patch = json!({ "windowClosesAt": deadline, "quorum": unique() });
        let path = format!("/sessions/{}", self.recent_session(random));
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
        self.history.record(begin, EventKind::Changed { path: path.to_owned(), status });
        answer
    }

    fn read(&self, random: &mut Random) {
        let mut after = 0;
        while !self.is_over() {
            let client = self.servers.client(random.next());
            match random.below(8) {
                0 | 1 => self.record_read(&client, "/api/swarm/sessions", |answer| {
                    EventKind::ListedSessions { answer }
                }),
                2 => {
                    let subject = SUBJECTS[random.below(3) as usize];
                    let path = format!("/api/swarm/sessions/{DATE}/{subject}");
                    self.record_read(&client, &path, |answer| EventKind::ReadSessionOfDay {
                        answer,
                    });
                }
                3 => {
                    let path = format!("/api/swarm/log?after={after}&limit=500");
                    self.record_read(&client, &path, |answer| {
                        let entries = answer["entries"].as_array().unwrap().clone();
                        let next =
                            if answer["more"] == true { answer["next"].as_u64() } else { None };
                        let next = next.unwrap_or(0);
                        EventKind::ReadLog { after: std::mem::replace(&mut after, next), entries }
                    });
                }
                _ => {
                    let path = format!("/api/swarm/sessions/{}", self.recent_session(random));
                    self.record_read(&client, &path, |answer| EventKind::ReadSession { answer });
                }
            }
        }
    }

    fn record_read(&self, client: &Client, path: &str, read: impl FnOnce(Value) -> EventKind) {
        let begin = Instant::now();
        let answer = match client.get(path) {
            Some(Answer { status: 200, body }) => return self.history.record(begin, read(body)),
            Some(Answer { status, body }) => Some((status, body)),
            None => None,
        };
        let path = path.to_owned();
        self.history.record(begin, EventKind::FailedRead { path, answer });
        thread::sleep(RETRY_PAUSE);
    }

    /// The id of one of the newest sessions.
    fn recent_session(&self, random: &mut Random) -> u64 {
        let last = self.last_session.load(Ordering::SeqCst);
        last - random.below(last.min(5))
    }
}

/// The time in this many milliseconds, as requests carry it.
pub fn in_millis(millis: u64) -> String {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let moment = i64::try_from(now + u128::from(millis)).unwrap();
    Timestamp::from_millis(moment).unwrap().to_string()
}

/// A number that no other call returns.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Pseudorandom numbers from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
