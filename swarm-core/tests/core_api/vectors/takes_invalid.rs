//! Takes that must be refused.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use serde::Deserialize;
use serde_json::Value;
use swarm_core::Submission;
use swarm_core::domain::PublicKey;
use swarm_core::json::Json;
use swarm_core::proof::canonical;

use crate::vectors::files::{own, records};
use crate::vectors::ledger::{Answer, Ledger, holders};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    class: String,
    note: String,
    level: String,
    member_id: String,
    public_key: String,
    request: Option<String>,
    request_b64: Option<String>,
    canonical: Option<String>,
    expect: Value,
    error: Option<String>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        match (&self.request, &self.request_b64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(text)) => STANDARD.decode(text).expect(&self.id),
            _ => panic!("{}: one request", self.id),
        }
    }

    fn submission(&self) -> Option<Submission> {
        Submission::read(&mut Json::read(&self.bytes()).ok()?.into_object()).ok()
    }

    fn allows(&self, status: u16) -> bool {
        match &self.expect {
            Value::Array(several) => several.contains(&status.into()),
            one => *one == status,
        }
    }
}

const BAD_SIGNATURE: &str = "signature verification failed";

/// The response of the service. A key that cannot be registered is tested without a member.
fn answer(ledger: &mut Ledger, case: &Case) -> Answer {
    if case.level == "core" {
        assert!(PublicKey::parse(&case.public_key).is_err(), "{} {}", case.id, case.note);
        return Answer::new(400, BAD_SIGNATURE);
    }
    match ledger.submit(&case.member_id, &case.bytes()) {
        Err(answer) => answer,
        Ok(take) => panic!("{} {} was filed: {take:?}", case.id, case.note),
    }
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = records(&own("interop/takes_invalid.jsonl"));
    assert_eq!(cases.len(), 393);
    cases
}

#[test]
fn invalid_takes_are_refused_with_the_documented_error() {
    let mut ledger = Ledger::seeded();
    for case in cases() {
        let answer = answer(&mut ledger, &case);
        assert!(case.allows(answer.status), "{} {}: {answer:?}", case.id, case.note);
        if let Some(error) = &case.error {
            assert_eq!(answer.error, *error, "{} {}", case.id, case.note);
        }
    }
    assert!(ledger.takes().is_empty());
}

/// The interface prescribes no error text for these; they keep the one chosen here.
#[test]
fn invalid_takes_without_prescribed_error_text() {
    let mut ledger = Ledger::seeded();
    for case in cases().iter().filter(|case| case.error.is_none()) {
        let expected = match (case.class.as_str(), case.note.as_str()) {
            // JSON, but not an object: every field is missing.
            ("json", "array" | "string" | "null" | "true" | "number") => "invalid submission",
            ("json" | "overflow", _) => "invalid json body",
            ("validation", _) => "invalid submission",
            // An empty string is a valid type, so verification fails.
            ("sig-type" | "tampered", _) => BAD_SIGNATURE,
            _ => panic!("{}: what is {}?", case.id, case.class),
        };
        assert_eq!(answer(&mut ledger, case).error, expected, "{} {}", case.id, case.note);
    }
}

/// Only the signatures of these takes are wrong: signed by their members, the same takes are filed.
#[test]
fn badly_signed_takes_are_filed_when_signed_correctly() {
    let holders: HashMap<_, _> =
        holders().into_iter().map(|holder| (holder.member_id.clone(), holder)).collect();
    let mut count = 0;
    for case in cases() {
        if case.error.as_deref() != Some(BAD_SIGNATURE) || case.level == "core" {
            continue;
        }
        let draft = case.submission().expect(&case.id).draft().clone();
        if case.class != "tampered" {
            assert_eq!(Some(canonical(&draft)), case.canonical, "{} {}", case.id, case.note);
        }
        let submission = Submission::new(holders[&case.member_id].keys().sign(draft));
        let filed = Ledger::seeded().file(&case.member_id, &submission);
        assert!(filed.is_ok(), "{} {}: {filed:?}", case.id, case.note);
        count += 1;
    }
    assert_eq!(count, 195);
}

/// Strict verification refuses these forgeries even if a key of small order were registered.
#[test]
fn forgeries_for_small_order_keys_fail_strict_verification() {
    let mut lax = 0;
    for case in cases().iter().filter(|case| case.level == "core") {
        let request: Value = serde_json::from_slice(&case.bytes()).expect(&case.id);
        let signature = STANDARD.decode(request["signature"].as_str().unwrap()).expect(&case.id);
        let signature = Signature::from_slice(&signature).expect(&case.id);
        let draft = case.submission().expect(&case.id).draft().clone();
        assert_eq!(Some(canonical(&draft)), case.canonical, "{}", case.id);
        let key = STANDARD.decode(&case.public_key).expect(&case.id);
        let Ok(key) = VerifyingKey::try_from(&key[..]) else { continue };
        let message = canonical(&draft);
        assert!(key.verify_strict(message.as_bytes(), &signature).is_err(), "{}", case.id);
        lax += usize::from(
            ed25519_dalek::Verifier::verify(&key, message.as_bytes(), &signature).is_ok(),
        );
    }
    // A verifier that is not strict accepts them, so the vectors are meaningful.
    assert_eq!(lax, 15);
}
