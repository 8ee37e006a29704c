//! The binary on a store that went back: wiped, or restored from an older copy.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};
use swarm_redis_testing::{Server, wait_until};

use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, swarm};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];

/// The dump lacks two acknowledged takes.
#[test]
fn redis_restored_from_an_older_dump_is_not_written() {
    let mut redis = Server::start(&["--appendonly", "no"]);
    let (one, other) = (serve(&redis), serve(&redis));
    let ada = desk(&one.client);
    file(&one.client, &ada);
    redis.cli(&["SAVE"]);
    file(&other.client, &ada);
    file(&one.client, &ada);
    let size = one.client.log_entries().len();
    other.client.get("/api/swarm/log").expect(200);

    redis.stop();
    redis.resume();
    wait_until("the store is found again", || one.client.get("/api/swarm/takes/1").status == 200);
    refused(&one.client, &ada);
    refused(&other.client, &ada);
    assert_eq!(one.client.log_entries().len(), size - 2, "reads go on");
    let accepted = accept(&one.client);
    // The last checkpoint may lack what came within two seconds.
    assert!(accepted["before"]["size"].as_u64().unwrap() <= size as u64, "{accepted}");
    file(&one.client, &ada);
    // The other server detects that another log has begun.
    let submit = || other.client.submit(&ada, ada.draft(DAY, "aurora"));
    wait_until("the other follows", || submit().status == 201);
    other.client.get("/readyz").expect(200);
}

#[test]
fn wiped_redis_is_not_written() {
    let redis = Server::start(&[]);
    let program = serve(&redis);
    let ada = desk(&program.client);
    file(&program.client, &ada);
    redis.cli(&["FLUSHALL"]);
    not_ready(&program.client);
    refused(&program.client, &ada);
    program.client.get("/api/swarm/takes/1").expect(404);

    accept(&program.client);
    assert_eq!(program.client.log_entries().len(), 1);
    let grace = desk(&program.client);
    file(&program.client, &grace);
    program.client.get("/readyz").expect(200);
}

/// Before the server looks, another one, started since, has written more rows than were lost.
#[test]
fn redis_with_a_different_log_is_not_written() {
    let mut redis = Server::start(&["--appendonly", "no"]);
    let one = serve(&redis);
    let ada = desk(&one.client);
    redis.cli(&["SAVE"]);
    file(&one.client, &ada);
    redis.stop();
    redis.resume();

    let fresh = serve(&redis);
    for _ in 0..3 {
        file(&fresh.client, &ada);
    }
    wait_until("the store is found again", || one.client.get("/api/swarm/takes/1").status == 200);
    refused(&one.client, &ada);
    fresh.client.get("/readyz").expect(200);
    accept(&one.client);
    file(&one.client, &ada);
}

#[test]
fn file_restored_while_open_is_not_written() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    file(&program.client, &ada);
    let path = program.folder.path().join("swarm.db");
    let db = Connection::open(path).unwrap();
    db.execute_batch("DELETE FROM log WHERE refers = 'takes'; DELETE FROM takes").unwrap();
    refused(&program.client, &ada);
    accept(&program.client);
    program.client.get("/readyz").expect(200);
}

