//! The composition of brief files.

use std::sync::Arc;

use proptest::prelude::*;
use swarm_core::domain::committee::{
    BriefRecentSession, CommitteeBrief, CommitteeBriefContent, CommitteeMember, TRAILER_PATTERN,
    Voice,
};
use swarm_core::domain::{
    Lens, Name, Regime, SubjectId, SubjectSnapshot, SubjectSnapshotDraft, SubjectSnapshotId,
};
use swarm_core::json::{self, Json};
use swarm_core::rules::committee::{BriefSource, MemberSource, compose};

use super::{DEADLINE, at, day, fields, member, subject, take};

fn source() -> BriefSource {
    BriefSource {
        date: day("2026-11-21"),
        subject: subject("aurora", "active"),
        deadline: at(DEADLINE),
        regimes: vec![],
        snapshots: vec![],
        recent_sessions: vec![],
    }
}

fn alone(member: CommitteeMember) -> MemberSource {
    MemberSource { member: Arc::new(member), recent_takes: vec![] }
}

fn one(source: BriefSource, member: MemberSource) -> CommitteeBriefContent {
    compose(source, &[member]).pop().unwrap()
}

fn file(content: &CommitteeBriefContent) -> String {
    let generated_at = at("2026-11-21T22:45:00.5Z");
    CommitteeBrief::new(content, at(DEADLINE), generated_at).text("https://acme.example")
}

/// The keys of the outermost object, in the order of the text.
fn keys(text: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    let (mut keys, mut word) = (Vec::new(), String::new());
    for letter in text.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if quoted => quoted = false,
            '"' => (quoted, word) = (true, String::new()),
            _ if quoted => word.push(letter),
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ':' if depth == 1 => keys.push(word.clone()),
            _ => {}
        }
    }
    keys
}

#[test]
fn brief_fields_have_the_documented_order() {
    let text = file(&one(source(), alone(member("ada"))));
    assert_eq!(
        keys(&text),
        [
            "schema_version",
            "date",
            "subject_id",
            "subject",
            "regime",
            "subject_snapshot",
            "recent_sessions",
            "member",
            "your_recent_takes",
            "prompt",
            "response_schema",
            "submit_to",
            "deadline_utc",
            "generated_at"
        ]
    );
    let mut file = Json::read(text.as_bytes()).unwrap().into_object();
    assert_eq!(file.number("schema_version"), Ok(1.0));
    assert_eq!(file.text("submit_to").unwrap(), "https://acme.example/api/ic/submit");
    assert_eq!(file.text("deadline_utc").unwrap(), DEADLINE);
    assert_eq!(file.text("generated_at").unwrap(), "2026-11-21T22:45:00.500Z");
}

#[test]
fn submit_to_uses_the_origin_of_the_request() {
    let content = one(source(), alone(member("ada")));
    let brief = CommitteeBrief::new(&content, at(DEADLINE), at(DEADLINE));
    for (origin, url) in [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/ic/submit"),
        ("https://acme.example/", "https://acme.example/api/ic/submit"),
        ("https://a\"b", "https://a\"b/api/ic/submit"),
    ] {
        let file = Json::read(brief.text(origin).as_bytes()).unwrap();
        assert_eq!(file.into_object().text("submit_to").unwrap(), url);
    }
}

