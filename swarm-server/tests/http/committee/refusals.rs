//! Refusals of submissions, byte for byte, and the order of the checks.

use serde_json::{Value, json};

use crate::committee_fixture::{self, KEY, take};
use crate::fixture::Fixture;
use crate::harness::Answer;
use crate::raw_http;

use Check::{
    Active, BadJson, BodyKind, BodyLong, BodyShort, Brief, Confidence, Deadline, KeyKnown,
    KeyShape, Model, Moment, Stance, Trailer,
};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// The checks of a submission, in the order of API.md, 8.5. The format of the key is checked before the body,
/// refusals of the HTTP layer come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    KeyShape,
    BodyKind,
    KeyKnown,
    Active,
    BadJson,
    Stance,
    Confidence,
    BodyShort,
    BodyLong,
    Trailer,
    Model,
    Moment,
    Brief,
    Deadline,
}

const CHECKS: [Check; 14] = [
    KeyShape, BodyKind, KeyKnown, Active, BadJson, Stance, Confidence, BodyShort, BodyLong,
    Trailer, Model, Moment, Brief, Deadline,
];

impl Check {
    /// The row of the table in API.md, 8.5, and its detail.
    fn answer(self) -> (u16, &'static str, Option<&'static str>) {
        match self {
            KeyShape => (401, "missing or malformed x-ic-key", None),
            BodyKind => (415, "content type must be application/json", None),
            KeyKnown => (401, "invalid key", None),
            Active => (403, "member is not active", None),
            BadJson => (400, "invalid json body", None),
            Stance => {
                let detail =
                    "stance must be one of bullish, constructive, neutral, cautious, bearish";
                (400, "bad stance", Some(detail))
            }
            Confidence => (400, "bad confidence", Some("confidence must be a number from 0 to 1")),
            BodyShort => (400, "body too short", Some("body must have at least 80 characters")),
            BodyLong => (400, "body too long", Some("body must have at most 4000 characters")),
            Trailer => {
                let detail =
                    "the last line must be STANCE: <stance> | CONFIDENCE: <decimal from 0 to 1>";
                (400, "missing stance line", Some(detail))
            }
            Model => (400, "invalid submission", Some("model must be a string")),
            Moment => {
                let detail = "generated_at must be an RFC 3339 date and time";
                (400, "invalid submission", Some(detail))
            }
            Brief => (409, "no brief published yet for today", None),
            Deadline => (409, "submission window closed", None),
        }
    }
}

