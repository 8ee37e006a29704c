//! The daily committee, over HTTP: a day in two tenants, and everything that is refused.

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use swarm_core::{CommitteeSettings, Committees, Swarm, SystemEntropy, TenantId};
use swarm_http::Site;
use swarm_store_memory::MemoryStore;

use crate::harness::{ADMIN, Answer, Client, Server, tenant};
use crate::world::Clock;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

struct Scene {
    clock: Clock,
    store: MemoryStore,
    server: Server,
}

impl Scene {
    /// Noon of 2026-11-21; two tenants, each with the subject `aurora`.
    fn set() -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let services = (
            Swarm::new(store.clone(), SystemEntropy),
            Committees::new(store.clone(), SystemEntropy),
        );
        let tenants = ["acme", "bolt"].map(|id| tenant(id, ADMIN, &[&format!("{id}.example")]));
        let server = Server::of(Site::by_host(services, tenants).unwrap());
        let scene = Self { clock, store, server };
        for id in ["acme", "bolt"] {
            let subject = json!({ "id": "aurora", "name": format!("Aurora of {id}") });
            scene.client(id).operate("/subjects", &subject).expect(201);
        }
        scene
    }

    fn client(&self, id: &str) -> Client {
        self.server.client().at(&format!("{id}.example"))
    }

    /// What the work in the background of one more server does.
    fn tick(&self, id: &str) -> Option<usize> {
        let committees = Committees::new(self.store.clone(), SystemEntropy);
        let desk = committees.desk(&TenantId::parse(id).unwrap(), CommitteeSettings::default());
        let made = desk.generate_if_due().now_or_never().unwrap().unwrap();
        made.map(|made| made.briefs)
    }
}

fn chair(client: &Client, path: &str, body: &Value) -> Answer {
    let path = format!("/api/ic/admin{path}");
    client.post(&path, &[("x-admin-token", ADMIN)], &body.to_string())
}

/// Creates a member; answers its key.
fn join(client: &Client, id: &str) -> String {
    let created = chair(client, "/members", &json!({ "id": id, "name": "Ada", "voice": "Dry." }));
    let created = created.expect(201).json();
    assert_eq!((&created["ok"], &created["member_id"]), (&json!(true), &json!(id)));
    created["api_key"].as_str().unwrap().to_owned()
}

fn submit(client: &Client, key: &str, body: &Value) -> Answer {
    client.post("/api/ic/submit", &[("x-ic-key", key)], &body.to_string())
}

fn take(stance: &str) -> Value {
    let body = format!(
        "REGIME: calm.\nALLOCATION: {}.\nSUBJECT: sound.\nSTANCE: {stance} | CONFIDENCE: 0.6\n",
        "half in cash ".repeat(8)
    );
    json!({ "stance": stance, "confidence": 0.6, "body": body, "model": "m-1" })
}

#[track_caller]
fn refused(answer: Answer, status: u16, error: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let body = answer.json();
    assert_eq!(body["error"], error, "{body}");
    assert!(
        body.as_object().unwrap().keys().all(|key| key == "error" || key == "detail"),
        "{body}"
    );
}

