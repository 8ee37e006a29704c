//! Erasure of members (API.md, 7.8).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, signed_text};

on_every_store! {
    erased_member_leaves_its_takes_alone,
    active_member_is_not_erased,
    erased_applicant_is_rejected_without_an_entry,
    messages_to_others_at_the_same_contact_stay,
    old_applications_are_erased,
}

const NAME: &str = "Zoë Quicksilver";
const CONTACT: &str = "zoe.quicksilver@test.example";
const LENS: &str = "A contrarian lens on lending.";
const MEMO: &str = "A memorable memo of hers.";

fn erase(fixture: &Fixture, id: &str) -> Answer {
    fixture.client.operate("/erase", &json!({ "memberId": id }))
}

/// A member with everything that is personal: it applied, and has its token.
fn join(fixture: &Fixture, name: &str) -> Author {
    let client = &fixture.client;
    let key = crate::harness::fresh_key();
    let application = key.sign(swarm_core::domain::Application {
        name: swarm_core::domain::Name::parse(name).unwrap(),
        contact: swarm_core::domain::Contact::parse(CONTACT).unwrap(),
        lens: swarm_core::domain::Lens::parse(LENS).unwrap(),
        public_key: key.public_key().to_string(),
    });
    let applied = client.post("/api/swarm/apply", &[], &signed_text(&application)).expect(201);
    let id = applied.json()["memberId"].as_str().unwrap().to_owned();
    client.operate("/activate", &json!({ "memberId": id })).expect(200);
    let id = swarm_core::MemberId::parse(id).unwrap();
    let token = Author::claim(client, &id, &key).expect(201).json()["token"].clone();
    Author { id, key, token: token.as_str().unwrap().to_owned() }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn erased_member_leaves_its_takes_alone(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let zoe = join(&fixture, NAME);
    let id = zoe.id.as_str();
    client.convene("2026-11-21", "aurora");
    client.submit(&zoe, zoe.draft("2026-11-21", "aurora")).expect(201);
    for text in [MEMO, "Another one."] {
        let memo = json!({ "title": MEMO, "body": text }).to_string();
        client.post("/api/swarm/memos", &[("authorization", &zoe.bearer())], &memo).expect(201);
    }
    client.operate("/memos/2/retract", &json!({})).expect(200);
    let take = client.get("/api/swarm/takes/1").expect(200).json();
    client.operate("/deactivate", &json!({ "memberId": id })).expect(200);
    let before = fixture.client.log_entries();
    if backend.folder.is_some() || backend.redis.is_some() {
        assert!(contains(&backend.kept(), MEMO));
    }

    let answer = erase(&fixture, id).expect(200).json();
    assert_eq!(answer, json!({ "ok": true, "status": 200, "memberId": id, "state": "inactive" }));
    let member = client.get(&format!("/api/swarm/members/{id}")).expect(200).json();
    assert_eq!((&member["name"], &member["lens"]), (&json!("erased"), &Value::Null));
    assert_eq!(member["publicKey"], zoe.key.public_key().to_string());
    assert_eq!(client.get("/api/swarm/takes/1").expect(200).json(), take);
    for memo in [1, 2] {
        client.get(&format!("/api/swarm/memos/{memo}")).refused(404, "no such memo");
        // As the page of any memo that was retracted.
        let page = client.get(&format!("/swarm/memos/{memo}")).expect(404);
        assert!(!page.text.contains(MEMO), "{}", page.text);
    }
    let admin = [("x-admin-token", crate::harness::ADMIN)];
    let outbox = client.send("GET", "/api/swarm/admin/outbox", &admin, b"").expect(200).json();
    let message = &outbox["messages"][0];
    assert_eq!(
        (&message["to"], &message["subject"], &message["body"], &message["state"]),
        (&Value::Null, &json!("erased"), &json!("erased"), &json!("cancelled"))
    );
    let retried = client.operate("/outbox/1/retry", &json!({}));
    retried.refused(409, "message is cancelled");

    let mut new = fixture.client.log_entries().split_off(before.len());
    assert_eq!(new.iter().filter(|entry| entry["act"] == "retracted").count(), 1);
    let entry = new.pop().unwrap();
    assert_eq!(
        (&entry["kind"], &entry["act"], &entry["by"], &entry["id"], &entry["status"]),
        (&json!("member"), &json!("erased"), &json!("operator"), &json!(id), &json!("inactive"))
    );

    // No page, no list and no record has it; nor has what the store keeps.
    let paths = [
        "/".to_owned(),
        "/swarm/log".to_owned(),
        "/swarm/sessions/1".to_owned(),
        "/swarm/takes/1".to_owned(),
        format!("/swarm/members/{id}"),
        "/api/swarm/admin/applications".to_owned(),
        "/api/swarm/admin/outbox".to_owned(),
    ];
    let mut all = fixture.print();
    for path in paths {
        all += &client.send("GET", &path, &admin, b"").expect(200).text;
    }
    for text in [NAME, "Quicksilver", CONTACT, LENS, MEMO, "Another one."] {
        assert!(!all.contains(text), "{text}: {all}");
        assert!(!contains(&backend.kept(), text), "the store keeps {text}");
    }
    let log_page = fixture.client.get("/swarm/log").expect(200).text;
    assert!(log_page.contains(&format!("<bdi>{id}</bdi></a> erased, by")), "{log_page}");

    // Again: done already.
    let size = fixture.client.log_entries().len();
    erase(&fixture, id).expect(200);
    assert_eq!(fixture.client.log_entries().len(), size);
    let activated = client.operate("/activate", &json!({ "memberId": id }));
    activated.refused(409, "member is erased");
}

fn active_member_is_not_erased(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let zoe = join(&fixture, NAME);
    let id = zoe.id.as_str();
    let before = fixture.print();
    erase(&fixture, id).refused(409, "member is claimed");
    fixture.client.operate("/reset-claim", &json!({ "memberId": id })).expect(200);
    erase(&fixture, id).refused(409, "member is approved");
    erase(&fixture, "nobody").refused(404, "no such member");
    assert_eq!(erase(&fixture, "").expect(400).json()["error"], "invalid request");
    let before = before.lines().count();
    assert_eq!(fixture.print().lines().count(), before);
    assert!(fixture.print().contains(NAME));
}

fn erased_applicant_is_rejected_without_an_entry(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, _) = Author::apply(&fixture.client, "Mallory");
    let answer = erase(&fixture, id.as_str()).expect(200).json();
    assert_eq!(answer["state"], "rejected");
    assert_eq!(fixture.client.log_entries(), Vec::<Value>::new());
    assert!(!fixture.print().contains("Mallory"));
    let state = fixture.client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
    assert_eq!(state["state"], "rejected");
}

