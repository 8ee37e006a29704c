//! Witnesses of the log (API.md, 11.6): one that is written in Go, from C2SP `tlog-witness`, and those of the Python package
//! `aics-witness`, whose `aics-tlog` also verifies the log and counts the cosignatures.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::json;
use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::note::{SignedNote, VerifierKey};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::clients::python;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, refusal, scratch_folder, swarm};
use crate::scripted_service::ScriptedService;

const DAY: &str = "2026-11-21";

#[test]
fn closed_session_is_cosigned_by_a_witness_written_in_go() {
    let program = compiled();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = log_key(&folder);
    let keys = folder.path().join("logs");
    fs::write(&keys, format!("{key}\n")).unwrap();
    let witness = GoWitness::start(program, &keys);

    let server = serve(&folder, &witness.table());
    let client = &server.client;
    let cosigned = || checkpoint(client).filter(|note| note.cosigned_at(&witness.key).is_some());
    wait_until("the checkpoint is cosigned at the start", || cosigned().is_some());

    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    let size = client.log_entries().len();
    wait_until("the closed session is cosigned", || {
        cosigned().is_some_and(|note| note.text().contains(&format!("\n{size}\n")))
    });
    let shown = checkpoint(client).unwrap();
    assert!(shown.is_signed_by(&key));
    let time = checked(program, &witness.key, &shown.to_string()).unwrap();
    assert_eq!(Some(time), shown.cosigned_at(&witness.key));
    let forged = shown.to_string().replacen(&format!("\n{size}\n"), "\n1\n", 1);
    assert_eq!(checked(program, &witness.key, &forged), None, "Go sees a forged one");

    let proof = client.get("/api/swarm/takes/1/proof").expect(200).text;
    assert_eq!(TlogProof::parse(&proof).unwrap().checkpoint, shown);
    let bundle = client.get("/api/swarm/sessions/1/bundle").expect(200).json();
    assert_eq!(bundle["checkpoint"], shown.to_string());
    // What was cosigned stays the last that was, while the log goes on.
    client.operate("/subjects", &json!({ "id": "later", "name": "Later" })).expect(201);
    let grown = || checkpoint(client).is_some_and(|note| note.cosigned_at(&witness.key).is_none());
    wait_until("the next checkpoint is signed", grown);
    let admin = [("x-admin-token", ADMIN)];
    let status = client.send("GET", "/api/swarm/admin/status", &admin, b"").expect(200).json();
    assert_eq!(status["log"]["witnessed"], size, "{status}");
    let file = folder.path().join("bundle.json");
    fs::write(&file, bundle.to_string()).unwrap();
    let policy = folder.path().join("policy");
    fs::write(&policy, format!("witness go {}\nquorum go\n", witness.key)).unwrap();
    let key = key.to_string();
    let verify = ["verify", file.to_str().unwrap(), "--key", &key];
    let verified = |flags: &[&str]| {
        let output = swarm(&[&verify, flags].concat(), &[]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // Without a policy no witness is known, so its cosignature proves nothing.
    let said = verified(&[]);
    assert!(said.contains("no cosignature was checked"), "{said}");
    let said = verified(&["--policy", policy.to_str().unwrap()]);
    assert!(said.contains("cosigned by \"go\" at 20"), "{said}");

    // The witness goes on from the size that it has seen, also with a server that knows nothing of it.
    drop(server);
    let server = serve(&folder, &witness.table());
    let client = &server.client;
    client.convene(DAY, "borealis");
    client.operate("/sessions/2/state", &json!({ "state": "window_closed" })).expect(200);
    wait_until("the next closed session is cosigned", || {
        checkpoint(client).is_some_and(|note| {
            note.cosigned_at(&witness.key).is_some()
                && !note.text().contains(&format!("\n{size}\n"))
        })
    });
    let (_, log) = server.stop("TERM");
    assert!(!log.contains("not cosigned"), "{log}");
}

#[test]
fn witness_that_does_not_answer_holds_up_nothing() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let table = table(&format!("http://{}/log", listener.local_addr().unwrap()), KEY);
    let server = serve(&folder, &table);
    let client = &server.client;
    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    let asked = listener.accept().unwrap();
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    wait_until("the take is proved", || client.get("/api/swarm/takes/1/proof").status == 200);
    let (status, _) = server.stop("TERM");
    assert!(status.success());
    drop(asked);
}

/// The silent one has been asked, and takes half a minute to fail.
#[test]
#[expect(clippy::disallowed_methods, reason = "the time that passes outside of the server")]
fn silent_witness_does_not_delay_another() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let keys = folder.path().join("logs");
    fs::write(&keys, format!("{}\n", log_key(&folder))).unwrap();
    let witness = GoWitness::start(compiled(), &keys);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let rows = [
        row(&format!("http://{}/log", silent.local_addr().unwrap()), KEY),
        row(&format!("{}/log", witness.url), &witness.key.to_string()),
    ];
    let server = serve(&folder, &format!("witnesses = [{}]\n", rows.join(", ")));
    let client = &server.client;
    let _asked = silent.accept().unwrap();
    client.convene(DAY, "aurora");
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    let (began, size) = (Instant::now(), client.log_entries().len());
    wait_until("the closed session is cosigned", || {
        checkpoint(client).is_some_and(|note| {
            note.cosigned_at(&witness.key).is_some() && note.text().contains(&format!("\n{size}\n"))
        })
    });
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

/// A 422 of a witness: the checkpoint does not continue the one that it has cosigned.
#[test]
fn fork_that_a_witness_sees_is_warned_of() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let witness = ScriptedService::responding(
        "HTTP/1.1 422 Unprocessable Entity\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
    let server = serve(&folder, &table(&format!("{}/log", witness.url), KEY));
    let client = &server.client;
    wait_until("the witness is asked", || !witness.requests().is_empty());
    let warned = || client.get("/readyz").expect(200).json()["warnings"].to_string();
    let words =
        "acme: the witness witness.example/w1 has cosigned 0 other entries of the log: a fork";
    wait_until("/readyz warns", || warned().contains(words));
    let metrics = client.get("/metrics").expect(200).text;
    assert!(metrics.contains("swarm_log_disputes 1\n"), "{metrics}");
    let alerts = include_str!("../../../deploy/prometheus/alerts.yml");
    assert!(alerts.contains("expr: swarm_log_disputes > 0"));
}

/// Reads the tiles of the log at a URL, and counts the cosignatures of the checkpoint on standard input.
const AICS_TLOG: &str = r#"
import sys
from aics_tlog import parse_note, parse_vkey, verify_checkpoint
from aics_tlog.remote import HttpTileReader
from aics_tlog.verified import audit_tiles
url, key, quorum, *witnesses = sys.argv[1:]
note = parse_note(sys.stdin.read())
found = verify_checkpoint(note, parse_vkey(key), [parse_vkey(it) for it in witnesses], int(quorum))
if url != "-":
    audit_tiles(HttpTileReader(url), found.size, found.root)
print(found.log_ok, found.ok, found.cosignature_count)
"#;

/// What `aics-tlog` finds in a checkpoint, of a log at this URL.
fn counted(url: &str, note: &SignedNote, key: &VerifierKey, quorum: usize, of: &[&str]) -> String {
    let mut command = Command::new(python());
    command.args(["-B", "-c", AICS_TLOG, url, &key.to_string(), &quorum.to_string()]).args(of);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(note.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn quorum_of_witnesses_by_others_is_counted_alike() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = log_key(&folder);
    let witnesses = ["w1", "w2", "w3"].map(|name| AicsWitness::start(name, &key));
    let rows = witnesses.each_ref().map(|it| row(&it.url, &it.key.to_string()));
    let server = serve(&folder, &format!("witnesses = [{}]\n", rows.join(", ")));
    let client = &server.client;
    client.convene(DAY, "aurora");
    let ada = Author::join(client, "Ada");
    client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    let size = client.log_entries().len();
    let cosigned = |note: &SignedNote| {
        let by = witnesses.iter().filter(|it| note.cosigned_at(&it.key).is_some());
        (by.count(), note.text().contains(&format!("\n{size}\n")))
    };
    wait_until("all three cosign the closed session", || {
        checkpoint(client).is_some_and(|note| cosigned(&note) == (3, true))
    });
    let shown = checkpoint(client).unwrap();
    let keys = witnesses.each_ref().map(|it| it.key.to_string());
    let keys = keys.each_ref().map(String::as_str);
    let tiles = format!("http://{}/swarm/log", client.address);
    assert_eq!(counted(&tiles, &shown, &key, 3, &keys), "True True 3");

    // A bundle, and what both make of it where cosignatures are left out.
    let bundle = client.get("/api/swarm/sessions/1/bundle").expect(200).json();
    assert_eq!(bundle["checkpoint"], shown.to_string());
    let (file, policy) = (folder.path().join("bundle.json"), folder.path().join("policy"));
    for left in [3, 2, 1, 0] {
        let mut note = shown.clone();
        note.remove(|line| witnesses[left..].iter().any(|it| it.key.name() == line.name()));
        let mut bundle = bundle.clone();
        bundle["checkpoint"] = json!(note.to_string());
        fs::write(&file, bundle.to_string()).unwrap();
        for quorum in 1..=3 {
            let [one, two, three] = keys;
            let text = format!(
                "witness one {one}\nwitness two {two}\nwitness three {three}\n                 group some {quorum} one two three\nquorum some\n"
            );
            fs::write(&policy, text).unwrap();
            let verify = ["verify", file.to_str().unwrap(), "--key", &key.to_string()];
            let flags = ["--policy", policy.to_str().unwrap()];
            let output = swarm(&[&verify[..], &flags].concat(), &[]).output().unwrap();
            let is_met = left >= quorum;
            assert_eq!(
                output.status.code(),
                Some(i32::from(!is_met)),
                "{left} {quorum}: {output:?}"
            );
            let counted = counted("-", &note, &key, quorum, &keys);
            let expected = format!("True {} {left}", if is_met { "True" } else { "False" });
            assert_eq!(counted, expected, "{quorum}");
        }
    }
}

/// A server with the key of the log, an older store, and no record of later checkpoints.
#[test]
fn witness_by_others_refuses_a_fork() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let key = log_key(&folder);
    let witness = AicsWitness::start("w1", &key);
    let table = table(&witness.url, &witness.key.to_string());
    let server = serve(&folder, &table);
    server.client.convene(DAY, "aurora");
    let ada = Author::join(&server.client, "Ada");
    server.stop("TERM");
    let backup = fs::read(folder.path().join("swarm.db")).unwrap();
    let server = serve(&folder, &table);
    let file = |client: &Client| {
        client.submit(&ada, ada.draft(DAY, "aurora")).expect(201);
        client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    };
    file(&server.client);
    let size = server.client.log_entries().len();
    wait_until("the closed session is cosigned", || {
        checkpoint(&server.client).is_some_and(|note| {
            note.cosigned_at(&witness.key).is_some() && note.text().contains(&format!("\n{size}\n"))
        })
    });
    server.stop("TERM");
    fs::write(folder.path().join("swarm.db"), backup).unwrap();
    fs::remove_file(folder.path().join("swarm.key.checkpoints")).unwrap();
    let server = serve(&folder, &table);
    file(&server.client);
    wait_until("/readyz warns", || {
        let ready = server.client.get("/readyz").expect(200).json();
        ready["warnings"].to_string().contains("has cosigned")
    });
    let metrics = server.client.get("/metrics").expect(200).text;
    assert!(metrics.contains("swarm_log_disputes 1\n"), "{metrics}");
}

/// A witness of the Python package, running.
struct AicsWitness {
    child: Child,
    key: VerifierKey,
    url: String,
    _folder: TempDir,
}

impl AicsWitness {
    fn start(name: &str, log: &VerifierKey) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("witness.json");
        let command = |arguments: &[&str]| {
            let mut command = Command::new(python());
            command.args(["-B", "-m", "aics_witness", arguments[0], "--config"]).arg(&file);
            command.args(&arguments[1..]);
            command
        };
        let name = format!("witness.example/{name}");
        let init = command(&["init", "--name", &name, "--listen", "127.0.0.1:0"]).output().unwrap();
        assert!(init.status.success(), "{init:?}");
        let key = VerifierKey::parse(String::from_utf8(init.stdout).unwrap().trim()).unwrap();
        let add = ["add-log", "--origin", log.name(), "--vkey", &log.to_string()];
        let added = command(&add).output().unwrap();
        assert!(added.status.success(), "{added:?}");
        let mut child = command(&["serve"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("listening on ")).unwrap();
        let url = line.split("listening on ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, key, url, _folder: folder }
    }
}

impl Drop for AicsWitness {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of entries of the log.
#[test]
fn witnesses_are_checked_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("swarm.toml");
    let check = |table: &str| {
        fs::write(&file, configuration(table)).unwrap();
        refusal(&["check", "--config", file.to_str().unwrap()], &[])
    };
    let log = "acme.example/log+2ca1d1ff+AeKZHXaif+qy/9K7gJuzV5/dF5rztZs7watiqdyhxut0";
    for (table, fault) in [
        (table("witness.example", KEY), "\"witness.example\""),
        (table("https://witness.example/log", log), "key: must be the verifier key of a witness"),
        (
            format!("witnesses = [{0}, {0}]\n", row("https://witness.example", KEY)),
            "is that of another witness too",
        ),
    ] {
        let said = check(&table);
        assert!(said.contains("witnesses: ") && said.contains(fault), "{said}");
    }
    fs::write(&file, configuration(&table("https://witness.example/log/", KEY))).unwrap();
    let output = swarm(&["check", "--config", file.to_str().unwrap()], &[]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = "acme: witness: witness.example/w1 at https://witness.example/log\n";
    assert!(said.contains(line), "{said}");
}

/// A key of a witness, from the tests of notes.
const KEY: &str = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";

/// The witness, running.
struct GoWitness {
    child: Child,
    key: VerifierKey,
    url: String,
}

impl GoWitness {
    fn start(program: &Path, keys: &Path) -> Self {
        let mut child =
            Command::new(program).arg("serve").arg(keys).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let key = VerifierKey::parse(&lines.next().unwrap()).unwrap();
        let url = lines.next().unwrap();
        Self { child, key, url }
    }

    fn table(&self) -> String {
        table(&format!("{}/log", self.url), &self.key.to_string())
    }
}

impl Drop for GoWitness {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The compiled witness.
fn compiled() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let compile = || {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = scratch_folder().join("witness");
        // The packages of Debian: found by path, not by module.
        let output = Command::new("go")
            .arg("build")
            .arg("-o")
            .arg(&program)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/witness.go"))
            .env("GO111MODULE", "off")
            .env("GOPATH", "/usr/share/gocode")
            .env("GOCACHE", target.join("go"))
            .output()
            .expect("go is not on the PATH: ./check installs it");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program
    };
    COMPILED.get_or_init(compile)
}

/// When a witness cosigned a note, as Go's `sumdb/note` has it; `None` where it did not.
fn checked(program: &Path, key: &VerifierKey, note: &str) -> Option<u64> {
    let mut child = Command::new(program)
        .args(["check", &key.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(note.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let time = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| time.trim().parse().unwrap())
}

fn row(url: &str, key: &str) -> String {
    format!("{{ url = {url:?}, key = {key:?} }}")
}

fn table(url: &str, key: &str) -> String {
    format!("witnesses = [{}]\n", row(url, key))
}

fn configuration(witnesses: &str) -> String {
    let hash = AdminTokenHash::of(ADMIN.as_bytes());
    let hash: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[[tenants]]\nid = \"acme\"\nhosts = [\"127.0.0.1\"]\npublic_origin = \"https://acme.example\"\n\
         admin_token_hash = \"sha256:{hash}\"\n{witnesses}"
    )
}

fn serve(folder: &Arc<TempDir>, witnesses: &str) -> Program {
    fs::write(folder.path().join("swarm.toml"), configuration(witnesses)).unwrap();
    Program::start_in(Arc::clone(folder), &["serve", "--config=swarm.toml"], &[])
}

/// The key of the log that servers in this folder sign.
fn log_key(folder: &Arc<TempDir>) -> VerifierKey {
    let server = serve(folder, "");
    let manifest = server.client.get("/.well-known/swarm.json").expect(200).json();
    VerifierKey::parse(manifest["logKey"].as_str().unwrap()).unwrap()
}

fn checkpoint(client: &Client) -> Option<SignedNote> {
    let answer = client.get("/swarm/log/checkpoint");
    (answer.status == 200).then(|| SignedNote::parse(&answer.text).unwrap())
}
