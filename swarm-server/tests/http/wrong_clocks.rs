//! Servers with wrong clocks: only the clock of the store counts.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;
use swarm_core::domain::Timestamp;
use swarm_http::Site;
use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::backend::{Backend, FILE, on_every_store};
use crate::clock::Clock;
use crate::fixture::Fixture;
use crate::harness::{
    ADMIN, Author, Client, SHORT_PAUSE, Server, fresh_nonce, services, signed_text, tenant,
};
use crate::program::{Program, configuration};
use crate::tenant_configuration::hash;

const DATE: &str = "2026-11-21";
const CLOSED: &str = "submission window closed";

on_every_store!(readyz_reports_a_clock_far_behind);

const TWO_HOURS: i64 = 2 * 60 * 60 * 1_000;

fn readyz_reports_a_clock_far_behind(backend: &Backend) {
    let fixture = Fixture::on(backend);
    fixture.convene(DATE, "aurora");
    let author = fixture.author();
    fixture.client.get("/readyz").expect(200);
    fixture.clock.move_by(-TWO_HOURS);
    let submitted = fixture.client.submit(&author, author.draft(DATE, "aurora"));
    submitted.refused(503, "store unavailable");
    let ready = fixture.client.get("/readyz").expect(503).json();
    let detail = "default: the clock is more than an hour behind the log; to go on with the time that it shows now: \
                  swarm admin accept clock";
    assert_eq!((&ready["error"], &ready["detail"]), (&json!("store unavailable"), &json!(detail)));
    fixture.clock.move_by(TWO_HOURS);
    fixture.client.get("/readyz").expect(200);
    fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);

    fixture.clock.move_by(-TWO_HOURS);
    let submit = || fixture.client.submit(&author, author.draft(DATE, "aurora"));
    submit().refused(503, "store unavailable");
    for wrong in [json!({}), json!({ "what": "everything" }), json!({ "what": 1 })] {
        fixture.client.operate("/accept", &wrong).expect(400);
    }
    let accepted = fixture.client.operate("/accept", &json!({ "what": "clock" })).expect(200);
    assert_eq!(accepted.json(), json!({ "ok": true, "status": 200 }));
    fixture.client.get("/readyz").expect(200);
    submit().expect(201);
    let log = fixture.client.get("/api/swarm/log").expect(200).json();
    let entries = log["entries"].as_array().unwrap();
    let accepted = &entries[entries.len() - 2];
    assert_eq!(
        (&accepted["kind"], &accepted["act"]),
        (&json!("operation"), &json!("clock-accepted"))
    );
    assert_eq!(accepted["at"], json!(fixture.clock.now().to_string()));
}

