//! Hostile strings in the committee: members, subjects, takes, and briefs that quote them.

use serde_json::{Value, json};

use super::text::{fitting, naughty};
use crate::committee_fixture::{self, KEY, chair, submit, take_with};
use crate::fixture::Fixture;

/// A body that begins with this text.
fn body(text: &str) -> String {
    format!("{text}\n{}\nSTANCE: neutral | CONFIDENCE: 0.5", "half in cash ".repeat(8))
}

#[test]
fn naughty_strings_are_stored_unchanged_and_quoted_by_briefs() {
    let (fixture, _) = Fixture::with_records();
    let client = &fixture.client;
    let strings = naughty();
    for (number, text) in strings.iter().enumerate() {
        let name = fitting(text, 100).unwrap_or("plain");
        let member =
            json!({ "id": format!("n{number}"), "name": name, "lens": text, "voice": text });
        chair(client, "/members", &member).expect(201);
        let mut take = take_with("body", json!(body(text)));
        take["model"] = json!(fitting(text, 200).unwrap_or_default());
        submit(client, KEY, &take).expect(200);
        let record = committee_fixture::records(&fixture.committee()).pop().unwrap();
        assert_eq!((&record["body"], &record["model"]), (&take["body"], &take["model"]));
    }
    let all: Vec<&str> = strings.iter().map(String::as_str).collect();
    let synthesis: String = format!("s{}", all.concat()).chars().take(4_000).collect();
    let order = json!({ "date": "2026-11-21", "synthesis": synthesis });
    chair(client, "/synthesis", &order).expect(200);
    fixture.clock.move_by(24 * 60 * 60 * 1_000);
    // Each brief contains these, so a sample suffices.
    let notes: Vec<_> = all.iter().step_by(8).collect();
    let subject = json!({ "id": "basalt", "name": "b", "structuralNotes": notes });
    client.operate("/subjects", &subject).expect(201);
    chair(client, "/briefs", &json!({ "subject_id": "basalt" })).expect(201);
    for (number, text) in strings.iter().enumerate() {
        let path = format!("/data/committee/briefs/today/n{number}.json");
        let brief = client.get(&path).expect(200).json();
        assert_eq!(
            (&brief["member"]["lens"], &brief["date"]),
            (&json!(text), &json!("2026-11-22"))
        );
        assert_eq!(brief["subject"]["structural_notes"], json!(notes));
        let prompt = |part: &str| brief["prompt"][part].as_str().unwrap();
        assert!(prompt("system").contains(&**text), "{text:?}");
        let quoted = |note: &&&str| serde_json::to_string(note).unwrap();
        assert!(notes.iter().all(|note| prompt("user").contains(&quoted(note))), "{text:?}");
    }
    let session = client.get("/api/ic/sessions/2026-11-21").expect(200).json();
    let last = strings.last().map_or(Value::Null, |text| json!(body(text)));
    assert_eq!((&session["takes"][0]["body"], &session["synthesis"]), (&last, &json!(synthesis)));
}
