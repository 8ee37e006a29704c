//! `swarm watch` of a long log: the first look at all of it, and later ones at what is new.

use std::fs;
use std::path::Path;

use swarm_core::domain::Timestamp;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{KeyKind, NoteSigner};
use swarm_core::proof::tile::{TilePath, WIDTH, entries_tile, hashes_tile};
use swarm_core::proof::tree::{GrowingTree, TreeHash};

use super::measured::{Measured, measure};
use crate::harness::fresh_key;
use crate::program::swarm;

const ENTRIES: usize = 100_000;
const NEW: usize = 500;
const MEMBERS: usize = 500;
const TAKES: usize = 100;

/// The fewest entries that a first look reads in a second of processor time. Without optimization the program takes several
/// times as long.
const MIN_RATE: f64 = if cfg!(debug_assertions) { 5_000.0 } else { 20_000.0 };

/// The texts of a log: members, and sessions of [`TAKES`] takes, of which all but the last is aggregated.
fn entries() -> Vec<String> {
    let keys: Vec<_> = (0..MEMBERS).map(|_| fresh_key().public_key().to_string()).collect();
    let mut texts: Vec<String> = Vec::new();
    // No entry may be dated before a look that did not have it.
    let now = now_millis();
    let at = |seq: usize| {
        let hour = if seq > ENTRIES { 3_600_000 } else { -3_600_000 };
        Timestamp::EPOCH.plus_millis(now + hour + seq as i64).to_string()
    };
    let push = |texts: &mut Vec<String>, rest: String| {
        let seq = texts.len() + 1;
        texts.push(format!(r#"{{"seq":{seq},"at":"{}",{rest}}}"#, at(seq)));
    };
    for (number, key) in keys.iter().enumerate() {
        let status = r#""status":"active""#;
        let rest = format!(
            r#""kind":"member","act":"activated","by":"ada","id":"m{number}",{status},"publicKey":"{key}""#
        );
        push(&mut texts, rest);
    }
    let digest = format!("sha256:{}", "ab".repeat(32));
    let (mut session, mut take) = (0, 0);
    while texts.len() < ENTRIES + NEW {
        session += 1;
        let (day, convened) = (1 + session % 28, at(texts.len() + 1));
        let record = |state: &str, snapshot: &str| {
            format!(
                r#"{{"id":{session},"date":"2026-11-{day:02}","subjectId":"s{session}","state":"{state}","windowClosesAt":null,"convenedAt":"{convened}","quorum":null,"bucketsDigest":null,"rosterDigest":null,"snapshotDigest":{snapshot}}}"#
            )
        };
        let act = |version: u64, act: &str, record: String, takes: &str| {
            format!(
                r#""kind":"session","version":{version},"act":"{act}","by":"ada","note":null,"session":{record}{takes}"#
            )
        };
        push(&mut texts, act(1, "convened", record("collecting", "null"), ""));
        for author in 0..TAKES {
            take += 1;
            let number = (author * 5 + session) % MEMBERS;
            let key = &keys[number];
            // No draft is filed twice.
            let (digest, signature) =
                (format!("sha256:{take:016x}{:048}", 0), format!("{take:085}A=="));
            let rest = format!(
                r#""kind":"take","id":{take},"sessionId":{session},"sessionVersion":1,"memberId":"m{number}","revision":1,"digest":"{digest}","signature":"{signature}","publicKey":"{key}""#
            );
            push(&mut texts, rest);
        }
        let aggregated = record("aggregated", &format!("\"{digest}\""));
        push(&mut texts, act(2, "state", aggregated, &format!(r#","takes":{TAKES}"#)));
    }
    texts
}

#[expect(clippy::disallowed_methods, reason = "the clock of the watched server")]
fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis().try_into().unwrap()
}

/// Writes the files of a log.
fn serve(texts: &[String], folder: &Path, signer: &NoteSigner) {
    let _ = fs::remove_dir_all(folder);
    let write = |level: Option<u8>, index: usize, width: usize, bytes: Vec<u8>| {
        let tile = TilePath { level, index: index as u64, width: width as u16 };
        let path = folder.join(format!("tile/{tile}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let mut tree = GrowingTree::default();
    let mut hashes: Vec<_> = texts.iter().map(|text| TreeHash::leaf(text.as_bytes())).collect();
    hashes.iter().for_each(|leaf| tree.push(*leaf));
    for (index, texts) in texts.chunks(WIDTH.into()).enumerate() {
        write(None, index, texts.len(), entries_tile(texts));
    }
    for level in 0.. {
        for (index, hashes) in hashes.chunks(WIDTH.into()).enumerate() {
            write(Some(level), index, hashes.len(), hashes_tile(hashes));
        }
        hashes = hashes.chunks_exact(WIDTH.into()).map(TreeHash::complete).collect();
        if hashes.is_empty() {
            break;
        }
    }
    let origin = signer.verifier().name().to_owned();
    let checkpoint = Checkpoint { origin, size: tree.size(), root: tree.root() };
    fs::write(folder.join("checkpoint"), checkpoint.sign(signer).to_string()).unwrap();
}

#[test]
fn later_looks_take_time_in_proportion_to_what_is_new() {
    let signer =
        NoteSigner::new("desk.example/swarm/log/acme", KeyKind::Ed25519, &[7; 32]).unwrap();
    let (texts, folder) = (entries(), tempfile::tempdir().unwrap());
    let (log, state) = (folder.path().join("log"), folder.path().join("state"));
    let look = |size: usize| {
        serve(&texts[..size], &log, &signer);
        let key = signer.verifier().to_string();
        let (log, state) = (log.to_str().unwrap(), state.to_str().unwrap());
        let command = swarm(&["watch", log, "--state", state, "--key", &key], &[]);
        let Measured { status, seconds, .. } = measure(&command);
        assert_eq!(status, 0);
        println!("{size} entries: {seconds:.2} s");
        seconds
    };
    let first = look(ENTRIES);
    let rate = ENTRIES as f64 / first;
    assert!(rate >= MIN_RATE, "{rate:.0} entries a second");
    let [later, nothing] = [look(ENTRIES + NEW), look(ENTRIES + NEW)];
    assert!(later <= first / 20.0, "{later:.2} s for {NEW} entries, {first:.2} s for {ENTRIES}");
    assert!(nothing <= first / 20.0, "{nothing:.2} s for nothing, {first:.2} s for {ENTRIES}");
    let size = fs::metadata(state.join("state.json")).unwrap().len();
    assert!(size < 400_000, "the state has {size} bytes");
    // All of them are notable for nothing, but those that are dated after a first look.
    serve(&texts[..ENTRIES], &log, &signer);
    let key = signer.verifier().to_string();
    let arguments = ["watch", log.to_str().unwrap(), "--key", &key, "--state"];
    let fresh = folder.path().join("fresh");
    let output =
        swarm(&[&arguments[..], &[fresh.to_str().unwrap()]].concat(), &[]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().find(|line| line.contains("notable: ")), None);
}
