//! What is no JSON, has other names of fields, or is more or less than the text to sign; and serializers of C and C++.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use swarm_core::json;
use swarm_core::proof::diagnose::Code::{self, *};

use crate::diagnose::codes::codes;
use crate::diagnose::writers::spaced;
use crate::diagnose::{Case, object, take_with};

#[track_caller]
fn found(case: &Case, message: impl AsRef<[u8]>, expected: &[Code], of: &str) {
    let body = case.signing(message);
    assert_eq!(codes(&body, Some(&case.key)), expected, "{of}: {}", object(&body));
}

/// A take with weights, of which the second is this.
fn weighted(body: &str, second: &str) -> Case {
    let mut case = take_with(body, "", "0.7");
    let weights =
        format!(r#"[{{"bucket":"hold","weight":0.5}},{{"bucket":"add","weight":{second}}}]"#);
    case.fields.push(("weights", weights));
    case
}

fn claim(expires: &str) -> Case {
    let fields = [
        ("memberId", json::write("m-1")),
        ("challenge", json::write("https://acme.example kZ7S1l3yq0mXgq9t")),
        ("expiresAt", json::write(expires)),
    ];
    Case { fields: fields.into(), key: SigningKey::from_bytes(&[5; 32]) }
}

#[test]
fn text_of_a_dict_of_python_is_named() {
    const AHEAD: &str = "{'memberId': 'ada', 'date': '2026-11-21', 'subjectId': 'aurora', \
        'nonce': 'n-1', 'stance': 'bullish', 'confidence': 0.7, 'body': ";
    let text = |body: &str| format!("{AHEAD}{body}, 'memoUrl': ''}}");
    let plain: &[Code] = &[Whitespace, NotJson];
    let texts: [(&str, &str, &[Code]); 4] = [
        ("R&D \u{e9}", "'R&D \u{e9}'", plain),
        ("it's a/b", r#""it's a/b""#, plain),
        ("it's \"up\"\n\t\r\\\u{1}", r#"'it\'s "up"\n\t\r\\\x01'"#, plain),
        (
            "\u{a0}\u{200b}\u{1f680}\u{2764}\u{fe0f}\u{7f}\u{e0041}",
            "'\\xa0\\u200b\u{1f680}\u{2764}\u{fe0f}\\x7f\\U000e0041'",
            &[Whitespace, Escapes, NotJson],
        ),
    ];
    for (body, written, expected) in texts {
        found(&take_with(body, "", "0.7"), text(written), expected, "str");
    }
    let case = take_with("up", "", "0.7");
    let sorted = "{'body': 'up', 'confidence': 0.7, 'date': '2026-11-21', 'memberId': 'ada', \
        'memoUrl': '', 'nonce': 'n-1', 'stance': 'bullish', 'subjectId': 'aurora'}";
    found(&case, sorted, &[KeyOrder, Whitespace, NotJson], "sorted");
    for end in ["\n", "\r\n"] {
        let printed: &[Code] = &[Whitespace, NotJson, TrailingNewline];
        found(&case, text("'up'") + end, printed, "print");
        found(
            &case,
            sorted.to_owned() + end,
            &[&[KeyOrder][..], printed].concat(),
            "sorted, print",
        );
    }
    let weights =
        "'weights': [{'bucket': 'hold', 'weight': 0.5}, {'bucket': 'add', 'weight': 1.0}]";
    let message = text("'up'").replace('}', &format!(", {weights}}}"));
    found(&weighted("up", "1.0"), message, &[Whitespace, NumberText, NotJson], "weights");
    let nulled = text("None").replace(", 'memoUrl': ''", "");
    let mut case = take_with("", "", "0.7");
    case.fields.retain(|(key, _)| *key != "memoUrl");
    *case.field("body") = "null".to_owned();
    found(&case, nulled, &[MissingBody, MissingMemoUrl, Whitespace, NotJson], "None");
    // With quotation marks for apostrophes, which is JSON of most texts.
    let quoted = |body: &str| text(body).replace('\'', "\"");
    found(&take_with("up\n", "", "0.7"), quoted(r"'up\n'"), &[Whitespace], "replaced");
    found(&take_with("it's", "", "0.7"), quoted("\"it's\""), plain, "replaced");
}

#[test]
fn other_names_of_fields_are_named() {
    const PASCAL: [(&str, &str); 11] = [
        ("memberId", "MemberId"),
        ("date", "Date"),
        ("subjectId", "SubjectId"),
        ("nonce", "Nonce"),
        ("stance", "Stance"),
        ("confidence", "Confidence"),
        ("body", "Body"),
        ("memoUrl", "MemoUrl"),
        ("bucket", "Bucket"),
        ("weight", "Weight"),
        ("weights", "Weights"),
    ];
    const SNAKE: [(&str, &str); 3] =
        [("memberId", "member_id"), ("subjectId", "subject_id"), ("memoUrl", "memo_url")];
    let renamed = |text: &str, names: &[(&str, &str)]| {
        names.iter().fold(text.to_owned(), |text, (from, to)| {
            text.replace(&format!("\"{from}\":"), &format!("\"{to}\":"))
        })
    };
    let case = weighted("it's R&D \u{e9}", "1.5");
    let text = case.canonical();
    let (pascal, snake) = (renamed(&text, &PASCAL), renamed(&text, &SNAKE));
    let net = pascal.replace('\'', r"\u0027").replace('&', r"\u0026").replace('\u{e9}', r"\u00E9");
    let go = pascal.replace('&', r"\u0026");
    let python = spaced(&snake.replace('\u{e9}', r"\u00e9"));
    let outputs: Vec<(&str, String, &[Code])> = vec![
        ("System.Text.Json", net, &[Escapes, FieldNames]),
        ("Newtonsoft", pascal, &[FieldNames]),
        ("Go", go, &[Escapes, FieldNames]),
        ("serde", snake, &[FieldNames]),
        ("json.dumps", python, &[Whitespace, Escapes, FieldNames]),
    ];
    for (name, message, expected) in outputs {
        found(&case, message, expected, name);
    }
    let claim = claim("2026-11-21T10:10:00.000Z");
    let message = renamed(&claim.canonical(), &SNAKE).replace("expiresAt", "expires_at");
    found(&claim, message, &[FieldNames], "a claim");
}

/// What `cJSON_Print` prints, with a dot in the place of each tab.
const C_JSON: &str = r#"{
·"memberId":·"ada",
·"date":·"2026-11-21",
·"subjectId":·"aurora",
·"nonce":·"n-1",
·"stance":·"bullish",
·"confidence":·0.7,
·"body":·"a/b",
·"memoUrl":·"",
·"weights":·[{
···"bucket":·"hold",
···"weight":·0.5
··}, {
···"bucket":·"add",
···"weight":·1.5
··}]
}"#;

/// What `json_object_to_json_string` of json-c prints.
const JSON_C: &str = r#"{ "memberId": "ada", "date": "2026-11-21", "subjectId": "aurora", "nonce": "n-1", "stance": "bullish", "confidence": 0.7, "body": "a\/b", "memoUrl": "", "weights": [ { "bucket": "hold", "weight": 0.5 }, { "bucket": "add", "weight": 1.5 } ] }"#;

/// What `StreamWriterBuilder` of JsonCpp prints, with a dot in the place of each tab. The line before a list ends with a
/// space.
const JSON_CPP: &str = r#"{
·"body" : "\u00e9",
·"confidence" : 0.7,
·"date" : "2026-11-21",
·"memberId" : "ada",
·"memoUrl" : "",
·"nonce" : "n-1",
·"stance" : "bullish",
·"subjectId" : "aurora",
·"weights" :
·[
··{
···"bucket" : "hold",
···"weight" : 0.5
··},
··{
···"bucket" : "add",
···"weight" : 1.5
··}
·]
}"#;

#[test]
fn serializers_of_c_are_named() {
    let tabs = |text: &str| text.replace('\u{b7}', "\t");
    let (slash, accent) = (weighted("a/b", "1.5"), weighted("\u{e9}", "1.5"));
    found(&slash, tabs(C_JSON), &[Pretty], "cJSON_Print");
    found(&slash, JSON_C, &[Whitespace, Escapes], "json-c");
    let cpp = tabs(JSON_CPP).replace(":\n", ": \n");
    found(&accent, cpp, &[KeyOrder, Pretty, Escapes], "JsonCpp");
}

#[test]
fn answers_of_the_service_are_named() {
    let takes = [take_with("it's R&D \u{e9}", "", "0.7"), weighted("R&D", "1.0")];
    for case in takes.into_iter().chain([claim("2026-11-21T10:10:00.000Z")]) {
        // The service writes numbers as ECMAScript does, however they were sent.
        let canonical = case.canonical().replace("1.0", "1");
        let string = json::write(&canonical);
        let answer = format!("{{\"canonical\":{string}}}");
        let line = |text: &str| format!("{text}\n");
        found(&case, line(&string), &[TrailingNewline, TextEncoding], "jq .canonical");
        found(&case, line(&answer), &[TrailingNewline, OtherPayload], "the answer, as a line");
        found(&case, answer, &[OtherPayload], "the answer");
    }
    let case = claim("2026-11-21T10:10:00.000Z");
    let challenge = &case.fields[1].1;
    found(&case, challenge, &[OtherPayload], "the challenge as a string");
    found(&case, format!("{challenge}\n"), &[OtherPayload, TrailingNewline], "jq .challenge");
}

#[test]
fn times_that_were_written_again_are_named() {
    for (given, written) in [
        ("00.000Z", "00+00:00"),
        ("00.000Z", "00Z"),
        ("00.120Z", "00.120000+00:00"),
        ("00.120Z", "00.120+00:00"),
        ("00.120Z", "00.12+00:00"),
        ("00.120Z", "00.12Z"),
        ("00.120Z", "00+00:00"),
        ("00.120Z", "00Z"),
        ("00.000Z", "00.0000000Z"),
        ("00.120Z", "00.1200000Z"),
        ("00.120Z", "00.1200000+00:00"),
    ] {
        let [given, written] = [given, written].map(|second| format!("2026-11-21T10:10:{second}"));
        let case = claim(&given);
        let message = case.canonical().replace(&given, &written);
        found(&case, &message, &[TimeText], &written);
        found(&case, spaced(&message), &[TimeText, Whitespace], &written);
    }
}

/// `json.dumps(take, indent=4, sort_keys=True) + "\n"`, also as `sign` of PyNaCl returns it, and with the message before the signature.
#[test]
fn sorted_and_indented_line_of_python_is_named_beside_its_signature() {
    let case = take_with("up", "", "0.7");
    let mut fields = case.fields.clone();
    fields.sort();
    let members: Vec<_> =
        fields.iter().map(|(key, value)| format!("    {}: {value}", json::write(*key))).collect();
    let message = format!("{{\n{}\n}}\n", members.join(",\n"));
    let mistakes = [KeyOrder, Pretty, TrailingNewline];
    found(&case, &message, &mistakes, "bare");
    let signature = case.key.sign(message.as_bytes()).to_bytes();
    let (signature, message) = (&signature[..], message.as_bytes());
    for attached in [[signature, message].concat(), [message, signature].concat()] {
        let body = case.signed(&STANDARD.encode(attached));
        let expected = [&[SignatureAttached][..], &mistakes].concat();
        assert_eq!(codes(&body, Some(&case.key)), expected, "{}", object(&body));
    }
}
