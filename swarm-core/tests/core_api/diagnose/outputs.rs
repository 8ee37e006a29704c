//! Whole outputs of serializers, as literal texts: their layouts, with the numbers as sent, in texts that most of them
//! escape.

use ed25519_dalek::{Signer as _, SigningKey};
use swarm_core::domain::PublicKey;
use swarm_core::json;
use swarm_core::proof::diagnose::Code::{self, *};

use crate::diagnose::codes::codes;
use crate::diagnose::writers::{pretty, spaced};
use crate::diagnose::{Case, object, take_with};

/// A take with weights. Its confidence and its second weight are 1, in this form.
fn case(body: &str, one: &str) -> Case {
    let weights =
        format!(r#"[{{"bucket":"hold","weight":0.5}},{{"bucket":"add","weight":{one}}}]"#);
    let mut case = take_with(body, "", one);
    case.fields.push(("weights", weights));
    case
}

/// The text of the take, with the body as a serializer writes it, and with the keys sorted on demand.
fn written(case: &Case, body: &str, is_sorted: bool) -> String {
    let mut written = case.clone();
    *written.field("body") = format!("\"{body}\"");
    if is_sorted {
        written.fields.sort();
    }
    written.canonical()
}

#[track_caller]
fn found(case: &Case, message: impl AsRef<[u8]>, expected: &[Code], of: &str) {
    let body = case.signing(message);
    assert_eq!(codes(&body, Some(&case.key)), expected, "{of}: {}", object(&body));
}

const JACKSON: &str = r#"{
  "memberId" : "ada",
  "date" : "2026-11-21",
  "subjectId" : "aurora",
  "nonce" : "n-1",
  "stance" : "bullish",
  "confidence" : 1.0,
  "body" : "Café — R&D, a/b",
  "memoUrl" : "",
  "weights" : [ {
    "bucket" : "hold",
    "weight" : 0.5
  }, {
    "bucket" : "add",
    "weight" : 1.0
  } ]
}"#;

const POWER_SHELL: &str = r#"{
    "memberId":  "ada",
    "date":  "2026-11-21",
    "subjectId":  "aurora",
    "nonce":  "n-1",
    "stance":  "bullish",
    "confidence":  1.0,
    "body":  "Café — R\u0026D, a/b",
    "memoUrl":  "",
    "weights":  [
                    {
                        "bucket":  "hold",
                        "weight":  0.5
                    },
                    {
                        "bucket":  "add",
                        "weight":  1.0
                    }
                ]
}"#;

const SWIFT: &str = r#"{
  "body" : "Café — R&D, a\/b",
  "confidence" : 1,
  "date" : "2026-11-21",
  "memberId" : "ada",
  "memoUrl" : "",
  "nonce" : "n-1",
  "stance" : "bullish",
  "subjectId" : "aurora",
  "weights" : [
    {
      "bucket" : "hold",
      "weight" : 0.5
    },
    {
      "bucket" : "add",
      "weight" : 1
    }
  ]
}"#;

const PERL: &str = r#"{
   "body" : "Café — R&D, a/b",
   "confidence" : 1,
   "date" : "2026-11-21",
   "memberId" : "ada",
   "memoUrl" : "",
   "nonce" : "n-1",
   "stance" : "bullish",
   "subjectId" : "aurora",
   "weights" : [
      {
         "bucket" : "hold",
         "weight" : 0.5
      },
      {
         "bucket" : "add",
         "weight" : 1
      }
   ]
}
"#;

const PYTHON_FOUR_SORTED: &str = r#"{
    "body": "Caf\u00e9 \u2014 R&D, a/b",
    "confidence": 1.0,
    "date": "2026-11-21",
    "memberId": "ada",
    "memoUrl": "",
    "nonce": "n-1",
    "stance": "bullish",
    "subjectId": "aurora",
    "weights": [
        {
            "bucket": "hold",
            "weight": 0.5
        },
        {
            "bucket": "add",
            "weight": 1.0
        }
    ]
}"#;

