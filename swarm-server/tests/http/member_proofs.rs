//! What `swarm member` keeps of a take, and checks of it later (MANUAL.md, 13.3): a member believes no answer that it cannot
//! verify.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::commands::{User, desk, joined};
use crate::harness::ADMIN;
use crate::program::Program;

const TOKEN: &[(&str, &str)] = &[("SWARM_ADMIN_TOKEN", ADMIN)];
const SUBMIT: &str = "submit --stance cautious --confidence 0.5";

/// The files of the takes that the profile keeps.
fn kept(user: &User) -> Vec<PathBuf> {
    let folder = user.profile("key").parent().unwrap().to_owned();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_take = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("take-");
    let mut files: Vec<_> = files.filter(is_take).collect();
    files.sort();
    files
}

fn read(path: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The verdict and the detail of each take.
fn verdicts(user: &User, code: i32) -> Vec<(String, String)> {
    let ended = user.member("check --json");
    assert_eq!(ended.code, code, "{}{}", ended.out, ended.err);
    let rows: Value = serde_json::from_str(&ended.out).unwrap();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let rows = rows["takes"].as_array().unwrap();
    rows.iter().map(|row| (text(row, "verdict"), text(row, "detail"))).collect()
}

fn convened(blind: bool) -> (Program, User) {
    convened_with(if blind { "--closes +3h --blind" } else { "--closes +3h" })
}

fn convened_with(flags: &str) -> (Program, User) {
    let (program, user) = desk();
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin(&format!("session convene --subject aurora {flags}")).ok();
    (program, user)
}

/// A service whose store and key are in this folder, so that it can be started again.
fn convened_in(folder: &Arc<TempDir>) -> (Program, User) {
    let program = Program::start_in(Arc::clone(folder), &["serve"], TOKEN);
    let user = User::of(&program);
    user.file("aurora.json", &json!({ "id": "aurora", "name": "Aurora" }).to_string());
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin("session convene --subject aurora --closes +3h").ok();
    (program, user)
}

#[test]
fn take_is_kept_with_its_receipt_and_later_its_proof() {
    for blind in [false, true] {
        let (program, user) = convened(blind);
        let submitted = user.member(SUBMIT);
        assert!(submitted.err.contains("the receipt holds"), "{}", submitted.err);
        submitted.ok();
        let files = kept(&user);
        assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
        let take = read(&files[0]);
        assert!(take["receipt"].as_str().unwrap().contains("signature-input: swarm=("), "{take}");
        assert_eq!(take["salt"].is_string(), blind);
        let sent: Value = serde_json::from_str(take["sent"].as_str().unwrap()).unwrap();
        assert_eq!(sent["stance"], "cautious");
        let entry = take["entry"].as_u64().unwrap();
        let log = program.client.get(&format!("/api/swarm/log?after={}", entry - 1)).json();
        assert_eq!(log["entries"][0]["id"], 1);

        wait_until("the take is proved", || {
            program.client.get("/api/swarm/takes/1/proof").status == 200
        });
        assert_eq!(verdicts(&user, 0), [("holds".to_owned(), String::new())]);
        assert!(read(&files[0])["proof"].as_str().unwrap().contains("tlog-proof"));
        user.member(SUBMIT).ok();
        wait_until("the next take is proved", || {
            program.client.get("/api/swarm/takes/2/proof").status == 200
        });
        let verdicts = verdicts(&user, 0);
        assert_eq!((verdicts.len(), kept(&user).len()), (2, 2));
        assert!(verdicts.iter().all(|(verdict, _)| verdict == "holds"), "{verdicts:?}");
    }
}

/// An honest operator withholds the texts of a take whose proof its member keeps.
#[test]
fn take_whose_texts_are_withheld_is_notable() {
    for flags in ["--closes +3h", "--blind"] {
        let (program, user) = convened_with(flags);
        user.member(SUBMIT).ok();
        wait_until("the take is proved", || verdicts(&user, 0)[0].0 == "holds");
        if flags == "--blind" {
            let aggregated = json!({ "state": "aggregated" });
            program.client.operate("/sessions/1/state", &aggregated).expect(200);
        }
        program.client.operate("/takes/1/withhold", &json!({ "note": "a name" })).expect(200);
        let found = verdicts(&user, 0);
        assert_eq!(found[0].0, "notable", "{found:?}");
        assert_eq!(found[0].1.matches("are withheld since").count(), 1, "{found:?}");
        program.client.operate("/takes/1/restore", &json!({ "note": "none" })).expect(200);
        assert_eq!(verdicts(&user, 0), [("holds".to_owned(), String::new())]);
    }
}

/// A token that was claimed after a take was sealed is not shown the take. The profile has its salt.
#[test]
fn sealed_take_holds_after_its_member_has_claimed_again() {
    let (program, user) = convened(true);
    user.member(SUBMIT).ok();
    wait_until("the take is proved", || verdicts(&user, 0)[0].0 == "holds");
    let id = program.client.get("/api/swarm/takes/1").json()["memberId"].clone();
    program.client.operate("/reset-claim", &json!({ "memberId": id })).expect(200);
    assert_eq!(verdicts(&user, 0)[0].0, "holds", "with the token of before");
    fs::remove_file(user.profile("token")).unwrap();
    user.member("claim").ok();
    assert_eq!(verdicts(&user, 0), [("holds".to_owned(), String::new())]);
    let file = &kept(&user)[0];
    let mut changed = read(file);
    let salt = changed["salt"].as_str().unwrap();
    changed["salt"] = json!(salt.chars().rev().collect::<String>());
    let is_valid = fs::write(file, changed.to_string()).is_ok();
    assert!(is_valid && user.member("check").code == 1);
    changed.as_object_mut().unwrap().remove("salt");
    fs::write(file, changed.to_string()).unwrap();
    assert_eq!(verdicts(&user, 0)[0].0, "missing");
}

#[test]
fn kept_evidence_that_was_changed_does_not_hold() {
    let (program, user) = convened(false);
    user.member(SUBMIT).ok();
    wait_until("the take is proved", || {
        program.client.get("/api/swarm/takes/1/proof").status == 200
    });
    verdicts(&user, 0);
    let file = &kept(&user)[0];
    let honest = read(file);
    let with = |field: &str, from: &str, to: &str| {
        let mut changed = honest.clone();
        let text = honest[field].as_str().unwrap().replacen(from, to, 1);
        assert_ne!(text, honest[field], "{field}");
        changed[field] = json!(text);
        fs::write(file, changed.to_string()).unwrap();
    };
    let edits: [(&str, &str, &str); 4] = [
        ("receipt", "HTTP/1.1 201", "HTTP/1.1 202"),
        ("receipt", "\"recommendationId\":1", "\"recommendationId\":2"),
        ("sent", "\"stance\":\"cautious\"", "\"stance\":\"bearish\""),
        ("proof", "index ", "index 1"),
    ];
    for (field, from, to) in edits {
        with(field, from, to);
        let verdicts = verdicts(&user, 1);
        assert_eq!(verdicts[0].0, "does not hold", "{field}: {verdicts:?}");
    }
    // Signed under less than the request: not a receipt of this submit.
    let mut changed = honest.clone();
    changed.as_object_mut().unwrap().remove("receipt");
    fs::write(file, changed.to_string()).unwrap();
    assert_eq!(verdicts(&user, 0), [("missing".to_owned(), "no receipt".to_owned())]);
}

/// A server whose store was wiped, and which goes on with the same key: what it signed before is in the member's hand.
#[test]
fn service_that_lost_a_take_is_found() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (program, mut user) = convened_in(&folder);
    let backup = |name: &str| folder.path().join(name);
    program.stop("TERM");
    fs::copy(backup("swarm.db"), backup("backup")).unwrap();

    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    moved(&mut user, &program);
    user.member(SUBMIT).ok();
    wait_until("the take is proved", || {
        program.client.get("/api/swarm/takes/1/proof").status == 200
    });
    verdicts(&user, 0);
    program.stop("TERM");
    for name in ["swarm.db-wal", "swarm.db-shm", "swarm.key.checkpoints"] {
        let _ = fs::remove_file(backup(name));
    }
    fs::copy(backup("backup"), backup("swarm.db")).unwrap();
    let program = Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    moved(&mut user, &program);
    let lost = [("does not hold".to_owned(), "the service has no take 1".to_owned())];
    assert_eq!(verdicts(&user, 1), lost);
    // Another take, in the place of the one that was lost.
    let file = kept(&user).remove(0);
    user.member("submit --stance bearish --confidence 0.9").ok();
    let [first, second] = kept(&user).try_into().unwrap();
    let verdicts = verdicts(&user, 1);
    let lost = [&first, &second].iter().position(|path| **path == file).unwrap();
    assert!(verdicts[lost].1.contains("is not the one that was sent"), "{verdicts:?}");
}

