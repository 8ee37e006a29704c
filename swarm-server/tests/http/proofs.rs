//! What proves the log: the signing key, checkpoints, tiles and proofs of the binary (API.md, 11.5 and 11.6).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use serde_json::json;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{SignedNote, VerifierKey};
use swarm_core::proof::tile::{read_entries_tile, read_hashes_tile};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_core::proof::tree::TreeHash;
use swarm_redis_testing::wait_until;
use ureq::http::HeaderMap;

use crate::harness::{ADMIN, Answer, Author, Client};
use crate::program::{Program, refusal};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];

/// It stays the same until something is published, and so does the feed.
#[test]
fn feed_has_the_checkpoint_of_what_is_published() {
    let program = Program::start(&["serve", "--store=memory"], TOKEN);
    let client = &program.client;
    let ada = desk(client);
    let checkpoint = |feed: &str| {
        let note = feed.split_once("<tlog:checkpoint>")?.1.split_once("</tlog:checkpoint>")?.0;
        Some(SignedNote::parse(note).unwrap())
    };
    let size = |note: &SignedNote| Checkpoint::parse(note.text()).unwrap().size;
    let feed = || client.get("/feed.xml").expect(200);
    assert_eq!(checkpoint(&feed().text), None, "nothing is published");
    let publish = |session: u64| {
        for state in ["aggregated", "published"] {
            let path = format!("/sessions/{session}/state");
            client.operate(&path, &json!({ "state": state })).expect(200);
        }
        let entries = client.get("/api/swarm/log").expect(200).json();
        entries["entries"].as_array().unwrap().len() as u64
    };
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let published = publish(1);
    let covers = |entry: u64| checkpoint(&feed().text).is_some_and(|note| size(&note) >= entry);
    wait_until("the checkpoint has the session", || covers(published));
    let kept = feed();
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    let key = manifest["logKey"].as_str().unwrap();
    let note = checkpoint(&kept.text).unwrap();
    assert!(note.is_signed_by(&VerifierKey::parse(key).unwrap()));
    assert!(kept.text.contains(r#"xmlns:tlog="https://c2sp.org/tlog-checkpoint""#));

    let next = client.convene("2026-11-22", "aurora");
    let draft = ada.draft("2026-11-22", "aurora");
    let id = client.submit(&ada, draft).expect(201).json()["recommendationId"].clone();
    let proof = format!("/api/swarm/takes/{id}/proof");
    wait_until("another checkpoint is signed", || client.get(&proof).status == 200);
    let etag = kept.header("etag").unwrap();
    let again = client.send("GET", "/feed.xml", &[("if-none-match", etag)], b"");
    assert_eq!(again.status, 304);

    // It is a file with a checkpoint.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("feed.xml");
    fs::write(&file, &kept.text).unwrap();
    let url = format!("http://{}", client.address);
    let latest = format!("{url}/swarm/log/checkpoint");
    let arguments = ["verify", file.to_str().unwrap(), &latest, &url, "--key", key];
    let output = crate::program::swarm(&arguments, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // So is one that an editor has written, with a byte order mark. Other line ends are no other log.
    for (mark, ends, status) in [("\u{feff}", "\n", 0), ("", "\r\n", 2)] {
        let text = note.to_string().replace('\n', ends);
        fs::write(&file, format!("{mark}{text}")).unwrap();
        let output = crate::program::swarm(&arguments, &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    }

    let published = publish(next);
    wait_until("the checkpoint has the next session", || covers(published));
}

#[test]
fn takes_are_proved_by_the_checkpoint_and_its_tiles() {
    let program = Program::start(&["serve", "--store=memory"], TOKEN);
    let client = &program.client;
    let ada = desk(client);
    for _ in 0..3 {
        client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    }
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    let key = VerifierKey::parse(manifest["logKey"].as_str().unwrap()).unwrap();
    assert_eq!(key.name(), "localhost/swarm/log/default");
    assert_eq!(manifest["signingKey"], key.public_key().to_string());

    wait_until("the last take is signed", || client.get("/api/swarm/takes/3/proof").status == 200);
    let answer = client.get("/api/swarm/takes/3/proof");
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    let proof = TlogProof::parse(&text(&answer)).unwrap();
    assert!(proof.checkpoint.is_signed_by(&key));
    let entries = client.get("/swarm/log/checkpoint").expect(200);
    let checkpoint = Checkpoint::parse(SignedNote::parse(&text(&entries)).unwrap().text()).unwrap();
    let size = checkpoint.size;
    let (_, bytes) = tile(client, &format!("tile/entries/000.p/{size}"));
    let entries = read_entries_tile(&bytes).unwrap();
    assert!(proof.proves(entries[proof.index as usize]));
    assert!(entries[proof.index as usize].contains("\"kind\":\"take\",\"id\":3,"));

    let (headers, hashes) = tile(client, &format!("tile/0/000.p/{size}"));
    assert_eq!(headers["cache-control"], "no-cache");
    assert_eq!(headers["content-type"], "application/octet-stream");
    let leaves = read_hashes_tile(&hashes).unwrap();
    let expected: Vec<_> = entries.iter().map(|it| TreeHash::leaf(it.as_bytes())).collect();
    assert_eq!(leaves, expected);
    let (headers, named) = tile(client, &format!("default/tile/0/000.p/{size}"));
    assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(named, hashes);
    client.get("/swarm/log/default/checkpoint").expect(200);

    for absent in [
        format!("/swarm/log/tile/0/000.p/{}", size + 1),
        "/swarm/log/tile/0/000".to_owned(),
        "/swarm/log/tile/0/000.p/01".to_owned(),
        "/swarm/log/tile/data/000.p/1".to_owned(),
        "/swarm/log/other/checkpoint".to_owned(),
        "/swarm/log/default/2/checkpoint".to_owned(),
    ] {
        let answer = client.get(&absent).expect(404);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{absent}");
    }
    client.get("/api/swarm/takes/9/proof").expect(404);
}

#[test]
fn log_goes_on_under_its_key_after_a_restart() {
    let program = Program::start(&["serve"], TOKEN);
    let folder = Arc::clone(&program.folder);
    let ada = desk(&program.client);
    program.client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let before = checkpoint_of_all(&program.client);
    let key = key(&program.client);
    let mode = fs::metadata(folder.path().join("swarm.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let remembered = || fs::read_to_string(folder.path().join("swarm.key.checkpoints"));
    wait_until("the checkpoint is remembered", || {
        remembered().is_ok_and(|text| text.contains(&before.root.to_string()))
    });
    drop(program);

    let program = Program::start_in(folder, &["serve"], TOKEN);
    assert_eq!(self::key(&program.client), key);
    program.client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    assert_eq!(checkpoint_of_all(&program.client).size, before.size + 1);
    program.client.get("/readyz").expect(200);
}

#[test]
fn fresh_server_refuses_commits_to_a_restored_file() {
    let program = Program::start(&["serve"], TOKEN);
    let folder = Arc::clone(&program.folder);
    let ada = desk(&program.client);
    program.stop("TERM");
    let file = folder.path().join("swarm.db");
    let backup = fs::read(&file).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    program.client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let lost = checkpoint_of_all(&program.client);
    program.stop("TERM");
    fs::write(&file, backup).unwrap();

    let program = Program::start_in(folder, &["serve"], TOKEN);
    let client = &program.client;
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(503);
    let why = client.get("/readyz").expect(503).json()["detail"].to_string();
    assert!(why.contains("not the one that was seen before"), "{why}");
    let accept = |query: &str| {
        client.operate(&format!("/accept{query}"), &json!({ "what": "store" })).expect(200)
    };
    accept("?dry_run=true");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(503);
    accept("");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let accepted = client.log_entries().into_iter().find(|it| it["kind"] == "operation");
    let before = json!({
        "origin": "localhost/swarm/log/default", "size": lost.size, "root": lost.root.to_string(),
    });
    assert_eq!(accepted.unwrap()["before"], before);
    wait_until("the new log is signed", || {
        client.get("/swarm/log/default/2/checkpoint").status == 200
    });
    client.get("/readyz").expect(200);
}

#[test]
fn dry_run_of_an_acceptance_appends_nothing() {
    let program = Program::start(&["serve", "--store=memory"], TOKEN);
    let client = &program.client;
    desk(client);
    let log = || client.get("/api/swarm/log?limit=1000").expect(200).text;
    let before = log();
    for what in ["clock", "store", "key"] {
        let forced = json!({ "what": what, "force": true });
        let judged = client.operate("/accept?dry_run=true", &forced).expect(200);
        let judged = judged.json();
        assert_eq!(
            (&judged["dryRun"], &judged["cautions"][0]["code"]),
            (&json!(true), &json!("irreversible"))
        );
        assert_eq!(log(), before, "{what}");
    }
}

#[test]
fn server_with_another_key_signs_nothing() {
    let program = Program::start(&["serve"], TOKEN);
    let folder = Arc::clone(&program.folder);
    let ada = desk(&program.client);
    let signed = checkpoint_of_all(&program.client);
    let key = key(&program.client);
    program.stop("TERM");

    let program = Program::start_in(folder, &["serve", "--signing-key=other.key"], TOKEN);
    let client = &program.client;
    wait_until("it says so", || client.get("/readyz").status == 503);
    let why = client.get("/readyz").expect(503).json()["detail"].to_string();
    assert!(why.contains("default: another key signed the last checkpoint"), "{why}");
    assert!(why.contains("swarm admin accept key"), "{why}");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    assert_eq!(self::key(client), key);
    assert_eq!(checkpoint(client), signed);
    client.get("/api/swarm/takes/1/proof").expect(503);

    let accepted = client.operate("/accept", &json!({ "what": "key" })).expect(200).json();
    assert_eq!(accepted, json!({ "ok": true, "status": 200 }));
    wait_until("it signs", || client.get("/api/swarm/takes/1/proof").status == 200);
    client.get("/readyz").expect(200);
    let other = self::key(client);
    assert_eq!((other.name(), other == key), (key.name(), false));
    assert_eq!(checkpoint_of_all(client).size, signed.size + 2);
    let last = client.log_entries().pop().unwrap();
    let entry = json!({ "act": last["act"], "by": last["by"], "logKey": last["logKey"] });
    let expected = json!({ "act": "key-accepted", "by": "operator", "logKey": other.to_string() });
    assert_eq!(entry, expected);
}

#[test]
fn key_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let path = path.display();
    let said = refusal(&["serve", &format!("--signing-key={path}")], &[]);
    assert!(said.contains(&format!("chmod 600 {path}")), "{said}");
}

fn desk(client: &Client) -> Author {
    client.convene(DAY, "aurora");
    Author::join(client, "Ada")
}

/// The headers and the bytes of a tile.
fn tile(client: &Client, path: &str) -> (HeaderMap, Vec<u8>) {
    let url = format!("http://{}/swarm/log/{path}", client.address);
    let mut answer = ureq::get(url).call().unwrap();
    (answer.headers().clone(), answer.body_mut().read_to_vec().unwrap())
}

fn checkpoint(client: &Client) -> Checkpoint {
    let note = SignedNote::parse(&text(&client.get("/swarm/log/checkpoint").expect(200))).unwrap();
    assert!(note.is_signed_by(&key(client)));
    Checkpoint::parse(note.text()).unwrap()
}

/// The checkpoint that has all entries.
fn checkpoint_of_all(client: &Client) -> Checkpoint {
    client.wait_until_all_is_signed();
    checkpoint(client)
}

fn key(client: &Client) -> VerifierKey {
    let manifest = client.get("/.well-known/swarm.json").expect(200).json();
    VerifierKey::parse(manifest["logKey"].as_str().unwrap()).unwrap()
}

fn text(answer: &Answer) -> String {
    answer.text.clone()
}
