//! Refusals of applications.

use serde_json::{Value, json};
use swarm_core::MemberId;
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_core::proof::KeyPair;

use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, fresh_key, signed_text};

fn signed(key: &KeyPair, name: &str, contact: &str, lens: &str) -> Value {
    let signed = key.sign(Application {
        name: Name::parse(name).unwrap(),
        contact: Contact::parse(contact).unwrap(),
        lens: Lens::parse(lens).unwrap(),
        public_key: key.public_key().to_string(),
    });
    serde_json::from_str(&signed_text(&signed)).unwrap()
}

fn apply(fixture: &Fixture, body: &Value) -> Answer {
    fixture.client.post("/api/swarm/apply", &[], &body.to_string())
}

fn applications(fixture: &Fixture) -> Vec<Value> {
    let headers = [("x-admin-token", ADMIN)];
    let read = fixture.client.send("GET", "/api/swarm/admin/applications", &headers, b"");
    read.expect(200).json()["applications"].as_array().unwrap().clone()
}

#[test]
fn fields_over_their_limits_are_refused() {
    let fixture = Fixture::start();
    let text = |length| "\u{1f680}".repeat(length);
    for (name, contact, lens) in [(1, 1, 0), (100, 200, 2_000)] {
        let body = signed(&fresh_key(), &text(name), &text(contact), &text(lens));
        let answer = apply(&fixture, &body).expect(201).json();
        let id = answer["memberId"].as_str().unwrap();
        assert_eq!(answer, json!({ "ok": true, "memberId": id, "status": "applied" }));
        assert_eq!(id.len(), 36, "a UUID: {id}");
    }
    let good = signed(&fresh_key(), "n", "c", "l");
    for (field, value) in [
        ("name", json!("")),
        ("name", json!(text(101))),
        ("contact", json!("")),
        ("contact", json!(text(201))),
        ("lens", json!(text(2_001))),
        ("signature", json!("A".repeat(2_001))),
        ("lens", json!(7)),
    ] {
        let mut body = good.clone();
        body[field] = value;
        apply(&fixture, &body).refused(400, "invalid application");
    }
    for field in ["name", "contact", "publicKey", "signature"] {
        for wrong in [json!(null), json!(7), json!({}), json!(["n"]), json!(true)] {
            let mut body = good.clone();
            body[field] = wrong;
            apply(&fixture, &body).refused(400, "invalid application");
        }
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(field);
        apply(&fixture, &body).refused(400, "invalid application");
    }
    for body in [json!([good]), json!("x"), json!(null), json!(1)] {
        apply(&fixture, &body).refused(400, "invalid application");
    }
    assert_eq!(applications(&fixture).len(), 2);
}

#[test]
fn bad_signature_answer_says_what_to_sign() {
    let fixture = Fixture::start();
    let key = fresh_key();
    let good = signed(&key, "A \"name\"/\u{7f}", "c\u{2028}", "");
    let canonical = format!(
        r#"{{"name":"A \"name\"/{}","contact":"c{}","lens":"","publicKey":"{}"}}"#,
        '\u{7f}',
        '\u{2028}',
        key.public_key()
    );
    let expected = json!({
        "ok": false, "status": 400, "error": "signature verification failed",
        "expectedPayload": canonical,
    });
    let other = signed(&fresh_key(), "A \"name\"/\u{7f}", "c\u{2028}", "");
    for signature in [json!(""), json!("!"), json!("A".repeat(2_000)), other["signature"].clone()] {
        let mut body = good.clone();
        body["signature"] = signature;
        assert_eq!(apply(&fixture, &body).expect(400).json(), expected);
    }
    assert_eq!(applications(&fixture).len(), 0);
    // An absent or null lens is empty.
    for lens in [Some(json!(null)), None] {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove("lens");
        lens.into_iter().for_each(|lens| body["lens"] = lens);
        body["signature"] = json!("");
        assert_eq!(apply(&fixture, &body).expect(400).json(), expected);
    }
    let mut body = good;
    body.as_object_mut().unwrap().remove("lens");
    apply(&fixture, &body).expect(201);
}

