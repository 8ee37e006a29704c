//! What `swarm watch` costs on a long log: the first look at all of it, one at what is new, and one at nothing new. Prints the
//! processor time, the entries a second, and the peak memory.
//!
//! The argument is another number of entries than a million. The log is a folder of tiles, so that nothing but the program is
//! measured. Its takes have the signatures of other texts: a watcher verifies none.
#![allow(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up panics")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use swarm_benches::Author;
use swarm_benches::shipped::process::{peak_of, used};
use swarm_benches::shipped::program;
use swarm_core::domain::Timestamp;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::note::{KeyKind, NoteSigner};
use swarm_core::proof::tile::{TilePath, WIDTH, entries_tile, hashes_tile};
use swarm_core::proof::tree::{GrowingTree, TreeHash};

const MEMBERS: usize = 500;

/// Takes of each session.
const TAKES: usize = 100;

/// A look at what is new is at so many entries.
const NEW: usize = 5_000;

const ORIGIN: &str = "desk.example/swarm/log/acme";

fn main() {
    let entries = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let program = program();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (log, state) = (folder.path().join("log"), folder.path().join("state"));
    let signer = NoteSigner::new(ORIGIN, KeyKind::Ed25519, &[7; 32]).expect("a key");
    let texts = texts(entries);
    let look = |what: &str, size: usize, new: usize| {
        write_log(texts.get(..size).expect("so many"), &log, &signer);
        let mut command = Command::new(&program);
        command.arg("watch").arg(&log).arg("--state").arg(&state);
        command.args(["--key", &signer.verifier().to_string()]);
        let (time, peak) = run(&mut command);
        let seconds = time.as_secs_f64();
        let rate = new as f64 / seconds;
        println!("{what}: {seconds:.2} s, {rate:.0} entries a second, {} MiB", peak >> 20);
    };
    look(&format!("{entries} entries"), entries, entries);
    look(&format!("{NEW} new ones"), entries + NEW, NEW);
    look("nothing new", entries + NEW, 0);
}

/// Runs a command to its end; returns its processor time and its peak memory.
fn run(command: &mut Command) -> (Duration, usize) {
    let mut child = command.stdout(Stdio::null()).spawn().expect("the program");
    let (mut time, mut peak) = (Duration::ZERO, 0);
    loop {
        if let Some(now) = peak_of(child.id()) {
            (peak, time) = (peak.max(now), used(child.id()).max(time));
        }
        if let Some(status) = child.try_wait().expect("its status") {
            assert!(status.success(), "it found a fault");
            return (time, peak);
        }
        sleep(Duration::from_millis(2));
    }
}

/// The texts of a log of members, and of sessions with [`TAKES`] takes each that are aggregated.
fn texts(entries: usize) -> Vec<String> {
    let keys: Vec<_> = (0..MEMBERS).map(|number| Author::new(number as u32).key).collect();
    // No entry may be dated before a look that did not have it.
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_millis() as i64;
    let at = |seq: usize| {
        let hour = if seq > entries { 3_600_000 } else { -3_600_000 };
        Timestamp::EPOCH.plus_millis(now + hour + seq as i64).to_string()
    };
    let text = |seq: usize, rest: &str| format!(r#"{{"seq":{seq},"at":"{}",{rest}}}"#, at(seq));
    let mut texts = Vec::with_capacity(entries + NEW + TAKES);
    for (number, key) in keys.iter().enumerate() {
        let rest = format!(
            r#""kind":"member","act":"activated","by":"ada","id":"m{number}","status":"active","publicKey":"{key}""#
        );
        texts.push(text(texts.len() + 1, &rest));
    }
    let digest = format!("sha256:{}", "ab".repeat(32));
    let signature = format!("{}==", "A".repeat(86));
    let (mut session, mut take) = (0, 0);
    while texts.len() < entries + NEW {
        session += 1;
        let (day, convened) = (1 + session % 28, at(texts.len() + 1));
        let act = |version: u64, act: &str, state: &str, snapshot: &str, takes: &str| {
            format!(
                r#""kind":"session","version":{version},"act":"{act}","by":"ada","note":null,"session":{{"id":{session},"date":"2026-11-{day:02}","subjectId":"s{session}","state":"{state}","windowClosesAt":null,"convenedAt":"{convened}","quorum":null,"bucketsDigest":null,"rosterDigest":null,"snapshotDigest":{snapshot}}}{takes}"#
            )
        };
        let rest = act(1, "convened", "collecting", "null", "");
        texts.push(text(texts.len() + 1, &rest));
        for author in 0..TAKES {
            take += 1;
            let number = (author * 5 + session) % MEMBERS;
            let key = keys.get(number).expect("a member");
            let rest = format!(
                r#""kind":"take","id":{take},"sessionId":{session},"sessionVersion":1,"memberId":"m{number}","revision":1,"digest":"{digest}","signature":"{signature}","publicKey":"{key}""#
            );
            texts.push(text(texts.len() + 1, &rest));
        }
        let (snapshot, takes) = (format!("\"{digest}\""), format!(r#","takes":{TAKES}"#));
        let rest = act(2, "state", "aggregated", &snapshot, &takes);
        texts.push(text(texts.len() + 1, &rest));
    }
    texts
}

/// Writes the files of a log, but for those that are there.
fn write_log(texts: &[String], folder: &Path, signer: &NoteSigner) {
    let write = |level: Option<u8>, index: usize, width: usize, bytes: &dyn Fn() -> Vec<u8>| {
        let tile = TilePath { level, index: index as u64, width: width as u16 };
        let path = folder.join(format!("tile/{tile}"));
        if !path.exists() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            fs::write(path, bytes()).expect("it is written");
        }
    };
    let mut tree = GrowingTree::default();
    let mut hashes: Vec<_> = texts.iter().map(|text| TreeHash::leaf(text.as_bytes())).collect();
    hashes.iter().for_each(|leaf| tree.push(*leaf));
    for (index, texts) in texts.chunks(WIDTH.into()).enumerate() {
        write(None, index, texts.len(), &|| entries_tile(texts));
    }
    for level in 0.. {
        for (index, hashes) in hashes.chunks(WIDTH.into()).enumerate() {
            write(Some(level), index, hashes.len(), &|| hashes_tile(hashes));
        }
        hashes = hashes.chunks_exact(WIDTH.into()).map(TreeHash::complete).collect();
        if hashes.is_empty() {
            break;
        }
    }
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size: tree.size(), root: tree.root() };
    fs::write(folder.join("checkpoint"), checkpoint.sign(signer).to_string()).expect("a file");
}
