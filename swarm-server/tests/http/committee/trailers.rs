//! The trailer line of a body: which lines are one, and that the schema in the brief accepts the same bodies
//! as the service.

use serde_json::{Value, json};

use crate::committee_fixture::{self, BRIEF, KEY, submit, take_with};
use crate::fixture::Fixture;
use crate::schema::verdicts;

/// The decision of the service on a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Taken,
    NoTrailer,
    Short,
    Long,
}

use Verdict::{Long, NoTrailer, Short, Taken};

const TRAILER: &str = "STANCE: bullish | CONFIDENCE: 0.6";

/// Padding for a body of this length, of rockets: one character, two UTF-16 units each.
fn rockets(length: usize) -> String {
    let end = format!("\n{TRAILER}");
    "\u{1f680}".repeat(length - end.len()) + &end
}

/// A body of three paragraphs and this end.
fn ending(end: &str) -> String {
    format!("REGIME: calm.\nALLOCATION: {}.\nSUBJECT: sound.\n{end}", "half in cash ".repeat(6))
}

/// Each body with its expected decision.
fn bodies() -> Vec<(&'static str, String, Verdict)> {
    let end = |text: &str| ending(&TRAILER.replacen(TRAILER, text, 1));
    let with = |from: &str, to: &str| ending(&TRAILER.replace(from, to));
    let after = |text: &str| ending(&format!("{TRAILER}{text}"));
    let before = |text: &str| ending(&format!("{text}{TRAILER}"));
    let line = "x".repeat(4_000 - TRAILER.len() - 1);
    vec![
        ("plain", end(TRAILER), Taken),
        ("another stance than the field's", with("bullish", "bearish"), Taken),
        ("another confidence than the field's", with("0.6", "0.1"), Taken),
        ("CR LF at its end", after("\r\n"), Taken),
        ("CR LF throughout", end(TRAILER).replace('\n', "\r\n"), Taken),
        ("spaces and tabs after it", after("  \t "), Taken),
        ("blank lines after it", after("\n\n \n\t\n\r\n"), Taken),
        ("a CR after it", after("\r"), Taken),
        ("two of them", after(&format!("\n{TRAILER}")), Taken),
        ("another one in the middle", before("STANCE: none\n\n"), Taken),
        ("no digit after the point", with("0.6", "0."), NoTrailer),
        ("no digit before the point", with("0.6", ".6"), NoTrailer),
        ("many digits", with("0.6", &format!("0.{}", "3".repeat(3_000))), Taken),
        ("one", with("0.6", "1"), Taken),
        ("one and zeros", with("0.6", "1.000"), Taken),
        ("more than one", with("0.6", "1.0001"), NoTrailer),
        ("an exponent", with("0.6", "6e-1"), NoTrailer),
        ("a sign", with("0.6", "+0.6"), NoTrailer),
        ("a percentage", with("0.6", "60%"), NoTrailer),
        ("a comma", with("0.6", "0,6"), NoTrailer),
        ("full-width digits", with("0.6", "\u{ff10}.\u{ff16}"), NoTrailer),
        ("Arabic digits", with("0.6", "\u{660}.\u{666}"), NoTrailer),
        ("only in the middle", after("\nAnd so on."), NoTrailer),
        ("words after it", after(" as ever"), NoTrailer),
        ("a full stop after it", after("."), NoTrailer),
        ("words before it", before("So: "), NoTrailer),
        ("a space before it", before(" "), NoTrailer),
        ("a quotation", before("> "), NoTrailer),
        ("bold", end(&format!("**{TRAILER}**")), NoTrailer),
        ("in a fence", after("\n```"), NoTrailer),
        ("a CR alone before it", ending("").trim_end().to_owned() + "\r" + TRAILER, NoTrailer),
        ("a line separator before it", before("text\u{2028}"), NoTrailer),
        ("a next line before it", before("text\u{85}"), NoTrailer),
        ("a form feed before it", before("text\u{c}"), NoTrailer),
        ("a line separator after it", after("\u{2028}"), NoTrailer),
        ("a paragraph separator after it", after("\u{2029}"), NoTrailer),
        ("a next line after it", after("\u{85}"), NoTrailer),
        ("a form feed after it", after("\u{c}"), NoTrailer),
        ("a vertical tab after it", after("\u{b}"), NoTrailer),
        ("a no-break space after it", after("\u{a0}"), NoTrailer),
        ("an ideographic space after it", after("\u{3000}"), NoTrailer),
        ("a zero-width space after it", after("\u{200b}"), NoTrailer),
        ("a byte order mark after it", after("\u{feff}"), NoTrailer),
        ("a byte order mark before it", before("\u{feff}"), NoTrailer),
        ("a right-to-left mark before it", before("\u{200f}"), NoTrailer),
        ("a right-to-left mark after it", after("\u{200f}"), NoTrailer),
        ("turned around", before("\u{202e}"), NoTrailer),
        ("a NUL after it", after("\0"), NoTrailer),
        ("a NUL before it", before("\0"), NoTrailer),
        ("a NUL within", with("bullish", "bul\0lish"), NoTrailer),
        ("a combining accent", with("bullish", "bullish\u{301}"), NoTrailer),
        ("lower case", end(&TRAILER.to_lowercase()), NoTrailer),
        ("title case", end("Stance: bullish | Confidence: 0.6"), NoTrailer),
        ("a stance in upper case", with("bullish", "BULLISH"), NoTrailer),
        ("an unknown stance", with("bullish", "hopeful"), NoTrailer),
        ("a full-width colon", with(": b", "\u{ff1a} b"), NoTrailer),
        ("a ratio sign", with(": b", "\u{2236} b"), NoTrailer),
        ("a full-width bar", with("|", "\u{ff5c}"), NoTrailer),
        ("a divides sign", with("|", "\u{2223}"), NoTrailer),
        ("a broken bar", with("|", "\u{a6}"), NoTrailer),
        ("a Cyrillic letter", with("STANCE", "ST\u{410}NCE"), NoTrailer),
        ("full-width letters", with("STANCE", "\u{ff33}TANCE"), NoTrailer),
        ("a soft hyphen", with("STANCE", "STAN\u{ad}CE"), NoTrailer),
        ("a dotless i", with("bullish", "bull\u{131}sh"), NoTrailer),
        ("a no-break space within", with(": b", ":\u{a0}b"), NoTrailer),
        ("two spaces within", with(" | ", "  | "), NoTrailer),
        ("a tab within", with(" | ", "\t|\t"), NoTrailer),
        ("no spaces within", with(" | ", "|"), NoTrailer),
        ("two lines", with(" | ", " |\n"), NoTrailer),
        ("no confidence", end("STANCE: bullish"), NoTrailer),
        ("the other way around", end("CONFIDENCE: 0.6 | STANCE: bullish"), NoTrailer),
        ("the form itself", end("STANCE: <stance> | CONFIDENCE: <0-1>"), NoTrailer),
        ("more fields", after(" | HORIZON: 30d"), NoTrailer),
        ("control characters before it", ending("\0\u{1}\u{1b}[2J\u{7f}\u{8}\n") + TRAILER, Taken),
        ("noncharacters before it", ending("\u{ffff}\u{fdd0}\u{10ffff}\n") + TRAILER, Taken),
        ("79 rockets", rockets(79), Short),
        ("80 rockets", rockets(80), Taken),
        ("4000 rockets", rockets(4_000), Taken),
        ("4001 rockets", rockets(4_001), Long),
        ("one long line and the trailer", format!("{line}\n{TRAILER}"), Taken),
        ("lines only", format!("{}{TRAILER}", "\n".repeat(4_000 - TRAILER.len())), Taken),
        ("the trailer alone", TRAILER.to_owned(), Short),
        ("blanks to fill it", format!("{TRAILER:<80}"), Taken),
        ("blanks", " ".repeat(80), NoTrailer),
        ("blank lines", "\n".repeat(4_000), NoTrailer),
        ("many bars", "STANCE: | CONFIDENCE: ".repeat(180), NoTrailer),
        ("nothing", String::new(), Short),
    ]
}

