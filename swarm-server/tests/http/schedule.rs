//! The schedule of sessions: each step is committed once, whatever number of servers there are and however often
//! they are killed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::domain::{
    Closes, Schedule, ScheduleEntry, SubjectId, TimeOfDay, Timestamp, Weekdays,
};
use swarm_core::{Swarm, SystemEntropy, TenantId};
use swarm_redis_testing::{Server as Redis, wait_until};
use swarm_store_sqlite::SqliteStore;
use tokio::task::AbortHandle;

use crate::backend::{AnyStore, Backend, FILE, connect, on_every_store};
use crate::clock::Clock;
use crate::fixture::{Fixture, now};
use crate::harness::{ADMIN, Client};
use crate::program::{Program, configuration, refusal};
use crate::tenant_configuration::{hash, tenant};

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
    let stores = [Arc::clone(&backend.store), another(backend)];
    let servers = stores.map(|store| Killed::start(store, Arc::clone(&schedule)));

    for day in 1..=DAYS {
        // Noon: the windows are open. Then they are over.
        let is = |state: &'static str| move |session: &Value| session["state"] == state;
        wait_for(&fixture.client, day * SUBJECTS, is("collecting"), SUBJECTS);
        wait_until("all briefs are published", || briefs(&fixture.client) >= day * SUBJECTS);
        fixture.clock.move_by(6 * HOUR);
        wait_for(&fixture.client, day * SUBJECTS, is("published"), day * SUBJECTS);
        fixture.clock.move_by(18 * HOUR);
    }
    drop(servers);
    // The clock has moved to the day after the last.
    let acts = acts_by_session(&fixture.client);
    let followed: Vec<_> = acts.values().filter(|acts| acts.len() == ACTS.len()).collect();
    assert!(followed.len() >= DAYS * SUBJECTS, "{}", followed.len());
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
struct Killed(Arc<AbortHandle>);

impl Killed {
    fn start(store: AnyStore, schedule: Arc<Schedule>) -> Self {
        let tenant = TenantId::parse("default").unwrap();
        let tenant = Swarm::new(store, SystemEntropy).tenant(&tenant);
        let killer = async move {
            for life in 1_u64.. {
                let (tenant, schedule) = (tenant.clone(), Arc::clone(&schedule));
                let server = tokio::spawn(async move {
                    loop {
                        let _ = tenant.follow(&schedule).await;
                        let _ = tenant.close_due_sessions().await;
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                });
                tokio::time::sleep(Duration::from_millis(20 + life * 37 % 200)).await;
                server.abort();
            }
        };
        Self(Arc::new(now(async { tokio::spawn(killer).abort_handle() })))
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The same records through another connection, as another server has them.
fn another(backend: &Backend) -> AnyStore {
    if let Some(redis) = &backend.redis {
        return Arc::new(connect(&redis.url()));
    }
    let Some(folder) = &backend.folder else { return Arc::clone(&backend.store) };
    let clock = backend.clock.clone();
    Arc::new(SqliteStore::open_with_clock(folder.path().join(FILE), move || clock.now()).unwrap())
}

/// Waits until there are so many sessions, and so many that match.
fn wait_for(client: &Client, sessions: usize, matches: impl Fn(&Value) -> bool, count: usize) {
    wait_until("the schedule is followed", || {
        let all = all_sessions(client);
        all.len() == sessions && all.iter().filter(|session| matches(session)).count() == count
    });
}

#[test]
fn killed_programs_on_one_sqlite_file_follow_the_schedule() {
    let backend = Backend::sqlite();
    let store = backend.folder.as_ref().unwrap().path().join(FILE);
    let environment = backend.clock.environment();
    killed_programs(&format!("sqlite:{}", store.display()), &backend.clock, &environment);
}

#[test]
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
    let count = |state: &str| {
        let all = all_sessions(&stays.client);
        all.iter().filter(|session| session["state"] == state).count()
    };
    for (state, wait) in [("collecting", 0), ("published", 6 * HOUR)] {
        clock.move_by(wait);
        wait_until("the schedule is followed", || {
            dies = start();
            count(state) == SUBJECTS && briefs(&stays.client) == SUBJECTS
        });
    }
    assert_eq!(all_sessions(&stays.client).len(), SUBJECTS);
    let acts = acts_by_session(&stays.client);
    assert!(acts.len() == SUBJECTS && acts.values().all(|acts| acts == &ACTS), "{acts:?}");
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
        ("closes_after = \"5h\"\nblind = true", "schedule.blind: must be false"),
        ("closes_after = \"5h\"\nroster = \"all\"", "schedule.roster: must be \"active\""),
        ("closes_after = \"5h\"\nrosters = []", "rosters"),
    ] {
        let text = with(line);
        assert!(text.contains(named), "{line}: {text}");
    }
}

fn put_subject(client: &Client, id: &str) {
    client.operate("/subjects", &json!({ "id": id, "name": id })).expect(201);
}

/// From 11:00 for five hours, with every step.
fn entry(subject: &str) -> ScheduleEntry {
    ScheduleEntry {
        subjects: vec![SubjectId::parse(subject).unwrap()],
        days: Weekdays::ALL,
        opens: TimeOfDay::parse("opens", "11:00").unwrap(),
        closes: Closes::After(5 * HOUR),
        roster: None,
        quorum: None,
        buckets: None,
        brief: true,
        aggregate: true,
        publish: true,
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
/// The number of sessions that have their brief. One that a crash delayed is published only while the window is
/// open, so the clock may not move before.
fn briefs(client: &Client) -> usize {
    acts_by_session(client).values().filter(|acts| acts.contains(&ACTS[1].to_owned())).count()
}

fn acts_by_session(client: &Client) -> BTreeMap<u64, Vec<String>> {
    let (mut acts, mut after) = (BTreeMap::<u64, Vec<String>>::new(), 0);
    loop {
        let page = client.get(&format!("/api/swarm/log?limit=1000&after={after}")).expect(200);
        let page = page.json();
        let entries = page["entries"].as_array().unwrap().iter();
        for entry in entries.filter(|entry| entry["kind"] == "session") {
            assert_eq!(entry["by"], "schedule");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let act = text(&entry["act"]) + " " + &text(&entry["session"]["state"]);
            acts.entry(entry["session"]["id"].as_u64().unwrap()).or_default().push(act);
            let _ = Timestamp::parse("at", entry["at"].as_str().unwrap()).unwrap();
        }
        let Some(next) = page["next"].as_u64() else { return acts };
        after = next;
    }
}
