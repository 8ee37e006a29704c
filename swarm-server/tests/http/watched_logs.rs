//! `swarm watch` of an operator who has the store, the signing key and the admin token: a server makes an honest log, the
//! operator goes on with it as it likes and signs that with the key of the log.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use swarm_core::domain::{Actor, LogBefore, LogEntry, LogLine, Operation, Seq, Timestamp};
use swarm_core::json::write;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::note::{KeyKind, NoteSigner, SignedNote};
use swarm_core::proof::succession::Succession;
use swarm_core::proof::tile::{entries_tile, hashes_tile, read_entries_tile};
use swarm_core::proof::tree::{GrowingTree, TreeHash};
use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::harness::{ADMIN, Author, Client, fresh_key};
use crate::program::{Program, swarm};

const DAY: &str = "2026-11-21";
const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];

/// The exit status of a command, and what it printed.
fn says(arguments: &[&str]) -> (Option<i32>, String) {
    let output = swarm(arguments, &[]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// A log that was signed with the key of a server, as files.
#[derive(Clone)]
struct Log {
    signer: std::sync::Arc<NoteSigner>,
    entries: Vec<String>,
}

impl Log {
    /// The log of a running server, with its key.
    fn of(program: &Program) -> Self {
        let client = &program.client;
        client.wait_until_all_is_signed();
        let note = SignedNote::parse(&client.get("/swarm/log/checkpoint").text).unwrap();
        let Checkpoint { origin, size, .. } = Checkpoint::parse(note.text()).unwrap();
        let pem = fs::read_to_string(program.folder.path().join("swarm.key")).unwrap();
        let base64: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(base64).unwrap();
        let secret = ServerSecret::new(*der.last_chunk().unwrap());
        let signer = secret.log_key(&origin).unwrap();
        assert!(note.is_signed_by(signer.verifier()), "the key of the log");
        let url = format!("http://{}/swarm/log/tile/entries/000.p/{size}", client.address);
        let tile = ureq::get(url).call().unwrap().body_mut().read_to_vec().unwrap();
        let entries = read_entries_tile(&tile).unwrap();
        let entries = entries.into_iter().map(str::to_owned).collect();
        Self { signer: signer.into(), entries }
    }

    fn key(&self) -> String {
        self.signer.verifier().to_string()
    }

    fn value(&self, index: usize) -> Value {
        serde_json::from_str(&self.entries[index]).unwrap()
    }

    /// The last entry with these fields.
    fn last(&self, fields: &[(&str, &str)]) -> Value {
        let has = |value: &Value| fields.iter().all(|(name, text)| value[name] == *text);
        (0..self.entries.len()).rev().map(|index| self.value(index)).find(has).unwrap()
    }

    /// Appends an entry that was changed, with its number, dated now or at this time.
    fn forge(&mut self, entry: &Value, at: Option<&str>) {
        let now = Timestamp::EPOCH.plus_millis(now_millis()).to_string();
        let mut text =
            format!("{{\"seq\":{},\"at\":\"{}\"", self.entries.len() + 1, at.unwrap_or(&now));
        for (name, value) in entry.as_object().unwrap() {
            if !matches!(name.as_str(), "seq" | "at") {
                text.push_str(&format!(",\"{name}\":{}", write(value)));
            }
        }
        self.entries.push(text + "}");
    }

    /// The log as a server would have written it whose clock differs by this much.
    fn shifted(&self, millis: i64) -> Self {
        let shifted = |part: &str| match Timestamp::parse("at", part) {
            Ok(time) => time.plus_millis(millis).to_string(),
            Err(_) => part.to_owned(),
        };
        let shifted = |text: &String| text.split('"').map(shifted).collect::<Vec<_>>().join("\"");
        Self { entries: self.entries.iter().map(shifted).collect(), ..self.clone() }
    }

    fn note(&self) -> SignedNote {
        let mut tree = GrowingTree::default();
        self.entries.iter().for_each(|entry| tree.push(TreeHash::leaf(entry.as_bytes())));
        let origin = self.signer.verifier().name().to_owned();
        Checkpoint { origin, size: tree.size(), root: tree.root() }.sign(&self.signer)
    }

    /// Writes the files of the log, as a web server could serve them.
    fn serve(&self, folder: &Path) -> String {
        self.serve_with(folder, &self.note().to_string(), &self.entries)
    }

    fn serve_with(&self, folder: &Path, note: &str, entries: &[String]) -> String {
        let _ = fs::remove_dir_all(folder);
        for kind in ["0", "entries"] {
            fs::create_dir_all(folder.join(format!("tile/{kind}/000.p"))).unwrap();
        }
        let partial = |kind: &str| folder.join(format!("tile/{kind}/000.p/{}", entries.len()));
        fs::write(partial("entries"), entries_tile(entries)).unwrap();
        let hashes: Vec<_> = entries.iter().map(|entry| TreeHash::leaf(entry.as_bytes())).collect();
        fs::write(partial("0"), hashes_tile(&hashes)).unwrap();
        fs::write(folder.join("checkpoint"), note).unwrap();
        folder.to_str().unwrap().to_owned()
    }
}

#[expect(clippy::disallowed_methods, reason = "the forger's clock")]
fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis().try_into().unwrap()
}

/// A watcher with a folder of its own.
struct Watcher {
    folder: TempDir,
    key: String,
}

impl Watcher {
    fn new(log: &Log) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), key: log.key() }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn look(&self, url: &str, flags: &[&str]) -> (Option<i32>, String) {
        let state = self.state();
        let arguments = ["watch", url, "--key", &self.key, "--state", state.to_str().unwrap()];
        says(&[&arguments, flags].concat())
    }

    #[track_caller]
    fn expects(&self, url: &str, status: i32, words: &str) {
        let (code, said) = self.look(url, &[]);
        assert!(code == Some(status) && said.contains(words), "{words}: {code:?} {said}");
    }
}

