//! The clients under `examples/clients`, in other languages, against the binary.

mod bad_answers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::committee_fixture::chair;
use crate::harness::ADMIN;
use crate::program::{Program, scratch_folder};

/// A client program, in a folder of its own.
pub struct ClientProgram {
    interpreter: String,
    script: PathBuf,
    url: String,
    pub folder: PathBuf,
}

impl ClientProgram {
    /// The client in the file `script`, in a folder called `name`, for the server at `url`.
    pub fn new(interpreter: String, script: &str, name: &str, url: String) -> Self {
        let folder = scratch_folder().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let script = root.join("examples/clients").join(script);
        Self { interpreter, script, url, folder }
    }

    /// Runs a command of the client.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let ran = self.command(arguments).output();
        ran.unwrap_or_else(|error| panic!("{} does not run: {error}", self.interpreter))
    }

    /// The process of a client command.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.interpreter);
        command.arg(&self.script).args(arguments).current_dir(&self.folder);
        command
    }

    /// Runs a command; returns its output, and fails unless it succeeds.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Like [`says`](Self::says), for a command that calls the server and prints JSON.
    fn asks(&self, command: &str, arguments: &[&str]) -> Value {
        let mut all = vec![command, "--url", &self.url];
        all.extend_from_slice(arguments);
        serde_json::from_str(&self.says(&all)).unwrap()
    }
}

#[test]
fn python_applies_claims_submits_and_verifies() {
    journey(python(), "swarm_client.py");
}

#[test]
fn node_applies_claims_submits_and_verifies() {
    journey(node(), "swarm_client.mjs");
}

pub fn node() -> String {
    std::env::var("SWARM_NODE").unwrap_or_else(|_| "node".to_owned())
}