#[test]
fn layouts_of_serializers_are_named() {
    let body = "Caf\u{e9} \u{2014} R&D, a/b";
    let (whole, point) = (case(body, "1"), case(body, "1.0"));
    let windows = |text: &str| text.replace('\n', "\r\n");
    let plain = PYTHON_FOUR_SORTED.replace(r"Caf\u00e9 \u2014", "Café —");
    found(&point, JACKSON, &[Pretty, NumberText], "DefaultPrettyPrinter");
    found(&point, windows(POWER_SHELL), &[Pretty, Escapes, NumberText], "PowerShell 5.1");
    found(
        &point,
        windows(POWER_SHELL) + "\r\n",
        &[Pretty, Escapes, NumberText, TrailingNewline],
        "PowerShell 5.1",
    );
    found(&whole, SWIFT, &[KeyOrder, Pretty, Escapes], "prettyPrinted, sortedKeys");
    found(&whole, SWIFT.replace("\\/", "/"), &[KeyOrder, Pretty], "withoutEscapingSlashes");
    found(&whole, PERL, &[KeyOrder, Pretty, TrailingNewline], "JSON::PP");
    found(
        &point,
        PYTHON_FOUR_SORTED,
        &[KeyOrder, Pretty, Escapes, NumberText],
        "json.dumps(indent=4, sort_keys=True)",
    );
    found(&point, plain, &[KeyOrder, Pretty, NumberText], "nlohmann dump(4), ensure_ascii=False");
}

#[test]
fn layouts_and_escapes_are_named_together() {
    let case = case("Caf\u{e9} \u{2014} R&D, a/b", "1");
    let plain = r"Café — R&D, a/b";
    let go = r"Café — R\u0026D, a/b";
    let ascii = r"Caf\u00e9 \u2014 R&D, a/b";
    let slash = r"Café — R&D, a\/b";
    let text = |body, is_sorted| written(&case, body, is_sorted);
    let lines = |text: String| pretty(&text, "  ").replace('\n', "\r\n");
    let outputs: Vec<(&str, String, &[Code])> = vec![
        ("json.dumps(indent=4)", pretty(&text(ascii, false), "    "), &[Pretty, Escapes]),
        (
            "json.dumps(indent=2, sort_keys=True)",
            pretty(&text(ascii, true), "  "),
            &[KeyOrder, Pretty, Escapes],
        ),
        ("MarshalIndent", pretty(&text(go, false), "  "), &[Pretty, Escapes]),
        ("MarshalIndent", pretty(&text(go, false), "\t"), &[Pretty, Escapes]),
        ("MarshalIndent, a map", pretty(&text(go, true), "  "), &[KeyOrder, Pretty, Escapes]),
        ("SetIndent", pretty(&text(go, false), "\t") + "\n", &[Pretty, Escapes, TrailingNewline]),
        (
            "SetIndent, a map",
            pretty(&text(go, true), "\t") + "\n",
            &[KeyOrder, Pretty, Escapes, TrailingNewline],
        ),
        ("jq --tab", pretty(&text(plain, false), "\t") + "\n", &[Pretty, TrailingNewline]),
        ("sortedKeys", text(slash, true), &[KeyOrder, Escapes]),
        ("JSON_UNESCAPED_SLASHES", pretty(&text(ascii, false), "    "), &[Pretty, Escapes]),
        ("JSON_UNESCAPED_UNICODE", pretty(&text(slash, false), "    "), &[Pretty, Escapes]),
        ("ConvertTo-Json", lines(text(plain, false)) + "\r\n", &[Pretty, TrailingNewline]),
    ];
    for (name, message, expected) in outputs {
        found(&case, message, expected, name);
    }
}