/// A key is held in the states applied, approved and claimed, and free afterwards.
#[test]
fn key_belongs_to_one_member() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let (id, key) = Author::apply(client, "first");
    let again = signed(&key, "second", "c", "");
    let member = |id: &str| json!({ "memberId": id });
    let held = |holder: &str| {
        let expected = json!({
            "ok": false, "status": 409, "error": "public key already registered",
            "memberId": holder,
        });
        assert_eq!(apply(&fixture, &again).expect(409).json(), expected);
    };
    held(id.as_str());
    client.operate("/activate", &member(id.as_str())).expect(200);
    held(id.as_str());
    Author::claim(client, &id, &key).expect(201);
    held(id.as_str());

    client.operate("/deactivate", &member(id.as_str())).expect(200);
    let second = apply(&fixture, &again).expect(201).json()["memberId"].clone();
    let second = second.as_str().unwrap();
    held(second);
    client.operate("/reject", &member(second)).expect(200);
    let third = apply(&fixture, &again).expect(201).json()["memberId"].clone();
    let third = third.as_str().unwrap();
    assert_ne!(third, second);
    held(third);
    client.operate("/activate", &member(third)).expect(200);
    // The others cannot be activated while the third has their key.
    for other in [id.as_str(), second] {
        let back = client.operate("/activate", &member(other)).expect(409).json();
        assert_eq!(back["error"], "public key already registered");
        assert_eq!(back["memberId"], third);
    }
    assert_eq!(applications(&fixture).len(), 3);
}

/// Anyone who saw an application can replay it.
#[test]
fn replayed_application_does_not_block_its_member() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let key = fresh_key();
    let application = signed(&key, "Ada", "ada@test.example", "");
    let sent = || apply(&fixture, &application).expect(201).json()["memberId"].clone();
    let first = sent();
    let member = |id: &Value| json!({ "memberId": id });
    let state = |id: &Value| {
        let read = client.get(&format!("/api/swarm/apply/{}", id.as_str().unwrap())).expect(200);
        read.json()["state"].clone()
    };
    client.operate("/activate", &member(&first)).expect(200);
    let id = MemberId::parse(first.as_str().unwrap()).unwrap();
    let claimed = Author::claim(client, &id, &key).expect(201).json();
    let token = format!("Bearer {}", claimed["token"].as_str().unwrap());
    client.operate("/deactivate", &member(&first)).expect(200);

    let replay = sent();
    let back = client.operate("/activate", &member(&first)).expect(200).json();
    assert_eq!(back["state"], "claimed");
    assert_eq!((state(&first), state(&replay)), (json!("claimed"), json!("rejected")));
    let verified = client.send("GET", TOKEN, &[("authorization", &token)], b"").expect(200);
    assert_eq!(verified.json()["memberId"], first);
    apply(&fixture, &application).expect(409);
}

const TOKEN: &str = "/api/swarm/verify-token";

#[test]
fn unknown_ids_are_404() {
    let fixture = Fixture::start();
    let (id, _) = Author::apply(&fixture.client, "a");
    let status = fixture.client.get(&format!("/api/swarm/apply/{id}")).expect(200).json();
    let expected = json!({
        "id": id.as_str(), "state": "applied", "appliedAt": fixture.clock.after(0),
        "reviewedAt": null, "claimedAt": null,
    });
    assert_eq!(status, expected);
    let mut bodies = vec![];
    for unknown in ["2a5c1d1e-0000-4000-8000-000000000000", "x", "%00", &"y".repeat(101)] {
        let answer = fixture.client.get(&format!("/api/swarm/apply/{unknown}")).expect(404);
        bodies.push(answer.json());
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}
