//! Takes that must be accepted: canonical text, signature, decision and record.

use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use swarm_core::domain::{PublicKey, Signature, Signed};
use swarm_core::json::{self, Json};
use swarm_core::proof::{KeyPair, canonical, verify};
use swarm_core::{Submission, TakeDraft, TakeId};

use crate::vectors::files::{hex, own, records, unhex};
use crate::vectors::ledger::{Answer, Ledger};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    member_id: String,
    revision: u8,
    seed: String,
    public_key: String,
    draft: String,
    request: String,
    canonical: String,
    canonical_sha256: String,
    signature: String,
}

impl Case {
    fn read_draft(&self) -> TakeDraft {
        let mut fields = Json::read(self.draft.as_bytes()).expect(&self.id).into_object();
        TakeDraft::read(&mut fields).expect(&self.id)
    }
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = records(&own("interop/takes_valid.jsonl"));
    assert_eq!(cases.len(), 590);
    cases
}

#[test]
fn valid_drafts_have_the_canonical_text_of_the_oracle() {
    for case in cases() {
        let text = canonical(&case.read_draft());
        assert_eq!(text, case.canonical, "{}", case.id);
        assert_eq!(hex(&Sha256::digest(&text)), case.canonical_sha256, "{}", case.id);
    }
}

#[test]
fn keys_and_signatures_match_the_oracle() {
    for case in cases() {
        let keys = KeyPair::from_seed(unhex(&case.seed)[..].try_into().unwrap());
        assert_eq!(keys.public_key().to_string(), case.public_key, "{}", case.id);
        let signed = keys.sign(case.read_draft());
        assert_eq!(signed.signature.as_str(), case.signature, "{}", case.id);
    }
}

#[test]
fn requests_parse_to_their_drafts() {
    for case in cases() {
        let mut fields = Json::read(case.request.as_bytes()).expect(&case.id).into_object();
        let submission = Submission::read(&mut fields).expect(&case.id);
        assert_eq!(*submission.draft(), case.read_draft(), "{}", case.id);
    }
}

/// In order, into an empty ledger, each take is filed with the revision that the vectors name. Sent
/// again, each is refused as a conflict that names the stored take.
#[test]
fn valid_takes_are_filed_with_the_expected_revision() {
    let mut ledger = Ledger::seeded();
    let cases = cases();
    for (id, case) in (1..).zip(&cases) {
        let take = ledger.submit(&case.member_id, case.request.as_bytes());
        let take = take.unwrap_or_else(|answer| panic!("{}: {answer:?}", case.id));
        assert_eq!((take.id, take.revision.get()), (TakeId(id), case.revision), "{}", case.id);
    }
    for (id, case) in (1..).zip(&cases) {
        let answer = ledger.submit(&case.member_id, case.request.as_bytes()).unwrap_err();
        assert_eq!((answer.status, answer.original), (409, Some(TakeId(id))), "{}", case.id);
    }
    assert_eq!(ledger.takes().len(), cases.len());
}

/// The record of a take is sufficient to verify it (API.md, 6.3).
#[test]
fn stored_takes_verify_from_their_record() {
    let mut ledger = Ledger::seeded();
    for case in cases() {
        let take = ledger.submit(&case.member_id, case.request.as_bytes()).expect(&case.id);
        let record = json::write(&*take);
        let mut fields = Json::read(record.as_bytes()).expect(&case.id).into_object();
        let payload = TakeDraft::read(&mut fields).expect(&case.id);
        assert_eq!(canonical(&payload), case.canonical, "{}", case.id);
        let signature = Signature::parse(fields.text("signature").unwrap()).unwrap();
        let key = PublicKey::parse(&fields.text("publicKey").unwrap()).unwrap();
        let verified = verify(&Arc::new(Signed { payload, signature }), &key);
        assert!(verified.is_some(), "{}", case.id);
    }
}

#[test]
fn take_with_token_of_another_member_is_refused() {
    let mut ledger = Ledger::seeded();
    let cases = cases();
    for case in &cases {
        let other = cases.iter().find(|other| other.member_id != case.member_id).unwrap();
        let answer = ledger.submit(&other.member_id, case.request.as_bytes());
        assert_eq!(answer, Err(Answer::new(403, "token/member mismatch")), "{}", case.id);
    }
}
