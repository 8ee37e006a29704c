//! The schedule of sessions: each step is committed once, whatever number of servers there are and however often
//! they are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::domain::{
    Closes, Declaration, Schedule, ScheduleEntry, SubjectId, TimeOfDay, TimeZone, Weekdays,
};
use swarm_core::service::ConvenedWindows;
use swarm_core::store::Store;
use swarm_core::{Swarm, SystemEntropy, TenantId};
use swarm_redis_testing::{Server as Redis, wait_until};
use swarm_store_postgres::PostgresStore;
use swarm_store_sqlite::SqliteStore;
use tokio::task::AbortHandle;

use crate::backend::{Backend, FILE, connect, nightly, on_every_store};
use crate::clock::Clock;
use crate::commands::User;
use crate::console::visitor::Visitor;
use crate::fixture::{Fixture, now};
use crate::harness::{ADMIN, Client};
use crate::program::{Program, configuration, refusal};
use crate::tenant_configuration::{hash, tenant};

nightly!(killed_programs_on_one_redis_follow_the_schedule);

on_every_store!(five_hundred_windows_are_followed_exactly_once);

const HOUR: i64 = 60 * 60 * 1_000;

/// The acts on a session of the schedule, with the state after each.
const ACTS: [&str; 5] = [
    "convened collecting",
    "brief collecting",
    "state window_closed",
    "state aggregated",
    "state published",
];

/// Two servers, each aborted every few milliseconds, wherever it then is.
fn five_hundred_windows_are_followed_exactly_once(backend: &Backend) {
    const SUBJECTS: usize = 50;
    const DAYS: usize = 10;
    let fixture = Fixture::on(backend);
    let subjects: Vec<_> = (0..SUBJECTS).map(|number| format!("subject-{number}")).collect();
    subjects.iter().for_each(|subject| put_subject(&fixture.client, subject));
    let schedule = Arc::new(Schedule::new(subjects.iter().map(|it| entry(it)).collect()).unwrap());
    let stores = [backend.store.clone(), another(backend)];
    let servers = stores.map(|store| CrashingServer::start(store, Arc::clone(&schedule)));

    let mut acts = Acts::new(&fixture.client);
    for day in 1..=DAYS {
        // Noon: the windows are open. A brief that a crash left out is published only while they are. Then they are over.
        acts.wait_for(ACTS[1], day * SUBJECTS);
        fixture.clock.move_by(6 * HOUR);
        acts.wait_for(ACTS[4], day * SUBJECTS);
        fixture.clock.move_by(18 * HOUR);
    }
    drop(servers);
    // The clock has moved to the day after the last.
    acts.read();
    let followed: Vec<_> = acts.of.values().filter(|acts| acts.len() >= ACTS.len()).collect();
    assert_eq!(followed.len(), DAYS * SUBJECTS);
    assert!(followed.iter().all(|acts| **acts == ACTS), "{followed:?}");
    let mut convened: Vec<_> = all_sessions(&fixture.client)
        .iter()
        .map(|session| format!("{} {}", session["date"], session["subjectId"]))
        .collect();
    let sessions = convened.len();
    convened.sort_unstable();
    convened.dedup();
    assert_eq!(convened.len(), sessions, "a session twice");
}

/// A server's work on the schedule, in a task that is aborted again and again.
struct CrashingServer(Arc<AbortHandle>);

