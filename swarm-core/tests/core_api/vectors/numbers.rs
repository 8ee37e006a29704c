//! Conversion of numbers between text and double.

use swarm_core::json::{self, Json};

use crate::vectors::files::{lines, own, third_party};

/// Parses a number.
fn read(text: &str) -> f64 {
    match Json::read(text.as_bytes()) {
        Ok(Json::Number(number)) => number.get(),
        other => panic!("{text}: {other:?}"),
    }
}

fn bits(hex: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(hex, 16).expect(hex))
}

#[test]
fn number_texts_round_trip_as_in_ecmascript() {
    let text = own("numbers/number_texts.tsv");
    let mut count = 0;
    for line in lines(&text) {
        let [given, hex, printed] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let number = read(given);
        assert_eq!(number.to_bits(), bits(hex).to_bits(), "{given}");
        assert_eq!(json::write(&Json::from(number)), printed, "{given}");
        count += 1;
    }
    assert_eq!(count, 10_000);
}

#[test]
fn es6_numbers_print_as_published_and_parse_back() {
    let Some(text) = third_party("numbers/es6_numbers_10000.txt") else { return };
    let mut count = 0;
    for line in lines(&text) {
        let (hex, printed) = line.split_once(',').expect(line);
        let number = bits(hex);
        assert_eq!(json::write(&number), printed, "{hex}");
        // Negative zero is written as zero.
        let expected = if number == 0.0 { 0.0 } else { number };
        assert_eq!(read(printed).to_bits(), expected.to_bits(), "{hex}");
        count += 1;
    }
    assert_eq!(count, 10_000);
}
