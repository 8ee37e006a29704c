//! What operators did (API.md, 7.11).

use serde_json::{Value, json};

use swarm_core::store::ActQuery;
use swarm_maintenance::{Directory as _, ForgetActs, Job as _, ListedTenant, Next, TenantList};
use swarm_redis_testing::wait_until;

use crate::backend::{Backend, now, on_every_store};
use crate::committee_fixture::chair;
use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client};
use crate::program::{Program, configuration};
use crate::tenant_configuration::tenant;

on_every_store! {
    every_act_of_operators_is_listed,
    acts_are_found_by_operator_and_time,
    sign_ins_are_listed_and_refused_ones_bounded,
    job_forgets_acts_after_400_days_within_the_hour,
}

fn acts(client: &Client, query: &str) -> Vec<Value> {
    read(client, query)["acts"].as_array().unwrap().clone()
}

fn read(client: &Client, query: &str) -> Value {
    let path = format!("/api/swarm/admin/acts{query}");
    client.send("GET", &path, &[("x-admin-token", ADMIN)], b"").expect(200).json()
}

/// The acts and what they were on, without regard to those of one time.
fn named(acts: &[Value]) -> Vec<(String, Value)> {
    let mut named: Vec<_> = acts
        .iter()
        .map(|act| (act["act"].as_str().unwrap().to_owned(), act["target"].clone()))
        .collect();
    named.sort_by_key(|(act, target)| (act.clone(), target.to_string()));
    named
}

fn every_act_of_operators_is_listed(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    let (bob, _) = Author::apply(client, "Bob");
    let (cid, _) = Author::apply(client, "Cid");
    client.operate("/members/update", &json!({ "memberId": cid, "lens": "Cash." })).expect(200);
    client.operate("/reject?dry_run=true", &json!({ "memberId": bob })).expect(200);
    client.operate("/reject", &json!({ "memberId": bob })).expect(200);
    client.operate("/reject", &json!({ "memberId": bob })).refused(409, "member is rejected");
    client.operate("/erase", &json!({ "memberId": cid })).expect(200);
    let mail = now(fixture.tenant().outbox(None, 1)).unwrap().messages[0].id;
    client.operate(&format!("/outbox/{mail}/retry"), &json!({})).expect(200);
    client.operate(&format!("/outbox/{mail}/cancel"), &json!({})).expect(200);
    let address = json!({ "address": "ada@acme.example" });
    client.operate("/mail/test?dry_run=true", &address).expect(200);
    let test = client.operate("/mail/test", &address).expect(200).json()["message"]["id"].clone();
    let session = client.convene("2026-11-21", "aurora");
    let holdings = json!({ "date": "2026-11-21", "totalValueUsd": 1 });
    let added = client.operate("/subjects/aurora/snapshots", &holdings).expect(201).json();
    let snapshot = added["snapshot"]["id"].to_string();
    client.submit(&ada, ada.draft("2026-11-21", "aurora")).expect(201);
    let note = json!({ "note": "it names a client" });
    client.operate("/takes/1/withhold", &note).expect(200);
    chair(client, "/members", &json!({ "id": "grace", "name": "Grace" })).expect(201);
    chair(client, "/members/grace/rotate-key", &json!({})).expect(200);
    chair(client, "/members/grace/status", &json!({ "status": "inactive" })).expect(200);
    chair(client, "/members/grace", &json!({ "name": "Grace H." })).expect(200);

    let all = acts(client, "");
    let mut expected: Vec<(String, Value)> = [
        ("member.activated", json!(ada.id)),
        ("application.updated", json!(cid)),
        ("application.rejected", json!(bob)),
        ("application.erased", json!(cid)),
        ("message.retried", json!(mail.to_string())),
        ("message.cancelled", json!(mail.to_string())),
        ("message.tested", json!(test.to_string())),
        ("subject", json!("aurora")),
        ("subject-snapshot", json!(snapshot)),
        ("session.convened", json!(session.to_string())),
        ("take-mark.withheld", json!("1")),
        ("committee-member.created", json!("grace")),
        ("committee-member.key-rotated", json!("grace")),
        ("committee-member.deactivated", json!("grace")),
        ("committee-member.updated", json!("grace")),
    ]
    .map(|(act, target)| (act.to_owned(), target))
    .into();
    expected.sort_by_key(|(act, target)| (act.clone(), target.to_string()));
    assert_eq!(named(&all), expected);
    for act in &all {
        let fields: Vec<_> = act.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields.len(), 5, "{act}");
        assert_eq!(act["by"], "operator", "{act}");
    }
    let withheld = all.iter().find(|act| act["act"] == "take-mark.withheld").unwrap();
    assert_eq!(withheld["note"], note["note"]);
    // Of what the log says, the list is the same.
    let log = client.get("/api/swarm/log?kind=take-mark").expect(200).json();
    assert_eq!(log["entries"][0]["at"], withheld["at"]);

    let visitor = Visitor::signed_in(client);
    let page = visitor.get("/operate/acts/all");
    assert_eq!(page.status, 200);
    let link = format!("<a href=\"/operate/sessions/{session}\"><bdi>session {session}</bdi></a>");
    for text in [
        "application rejected",
        "<td>cancelled</td>",
        "<td>subject written</td><td><a href=\"/operate/subjects/aurora\">",
        &format!("<td>snapshot added</td><td>snapshot {snapshot}</td>"),
        "<bdi>grace</bdi> of the committee",
        "convened, without a deadline",
        "<td>texts withheld</td><td><a href=\"/operate/takes/1\">",
        "<bdi>Ada</bdi></a>",
        &link,
        bob.as_str(),
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(visitor.get("/operate/acts").text.contains("/operate/acts/all"));
}

