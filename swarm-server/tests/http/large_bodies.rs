//! Fairness of request bodies: those of one address do not starve each other, and delay nobody else.
#![allow(clippy::disallowed_methods, reason = "times are measured from outside")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fairness::submit;
use crate::fixture::Fixture;
use crate::harness::{Author, signed_text};
use crate::raw_http::Connection;

#[test]
fn bodies_of_one_address_do_not_starve_each_other() {
    let server = Fixture::start().server;
    // No JSON from its first byte on, so that an answer costs little on a busy machine.
    let body = vec![b'x'; LARGEST];
    let (most, last) = body.split_at(LARGEST - 1_000);
    let head = "POST /api/swarm/signing-payload HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
                Content-Type: application/json\r\nContent-Length: 262144\r\n\r\n";
    // Three times the memory for bodies of one address.
    let mut connections: Vec<_> = (0..200)
        .map(|_| {
            let mut connection = Connection::open(server.address);
            connection.send(head.as_bytes()).unwrap();
            connection.send(most).unwrap();
            connection
        })
        .collect();
    connections.iter_mut().for_each(|connection| connection.send(last).unwrap());
    for connection in &mut connections {
        let answer = connection.receive(false).unwrap();
        assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("invalid json body")));
    }
}

/// The largest body of most routes, in bytes.
const LARGEST: usize = 256 << 10;

/// Numbers that fill a body of a route, in an unknown field.
fn numbers(size: usize) -> String {
    let count = (size - 20) / 2;
    format!("{{\"unknown\":[{}1]}}", "1,".repeat(count - 1))
}

/// Submits takes at a steady pace, and returns the 90th percentile of the times.
fn submit_times(
    fixture: &Fixture,
    author: &Author,
    subjects: impl Iterator<Item = u32>,
) -> Duration {
    let mut connection = Connection::open_from_elsewhere(fixture.server.address);
    let mut times: Vec<_> = subjects
        .map(|subject| {
            let draft = author.draft("2026-11-21", &format!("s{subject}"));
            let body = signed_text(&author.key.sign(draft));
            let take = submit(fixture.server.address, author, "", &body);
            thread::sleep(Duration::from_millis(5));
            let began = Instant::now();
            connection.send(&take).unwrap();
            connection.receive(false).unwrap().expect(201);
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() * 9 / 10]
}

#[test]
fn bodies_of_strangers_do_not_delay_submits() {
    const TAKES: u32 = 40;
    let fixture = Fixture::start();
    let (author, server) = (fixture.author(), fixture.server.address);
    for subject in 0..5 * TAKES {
        fixture.client.convene("2026-11-21", &format!("s{subject}"));
    }
    let calm = submit_times(&fixture, &author, 0..TAKES);
    let json = "application/json";
    let attacks = [
        ("/api/swarm/signing-payload", json, numbers(LARGEST)),
        ("/api/swarm/diagnose", json, numbers(LARGEST)),
        ("/api/swarm/signing-payload", json, format!("{{\"a\":\"{}\"}}", "\\n".repeat(131_000))),
        ("/operate/subjects", "application/x-www-form-urlencoded", "a&".repeat(131_000)),
    ];
    for (attack, (path, kind, body)) in (1..).zip(attacks) {
        let length = body.len();
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {server}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let is_over = AtomicBool::new(false);
        let crowded = thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let mut connection = Connection::open(server);
                        // The server may answer before everything is sent.
                        let _ = connection.send(text.as_bytes());
                        let _ = connection.receive(false);
                    }
                });
            }
            thread::sleep(Duration::from_millis(200));
            let crowded = submit_times(&fixture, &author, attack * TAKES..(attack + 1) * TAKES);
            is_over.store(true, Ordering::Relaxed);
            crowded
        });
        // Parsed on the threads that answer, it was a hundred times as long. Other tests run meanwhile.
        let most = 12 * calm + Duration::from_millis(20);
        assert!(crowded < most, "{path}: {crowded:?} beside it, {calm:?} alone");
    }
}