/// Programs that write doubles with a decimal point, in the body and in what they sign.
#[test]
fn numbers_as_sent_are_named_beside_other_mistakes() {
    let case = case("it's R&D \u{e9} a/b", "1.0");
    let plain = r"it's R&D é a/b";
    let text = |body, is_sorted| written(&case, body, is_sorted);
    let lines = |text: String| pretty(&text, "  ").replace('\n', "\r\n");
    let outputs: Vec<(&str, String, &[Code])> = vec![
        ("Gson", text(r"it\u0027s R\u0026D é a/b", false), &[Escapes, NumberText]),
        (
            "Gson, pretty",
            pretty(&text(r"it\u0027s R\u0026D é a/b", false), "  "),
            &[Pretty, Escapes, NumberText],
        ),
        ("Rails", text(r"it's R\u0026D é a/b", false), &[Escapes, NumberText]),
        (
            "JSON_PRESERVE_ZERO_FRACTION",
            text(r"it's R&D \u00e9 a\/b", false),
            &[Escapes, NumberText],
        ),
        ("puts in Ruby", text(plain, false) + "\n", &[NumberText, TrailingNewline]),
        ("Ruby, Rust, Dart", pretty(&text(plain, false), "  "), &[Pretty, NumberText]),
        ("Newtonsoft, indented", lines(text(plain, false)), &[Pretty, NumberText]),
        (
            "PowerShell 7",
            lines(text(plain, false)) + "\r\n",
            &[Pretty, NumberText, TrailingNewline],
        ),
        ("Jackson, sorted", text(plain, true), &[KeyOrder, NumberText]),
        ("Jackson, ASCII", text(r"it's R&D \u00E9 a/b", false), &[Escapes, NumberText]),
        (
            "Python",
            spaced(&text(r"it's R&D \u00e9 a/b", false)),
            &[Whitespace, Escapes, NumberText],
        ),
    ];
    for (name, message, expected) in outputs {
        found(&case, message, expected, name);
    }
}