/// A failover to a machine that has the key of the log, an older copy of the store, and no record of later
/// checkpoints. That server cannot detect the fork; a client that watched the log can.
#[test]
fn log_forked_by_a_failover_is_found_by_its_watcher() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    let folder = Arc::clone(&program.folder);
    program.stop("TERM");
    let backup = fs::read(folder.path().join("swarm.db")).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    file(&program.client, &ada);
    program.client.wait_until_all_is_signed();
    let state = folder.path().join("watched");
    let state = state.to_str().unwrap();
    let look = |client: &Client| {
        let url = format!("http://{}", client.address);
        let output = swarm(&["watch", &url, "--state", state], &[]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(look(&program.client).0, Some(0));
    let seen = format!("{state}/checkpoint");
    program.stop("TERM");

    fs::write(folder.path().join("swarm.db"), backup).unwrap();
    fs::remove_file(folder.path().join("swarm.key.checkpoints")).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    file(&program.client, &ada);
    file(&program.client, &ada);
    program.client.wait_until_all_is_signed();
    let (status, said) = look(&program.client);
    assert!(status == Some(1) && said.contains("does not hold: a fork: "), "{said}");
    let url = format!("http://{}", program.client.address);
    let new = format!("{url}/swarm/log/checkpoint");
    let manifest = program.client.get("/.well-known/swarm.json").expect(200).json();
    let key = manifest["logKey"].as_str().unwrap();
    let output = swarm(&["verify", &seen, &new, &url, "--key", key], &[]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("fails: consistency: a fork: "), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

/// Writes to a file without a name are lost.
#[test]
fn file_replaced_while_open_is_not_written() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    let path = program.folder.path().join("swarm.db");
    let older = program.folder.path().join("older.db");
    let db = Connection::open(&path).unwrap();
    db.execute("VACUUM INTO ?1", [older.to_str()]).unwrap();
    file(&program.client, &ada);

    fs::rename(&older, &path).unwrap();
    let submitted = program.client.submit(&ada, ada.draft(DAY, "aurora"));
    submitted.refused(503, "store unavailable");
    let ready = program.client.get("/readyz").expect(503).json();
    let detail = ready["detail"].as_str().unwrap();
    let steps = ["put the previous file back", "swarm.db-wal.aside", "restart the server"];
    let places = steps.map(|step| detail.find(step).expect(detail));
    assert!(places.is_sorted(), "the safe step comes first: {detail}");
    program.client.get("/api/swarm/takes/1").expect(200);
}

/// The -wal and -shm files belong to the previous file.
#[test]
fn server_started_on_a_replaced_file_serves_that_file() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    let folder = Arc::clone(&program.folder);
    let path = folder.path().join("swarm.db");
    let db = Connection::open(&path).unwrap();
    db.execute("VACUUM INTO ?1", [folder.path().join("older.db").to_str()]).unwrap();
    drop(db);
    for _ in 0..30 {
        program.client.convene(DAY, "aurora");
        file(&program.client, &ada);
    }

    program.client.wait_until_all_is_signed();
    fs::rename(folder.path().join("older.db"), &path).unwrap();
    let aside = folder.path().join("swarm.db-wal.aside");
    wait_until("its commits are set aside", || aside.exists());
    program.stop("KILL");
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    not_ready(&program.client);
    program.client.get("/api/swarm/takes/1").refused(404, "no such take");
    accept(&program.client);
    file(&program.client, &ada);
    assert!(program.stop("TERM").0.success());
    let db = Connection::open(&path).unwrap();
    let whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
}

/// Its -wal file, renamed meanwhile, is renamed back.
#[test]
fn file_put_back_has_all_commits() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    let folder = Arc::clone(&program.folder);
    let [path, away, other] = ["swarm.db", "away.db", "other.db"].map(|it| folder.path().join(it));
    file(&program.client, &ada);
    let submit = || program.client.submit(&ada, ada.draft(DAY, "aurora")).status;
    fs::rename(&path, &away).unwrap();
    assert_eq!(submit(), 503);
    fs::rename(&away, &path).unwrap();
    assert_eq!(submit(), 201);

    fs::write(&other, "").unwrap();
    fs::rename(&path, &away).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(submit(), 503);
    fs::rename(&away, &path).unwrap();
    assert_eq!(submit(), 201);
    program.stop("KILL");
    let program = Program::start_in(folder, &["serve"], TOKEN);
    for take in 1..=3 {
        program.client.get(&format!("/api/swarm/takes/{take}")).expect(200);
    }
}

/// All servers have the same key. Each remembers checkpoints on its own, as on another machine.
fn serve(redis: &Server) -> Program {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH
-----END PRIVATE KEY-----
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swarm.key");
    fs::write(&path, KEY).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let store = format!("--store={}", redis.url());
    Program::start_in(Arc::new(folder), &["serve", &store], TOKEN)
}

/// Creates an open session and a member.
fn desk(client: &Client) -> Author {
    client.convene(DAY, "aurora");
    Author::join(client, "Ada")
}

fn file(client: &Client, author: &Author) {
    client.submit(author, author.draft(DAY, "aurora")).expect(201);
}

