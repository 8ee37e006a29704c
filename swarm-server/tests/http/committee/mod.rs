//! The committee over HTTP: a day in two tenants, and its refusals in the modules below.

mod ended_days;
mod keys;
mod operators;
mod refusals;
mod stale_judgements;
mod trailers;

use serde_json::{Value, json};
use swarm_core::store::Store;
use swarm_core::{CommitteeSettings, Committees, SystemEntropy, TenantId, Timestamp};
use swarm_http::Site;

use crate::backend::{Backend, on_every_store};
use crate::committee_fixture::{chair, commit_of, refused, submit, take};
use crate::fixture::{Clock, now};
use crate::harness::{ADMIN, Client, Server, services, tenant};

on_every_store! {
    a_day_of_the_committee_in_two_tenants,
    the_schedule_waits_for_an_active_member,
    a_long_list_counts_the_takes_of_each_day,
    the_reference_of_a_take_is_the_one_that_is_documented,
}

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

struct TwoTenants {
    clock: Clock,
    store: Store,
    server: Server,
}

impl TwoTenants {
    /// Noon of 2026-11-21; two tenants, each with the subject `aurora`.
    fn start(backend: &Backend) -> Self {
        let Backend { clock, store, .. } = backend.clone();
        let tenants = ["acme", "bolt"].map(|id| tenant(id, ADMIN, &[&format!("{id}.example")]));
        let server = Server::of(Site::by_host(services(&store), tenants).unwrap());
        let tenants = Self { clock, store, server };
        for id in ["acme", "bolt"] {
            let subject = json!({ "id": "aurora", "name": format!("Aurora of {id}") });
            tenants.client(id).operate("/subjects", &subject).expect(201);
        }
        tenants
    }

    fn client(&self, id: &str) -> Client {
        self.server.client().at(&format!("{id}.example"))
    }

    /// Runs the background work of one more server.
    fn tick(&self, id: &str) -> Option<usize> {
        let committees = Committees::new(self.store.clone(), SystemEntropy);
        let committee =
            committees.tenant(&TenantId::parse(id).unwrap(), CommitteeSettings::default());
        let made = now(committee.generate_if_due()).unwrap();
        made.map(|made| made.briefs)
    }
}

/// Creates a member; returns its key.
fn join(client: &Client, id: &str) -> String {
    let created = chair(client, "/members", &json!({ "id": id, "name": "Ada", "voice": "Dry." }));
    let created = created.expect(201).json();
    assert_eq!((&created["ok"], &created["member_id"]), (&json!(true), &json!(id)));
    created["api_key"].as_str().unwrap().to_owned()
}

