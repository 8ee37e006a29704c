//! Challenges, and invalid proofs.

use serde_json::{Value, json};
use swarm_core::MemberId;
use swarm_core::domain::TokenClaim;
use swarm_core::proof::KeyPair;

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, fresh_key, signed_text};

on_every_store! {
    malformed_requests_are_refused,
    challenge_expires_after_ten_minutes,
    challenge_is_reused_for_five_minutes,
    new_challenge_replaces_the_previous_one,
    challenge_from_before_the_approval_is_valid_when_given_again,
    invalid_proofs_are_refused,
    challenge_names_its_service,
    refused_claim_names_the_invalid_field,
    refused_claim_whose_signature_holds_says_why,
    deactivated_member_cannot_claim,
    token_is_valid_while_its_member_is_active,
    used_challenge_is_recognized_until_it_expires,
}

const REFUSED: &str = "token claim refused";
const TEN_MINUTES: i64 = 600_000;
const FIVE_MINUTES: i64 = 300_000;

fn approved(fixture: &Fixture) -> (MemberId, KeyPair) {
    let (id, key) = Author::apply(&fixture.client, "A");
    fixture.client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    (id, key)
}

fn challenge(fixture: &Fixture, id: &MemberId) -> Value {
    let body = json!({ "memberId": id.as_str() }).to_string();
    fixture.client.post("/api/swarm/token-claim/challenge", &[], &body).expect(200).json()
}

fn proof(id: &MemberId, challenge: &Value, expires_at: &Value, key: &KeyPair) -> String {
    signed_text(&key.sign(TokenClaim {
        member_id: id.clone(),
        challenge: challenge.as_str().unwrap().to_owned(),
        expires_at: expires_at.as_str().unwrap().to_owned(),
    }))
}

fn claim(fixture: &Fixture, body: &str) -> Answer {
    fixture.client.post("/api/swarm/token-claim", &[], body)
}

fn malformed_requests_are_refused(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let long = "m".repeat(101);
    for body in [
        json!({}),
        json!({ "memberId": "" }),
        json!({ "memberId": null }),
        json!({ "memberId": 7 }),
        json!({ "memberId": long }),
        json!({ "memberId": ["m"] }),
        json!([]),
        json!("m"),
    ] {
        let answer =
            fixture.client.post("/api/swarm/token-claim/challenge", &[], &body.to_string());
        answer.refused(400, "invalid challenge request");
        claim(&fixture, &body.to_string()).refused(400, "invalid token claim");
    }
    let good = json!({ "memberId": "m", "challenge": "c", "expiresAt": "e", "signature": "s" });
    claim(&fixture, &good.to_string()).refused(401, REFUSED);
    for field in ["memberId", "challenge", "expiresAt", "signature"] {
        for wrong in [json!(null), json!(1), json!({}), json!(false)] {
            let mut body = good.clone();
            body[field] = wrong;
            claim(&fixture, &body.to_string()).refused(400, "invalid token claim");
        }
    }
    let mut body = good;
    body["signature"] = json!("A".repeat(2_001));
    claim(&fixture, &body.to_string()).refused(400, "invalid token claim");
}

fn challenge_expires_after_ten_minutes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    for (wait, good) in [(TEN_MINUTES, true), (TEN_MINUTES + 1, false)] {
        let (id, key) = approved(&fixture);
        let given = challenge(&fixture, &id);
        let expected = json!({
            "memberId": id.as_str(), "challenge": given["challenge"],
            "expiresAt": fixture.clock.after(TEN_MINUTES),
        });
        assert_eq!(given, expected);
        let body = proof(&id, &given["challenge"], &given["expiresAt"], &key);
        fixture.clock.move_by(wait);
        let answer = claim(&fixture, &body);
        if good {
            let token = answer.expect(201).json();
            let text = token["token"].as_str().unwrap();
            assert!(text.starts_with(&format!("tok_{id}_")), "{text}");
            assert_eq!(text.len(), "tok__".len() + 36 + 36);
            let expected = json!({
                "ok": true, "status": 201, "memberId": id.as_str(), "token": text,
            });
            assert_eq!(token, expected);
            // A used challenge is kept until it expires; then no proof is valid.
            claim(&fixture, &body).refused(409, "token already claimed");
            fixture.clock.move_by(1);
            claim(&fixture, &body).refused(401, REFUSED);
        } else {
            answer.refused(401, REFUSED);
        }
    }
}

/// Also for unknown members. So repeated requests cannot prevent a claim.
fn challenge_is_reused_for_five_minutes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let nobody = MemberId::parse("nobody").unwrap();
    for id in [approved(&fixture).0, Author::apply(&fixture.client, "B").0, nobody] {
        let first = challenge(&fixture, &id);
        assert_eq!(first["expiresAt"], fixture.clock.after(TEN_MINUTES));
        for wait in [1, FIVE_MINUTES - 1] {
            fixture.clock.move_by(wait);
            assert_eq!(challenge(&fixture, &id), first);
        }
        fixture.clock.move_by(1);
        let next = challenge(&fixture, &id);
        assert_ne!(next["challenge"], first["challenge"]);
        assert_eq!(next["expiresAt"], fixture.clock.after(TEN_MINUTES));
    }
}