fn acts_are_found_by_operator_and_time(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let (id, _) = Author::apply(client, name);
        client.operate("/reject", &json!({ "memberId": id })).expect(200);
        ids.push(json!(id));
        fixture.clock.move_by(10);
    }
    let all = acts(client, "");
    let targets = |acts: &[Value]| acts.iter().map(|act| act["target"].clone()).collect::<Vec<_>>();
    ids.reverse();
    assert_eq!(targets(&all), ids, "the latest first");
    let at = |position: usize| all[position]["at"].as_str().unwrap().to_owned();
    assert_eq!(acts(client, "?by=operator"), all);
    assert_eq!(acts(client, "?by=ada"), [] as [Value; 0]);
    assert_eq!(acts(client, &format!("?since={}", at(1))), all[..2]);
    assert_eq!(acts(client, &format!("?before={}", at(1))), all[2..]);
    assert_eq!(acts(client, &format!("?by=operator&since={}&before={}", at(2), at(0))), all[1..3]);
    let page = read(client, "?limit=3");
    assert_eq!((&page["acts"], &page["nextBefore"]), (&json!(all[..3]), &json!(at(2))));
    let rest = read(client, &format!("?limit=3&before={}", at(2)));
    assert_eq!(rest, json!({ "acts": all[3..] }));
    for query in ["?since=yesterday", "?before=yesterday", "?limit=501", "?limit=0"] {
        let path = format!("/api/swarm/admin/acts{query}");
        let answer = client.send("GET", &path, &[("x-admin-token", ADMIN)], b"");
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
    }
    client.get("/api/swarm/admin/acts").expect(401);

    const DAY: i64 = 24 * 60 * 60 * 1_000;
    fixture.clock.move_by(400 * DAY);
    assert_eq!(acts(client, ""), [] as [Value; 0], "kept 400 days");
    let store = fixture.store.open(fixture.tenant().id());
    let kept = ActQuery { limit: 10, ..ActQuery::default() };
    let kept = || now(store.operator_acts(&kept)).unwrap().len();
    assert_eq!(kept(), 4);
    now(fixture.tenant().forget_old_acts()).unwrap();
    assert_eq!(kept(), 0, "they are removed");
}

