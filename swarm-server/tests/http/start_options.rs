//! Flags and environment of `swarm serve` that change what it does as a whole (API.md, 13.1).

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use serde_json::json;

use crate::harness::ADMIN;
use crate::program::{Program, refusal};

#[test]
fn read_only_serves_reads_and_refuses_commits() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    let convene = json!({ "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": "2026-11-21T10:00:00.000Z" });
    let first = Program::start_in(Arc::clone(&folder), &["serve"], &environment);
    assert_eq!(first.client.operate("/subjects", &subject).status, 201);
    drop(first);

    let copy = Program::start_in(Arc::clone(&folder), &["serve", "--read-only"], &environment);
    assert_eq!(copy.client.get("/api/swarm/subjects/aurora").status, 200);
    assert_eq!(copy.client.get("/readyz").status, 200);
    for (path, body) in [("/subjects", &subject), ("/sessions", &convene)] {
        let refused = copy.client.operate(path, body);
        assert_eq!(refused.status, 503, "{path}");
        assert_eq!(refused.json()["error"], "store unavailable", "{path}");
    }
    assert_eq!(copy.client.get("/api/swarm/log").json()["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn read_only_makes_no_store() {
    let refused = refusal(&["serve", "--read-only"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    assert!(refused.contains("there is no file"), "{refused}");
}

#[test]
fn the_admin_token_comes_from_a_private_file() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("token");
    let name = file.to_str().unwrap();
    fs::write(&file, format!("{ADMIN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let start = ["serve", "--store=memory"];
    let refused = refusal(&start, &[("SWARM_ADMIN_TOKEN_FILE", name)]);
    assert!(refused.contains(&format!("chmod 600 {name}")), "{refused}");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let both = [("SWARM_ADMIN_TOKEN_FILE", name), ("SWARM_ADMIN_TOKEN", ADMIN)];
    assert!(refusal(&start, &both).contains("set one"));
    let program = Program::start_in(Arc::clone(&folder), &start, &both[..1]);
    let subject = json!({ "id": "aurora", "name": "Aurora" });
    assert_eq!(program.client.operate("/subjects", &subject).status, 201);
}

#[test]
fn metrics_listen_moves_the_operations_to_their_own_address() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let apart = format!("127.0.0.1:{port}").parse().unwrap();
    let flag = format!("--metrics-listen={apart}");
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let program = Program::start(&["serve", "--store=memory", &flag], &environment);
    let public = program.client.address;
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert!(get(public, path).starts_with("HTTP/1.1 404"), "{path} on the public address");
        assert!(get(apart, path).starts_with("HTTP/1.1 200"), "{path} on its own");
    }
    assert!(get(apart, "/api/swarm/members").starts_with("HTTP/1.1 404"));
    assert!(get(public, "/api/swarm/members").starts_with("HTTP/1.1 200"));
    assert!(!get(public, "/openapi.json").contains("\"/metrics\""));
    let counted = "route=\"/api/swarm/members\"";
    assert!(get(apart, "/metrics").contains(counted), "the public address is counted");

    let refused = refusal(&["serve", "--store=memory", "--metrics-listen=nowhere"], &[]);
    assert!(refused.contains("metrics_listen: must be HOST:PORT"), "{refused}");
}

/// The whole answer, as it came.
fn get(address: SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}