/// The store and the checkpoints of before the take, with the same key: then something else, and the member's bytes once more.
#[test]
fn entry_that_is_not_the_one_of_the_receipt_does_not_hold() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let start = || Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    let (program, mut user) = convened_in(&folder);
    program.client.wait_until_all_is_signed();
    program.stop("TERM");
    const KEPT: [&str; 2] = ["swarm.db", "swarm.key.checkpoints"];
    let backup = KEPT.map(|name| fs::read(folder.path().join(name)).unwrap());

    let program = start();
    moved(&mut user, &program);
    user.member(SUBMIT).ok();
    program.stop("TERM");
    for (name, content) in KEPT.iter().zip(backup) {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let program = start();
    moved(&mut user, &program);
    user.admin("subject put aurora.json").ok();
    let sent = read(&kept(&user)[0])["sent"].as_str().unwrap().to_owned();
    let token = fs::read_to_string(user.profile("token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    program.client.send("POST", "/api/swarm/submit", &headers, sent.as_bytes()).expect(201);
    wait_until("the take is proved", || {
        program.client.get("/api/swarm/takes/1/proof").status == 200
    });
    let [(verdict, detail)] = verdicts(&user, 1).try_into().unwrap();
    assert_eq!(verdict, "does not hold");
    assert!(
        detail.contains(", which the receipt names: the log's entry has another kind"),
        "{detail}"
    );
}

#[test]
fn take_of_before_the_log_was_renamed_is_notable() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (program, mut user) = convened_in(&folder);
    user.member(SUBMIT).ok();
    program.client.wait_until_all_is_signed();
    assert_eq!(verdicts(&user, 0), [("holds".to_owned(), String::new())]);
    program.stop("TERM");
    let config = format!(
        "[[tenants]]\nid = \"default\"\nhosts = [\"127.0.0.1\"]\npublic_origin = \"https://desk.example\"\n\
         admin_token_hash = \"{}\"\n",
        swarm_core::domain::Digest::of(ADMIN.as_bytes())
    );
    let file = folder.path().join("swarm.toml");
    fs::write(&file, config).unwrap();
    let arguments = ["serve", "--config", file.to_str().unwrap()];
    let program = Program::start_in(Arc::clone(&folder), &arguments, &[]);
    moved(&mut user, &program);
    program.client.wait_until_all_is_signed();
    let key = program.client.get("/.well-known/swarm.json").json()["logKey"].clone();
    let path = user.profile("log-key");
    let before = fs::read_to_string(&path).unwrap();
    assert_ne!(before.trim(), key);
    fs::write(&path, format!("{}\n{}\n", before.trim(), key.as_str().unwrap())).unwrap();
    let [(verdict, detail)] = verdicts(&user, 0).try_into().unwrap();
    assert_eq!(verdict, "notable");
    assert_eq!(detail, "it is of the log under an earlier name, whose key the profile keeps");
}

/// A store that was restored and accepted: another log goes on, and the one before says which.
#[test]
fn receipt_of_a_log_that_ended_is_notable_with_the_one_after_it() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let start = || Program::start_in(Arc::clone(&folder), &["serve"], TOKEN);
    let (program, mut user) = convened_in(&folder);
    let proved = |program: &Program, take: u64| {
        let path = format!("/api/swarm/takes/{take}/proof");
        wait_until("the take is proved", || program.client.get(&path).status == 200);
    };
    user.member(SUBMIT).ok();
    proved(&program, 1);
    verdicts(&user, 0);
    program.stop("TERM");
    let store = folder.path().join("swarm.db");
    let backup = fs::read(&store).unwrap();
    let program = start();
    moved(&mut user, &program);
    user.member(SUBMIT).ok();
    proved(&program, 2);
    assert_eq!(verdicts(&user, 0).len(), 2);
    program.stop("TERM");

    fs::write(&store, backup).unwrap();
    let program = start();
    moved(&mut user, &program);
    program.client.operate("/accept", &json!({ "what": "store" })).expect(200);
    wait_until("the next log is signed", || {
        program.client.get("/swarm/log/default/succession").status == 200
            && program.client.get("/swarm/log/default/2/checkpoint").status == 200
    });
    proved(&program, 1);
    let key = program.client.get("/.well-known/swarm.json").json()["logKey"].clone();
    let goes_on = format!("and {} goes on", key.as_str().unwrap());
    let ended =
        |detail: &str| detail.contains("/default\" ended with ") && detail.contains(&goes_on);
    let files = kept(&user);
    let place = |take: u64| files.iter().position(|file| read(file)["takeId"] == take).unwrap();
    let rows = verdicts(&user, 1);
    let (verdict, detail) = &rows[place(1)];
    assert!(verdict == "notable" && ended(detail), "{rows:?}");
    let (verdict, detail) = &rows[place(2)];
    assert!(verdict == "does not hold" && ended(detail), "{rows:?}");
    assert!(detail.contains("the service has no take 2"), "{detail}");

    // The new log signs the receipt of the next take.
    let submitted = user.member("submit --stance bearish --confidence 0.9");
    assert!(submitted.err.contains("the receipt holds; the log "), "{}", submitted.err);
    assert!(submitted.err.contains(&goes_on), "{}", submitted.err);
    submitted.ok();
    proved(&program, 2);
    let files = kept(&user);
    let rows = verdicts(&user, 1);
    let of_bearish = |file: &&PathBuf| read(file)["sent"].as_str().unwrap().contains("bearish");
    let place = files.iter().position(|file| of_bearish(&file)).unwrap();
    assert_eq!(rows[place], ("holds".to_owned(), String::new()));
}