impl CrashingServer {
    fn start(store: Store, schedule: Arc<Schedule>) -> Self {
        let tenant = TenantId::parse("default").unwrap();
        let tenant = Swarm::new(store, SystemEntropy).tenant(&tenant);
        let killer = async move {
            // On a slow machine a life may be too short for anything: then the next is twice as long.
            let mut patience = 1;
            for life in 1_u64.. {
                let (lived, schedule) = (tenant.clone(), Arc::clone(&schedule));
                let rounds = Arc::new(AtomicU64::new(0));
                let ended = Arc::clone(&rounds);
                let before = tenant.log_size().await.ok();
                let server = tokio::spawn(async move {
                    let mut known = ConvenedWindows::default();
                    loop {
                        let _ = lived.run_schedule(&schedule, &mut known).await;
                        let _ = lived.close_due_sessions().await;
                        ended.fetch_add(1, Ordering::SeqCst);
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                });
                let millis = patience * (20 + life * 37 % 200);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                server.abort();
                let did_nothing =
                    rounds.load(Ordering::SeqCst) == 0 && before == tenant.log_size().await.ok();
                patience = if did_nothing { patience * 2 } else { 1 };
            }
        };
        Self(Arc::new(now(async { tokio::spawn(killer).abort_handle() })))
    }
}

impl Drop for CrashingServer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The same records through another connection, as another server has them.
fn another(backend: &Backend) -> Store {
    if let Some(redis) = &backend.redis {
        return connect(&redis.url()).into();
    }
    if let Some(url) = &backend.postgres {
        return now(PostgresStore::create(url)).unwrap().into();
    }
    let Some(folder) = &backend.folder else { return backend.store.clone() };
    let clock = backend.clock.clone();
    let path = folder.path().join(FILE);
    SqliteStore::open_with_clock(path, move || clock.now()).unwrap().into()
}

#[test]
fn killed_programs_on_one_sqlite_file_follow_the_schedule() {
    let backend = Backend::sqlite();
    let store = backend.folder.as_ref().unwrap().path().join(FILE);
    let environment = backend.clock.environment();
    killed_programs(&format!("sqlite:{}", store.display()), &backend.clock, &environment);
}

fn killed_programs_on_one_redis_follow_the_schedule() {
    let clock = Clock::of_programs();
    let redis = Redis::start_in(&clock.environment(), &["--appendonly", "no"]);
    // The clocks of the servers must agree with that of Redis.
    killed_programs(&redis.url(), &clock, &clock.environment());
}

/// Two programs, of which one is killed and started again while they work.
fn killed_programs(store: &str, clock: &Clock, environment: &[(&str, &str)]) {
    const SUBJECTS: usize = 12;
    let entries: String = (0..SUBJECTS)
        .map(|number| {
            format!(
                "[[tenants.schedule]]\nsubject = \"subject-{number}\"\nopens = \"11:00\"\n\
                 closes_after = \"5h\"\nbrief = true\naggregate = true\npublish = true\n"
            )
        })
        .collect();
    let base = format!(
        "[[tenants]]\nid = \"default\"\nhosts = [\"127.0.0.1\"]\nadmin_token_hash = \"{}\"\n",
        hash(ADMIN)
    );
    let name = format!("schedule-{}.toml", &store[..5].replace(':', "-"));
    let file = configuration(&name, &base);
    let arguments = [format!("--store={store}"), format!("--config={}", file.display())];
    let start = || Program::start(&["serve", &arguments[0], &arguments[1]], environment);
    let stays = start();
    (0..SUBJECTS).for_each(|number| put_subject(&stays.client, &format!("subject-{number}")));
    // SIGHUP takes the schedule up.
    std::fs::write(&file, base + &entries).unwrap();
    stays.signal("HUP");
    let mut dies = start();
    let mut acts = Acts::new(&stays.client);
    let count = |state: &str| {
        let all = all_sessions(&stays.client);
        all.iter().filter(|session| session["state"] == state).count()
    };
    for (state, wait) in [("collecting", 0), ("published", 6 * HOUR)] {
        clock.move_by(wait);
        wait_until("the schedule is followed", || {
            dies = start();
            acts.read();
            count(state) == SUBJECTS && acts.number_of(ACTS[1]) == SUBJECTS
        });
    }
    assert_eq!(all_sessions(&stays.client).len(), SUBJECTS);
    acts.read();
    assert!(acts.of.len() == SUBJECTS && acts.of.values().all(|acts| acts == &ACTS));
}

#[test]
fn invalid_schedule_stops_the_start() {
    let with = |line: &str| {
        let entry = "[[tenants.schedule]]\nsubject = \"a\"\nopens = \"14:00\"\n";
        let file = configuration("bad-schedule.toml", &tenant("acme", &format!("{entry}{line}")));
        refusal(&["serve", &format!("--config={}", file.display())], &[])
    };
    for (line, named) in [
        ("", "tenants: \"acme\": schedule.closes_after: is missing"),
        ("closes_after = \"5 hours\"", "schedule.closes_after: must be a number with s, m, h or d"),
        ("closes_after = \"5h\"\ndays = [\"monday\"]", "schedule.days: must name mon, tue"),
        ("closes_after = \"5h\"\nroster = \"all\"", "schedule.roster: must be \"active\""),
        ("closes_after = \"5h\"\nrosters = []", "rosters"),
    ] {
        let text = with(line);
        assert!(text.contains(named), "{line}: {text}");
    }
}

#[test]
fn skipped_windows_are_shown_everywhere() {
    let lines = "[[tenants.schedule]]\nsubject = \"aurora\"\nopens = \"09:00\"\n\
                 timezone = \"Asia/Kolkata\"\ncloses_after = \"1m\"\nroster = [\"nobody\"]\n";
    let file = configuration(
        "skipped.toml",
        &tenant("default", lines).replace("default.example", "127.0.0.1"),
    );
    let arguments = ["serve", "--store=memory", "--config", file.to_str().unwrap()];
    let (program, operations) = Program::with_operations_apart(&arguments, &[]);
    let client = &program.client;
    let rows = || {
        let headers = [("x-admin-token", ADMIN)];
        let status = client.send("GET", "/api/swarm/admin/status", &headers, b"").expect(200);
        // While its window is open, there is one more.
        let mut rows = status.json()["schedule"].as_array().unwrap().clone();
        rows.drain(..rows.len() - 3);
        rows
    };
    let skips = |why: &Value| {
        let rows = rows();
        assert!(rows.iter().all(|row| row["skipped"] == *why), "{rows:?}");
        rows
    };
    let first = &skips(&json!("no such subject"))[0];
    assert!(first["at"].as_str().unwrap().ends_with("T03:30:00.000Z"), "{first}");
    assert!(first["local"].as_str().unwrap().ends_with("T09:00:00+05:30"), "{first}");
    assert_eq!((&first["timezone"], &first["last"]), (&json!("Asia/Kolkata"), &Value::Null));
    wait_until("the windows are counted", || {
        let metrics = operations.get("/metrics").expect(200).text;
        let counts = |start| metrics.lines().any(|line| line.starts_with(start));
        counts("swarm_schedule_skipped 3") || counts("swarm_schedule_skipped 4")
    });
    put_subject(client, "aurora");
    skips(&json!("roster lists \"nobody\", who is no member"));
    let user = User::of(&program);
    let said = user.admin("status").ok();
    let line = "T09:00:00+05:30 Asia/Kolkata  aurora  will be skipped: roster lists \"nobody\"";
    assert!(said.matches(line).count() >= 3, "{said}");
    let page = Visitor::signed_in(client).get("/operate").text;
    let needs =
        "the schedule will convene no session: roster lists &quot;nobody&quot;, who is no member";
    assert!(page.contains(needs) && page.contains(", 03:30 UTC<"), "{page}");
}

fn put_subject(client: &Client, id: &str) {
    client.operate("/subjects", &json!({ "id": id, "name": id })).expect(201);
}

/// From 11:00 for five hours, with every step.
fn entry(subject: &str) -> ScheduleEntry {
    ScheduleEntry {
        subjects: vec![SubjectId::parse(subject).unwrap()],
        days: Weekdays::ALL,
        timezone: TimeZone::UTC,
        skip: BTreeSet::new(),
        opens: TimeOfDay::parse("opens", "11:00").unwrap(),
        closes: Closes::After(5 * HOUR),
        roster: None,
        quorum: None,
        buckets: None,
        brief: true,
        aggregate: true,
        publish: true,
        blind: false,
        practice: false,
        question: None,
        resolution: None,
        resolves_after: None,
        declaration: Declaration::default(),
    }
}

fn all_sessions(client: &Client) -> Vec<Value> {
    let (mut all, mut before) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/api/swarm/sessions?limit=500{before}")).expect(200).json();
        all.extend(page["sessions"].as_array().unwrap().iter().cloned());
        let Some(next) = page["nextBefore"].as_u64() else { return all };
        before = format!("&before={next}");
    }
}