#[test]
fn a_day_of_the_committee_in_two_tenants() {
    let scene = Scene::set();
    for id in ["acme", "bolt"] {
        let client = scene.client(id);
        let key = join(&client, "ada");
        assert!(key.starts_with("ic_ada_") && key.len() == "ic_ada_".len() + 32, "{key}");
        refused(submit(&client, &key, &take("bullish")), 409, "no brief published yet for today");
        client.get("/data/committee/briefs/today/ada.json").expect(404);
        assert_eq!(scene.tick(id), None, "it is noon");
    }
    scene.clock.move_by(10 * HOUR + 45 * MINUTE);
    for id in ["acme", "bolt"] {
        let client = scene.client(id);
        let ticks = [scene.tick(id), scene.tick(id)];
        assert_eq!(ticks, [Some(1), None], "several servers generate once");
        let read = client.get("/data/committee/briefs/today/ada.json").expect(200);
        let brief = read.json();
        let keys = [
            "schema_version",
            "date",
            "subject_id",
            "subject",
            "regime",
            "subject_snapshot",
            "recent_sessions",
            "member",
            "your_recent_takes",
            "prompt",
            "response_schema",
            "submit_to",
            "deadline_utc",
            "generated_at",
        ];
        let places: Vec<_> =
            keys.iter().map(|key| read.text.find(&format!("\"{key}\":")).expect(key)).collect();
        assert!(places.is_sorted(), "{}", read.text);
        assert_eq!(brief["submit_to"], format!("http://{id}.example/api/ic/submit"));
        assert_eq!(brief["deadline_utc"], "2026-11-21T23:25:00.000Z");
        assert_eq!(brief["subject"]["name"], format!("Aurora of {id}"));
        assert!(brief["prompt"]["system"].as_str().unwrap().contains("Dry."), "{brief}");
        assert_eq!(read.header("last-modified"), Some("Sat, 21 Nov 2026 22:45:00 GMT"));
        assert!(read.header("cache-control").is_some());
        let same = [("if-none-match", read.header("etag").unwrap())];
        let path = "/data/committee/briefs/today/ada.json";
        assert_eq!(client.send("GET", path, &same, b"").status, 304);
    }
    let acme = scene.client("acme");
    let rotated = "/api/ic/admin/members/ada/rotate-key";
    let rotated = acme.send("POST", rotated, &[("x-admin-token", ADMIN)], b"").expect(200).json();
    let key = rotated["api_key"].as_str().unwrap();
    refused(submit(&scene.client("bolt"), key, &take("bullish")), 401, "invalid key");

    let first = submit(&acme, key, &take("bullish")).expect(200).json();
    assert_eq!((&first["date"], &first["subject_id"]), (&json!("2026-11-21"), &json!("aurora")));
    scene.clock.move_by(40 * MINUTE);
    let second = submit(&acme, key, &take("cautious")).expect(200).json();
    assert_ne!(first["commit"], second["commit"]);
    let open = acme.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(open["takes"], json!([]), "takes show once the deadline has passed");
    scene.clock.move_by(1);
    refused(submit(&acme, key, &take("neutral")), 409, "submission window closed");

    let closed = acme.get("/api/ic/sessions/2026-11-21").expect(200).json();
    let shown = &closed["takes"][0];
    assert_eq!(
        (closed["takes"].as_array().unwrap().len(), &shown["stance"]),
        (1, &json!("cautious"))
    );
    assert_eq!(shown["commit"], second["commit"]);
    assert_eq!(recomputed(&closed, shown), shown["commit"].as_str().unwrap());
    let synthesis = json!({ "date": "2026-11-21", "synthesis": "Careful." });
    chair(&acme, "/synthesis", &synthesis).expect(200);
    let sessions = acme.get("/api/ic/sessions").expect(200).json();
    let line = json!({
        "date": "2026-11-21", "subject_id": "aurora", "takes": 1, "synthesis": "Careful.",
    });
    assert_eq!(sessions, json!({ "sessions": [line] }));
    let bolt = scene.client("bolt").get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(bolt["takes"], json!([]));

    scene.clock.move_by(HOUR);
    acme.get("/data/committee/briefs/today/ada.json").expect(404);
    refused(submit(&acme, key, &take("neutral")), 409, "no brief published yet for today");
    scene.clock.move_by(22 * HOUR + 30 * MINUTE);
    assert_eq!(scene.tick("acme"), Some(1), "a server that was down at 22:45 catches up");
    let brief = acme.get("/data/committee/briefs/today/ada.json").expect(200).json();
    assert_eq!(brief["your_recent_takes"][0]["stance"], "cautious");
    let recalled = json!([{ "date": "2026-11-21", "synthesis": "Careful." }]);
    assert_eq!(brief["recent_sessions"], recalled);
}

