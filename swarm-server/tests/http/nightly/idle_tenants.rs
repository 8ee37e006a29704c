//! Background work does not poll idle tenants, and misses no due work.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use swarm_core::domain::committee::{CommitteeSettings, KeyPrefix};
use swarm_core::domain::{TimeOfDay, Timestamp};
use swarm_http::{Services, Site};
use swarm_redis_testing::{Server as Redis, wait_until};

use crate::backend::connect;
use crate::harness::{ADMIN, SHORT_PAUSE, Server, services, tenant};

const DAY: &str = "2026-11-21";

/// A site of fifty tenants without members, after the hour of their committees, as one of several on this Redis.
fn site(redis: &Redis) -> Site {
    let store = connect(&redis.url());
    let services = Services::from(services(&store)).with_changes(store.clone());
    let [midnight, end] = [0, u16::MAX].map(TimeOfDay::from_minutes);
    let committee = CommitteeSettings::new(KeyPrefix::parse("ic").unwrap(), midnight, end).unwrap();
    let tenants = (0..50).map(|it| {
        let mut tenant = tenant(&format!("desk-{it}"), ADMIN, &[&format!("desk-{it}.example")]);
        tenant.committee = committee.clone();
        tenant
    });
    Site::by_host(services, tenants).unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time that passes outside of the server")]
fn idle_tenants_cost_redis_one_call_a_look() {
    let redis = Redis::start(&["--appendonly", "no"]);
    let server = Server::maintained(site(&redis));
    server.client().at("desk-7.example").convene(DAY, "aurora");
    let mut seen = Vec::new();
    // The first ones measure tasks that have not run once yet.
    for _ in 0..20 {
        let (begin, before) = (Instant::now(), commands(&redis));
        sleep(Duration::from_secs(1));
        let commands = commands(&redis) - before;
        // The script of the change feed runs three commands. The sleep may take longer.
        let looks = begin.elapsed().as_millis() / SHORT_PAUSE.as_millis() + 1;
        if (20..=5 * looks).contains(&commands.into()) {
            return;
        }
        seen.push((commands, looks));
    }
    panic!("commands in so many looks: {seen:?}");
}

/// The server that accepted the deadline does no background work, as one that died right after it.
#[test]
fn server_closes_the_windows_of_another_that_died() {
    let redis = Redis::start(&["--appendonly", "no"]);
    let (first, second) = (Server::of(site(&redis)), Server::maintained(site(&redis)));
    // It checks all tenants once before there is any work, and then looks again after ten minutes.
    wait_until("the tasks of all tenants wait", || {
        let before = commands(&redis);
        sleep(5 * SHORT_PAUSE);
        commands(&redis) - before < 50
    });
    let client = first.client().at("desk-7.example");
    let path = format!("/api/swarm/sessions/{}", client.convene(DAY, "aurora"));
    let session = client.get(&path).expect(200).json()["session"].clone();
    let convened = Timestamp::parse("convenedAt", session["convenedAt"].as_str().unwrap()).unwrap();
    let deadline =
        json!({ "windowClosesAt": convened.plus_millis(DEADLINE).to_string() }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let operated = path.replace("/swarm/", "/swarm/admin/");
    client.send("PATCH", &operated, &headers, deadline.as_bytes()).expect(200);
    drop(first);
    let client = second.client().at("desk-7.example");
    wait_until("the window is closed", || {
        client.get(&path).expect(200).json()["session"]["state"] == "window_closed"
    });
    let log = client.get("/api/swarm/log").expect(200).json();
    let closed = log["entries"].as_array().unwrap().last().unwrap().clone();
    let at = Timestamp::parse("at", closed["at"].as_str().unwrap()).unwrap();
    let late = at.millis() - convened.millis() - DEADLINE;
    assert!((0..15_000).contains(&late), "{late} ms late: {closed}");
}

/// The deadline of a session, in milliseconds after it was convened.
const DEADLINE: i64 = 1_000;

/// The number of commands run, without `INFO` itself.
fn commands(redis: &Redis) -> u64 {
    let stats = redis.cli(&["info", "commandstats"]);
    let others = stats.lines().filter(|line| !line.starts_with("cmdstat_info"));
    let calls = others.filter_map(|line| line.split_once("calls=")?.1.split_once(','));
    calls.map(|(calls, _)| calls.parse::<u64>().unwrap()).sum()
}