/// A server with two members, a session that is open, and two takes in it.
fn desk() -> (Program, Author) {
    let program = Program::start(&["serve"], TOKEN);
    let client = &program.client;
    client.convene(DAY, "aurora");
    let (ada, grace) = (Author::join(client, "Ada"), Author::join(client, "Grace"));
    for author in [&ada, &grace] {
        client.submit(author, author.draft(DAY, "aurora")).expect(201);
    }
    (program, ada)
}

fn patch(client: &Client, session: u64, body: &Value) {
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", &path, &headers, body.to_string().as_bytes()).expect(200);
}

/// An act that an operator appends to the log of [`desk`]. The watcher has seen the log before it.
#[test]
fn forged_entries_end_the_watch() {
    let (program, _) = desk();
    let client = &program.client;
    let honest = Log::of(&program);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let aggregated = Log::of(&program);
    client.convene(DAY, "borealis");
    client.operate("/sessions/2/withdraw", &json!({})).expect(200);
    let withdrawn = Log::of(&program);

    let second = |log: &mut Log| {
        let mut act = aggregated.last(&[("kind", "session"), ("act", "state")]);
        act["session"]["snapshotDigest"] = json!(format!("sha256:{}", "0".repeat(64)));
        next_version(&mut act);
        log.forge(&act, None);
    };
    let after_withdrawal = |log: &mut Log| {
        let mut act = withdrawn.last(&[("kind", "session"), ("act", "withdrawn")]);
        act["act"] = json!("deadline");
        act["session"]["windowClosesAt"] = json!("2036-01-01T12:00:00.000Z");
        next_version(&mut act);
        log.forge(&act, None);
    };
    let take = |log: &mut Log, change: &dyn Fn(&mut Value)| {
        let mut take = honest.last(&[("kind", "take")]);
        take["id"] = json!(3);
        take["revision"] = json!(2);
        change(&mut take);
        log.forge(&take, None);
    };
    let late = |log: &mut Log| {
        let mut act = honest.last(&[("kind", "session"), ("act", "convened")]);
        act["act"] = json!("deadline");
        let deadline = Timestamp::EPOCH.plus_millis(now_millis()).to_string();
        act["session"]["windowClosesAt"] = json!(deadline);
        next_version(&mut act);
        log.forge(&act, None);
        std::thread::sleep(std::time::Duration::from_millis(5));
        take(log, &|take| next_version_of(take, 2));
    };
    let question = |log: &mut Log| {
        let mut act = honest.last(&[("kind", "session"), ("act", "convened")]);
        act["act"] = json!("question");
        act["session"]["question"] = json!("Lower?");
        next_version(&mut act);
        log.forge(&act, None);
    };
    let outcome = |log: &mut Log| {
        let mut act = aggregated.last(&[("kind", "session"), ("act", "state")]);
        act.as_object_mut().unwrap().remove("takes");
        act["act"] = json!("outcome");
        act["session"]["outcome"] = json!({ "value": 2, "source": null, "recordedAt": act["at"] });
        next_version(&mut act);
        log.forge(&act, None);
    };
    let stranger = fresh_key().public_key().to_string();
    for (name, seen, forge, words) in [
        ("twice", &aggregated, &second as &dyn Fn(&mut Log), "aggregated a second time"),
        ("withdrawn", &withdrawn, &after_withdrawal, "\"deadline\" after it was withdrawn"),
        ("question", &honest, &question, "question changed with 2 takes on file"),
        ("outcome", &aggregated, &outcome, "outcome recorded before its window was over"),
        ("late", &honest, &late, "was filed after the deadline in force"),
        (
            "version",
            &honest,
            &|log| take(log, &|take| take["sessionVersion"] = json!(7)),
            "was judged under version 7",
        ),
        (
            "key",
            &honest,
            &|log| take(log, &|take| take["publicKey"] = json!(stranger)),
            "is not the one that the log registered",
        ),
        (
            "member",
            &honest,
            &|log| take(log, &|take| take["memberId"] = json!("nobody")),
            "no entry registered the member",
        ),
        (
            "amendment",
            &aggregated,
            &|log| take(log, &|_| {}),
            "amends after the session was aggregated",
        ),
    ] {
        if name == "version" && honest.last(&[("kind", "session")]).get("version").is_none() {
            continue;
        }
        let (watcher, folder) = (Watcher::new(seen), tempfile::tempdir().unwrap());
        let served = folder.path().join("log");
        watcher.expects(&seen.serve(&served), 0, "holds: ");
        let before = fs::read(watcher.state().join("state.json")).unwrap();
        let mut log = seen.clone();
        forge(&mut log);
        for _ in 0..2 {
            watcher.expects(&log.serve(&served), 1, words);
        }
        assert_eq!(fs::read(watcher.state().join("state.json")).unwrap(), before, "{name}");
        // Also to someone who reads the log for the first time.
        Watcher::new(seen).expects(served.to_str().unwrap(), 1, words);
        watcher.expects(&seen.serve(&served), 0, "holds: ");
    }
}