/// The commit, as a member computes it from what the session shows (see the API reference).
fn recomputed(session: &Value, take: &Value) -> String {
    let fields = [
        ("member_id", &take["member_id"]),
        ("date", &session["date"]),
        ("subject_id", &session["subject_id"]),
        ("stance", &take["stance"]),
        ("confidence", &take["confidence"]),
        ("body", &take["body"]),
        ("model", &take["model"]),
        ("generated_at", &take["generated_at"]),
        ("received_at", &take["received_at"]),
    ];
    let text: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    let digest = Sha256::digest(format!("{{{}}}", text.join(",")).as_bytes());
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

#[test]
fn submissions_are_refused_in_the_order_of_the_contract() {
    let scene = Scene::set();
    let client = scene.client("acme");
    let key = join(&client, "ada");
    for bad in ["", "ic_ada", "ic_ada_xyz", &key.to_uppercase()] {
        refused(submit(&client, bad, &json!("{")), 401, "missing or malformed x-ic-key");
    }
    client.post("/api/ic/submit", &[], "{").unread(401, "missing or malformed x-ic-key");
    let unknown = format!("ic_ada_{}", "0".repeat(32));
    refused(submit(&client, &unknown, &json!({})), 401, "invalid key");
    let inactive = json!({ "status": "inactive" });
    chair(&client, "/members/ada/status", &inactive).expect(200);
    let broken = client.post("/api/ic/submit", &[("x-ic-key", &key)], "{");
    refused(broken, 403, "member is not active");
    chair(&client, "/members/ada/status", &json!({ "status": "active" })).expect(200);
    let broken = client.post("/api/ic/submit", &[("x-ic-key", &key)], "{");
    refused(broken, 400, "invalid json body");

    let with = |field: &str, value: Value| {
        let mut fields = take("bullish");
        fields[field] = value;
        fields
    };
    let long = take("bullish")["body"].as_str().unwrap().replace("calm", &"calm ".repeat(1_000));
    for (fields, error) in [
        (json!([]), "bad stance"),
        (with("stance", json!("Bullish")), "bad stance"),
        (with("stance", json!(null)), "bad stance"),
        (with("confidence", json!(1.1)), "bad confidence"),
        (with("confidence", json!("0.5")), "bad confidence"),
        (with("body", json!("short")), "body too short"),
        (with("body", json!(long)), "body too long"),
        (with("body", json!("x".repeat(80))), "missing stance line"),
    ] {
        refused(submit(&client, &key, &fields), 400, error);
    }
    let bad = submit(&client, &key, &with("stance", json!("hopeful"))).json();
    assert!(bad["detail"].as_str().unwrap().contains("bullish, constructive, neutral"), "{bad}");
    refused(submit(&client, &key, &take("bullish")), 409, "no brief published yet for today");
}

#[test]
fn operators_of_the_committee_are_told_what_is_wrong() {
    let scene = Scene::set();
    let client = scene.client("acme");
    client.post("/api/ic/admin/members", &[], "{}").unread(401, "admin token required");
    join(&client, "ada");
    let again = chair(&client, "/members", &json!({ "id": "ada", "name": "A" }));
    refused(again, 409, "member id already taken");
    for (path, body) in [
        ("/members", json!({ "id": "Ada", "name": "A" })),
        ("/members", json!([])),
        ("/members/ada/status", json!({ "status": "gone" })),
        ("/day", json!({ "date": "2026-02-30", "subject_id": "aurora" })),
        ("/briefs", json!({ "deadline_utc": "soon" })),
        ("/synthesis", json!({ "date": "2026-11-21" })),
    ] {
        let answer = chair(&client, path, &body).expect(400).json();
        assert_eq!(answer["error"], "invalid request", "{path}");
        assert!(answer["detail"].is_string(), "{path} {answer}");
    }
    refused(
        chair(&client, "/members/bob/status", &json!({ "status": "active" })),
        404,
        "no such member",
    );
    let day = json!({ "date": "2026-11-21", "subject_id": "other" });
    refused(chair(&client, "/day", &day), 404, "no such subject");
    // Now, without a body: all its fields are optional.
    let path = "/api/ic/admin/briefs";
    let made = client.send("POST", path, &[("x-admin-token", ADMIN)], b"").expect(201).json();
    let expected = json!({
        "ok": true, "date": "2026-11-21", "subject_id": "aurora", "briefs": 1,
        "deadline_utc": "2026-11-21T23:25:00.000Z",
    });
    assert_eq!(made, expected);
    client.get("/api/ic/sessions/2026-11-20").expect(404);
    client.get("/api/ic/sessions?limit=0").unread(400, "invalid query");
}
