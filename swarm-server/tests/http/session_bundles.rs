//! Bundles as a server serves them, and its log as `swarm watch` sees it: they hold, and show what was done to the
//! store by hand.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::json;
use swarm_redis_testing::wait_until;

use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, swarm};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];

/// The exit status of a command, and what it printed.
fn says(arguments: &[&str]) -> (Option<i32>, String) {
    let output = swarm(arguments, &[]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn bundle(client: &Client) -> String {
    format!("http://{}/api/swarm/sessions/1/bundle", client.address)
}

fn watch(client: &Client, state: &Path) -> (Option<i32>, String) {
    let url = format!("http://{}", client.address);
    says(&["watch", &url, "--state", state.to_str().unwrap()])
}

/// A session with three takes of two members, aggregated.
fn aggregated(client: &Client) {
    client.convene(DAY, "aurora");
    let (ada, grace) = (Author::join(client, "Ada"), Author::join(client, "Grace"));
    for author in [&ada, &grace, &ada] {
        client.submit(author, author.draft(DAY, "aurora")).expect(201);
    }
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    wait_until("the checkpoint has it", || {
        client.get("/api/swarm/sessions/1/bundle").status == 200
    });
}

#[test]
fn bundle_of_a_session_holds_and_its_log_is_watched() {
    let program = Program::start(&["serve"], TOKEN);
    let client = &program.client;
    aggregated(client);
    let served = client.get("/api/swarm/sessions/1/bundle").expect(200);
    assert!(served.header("etag").is_some());
    let key = client.get("/.well-known/swarm.json").expect(200).json()["logKey"].clone();
    let key = key.as_str().unwrap();
    let (status, said) = says(&["verify", &bundle(client), "--key", key]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("holds: snapshot: computed again from 3 takes"), "{said}");
    let (status, said) = says(&["verify", &bundle(client)]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("unproven: checkpoint: the log's key came from the server"), "{said}");

    let take = format!("http://{}/api/swarm/takes/2", client.address);
    let (status, said) = says(&["verify", &take, &format!("{take}/proof"), "--key", key]);
    assert_eq!(status, Some(0), "{said}");
    let other = format!("http://{}/api/swarm/takes/1", client.address);
    let (status, said) = says(&["verify", &other, &format!("{take}/proof"), "--key", key]);
    assert_eq!(status, Some(1), "{said}");

    let state = tempfile::tempdir().unwrap();
    let (status, said) = watch(client, state.path());
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("session 1: convened, by \"operator\""), "{said}");
    let old = state.path().join("old");
    std::fs::copy(state.path().join("checkpoint"), &old).unwrap();
    client.convene(DAY, "gold");
    wait_until("the next entries are watched", || {
        let (status, said) = watch(client, state.path());
        assert_eq!(status, Some(0), "{said}");
        said.contains("session 2: convened")
    });
    let new = state.path().join("checkpoint");
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let url = format!("http://{}", client.address);
    // In any order: neither says when it was signed.
    for [one, other] in [[old, new], [new, old]] {
        let (status, said) = says(&["verify", one, other, &url, "--key", key]);
        assert!(status == Some(0) && said.contains("continues that of"), "{said}");
    }

    client.get("/api/swarm/sessions/9/bundle").expect(404);
    client.operate("/subjects", &json!({ "id": "bundle", "name": "Bundle" })).expect(201);
    client.convene(DAY, "bundle");
    let session = client.get(&format!("/api/swarm/sessions/{DAY}/bundle")).expect(200).json();
    assert_eq!(session["session"]["subjectId"], "bundle");
}

#[test]
fn stores_that_were_edited_by_hand_are_found() {
    for (edit, named) in [
        (
            "UPDATE sessions SET snapshot = json_set(snapshot, '$.participation.members', 1)",
            "does not hold: snapshot: ",
        ),
        (
            "UPDATE sessions SET window_closes_at = unixepoch('2026-11-21') * 1000",
            "does not hold: history: ",
        ),
        (
            "UPDATE takes SET payload = replace(payload, '\"confidence\":0.', '\"confidence\":0.1') WHERE id = 2",
            "does not hold: signature: take 2",
        ),
        (
            "UPDATE log SET entry = json_set(entry, '$.note', 'nothing') WHERE topic = 1 AND entry LIKE '%convened%'",
            "does not hold: inclusion: ",
        ),
    ] {
        let program = Program::start(&["serve"], TOKEN);
        let folder = Arc::clone(&program.folder);
        aggregated(&program.client);
        program.stop("TERM");
        let store = Connection::open(folder.path().join("swarm.db")).unwrap();
        store.execute_batch(edit).unwrap();
        drop(store);
        let program = Program::start_in(folder, &["serve"], TOKEN);
        let (status, said) = says(&["verify", &bundle(&program.client)]);
        assert!(status == Some(1) && said.contains(named), "{edit}: {said}");
    }
}
