//! Takes at the limits of the rules (API.md, 5.1), with the decision on each.

use serde::Deserialize;
use serde_json::Value;
use swarm_core::TakeDraft;
use swarm_core::json::Json;
use swarm_core::proof::{KeyPair, canonical};

use crate::vectors::files::{own, records, unhex};
use crate::vectors::ledger::{Answer, Ledger};

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

/// The expected refusal; `None`: the take is filed.
fn decision(case: &Case) -> Option<(u16, &'static str)> {
    match case.class.as_str() {
        // Text must be valid Unicode, keys must be unique, and no byte order mark may come first (API.md, 1.1).
        "lone-surrogate" | "duplicate-key" | "bom" => Some((400, "invalid json body")),
        // An unknown field is ignored, but the nesting depth is limited (API.md, 1.1).
        "extra-field" if case.note.contains("5,000 deep") => Some((400, "invalid json body")),
        "extra-field" => None,
        // A nonce, a stance and a bucket have at least one character (API.md, 5.1).
        "empty-string" => Some((400, "invalid submission")),
        // The sum of the weights must be finite (API.md, 5.1).
        "weights-sum" if case.note.contains("the total is not") => {
            Some((400, "invalid submission"))
        }
        "weights-sum" => None,
        // `null` counts as absent, limits count characters, and the address of a memo is any text (API.md, 1.1
        // and 5.1).
        "null-optional" | "length-unit" | "memo-url" => None,
        // There is no session on a day that does not exist in the calendar (API.md, 5.1).
        "date-regex-only" => Some((404, "no session for date/subject")),
        class => panic!("{}: what is {class}?", case.id),
    }
}

#[test]
fn edge_cases_are_filed_or_refused_as_decided() {
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

/// The vectors allow several outcomes for some cases; the decisions are among them.
#[test]
fn decisions_are_allowed_by_the_vectors() {
    for case in cases() {
        let status = decision(&case).map_or(201, |(status, _)| status);
        let allowed = match &case.expect {
            Value::Array(several) => several.contains(&status.into()),
            either => *either == "either" && [201, 400].contains(&status),
        };
        assert!(allowed, "{} {}: {status}", case.id, case.note);
    }
}

/// An edge case either fails to parse, or has the canonical text and the signature of the oracle.
#[test]
fn edge_case_drafts_have_the_canonical_text_of_the_oracle() {
    let mut read = 0;
    for case in cases() {
        let Ok(body) = Json::read(case.draft.as_bytes()) else { continue };
        let Ok(draft) = TakeDraft::read(&mut body.into_object()) else { continue };
        assert_eq!(canonical(&draft), case.canonical, "{} {}", case.id, case.note);
        let keys = KeyPair::from_seed(unhex(&case.seed)[..].try_into().unwrap());
        assert_eq!(keys.sign(draft).signature.as_str(), case.signature, "{}", case.id);
        read += 1;
    }
    // The sixteen that are filed, and the four with days that are not in the calendar.
    assert_eq!(read, 20);
}

#[test]
fn date_regex_only_days_are_not_in_the_calendar() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case.class == "date-regex-only") {
        let mut fields = Json::read(case.draft.as_bytes()).expect(&case.id).into_object();
        let draft = TakeDraft::read(&mut fields).expect(&case.id);
        assert!(!draft.date.is_in_calendar(), "{}", case.id);
        count += 1;
    }
    assert_eq!(count, 4);
}
