//! Combinations of mistakes.

use ed25519_dalek::Signer;
use swarm_core::proof::diagnose::Code;
use swarm_core::proof::hex;

use crate::diagnose::codes::{any_kind, append, names};
use crate::diagnose::take;
use crate::diagnose::writers::{ascii, pretty, python, spaced};

#[test]
fn combined_mistakes_are_all_reported() {
    // The default output of Python's json.dumps, for a take without body and memoUrl.
    names(
        &[Code::MissingBody, Code::MissingMemoUrl, Code::Whitespace, Code::Escapes],
        take(),
        |mut case| {
            case.fields.retain(|(key, _)| !["body", "memoUrl", "weights"].contains(key));
            *case.field("confidence") = "0.5".to_owned();
            append(&mut case, "\u{e9}");
            let message = python(&spaced(&case.canonical()));
            Some((case.signing(message), case.key))
        },
    );
    names(&[Code::SignatureHex, Code::TrailingNewline], any_kind(), |case| {
        let signature = case.key.sign((case.canonical() + "\n").as_bytes());
        Some((case.signed(&hex(&signature.to_bytes())), case.key))
    });
}

/// Combinations of number format, escapes and white space.
#[test]
fn each_style_difference_is_reported() {
    use Code::{Escapes, NumberText, Pretty, Whitespace};
    type Writer = fn(&str) -> String;
    let lower = |text: &str| ascii(text, false);
    let writers: [(&[Code], &str, &str, Writer); 8] = [
        (&[Whitespace], "0.70", "0.7", spaced),
        (&[Escapes], "0.70", "0.7", lower),
        // PHP.
        (&[Escapes], "0.70", "0.7", |text| ascii(text, false).replace('/', "\\/")),
        (&[Escapes, NumberText], "0.70", "0.70", python),
        (&[Whitespace, NumberText], "0.70", "0.70", spaced),
        // Python.
        (&[Whitespace, Escapes, NumberText], "0.70", "0.70", |text| python(&spaced(text))),
        (&[Whitespace, Escapes, NumberText], "1", "1.0", |text| python(&spaced(text))),
        (&[Pretty, Escapes, NumberText], "1.0", "1.0", |text| python(&pretty(text, "  "))),
    ];
    for (codes, sent, signed, write) in writers {
        names(codes, take(), |mut case| {
            case.fields.retain(|(key, _)| *key != "weights");
            append(&mut case, "/\u{e9}");
            *case.field("confidence") = signed.to_owned();
            let message = write(&case.canonical());
            *case.field("confidence") = sent.to_owned();
            Some((case.signing(message), case.key))
        });
    }
}
