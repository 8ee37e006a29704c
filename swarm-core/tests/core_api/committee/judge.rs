//! Submissions: the order of the checks, and their refusals.

use proptest::prelude::*;
use swarm_core::domain::committee::{
    BodyFault, CommitteeBody, CommitteeDay, CommitteeMember, CommitteeStatus, Generation, KeyPrefix,
};
use swarm_core::domain::{AttemptId, Invalid};
use swarm_core::json::Json;
use swarm_core::proof::commit_reference;
use swarm_core::rules::committee::{
    CommitteeBasis, CommitteeFiling, CommitteeRefusal, judge, read,
};
use swarm_core::rules::{Quota, QuotaReached};
use swarm_core::store::StoreError;
use swarm_core::wire::{Answer, Problem};

use super::{DEADLINE, at, day, facts, generated, key, member, posted, take, trailer, versioned};

fn judged(facts: &CommitteeBasis, body: &[u8]) -> Result<CommitteeFiling, CommitteeRefusal> {
    judge(facts, &KeyPrefix::parse("ic").unwrap(), &key("ada"), body, AttemptId([7; 16]))
}

fn refusal(facts: &CommitteeBasis, body: &[u8]) -> CommitteeRefusal {
    judged(facts, body).unwrap_err()
}

#[test]
fn refusals_follow_the_documented_order() {
    let inactive = CommitteeMember { status: CommitteeStatus::Inactive, ..member("ada") };
    let long = "x".repeat(4_001);
    let enough = "x".repeat(80);
    // From the last check to the first, each step makes one more fail.
    let late = "2026-11-21T23:25:00.001Z";
    let good = posted("bullish", 0.5, "REGIME");
    let mut facts = facts(late);
    assert_eq!(refusal(&facts, &good), CommitteeRefusal::WindowClosed);
    facts.session = None;
    assert_eq!(refusal(&facts, &good), CommitteeRefusal::NoBrief);
    for (body, expected) in [
        (
            format!(r#"{{"stance":"bullish","confidence":1,"body":"{enough}","model":7}}"#),
            CommitteeRefusal::MissingStanceLine,
        ),
        (
            format!(r#"{{"stance":"bullish","confidence":1,"body":"{long}"}}"#),
            CommitteeRefusal::BodyTooLong,
        ),
        (r#"{"stance":"bullish","confidence":1,"body":""}"#.into(), CommitteeRefusal::BodyTooShort),
        (
            r#"{"stance":"bullish","confidence":1.1,"body":""}"#.into(),
            CommitteeRefusal::BadConfidence,
        ),
        (r#"{"stance":"hopeful","confidence":1.1,"body":""}"#.into(), CommitteeRefusal::BadStance),
        (r#"{"stance":"hopeful""#.into(), CommitteeRefusal::InvalidJson),
    ] {
        assert_eq!(refusal(&facts, body.as_bytes()), expected, "{body}");
    }
    facts.member = Some(versioned(inactive));
    assert_eq!(refusal(&facts, b"{"), CommitteeRefusal::NotActive);
    facts.member = None;
    assert_eq!(refusal(&facts, b"{"), CommitteeRefusal::InvalidKey);
}

#[test]
fn missing_or_mistyped_fields_are_refused() {
    use CommitteeRefusal::{BadConfidence, BadStance, BodyTooShort};
    let facts = facts("2026-11-21T22:50:00Z");
    for (body, expected) in [
        ("{}", BadStance),
        ("[]", BadStance),
        ("null", BadStance),
        (r#"{"stance":null}"#, BadStance),
        (r#"{"stance":1}"#, BadStance),
        (r#"{"stance":["bullish"]}"#, BadStance),
        (r#"{"stance":"Bullish"}"#, BadStance),
        (r#"{"stance":"bullish "}"#, BadStance),
        (r#"{"stance":"bullish"}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":null}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":"0.5"}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":true}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":-0.1}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":1.0000000000000002}"#, BadConfidence),
        (r#"{"stance":"bullish","confidence":-0}"#, BodyTooShort),
        (r#"{"stance":"bullish","confidence":0,"body":null}"#, BodyTooShort),
        (r#"{"stance":"bullish","confidence":0,"body":7}"#, BodyTooShort),
        (r#"{"stance":"bullish","stance":"bullish"}"#, CommitteeRefusal::InvalidJson),
        ("", CommitteeRefusal::InvalidJson),
    ] {
        assert_eq!(refusal(&facts, body.as_bytes()), expected, "{body}");
    }
}

#[test]
fn optional_fields_are_checked_last() {
    let with = |field: &str, value: Json| {
        let body = "x".repeat(80) + "\n" + trailer();
        let fields: [(&str, Json); 4] = [
            ("stance", "bullish".into()),
            ("confidence", 0.5.into()),
            ("body", Json::Text(body)),
            (field, value),
        ];
        read(&mut Json::from(fields).into_object())
    };
    let invalid = |field: &'static str, value: Json| match with(field, value) {
        Err(CommitteeRefusal::InvalidSubmission(Invalid { field: named, .. })) => named == field,
        _ => false,
    };
    assert!(invalid("model", 7.0.into()));
    assert!(invalid("model", Json::Text("m".repeat(201))));
    assert!(with("model", Json::Text("\u{1f680}".repeat(200))).is_ok());
    assert_eq!(with("model", Json::Null).unwrap().model, None);
    assert!(invalid("generated_at", 7.0.into()));
    assert!(invalid("generated_at", "yesterday".into()));
    let told = with("generated_at", "2026-11-22T00:50:00+02:00".into()).unwrap();
    assert_eq!(told.generated_at, Some(at("2026-11-21T22:50:00Z")));
}

#[test]
fn take_is_accepted_up_to_the_deadline() {
    let good = posted("bullish", 0.5, "REGIME");
    let filing = judged(&facts(DEADLINE), &good).unwrap();
    assert_eq!(filing.commit_deadline(), at(DEADLINE));
    assert_eq!(filing.session().0, day("2026-11-21"));
    let late = facts("2026-11-21T23:25:00.001Z");
    assert_eq!(refusal(&late, &good), CommitteeRefusal::WindowClosed);
    // Until midnight the session is closed; after that there is none for the day.
    let last = facts("2026-11-21T23:59:59.999Z");
    assert_eq!(refusal(&last, &good), CommitteeRefusal::WindowClosed);
    let next = facts("2026-11-22T00:00:00Z");
    assert_eq!(refusal(&next, &good), CommitteeRefusal::NoBrief);
}

/// An operator may set a deadline on the next day. The session then stays open past midnight.
#[test]
fn deadline_may_be_after_midnight() {
    let good = posted("bullish", 0.5, "REGIME");
    let open = generated();
    let deadline = at("2026-11-22T00:30:00Z");
    let generation = open.generation.map(|made| Generation { deadline, ..made });
    let session = Some(versioned(CommitteeDay { generation, ..generated() }));
    let over_midnight = CommitteeBasis { session, ..facts("2026-11-22T00:30:00Z") };
    assert_eq!(judged(&over_midnight, &good).unwrap().session().0, day("2026-11-21"));
    let late = CommitteeBasis { now: at("2026-11-22T00:30:00.001Z"), ..over_midnight };
    assert_eq!(refusal(&late, &good), CommitteeRefusal::NoBrief);
}

#[test]
fn key_with_another_prefix_is_invalid() {
    let facts = facts("2026-11-21T22:50:00Z");
    let desk = KeyPrefix::parse("desk").unwrap();
    let body = posted("bullish", 0.5, "REGIME");
    let outcome = judge(&facts, &desk, &key("ada"), &body, AttemptId([7; 16]));
    assert_eq!(outcome.unwrap_err(), CommitteeRefusal::InvalidKey);
}

/// The digests were computed with Node.js from `JSON.stringify` of the record.
#[test]
fn commit_reference_is_the_digest_of_the_record() {
    let text = format!("REGIME \u{1f680} \"calm\"\nALLOCATION {}\nSUBJECT\n", "x".repeat(80));
    let plain = take("ada", "bullish", 0.72, "REGIME \u{1f680} \"calm\"");
    assert_eq!(plain.body.as_str(), text + trailer());
    let plain = swarm_core::domain::committee::CommitteeTake {
        generated_at: at("2026-11-21T22:50:00Z"),
        ..(*plain).clone()
    };
    assert_eq!(
        commit_reference(&plain),
        "sha256:124ea6e4c74aaf2045dfbe8191e6012bb375433fad07480fb9db5c48669e9f61"
    );
    let full = swarm_core::domain::committee::CommitteeTake {
        model: Some(swarm_core::domain::committee::Model::parse("m-1").unwrap()),
        confidence: swarm_core::domain::Confidence::parse(1.0).unwrap(),
        ..plain
    };
    assert_eq!(
        commit_reference(&full),
        "sha256:287d7941c3b7aa9bbf77a7dee62d2f96c34c31918daac5506f00724c98376a18"
    );
}

#[test]
fn generated_at_defaults_to_received_at() {
    let take = take("ada", "bullish", 0.72, "REGIME");
    assert_eq!(take.generated_at, take.received_at);
    assert_eq!(take.model, None);
}

/// A store keeps the text and appends the time of the commit.
#[test]
fn filing_text_is_the_record_without_commit_time() {
    let told = r#","generated_at":"2026-11-21T22:40:00.000Z""#;
    let received = at("2026-11-21T22:50:01Z");
    for (also, generated_at) in [("", None), (told, Some(at("2026-11-21T22:40:00Z")))] {
        let posted = String::from_utf8(posted("bullish", 0.5, "REGIME")).unwrap();
        let posted = posted.strip_suffix('}').unwrap().to_owned() + also + "}";
        let filing = judged(&facts("2026-11-21T22:50:00Z"), posted.as_bytes()).unwrap();
        assert_eq!(filing.generated_at(), generated_at);
        let take = filing.take(received);
        assert_eq!(take.generated_at, generated_at.unwrap_or(received));
        let body = swarm_core::json::write(&take.body);
        let text = format!(
            r#"{{"member_id":"ada","date":"2026-11-21","subject_id":"aurora","stance":"bullish","confidence":0.5,"body":{body},"model":null{also}}}"#
        );
        assert_eq!(filing.uncommitted().text(), text);
    }
}

#[test]
fn refusals_have_details() {
    use CommitteeRefusal as R;
    let reached =
        QuotaReached::today(Quota::CommitteeSubmissionsPerDay, at("2026-11-21T23:00:00Z"));
    let invalid = || Invalid::new("model", "must be a text");
    for (refusal, detail, retry_after) in [
        (R::BadConfidence, Some("confidence must be a number from 0 to 1"), None),
        (R::BodyTooShort, Some("body must have at least 80 characters"), None),
        (R::BodyTooLong, Some("body must have at most 4000 characters"), None),
        (
            R::MissingStanceLine,
            Some("the last line must be STANCE: <stance> | CONFIDENCE: <decimal from 0 to 1>"),
            None,
        ),
        (R::InvalidSubmission(invalid()), Some("model must be a text"), None),
        (R::InvalidRequest(invalid()), Some("model must be a text"), None),
        (R::MemberExists(member("ada").id), Some("ada"), None),
        (R::QuotaReached(reached), None, Some(3_600)),
        (R::WindowClosed, None, None),
    ] {
        assert_eq!(refusal.detail().as_deref(), detail, "{refusal}");
        assert_eq!(refusal.retry_after(), retry_after, "{refusal}");
    }
}

#[test]
fn refusals_have_the_documented_texts() {
    use CommitteeRefusal as R;
    for (refusal, status, text) in [
        (R::InvalidJson, 400, "invalid json body"),
        (R::BadStance, 400, "bad stance"),
        (R::BadConfidence, 400, "bad confidence"),
        (R::BodyTooShort, 400, "body too short"),
        (R::BodyTooLong, 400, "body too long"),
        (R::MissingStanceLine, 400, "missing stance line"),
        (R::MissingKey, 401, "missing or malformed x-ic-key"),
        (R::InvalidKey, 401, "invalid key"),
        (R::NotActive, 403, "member is not active"),
        (R::NoBrief, 409, "no brief published yet for today"),
        (R::WindowClosed, 409, "submission window closed"),
    ] {
        assert_eq!(
            (Problem::from(&refusal).status(), refusal.to_string().as_str()),
            (status, text)
        );
    }
    let lost = Answer::of_submission(&StoreError::unavailable("file", "connection lost").into());
    assert_eq!(
        (lost.status, lost.body.as_str()),
        (500, r#"{"error":"failed to persist submission"}"#)
    );
    assert_eq!(lost.problem, Some(Problem::NotPersisted));
    let detail = R::BadStance.detail().unwrap();
    for stance in ["bullish", "constructive", "neutral", "cautious", "bearish"] {
        assert!(detail.contains(stance));
    }
    assert_eq!(R::InvalidKey.detail(), None);
}

proptest! {
    /// Compares with another definition: a decimal that Rust parses, from 0 to 1, that begins with
    /// a single digit 0 or 1 and does not end with a point.
    #[test]
    fn trailer_confidence_is_a_plain_decimal(text in "[019.eE+-]{0,5}") {
        let plain = text.bytes().all(|letter| letter.is_ascii_digit() || letter == b'.');
        let in_range = text.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number));
        let one_digit = matches!(text.as_bytes(), [b'0' | b'1'] | [b'0' | b'1', b'.', ..]);
        let expected = plain && in_range && one_digit && !text.ends_with('.');
        let body = format!("{}\nSTANCE: neutral | CONFIDENCE: {text}", "x".repeat(80));
        prop_assert_eq!(CommitteeBody::parse(body).is_ok(), expected);
    }

    #[test]
    fn text_before_the_trailer_is_kept(text in any::<String>()) {
        let body = format!("{}{text}\n{}", "x".repeat(80), trailer());
        let parsed = CommitteeBody::parse(body.clone());
        prop_assert_eq!(parsed.map(|parsed| parsed.as_str() == body), Ok(true));
        let after = format!("{body}{text}.");
        prop_assert_eq!(CommitteeBody::parse(after), Err(BodyFault::NoTrailer));
    }
}
