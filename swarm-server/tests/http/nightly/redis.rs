//! The binary on a real Redis: two servers, a restart, a cluster, exports, warnings.

use serde_json::{Value, json};
use swarm_core::domain::AdminTokenHash;
use swarm_core::proof::hex;
use swarm_redis_testing::{Cluster, Server, wait_until};

use crate::backend::Backend;
use crate::harness::{ADMIN, Answer, Author, Client};
use crate::program::{Program, configuration, refusal, swarm};

const DAY: &str = "2026-11-21";

#[test]
fn two_servers_share_one_redis_and_survive_its_restart() {
    let mut redis = Server::start(&[]);
    let store = format!("--store={}", redis.url());
    let serve = || Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let (one, other) = (serve(), serve());
    assert_eq!(one.client.get("/readyz").expect(200).json(), json!({ "status": "ready" }));
    assert!(counted(&one, 0));
    assert_eq!(one.client.convene(DAY, "aurora"), 1);
    let author = Author::join(&other.client, "Ada");
    let first = author.draft(DAY, "aurora");
    one.client.submit(&author, first.clone()).expect(201);
    let replay = other.client.submit(&author, first.clone()).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    let read = other.client.get("/api/swarm/sessions/1").expect(200).text;
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);

    redis.stop();
    let away = one.client.submit(&author, author.draft(DAY, "aurora"));
    away.refused(503, "store unavailable");
    one.client.get("/readyz").refused(503, "store unavailable");
    one.client.get("/healthz").expect(200);

    redis.resume();
    wait_until("the store is found again", || one.client.get("/readyz").status == 200);
    assert_eq!(one.client.get("/api/swarm/sessions/1").expect(200).text, read);
    let replay = one.client.submit(&author, first).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    other.client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    let advance = json!({ "state": "aggregated" });
    let session = one.client.operate("/sessions/1/state", &advance).expect(200).json();
    assert_eq!(session["session"]["snapshot"]["participation"]["members"], 1);
}

/// The log's entry of a memo has a digest over the time of the commit. The store proposes an entry for each of the next
/// milliseconds, and has to be done before they have passed.
#[test]
fn longest_memo_is_committed_while_the_clock_runs() {
    let redis = Server::start(&[]);
    let store = format!("--store={}", redis.url());
    let program = Program::start(&["serve", &store], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let ada = Author::join(&program.client, "Ada");
    let memo = json!({ "title": "Long", "body": "\u{1f680}".repeat(100_000) }).to_string();
    let bearer = ada.bearer();
    program.client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo).expect(201);
}

#[test]
fn one_of_two_servers_generates_and_both_accept_submissions() {
    // By its clock it is noon.
    let backend = Backend::redis();
    let store = format!("--store={}", backend.redis.as_ref().unwrap().url());
    let serve = |name: &str, brief_at: &str| {
        let file = format!("brief_at = \"{brief_at}\"\ndeadline = \"23:59\"");
        let file = committee(&format!("redis-{name}.toml"), &file);
        Program::start(&["serve", "--config", &file, &store], &backend.clock.environment())
    };
    let early = serve("early", "23:58");
    let client = early.client.at("acme.example");
    let key = join(&client, "ada");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.get(ADAS_BRIEF).expect(404);
    early.stop("TERM");

    let programs = [serve("due", "00:00"), serve("due", "00:00")];
    let [one, other] = [0, 1].map(|at| programs[at].client.at("acme.example"));
    wait_until("there are briefs", || other.get(ADAS_BRIEF).status == 200);
    let brief = other.get(ADAS_BRIEF).expect(200).text;
    assert_eq!(one.get(ADAS_BRIEF).expect(200).text, brief);
    let take = json!({ "stance": "neutral", "confidence": 0.5, "body": BODY }).to_string();
    let receipt = other.post("/api/ic/submit", &[("x-ic-key", &key)], &take).expect(200).json();
    let over = json!({ "deadline_utc": "2026-01-01T00:00:00Z" });
    let made = chair(&one, "/briefs", &over).expect(201).json();
    let session = format!("/api/ic/sessions/{}", made["date"].as_str().unwrap());
    let read = other.get(&session).expect(200);
    assert_eq!(one.get(&session).expect(200).text, read.text);
    let takes = read.json()["takes"].clone();
    assert_eq!((takes.as_array().unwrap().len(), &takes[0]["commit"]), (1, &receipt["commit"]));
    other.get(ADAS_BRIEF).expect(200);

    let logs = programs.map(|program| program.stop("TERM").1);
    let generations = logs.iter().map(|log| log.matches("briefs generated").count());
    assert_eq!(generations.sum::<usize>(), 1, "{logs:?}");
}

