//! The program on a real Redis: two of them on one, and one that comes back.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::binary::{Program, refusal};
use crate::harness::{ADMIN, Author};

const DAY: &str = "2026-11-21";

/// A server that writes to disk before it acknowledges; killed in the end.
struct Redis(Child);

impl Redis {
    fn start(port: u16, folder: &Path) -> Self {
        Self::start_with(port, folder, &[])
    }

    fn start_with(port: u16, folder: &Path, options: &[&str]) -> Self {
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always"])
            .args(options)
            .arg("--dir")
            .arg(folder)
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("redis-server does not run: {error}"));
        let up = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(up, "redis-server does not listen");
        Self(child)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether `/metrics` has this many warnings of the store.
fn counted(program: &Program, warnings: usize) -> bool {
    let metrics = program.client.get("/metrics").expect(200).text;
    metrics.lines().any(|line| line == format!("swarm_store_warnings {warnings}"))
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn two_servers_share_one_truth_and_survive_its_death() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let redis = Redis::start(port, folder.path());
    let store = format!("--store=redis://127.0.0.1:{port}");
    let serve = || Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let (one, other) = (serve(), serve());
    assert_eq!(one.client.get("/readyz").expect(200).json(), json!({ "status": "ready" }));
    assert!(counted(&one, 0));
    assert_eq!(one.client.convene(DAY, "aurora"), 1);
    let author = Author::join(&other.client, "Ada");
    let first = author.draft(DAY, "aurora");
    one.client.submit(&author, first.clone()).expect(201);
    let replay = other.client.submit(&author, first.clone()).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    let read = other.client.get("/api/swarm/sessions/1").expect(200).text;
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);

    // Dropping it sends SIGKILL.
    drop(redis);
    let away = one.client.submit(&author, author.draft(DAY, "aurora"));
    away.refused(503, "store unavailable");
    one.client.get("/readyz").refused(503, "store unavailable");
    one.client.get("/healthz").expect(200);

    let _redis = Redis::start(port, folder.path());
    let back = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        one.client.get("/readyz").status == 200
    });
    assert!(back, "no way back");
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);
    let replay = one.client.submit(&author, first).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    other.client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    let advance = json!({ "state": "aggregated" });
    let session = one.client.operate("/sessions/1/state", &advance).expect(200).json();
    assert_eq!(session["session"]["snapshot"]["participation"]["members"], 1);
}

#[test]
fn what_a_server_may_lose_is_told_and_counted_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let redis = Redis::start_with(port, folder.path(), &["--appendfsync", "everysec"]);
    let store = format!("--store=redis://127.0.0.1:{port}");
    let program = Program::start(&["serve", &store], &[]);
    assert!(counted(&program, 1));
    let ready = program.client.get("/readyz").expect(200).json();
    assert_eq!(ready["status"], "ready");
    let warnings: Vec<&str> =
        ready["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(matches!(warnings[..], [text] if text.contains("appendfsync is everysec")));
    let refused = refusal(&["serve", &format!("{store}?strict=true")], &[]);
    assert!(refused.contains("appendfsync is everysec"), "{refused}");

    drop(redis);
    let _redis = Redis::start(port, folder.path());
    let back = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        program.client.get("/readyz").status == 200
    });
    assert!(back && counted(&program, 0));
}