/// The number of the act, where the log numbers acts.
fn next_version(act: &mut Value) {
    if let Some(version) = act.get("version").and_then(Value::as_u64) {
        act["version"] = json!(version + 1);
    }
}

fn next_version_of(take: &mut Value, version: u64) {
    if take.get("sessionVersion").is_some() {
        take["sessionVersion"] = json!(version);
    }
}

#[test]
fn take_dated_before_a_look_that_did_not_have_it_ends_the_watch() {
    let (program, _) = desk();
    let mut log = Log::of(&program);
    let (watcher, folder) = (Watcher::new(&log), tempfile::tempdir().unwrap());
    let honest = log.clone();
    // The entries before are old enough that the forged one is not before them.
    std::thread::sleep(std::time::Duration::from_secs(7));
    watcher.expects(&log.serve(folder.path()), 0, "holds: ");
    let held = Timestamp::EPOCH.plus_millis(now_millis() - 6_000).to_string();
    let mut take = log.last(&[("kind", "take")]);
    take["id"] = json!(3);
    take["revision"] = json!(2);
    take["digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    log.forge(&take, Some(&held));
    watcher.expects(&log.serve(folder.path()), 1, "by this watcher's clock, did not have it");
    Watcher::new(&log).expects(folder.path().to_str().unwrap(), 0, "holds: ");
    watcher.expects(&honest.serve(folder.path()), 0, "holds: ");
}

#[test]
fn clock_that_runs_ahead_is_notable() {
    let (program, _) = desk();
    let log = Log::of(&program);
    let (watcher, folder) = (Watcher::new(&log), tempfile::tempdir().unwrap());
    watcher.expects(&log.serve(&folder.path().join("log")), 0, "holds: ");
    let ahead = log.shifted(300_000);
    let (status, said) = Watcher::new(&log).look(&ahead.serve(&folder.path().join("log")), &[]);
    assert_eq!(status, Some(0), "{said}");
    let line = said.lines().find(|line| line.contains("after this look at ")).expect(&said);
    assert!(line.starts_with("notable: entry 1 is dated "), "{said}");
}

/// An operator that edits its store can keep the server from opening the session.
#[test]
fn blind_session_that_stays_sealed_is_noticed() {
    let program = Program::start(&["serve"], TOKEN);
    let client = &program.client;
    let ada = Author::join(client, "Ada");
    let end = Timestamp::EPOCH.plus_millis(now_millis() + 180_000).to_string();
    client.operate("/subjects", &json!({ "id": "iron", "name": "Iron" })).expect(201);
    let session = json!({ "date": DAY, "subjectId": "iron", "blind": true, "windowClosesAt": end });
    client.operate("/sessions", &session).expect(201);
    client.submit(&ada, ada.draft(DAY, "iron")).expect(201);
    let sealed = Log::of(&program);
    let folder = tempfile::tempdir().unwrap();
    let look = |log: &Log| Watcher::new(&sealed).look(&log.serve(&folder.path().join("log")), &[]);
    let (status, said) = look(&sealed);
    assert!(status == Some(0) && !said.contains("notable: "), "{said}");
    // Two minutes after the deadline.
    let left = sealed.shifted(-300_000);
    let (status, said) = look(&left);
    let line = said.lines().find(|line| line.contains("session 1 is sealed, though")).expect(&said);
    assert!(status == Some(0) && line.starts_with("notable: "), "{said}");

    let mut aggregated = left;
    let mut act = aggregated.last(&[("kind", "session"), ("act", "convened")]);
    (act["act"], act["takes"]) = (json!("state"), json!(1));
    act["session"]["state"] = json!("aggregated");
    act["session"]["snapshotDigest"] = json!(format!("sha256:{}", "0".repeat(64)));
    next_version(&mut act);
    aggregated.forge(&act, None);
    let subject = aggregated.last(&[("kind", "subject")]);
    aggregated.forge(&subject, None);
    let (status, said) = look(&aggregated);
    let words = "session 1 was aggregated, and is not opened";
    assert!(status == Some(1) && said.contains(words), "{said}");
}

/// What the rules allow, and an operator may have done for its own ends.
#[test]
fn acts_of_a_server_that_change_what_counts_are_notable() {
    let (program, ada) = desk();
    let client = &program.client;
    let watcher = Watcher::new(&Log::of(&program));
    let url = format!("http://{}", client.address);
    watcher.expects(&url, 0, "holds: ");
    patch(client, 1, &json!({ "windowClosesAt": "2036-01-01T12:00:00.000Z" }));
    patch(client, 1, &json!({ "quorum": 2 }));
    patch(client, 1, &json!({ "quorum": 1 }));
    // The operator takes the member's place, and gives it back.
    let forger = fresh_key();
    let id = ada.id.as_str();
    let rotate = |key: &str| {
        let rotated = json!({ "memberId": id, "publicKey": key });
        client.operate("/rotate-key", &rotated).expect(200).json()["token"].clone()
    };
    let token = rotate(&forger.public_key().to_string()).as_str().unwrap().to_owned();
    let author = Author { id: ada.id.clone(), key: forger, token };
    client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    rotate(&ada.key.public_key().to_string());
    client.operate("/deactivate", &json!({ "memberId": id })).expect(200);
    client.operate("/sessions", &json!({ "date": DAY, "subjectId": "aurora" })).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    Log::of(&program);
    let (status, said) = watcher.look(&url, &[]);
    assert_eq!(status, Some(0), "{said}");
    let (own, other) = (ada.key.public_key().to_string(), author.key.public_key().to_string());
    for words in [
        "deadline moved from none to 2036-01-01T12:00:00.000Z, 2 takes on file, by \"operator\"",
        "quorum from none to 2, 2 takes on file",
        "quorum from 2 to 1, 2 takes on file",
        &format!("replaced the key of \"{id}\" from \"{own}\" to \"{other}\""),
        &format!("replaced the key of \"{id}\" from \"{other}\" to \"{own}\""),
        "while open: session 1, in which the member had filed 2",
        "session 2: convened, another session of its day and subject, after session 1, 3 takes on file",
        "session 1: state aggregated, before its deadline 2036-01-01T12:00:00.000Z, 3 takes on file",
    ] {
        let line = said.lines().find(|line| line.contains(words));
        assert!(line.is_some_and(|line| line.starts_with("notable: ")), "{words}: {said}");
    }
    let notable = said.lines().filter(|line| line.starts_with("notable: ")).count();
    assert_eq!(notable, 8, "{said}");
}

/// What a look reads and writes does not grow with the sessions that are over.
#[test]
fn sessions_that_are_over_are_kept_apart() {
    let (program, _) = desk();
    let client = &program.client;
    let grace = Author::join(client, "Linus");
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let log = Log::of(&program);
    let (watcher, url) = (Watcher::new(&log), format!("http://{}", client.address));
    watcher.expects(&url, 0, "holds: ");
    let kept = || -> Vec<String> {
        let files = fs::read_dir(watcher.state().join("sessions/000")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    };
    let state = || fs::read_to_string(watcher.state().join("state.json")).unwrap();
    let first = format!("1-{}.json", log.entries.len());
    assert_eq!(kept(), [first.as_str()]);
    assert!(!state().contains("revisions"), "{}", state());
    let before = (state(), fs::read(watcher.state().join("sessions/000").join(&first)).unwrap());

    // A first take after the aggregation, and an act.
    client.submit(&grace, grace.draft(DAY, "aurora")).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "published" })).expect(200);
    let log = Log::of(&program);
    watcher.expects(&url, 0, "session 1: state published");
    assert_eq!(kept(), [format!("1-{}.json", log.entries.len())]);
    let folder = tempfile::tempdir().unwrap();
    let mut forged = log.clone();
    let mut again = log.last(&[("kind", "take")]);
    again["id"] = json!(4);
    next_version_of(&mut again, 3);
    forged.forge(&again, None);
    watcher.expects(&forged.serve(folder.path()), 1, "is revision 1, the one before was 1");

    // A run that ended between the two: the sessions are new, the state is not.
    fs::write(watcher.state().join("state.json"), before.0).unwrap();
    fs::write(watcher.state().join("sessions/000").join(&first), before.1).unwrap();
    watcher.expects(&url, 0, "session 1: state published");
    for file in kept() {
        fs::remove_file(watcher.state().join("sessions/000").join(file)).unwrap();
    }
    watcher.expects(&url, 0, "0 of them new");
    watcher.expects(&forged.serve(folder.path()), 1, "what is kept of session 1 is damaged");
}

