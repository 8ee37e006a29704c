//! Reminders of members that have not filed (API.md, 7.5).

use std::sync::Arc;
use std::thread::sleep;

use serde_json::{Value, json};
use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use super::{DAY, Desk, QUIET, in_the_future};
use crate::harness::Author;

/// Of those that are expected, two have an address and have not filed. Each gets one, of two servers that are started twice.
#[test]
fn expected_members_that_have_not_filed_are_reminded_once() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let serve = |folder: &Arc<TempDir>| {
        Desk::serve("remind", "", "remind = \"1h\"", Arc::clone(folder), "sqlite:swarm.db")
    };
    let desks = [serve(&folder), serve(&folder)];
    let client = &desks[0].client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let names = ["Ada", "Zoe", "Grace", "no address ", "Excused", "Gone"];
    let members = names.map(|name| Author::join(client, name));
    let roster: Vec<_> = members
        .iter()
        .zip(names)
        .map(|(it, name)| json!({ "memberId": it.id.as_str(), "excused": name == "Excused" }))
        .collect();
    let gone = members[5].id.as_str();
    client.operate("/deactivate", &json!({ "memberId": gone })).expect(200);
    let session = |day: &str, seconds| {
        let closes = in_the_future(seconds);
        json!({ "date": day, "subjectId": "aurora", "roster": roster, "windowClosesAt": closes })
    };
    client.operate("/sessions", &session(DAY, 3_604)).expect(201);
    client.operate("/sessions", &session("2026-11-22", 36_000)).expect(201);
    client.submit(&members[0], members[0].draft(DAY, "aurora")).expect(201);
    // Takes go to the newer one, which expects nobody.
    client.operate("/sessions", &session("2026-11-23", 3_604)).expect(201);
    let newer = json!({ "date": "2026-11-23", "subjectId": "aurora" });
    client.operate("/sessions", &newer).expect(201);
    let reminders = || -> Vec<Value> {
        let all = desks[0].read("/outbox")["messages"].as_array().unwrap().clone();
        let is_reminder = |it: &Value| it["subject"].to_string().contains("not filed yet");
        all.into_iter().filter(is_reminder).collect()
    };
    assert_eq!(reminders(), [] as [Value; 0], "too early");
    wait_until("both are reminded", || reminders().len() == 2);
    sleep(QUIET);
    let again = [serve(&folder), serve(&folder)];
    sleep(QUIET * 4);
    drop(again);
    let reminders = reminders();
    let mut to: Vec<_> = reminders.iter().map(|it| it["to"].as_str().unwrap()).collect();
    to.sort_unstable();
    assert_eq!(to, ["Grace@test.example", "Zoe@test.example"]);
    let text = reminders[0]["body"].as_str().unwrap();
    assert!(text.contains("session 1 of https://acme.example, about aurora"), "{text}");
    assert!(text.ends_with("\nhttps://acme.example/skill.md\n"), "{text}");
}

#[test]
fn test_mail_is_queued_for_an_address() {
    let desk = Desk::start("test-mail", "");
    let send = |query: &str, address: &str| {
        desk.client.operate(&format!("/mail/test{query}"), &json!({ "address": address }))
    };
    assert_eq!(
        send("", "no address").expect(400).json()["detail"],
        "address must be an e-mail address"
    );
    send("?dry_run=true", "ada@acme.example").expect(200);
    assert_eq!(desk.read("/outbox")["messages"], json!([]));
    let sent = send("", "ada@acme.example").expect(200).json();
    let message = &sent["message"];
    assert_eq!((&message["to"], &message["state"]), (&json!("ada@acme.example"), &json!("queued")));
    assert_eq!(&desk.read("/outbox")["messages"][0], message);
}