#[test]
fn brief_without_context_has_all_fields() {
    let text = file(&one(source(), alone(member("ada"))));
    for part in [
        r#""subject":{"id":"aurora","name":"The aurora","operator":null,"thesis_blurb":null,"structural_notes":[]}"#,
        r#""regime":{"composite":null,"composite_percentile":null,"regime":null,"macro_regime":null,"macro_percentile":null,"onchain_regime":null,"onchain_percentile":null,"factor_regime":null,"factor_percentile":null,"thresholds":null}"#,
        r#""subject_snapshot":null,"recent_sessions":[],"member":{"id":"ada","name":"Ada","lens":""},"your_recent_takes":[]"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn brief_has_the_latest_regime_and_snapshot() {
    let regime = |date: &str, more: &str| {
        let text = format!(r#"{{"date":"{date}","composite":0.5,"regime":"{date}"{more}}}"#);
        Regime::read(&mut fields(&text)).unwrap()
    };
    let snapshot = |id, text: &str| SubjectSnapshot {
        id: SubjectSnapshotId(id),
        subject_id: SubjectId::parse("aurora").unwrap(),
        draft: SubjectSnapshotDraft::read(&mut fields(text)).unwrap(),
        created_at: at(DEADLINE),
    };
    let more = r#","macro_percentile":12.5,"factor_regime":"calm","z":1.50,"thresholds":{"low":1.0,"high":1E2},"x":[2]"#;
    let content = one(
        BriefSource {
            regimes: vec![
                regime("2026-11-20", more),
                regime("2026-11-19", ""),
                regime("2026-11-22", ""),
            ],
            snapshots: vec![
                snapshot(2, r#"{"date":"2026-11-20","notable":["old"]}"#),
                snapshot(
                    3,
                    r#"{"date":"2026-11-20","totalValueUsd":7,"notable":["n"],
                        "positions":[{"token":"T","valueUsd":1e21,"pct":50}]}"#,
                ),
                snapshot(4, r#"{"date":"2026-11-01"}"#),
                snapshot(5, r#"{"date":"2026-11-22","notable":["the future"]}"#),
            ],
            ..source()
        },
        alone(member("ada")),
    );
    let text = file(&content);
    for part in [
        r#""regime":{"composite":0.5,"composite_percentile":null,"regime":"2026-11-20","macro_regime":null,"macro_percentile":12.5,"onchain_regime":null,"onchain_percentile":null,"factor_regime":"calm","factor_percentile":null,"thresholds":{"low":1.0,"high":1E2},"z":1.50,"x":[2]}"#,
        r#""subject_snapshot":{"date":"2026-11-20","total_value_usd":7,"positions":[{"token":"T","chain":null,"value_usd":1e+21,"pct":50}],"notable":["n"]}"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn preview_has_at_most_600_characters() {
    for (rockets, shown) in [(700, 600), (10, 10)] {
        let text = "\u{1f680}".repeat(rockets);
        let recent_takes = vec![take("ada", "cautious", 0.25, &text)];
        let source_of = MemberSource { member: Arc::new(member("ada")), recent_takes };
        let content = one(source(), source_of);
        let recent = &content.your_recent_takes[0];
        assert!(recent.body_preview.starts_with(&"\u{1f680}".repeat(shown)));
        assert_eq!(recent.body_preview.contains("STANCE"), rockets == 10);
        assert!(recent.body_preview.chars().count() <= 600);
        let start = r#"{"date":"2026-11-21","subject_id":"aurora","stance":"cautious","confidence":0.25,"body_preview":""#;
        assert!(json::write(recent).starts_with(start));
    }
}

#[test]
fn prompt_names_member_lens_and_voice() {
    let voiced = CommitteeMember {
        name: Name::parse("Grace \"Amazing\"").unwrap(),
        lens: Lens::parse("Flows first.").unwrap(),
        voice: Voice::parse("Short words.\nNo hedging.").unwrap(),
        ..member("grace")
    };
    let recent_sessions =
        vec![BriefRecentSession { date: day("2026-11-18"), synthesis: "calm".into() }];
    let source = BriefSource { recent_sessions, ..source() };
    let contents = compose(source, &[alone(voiced), alone(member("ada"))]);
    let [grace, ada] = contents.as_slice() else { unreachable!() };
    assert_eq!((grace.member.id.as_str(), ada.member.id.as_str()), ("grace", "ada"));
    for part in ["Grace \\\"Amazing\\\"", "Flows first.", "Short words.\nNo hedging."] {
        assert!(grace.prompt.system.contains(part), "{}", grace.prompt.system);
    }
    assert!(!ada.prompt.system.contains("Your voice") && !ada.prompt.system.contains("Flows"));
    for word in ["REGIME", "ALLOCATION", "SUBJECT", "STANCE: <stance> | CONFIDENCE: "] {
        assert!(ada.prompt.system.contains(word));
    }
    for word in
        ["The aurora", "2026-11-21", DEADLINE, r#"{"date":"2026-11-18","synthesis":"calm"}"#]
    {
        assert!(ada.prompt.user.contains(word), "{}", ada.prompt.user);
    }
}

/// Data of the day itself is included; data of the next day is not.
#[test]
fn brief_excludes_later_days() {
    let regime = |date: &str| {
        let text = format!(r#"{{"date":"{date}","regime":"{date}"}}"#);
        Regime::read(&mut fields(&text)).unwrap()
    };
    let snapshot = |id, date: &str| SubjectSnapshot {
        id: SubjectSnapshotId(id),
        subject_id: SubjectId::parse("aurora").unwrap(),
        draft: SubjectSnapshotDraft::read(&mut fields(&format!(r#"{{"date":"{date}"}}"#))).unwrap(),
        created_at: at(DEADLINE),
    };
    let days = ["2026-11-20", "2026-11-21", "2026-11-22"];
    let source = BriefSource {
        regimes: days.map(regime).into(),
        snapshots: vec![snapshot(1, days[0]), snapshot(2, days[1]), snapshot(3, days[2])],
        ..source()
    };
    let text = file(&one(source, alone(member("ada"))));
    for part in [r#""regime":"2026-11-21""#, r#""subject_snapshot":{"date":"2026-11-21""#] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn response_schema_describes_the_take() {
    let content = one(source(), alone(member("ada")));
    let mut schema = Json::clone(&content.response_schema).into_object();
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(schema.text("$schema").unwrap(), draft);
    assert_eq!(schema.texts("required").unwrap(), ["stance", "confidence", "body"]);
    let mut properties = schema.take("properties").unwrap().into_object();
    let mut part = |name| properties.take(name).unwrap().into_object();
    let stances = ["bullish", "constructive", "neutral", "cautious", "bearish"];
    assert_eq!(part("stance").texts("enum").unwrap(), stances);
    let mut confidence = part("confidence");
    assert_eq!((confidence.number("minimum"), confidence.number("maximum")), (Ok(0.0), Ok(1.0)));
    let mut body = part("body");
    assert_eq!((body.number("minLength"), body.number("maxLength")), (Ok(80.0), Ok(4_000.0)));
    assert_eq!(body.text("pattern").unwrap(), TRAILER_PATTERN);
}

proptest! {
    #[test]
    fn preview_is_a_prefix_of_the_body(text in any::<String>(), more in 0usize..700) {
        let text = format!("{text}{}", "\u{10ffff}".repeat(more));
        let recent_takes = vec![take("ada", "cautious", 0.25, &text)];
        let body = recent_takes[0].body.as_str().to_owned();
        let source_of = MemberSource { member: Arc::new(member("ada")), recent_takes };
        let content = one(source(), source_of);
        let preview = &content.your_recent_takes[0].body_preview;
        prop_assert!(body.starts_with(preview.as_str()));
        prop_assert_eq!(preview.chars().count(), body.chars().count().min(600));
    }
}
