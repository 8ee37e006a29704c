//! The default output of encoders where more was done to it: digests, files, numbers in another form, fields that are
//! not part of the payload.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha512};
use swarm_core::json;
use swarm_core::proof::diagnose::Code::{self, *};
use swarm_core::proof::hex;

use crate::diagnose::codes::codes;
use crate::diagnose::writers::{pretty, spaced};
use crate::diagnose::{Case, object, take_with};

/// The text of the take with these fields in another form.
fn written(case: &Case, fields: &[(&str, &str)], is_sorted: bool) -> String {
    let mut written = case.clone();
    for (name, text) in fields {
        *written.field(name) = (*text).to_owned();
    }
    if is_sorted {
        written.fields.sort();
    }
    written.canonical()
}

/// Asserts the codes of signatures over these messages, and names all that differ.
#[track_caller]
fn found(case: &Case, messages: Vec<(&str, Vec<u8>, &[Code])>) {
    let wrong = messages.into_iter().filter_map(|(name, message, expected)| {
        let body = case.signing(message);
        let found = codes(&body, Some(&case.key));
        (found != expected).then(|| format!("{name}: {found:?} of {}", object(&body)))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

fn windows(text: &str) -> String {
    text.replace('\n', "\r\n")
}

type Form = fn(&str) -> Vec<u8>;

/// What is signed in the place of a text, and the code of it.
const FORMS: [(Code, Form); 5] = [
    (SignedDigest, |text| Sha256::digest(text).to_vec()),
    (SignedDigest, |text| hex(&Sha256::digest(text)).into()),
    (SignedDigest, |text| Sha512::digest(text).to_vec()),
    (TextEncoding, |text| STANDARD.encode(text).into()),
    (TextEncoding, |text| hex(text.as_bytes()).into()),
];

#[test]
fn digests_of_default_outputs_are_named() {
    for body in ["it's R&D <b>", "it's R&D <b> \"x=1\" a/b+c \u{e9}\u{1f680}\u{2028}\u{7f}\u{1b}"] {
        let case = take_with(body, "", "0.7");
        let escape = |characters: &str, is_upper: bool| {
            let mut text = json::write(body);
            for character in characters.chars() {
                let code = match is_upper {
                    true => format!("\\u{:04X}", u32::from(character)),
                    false => format!("\\u{:04x}", u32::from(character)),
                };
                text = text.replace(character, &code);
            }
            text
        };
        let net = escape("'&<>+\u{e9}\u{2028}\u{7f}", true).replace('\u{1f680}', r"\uD83D\uDE80");
        let net = net.replace(r#"\""#, r"\u0022").replace(r"\u001b", r"\u001B");
        let python = escape("\u{e9}\u{2028}\u{7f}", false).replace('\u{1f680}', r"\ud83d\ude80");
        let (go, power) = (escape("&<>\u{2028}", false), escape("'&<>\u{2028}", false));
        let gson = escape("'&<>=\u{2028}", false);
        let text = |body: &str, is_sorted| written(&case, &[("body", body)], is_sorted);
        let mut outputs: Vec<(&str, String, &[Code])> = vec![
            ("Marshal of Go", text(&go, false), &[Escapes]),
            ("Encoder of Go", text(&go, false) + "\n", &[Escapes, TrailingNewline]),
            ("System.Text.Json", text(&net, false), &[Escapes]),
            ("PowerShell 5.1", text(&power, false), &[Escapes]),
            ("Gson", text(&gson, false), &[Escapes]),
            ("json.dumps", spaced(&text(&python, false)), &[Whitespace, Escapes]),
            ("sort_keys", spaced(&text(&python, true)), &[KeyOrder, Whitespace, Escapes]),
            ("echo", case.canonical() + "\n", &[TrailingNewline]),
        ];
        // Texts that few encoders change leave room for more.
        if body.is_ascii() {
            outputs.extend::<[(_, _, &[Code]); 2]>([
                (
                    "print of Python",
                    spaced(&text(&python, false)) + "\n",
                    &[Whitespace, Escapes, TrailingNewline],
                ),
                ("RFC 8785", text(&json::write(body), true), &[KeyOrder]),
            ]);
        }
        let messages = outputs.iter().flat_map(|(name, text, codes)| {
            let is_escaped = !text.contains("R&D") || text.contains(r"\u00e9");
            let codes = codes.iter().filter(|code| **code != Escapes || is_escaped);
            let codes: Vec<_> = codes.copied().collect();
            FORMS.map(|(code, form)| (*name, form(text), [&codes[..], &[code]].concat()))
        });
        let messages: Vec<_> = messages.collect();
        let messages = messages.iter().map(|(name, it, codes)| (*name, it.clone(), &codes[..]));
        found(&case, messages.collect());
    }
}

#[test]
fn spaced_and_sorted_texts_beyond_ascii_are_named() {
    let body = "it's R&D <b> \u{e9} \u{2014} a/b \u{2019}";
    let case = take_with(body, "", "0.7");
    let text = |is_sorted| written(&case, &[("body", &json::write(body))], is_sorted);
    let [given, sorted] = [false, true].map(|is_sorted| spaced(&text(is_sorted)));
    let digests = FORMS.iter().take(2).flat_map(|(digest, form)| {
        [
            ("ensure_ascii=False", form(&given), vec![Whitespace, *digest]),
            ("ensure_ascii=False, sort_keys", form(&sorted), vec![KeyOrder, Whitespace, *digest]),
        ]
    });
    let jq = ("jq -cS", (text(true) + "\n").into(), vec![KeyOrder, TrailingNewline]);
    let messages: Vec<_> = digests.chain([jq]).collect();
    found(
        &case,
        messages.iter().map(|(name, it, codes)| (*name, it.clone(), &codes[..])).collect(),
    );
}

/// Programs that write other numbers in what they sign than in the body.
#[test]
fn numbers_of_programs_are_named_beside_other_mistakes() {
    const EXACT: (&str, &str) = ("confidence", "0.69999999999999996");
    const POINT: (&str, &str) = ("confidence", "1.0");
    for body in ["R&D", "it's R&D <b> \u{e9}\u{2028}"] {
        let case = take_with(body, "https://x.y/z", "0.7");
        let memo = ("memoUrl", r#""https:\/\/x.y\/z""#);
        let ascii = json::write(body).replace('\u{e9}', r"\u00e9").replace('\u{2028}', r"\u2028");
        let text = |fields: &[_], is_sorted| written(&case, fields, is_sorted).into_bytes();
        found(
            &case,
            vec![
                ("JSONEncoder", text(&[memo, EXACT], false), &[Escapes, NumberText]),
                ("sortedKeys", text(&[memo, EXACT], true), &[KeyOrder, Escapes, NumberText]),
                (
                    "json_encode",
                    text(&[memo, EXACT, ("body", &ascii)], false),
                    &[Escapes, NumberText],
                ),
            ],
        );
    }
    for body in ["\u{e9} & b", "it's R&D <b> \"x=1\" a/b+c \u{e9}\u{1f680}\u{2028}"] {
        let case = take_with(body, "https://x.y/z", "1");
        let lines = pretty(&written(&case, &[POINT], false), "  ");
        let jackson = lines.replace("\": ", "\" : ");
        found(
            &case,
            vec![
                ("Jackson, on Windows", windows(&jackson).into(), &[Pretty, NumberText]),
                ("DefaultPrettyPrinter", jackson.into(), &[Pretty, NumberText]),
                ("Formatting.Indented", windows(&lines).into(), &[Pretty, NumberText]),
            ],
        );
    }
}

/// What structures hold that is not part of the payload, in what other settings write.
#[test]
fn added_fields_are_named_beside_other_mistakes() {
    for (field, value, code) in [
        ("weights", "null", WeightsNull),
        ("signature", "\"\"", SignatureIncluded),
        ("signature", "null", SignatureIncluded),
    ] {
        for body in ["R&D", "it's R&D <b> \"x=1\" a/b+c \u{e9}\u{1f680}\u{2028}"] {
            let case = take_with(body, "https://x.y/z", "0.7");
            let mut added = case.clone();
            added.fields.push((field, value.to_owned()));
            let sorted = |body: &str| {
                let mut sorted = added.clone();
                *sorted.field("body") = body.to_owned();
                sorted.fields.sort();
                sorted.canonical()
            };
            let ascii = json::write(body).replace('\u{e9}', r"\u00e9");
            let ascii = ascii.replace('\u{2028}', r"\u2028").replace('\u{1f680}', r"\ud83d\ude80");
            let escapes: &[Code] = if ascii == json::write(body) { &[] } else { &[Escapes] };
            let python = [&[KeyOrder, code, Whitespace], escapes].concat();
            let (printed, line) = ([code, Pretty], [code, Pretty, TrailingNewline]);
            let (compact, jq) = ([KeyOrder, code], [KeyOrder, code, Pretty, TrailingNewline]);
            let four = [&[code, Pretty], escapes].concat();
            let mut indented = added.clone();
            *indented.field("body") = ascii.clone();
            let plain = json::write(body);
            let messages: Vec<(&str, String, &[Code])> = vec![
                ("json.dumps, sorted", spaced(&sorted(&ascii)), &python),
                ("sorted and compact", sorted(&plain), &compact),
                ("jq -S", pretty(&sorted(&plain), "  ") + "\n", &jq),
                ("stringify", pretty(&added.canonical(), "  "), &printed),
                ("jq", pretty(&added.canonical(), "  ") + "\n", &line),
                ("indent=4", pretty(&indented.canonical(), "    "), &four),
            ];
            let messages =
                messages.into_iter().map(|(name, text, codes)| (name, text.into(), codes));
            found(&case, messages.collect());
        }
    }
}

#[test]
fn bytes_of_files_are_named() {
    const BOTH: &[Code] = &[TrailingNewline, TextEncoding];
    const BOM: &str = "\u{feff}";
    let case = take_with("it's R&D <b> \u{e9} \u{20ac}5", "", "0.7");
    let text = case.canonical();
    let go =
        written(&case, &[("body", "\"it's R\\u0026D \\u003cb\\u003e \u{e9} \u{20ac}5\"")], false);
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let big = format!("{BOM}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let page = |end: &str, letter, euro| {
        let text = format!("{text}{end}");
        let bytes = text.chars().map(|it| match it {
            '\u{e9}' => letter,
            '\u{20ac}' => euro,
            other => u8::try_from(other).unwrap(),
        });
        bytes.collect::<Vec<_>>()
    };
    found(
        &case,
        vec![
            ("a file of Windows", format!("{BOM}{text}\r\n").into(), BOTH),
            ("a file with a mark", format!("{BOM}{text}\n").into(), BOTH),
            ("UTF-16", utf16(&format!("{text}\r\n")), BOTH),
            ("UTF-16 of Java", big, &[TextEncoding]),
            (
                "Encoder of Go",
                format!("{BOM}{go}\n").into(),
                &[Escapes, TrailingNewline, TextEncoding],
            ),
            ("Windows-1252", page("", 0xe9, 0x80), &[TextEncoding]),
            ("Windows-1252", page("\r\n", 0xe9, 0x80), BOTH),
            ("code page 850", page("", 0x82, b'?'), &[TextEncoding]),
            ("code page 850", page("\r\n", 0x82, b'?'), BOTH),
            ("Latin-1", page("", 0xe9, b'?'), &[TextEncoding]),
        ],
    );
}
