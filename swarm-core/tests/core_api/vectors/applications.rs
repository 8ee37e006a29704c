//! The other signed payloads: applications and token claims. There are no vectors for them, but
//! these tests use the keys of the vectors.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use swarm_core::domain::{Application, Form, PublicKey, Signed, TokenClaim};
use swarm_core::json::{Json, Object};
use swarm_core::proof::{canonical, verify};
use swarm_core::rules::{Refusal, admit};
use swarm_core::{Invalid, Timestamp};

use crate::vectors::files::{own, records};
use crate::vectors::ledger::holders;

fn fields(value: &serde_json::Value) -> Object {
    Json::read(value.to_string().as_bytes()).unwrap().into_object()
}

/// An application with this key and an invalid signature.
fn application(public_key: &str) -> Result<Signed<Application>, Invalid> {
    Signed::<Application>::read(&mut fields(&json!({
        "signature": "", "publicKey": public_key, "contact": "a@vectors.example", "name": "Ann",
    })))
}

fn text(public_key: &str) -> String {
    format!(
        r#"{{"name":"Ann","contact":"a@vectors.example","lens":"","publicKey":{}}}"#,
        json!(public_key)
    )
}

#[test]
fn signed_application_is_admitted_with_its_key() {
    for holder in holders() {
        let unsigned = application(&holder.public_key).unwrap();
        assert_eq!(canonical(&unsigned.payload), text(&holder.public_key));
        let signed = Arc::new(holder.keys().sign(unsigned.payload));
        let change = admit(&signed, [7; 16], Timestamp::EPOCH).unwrap();
        assert_eq!(change.member.public_key, PublicKey::parse(&holder.public_key).ok());
    }
}

/// A text that is not a key, or a weak one, is reported as a bad signature (API.md, 4.2).
#[test]
fn weak_keys_are_not_admitted() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        public_key: String,
        expect: String,
    }
    let cases: Vec<Case> = records(&own("interop/public_keys.jsonl"));
    for case in cases.iter().filter(|case| case.expect == "reject") {
        let signed = Arc::new(application(&case.public_key).unwrap());
        let refusal = admit(&signed, [7; 16], Timestamp::EPOCH).unwrap_err();
        let expected_payload = text(&case.public_key);
        assert_eq!(refusal, Refusal::BadApplication { expected_payload });
    }
}

#[test]
fn token_claim_canonical_text_has_the_fields_in_order() {
    let holder = &holders()[0];
    let claim = Signed::<TokenClaim>::read(&mut fields(&json!({
        "signature": "", "expiresAt": "2026-11-21T22:45:00.000Z", "challenge": "c\u{2028}",
        "memberId": holder.member_id,
    })));
    let signed = Arc::new(holder.keys().sign(claim.unwrap().payload));
    assert_eq!(
        canonical(&signed.payload),
        format!(
            "{{\"memberId\":\"{}\",\"challenge\":\"c\u{2028}\",\
             \"expiresAt\":\"2026-11-21T22:45:00.000Z\"}}",
            holder.member_id
        )
    );
    let key = PublicKey::parse(&holder.public_key).unwrap();
    assert!(verify(&signed, &key).is_some());
}