/// The acts of the log on each session, all of which the schedule did.
struct Acts<'a> {
    client: &'a Client,
    /// By session, oldest first.
    of: BTreeMap<u64, Vec<String>>,
    /// The number of the last entry that was read.
    read: u64,
}

impl<'a> Acts<'a> {
    fn new(client: &'a Client) -> Self {
        Self { client, of: BTreeMap::new(), read: 0 }
    }

    /// Reads the entries that are new.
    fn read(&mut self) {
        loop {
            let path = format!("/api/swarm/log?limit=1000&after={}", self.read);
            let page = self.client.get(&path).expect(200).json();
            for entry in page["entries"].as_array().unwrap() {
                self.read = entry["seq"].as_u64().unwrap();
                if entry["kind"] == "session" {
                    assert_eq!(entry["by"], "schedule");
                    let session = &entry["session"];
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    let act = text(&entry["act"]) + " " + &text(&session["state"]);
                    self.of.entry(session["id"].as_u64().unwrap()).or_default().push(act);
                }
            }
            if page["more"] == false {
                return;
            }
        }
    }

    /// The number of sessions that this was done to.
    fn number_of(&self, act: &str) -> usize {
        self.of.values().filter(|acts| acts.iter().any(|it| it == act)).count()
    }

    /// Waits until this was done to so many sessions, as long as anything is done at all.
    fn wait_for(&mut self, act: &str, sessions: usize) {
        // For two minutes at least.
        const MAX_IDLE_READS: u32 = 6_000;
        let mut idle = 0;
        while self.number_of(act) < sessions {
            assert!(idle < MAX_IDLE_READS, "{} of {sessions}: {act}", self.number_of(act));
            std::thread::sleep(Duration::from_millis(20));
            let before = self.read;
            self.read();
            idle = if self.read > before { 0 } else { idle + 1 };
        }
    }
}