#[test]
fn cluster_serves_both_interfaces() {
    let cluster = Cluster::start();
    let (file, store) = (committee("redis-cluster.toml", ""), format!("--store={}", cluster.url()));
    let serve = || Program::start(&["serve", "--config", &file, &store], &[]);
    let program = serve();
    let client = program.client.at("acme.example");
    assert_eq!(client.get("/readyz").expect(200).json(), json!({ "status": "ready" }));
    assert_eq!(client.convene(DAY, "aurora"), 1);
    let author = Author::join(&client, "Ada");
    let take = author.draft(DAY, "aurora");
    client.submit(&author, take.clone()).expect(201);
    let key = join(&client, "ada");
    let open = json!({ "deadline_utc": "2999-12-31T00:00:00Z" });
    let made = chair(&client, "/briefs", &open).expect(201).json();
    client.get(ADAS_BRIEF).expect(200);
    let submission = json!({ "stance": "neutral", "confidence": 0.5, "body": BODY }).to_string();
    let receipt = client.post("/api/ic/submit", &[("x-ic-key", &key)], &submission).expect(200);
    program.stop("TERM");

    let program = serve();
    let client = program.client.at("acme.example");
    let replay = client.submit(&author, take.clone()).expect(409).json();
    assert_eq!(replay["recommendationId"], 1);
    let read = client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!(read["nonce"], take.nonce.as_str());
    let session = client.get("/api/swarm/sessions/1").expect(200).json();
    assert_eq!(session["takes"], json!([read]));
    chair(&client, "/briefs", &json!({ "deadline_utc": "2026-01-01T00:00:00Z" })).expect(201);
    let session = format!("/api/ic/sessions/{}", made["date"].as_str().unwrap());
    let takes = client.get(&session).expect(200).json()["takes"].clone();
    assert_eq!(takes.as_array().unwrap().len(), 1);
    assert_eq!(takes[0]["commit"], receipt.json()["commit"]);
}

#[test]
fn export_writes_the_stored_briefs() {
    let folder = tempfile::tempdir().unwrap();
    let redis = Server::start(&[]);
    let store = format!("--store={}", redis.url());
    let briefs = folder.path().join("cdn/briefs");
    let with = committee("redis-export.toml", &format!("export_to = {briefs:?}"));
    let without = committee("redis-plain.toml", "");
    let program = Program::start(&["serve", "--config", &without, &store], &[]);
    let client = program.client.at("acme.example");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for id in ["ada", "bob"] {
        join(&client, id);
    }
    let open = json!({ "deadline_utc": "2999-12-31T00:00:00Z" });
    chair(&client, "/briefs", &open).expect(201);
    let served = client.get(ADAS_BRIEF).expect(200).json();
    program.stop("TERM");

    std::fs::create_dir_all(&briefs).unwrap();
    for other in ["gone.json", "robots.txt"] {
        std::fs::write(briefs.join(other), r#"{"member":{"id":"gone"}}"#).unwrap();
    }
    let ended = swarm(&["export-briefs", "--config", &with, &store], &[]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let said = format!("acme: 2 in {}\n", briefs.display());
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), said);
    let entries = std::fs::read_dir(&briefs).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["ada.json", "bob.json", "robots.txt"]);
    let written = std::fs::read_to_string(briefs.join("ada.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["submit_to"], "https://acme.example/api/ic/submit");
    assert_eq!(written["prompt"], served["prompt"]);

    for (arguments, named) in [
        (&["export-briefs", "--config", &with][..], "swarm.db"),
        (&["export-briefs", "--config", &with, "--store=memory"], "memory"),
        (&["export-briefs", "--config", &without, &store], "export_to"),
        (&["export-briefs", "--config", &with, "--store=redis://127.0.0.1:1"], "store"),
    ] {
        let said = refusal(arguments, &[]);
        assert!(said.contains(named), "{arguments:?}\n{said}");
    }
}

#[test]
fn unsafe_settings_are_logged_and_counted_from_the_start() {
    let redis = Server::start(&["--appendfsync", "everysec"]);
    let store = format!("--store={}", redis.url());
    let program = Program::start(&["serve", &store], &[]);
    assert!(counted(&program, 1));
    let ready = program.client.get("/readyz").expect(200).json();
    assert_eq!(ready["status"], "ready");
    let warnings: Vec<&str> =
        ready["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(matches!(warnings[..], [text] if text.contains("appendfsync is everysec")));
    let refused = refusal(&["serve", &format!("{store}?strict=true")], &[]);
    assert!(refused.contains("appendfsync is everysec"), "{refused}");

    redis.cli(&["config", "set", "appendfsync", "always"]);
    program.client.get("/readyz").expect(200);
    assert!(counted(&program, 0));
    redis.cli(&["config", "set", "appendfsync", "everysec"]);
    wait_until("it is counted without a request to /readyz", || counted(&program, 1));
}

/// Whether `/metrics` has this many warnings of the store.
fn counted(program: &Program, warnings: usize) -> bool {
    let metrics = program.client.get("/metrics").expect(200).text;
    metrics.lines().any(|line| line == format!("swarm_store_warnings {warnings}"))
}

const ADAS_BRIEF: &str = "/data/committee/briefs/today/ada.json";

const BODY: &str = "REGIME: calm.\nALLOCATION: half in cash, half in what pays for waiting.\n\
                    SUBJECT: sound.\nSTANCE: neutral | CONFIDENCE: 0.5";

/// The file of one tenant with these settings of its committee.
fn committee(name: &str, settings: &str) -> String {
    let hash = hex(AdminTokenHash::of(ADMIN.as_bytes()).as_bytes());
    let text = format!(
        "[[tenants]]\nid = \"acme\"\nhosts = [\"acme.example\"]\n\
         public_origin = \"https://acme.example\"\nadmin_token_hash = \"sha256:{hash}\"\n\
         [tenants.committee]\n{settings}\n"
    );
    configuration(name, &text).to_str().unwrap().to_owned()
}

fn chair(client: &Client, path: &str, body: &Value) -> Answer {
    let path = format!("/api/ic/admin{path}");
    client.post(&path, &[("x-admin-token", ADMIN)], &body.to_string())
}

/// Creates a member; returns its key.
fn join(client: &Client, id: &str) -> String {
    let created = chair(client, "/members", &json!({ "id": id, "name": id })).expect(201).json();
    created["api_key"].as_str().unwrap().to_owned()
}
