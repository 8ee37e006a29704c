//! Fields that were omitted, added or reordered.

use ed25519_dalek::SigningKey;
use proptest::prelude::*;
use swarm_core::json;
use swarm_core::proof::diagnose::Code;

use crate::diagnose::codes::{any_kind, names, names_text, with, without};
use crate::diagnose::{Case, Fields, application, claim, object, take};

#[test]
fn missing_fields() {
    names_text(Code::MissingBody, take(), |case| without(case, &["body"]));
    names_text(Code::MissingMemoUrl, take(), |case| without(case, &["memoUrl"]));
    names_text(Code::MissingLens, application(), |case| without(case, &["lens"]));
    // Neither signed nor sent.
    names(&[Code::MissingBody, Code::MissingMemoUrl], take(), |mut case| {
        case.fields.retain(|(key, _)| !["body", "memoUrl"].contains(key));
        Some((case.signing(case.canonical()), case.key))
    });
}

#[test]
fn absent_fields_that_were_signed_as_null() {
    /// These fields are null in the signed text, and absent in the request.
    fn null(mut case: Case, keys: &[&str]) -> Option<(Fields, SigningKey)> {
        for key in keys {
            *case.field(key) = "null".to_owned();
        }
        let message = case.canonical();
        case.fields.retain(|(key, _)| !keys.contains(key));
        Some((case.signing(message), case.key))
    }
    names(&[Code::MissingBody], take(), |case| null(case, &["body"]));
    names(&[Code::MissingBody, Code::MissingMemoUrl], take(), |case| {
        null(case, &["body", "memoUrl"])
    });
    names(&[Code::MissingBody, Code::MissingMemoUrl, Code::WeightsNull], take(), |mut case| {
        case.fields.retain(|(key, _)| *key != "weights");
        case.fields.push(("weights", String::new()));
        null(case, &["body", "memoUrl", "weights"])
    });
    names(&[Code::MissingLens], application(), |case| null(case, &["lens"]));
}

#[test]
fn weights() {
    names_text(Code::WeightsNull, take(), |case| {
        case.fields.retain(|(key, _)| *key != "weights");
        with(case, "weights", "null")
    });
    let orders: [fn(&mut Vec<Entry>); 3] = [
        |entries| entries.reverse(),
        |entries| entries.sort_by(|(a, _), (b, _)| a.cmp(b)),
        |entries| entries.sort_by(|(_, a), (_, b)| b.total_cmp(a)),
    ];
    for order in orders {
        names_text(Code::WeightsOrder, take(), |case| {
            let mut turned = case.fields.clone();
            if let Some((_, weights)) = turned.iter_mut().find(|(key, _)| *key == "weights") {
                let mut entries = entries(weights);
                order(&mut entries);
                *weights = list(&entries);
            }
            object(&turned)
        });
    }
}

/// A bucket and its weight.
type Entry = (String, f64);

fn entries(weights: &str) -> Vec<Entry> {
    let entries: serde_json::Value = serde_json::from_str(weights).unwrap();
    let entry = |entry: &serde_json::Value| {
        (entry["bucket"].as_str().unwrap().to_owned(), entry["weight"].as_f64().unwrap())
    };
    entries.as_array().unwrap().iter().map(entry).collect()
}

fn list(entries: &[Entry]) -> String {
    let entry = |(bucket, weight): &Entry| {
        format!("{{\"bucket\":{},\"weight\":{}}}", json::write(bucket), json::write(weight))
    };
    format!("[{}]", entries.iter().map(entry).collect::<Vec<_>>().join(","))
}

#[test]
fn shapes_derived_from_the_sent_body() {
    let more = [("model", "\"m\"".to_owned()), ("source", "1".to_owned())];
    let beside = |fields: &Fields| [more.to_vec(), fields.clone()].concat();
    // In the order of the request.
    names(&[Code::ExtraFields], any_kind(), |case| {
        let signed = object(&beside(&case.fields));
        Some((beside(&case.signing(signed)), case.key))
    });
    // Followed by the other fields.
    names(&[Code::ExtraFields], prop_oneof![take(), claim()], |case| {
        let mut body = vec![("publicKey", json::write(&case.public_key()))];
        let signed = [case.fields.clone(), more.to_vec()].concat();
        body.extend(beside(&case.signing(object(&signed))));
        Some((body, case.key))
    });
    // Without the other fields, in the order of the request.
    names(&[Code::KeyOrder], any_kind(), |mut case| {
        case.fields.rotate_left(1);
        Some((beside(&case.signing(case.canonical())), case.key))
    });
}

#[test]
fn additional_fields() {
    for value in ["\"\"", "null"] {
        names_text(Code::SignatureIncluded, any_kind(), |case| with(case, "signature", value));
    }
    names(&[Code::ExtraFields], any_kind(), |case| {
        let message = with(&case, "model", "{\"name\":[1,true,null]}");
        let mut body = case.signing(message);
        body.push(("model", "{\"name\":[1,true,null]}".to_owned()));
        Some((body, case.key))
    });
    names(&[Code::ExtraFields], take(), |mut case| {
        let (_, weights) = case.fields.iter_mut().find(|(key, _)| *key == "weights")?;
        *weights = weights.replacen('{', "{\"note\":null,", 1);
        Some((case.signing(case.canonical()), case.key))
    });
    for end in ["\n", "\r\n"] {
        names_text(Code::TrailingNewline, any_kind(), |case| case.canonical() + end);
    }
}
