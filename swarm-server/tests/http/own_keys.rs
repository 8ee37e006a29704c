//! Members that replace their own key (API.md, 4.7).

use serde_json::{Value, json};
use swarm_core::domain::KeyReplacement;
use swarm_core::proof::KeyPair;
use swarm_redis_testing::wait_until;

use crate::backend::{Backend, on_every_store};
use crate::commands::{User, desk, joined};
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, Client, fresh_key};

on_every_store! {
    member_replaces_its_own_key,
    replacement_that_both_keys_did_not_sign_is_refused,
}

const DAY: &str = "2026-11-21";

/// What both keys sign.
fn replacement(author: &Author, new: &str, replaces: &str) -> KeyReplacement {
    KeyReplacement {
        member_id: author.id.clone(),
        public_key: new.to_owned(),
        replaces: replaces.to_owned(),
    }
}

fn signature(key: &KeyPair, replacement: &KeyReplacement) -> String {
    key.sign(replacement.clone()).signature.as_str().to_owned()
}

/// The request by which a member replaces its key.
pub fn request(author: &Author, new: &KeyPair) -> Value {
    let signed =
        replacement(author, &new.public_key().to_string(), &author.key.public_key().to_string());
    json!({
        "publicKey": new.public_key(),
        "endorsement": signature(&author.key, &signed),
        "proof": signature(new, &signed),
    })
}

fn replace(client: &Client, author: &Author, body: &Value) -> Answer {
    client.post("/api/swarm/key", &[("authorization", &author.bearer())], &body.to_string())
}

#[test]
fn replacement_without_fields_at_the_top_level_is_told_so() {
    let fixture = Fixture::start();
    let author = fixture.author();
    let body = request(&author, &fresh_key());
    let told = |body: &Value| {
        let refused = replace(&fixture.client, &author, body).expect(400).json();
        refused["detail"].as_str().unwrap().to_owned()
    };
    assert_eq!(told(&json!([body])), "body must be one JSON object, is an array");
    let text = "body must be one JSON object, is a string with an object in it: encode it once";
    assert_eq!(told(&json!(body.to_string())), text);
    for name in ["key", "data"] {
        let inside =
            format!("body must have the fields at the top level, has them inside {name:?}");
        assert_eq!(told(&json!({ name: body })), inside);
    }
    assert_eq!(told(&json!({})), "publicKey is missing");
    let hint = |body: &Value| {
        let refused = replace(&fixture.client, &author, body).expect(400);
        refused.header("swarm-hint").unwrap_or_default().to_owned()
    };
    assert_eq!(hint(&json!({})), "publicKey: is missing");
    assert_eq!(hint(&json!([body])), "body: must be one JSON object, is an array");
    let with = |field: &str, value: Value| {
        let mut body = body.clone();
        body[field] = value;
        body
    };
    assert!(hint(&with("endorsement", json!(7))).starts_with("endorsement: "));
    let wrong = hint(&with("endorsement", body["proof"].clone()));
    assert!(wrong.ends_with("each must sign expectedPayload"), "{wrong}");
    assert!(hint(&with("publicKey", json!("AAAA"))).starts_with("publicKey: "));
}

fn member_replaces_its_own_key(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, old) = (&fixture.client, fixture.author());
    fixture.convene(DAY, "aurora");
    client.submit(&old, old.draft(DAY, "aurora")).expect(201);
    let (key, before) = (fresh_key(), client.log_entries().len());
    let body = request(&old, &key);
    let replaced = replace(client, &old, &body).expect(200).json();
    let expected = json!({
        "ok": true, "status": 200, "memberId": old.id, "publicKey": key.public_key(),
    });
    assert_eq!(replaced, expected);
    let log = client.log_entries();
    assert_eq!(log.len(), before + 1);
    let entry = log.last().unwrap();
    for (field, value) in [
        ("kind", json!("member")),
        ("act", json!("key-rotated")),
        ("by", json!("member")),
        ("publicKey", json!(key.public_key())),
        ("replaces", json!(old.key.public_key())),
        ("endorsement", body["endorsement"].clone()),
    ] {
        assert_eq!(entry[field], value, "{field}");
    }
    // The old key signs no more, with the token that stays.
    client.submit(&old, old.draft(DAY, "aurora")).refused(400, "signature verification failed");
    let new = Author { id: old.id.clone(), key, token: old.token.clone() };
    client.submit(&new, new.draft(DAY, "aurora")).expect(201);
    let first = client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!(
        first["publicKey"],
        old.key.public_key().to_string(),
        "each take keeps the key that verified it"
    );
    // The key that it has already: nothing changes. So it is where the answer was lost, and the same request comes again.
    replace(client, &new, &request(&new, &new.key)).expect(200);
    assert_eq!(replace(client, &old, &body).expect(200).json(), expected);
    assert_eq!(client.log_entries().len(), log.len() + 1, "the take alone");
}