#[test]
fn bodies_get_their_decision_and_are_stored_unchanged() {
    let (fixture, _) = Fixture::with_records();
    for (name, body, verdict) in bodies() {
        let before = fixture.print();
        let answer = submit(&fixture.client, KEY, &take_with("body", json!(body)));
        match verdict {
            Taken => {
                answer.expect(200);
                let record = committee_fixture::records(&fixture.committee()).pop().unwrap();
                assert_eq!(record["body"], body, "{name}");
                continue;
            }
            NoTrailer => committee_fixture::refused(answer, 400, "missing stance line"),
            Short => committee_fixture::refused(answer, 400, "body too short"),
            Long => committee_fixture::refused(answer, 400, "body too long"),
        }
        assert_eq!(fixture.print(), before, "{name}");
    }
}

#[test]
fn brief_schema_agrees_with_the_service() {
    let (fixture, _) = Fixture::with_records();
    let brief = fixture.client.get(BRIEF).expect(200).json();
    let (names, takes): (Vec<_>, Vec<Value>) = bodies()
        .into_iter()
        .map(|(name, body, verdict)| ((name, verdict == Taken), take_with("body", json!(body))))
        .unzip();
    let verdicts = verdicts(&brief["response_schema"], &takes);
    let decided: Vec<_> = names.iter().map(|(name, _)| *name).zip(verdicts).collect();
    assert_eq!(decided, names);
}

/// The other fields, too: the service accepts what the schema allows.
#[test]
fn takes_valid_by_the_schema_are_accepted() {
    let (fixture, _) = Fixture::with_records();
    let brief = fixture.client.get(BRIEF).expect(200).json();
    let mut takes = vec![];
    for stance in ["bullish", "constructive", "neutral", "cautious", "bearish", "Bullish", "hold"] {
        takes.push(take_with("stance", json!(stance)));
    }
    for confidence in [json!(0), json!(1), json!(0.5), json!(-0.1), json!(1.1), json!("0.5")] {
        takes.push(take_with("confidence", confidence));
    }
    for field in ["stance", "confidence", "body"] {
        takes.push(take_with(field, Value::Null));
    }
    let verdicts = verdicts(&brief["response_schema"], &takes);
    for (take, verdict) in takes.iter().zip(verdicts) {
        let status = submit(&fixture.client, KEY, take).status;
        assert_eq!(status, if verdict { 200 } else { 400 }, "{take}");
    }
}