fn challenge_from_before_the_approval_is_valid_when_given_again(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = Author::apply(&fixture.client, "A");
    let given = challenge(&fixture, &id);
    let body = proof(&id, &given["challenge"], &given["expiresAt"], &key);
    fixture.client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    claim(&fixture, &body).refused(401, REFUSED);
    assert_eq!(challenge(&fixture, &id), given);
    claim(&fixture, &body).expect(201);
}

fn new_challenge_replaces_the_previous_one(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = approved(&fixture);
    let old = challenge(&fixture, &id);
    fixture.clock.move_by(FIVE_MINUTES + 1);
    let new = challenge(&fixture, &id);
    assert_ne!(old["challenge"], new["challenge"]);
    let body = |given: &Value| proof(&id, &given["challenge"], &given["expiresAt"], &key);
    claim(&fixture, &body(&old)).refused(401, REFUSED);
    claim(&fixture, &body(&new)).expect(201);
    claim(&fixture, &body(&old)).refused(401, REFUSED);
}

fn invalid_proofs_are_refused(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = approved(&fixture);
    let (other, other_key) = approved(&fixture);
    let unknown = MemberId::parse("2a5c1d1e-0000-4000-8000-000000000000").unwrap();
    let (applied, applied_key) = Author::apply(&fixture.client, "B");
    let given = challenge(&fixture, &id);
    let (text, until) = (&given["challenge"], &given["expiresAt"]);
    let others = challenge(&fixture, &other);
    let short = json!(until.as_str().unwrap().replace(".000Z", "Z"));
    let later = json!(fixture.clock.after(2 * TEN_MINUTES));
    let for_applied = challenge(&fixture, &applied);
    let for_unknown = challenge(&fixture, &unknown);
    let mut tampered: Value = serde_json::from_str(&proof(&id, text, until, &key)).unwrap();
    tampered["signature"] = json!("A".repeat(86) + "==");
    for (what, body) in [
        ("another key", proof(&id, text, until, &fresh_key())),
        ("another member's key", proof(&id, text, until, &other_key)),
        ("no signature", tampered.to_string()),
        ("the same moment in another text", proof(&id, text, &short, &key)),
        ("a later moment", proof(&id, text, &later, &key)),
        ("another challenge", proof(&id, &json!("x"), until, &key)),
        ("another member's challenge", proof(&id, &others["challenge"], until, &key)),
        ("for another member", proof(&other, text, until, &other_key)),
        ("an applicant", proof(&applied, &for_applied["challenge"], until, &applied_key)),
        ("nobody", proof(&unknown, &for_unknown["challenge"], until, &key)),
    ] {
        let answer = claim(&fixture, &body);
        assert_eq!(answer.status, 401, "{what}: {answer:?}");
        answer.refused(401, REFUSED);
    }
    // None of these consumed the challenge.
    let claimed = claim(&fixture, &proof(&id, text, until, &key)).expect(201);
    assert_eq!(claimed.header("cache-control"), Some("no-store"));
    claim(&fixture, &proof(&id, text, until, &fresh_key())).refused(401, REFUSED);
    claim(&fixture, &proof(&other, &others["challenge"], until, &other_key)).expect(201);
}

/// So another service cannot relay a challenge of this one to a member.
fn challenge_names_its_service(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = approved(&fixture);
    let given = challenge(&fixture, &id);
    let origin = format!("http://{} ", fixture.client.address);
    let text = given["challenge"].as_str().unwrap();
    let random = text.strip_prefix(&origin).unwrap_or_else(|| panic!("{text}"));
    assert!(random.len() >= 43 && !random.contains(' '), "{text}");
    for other in [random.to_owned(), format!("http://other.example {random}")] {
        let answer = claim(&fixture, &proof(&id, &json!(other), &given["expiresAt"], &key));
        answer.refused(401, REFUSED);
    }
    claim(&fixture, &proof(&id, &given["challenge"], &given["expiresAt"], &key)).expect(201);
}

