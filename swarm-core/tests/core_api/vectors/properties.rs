//! Property tests of JSON, numbers, drafts and timestamps.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;
use swarm_core::json::{self, Json};
use swarm_core::proof::canonical;
use swarm_core::{TakeDraft, Timestamp};

use crate::vectors::drafts::{draft, number, text};

/// The first and the last millisecond with a four-digit year.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

fn read_draft(text: &str) -> TakeDraft {
    let mut fields = Json::read(text.as_bytes()).expect(text).into_object();
    TakeDraft::read(&mut fields).expect(text)
}

/// Any JSON value, not too large.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number(f64::MAX).prop_map(Value::from),
        number(f64::MAX).prop_map(|number| Value::from(-number)),
        text(0, 20).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(text(0, 6), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_text_round_trips(draft in draft()) {
        let text = canonical(&draft);
        let read = read_draft(&text);
        prop_assert_eq!(&read, &draft);
        prop_assert_eq!(canonical(&read), text);
    }

    #[test]
    fn canonical_text_has_the_fields_in_order(draft in draft()) {
        // Build the expected text field by field.
        let mut expected = format!(
            "{{\"memberId\":{},\"date\":\"{}\",\"subjectId\":{},\"nonce\":{},\"stance\":{},\
             \"confidence\":{},\"body\":{},\"memoUrl\":{}",
            json::write(draft.member_id.as_str()),
            draft.date,
            json::write(draft.subject_id.as_str()),
            json::write(draft.nonce.as_str()),
            json::write(draft.stance.as_str()),
            json::write(&draft.confidence.get()),
            json::write(draft.body.as_str()),
            json::write(draft.memo_url.as_str()),
        );
        if let Some(weights) = &draft.weights {
            let entry = |weight: &swarm_core::domain::Weight| format!(
                "{{\"bucket\":{},\"weight\":{}}}",
                json::write(weight.bucket.as_str()),
                json::write(&weight.weight),
            );
            let entries: Vec<_> = weights.entries().iter().map(entry).collect();
            expected += &format!(",\"weights\":[{}]", entries.join(","));
        }
        prop_assert_eq!(canonical(&draft), expected + "}");
    }

    #[test]
    fn strings_are_escaped_as_in_json_stringify(text in text(0, 200)) {
        let escaped: String = text.chars().map(|letter| match letter {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\t' => "\\t".to_owned(),
            '\n' => "\\n".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\r' => "\\r".to_owned(),
            '\0'..='\u{1f}' => format!("\\u{:04x}", u32::from(letter)),
            other => other.to_string(),
        }).collect();
        prop_assert_eq!(json::write(text.as_str()), format!("\"{escaped}\""));
    }

    #[test]
    fn written_json_round_trips(value in value(), pretty in any::<bool>()) {
        let given = if pretty { format!("{value:#}") } else { value.to_string() };
        let read = Json::read(given.as_bytes()).expect(&given);
        let written = json::write(&read);
        let again = Json::read(written.as_bytes());
        prop_assert_eq!(&again, &Ok(read));
        prop_assert_eq!(again.map(|value| json::write(&value)), Ok(written));
    }

    /// The parser does not panic on any bytes.
    #[test]
    fn corrupted_json_round_trips_or_is_refused(
        value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = value.to_string().into_bytes();
        *at.get_mut(&mut bytes) = byte;
        if let Ok(read) = Json::read(&bytes) {
            prop_assert_eq!(Json::read(json::write(&read).as_bytes()), Ok(read));
        }
    }

    #[test]
    fn printed_numbers_parse_to_the_same_bits(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite() && bits != (-0.0_f64).to_bits());
        match Json::read(json::write(&number).as_bytes()) {
            Ok(Json::Number(read)) => prop_assert_eq!(read.get().to_bits(), bits),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn timestamps_round_trip(millis in FIRST..=LAST) {
        let moment = Timestamp::from_millis(millis).unwrap();
        let text = moment.to_string();
        prop_assert_eq!(text.len(), "2026-11-21T22:45:00.000Z".len());
        prop_assert_eq!(Timestamp::parse("t", &text), Ok(moment));
        prop_assert_eq!(moment.millis(), millis);
    }

    #[test]
    fn timestamps_parse_with_any_offset(
        millis in FIRST + 86_400_000..=LAST - 86_400_000, minutes in -1_439..=1_439_i64,
    ) {
        let local = Timestamp::from_millis(millis + minutes * 60_000).unwrap().to_string();
        let (sign, east) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
        let offset = format!("{sign}{:02}:{:02}", east / 60, east % 60);
        let text = local.replace('Z', &offset);
        prop_assert_eq!(Timestamp::parse("t", &text), Ok(Timestamp::from_millis(millis).unwrap()));
    }

    /// A year with more than four digits has no valid text.
    #[test]
    fn timestamps_out_of_range_do_not_parse(millis in 200 * FIRST..=40 * LAST) {
        let Some(moment) = Timestamp::from_millis(millis) else { return Ok(()) };
        let read = Timestamp::parse("t", &moment.to_string());
        let in_range = (FIRST..=LAST).contains(&millis);
        prop_assert_eq!(read.ok(), in_range.then_some(moment));
    }
}