#[track_caller]
fn refused_by(check: Check, answer: &Answer) {
    let (status, error, detail) = check.answer();
    let expected = match detail {
        Some(detail) => json!({ "error": error, "detail": detail }),
        None => json!({ "error": error }),
    };
    assert_eq!((answer.status, answer.json()), (status, expected), "{check:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

/// The fields of a take that breaks exactly these rules.
fn fields(breaks: impl Fn(Check) -> bool) -> Value {
    let mut fields = take("bullish");
    let trailer = if breaks(Trailer) { "" } else { "\nSTANCE: bullish | CONFIDENCE: 0.6" };
    let length = if breaks(BodyShort) { 79 - trailer.len() } else { 80 };
    let length = if breaks(BodyLong) { 4_001 } else { length };
    fields["body"] = json!("x".repeat(length) + trailer);
    if breaks(Stance) {
        fields["stance"] = json!("hopeful");
    }
    if breaks(Confidence) {
        fields["confidence"] = json!(1.000_000_1);
    }
    if breaks(Model) {
        fields["model"] = json!(1);
    }
    if breaks(Moment) {
        fields["generated_at"] = json!("today");
    }
    fields
}

/// A fixture at the time of day that these checks need.
fn fixture(breaks: impl Fn(Check) -> bool) -> Fixture {
    let fixture = Fixture::start();
    committee_fixture::insert_member(&fixture.committee(), "m", KEY);
    fixture.client.convene("2026-11-21", "aurora");
    let generate = |deadline: i64| {
        let order = json!({ "deadline_utc": fixture.clock.after(deadline) });
        committee_fixture::chair(&fixture.client, "/briefs", &order).expect(201);
    };
    match (breaks(Brief), breaks(Deadline)) {
        (true, false) => {}
        (false, late) => generate(if late { -1 } else { 0 }),
        // Only yesterday's briefs exist.
        (true, true) => {
            generate(0);
            fixture.clock.move_by(DAY_MILLIS);
        }
    }
    if breaks(Active) {
        let status = json!({ "status": "inactive" });
        committee_fixture::chair(&fixture.client, "/members/m/status", &status).expect(200);
    }
    fixture
}

/// Submits a take that breaks exactly these rules.
fn submit_breaking(broken: &[Check]) -> Answer {
    let breaks = |check| broken.contains(&check);
    let fixture = fixture(breaks);
    let mut text = fields(breaks).to_string();
    if breaks(BadJson) {
        text.pop();
    }
    let key = match (breaks(KeyShape), breaks(KeyKnown)) {
        (true, _) => "ic_m_0",
        (false, true) => "ic_m_00000000000000000000000000000000",
        (false, false) => KEY,
    };
    let kind = if breaks(BodyKind) { "text/plain" } else { "application/json" };
    let before = fixture.print();
    let headers = [raw_http::ONCE, ("content-type", kind), ("x-ic-key", key)];
    let answer = fixture.client.send("POST", "/api/ic/submit", &headers, text.as_bytes());
    assert_eq!(fixture.print() == before, answer.status != 200, "{broken:?}: {answer:?}");
    answer
}

#[test]
fn valid_submission_is_filed() {
    submit_breaking(&[]).expect(200);
}

#[test]
fn each_broken_rule_has_its_answer() {
    for check in CHECKS {
        refused_by(check, &submit_breaking(&[check]));
    }
}

#[test]
fn earlier_of_two_broken_rules_is_reported() {
    for (at, first) in CHECKS.into_iter().enumerate() {
        for second in &CHECKS[at + 1..] {
            // No body can break both.
            if (first, *second) != (BodyShort, BodyLong) {
                refused_by(first, &submit_breaking(&[first, *second]));
            }
        }
    }
}

#[test]
fn earliest_of_all_later_rules_is_reported() {
    for at in 0..CHECKS.len() {
        let mut broken = CHECKS[at..].to_vec();
        broken.retain(|check| *check != BodyLong || CHECKS[at] == BodyLong);
        refused_by(CHECKS[at], &submit_breaking(&broken));
    }
}

/// Invalid values of each field. Absent, `null` and another type are the same error.
#[test]
fn invalid_fields_are_refused() {
    let fixture = fixture(|_| false);
    let before = fixture.print();
    let nested = serde_json::from_str::<Value>(&format!("{}{}", "[".repeat(60), "]".repeat(60)));
    for (field, check, values) in [
        (
            "stance",
            Stance,
            vec![json!("Bullish"), json!("bullish "), json!("BULLISH"), json!("\u{ff42}ullish")],
        ),
        ("confidence", Confidence, vec![json!(-1e-300), json!(1.1), json!(1e300), json!("0.5")]),
        ("body", BodyShort, vec![json!("x".repeat(79)), json!("\u{1f680}".repeat(79))]),
        ("body", BodyLong, vec![json!("x".repeat(4_001)), json!("\u{1f680}".repeat(4_001))]),
    ] {
        let others =
            [json!(null), json!(true), json!({}), json!([]), nested.as_ref().unwrap().clone()];
        let others = others.into_iter().chain([json!("")]).filter(|_| check != BodyLong);
        for value in others.chain(values) {
            let answer = committee_fixture::submit(
                &fixture.client,
                KEY,
                &committee_fixture::take_with(field, value),
            );
            refused_by(check, &answer);
        }
        let mut absent = take("bullish");
        absent.as_object_mut().unwrap().remove(field);
        let absent = committee_fixture::submit(&fixture.client, KEY, &absent);
        refused_by(if check == BodyLong { BodyShort } else { check }, &absent);
    }
    for (field, value, detail) in [
        ("model", json!("x".repeat(201)), "model must have 0 to 200 characters"),
        ("model", json!({}), "model must be a string"),
        ("generated_at", json!(1_700_000_000), "generated_at must be a string"),
        ("generated_at", json!("2026-11-21"), "generated_at must be an RFC 3339 date and time"),
        (
            "generated_at",
            json!("2026-02-30T00:00:00Z"),
            "generated_at must be an RFC 3339 date and time",
        ),
    ] {
        let answer = committee_fixture::submit(
            &fixture.client,
            KEY,
            &committee_fixture::take_with(field, value),
        );
        let expected = json!({ "error": "invalid submission", "detail": detail });
        assert_eq!(answer.expect(400).json(), expected);
    }
    assert_eq!(fixture.print(), before);
}

/// Limits and optional fields; unknown fields are ignored.
#[test]
fn values_at_their_limits_are_accepted() {
    let fixture = fixture(|_| false);
    for (field, value, kept) in [
        ("confidence", json!(0), json!(0)),
        ("confidence", json!(-0.0), json!(0)),
        ("confidence", json!(1), json!(1)),
        ("model", json!(null), json!(null)),
        ("model", json!(""), json!("")),
        ("model", json!("\u{1f680}".repeat(200)), json!("\u{1f680}".repeat(200))),
        ("generated_at", json!(null), json!(fixture.clock.after(0))),
        (
            "generated_at",
            json!("2026-11-21T13:00:00.0009+01:00"),
            json!("2026-11-21T12:00:00.000Z"),
        ),
        ("generated_at", json!("9999-12-31T23:59:59Z"), json!("9999-12-31T23:59:59.000Z")),
        ("unknown", json!({ "stance": 1 }), Value::Null),
    ] {
        committee_fixture::submit(
            &fixture.client,
            KEY,
            &committee_fixture::take_with(field, value),
        )
        .expect(200);
        let record = committee_fixture::records(&fixture.committee()).pop().unwrap();
        assert_eq!(record[field], kept, "{field}");
    }
}

/// To the millisecond, by the store's clock.
#[test]
fn submission_at_the_deadline_is_accepted() {
    let fixture = fixture(|_| false);
    committee_fixture::submit(&fixture.client, KEY, &take("bullish")).expect(200);
    fixture.clock.move_by(1);
    refused_by(Deadline, &committee_fixture::submit(&fixture.client, KEY, &take("bullish")));
    assert_eq!(committee_fixture::records(&fixture.committee()).len(), 1);
}