/// It is unknown which of the two clocks is wrong.
#[test]
fn schedule_pauses_while_clocks_differ() {
    let backend = Backend::memory();
    backend.clock.move_to_system_time_plus(-TWO_HOURS);
    let fixture = Fixture::on(&backend);
    let session = fixture.convene(DATE, "aurora");
    let patch = json!({ "windowClosesAt": fixture.clock.after(1) }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    fixture.client.send("PATCH", &path, &headers, patch.as_bytes()).expect(200);
    fixture.clock.move_by(2);

    let site = Site::single(services(&backend.store), tenant("default", ADMIN, &[]));
    let server = Server::maintained(site);
    let client = server.client();
    let is_paused = || client.get("/readyz").expect(200).text.contains("work is paused");
    let state = || {
        let session = client.get(&format!("/api/swarm/sessions/{session}")).expect(200);
        session.json()["session"]["state"].as_str().unwrap().to_owned()
    };
    wait_until("scheduled work is paused", is_paused);
    thread::sleep(20 * SHORT_PAUSE);
    assert_eq!((state().as_str(), is_paused()), ("collecting", true));
    backend.clock.move_to_system_time_plus(0);
    wait_until("the window closes", || state() == "window_closed");
    assert!(!is_paused());
}

const FIVE_MINUTES: i64 = 300_000;

/// Two servers on a store at this address, whose own clock is `clock`: one is five minutes ahead of it, the other
/// behind. Quotas of their committee allow all submissions of the racers.
pub fn wrong_clocks(store: &str, clock: &Clock) -> [(Program, Clock); 2] {
    [FIVE_MINUTES, -FIVE_MINUTES].map(|wrong_by| {
        let own = Clock::of_programs();
        own.move_by(clock.now().millis() - own.now().millis() + wrong_by);
        serve(store, own)
    })
}

/// Two servers on the SQLite file in `folder`, both with this clock.
pub fn on_one_file(folder: &TempDir, clock: &Clock) -> [(Program, Clock); 2] {
    let store = format!("sqlite:{}", folder.path().join(FILE).display());
    [(); 2].map(|()| serve(&store, clock.clone()))
}

fn serve(store: &str, own: Clock) -> (Program, Clock) {
    let tenant = format!(
        "[[tenants]]\nid = \"default\"\nhosts = [\"127.0.0.1\"]\nadmin_token_hash = \"{}\"\n\
         [tenants.quotas]\ncommittee_submissions_per_day = 1000000\n",
        hash(ADMIN)
    );
    let name = format!("wrong-clocks-{}.toml", fresh_nonce());
    let config = format!("--config={}", configuration(&name, &tenant).display());
    let store = format!("--store={store}");
    (Program::start(&["serve", &store, &config], &own.environment()), own)
}

fn date_header(client: &Client) -> Timestamp {
    let date = client.get("/healthz").expect(200).header("date").unwrap().to_owned();
    let since = httpdate::parse_http_date(&date).unwrap();
    let since = since.duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since.as_millis().try_into().unwrap()).unwrap()
}

/// 64 members file while the deadline passes. The clock advances by a millisecond after 65 takes, so that at
/// least one take is filed within each millisecond.
#[test]
fn deadline_is_decided_by_the_clock_of_redis() {
    const RACERS: usize = 64;
    const STEP: usize = RACERS + 1;
    const IN_TIME: i64 = 2;
    let backend = Backend::redis();
    let fixture = Fixture::on(&backend);
    let clock = &fixture.clock;
    let servers = wrong_clocks(&fixture.redis.as_ref().unwrap().url(), clock);
    for ((server, _), wrong_by) in servers.iter().zip([FIVE_MINUTES, -FIVE_MINUTES]) {
        assert_eq!(date_header(&server.client), clock.now().plus_millis(wrong_by));
    }
    let session = fixture.convene(DATE, "aurora");
    let deadline = clock.now().plus_millis(IN_TIME);
    let patch = json!({ "windowClosesAt": deadline.to_string() }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    servers[0].0.client.send("PATCH", &path, &headers, patch.as_bytes()).expect(200);

    let (start, filed) = (Barrier::new(RACERS), AtomicUsize::new(0));
    let race = |client: &Client, author: &Author| {
        let sign = |_| signed_text(&author.key.sign(author.draft(DATE, "aurora")));
        let texts: Vec<String> = (0..5).map(sign).collect();
        start.wait();
        for text in texts {
            let answer = client.submit_text(author, &text);
            if answer.status != 201 {
                answer.refused(409, CLOSED);
            } else if (filed.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(STEP) {
                clock.move_by(1);
            }
        }
    };
    thread::scope(|scope| {
        for (server, _) in servers.iter().cycle().take(RACERS) {
            let (client, author) = (Client::new(server.client.address), fixture.author());
            let race = &race;
            scope.spawn(move || race(&client, &author));
        }
    });

    let takes = fixture.takes();
    assert_eq!(takes.len(), filed.into_inner());
    let mut moments: Vec<i64> =
        takes.iter().map(|take| take.filed_at.millis() - deadline.millis()).collect();
    moments.dedup();
    assert_eq!(moments, (-IN_TIME..=0).collect::<Vec<_>>(), "by the order of filing");
    assert_eq!(clock.now(), deadline.plus_millis(1));
    for (server, _) in &servers {
        let late = fixture.author();
        server.client.submit(&late, late.draft(DATE, "aurora")).refused(409, CLOSED);
    }
}