fn replacement_that_both_keys_did_not_sign_is_refused(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author, other) = (&fixture.client, fixture.author(), fixture.author());
    let (key, stranger) = (fresh_key(), fresh_key());
    let honest = request(&author, &key);
    let before = client.log_entries();
    let signed =
        replacement(&author, &key.public_key().to_string(), &author.key.public_key().to_string());
    let expected = swarm_core::proof::canonical(&signed);
    let elsewhere =
        replacement(&author, &key.public_key().to_string(), &stranger.public_key().to_string());
    for (field, value) in [
        ("endorsement", signature(&stranger, &signed)),
        ("endorsement", signature(&key, &signed)),
        ("endorsement", signature(&author.key, &elsewhere)),
        ("proof", signature(&author.key, &signed)),
        ("proof", String::new()),
    ] {
        let mut body = honest.clone();
        body[field] = json!(value);
        let refused = replace(client, &author, &body).expect(400).json();
        assert_eq!(refused["error"], "signature verification failed");
        assert_eq!(refused["expectedPayload"], expected, "{field}");
    }
    let weak = json!({ "publicKey": "AAAA", "endorsement": "x", "proof": "x" });
    let refused = replace(client, &author, &weak).expect(400).json();
    assert_eq!(
        refused["expectedPayload"],
        swarm_core::proof::canonical(&replacement(
            &author,
            "AAAA",
            &author.key.public_key().to_string()
        ))
    );
    replace(client, &author, &json!({ "publicKey": key.public_key() })).expect(400);
    let taken = replace(client, &author, &request(&author, &other.key)).expect(409).json();
    assert_eq!(
        (&taken["error"], &taken["memberId"]),
        (&json!("public key already registered"), &json!(other.id))
    );
    let nobody = Author { token: "nobody".to_owned(), ..author };
    assert_eq!(replace(client, &nobody, &honest).status, 401);
    client.post("/api/swarm/key", &[], &honest.to_string()).expect(401);
    assert_eq!(client.log_entries(), before);
}

#[test]
fn command_replaces_the_key_and_takes_of_both_keys_are_checked() {
    let (program, user) = desk();
    user.admin("subject put aurora.json").ok();
    joined(&user);
    user.admin("session convene --subject aurora --closes +3h").ok();
    let submit = |user: &User| user.member("submit --stance cautious --confidence 0.5").ok();
    submit(&user);
    let old = std::fs::read_to_string(user.profile("key")).unwrap();
    let new = user.member("key replace").ok();
    let members = program.client.get("/api/swarm/members").expect(200).json();
    assert_eq!(members["members"][0]["publicKey"], new.trim());
    assert_ne!(std::fs::read_to_string(user.profile("key")).unwrap(), old);
    assert!(!user.profile("key.next").exists());
    submit(&user);
    wait_until("the takes are proved", || {
        program.client.get("/api/swarm/takes/2/proof").status == 200
    });
    let checked = user.member("check --json").json();
    let rows = checked["takes"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["verdict"] == "holds"), "{checked}");

    // As if the answer to a replacement had been lost: the key that the service has is the one that was written.
    let current = user.profile("key");
    std::fs::copy(&current, user.profile("key.next")).unwrap();
    std::fs::write(&current, old).unwrap();
    assert_eq!(user.member("key replace").ok(), new);
    submit(&user);
}
