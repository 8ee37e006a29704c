//! `swarm export`: all that is public, as files with a manifest.

use std::fs;

use serde_json::{Value, json};
use swarm_core::domain::Digest;

use crate::harness::{Author, Server};
use crate::program::swarm;
use crate::scripted_service::ScriptedService;

#[test]
fn export_writes_all_lists_and_their_digests() {
    let server = Server::start();
    let client = server.client();
    let ada = Author::join(&client, "Ada");
    for day in 1..=3 {
        let date = format!("2026-11-2{day}");
        client.convene(&date, "aurora");
        for stance in ["bullish", "cautious"] {
            let take = json!({ "date": date, "subjectId": "aurora", "stance": stance });
            client.submit(&ada, ada.draft_of(take)).expect(201);
        }
    }
    let snapshot = json!({ "date": "2026-11-21", "notable": ["A large flow."] });
    client.operate("/subjects/aurora/snapshots", &snapshot).expect(201);
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &ada.bearer())], &memo).expect(201);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("public");
    let url = format!("http://{}", server.address);
    let export = || swarm(&["export", &url, "--out", out.to_str().unwrap()], &[]).output().unwrap();
    let output = export();
    assert!(output.status.success(), "{output:?}");
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let rows = |name: &str| -> Vec<Value> {
        read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let list = |path: &str, field: &str| client.get(path).expect(200).json()[field].clone();
    // Superseded takes too.
    assert_eq!(rows("takes.ndjson").len(), 6);
    for (file, path, field) in [
        ("sessions.ndjson", "/api/swarm/sessions", "sessions"),
        ("members.ndjson", "/api/swarm/members", "members"),
        ("memos.ndjson", "/api/swarm/memos", "memos"),
        ("subjects.ndjson", "/api/swarm/subjects", "subjects"),
        ("log.ndjson", "/api/swarm/log", "entries"),
        ("snapshots.ndjson", "/api/swarm/subjects/aurora/snapshots", "snapshots"),
    ] {
        assert_eq!(Value::from(rows(file)), list(path, field), "{file}");
        assert!(!rows(file).is_empty(), "{file}");
    }
    let brief = client.get("/api/swarm/brief?session=1").expect(200).json();
    assert_eq!(rows("briefs.ndjson"), [brief]);
    let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    assert_eq!(manifest["format"], "swarm-export/1");
    let files = manifest["files"].as_array().unwrap();
    assert_eq!(files.len() + 1, fs::read_dir(&out).unwrap().count());
    for file in files {
        let name = file["file"].as_str().unwrap();
        assert_eq!(file["digest"], Digest::of(read(name).as_bytes()).to_string(), "{name}");
        assert_eq!(file["records"], rows(name).len(), "{name}");
    }
    // Nothing is written into a folder that has something.
    assert_eq!(export().status.code(), Some(2));
}

/// One that is stopped lets the next one begin.
#[test]
fn two_exports_do_not_write_into_one_folder() {
    let server = Server::start();
    let client = server.client();
    // A member that has a memo and no take, and is not active any more.
    let ada = Author::join(&client, "Ada");
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &ada.bearer())], &memo).expect(201);
    client.operate("/deactivate", &json!({ "memberId": ada.id.as_str() })).expect(200);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", server.address);
    let export = || {
        let out = folder.path().to_str().unwrap();
        swarm(&["export", &url, "--out", out], &[]).output().unwrap()
    };
    let other = fs::File::open(folder.path()).unwrap();
    other.lock().unwrap();
    let refused = export();
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("another export is writing to"), "{text}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    drop(other);
    assert_eq!(export().status.code(), Some(0));
    let members = fs::read_to_string(folder.path().join("members.ndjson")).unwrap();
    assert!(members.contains(ada.id.as_str()), "{members}");
}

#[test]
fn failed_export_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    // It has takes, and ends where sessions are asked for.
    let service = ScriptedService::answering("{\"takes\":[]}");
    let failed = swarm(&["export", &service.url, "--out", out], &[]).output().unwrap();
    assert_eq!(failed.status.code(), Some(3), "{failed:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let output = swarm(&["export", &url, "--out", out], &[]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