/// Whether or not the member exists.
fn refused_claim_names_the_invalid_field(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let known = approved(&fixture);
    for (id, key) in [known, (MemberId::parse("nobody").unwrap(), fresh_key())] {
        let given = challenge(&fixture, &id);
        let (text, until) = (&given["challenge"], &given["expiresAt"]);
        let elsewhere = json!("http://other.example x");
        let seconds = until.as_str().unwrap().split_once('.').unwrap().0;
        let short = json!(format!("{seconds}Z"));
        let sooner = json!(fixture.clock.after(TEN_MINUTES - 1));
        let later = json!(fixture.clock.after(TEN_MINUTES + 1));
        let mut unencoded: Value = serde_json::from_str(&proof(&id, text, until, &key)).unwrap();
        unencoded["signature"] = json!("ab".repeat(64));
        for (body, field) in [
            (proof(&id, &elsewhere, until, &key), "challenge: must begin with http://"),
            (proof(&id, text, &short, &key), "expiresAt: must be the text"),
            (proof(&id, text, &later, &key), "expiresAt: must be the text"),
            (proof(&id, text, &sooner, &key), "memberId is not approved"),
            (unencoded.to_string(), "signature: must be standard base64"),
            (proof(&id, text, until, &fresh_key()), "memberId is not approved"),
        ] {
            let answer = claim(&fixture, &body);
            let hint = answer.header("swarm-hint").unwrap_or_default();
            assert!(hint.starts_with(field), "{hint}");
            let names_all = hint.contains("or expiresAt is not the text that came with it");
            assert_eq!(names_all, field.starts_with("memberId"), "{hint}");
            answer.refused(401, REFUSED);
        }
        let body = proof(&id, text, until, &key);
        fixture.clock.move_by(TEN_MINUTES + 1);
        let late = claim(&fixture, &body);
        let hint = late.header("swarm-hint").unwrap_or_default().to_owned();
        assert_eq!(hint, "expiresAt: has passed, ask for a new challenge");
        late.refused(401, REFUSED);
    }
}

/// The diagnosis finds nothing wrong with them.
fn refused_claim_whose_signature_holds_says_why(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (approved, approved_key) = approved(&fixture);
    let (applied, applied_key) = Author::apply(&fixture.client, "B");
    let of = |id: &MemberId, key: &KeyPair| {
        let given = challenge(&fixture, id);
        proof(id, &given["challenge"], &given["expiresAt"], key)
    };
    let replaced = of(&approved, &approved_key);
    fixture.clock.move_by(FIVE_MINUTES + 1);
    challenge(&fixture, &approved);
    let unapproved = of(&applied, &applied_key);
    for (body, reason) in [
        (replaced, "challenge was replaced (ask again)"),
        (unapproved, "memberId is not approved (GET /api/swarm/apply/<memberId>)"),
    ] {
        let diagnosis = fixture.client.post("/api/swarm/diagnose", &[], &body).expect(200).json();
        assert_eq!(
            (&diagnosis["kind"], &diagnosis["verified"]),
            (&json!("token-claim"), &json!(true))
        );
        let answer = claim(&fixture, &body);
        let hint = answer.header("swarm-hint").unwrap_or_default();
        assert!(hint.contains(reason), "{hint}");
        answer.refused(401, REFUSED);
    }
}

fn deactivated_member_cannot_claim(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = approved(&fixture);
    let given = challenge(&fixture, &id);
    let body = proof(&id, &given["challenge"], &given["expiresAt"], &key);
    let member = json!({ "memberId": id.as_str() });
    fixture.client.operate("/deactivate", &member).expect(200);
    claim(&fixture, &body).refused(401, REFUSED);
    Author::claim(&fixture.client, &id, &key).refused(401, REFUSED);
    // Activated again without ever having claimed: approved.
    let back = fixture.client.operate("/activate", &member).expect(200).json();
    assert_eq!(back["state"], "approved");
    Author::claim(&fixture.client, &id, &key).expect(201);
}

/// Deactivation invalidates a token, activation makes it valid again.
fn token_is_valid_while_its_member_is_active(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = Author::join(&fixture.client, "A");
    let member = json!({ "memberId": author.id.as_str() });
    let who = || {
        let headers = [("authorization", author.bearer())];
        let headers = [("authorization", headers[0].1.as_str())];
        fixture.client.send("GET", "/api/swarm/verify-token", &headers, b"")
    };
    assert_eq!(who().expect(200).json(), member);
    fixture.client.operate("/deactivate", &member).expect(200);
    who().refused(401, "unknown member token");
    let back = fixture.client.operate("/activate", &member).expect(200).json();
    assert_eq!(back["state"], "claimed");
    assert_eq!(who().expect(200).json(), member);
    Author::claim(&fixture.client, &author.id, &author.key).refused(409, "token already claimed");
}

/// Anybody may ask for another challenge meanwhile. A member that lost the answer to its claim still learns that the token was given out.
fn used_challenge_is_recognized_until_it_expires(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (id, key) = approved(&fixture);
    let given = challenge(&fixture, &id);
    let proof = proof(&id, &given["challenge"], &given["expiresAt"], &key);
    claim(&fixture, &proof).expect(201);
    fixture.clock.move_by(FIVE_MINUTES + 1);
    assert_ne!(challenge(&fixture, &id)["challenge"], given["challenge"]);
    claim(&fixture, &proof).refused(409, "token already claimed");
    fixture.clock.move_by(FIVE_MINUTES);
    claim(&fixture, &proof).refused(401, REFUSED);
}
