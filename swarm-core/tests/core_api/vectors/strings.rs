//! The Big List of Naughty Strings: each is kept unchanged, or refused for its length.

use serde_json::json;
use swarm_core::TakeDraft;
use swarm_core::json::{Json, Object};
use swarm_core::proof::canonical;

use crate::vectors::files::{array, third_party};

/// A field of a take, with its minimum and maximum length in characters.
type Field = (&'static str, usize, usize);

const FIELDS: [Field; 7] = [
    ("memberId", 1, 100),
    ("subjectId", 1, 100),
    ("nonce", 1, 200),
    ("stance", 1, 100),
    ("body", 0, 10_000),
    ("memoUrl", 0, 2_000),
    ("bucket", 1, 100),
];

fn fields(json: &str) -> Object {
    Json::read(json.as_bytes()).expect(json).into_object()
}

/// A draft with `text` in this field.
fn draft(field: &str, text: &str) -> String {
    let mut draft = json!({
        "memberId": "m", "date": "2026-03-02", "subjectId": "s", "nonce": "n",
        "stance": "neutral", "confidence": 0.5,
    });
    if field == "bucket" {
        draft["weights"] = json!([{ "bucket": text, "weight": 1 }]);
    } else {
        draft[field] = text.into();
    }
    draft.to_string()
}

/// The text in this field.
fn value(canonical: &str, field: &str) -> String {
    let mut object = fields(canonical);
    if field != "bucket" {
        return match object.take(field) {
            Some(Json::Text(text)) => text,
            other => panic!("{field}: {other:?}"),
        };
    }
    match object.take("weights") {
        Some(Json::List(mut weights)) => match weights.remove(0).into_object().take("bucket") {
            Some(Json::Text(text)) => text,
            other => panic!("{field}: {other:?}"),
        },
        other => panic!("{field}: {other:?}"),
    }
}

#[test]
fn naughty_strings_are_kept_unchanged_or_refused_for_their_length() {
    let Some(text) = third_party("strings/blns.json") else { return };
    let strings: Vec<String> = array(&text);
    let (mut kept, mut refused) = (0, 0);
    for string in &strings {
        for (field, min, max) in FIELDS {
            let read = TakeDraft::read(&mut fields(&draft(field, string)));
            let fits = (min..=max).contains(&string.chars().count());
            assert_eq!(read.is_ok(), fits, "{field}: {string:?}");
            let Ok(read) = read else {
                refused += 1;
                continue;
            };
            let text = canonical(&read);
            assert_eq!(value(&text, field), *string, "{field}");
            assert_eq!(TakeDraft::read(&mut fields(&text)), Ok(read), "{field}: {string:?}");
            kept += 1;
        }
    }
    assert_eq!(strings.len(), 515);
    assert_eq!((kept, refused), (3_539, 66));
}