fn sign_ins_are_listed_and_refused_ones_bounded(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    Visitor::signed_in(client);
    let refused = Visitor::new(client).sign_in("no token of an operator");
    assert_eq!(refused.status, 401);
    let mut all = acts(client, "");
    all.sort_by_key(|act| act["act"].to_string());
    for act in &mut all {
        act.as_object_mut().unwrap().remove("at").unwrap();
    }
    let act = |by: Value, act: &str| json!({ "by": by, "act": act, "target": null, "note": null });
    assert_eq!(
        all,
        [act(Value::Null, "console.refused"), act(json!("operator"), "console.signed-in")]
    );
    for _ in 0..150 {
        now(fixture.tenant().record_refused_sign_in()).unwrap();
    }
    let kept = acts(client, "?limit=500").len();
    assert!((101..=201).contains(&kept), "100 a day (or two): {kept}");
    assert_eq!(acts(client, "?by=operator").len(), 1);
}

fn job_forgets_acts_after_400_days_within_the_hour(backend: &Backend) {
    const HOUR: i64 = 60 * 60 * 1_000;
    const KEPT: i64 = 400 * 24 * HOUR;
    let fixture = Fixture::on(backend);
    let reject = |name: &str| {
        let (id, _) = Author::apply(&fixture.client, name);
        fixture.client.operate("/reject", &json!({ "memberId": id })).expect(200);
    };
    reject("a");
    fixture.clock.move_by(HOUR / 2);
    reject("b");
    let id = fixture.tenant().id().clone();
    let directory = TenantList::from_iter([ListedTenant::new(fixture.tenant())]);
    let served = directory.tenant(&id).unwrap();
    let mut job = ForgetActs::default();
    let store = fixture.store.open(&id);
    let query = ActQuery { limit: 10, ..ActQuery::default() };
    let kept = || now(store.operator_acts(&query)).unwrap().len();
    let mut round = |millis: i64| {
        fixture.clock.move_by(millis);
        let next = now(job.round(&*served));
        (kept(), next)
    };
    let hour = Next::In(std::time::Duration::from_millis(3_600_000));
    // The first act is almost 400 days old.
    assert_eq!(round(KEPT - HOUR / 2 - 10_000), (2, hour));
    let (left, next) = round(20_000);
    assert!(left == 2 && matches!(next, Next::In(_)), "not before an hour is over: {next:?}");
    assert_eq!(round(HOUR - 25_000), (2, Next::In(std::time::Duration::from_millis(5_000))));
    assert_eq!(round(5_000), (0, hour));
}

/// Also of a tenant that the reload brought; one that was refused is no reload.
#[test]
fn reload_of_the_configuration_is_an_act_of_each_tenant() {
    let file = configuration("reload-acts.toml", &tenant("acme", ""));
    let program =
        Program::start(&["serve", "--store=memory", "--config", file.to_str().unwrap()], &[]);
    let reloads = |host: &str| {
        let headers = [("x-admin-token", ADMIN)];
        let answer = program.client.at(host).send("GET", "/api/swarm/admin/acts", &headers, b"");
        match answer.status {
            200 => answer.json()["acts"].as_array().unwrap().clone(),
            _ => Vec::new(),
        }
    };
    assert_eq!(reloads("acme.example"), [] as [Value; 0]);
    std::fs::write(&file, "colour = 1").unwrap();
    program.signal("HUP");
    std::fs::write(&file, tenant("acme", "") + &tenant("bolt", "")).unwrap();
    wait_until("the reload is listed", || {
        program.signal("HUP");
        std::thread::sleep(std::time::Duration::from_millis(500));
        ["acme.example", "bolt.example"].iter().all(|host| !reloads(host).is_empty())
    });
    for host in ["acme.example", "bolt.example"] {
        for act in reloads(host) {
            let named = (&act["by"], &act["act"], &act["target"], &act["note"]);
            let expected =
                (&Value::Null, &json!("configuration.reloaded"), &Value::Null, &Value::Null);
            assert_eq!(named, expected);
            assert!(act["at"].is_string());
        }
    }
}