#[test]
fn rarer_escapes_are_named() {
    let case = case(
        "<b>a/b</b> \"&'\" \u{e9}\u{85}\u{201c}\u{2028}DEL".replace("DEL", "\u{7f}").as_str(),
        "1",
    );
    for (name, body) in [
        ("org.json", "<b>a/b<\\/b> \\\"&'\\\" é\\u0085\\u201c\\u2028\u{7f}"),
        ("json-simple", r#"<b>a\/b<\/b> \"&'\" é\u0085\u201C\u2028\u007F"#),
        ("lua-cjson", "<b>a\\/b<\\/b> \\\"&'\\\" é\u{85}“\u{2028}\\u007f"),
        ("jq", "<b>a/b</b> \\\"&'\\\" é\u{85}“\u{2028}\\u007f"),
        (
            "JSON_HEX_TAG and others",
            "\\u003Cb\\u003Ea\\/b\\u003C\\/b\\u003E \\u0022\\u0026\\u0027\\u0022 \\u00e9\\u0085\\u201c\\u2028\u{7f}",
        ),
        ("JSON_UNESCAPED_UNICODE", "<b>a\\/b<\\/b> \\\"&'\\\" é\u{85}“\\u2028\u{7f}"),
    ] {
        found(&case, written(&case, body, false), &[Escapes], name);
    }
}

/// A take of a program that leaves an absent field out, or that sends more than it signs.
#[test]
fn outputs_are_named_whatever_fields_are_sent() {
    let mut case = case("it's R&D \u{e9} a/b", "1.0");
    case.fields.retain(|(key, _)| *key != "memoUrl");
    let text = written(&case, r"it\u0027s R\u0026D é a/b", true);
    found(&case, text, &[KeyOrder, MissingMemoUrl, Escapes, NumberText], "without memoUrl");
    let text = pretty(&written(&case, r"it's R\u0026D é a/b", false), "\t") + "\n";
    let expected = [MissingMemoUrl, Pretty, Escapes, NumberText, TrailingNewline];
    let mut body = case.signing(text);
    body.insert(0, ("model", json::write("m")));
    assert_eq!(codes(&body, Some(&case.key)), expected, "{}", object(&body));
}

#[test]
fn encodings_of_the_text_are_named() {
    let case = case("it's R&D \u{e9}", "1");
    let text = case.canonical();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let latin = text.replace('\u{e9}', "\u{1}").into_bytes();
    let latin = latin.into_iter().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
    let quoted = format!("\"{}\"", text.replace('"', "\\\""));
    let both: &[Code] = &[TrailingNewline, TextEncoding];
    let messages: Vec<(&str, Vec<u8>, &[Code])> = vec![
        ("a byte order mark", format!("\u{feff}{text}").into(), &[TextEncoding]),
        ("a file of Windows", format!("\u{feff}{text}\r\n").into(), both),
        ("UTF-16", utf16(&text), &[TextEncoding]),
        ("UTF-16 with a mark", utf16(&format!("\u{feff}{text}")), &[TextEncoding]),
        ("Out-File", utf16(&format!("\u{feff}{text}\r\n")), both),
        ("Latin-1", latin, &[TextEncoding]),
        ("ASCII", text.replace('\u{e9}', "?").into(), &[TextEncoding]),
        ("UTF-8, twice", text.replace('\u{e9}', "\u{c3}\u{a9}").into(), &[TextEncoding]),
        ("a string", quoted.clone().into(), &[TextEncoding]),
        ("a string in ASCII", quoted.replace('\u{e9}', "\\u00e9").into(), &[TextEncoding]),
        ("two line feeds", format!("{text}\n\n").into(), &[TrailingNewline]),
        ("a space", format!("{text} ").into(), &[TrailingNewline]),
    ];
    for (name, message, expected) in messages {
        found(&case, message, expected, name);
    }
    // PowerShell 5.1 redirects its output as UTF-16.
    let power = written(&case, r"it\u0027s R\u0026D é", false);
    let expected = [Escapes, TrailingNewline, TextEncoding];
    found(&case, utf16(&format!("\u{feff}{power}\r\n")), &expected, "ConvertTo-Json > file");
}

#[test]
fn empty_weights_are_named() {
    let mut case = case("R&D", "1");
    case.fields.retain(|(key, _)| *key != "weights");
    let mut signed = case.clone();
    signed.fields.push(("weights", "[]".to_owned()));
    found(&case, signed.canonical(), &[WeightsNull], "a list");
    found(&case, spaced(&signed.canonical()), &[WeightsNull, Whitespace], "a list in Python");
}

#[test]
fn marks_around_the_signature_are_named() {
    use base64::Engine as _;
    let case = case("R&D", "1");
    let signature = case.key.sign(case.canonical().as_bytes()).to_bytes();
    let signature = base64::engine::general_purpose::STANDARD.encode(signature);
    for text in
        [format!("\u{feff}{signature}"), format!("\"{signature}\""), format!("'{signature}'\n")]
    {
        let body = case.signed(&text);
        assert_eq!(codes(&body, Some(&case.key)), [SignatureWhitespace], "{text}");
    }
}

/// The bytes of half of all private keys are also a public key.
#[test]
fn private_key_that_is_a_point_is_named_beside_other_mistakes() {
    use base64::Engine as _;
    let mut case = case("R&D \u{e9}", "1");
    case.key = SigningKey::from_bytes(&[1; 32]);
    assert!(PublicKey::from_bytes(case.key.as_bytes()).is_some());
    let seed = base64::engine::general_purpose::STANDARD.encode(case.key.as_bytes());
    let go = written(&case, r"R\u0026D é", false) + "\n";
    let python = spaced(&written(&case, r"R&D \u00e9", false));
    let messages: Vec<(String, &[Code])> = vec![
        (case.canonical(), &[KeyIsPrivate]),
        (case.canonical() + "\n", &[KeyIsPrivate, TrailingNewline]),
        (go, &[KeyIsPrivate, Escapes, TrailingNewline]),
        (python, &[KeyIsPrivate, Whitespace, Escapes]),
        ("another text".to_owned(), &[Unknown]),
    ];
    for (message, expected) in messages {
        let mut body = case.signing(&message);
        body.push(("publicKey", json::write(&seed)));
        assert_eq!(codes(&body, None), expected, "{message}");
        // The registered key proves it, whatever was signed.
        let proven: &[Code] =
            if expected == [Unknown] { &[KeyIsPrivate, Unknown] } else { expected };
        assert_eq!(codes(&body, Some(&case.key)), proven, "{message}");
    }
}

#[test]
fn private_key_in_place_of_the_signature_is_named() {
    use base64::Engine as _;
    let (case, other) = (case("R&D", "1"), SigningKey::from_bytes(&[9; 32]));
    for secret in [&case.key.to_bytes()[..], &case.key.to_keypair_bytes()] {
        let body = case.signed(&base64::engine::general_purpose::STANDARD.encode(secret));
        assert_eq!(codes(&body, Some(&case.key)), [KeyIsPrivate, Unknown]);
        assert_eq!(codes(&body, Some(&other)), [Unknown], "nothing proves it");
    }
}