/// The interpreter with the libraries that the tests need: the test command of the README makes it.
pub fn python() -> String {
    std::env::var("SWARM_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Names the folder where `./check` installs packages of Node.js.
pub const NODE_TOOLS: &str = "SWARM_NODE_TOOLS";

pub fn node_tools() -> String {
    std::env::var(NODE_TOOLS)
        .expect("SWARM_NODE_TOOLS is not set: ./check installs these tools and sets it")
}

fn journey(interpreter: String, script: &str) {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    program.client.convene("2026-11-21", "aurora");
    let url = format!("http://{}", program.client.address);
    let client = ClientProgram::new(interpreter, script, script, url);

    let key = client.says(&["keygen", "my.key"]);
    let applied = client
        .asks("apply", &["--key=my.key", "--name=Zoë \u{1f680}", "--contact=zoe@test.example"]);
    assert_eq!(applied["status"], "applied");
    let id = applied["memberId"].as_str().unwrap();
    program.client.operate("/activate", &json!({ "memberId": id })).expect(200);
    assert_eq!(client.asks("status", &[id])["state"], "approved");
    let member = format!("--member={id}");
    client.asks("claim", &["--key=my.key", &member, "--token-file=my.token"]);

    let fields = [
        "--key=my.key",
        "--token-file=my.token",
        &member,
        "--date=2026-11-21",
        "--subject=aurora",
        "--stance=constructive",
        "--confidence=1e-7",
        "--nonce=the same",
        "--body=\u{201c}quoted\u{201d} \\ / \u{1f680}\n\tline\u{2028}",
        "--weights=[{\"bucket\":\"cash\",\"weight\":1e21},{\"bucket\":\"btc\",\"weight\":0.1}]",
    ];
    let receipt = client.asks("submit", &fields);
    assert_eq!(
        receipt,
        json!({ "ok": true, "status": 201, "recommendationId": 1, "verified": true })
    );
    // Sent again after a lost answer, the same take returns its first id.
    assert_eq!(client.asks("submit", &fields)["recommendationId"], 1);
    let take = program.client.get("/api/swarm/takes/1").expect(200).json();
    let fresh: Vec<_> = fields.iter().filter(|it| !it.starts_with("--nonce")).copied().collect();
    assert_eq!(client.asks("submit", &fresh)["recommendationId"], 2);
    let nonce = program.client.get("/api/swarm/takes/2").expect(200).json()["nonce"].clone();
    assert!(nonce.as_str().unwrap().starts_with(&format!("{} ", client.url)), "{nonce}");
    assert_eq!((&take["publicKey"], &take["memberId"]), (&json!(key), &json!(id)));

    let permalink = format!("{}/swarm/takes/1", client.url);
    let verified = client.says(&["verify", &permalink, "--key", &key]);
    assert!(verified.starts_with(&format!("holds: the key {key} signed this")), "{verified}");
    assert!(verified.contains("\"constructive\", confidence 1e-7"), "{verified}");
    assert_eq!(client.run(&["verify", "--url", &client.url, "3"]).status.code(), Some(2));
    reads(&client);
    blind(&program, &client, &fields);
    committee(&program, &client);
}

/// Files a take in a blind session, and verifies its seal once it is opened.
fn blind(program: &Program, client: &ClientProgram, fields: &[&str]) {
    let session = json!({ "date": "2026-11-22", "subjectId": "aurora", "blind": true });
    program.client.operate("/sessions", &session).expect(201);
    let fields: Vec<_> = fields
        .iter()
        .filter(|it| !it.starts_with("--nonce"))
        .map(|it| if it.starts_with("--date") { "--date=2026-11-22" } else { it })
        .collect();
    let filed = client.asks("submit", &fields);
    assert_eq!(filed["recommendationId"], 3);
    let verify = ["verify", "--url", &client.url, "3"];
    assert_eq!(client.run(&verify).status.code(), Some(2));
    program.client.operate("/sessions/2/state", &json!({ "state": "aggregated" })).expect(200);
    let take = program.client.get("/api/swarm/takes/3").expect(200).json();
    assert_eq!(take["salt"], filed["salt"]);
    let said = client.says(&verify);
    assert!(
        said.contains(&format!("the seal {} is of", take["sealed"].as_str().unwrap())),
        "{said}"
    );
}

/// Reads the brief, and publishes a memo.
fn reads(client: &ClientProgram) {
    assert_eq!(client.asks("open-session", &[])["id"], 1);
    assert_eq!(client.asks("sessions", &["--limit=1"])["sessions"][0]["subjectId"], "aurora");
    assert_eq!(client.asks("brief", &["1"]), Value::Null);
    let memo = ["--token-file=my.token", "--title=On aurora", "--body=Long.", "--subject=aurora"];
    assert_eq!(client.asks("memo", &memo)["memoId"], 1);
}

/// The client computes the reference itself, and fails if the answer differs.
fn committee(program: &Program, client: &ClientProgram) {
    let member = chair(&program.client, "/members", &json!({ "id": "zoe", "name": "Zoë" }));
    let key = member.expect(201).json()["api_key"].as_str().unwrap().to_owned();
    std::fs::write(client.folder.join("my.ic"), key).unwrap();
    let order = json!({ "deadline_utc": "9999-12-31T00:00:00Z" });
    chair(&program.client, "/briefs", &order).expect(201);
    assert_eq!(client.asks("committee-brief", &["zoe"])["member"]["name"], "Zoë");
    let body = format!(
        "--body=\u{201c}quoted\u{201d} \\ / \u{1f680}\n\tline\u{2028}{}\nSTANCE: cautious | CONFIDENCE: 0.5",
        "half in cash ".repeat(8)
    );
    let fields = ["--api-key-file=my.ic", "--stance=cautious", &body];
    for more in [&["--confidence=1e-7"][..], &["--confidence=1.0", "--model=\"m\" \u{1f680}"]] {
        let receipt = client.asks("committee-submit", &[&fields[..], more].concat());
        assert_eq!((&receipt["ok"], &receipt["member_id"]), (&json!(true), &json!("zoe")));
    }
    let short = ["--confidence=0.5", "--body=short", "--stance=cautious", "--api-key-file=my.ic"];
    let command = ["committee-submit", "--url", &client.url];
    assert_eq!(client.run(&[&command[..], &short].concat()).status.code(), Some(1));
}