#[test]
fn fork_is_kept_as_evidence_and_found_again() {
    let (program, _) = desk();
    let log = Log::of(&program);
    let (watcher, folder) = (Watcher::new(&log), tempfile::tempdir().unwrap());
    watcher.expects(&log.serve(folder.path()), 0, "holds: ");
    let mut fork = log.clone();
    let last = fork.entries.pop().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    for _ in 0..3 {
        fork.forge(&json!({ "kind": "operation", "act": "clock-accepted", "by": "eve" }), None);
    }
    fork.forge(&last, None);
    watcher.expects(&fork.serve(folder.path()), 1, "a fork: the log of");
    let evidence = watcher.state().join("evidence");
    let [earlier, later] = ["earlier.checkpoint", "checkpoint"].map(|name| evidence.join(name));
    assert_eq!(fs::read_to_string(&earlier).unwrap(), log.note().to_string());
    assert_eq!(fs::read_to_string(&later).unwrap(), fork.note().to_string());
    // The old view again, which is a log that continues: the fork stays proven.
    watcher.expects(&log.serve(folder.path()), 1, "a fork, found by an earlier run");
    let [earlier, later] = [&earlier, &later].map(|path| path.to_str().unwrap());
    let (status, said) =
        says(&["verify", earlier, later, evidence.to_str().unwrap(), "--key", &log.key()]);
    assert!(status == Some(1) && said.contains("a fork"), "{said}");
    let tile = evidence.join(format!("tile/0/000.p/{}", fork.entries.len()));
    fs::write(&tile, vec![0; 32 * fork.entries.len()]).unwrap();
    watcher.expects(&log.serve(folder.path()), 2, "evidence that an earlier run kept is damaged");
    fs::remove_dir_all(&evidence).unwrap();
    watcher.expects(&log.serve(folder.path()), 0, "holds: ");
}

