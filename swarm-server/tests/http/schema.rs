//! The JSON schema of takes in the brief, checked with an independent validator.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::clients::python;
use crate::harness::Server;

/// Prints for each take on standard input whether it is valid by the schema in the first line.
const VALIDATE: &str = r#"
import json, sys
from jsonschema import Draft202012Validator
schema, *takes = [json.loads(line) for line in sys.stdin]
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
print(json.dumps([validator.is_valid(take) for take in takes]))
"#;

pub fn verdicts(schema: &Value, takes: &[Value]) -> Vec<bool> {
    let mut child = Command::new(python())
        .args(["-c", VALIDATE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not run: {error}", python()));
    let mut stdin = child.stdin.take().unwrap();
    for value in std::iter::once(schema).chain(takes) {
        std::io::Write::write_all(&mut stdin, format!("{value}\n").as_bytes()).unwrap();
    }
    drop(stdin);
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).expect("no verdicts")
}

#[test]
fn schema_accepts_exactly_the_takes_that_the_service_accepts() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let weighted =
        json!({ "date": "2026-11-21", "subjectId": "aurora", "buckets": ["cash", "\"btc\""] });
    client.operate("/sessions", &weighted).expect(201);
    let schema = |session: u64| {
        let path = format!("/sessions/{session}/brief");
        client.operate(&path, &json!({})).expect(201).json()["brief"]["body"]["takeSchema"].clone()
    };
    let take = json!({ "stance": "neutral", "confidence": 0.5, "body": "b" });
    let with = |fields: Value| {
        let mut whole = take.clone();
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        whole
    };
    let weights = |entries: Value| with(json!({ "weights": entries }));
    let entries = |count: u32| -> Value {
        (0..count).map(|bucket| json!({ "bucket": bucket.to_string(), "weight": 1 })).collect()
    };

    let good = [
        take.clone(),
        with(json!({ "confidence": 0, "stance": "bullish", "body": "\u{1f680}".repeat(10_000) })),
        with(json!({ "confidence": 1, "stance": "bearish" })),
        json!({ "stance": "neutral", "confidence": 0.5 }),
        with(json!({ "body": null, "weights": null })),
        with(json!({ "model": "other fields are ignored" })),
        weights(entries(1_000)),
        weights(
            json!([{ "bucket": "gold", "weight": 0 }, { "bucket": "\u{1f680}", "weight": 1e300 }]),
        ),
    ];
    let bad = [
        json!({ "confidence": 0.5, "body": "b" }),
        with(json!({ "stance": "BULLISH" })),
        with(json!({ "confidence": 1.01 })),
        with(json!({ "confidence": "0.5" })),
        with(json!({ "body": "b".repeat(10_001) })),
        weights(json!([])),
        weights(entries(1_001)),
        weights(json!([{ "bucket": "gold", "weight": -1 }])),
        weights(json!([{ "bucket": "", "weight": 1 }])),
        weights(json!([{ "bucket": "gold", "weight": 0 }, { "bucket": "cash", "weight": 0 }])),
    ];
    let plain = schema(1);
    assert_eq!(verdicts(&plain, &good), [true; 8], "{plain}");
    assert_eq!(verdicts(&plain, &bad), [false; 10], "{plain}");

    let bucketed = schema(2);
    let takes = [
        weights(json!([{ "bucket": "\"btc\"", "weight": 1 }])),
        take.clone(),
        weights(json!([{ "bucket": "gold", "weight": 1 }])),
    ];
    assert_eq!(verdicts(&bucketed, &takes), [true, true, false], "{bucketed}");

    // Takes valid by the schema are accepted.
    let author = crate::harness::Author::join(&client, "Ada");
    for (subject, takes) in [("aurora", &takes[..2]), ("aurora", &good[4..6])] {
        for take in takes {
            let mut fields = json!({ "date": "2026-11-21", "subjectId": subject });
            fields.as_object_mut().unwrap().extend(take.as_object().unwrap().clone());
            client.submit(&author, author.draft_of(fields)).expect(201);
        }
    }
}
