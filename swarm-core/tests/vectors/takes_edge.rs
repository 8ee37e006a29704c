//! Takes at the edges of the rules (API.md, 5.1), and what becomes of each.

use serde::Deserialize;
use serde_json::Value;
use swarm_core::TakeDraft;
use swarm_core::json::Json;
use swarm_core::proof::{KeyPair, canonical};

use crate::files::{own, records, unhex};
use crate::ledger::{Answer, Ledger};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    class: String,
    note: String,
    member_id: String,
    seed: String,
    draft: String,
    request: String,
    canonical: String,
    signature: String,
    expect: Value,
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = records(&own("interop/takes_edge.jsonl"));
    assert_eq!(cases.len(), 36);
    cases
}

/// The refusal; `None`: the take is filed.
fn decision(case: &Case) -> Option<(u16, &'static str)> {
    match case.class.as_str() {
        // Text is valid Unicode, keys are there once, and the text begins with JSON (section 2
        // and 3).
        "lone-surrogate" | "duplicate-key" | "bom" => Some((400, "invalid json body")),
        // An unknown field is ignored ("Terms"), but what is nested without end is not read.
        "extra-field" if case.note.contains("5,000 deep") => Some((400, "invalid json body")),
        "extra-field" => None,
        // A nonce, a stance and a bucket have at least one character (section 3).
        "empty-string" => Some((400, "invalid submission")),
        // The sum of the weights is finite (section 3).
        "weights-sum" if case.note.contains("the total is not") => {
            Some((400, "invalid submission"))
        }
        "weights-sum" => None,
        // `null` is absent ("Terms"); limits count characters; a memo's address is any text
        // (section 3).
        "null-optional" | "length-unit" | "memo-url" => None,
        // A day that is in no calendar has no session (section 3).
        "date-regex-only" => Some((404, "no session for date/subject")),
        class => panic!("{}: what is {class}?", case.id),
    }
}

#[test]
fn every_edge_case_is_decided() {
    let mut ledger = Ledger::seeded();
    let mut filed = 0;
    for case in cases() {
        let outcome = ledger.submit(&case.member_id, case.request.as_bytes());
        match (outcome, decision(&case)) {
            (Ok(take), None) => {
                assert_eq!(canonical(take.draft()), case.canonical, "{} {}", case.id, case.note);
                filed += 1;
            }
            (Err(answer), Some((status, error))) => {
                assert_eq!(answer, Answer::new(status, error), "{} {}", case.id, case.note);
            }
            (outcome, decided) => panic!("{} {}: {outcome:?}, not {decided:?}", case.id, case.note),
        }
    }
    assert_eq!((filed, ledger.takes().len()), (16, 16));
}

/// The decisions are among those that the vectors allow.
#[test]
fn the_decisions_are_allowed() {
    for case in cases() {
        let status = decision(&case).map_or(201, |(status, _)| status);
        let allowed = match &case.expect {
            Value::Array(several) => several.contains(&status.into()),
            either => *either == "either" && [201, 400].contains(&status),
        };
        assert!(allowed, "{} {}: {status}", case.id, case.note);
    }
}

/// Whatever reads as a draft has the canonical text and the signature of the oracle, or it is not
/// read at all: there is no third text.
#[test]
fn drafts_have_the_text_of_the_oracle_or_none() {
    let mut read = 0;
    for case in cases() {
        let Ok(body) = Json::read(case.draft.as_bytes()) else { continue };
        let Ok(draft) = TakeDraft::read(&mut body.into_object()) else { continue };
        assert_eq!(canonical(&draft), case.canonical, "{} {}", case.id, case.note);
        let keys = KeyPair::from_seed(unhex(&case.seed)[..].try_into().unwrap());
        assert_eq!(keys.sign(draft).signature.as_str(), case.signature, "{}", case.id);
        read += 1;
    }
    // The sixteen that are filed, and the four of days that are in no calendar.
    assert_eq!(read, 20);
}

#[test]
fn days_that_match_the_pattern_alone_are_in_no_calendar() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case.class == "date-regex-only") {
        let mut fields = Json::read(case.draft.as_bytes()).expect(&case.id).into_object();
        let draft = TakeDraft::read(&mut fields).expect(&case.id);
        assert!(!draft.date.is_in_calendar(), "{}", case.id);
        count += 1;
    }
    assert_eq!(count, 4);
}
