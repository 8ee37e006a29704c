//! Texts that may or may not be registered as a public key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use serde::Deserialize;
use swarm_core::domain::PublicKey;

use crate::vectors::files::{own, records};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    note: String,
    public_key: String,
    expect: String,
}

fn cases() -> Vec<Case> {
    records(&own("interop/public_keys.jsonl"))
}

#[test]
fn keys_are_accepted_or_refused_as_expected() {
    let (mut accepted, mut refused, mut either) = (0, 0, 0);
    for case in cases() {
        let parsed = PublicKey::parse(&case.public_key);
        let expected = match case.expect.as_str() {
            "accept" => {
                accepted += 1;
                true
            }
            "reject" => {
                refused += 1;
                false
            }
            // Both outcomes are allowed only for keys of mixed order. They are neither of small
            // order nor badly encoded, so the service accepts them (API.md, 3.2).
            _ => {
                either += 1;
                assert!(case.note.starts_with("mixed order"), "{}", case.note);
                true
            }
        };
        assert_eq!(parsed.is_ok(), expected, "{} {}", case.id, case.note);
        if let Ok(key) = parsed {
            assert_eq!(key.to_string(), case.public_key, "{}", case.id);
        }
    }
    assert_eq!((accepted, refused, either), (12, 42, 3));
}

/// Strict verification alone would accept a point of large order with a non-canonical encoding.
/// Parsing a key does not.
#[test]
fn key_parsing_refuses_non_canonical_strong_points() {
    let stricter: Vec<String> = cases()
        .into_iter()
        .filter(|case| case.expect == "reject")
        .filter(|case| {
            let bytes = STANDARD.decode(&case.public_key).unwrap_or_default();
            VerifyingKey::try_from(&bytes[..]).is_ok_and(|key| !key.is_weak())
        })
        .map(|case| case.note)
        .collect();
    assert_eq!(stricter, ["y >= p, non-canonical"; 4]);
}
