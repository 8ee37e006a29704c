//! The JSONTestSuite: valid and invalid JSON texts.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use swarm_core::TakeDraft;
use swarm_core::json::{self, Json};

use crate::vectors::files::{canonical_value, records, third_party};

/// Texts that must parse according to the suite, but have duplicate keys, which are refused here
/// (API.md, 1.1). Otherwise the meaning of a signed text would depend on which of two values a parser takes.
const REFUSED_ON_PURPOSE: [&str; 2] =
    ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

/// The accepted ones of the texts that a parser may accept or refuse (`i_`): numbers that are
/// rounded to a double. Refused are numbers out of range, text that is not valid Unicode, a byte
/// order mark, and nesting 500 levels deep.
const READ_BY_CHOICE: [&str; 5] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
];

#[derive(Deserialize)]
struct Case {
    name: String,
    base64: String,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.base64).expect(&self.name)
    }
}

#[test]
fn parser_follows_jsontestsuite() {
    let Some(text) = third_party("json/jsontestsuite_parsing.jsonl") else { return };
    let cases: Vec<Case> = records(&text);
    let mut counts = BTreeMap::<_, usize>::new();
    for case in &cases {
        let name = case.name.as_str();
        let parsed = Json::read(&case.bytes());
        let read = parsed.is_ok();
        match &name[..2] {
            "y_" => assert_eq!(read, !REFUSED_ON_PURPOSE.contains(&name), "{name}"),
            "n_" => assert!(!read, "{name}"),
            _ => assert_eq!(read, READ_BY_CHOICE.contains(&name), "{name}"),
        }
        *counts.entry((name[..1].to_owned(), read)).or_default() += 1;
        let Ok(value) = parsed else { continue };
        let written = json::write(&value);
        assert_eq!(Json::read(written.as_bytes()), Ok(value.clone()), "{name}");
        assert!(TakeDraft::read(&mut value.into_object()).is_err(), "{name}");
    }
    assert_eq!(cases.len(), 318);
    let counts: Vec<_> =
        counts.iter().map(|((kind, read), count)| (kind.as_str(), *read, *count)).collect();
    let expected = [("i", false, 30), ("i", true, 5), ("n", false, 188), ("y", false, 2)];
    assert_eq!(counts, [&expected[..], &[("y", true, 93)]].concat());
}

/// The expected output for each text; `None`: it is refused.
const TRANSFORMED: [(&str, Option<&str>); 22] = [
    ("number_-9223372036854775808.json", Some("[-9223372036854776000]")),
    ("number_-9223372036854775809.json", Some("[-9223372036854776000]")),
    ("number_1.0.json", Some("[1]")),
    ("number_1.000000000000000005.json", Some("[1]")),
    ("number_1000000000000000.json", Some("[1000000000000000]")),
    ("number_10000000000000000999.json", Some("[10000000000000000000]")),
    ("number_1e-999.json", Some("[0]")),
    ("number_1e6.json", Some("[1000000]")),
    ("number_9223372036854775807.json", Some("[9223372036854776000]")),
    ("number_9223372036854775808.json", Some("[9223372036854776000]")),
    ("object_key_nfc_nfd.json", Some("{\"e\u{301}\":\"NFD\",\"\u{e9}\":\"NFC\"}")),
    ("object_key_nfd_nfc.json", Some("{\"e\u{301}\":\"NFD\",\"\u{e9}\":\"NFC\"}")),
    ("object_same_key_different_values.json", None),
    ("object_same_key_same_value.json", None),
    ("object_same_key_unclear_values.json", None),
    ("string_1_escaped_invalid_codepoint.json", None),
    ("string_1_invalid_codepoint.json", None),
    ("string_2_escaped_invalid_codepoints.json", None),
    ("string_2_invalid_codepoints.json", None),
    ("string_3_escaped_invalid_codepoints.json", None),
    ("string_3_invalid_codepoints.json", None),
    ("string_with_escaped_NULL.json", Some("[\"A\\u0000B\"]")),
];

#[test]
fn transformed_texts_match_ecmascript_or_are_refused() {
    let Some(text) = third_party("json/jsontestsuite_transform.jsonl") else { return };
    let cases: Vec<Case> = records(&text);
    assert_eq!(cases.len(), TRANSFORMED.len());
    for case in cases {
        let (_, expected) = TRANSFORMED.iter().find(|(name, _)| *name == case.name).unwrap();
        let written =
            Json::read(&case.bytes()).ok().map(|value| json::write(&canonical_value(&value)));
        assert_eq!(written.as_deref(), *expected, "{}", case.name);
    }
}