/// Two members of one person: a message goes with the member that it names.
fn messages_to_others_at_the_same_contact_stay(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (first, second) = (join(&fixture, NAME), join(&fixture, "Her other agent"));
    fixture.client.operate("/deactivate", &json!({ "memberId": first.id.as_str() })).expect(200);
    erase(&fixture, first.id.as_str()).expect(200);
    let admin = [("x-admin-token", crate::harness::ADMIN)];
    let outbox = fixture.client.send("GET", "/api/swarm/admin/outbox", &admin, b"").expect(200);
    let messages = outbox.json()["messages"].clone();
    assert_eq!((&messages[0]["to"], &messages[1]["to"]), (&Value::Null, &json!(CONTACT)));
    assert!(messages[1]["body"].as_str().unwrap().contains(second.id.as_str()));
}

/// Pending ones by the day of the application, rejected ones by that of the review.
fn old_applications_are_erased(backend: &Backend) {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let fixture = Fixture::on(backend);
    let tenant = fixture.tenant().with_application_retention(Some(3));
    let run = || crate::backend::now(tenant.erase_old_applications()).unwrap().done;
    let (pending, _) = Author::apply(&fixture.client, "Pending");
    let (rejected, _) = Author::apply(&fixture.client, "Turned down");
    let member = join(&fixture, NAME);
    fixture.clock.move_by(2 * DAY);
    fixture.client.operate("/reject", &json!({ "memberId": rejected.as_str() })).expect(200);
    assert_eq!(run(), 0);
    fixture.clock.move_by(DAY);
    assert_eq!(run(), 1);
    assert!(!fixture.print().contains("Pending") && fixture.print().contains("Turned down"));
    fixture.clock.move_by(2 * DAY);
    assert_eq!((run(), run()), (1, 0));
    assert!(!fixture.print().contains("Turned down"));
    assert_eq!(crate::backend::now(fixture.tenant().erase_old_applications()).unwrap().done, 0);
    for id in [&pending, &rejected] {
        let state = fixture.client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
        assert_eq!(state["state"], "rejected");
    }
    let kept = fixture.client.get(&format!("/api/swarm/members/{}", member.id)).expect(200).json();
    assert_eq!(kept["name"], NAME);
}