fn a_day_of_the_committee_in_two_tenants(backend: &Backend) {
    let tenants = TwoTenants::start(backend);
    for id in ["acme", "bolt"] {
        let client = tenants.client(id);
        let key = join(&client, "ada");
        assert!(key.starts_with("ic_ada_") && key.len() == "ic_ada_".len() + 32, "{key}");
        refused(submit(&client, &key, &take("bullish")), 409, "no brief published yet for today");
        client.get("/data/committee/briefs/today/ada.json").expect(404);
        assert_eq!(tenants.tick(id), None, "it is noon");
    }
    tenants.clock.move_by(10 * HOUR + 45 * MINUTE);
    for id in ["acme", "bolt"] {
        let client = tenants.client(id);
        let ticks = [tenants.tick(id), tenants.tick(id)];
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
    let acme = tenants.client("acme");
    let rotated = "/api/ic/admin/members/ada/rotate-key";
    let rotated = acme.send("POST", rotated, &[("x-admin-token", ADMIN)], b"").expect(200).json();
    let key = rotated["api_key"].as_str().unwrap();
    refused(submit(&tenants.client("bolt"), key, &take("bullish")), 401, "invalid key");

    let first = submit(&acme, key, &take("bullish")).expect(200).json();
    assert_eq!((&first["date"], &first["subject_id"]), (&json!("2026-11-21"), &json!("aurora")));
    tenants.clock.move_by(40 * MINUTE);
    let second = submit(&acme, key, &take("cautious")).expect(200).json();
    assert_ne!(first["commit"], second["commit"]);
    let open = acme.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(open["takes"], json!([]), "takes show once the deadline has passed");
    tenants.clock.move_by(1);
    refused(submit(&acme, key, &take("neutral")), 409, "submission window closed");

    let closed = acme.get("/api/ic/sessions/2026-11-21").expect(200).json();
    let shown = &closed["takes"][0];
    assert_eq!(
        (closed["takes"].as_array().unwrap().len(), &shown["stance"]),
        (1, &json!("cautious"))
    );
    assert_eq!(shown["commit"], second["commit"]);
    assert_eq!(commit_of(&record(&closed, shown)), shown["commit"].as_str().unwrap());
    let synthesis = json!({ "date": "2026-11-21", "synthesis": "Careful." });
    chair(&acme, "/synthesis", &synthesis).expect(200);
    let sessions = acme.get("/api/ic/sessions").expect(200).json();
    let line = json!({
        "date": "2026-11-21", "subject_id": "aurora", "takes": 1, "synthesis": "Careful.",
    });
    assert_eq!(sessions, json!({ "sessions": [line] }));
    let bolt = tenants.client("bolt").get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(bolt["takes"], json!([]));

    tenants.clock.move_by(HOUR);
    acme.get("/data/committee/briefs/today/ada.json").expect(404);
    refused(submit(&acme, key, &take("neutral")), 409, "no brief published yet for today");
    tenants.clock.move_by(22 * HOUR + 30 * MINUTE);
    assert_eq!(tenants.tick("acme"), Some(1), "a server that was down at 22:45 catches up");
    let brief = acme.get("/data/committee/briefs/today/ada.json").expect(200).json();
    assert_eq!(brief["your_recent_takes"][0]["stance"], "cautious");
    let recalled = json!([{ "date": "2026-11-21", "synthesis": "Careful." }]);
    assert_eq!(brief["recent_sessions"], recalled);
}

/// The schedule generates nothing without an active member, and catches up when one joins in time.
fn the_schedule_waits_for_an_active_member(backend: &Backend) {
    let tenants = TwoTenants::start(backend);
    let client = tenants.client("acme");
    tenants.clock.move_by(11 * HOUR);
    assert_eq!(tenants.tick("acme"), None);
    join(&client, "ada");
    chair(&client, "/members/ada/status", &json!({ "status": "inactive" })).expect(200);
    assert_eq!(tenants.tick("acme"), None);
    assert_eq!(client.get("/api/ic/sessions").expect(200).json(), json!({ "sessions": [] }));
    join(&client, "bob");
    assert_eq!(tenants.tick("acme"), Some(1));
    chair(&client, "/members/bob/status", &json!({ "status": "inactive" })).expect(200);
    chair(&client, "/briefs", &json!({})).expect(201);
    let session = client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    assert_eq!(session["subject_id"], "aurora");
    client.get("/data/committee/briefs/today/bob.json").expect(404);
}

/// More days than are read in one page, each with its own takes.
fn a_long_list_counts_the_takes_of_each_day(backend: &Backend) {
    const DAYS: usize = 20;
    let tenants = TwoTenants::start(backend);
    let client = tenants.client("acme");
    let keys: Vec<_> = (0..3).map(|member| join(&client, &format!("m{member}"))).collect();
    for day in 0..DAYS {
        chair(&client, "/briefs", &json!({})).expect(201);
        for key in &keys[..day % 4] {
            submit(&client, key, &take("bullish")).expect(200);
            submit(&client, key, &take("bearish")).expect(200);
        }
        tenants.clock.move_by(24 * HOUR);
    }
    let list = |query: &str| {
        let read = client.get(&format!("/api/ic/sessions{query}")).expect(200).json();
        let sessions = read["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|line| line["takes"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let counts: Vec<_> = (0..DAYS as u64).rev().map(|day| day % 4).collect();
    assert_eq!(list(""), counts);
    assert_eq!(list("?limit=9"), counts[..9]);
    assert_eq!(list("?before=2026-12-01"), counts[DAYS - 10..]);
}

/// The example in the API reference: the record that its member sends, and the reference it gets.
fn the_reference_of_a_take_is_the_one_that_is_documented(backend: &Backend) {
    let document = include_str!("../../../../API.md");
    let (_, example) = document.split_once("```text\n{\"member_id\"").unwrap();
    let mut lines = example.lines();
    let record: Value =
        serde_json::from_str(&format!("{{\"member_id\"{}", lines.next().unwrap())).unwrap();
    let commit = lines.next().unwrap();
    assert_eq!(commit_of(&record), commit);

    let tenants = TwoTenants::start(backend);
    let client = tenants.client("acme");
    let key = join(&client, record["member_id"].as_str().unwrap());
    chair(&client, "/briefs", &json!({})).expect(201);
    let received_at = Timestamp::parse("received_at", record["received_at"].as_str().unwrap());
    tenants.clock.move_by(received_at.unwrap().millis() - tenants.clock.now().millis());
    let sent = ["stance", "confidence", "body"].map(|field| (field, record[field].clone()));
    let receipt = submit(&client, &key, &Value::from_iter(sent)).expect(200).json();
    let expected = json!({
        "ok": true, "member_id": record["member_id"], "date": record["date"],
        "subject_id": record["subject_id"], "commit": commit, "received_at": record["received_at"],
    });
    assert_eq!(receipt, expected);
    // A time with an offset counts as the same instant.
    let mut dated = record.clone();
    dated["generated_at"] = json!("2026-11-21T23:00:00.12345+00:30");
    dated["model"] = json!("m \"1\"");
    let receipt = submit(&client, &key, &dated).expect(200).json();
    dated["generated_at"] = json!("2026-11-21T22:30:00.123Z");
    assert_eq!(receipt["commit"], commit_of(&dated));
}

/// The record of a take that a session shows.
fn record(session: &Value, take: &Value) -> Value {
    let mut record = take.clone();
    for key in ["date", "subject_id"] {
        record[key] = session[key].clone();
    }
    record
}