/// Checks that commits get 503, and that the server is not ready.
#[track_caller]
fn refused(client: &Client, author: &Author) {
    client.submit(author, author.draft(DAY, "aurora")).refused(503, "store unavailable");
    client.operate("/regime", &json!({ "date": DAY })).refused(503, "store unavailable");
    client.operate("/accept", &json!({ "what": "clock" })).refused(503, "store unavailable");
    let member = json!({ "id": "ada", "name": "Ada" }).to_string();
    let admin = [("x-admin-token", ADMIN)];
    let seated = client.post("/api/ic/admin/members", &admin, &member).expect(503).json();
    assert_eq!(seated, json!({ "error": "store unavailable" }));
    not_ready(client);
}

#[track_caller]
fn not_ready(client: &Client) {
    let ready = client.get("/readyz").expect(503).json();
    let detail = "default: the log is not the one that was seen before: \
                  the store was wiped, restored or failed over; \
                  to go on with what it has now: swarm admin accept store";
    assert_eq!((&ready["error"], &ready["detail"]), (&json!("store unavailable"), &json!(detail)));
}

/// Accepts the store; returns the log entry of that.
#[track_caller]
fn accept(client: &Client) -> Value {
    let accepted = client.operate("/accept", &json!({ "what": "store" })).expect(200).json();
    assert_eq!(accepted, json!({ "ok": true, "status": 200 }));
    let entry = client.log_entries().pop().unwrap();
    assert_eq!((&entry["kind"], &entry["act"]), (&json!("operation"), &json!("store-accepted")));
    assert_eq!((&entry["by"], &entry["log"]), (&json!("operator"), &json!(2)));
    entry
}

/// What a newcomer does to start over: removes the store, and not what the server remembers of its log.
#[test]
fn start_with_another_store_says_what_happened_and_what_goes_on() {
    let program = Program::start(&["serve"], TOKEN);
    let folder = Arc::clone(&program.folder);
    let ada = desk(&program.client);
    file(&program.client, &ada);
    program.client.wait_until_all_is_signed();
    program.stop("TERM");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("swarm.db") {
            fs::remove_file(path).unwrap();
        }
    }
    for store in ["sqlite:swarm.db", "sqlite:other.db"] {
        let program = Program::start_in(Arc::clone(&folder), &["serve", "--store", store], TOKEN);
        not_ready(&program.client);
        let (_, log) = program.stop("TERM");
        for words in ["swarm.key.checkpoints remembers a log", "swarm admin accept store"] {
            assert!(log.contains(words), "{store}: {words}: {log}");
        }
    }
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    program.client.operate("/accept", &json!({ "what": "store" })).expect(200);
    program.client.get("/readyz").expect(200);
    program.client.convene(DAY, "aurora");
}

/// An acceptance without a cause would begin another log, which nobody who watched the one before can tell from a lost store.
#[test]
fn store_and_key_with_which_nothing_is_wrong_are_not_accepted() {
    let program = Program::start(&["serve"], TOKEN);
    let ada = desk(&program.client);
    file(&program.client, &ada);
    program.client.wait_until_all_is_signed();
    let before = program.client.log_entries().len();
    for what in ["store", "key"] {
        for path in ["/accept", "/accept?dry_run=true"] {
            let refused = program.client.operate(path, &json!({ "what": what }));
            assert_eq!(refused.header("swarm-error"), Some("nothing-to-accept"), "{what}");
            refused.refused(409, "nothing to accept");
        }
    }
    assert_eq!(program.client.log_entries().len(), before);
    let url = format!("http://{}", program.client.address);
    let environment =
        [("SWARM_URL", url.as_str()), ("SWARM_ADMIN_TOKEN", ADMIN), ("HOME", "/nonexistent")];
    let accept = |flags: &[&str]| {
        let arguments = [&["admin", "accept", "store", "--yes"], flags].concat();
        swarm(&arguments, &environment).output().unwrap()
    };
    let refused = accept(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nothing to accept"));
    assert_eq!(accept(&["--force"]).status.code(), Some(0));
    let entry = program.client.log_entries().pop().unwrap();
    assert_eq!((&entry["act"], &entry["log"]), (&json!("store-accepted"), &json!(2)));
    file(&program.client, &ada);
}
