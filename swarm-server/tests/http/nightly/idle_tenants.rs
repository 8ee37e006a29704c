//! Background work does not poll idle tenants, and misses no due work.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use swarm_core::domain::Timestamp;
use swarm_redis_testing::{Server, wait_until};

use crate::harness::ADMIN;
use crate::program::{Program, configuration};
use crate::tenant_configuration::tenant;

const DAY: &str = "2026-11-21";

/// A server of fifty tenants without members, after the hour of their committees.
fn serve(name: &str, redis: &Server) -> Program {
    let lines = "[tenants.committee]\nbrief_at = \"00:00\"";
    let tenants: String = (0..50).map(|it| tenant(&format!("desk-{it}"), lines)).collect();
    let file = configuration(name, &tenants);
    let (file, store) =
        (format!("--config={}", file.display()), format!("--store={}", redis.url()));
    Program::start(&["serve", &file, &store], &[])
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time that passes outside of the server")]
fn idle_tenants_cost_redis_one_call_a_second() {
    let redis = Server::start(&["--appendonly", "no"]);
    let program = serve("idle-tenants.toml", &redis);
    program.client.at("desk-7.example").convene(DAY, "aurora");
    // Until each task has run once, and is waiting: on a busy machine later.
    sleep(Duration::from_secs(15));
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (begin, before) = (Instant::now(), commands(&redis));
        sleep(Duration::from_secs(8));
        let commands = commands(&redis) - before;
        // The script of the change feed runs three commands. The sleep may take longer.
        let seconds = begin.elapsed().as_secs() + 1;
        if (20..=5 * seconds).contains(&commands) {
            return;
        }
        seen.push((commands, seconds));
    }
    panic!("commands in so many seconds: {seen:?}");
}

#[test]
fn server_closes_the_windows_of_another_that_died() {
    let redis = Server::start(&["--appendonly", "no"]);
    let [first, second] = ["dies.toml", "stays.toml"].map(|name| serve(name, &redis));
    // It checks all tenants once before there is any work.
    sleep(Duration::from_secs(7));
    let client = first.client.at("desk-7.example");
    let path = format!("/api/swarm/sessions/{}", client.convene(DAY, "aurora"));
    let session = client.get(&path).expect(200).json()["session"].clone();
    let convened = Timestamp::parse("convenedAt", session["convenedAt"].as_str().unwrap()).unwrap();
    let deadline =
        json!({ "windowClosesAt": convened.plus_millis(DEADLINE).to_string() }).to_string();
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let operated = path.replace("/swarm/", "/swarm/admin/");
    client.send("PATCH", &operated, &headers, deadline.as_bytes()).expect(200);
    // It has no time to tell anybody what the commit did not.
    first.signal("KILL");
    let client = second.client.at("desk-7.example");
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
const DEADLINE: i64 = 6_000;

/// The number of commands run, without `INFO` itself.
fn commands(redis: &Server) -> u64 {
    let stats = redis.cli(&["info", "commandstats"]);
    let others = stats.lines().filter(|line| !line.starts_with("cmdstat_info"));
    let calls = others.filter_map(|line| line.split_once("calls=")?.1.split_once(','));
    calls.map(|(calls, _)| calls.parse::<u64>().unwrap()).sum()
}