/// The profile's service has another address now.
fn moved(user: &mut User, program: &Program) {
    *user = std::mem::replace(user, User::of(program)).at(program);
    let path = user.profile("profile.json");
    let mut profile = read(&path);
    profile["url"] = json!(user.url());
    fs::write(path, profile.to_string()).unwrap();
}

#[test]
fn answer_that_is_not_signed_is_said() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let (program, mut user) = convened_in(&folder);
    wait_until("the log is signed", || program.client.get("/swarm/log/checkpoint").status == 200);
    program.stop("TERM");
    // A server with another key signs nothing until an operator accepts it.
    let program = Program::start_in(folder, &["serve", "--signing-key=other.key"], TOKEN);
    moved(&mut user, &program);
    let submitted = user.member(SUBMIT);
    assert!(
        submitted.err.contains("no receipt: that the take was accepted is the service's word"),
        "{}",
        submitted.err
    );
    submitted.ok();
    let verdicts = verdicts(&user, 0);
    assert_eq!(verdicts[0].0, "missing", "{verdicts:?}");
    assert!(verdicts[0].1.contains("no receipt"), "{verdicts:?}");
}

/// The key of the log is the first one that the member saw, or was given.
#[test]
fn receipt_by_another_key_is_refused_and_kept() {
    let (_program, user) = convened(false);
    let stranger = Program::start(&["serve", "--store=memory"], TOKEN);
    let manifest = stranger.client.get("/.well-known/swarm.json").expect(200).json();
    let path = user.profile("log-key");
    fs::write(&path, manifest["logKey"].as_str().unwrap()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let submitted = user.member(SUBMIT);
    assert_eq!(submitted.code, 1);
    assert!(submitted.err.contains("the receipt does not hold"), "{}", submitted.err);
    assert_eq!(submitted.out, "1\n", "it is on file all the same");
    assert!(read(&kept(&user)[0])["receipt"].is_string());
    user.member("check").fails(1, "is not signed by the key that this profile keeps");
}
