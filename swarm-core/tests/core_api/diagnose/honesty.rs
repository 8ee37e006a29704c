//! The diagnosis reports a signature as verified exactly when a submission would.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use proptest::prelude::*;
use swarm_core::domain::{MemberId, PublicKey, Signature, Signed, TakeDraft};
use swarm_core::json::Json;
use swarm_core::proof::diagnose::{Code, PayloadKind, SignedBody, diagnose_incomplete_take};
use swarm_core::proof::{diagnose, verify};

use crate::diagnose::{application, claim, object, take};

/// Whether a submission would accept the signature in this body.
fn holds(body: &[u8], key: &PublicKey) -> bool {
    let Ok(json) = Json::read(body) else { return false };
    let mut fields = json.into_object();
    let Ok(payload) = TakeDraft::read(&mut fields) else { return false };
    let Ok(signature) = fields.text("signature").and_then(Signature::parse) else { return false };
    verify(&Arc::new(Signed { payload, signature }), key).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn verdict_equals_that_of_submit(
        case in take(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut body = object(&case.signing(case.canonical())).into_bytes();
        for (at, byte) in edits {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let key = PublicKey::parse(&case.public_key()).unwrap();
        let holds = holds(&body, &key);
        match SignedBody::read(&body) {
            Ok(read) => {
                let diagnosis = diagnose(&read, Some(&key)).unwrap();
                prop_assert_eq!(diagnosis.verified, holds);
                prop_assert_eq!(diagnosis.kind, PayloadKind::Take);
            }
            Err(_) => prop_assert!(!holds),
        }
    }
}

proptest! {
    #[test]
    fn takes_and_claims_name_their_member(
        take in take(), claim in claim(), application in application(),
    ) {
        for (case, kind, is_of_member) in [
            (take, PayloadKind::Take, true),
            (claim, PayloadKind::TokenClaim, true),
            (application, PayloadKind::Application, false),
        ] {
            let read = SignedBody::read(object(&case.signing("")).as_bytes()).unwrap();
            let member = case.fields.iter().find(|(name, _)| *name == "memberId");
            let member = member.map(|(_, id)| serde_json::from_str::<String>(id).unwrap());
            prop_assert_eq!(read.member_id().map(MemberId::as_str), member.as_deref());
            prop_assert_eq!((read.kind(), member.is_some()), (kind, is_of_member));
        }
    }
}

#[test]
fn unrecognised_body_names_the_invalid_field() {
    for (body, fault) in [
        ("{", "body must be JSON: an object with its signature"),
        ("[]", "body must be JSON: an object with its signature"),
        ("{}", "name is missing"),
        (r#"{"challenge":"c"}"#, "memberId is missing"),
        (r#"{"confidence":70}"#, "name is missing"),
        (r#"{"stance":"bullish"}"#, "memberId is missing"),
        (r#"{"a":1,"a":1}"#, "body must be JSON: an object with its signature"),
    ] {
        assert_eq!(SignedBody::read(body.as_bytes()).unwrap_err().to_string(), fault, "{body}");
    }
    let claim = br#"{"memberId":"m","challenge":"c","expiresAt":"e","signature":"s"}"#;
    let claim = SignedBody::read(claim).unwrap();
    assert_eq!(diagnose(&claim, None).unwrap_err().to_string(), "publicKey is missing");
}

#[test]
fn an_incomplete_take_is_diagnosed_as_one() {
    let found = |body: &str| {
        let diagnosis = diagnose_incomplete_take(body.as_bytes())?;
        assert_eq!((diagnosis.kind, diagnosis.verified), (PayloadKind::Take, false));
        assert!(diagnosis.findings.iter().all(|finding| finding.code == Code::InvalidField));
        let messages = diagnosis.findings.iter().map(|finding| finding.message.to_string());
        Some((diagnosis.canonical, messages.collect::<Vec<_>>().join("; ")))
    };
    let take = r#"{"memberId":"m","date":"2026-11-21","subjectId":"a","nonce":"n","stance":"neutral","confidence":0.5"#;
    let canonical = format!(r#"{take},"body":"","memoUrl":""}}"#);
    let unsigned = found(&format!("{take}}}")).unwrap();
    assert_eq!(unsigned, (Some(canonical), "signature: is missing".to_owned()));
    let (canonical, faults) = found(r#"{"stance":"neutral","confidence":70,"date":"x"}"#).unwrap();
    assert_eq!(canonical, None);
    for fault in
        ["memberId: is missing", "date: must be", "nonce: is missing", "confidence: must be"]
    {
        assert!(faults.contains(fault), "{faults}");
    }
    for other in [&format!(r#"{take},"signature":"s"}}"#), r#"{"challenge":"c"}"#, "{}", "[", "[]"]
    {
        assert_eq!(found(other), None, "{other}");
    }
}

/// Its fields are not read, but what its public key proves does not depend on them.
#[test]
fn a_private_key_is_named_in_an_incomplete_take() {
    let [key, other] = [5, 6].map(|seed| SigningKey::from_bytes(&[seed; 32]));
    for (sent, expected) in
        [(&key, &[Code::KeyIsPrivate, Code::InvalidField][..]), (&other, &[Code::InvalidField])]
    {
        let private = STANDARD.encode(sent.as_bytes());
        let public = STANDARD.encode(key.verifying_key().as_bytes());
        let body = format!(
            r#"{{"memberId":"m","date":"2026-11-21","subjectId":"a","stance":"neutral","confidence":0.5,"signature":"{private}","publicKey":"{public}"}}"#
        );
        let diagnosis = diagnose_incomplete_take(body.as_bytes()).unwrap();
        let codes: Vec<_> = diagnosis.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, expected, "only the nonce is missing");
    }
}
