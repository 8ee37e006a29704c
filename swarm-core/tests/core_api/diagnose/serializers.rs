//! The default output of common serializers, as literal texts, alone and with a second mistake.

use ed25519_dalek::SigningKey;
use swarm_core::json;
use swarm_core::proof::diagnose::Code::{self, *};

use crate::diagnose::codes::codes;
use crate::diagnose::writers::{pretty, spaced};
use crate::diagnose::{Case, object};

/// A text in which each of these serializers escapes something else.
const BODY: &str = "it's R&D <b> \"x=1\" a/b+c \u{e9}\u{1f680}\u{2028}\u{7f}\u{1b}";

/// Each serializer and its text for [`BODY`].
const SERIALIZERS: [(&str, &str); 10] = [
    ("Go, Rails", r#"it's R\u0026D \u003cb\u003e \"x=1\" a/b+c é🚀\u2028DEL\u001b"#),
    ("PowerShell 5.1", r#"it\u0027s R\u0026D \u003cb\u003e \"x=1\" a/b+c é🚀\u2028DEL\u001b"#),
    ("Python", r#"it's R&D <b> \"x=1\" a/b+c \u00e9\ud83d\ude80\u2028\u007f\u001b"#),
    ("PHP", r#"it's R&D <b> \"x=1\" a\/b+c \u00e9\ud83d\ude80\u2028DEL\u001b"#),
    (
        "System.Text.Json",
        r#"it\u0027s R\u0026D \u003Cb\u003E \u0022x=1\u0022 a/b\u002Bc \u00E9\uD83D\uDE80\u2028\u007F\u001B"#,
    ),
    ("Gson", r#"it\u0027s R\u0026D \u003cb\u003e \"x\u003d1\" a/b+c é🚀\u2028DEL\u001b"#),
    ("Jackson", "it's R&D <b> \\\"x=1\\\" a/b+c é🚀\u{2028}DEL\\u001B"),
    ("Swift", "it's R&D <b> \\\"x=1\\\" a\\/b+c é🚀\u{2028}DEL\\u001b"),
    ("Newtonsoft", r#"it's R&D <b> \"x=1\" a/b+c é🚀\u2028DEL\u001b"#),
    ("ASCII only", r#"it's R&D <b> \"x=1\" a/b+c \u00e9\ud83d\ude80\u2028DEL\u001b"#),
];

fn case(body: &str) -> Case {
    let fields = [
        ("memberId", "ada"),
        ("date", "2026-11-21"),
        ("subjectId", "aurora"),
        ("nonce", "n-1"),
        ("stance", "bullish"),
        ("confidence", ""),
        ("body", body),
        ("memoUrl", ""),
    ];
    let text = |(name, value)| (name, json::write(value));
    let mut case = Case { fields: fields.map(text).into(), key: SigningKey::from_bytes(&[5; 32]) };
    *case.field("confidence") = "0.7".to_owned();
    case
}

/// The same take as a serializer writes it, with the keys in this order.
fn written(case: &Case, text: &str) -> Case {
    let mut written = case.clone();
    *written.field("body") = format!("\"{}\"", text.replace("DEL", "\u{7f}"));
    written
}

#[track_caller]
fn found(case: &Case, message: impl AsRef<[u8]>, expected: &[Code], of: &str) {
    let body = case.signing(message);
    assert_eq!(codes(&body, Some(&case.key)), expected, "{of}: {}", object(&body));
}

#[test]
fn escapes_of_serializers_are_named() {
    let case = case(BODY);
    for (name, text) in SERIALIZERS {
        let written = written(&case, text);
        found(&case, written.canonical(), &[Escapes], name);
    }
}

#[test]
fn escapes_are_named_beside_a_line_feed() {
    let case = case(BODY);
    for (name, text) in &SERIALIZERS[..6] {
        let written = written(&case, text);
        found(&case, written.canonical() + "\n", &[Escapes, TrailingNewline], name);
    }
    let [.., (name, text)] = SERIALIZERS[..2] else { panic!() };
    found(&case, written(&case, text).canonical() + "\r\n", &[Escapes, TrailingNewline], name);
}

/// A text that few serializers change leaves room for more combinations.
#[test]
fn two_mistakes_at_once_are_named() {
    const PLAIN: &str = "it's R&D <b>";
    let case = case(PLAIN);
    let go = written(&case, r"it's R\u0026D \u003cb\u003e").canonical();
    let power = written(&case, r"it\u0027s R\u0026D \u003cb\u003e").canonical();
    let net = written(&case, r"it\u0027s R\u0026D \u003Cb\u003E").canonical();
    let plain = case.canonical();
    let lines = |text: &str, indent| pretty(text, indent).replace('\n', "\r\n");
    let messages: Vec<(&str, String, &[Code])> = vec![
        ("Encoder of Go", go.clone() + "\n", &[Escapes, TrailingNewline]),
        ("MarshalIndent of Go", pretty(&go, "  "), &[Pretty, Escapes]),
        ("PowerShell", power.clone() + "\n", &[Escapes, TrailingNewline]),
        ("PowerShell", power.clone() + "\r\n", &[Escapes, TrailingNewline]),
        (
            "PowerShell without -Compress",
            lines(&power, "    ").replace("\": ", "\":  "),
            &[Pretty, Escapes],
        ),
        (".NET", net.clone() + "\n", &[Escapes, TrailingNewline]),
        (".NET, indented", lines(&net, "  "), &[Pretty, Escapes]),
        (".NET, indented", pretty(&net, "  "), &[Pretty, Escapes]),
        ("Newtonsoft, indented", lines(&plain, "  "), &[Pretty]),
        ("print of Python", spaced(&plain) + "\n", &[Whitespace, TrailingNewline]),
        ("print of Python on Windows", spaced(&plain) + "\r\n", &[Whitespace, TrailingNewline]),
        ("Python, indented, on Windows", lines(&plain, "  "), &[Pretty]),
        ("jq -c", plain.clone() + "\n", &[TrailingNewline]),
        ("jq", pretty(&plain, "  ") + "\n", &[Pretty, TrailingNewline]),
    ];
    for (name, message, expected) in messages {
        found(&case, message, expected, name);
    }
    // Maps of Go are sorted.
    let mut sorted = written(&case, r"it's R\u0026D \u003cb\u003e");
    sorted.fields.sort();
    found(&case, sorted.canonical(), &[KeyOrder, Escapes], "a map of Go");
    found(
        &case,
        sorted.canonical() + "\n",
        &[KeyOrder, Escapes, TrailingNewline],
        "Encoder, a map",
    );
}

/// What Python, Go, Swift, Gson and jq write with settings that many programs use, for a take whose text no writer
/// but those of HTML changes.
#[test]
fn three_mistakes_at_once_are_named() {
    let case = case("R&D");
    let go = written(&case, r"R\u0026D");
    let plain = case.canonical();
    let mut sorted = case.clone();
    sorted.fields.sort();
    let with_null = |case: &Case| {
        let mut nulled = case.clone();
        nulled.fields.push(("weights", "null".to_owned()));
        nulled.canonical()
    };
    let messages: Vec<(&str, String, &[Code])> = vec![
        ("null in Python", spaced(&with_null(&case)), &[WeightsNull, Whitespace]),
        ("null in Go", with_null(&go), &[WeightsNull, Escapes]),
        (
            "null by the encoder of Go",
            with_null(&go) + "\n",
            &[WeightsNull, Escapes, TrailingNewline],
        ),
        ("jq -S", pretty(&sorted.canonical(), "  ") + "\n", &[KeyOrder, Pretty, TrailingNewline]),
        (
            "print of Python, sorted",
            spaced(&sorted.canonical()) + "\n",
            &[KeyOrder, Whitespace, TrailingNewline],
        ),
        ("Python, sorted", pretty(&sorted.canonical(), "  "), &[KeyOrder, Pretty]),
        ("Python", pretty(&plain, "    "), &[Pretty]),
        (
            "MarshalIndent of Go, printed",
            pretty(&go.canonical(), "  ") + "\n",
            &[Pretty, Escapes, TrailingNewline],
        ),
        ("MarshalIndent of Go", pretty(&go.canonical(), "\t"), &[Pretty, Escapes]),
    ];
    for (name, message, expected) in messages {
        found(&case, message, expected, name);
    }
    // Swift and Gson, of a sorted map.
    let mut case = self::case("a/b=c");
    for (text, name) in [(r"a\/b=c", "Swift"), (r"a/b\u003dc", "Gson")] {
        let mut sorted = written(&case, text);
        sorted.fields.sort();
        found(&case, sorted.canonical(), &[KeyOrder, Escapes], name);
    }
    *case.field("body") = "\"\u{e9}\"".to_owned();
    let python = written(&case, r"\u00e9").canonical();
    found(&case, pretty(&python, "    "), &[Pretty, Escapes], "Python with four spaces");
}

/// A take of a program that leaves absent fields out, in an order of its own.
#[test]
fn escapes_are_named_in_what_was_sent() {
    let mut case = case("it's R&D <b>");
    case.fields.retain(|(key, _)| *key != "memoUrl");
    let go = written(&case, r"it's R\u0026D \u003cb\u003e").canonical() + "\n";
    found(&case, go, &[MissingMemoUrl, Escapes, TrailingNewline], "without memoUrl");
}