/// A server whose store was restored from a backup, and accepted by an operator.
#[test]
fn watcher_goes_on_with_the_log_after_one_that_an_accepted_store_ended() {
    let (program, ada) = desk();
    let seen = Log::of(&program);
    let (watcher, early) = (Watcher::new(&seen), Watcher::new(&seen));
    let folder = std::sync::Arc::clone(&program.folder);
    let url = format!("http://{}", program.client.address);
    let named = format!("{url}/swarm/log/default");
    assert_eq!(early.look(&named, &["--mirror"]).0, Some(0));
    program.stop("TERM");
    let backup = fs::read(folder.path().join("swarm.db")).unwrap();
    let start = || Program::start_in(std::sync::Arc::clone(&folder), &["serve"], TOKEN);
    let program = start();
    let url = || format!("http://{}", program.client.address);
    for _ in 0..2 {
        program.client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    }
    let whole = Log::of(&program);
    assert_eq!(watcher.look(&url(), &["--mirror"]).0, Some(0));
    program.client.get("/swarm/log/default/succession").expect(404);
    program.stop("TERM");

    fs::write(folder.path().join("swarm.db"), backup).unwrap();
    let program = start();
    let client = &program.client;
    let (url, named) = (
        format!("http://{}", client.address),
        format!("http://{}/swarm/log/default", client.address),
    );
    // Until the store is accepted, the log is the one that is served.
    client.get("/readyz").expect(503);
    client.operate("/accept", &json!({ "what": "store" })).expect(200);
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    let next = Log::of(&program);
    let last = client.get("/swarm/log/default/checkpoint").expect(200).text;
    assert_eq!(last, whole.note().to_string(), "the last checkpoint stays served");
    let succession = client.get("/swarm/log/default/succession").expect(200).text;
    let text = format!("swarm log succession v1\n{}{}\n", whole.note().text(), next.key());
    assert_eq!(SignedNote::parse(&succession).unwrap().text(), text);
    client.get("/swarm/log/default/2/succession").expect(404);
    client.get("/swarm/log/default/2/checkpoint").expect(200);

    let kept = next.entries.len() - 2;
    let (size, lost) = (whole.entries.len(), whole.entries.len() - kept);
    let began = format!(
        "ended with {size} entries, and {} goes on: operator \"operator\" accepted a store that went back, by entry {}",
        next.key(),
        kept + 1
    );
    for (watcher, url, effect) in [
        (
            &watcher,
            &url,
            format!(
                "; {lost} of them are lost; the first {kept} entries of the new log are those that were seen"
            ),
        ),
        (&early, &named, format!("; {lost} of them are lost, none of those that were seen")),
    ] {
        let (status, said) = watcher.look(url, &["--mirror"]);
        assert_eq!(status, Some(0), "{said}");
        let line = said.lines().find(|line| line.contains(&began)).expect(&said);
        assert!(line.starts_with("notable: ") && line.contains(&effect), "{line}");
        assert!(said.contains("/2 continues to "), "{said}");
        assert_eq!(said.matches("act: ").count(), 0, "what an earlier look has shown: {said}");
        // The key of the first run stays on the command line, and the log that is watched is the new one.
        let (status, said) = watcher.look(url, &["--mirror"]);
        assert!(status == Some(0) && said.contains("0 of them new"), "{said}");
        assert!(!said.contains("goes on"), "{said}");
        let ended = watcher.state().join("ended-1");
        assert!(ended.join("mirror/checkpoint").is_file() && ended.join("state.json").is_file());
        let mirror = watcher.state().join("mirror");
        let note = fs::read_to_string(mirror.join("checkpoint")).unwrap();
        assert_eq!(note, next.note().to_string());
    }
    // What the server keeps of the log that ended outlives the next checkpoints and starts.
    client.convene(DAY, "gold");
    Log::of(&program);
    program.stop("TERM");
    let program = start();
    let served = program.client.get("/swarm/log/default/succession").expect(200).text;
    assert_eq!(served, succession);
    let late = Watcher::new(&seen);
    late.expects(&seen.serve(&folder.path().join("seen")), 0, "holds: ");
    let url = format!("http://{}", program.client.address);
    late.expects(&url, 0, "goes on: operator \"operator\" accepted a store");

    // And a move to another store.
    let last = program.client.get("/swarm/log/default/checkpoint").expect(200).text;
    program.stop("TERM");
    let moved = |arguments: &[&str]| {
        let output = swarm(arguments, &[]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    fs::write(folder.path().join("dump"), moved(&["dump"])).unwrap();
    moved(&["restore", "--store=sqlite:other.db", "dump"]);
    let program = Program::start_in(
        std::sync::Arc::clone(&folder),
        &["serve", "--store=sqlite:other.db"],
        TOKEN,
    );
    wait_until("the log is signed", || program.client.get("/swarm/log/checkpoint").status == 200);
    let served = program.client.get("/swarm/log/default/succession").expect(200).text;
    assert_eq!(served, succession);
    assert_eq!(program.client.get("/swarm/log/default/checkpoint").expect(200).text, last);
    let (status, said) = watcher.look(&format!("http://{}", program.client.address), &["--mirror"]);
    assert!(status == Some(0) && said.contains("/2 continues to "), "{said}");
}

/// Another log is served, in the place of the one that was watched.
#[test]
fn log_without_the_succession_of_the_one_before_ends_the_watch() {
    let (program, _) = desk();
    // Its entries are older than a look may be late.
    let seen = Log::of(&program).shifted(-60_000);
    let (watcher, folder) = (Watcher::new(&seen), tempfile::tempdir().unwrap());
    let served = folder.path().join("log");
    watcher.expects(&seen.serve(&served), 0, "holds: ");
    let origin = seen.signer.verifier().name().to_owned();
    let signer = NoteSigner::new(&format!("{origin}/2"), KeyKind::Ed25519, &[7; 32]).unwrap();
    let mut next = Log { signer: signer.into(), entries: seen.entries.clone() };
    next.entries.truncate(seen.entries.len() - 1);
    let last = Checkpoint::parse(seen.note().text()).unwrap();
    let without = next.clone();
    let accept_after = |log: &mut Log, last: &Checkpoint| {
        let before = LogBefore {
            origin: Some(origin.clone()),
            size: Seq(last.size),
            root: Some(last.root.to_string()),
        };
        let by = Actor::operator("eve").unwrap();
        let entry = LogEntry::Operation(Operation::StoreAccepted { by, log: 2, before });
        let seq = Seq(log.entries.len() as u64 + 1);
        let at = Timestamp::EPOCH.plus_millis(now_millis());
        log.entries.push(LogLine { seq, at, entry }.text());
    };
    let accept = |log: &mut Log| accept_after(log, &last);
    accept(&mut next);

    let url = next.serve(&served);
    watcher.expects(&url, 1, "another log: it is called");
    let place = |name: &str| served.join("default").join(name);
    let put = |note: &SignedNote| {
        fs::create_dir_all(served.join("default")).unwrap();
        fs::write(place("succession"), note.to_string()).unwrap();
        fs::write(place("checkpoint"), seen.note().to_string()).unwrap();
    };
    let succession = |last: &Checkpoint, by: &NoteSigner| {
        let successor = next.signer.verifier().clone();
        Succession { last: last.clone(), successor }.sign(by)
    };
    let before = fs::read(watcher.state().join("state.json")).unwrap();
    let impostor = NoteSigner::new(&origin, KeyKind::Ed25519, &[9; 32]).unwrap();
    put(&succession(&last, &impostor));
    watcher.expects(&url, 1, "is not signed by the key");
    put(&succession(&last, &next.signer));
    watcher.expects(&url, 1, "is not signed by the key");
    // Of another log, signed by the right key.
    put(&succession(
        &Checkpoint { origin: "other.example/log".into(), ..last.clone() },
        &seen.signer,
    ));
    watcher.expects(&url, 1, "is the one of");
    // It names another end than the last checkpoint.
    put(&succession(&Checkpoint { size: 1, ..last.clone() }, &seen.signer));
    watcher.expects(&url, 1, "is not the one that its succession names");
    // Nothing in the new log says that the store was accepted.
    without.serve(&served);
    put(&succession(&last, &seen.signer));
    watcher.expects(&url, 1, "says that a store was accepted");
    assert_eq!(fs::read(watcher.state().join("state.json")).unwrap(), before);

    // A store that was edited, and one with which nothing was wrong.
    let (mut edited, mut whole, lost) = (without.clone(), without.clone(), without);
    edited.entries.clone_from(&seen.entries);
    let convened = edited.entries.iter_mut().find(|text| text.contains("\"convened\"")).unwrap();
    *convened = convened.replace("\"quorum\":null", "\"quorum\":7");
    whole.entries.clone_from(&seen.entries);
    let size = seen.entries.len();
    let place_of_it = 1 + edited.entries.iter().position(|it| it.contains("\"quorum\":7")).unwrap();
    let which = format!("1 entry of those that were seen was changed: {place_of_it}");
    for (mut log, arguments, effect) in [
        (edited.clone(), &[][..], format!("; the first {size} entries of the new log are others")),
        (edited.clone(), &["--mirror"], format!("; {which}")),
        (whole, &[], "; all that was signed of it is in the new log".to_owned()),
        (lost, &[], "; 1 of them is lost; that the first".to_owned()),
    ] {
        let another = Watcher::new(&seen);
        assert_eq!(another.look(&seen.serve(&served), arguments).0, Some(0));
        // After that look, which does not have the entry.
        accept(&mut log);
        log.serve(&served);
        put(&succession(&last, &seen.signer));
        let (status, said) = another.look(&url, arguments);
        let line = said.lines().find(|line| line.contains(&effect));
        assert!(status == Some(0) && line.is_some_and(|it| it.starts_with("notable: ")), "{said}");
        let shown = said.contains(&format!("act: entry {place_of_it},"));
        assert_eq!(shown, !arguments.is_empty(), "{said}");
    }

    // The log that ended was written again before it ended, and does not serve its tiles.
    let mut written = seen.clone();
    written.entries[place_of_it - 1] = edited.entries[place_of_it - 1].clone();
    written.forge(&json!({ "kind": "operation", "act": "clock-accepted", "by": "eve" }), None);
    let end = Checkpoint::parse(written.note().text()).unwrap();
    let mut forked = Log { signer: next.signer.clone(), entries: written.entries.clone() };
    accept_after(&mut forked, &end);
    forked.serve(&served);
    put(&succession(&end, &seen.signer));
    fs::write(place("checkpoint"), written.note().to_string()).unwrap();
    watcher.expects(&url, 1, "a fork: the");

    next.serve(&served);
    put(&succession(&last, &seen.signer));
    watcher.expects(&url, 0, "notable: ");
    // The log before, again.
    watcher.expects(&seen.serve(&served), 1, "another log: it is called");
}

#[test]
fn tiles_that_are_garbled_on_the_way_are_no_fork() {
    let (program, _) = desk();
    let log = Log::of(&program);
    let (watcher, folder) = (Watcher::new(&log), tempfile::tempdir().unwrap());
    watcher.expects(&log.serve(folder.path()), 0, "holds: ");
    let mut next = log.clone();
    next.forge(&json!({ "kind": "operation", "act": "clock-accepted", "by": "eve" }), None);
    let note = next.note().to_string();
    for place in [0, next.entries.len() - 1] {
        let mut garbled = next.entries.clone();
        garbled[place] = garbled[place].replace("\"kind\"", "\"kin\"");
        watcher.expects(&next.serve_with(folder.path(), &note, &garbled), 2, "not reached: ");
    }
    assert!(!watcher.state().join("evidence").exists());
    watcher.expects(&next.serve(folder.path()), 0, "notable: entry");
}

/// A folder with the bundle of the first session and its checkpoint.
fn folder_with_bundle(client: &Client) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bundle = client.get("/api/swarm/sessions/1/bundle").expect(200);
    let checkpoint = bundle.json()["checkpoint"].as_str().unwrap().to_owned();
    fs::write(folder.path().join("bundle.json"), bundle.text).unwrap();
    fs::write(folder.path().join("early.checkpoint"), checkpoint).unwrap();
    folder
}

#[test]
fn mirrors_of_two_watchers_are_compared_offline() {
    let (program, ada) = desk();
    let client = &program.client;
    let url = format!("http://{}", client.address);
    let log = Log::of(&program);
    let watchers = [Watcher::new(&log), Watcher::new(&log)];
    for watcher in &watchers {
        assert_eq!(watcher.look(&url, &["--mirror"]).0, Some(0));
    }
    // The second one looked without a mirror meanwhile, and has to read the log again.
    for _ in 0..2 {
        client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
        Log::of(&program);
        assert_eq!(watchers[0].look(&url, &["--mirror"]).0, Some(0));
        assert_eq!(watchers[1].look(&url, &[]).0, Some(0));
    }
    let bundle = folder_with_bundle(client);
    client.convene(DAY, "gold");
    let whole = Log::of(&program);
    let (status, said) = watchers[1].look(&url, &["--mirror"]);
    assert!(status == Some(0) && said.matches("act: ").count() == 2, "what is new alone: {said}");
    drop(program);
    let [old, new] = watchers.each_ref().map(|watcher| watcher.state().join("mirror"));
    let tile = new.join(format!("tile/entries/000.p/{}", whole.entries.len()));
    assert_eq!(fs::read(tile).unwrap(), entries_tile(&whole.entries));
    let checkpoint = |mirror: &Path| mirror.join("checkpoint").to_str().unwrap().to_owned();
    let (mine, theirs) = (checkpoint(&old), checkpoint(&new));
    let folder = new.to_str().unwrap();
    let (status, said) = says(&["verify", &mine, &theirs, folder, "--key", &log.key()]);
    assert!(status == Some(0) && said.contains("continues"), "{said}");
    // Both are shorter than what the mirror has a tile of; the folder of the watcher stands for its mirror.
    let state = watchers[1].state();
    let state = state.to_str().unwrap();
    let early = bundle.path().join("early.checkpoint");
    let early = early.to_str().unwrap();
    for folder in [folder, state] {
        let (status, said) = says(&["verify", early, &mine, folder, "--key", &log.key()]);
        assert!(status == Some(0) && said.contains("continues"), "{said}");
        let file = bundle.path().join("bundle.json");
        let verify = ["verify", file.to_str().unwrap(), "--key", &log.key(), "--log", folder];
        let (status, said) = says(&verify);
        assert!(status == Some(0) && said.contains("holds: completeness"), "{said}");
    }
    // The mirror is itself a log that can be watched.
    Watcher::new(&log).expects(folder, 0, "holds: ");
    let partial = fs::read_dir(new.join("tile/entries/000.p")).unwrap().count();
    assert_eq!(partial, 1, "tiles of earlier sizes are removed");
}

/// Tiles of several levels, which a mirror computes.
#[test]
fn mirror_of_a_long_log_has_its_tree() {
    let (program, _) = desk();
    let mut log = Log::of(&program);
    let folder = tempfile::tempdir().unwrap();
    let serve = |log: &Log| {
        let url = folder.path().to_str().unwrap().to_owned();
        let _ = fs::remove_dir_all(folder.path());
        for (index, entries) in log.entries.chunks(256).enumerate() {
            let name = if entries.len() == 256 {
                format!("{index:03}")
            } else {
                format!("{index:03}.p/{}", entries.len())
            };
            let hashes: Vec<_> =
                entries.iter().map(|entry| TreeHash::leaf(entry.as_bytes())).collect();
            for (kind, bytes) in [("entries", entries_tile(entries)), ("0", hashes_tile(&hashes))] {
                let path = folder.path().join(format!("tile/{kind}/{name}"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
        let roots: Vec<_> = log
            .entries
            .chunks_exact(256)
            .map(|entries| {
                let hashes: Vec<_> =
                    entries.iter().map(|entry| TreeHash::leaf(entry.as_bytes())).collect();
                TreeHash::complete(&hashes)
            })
            .collect();
        if !roots.is_empty() {
            let path = folder.path().join(format!("tile/1/000.p/{}", roots.len()));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, hashes_tile(&roots)).unwrap();
        }
        fs::write(folder.path().join("checkpoint"), log.note().to_string()).unwrap();
        url
    };
    let (watcher, later) = (Watcher::new(&log), Watcher::new(&log));
    let note = json!({ "kind": "operation", "act": "clock-accepted", "by": "eve" });
    let mut first = None;
    for size in [250, 256, 257, 513, 600, 1_025] {
        while log.entries.len() < size {
            log.forge(&note, None);
        }
        let (status, said) = watcher.look(&serve(&log), &["--mirror"]);
        assert_eq!(status, Some(0), "{size}: {said}");
        let mirror = watcher.state().join("mirror");
        let earlier = folder.path().parent().unwrap().join(format!(
            "{}-earlier",
            watcher.folder.path().file_name().unwrap().to_str().unwrap()
        ));
        let first = first.get_or_insert_with(|| {
            fs::copy(mirror.join("checkpoint"), &earlier).unwrap();
            earlier.to_str().unwrap().to_owned()
        });
        // Every size is read from the mirror alone, and continues the first.
        later.expects(mirror.to_str().unwrap(), 0, &format!("continues to {size} entries"));
        let latest = mirror.join("checkpoint");
        let compare = [first.as_str(), latest.to_str().unwrap(), mirror.to_str().unwrap()];
        let (status, said) = says(&[&["verify"], &compare[..], &["--key", &log.key()]].concat());
        assert_eq!(status, Some(0), "{size}: {said}");
    }
    fs::remove_file(first.unwrap()).unwrap();
}

#[test]
fn checkpoint_that_shows_nothing_new_is_said() {
    let (program, _) = desk();
    let log = Log::of(&program);
    let (watcher, folder) = (Watcher::new(&log), tempfile::tempdir().unwrap());
    let url = log.serve(folder.path());
    let (status, said) = watcher.look(&url, &["--max-age", "1h"]);
    assert_eq!(status, Some(0), "{said}");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let before = fs::read(watcher.state().join("state.json")).unwrap();
    let (status, said) = watcher.look(&url, &["--max-age", "1s"]);
    assert!(
        status == Some(3) && said.contains("old: the checkpoint shows nothing since"),
        "{said}"
    );
    assert_eq!(fs::read(watcher.state().join("state.json")).unwrap(), before);
}

#[test]
fn policy_names_the_log_and_the_witnesses() {
    let (program, _) = desk();
    let log = Log::of(&program);
    let folder = tempfile::tempdir().unwrap();
    let witness = NoteSigner::new("witness.example/w1", KeyKind::Cosigner, &[9; 32]).unwrap();
    let other = NoteSigner::new("witness.example/w2", KeyKind::Cosigner, &[8; 32]).unwrap();
    let file = folder.path().join("policy");
    let policy = |log: &str, quorum: &str| {
        let text = format!(
            "log {log}\nwitness one {}\nwitness two {}\ngroup both all one two\nquorum {quorum}\n",
            witness.verifier(),
            other.verifier()
        );
        fs::write(&file, text).unwrap();
    };
    let served = folder.path().join("log");
    let mut note = log.note();
    let (seconds, text) = (now_millis() as u64 / 1_000, note.text().to_owned());
    note.push(witness.sign(&text, seconds));
    let look = |note: &SignedNote, flags: &[&str]| {
        let url = log.serve_with(&served, &note.to_string(), &log.entries);
        let state = tempfile::tempdir().unwrap();
        let state = state.path().to_str().unwrap();
        let policy = file.to_str().unwrap();
        says(&[&["watch", &url, "--state", state, "--policy", policy], flags].concat())
    };
    policy(&log.key(), "one");
    let (status, said) = look(&note, &["--max-age", "1h"]);
    assert!(
        status == Some(0)
            && said.contains("holds: the policy's quorum cosigned the checkpoint: one"),
        "{said}"
    );
    assert!(!said.contains("came from the server"), "{said}");
    policy(&log.key(), "both");
    let (status, said) = look(&note, &[]);
    assert!(
        status == Some(0)
            && said.contains(
                "unproven: the checkpoint is not cosigned by a quorum of the policy, but by one"
            ),
        "{said}"
    );
    let (status, said) = look(&note, &["--max-age", "1h"]);
    assert!(status == Some(3) && said.contains("old: "), "{said}");
    // A cosignature of another checkpoint.
    let mut forged = log.note();
    forged.push(witness.sign(&format!("{text}more\n"), seconds));
    let (status, said) = look(&forged, &[]);
    assert!(status == Some(1) && said.contains("a cosignature that is not valid: one"), "{said}");
    let stranger =
        NoteSigner::new(log.signer.verifier().name(), KeyKind::Ed25519, &[7; 32]).unwrap();
    policy(&stranger.verifier().to_string(), "one");
    let (status, said) = look(&note, &[]);
    assert!(status == Some(1) && said.contains("is not signed by the key"), "{said}");
    let (status, said) = look(&note, &["--key", &log.key()]);
    assert!(status == Some(1) && said.contains("the policy does not list the log"), "{said}");
    fs::write(&file, "quorum nobody\n").unwrap();
    let (status, said) = look(&note, &[]);
    assert!(status == Some(2) && said.contains("line 1: nobody is not defined above"), "{said}");
}
