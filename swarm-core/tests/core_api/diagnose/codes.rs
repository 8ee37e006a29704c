//! Each code is found on random payloads.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer, SigningKey};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use sha2::{Digest, Sha256, Sha512};
use swarm_core::domain::{PublicKey, Signature};
use swarm_core::json;
use swarm_core::proof::diagnose::{Code, SignedBody};
use swarm_core::proof::{diagnose, hex};
use unicode_normalization::UnicodeNormalization as _;

use crate::diagnose::{Case, Fields, application, claim, object, take, take_with, writers};

/// The codes of the diagnosis for this request.
pub(crate) fn codes(body: &Fields, registered: Option<&SigningKey>) -> Vec<Code> {
    let registered = registered
        .map(|key| PublicKey::parse(&STANDARD.encode(key.verifying_key().as_bytes())).unwrap());
    let read = SignedBody::read(object(body).as_bytes()).unwrap();
    let diagnosis = diagnose(&read, registered.as_ref()).unwrap();
    let codes: Vec<_> = diagnosis.findings.iter().map(|finding| finding.code).collect();
    // A take may be well signed and sent with its private key.
    let is_verified = codes.iter().all(|code| *code == Code::KeyIsPrivate);
    assert!(if diagnosis.verified { is_verified } else { !codes.is_empty() }, "{codes:?}");
    codes
}

/// Asserts that the diagnosis reports exactly this mistake, on a hundred payloads.
#[track_caller]
pub(crate) fn names(
    expected: &[Code],
    cases: impl Strategy<Value = Case>,
    wrong: impl Fn(Case) -> Option<(Fields, SigningKey)>,
) {
    let mut runner = hundred();
    let ran = runner.run(&cases, |case| {
        let Some((body, registered)) = wrong(case) else {
            return Err(TestCaseError::reject("no mistake"));
        };
        prop_assert_eq!(codes(&body, Some(&registered)), expected, "{}", object(&body));
        Ok(())
    });
    ran.unwrap();
}

fn hundred() -> TestRunner {
    runner(100)
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

/// Asserts the same when a text other than the canonical one was signed.
#[track_caller]
pub(crate) fn names_text(
    code: Code,
    cases: impl Strategy<Value = Case>,
    text: impl Fn(&mut Case) -> String,
) {
    names(&[code], cases, |mut case| {
        let message = text(&mut case);
        (message != case.canonical()).then(|| (case.signing(message), case.key))
    });
}

pub(crate) fn any_kind() -> impl Strategy<Value = Case> {
    prop_oneof![take(), application(), claim()]
}

/// Appends to the name, the nonce or the challenge.
pub(crate) fn append(case: &mut Case, more: &str) {
    let names = ["name", "nonce", "challenge"];
    let field = case.fields.iter_mut().find(|(key, _)| names.contains(key)).unwrap();
    let end = field.1.len() - 1;
    field.1.insert_str(end, more);
}

pub(crate) fn without(case: &Case, keys: &[&str]) -> String {
    let kept = case.fields.iter().filter(|(key, _)| !keys.contains(key)).cloned();
    object(&kept.collect())
}

pub(crate) fn with(case: &Case, key: &'static str, value: &str) -> String {
    let mut fields = case.fields.clone();
    fields.push((key, value.to_owned()));
    object(&fields)
}

#[test]
fn valid_signature_has_no_findings() {
    names(&[], any_kind(), |case| Some((case.signing(case.canonical()), case.key)));
}

#[test]
fn key_order() {
    names_text(Code::KeyOrder, any_kind(), |case| {
        let mut fields = case.fields.clone();
        fields.sort();
        object(&fields)
    });
    names(&[Code::KeyOrder], any_kind(), |case| {
        let mut fields = case.fields.clone();
        fields.rotate_left(2);
        let mut body = case.signing(object(&fields));
        body.rotate_left(2);
        Some((body, case.key))
    });
    names_text(Code::KeyOrder, take(), |case| {
        let weights = case.fields.iter().find(|(key, _)| *key == "weights");
        let Some((_, weights)) = weights.cloned() else { return case.canonical() };
        let mut entries: serde_json::Value = serde_json::from_str(&weights).unwrap();
        let entries = entries.as_array_mut().unwrap().iter().map(|entry| {
            let bucket = json::write(&entry["bucket"]);
            format!(
                "{{\"weight\":{},\"bucket\":{bucket}}}",
                json::write(&entry["weight"].as_f64().unwrap())
            )
        });
        let turned = format!("[{}]", entries.collect::<Vec<_>>().join(","));
        case.canonical().replace(&weights, &turned)
    });
}

#[test]
fn layout() {
    names_text(Code::Whitespace, any_kind(), |case| writers::spaced(&case.canonical()));
    for indent in ["  ", "    ", "\t"] {
        names_text(Code::Pretty, any_kind(), |case| writers::pretty(&case.canonical(), indent));
    }
}

#[test]
fn escapes() {
    for upper in [false, true] {
        names_text(Code::Escapes, any_kind(), |case| {
            append(case, "\u{e9}\u{1f680}");
            writers::ascii(&case.canonical(), upper)
        });
    }
    names_text(Code::Escapes, any_kind(), |case| {
        append(case, "a/b");
        case.canonical().replace('/', "\\/")
    });
    names_text(Code::Escapes, any_kind(), |case| {
        append(case, "<&>\u{2028}");
        writers::html(&case.canonical())
    });
}

#[test]
fn number_text() {
    for (sent, signed) in [
        ("0.70", "0.70"),
        ("0.7", "0.70"),
        ("1", "1.0"),
        ("1.0", "1.0"),
        ("1e-05", "1e-05"),
        ("0", "0.00"),
        // `%f`, `%.3f`, `%.17g`, and a number of 32 bits that was made one of 64.
        ("0.7", "0.700000"),
        ("0.7", "0.700"),
        ("0.7", "0.69999999999999996"),
        ("0.00005", "5.0000000000000002e-05"),
        ("0.7", "0.699999988079071"),
        // Java, .NET, Python and Rust.
        ("0.0005", "5.0E-4"),
        ("0.00001", "1E-05"),
        ("0.000015", "1.5e-05"),
        ("0.000001", "1e-6"),
    ] {
        names(&[Code::NumberText], take(), |mut case| {
            // Other numbers of the take may have two texts as well.
            case.fields.retain(|(key, _)| *key != "weights");
            *case.field("confidence") = signed.to_owned();
            let message = case.canonical();
            *case.field("confidence") = sent.to_owned();
            Some((case.signing(message), case.key))
        });
    }
}

/// One number in another form beside others as ECMAScript writes them, which is also how the body has it.
#[test]
fn number_text_of_some_numbers() {
    const PLAIN: &str = r#"[{"bucket":"x","weight":1},{"bucket":"y","weight":2}]"#;
    let points = PLAIN.replace('1', "1.0").replace('2', "2.0");
    let cents = PLAIN.replace('1', "1.00").replace('2', "2.00");
    for (confidence, signed, weights) in [
        ("0.7", "0.70", PLAIN),
        ("0.0001", "1.0E-4", &*points),
        ("0.00001", "1e-05", &*points),
        ("1", "1.0", PLAIN),
        ("0.5", "0.5", &*points),
        ("1", "1", &*points),
        ("0.25", "0.25", &*cents),
        ("1", "1", &*cents),
    ] {
        names(&[Code::NumberText], take(), |mut case| {
            case.fields.retain(|(key, _)| *key != "weights");
            case.fields.push(("weights", weights.to_owned()));
            *case.field("confidence") = signed.to_owned();
            let message = case.canonical();
            *case.field("confidence") = confidence.to_owned();
            *case.field("weights") = PLAIN.to_owned();
            Some((case.signing(message), case.key))
        });
    }
}

#[test]
fn unicode_normalization() {
    names_text(Code::UnicodeNormalization, any_kind(), |case| {
        append(case, "\u{e9}");
        case.canonical().nfd().collect()
    });
    names_text(Code::UnicodeNormalization, any_kind(), |case| {
        append(case, "e\u{301}");
        case.canonical().nfc().collect()
    });
}

#[test]
fn signed_digest() {
    let digests: [fn(String) -> Vec<u8>; 6] = [
        |text| Sha256::digest(text).to_vec(),
        |text| Sha512::digest(text).to_vec(),
        |text| hex(&Sha256::digest(text)).into_bytes(),
        |text| hex(&Sha512::digest(text)).into_bytes(),
        |text| hex(&Sha256::digest(text)).to_uppercase().into_bytes(),
        |text| STANDARD.encode(Sha256::digest(text)).into_bytes(),
    ];
    for digest in digests {
        names(&[Code::SignedDigest], any_kind(), |case| {
            Some((case.signing(digest(case.canonical())), case.key))
        });
    }
}

#[test]
fn signatures_in_other_forms() {
    type Form = fn(&[u8]) -> String;
    let forms: [(&[Code], Form); 12] = [
        (&[Code::SignatureHex], hex),
        (&[Code::SignatureHex], |raw| hex(raw).to_uppercase()),
        (&[Code::SignatureBase64url], |raw| URL_SAFE.encode(raw)),
        (&[Code::SignatureBase64url, Code::SignatureUnpadded], |raw| URL_SAFE_NO_PAD.encode(raw)),
        (&[Code::SignatureUnpadded], |raw| STANDARD_NO_PAD.encode(raw)),
        (&[Code::SignatureWhitespace], |raw| STANDARD.encode(raw) + "\n"),
        (&[Code::SignatureWhitespace], |raw| {
            let text = STANDARD.encode(raw);
            format!("{}\n{}\n", &text[..76], &text[76..])
        }),
        (&[Code::SignatureWhitespace], |raw| STANDARD.encode(raw) + "\u{200b}"),
        (&[Code::SignatureWhitespace], |raw| format!("b'{}'", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| STANDARD.encode(raw).replace('=', "%3D")),
        (&[Code::SignatureWhitespace], |raw| {
            let text = STANDARD.encode(raw).replace('+', " ");
            if text.contains(' ') { text } else { text + "\n" }
        }),
        (&[Code::SignatureWhitespace], |raw| format!("\u{2066}{}\0", STANDARD.encode(raw))),
    ];
    for (codes, form) in forms {
        names(codes, any_kind(), |case| {
            let raw = case.key.sign(case.canonical().as_bytes()).to_bytes();
            let text = form(&raw);
            let is_url_safe = codes.contains(&Code::SignatureBase64url);
            let is_mistake = !is_url_safe || text.contains(['-', '_']);
            is_mistake.then(|| (case.signed(&text), case.key))
        });
    }
}

#[test]
fn signatures_in_other_encodings() {
    type Encoding = fn(&[u8]) -> Option<String>;
    /// Base64 or hexadecimal behind its letter of multibase; `None` for what could be base58 as well.
    fn behind(letter: char, text: &str) -> Option<String> {
        text.contains(['0', 'O', 'I', 'l', '+', '/', '-', '_']).then(|| format!("{letter}{text}"))
    }
    /// Base58; `None` for what is so short that it could be base64 as well.
    fn long_base58(raw: &[u8]) -> Option<String> {
        Some(base58(raw)).filter(|text| text.len() > 86)
    }
    let encodings: [Encoding; 12] = [
        |raw| Some(STANDARD.encode(STANDARD.encode(raw))),
        |raw| Some(STANDARD.encode(STANDARD.encode(raw) + "\n")),
        |raw| Some(STANDARD.encode(URL_SAFE_NO_PAD.encode(raw))),
        |raw| Some(json::write(raw)),
        |raw| Some(json::write(raw).replace(',', ", ")),
        |raw| Some(json::write(raw).replace(['[', ']'], "")),
        long_base58,
        |raw| Some(format!("z{}", long_base58(raw)?)),
        |raw| behind('m', &STANDARD_NO_PAD.encode(raw)),
        |raw| behind('M', &STANDARD.encode(raw)),
        |raw| behind('u', &URL_SAFE_NO_PAD.encode(raw)),
        |raw| behind('f', &hex(raw)),
    ];
    for encoding in encodings {
        names(&[Code::SignatureEncoding], any_kind(), |case| {
            let raw = case.key.sign(case.canonical().as_bytes()).to_bytes();
            let text = encoding(&raw)?;
            Some((case.signed(&text), case.key))
        });
    }
}

/// What `sign` of PyNaCl and `crypto_sign` of libsodium return, the reverse, and the prefixes of Tink and minisign.
#[test]
fn signature_beside_other_bytes() {
    type Around = fn(&[u8], &[u8]) -> Vec<u8>;
    let around: [Around; 4] = [
        |signature, message| [signature, message].concat(),
        |signature, message| [message, signature].concat(),
        |signature, _| [&b"\x01\0\0\0\x07"[..], signature].concat(),
        |signature, _| [&b"Ed\0\0\0\0\0\0\0\x07"[..], signature].concat(),
    ];
    type Encoding = fn(&[u8]) -> String;
    let encodings: [(&[Code], Encoding); 2] = [
        (&[Code::SignatureAttached], |bytes| STANDARD.encode(bytes)),
        (&[Code::SignatureHex, Code::SignatureAttached], hex),
    ];
    for ((expected, encoding), around) in
        encodings.into_iter().flat_map(|it| around.map(|around| (it, around)))
    {
        names(expected, any_kind(), |case| {
            let message = case.canonical();
            let signature = case.key.sign(message.as_bytes()).to_bytes();
            let text = encoding(&around(&signature, message.as_bytes()));
            let is_mistake = text.len() <= Signature::MAX as usize;
            is_mistake.then(|| (case.signed(&text), case.key))
        });
    }
    // Longer bytes that neither begin nor end with a signature of a known text.
    names(&[Code::Unknown], any_kind(), |case| {
        let other = case.key.sign(b"another text").to_bytes();
        let bytes = [&other[..], case.canonical().as_bytes()].concat();
        let text = STANDARD.encode(bytes);
        let is_read = text.len() <= Signature::MAX as usize;
        is_read.then(|| (case.signed(&text), case.key))
    });
}

#[test]
fn keys_in_other_forms() {
    const SPKI: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
    const PKCS8: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let der = |key: &SigningKey| STANDARD.encode([SPKI, key.verifying_key().as_bytes()].concat());
    let private = |key: &SigningKey| STANDARD.encode([PKCS8, key.as_bytes()].concat());
    let pem = |kind: &str, inside: &str| {
        format!("-----BEGIN {kind} KEY-----\n{inside}\n-----END {kind} KEY-----\n")
    };
    type Form<'a> = Box<dyn Fn(&SigningKey) -> String + 'a>;
    let pair = |key: &SigningKey| key.to_keypair_bytes().to_vec();
    let openssh = |key: &SigningKey| {
        let field = |bytes: &[u8]| [&length(bytes), bytes].concat();
        let public = [field(b"ssh-ed25519"), field(key.verifying_key().as_bytes())].concat();
        let private =
            [&[9; 8], &public[..], &field(&pair(key)), &field(b"ada@example"), &[1, 2, 3]].concat();
        let ahead = [field(b"none"), field(b"none"), field(b""), vec![0, 0, 0, 1]].concat();
        let content = [&ahead[..], &field(&public), &field(&private)].concat();
        STANDARD.encode([b"openssh-key-v1\0", &content[..]].concat())
    };
    let jwk = |key: &SigningKey| {
        let x = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
        let d = URL_SAFE_NO_PAD.encode(key.as_bytes());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","d":"{d}"}}"#)
    };
    let line = |key: &SigningKey| {
        let (name, public) = (b"ssh-ed25519", key.verifying_key());
        let content = [&length(name)[..], name, &[0, 0, 0, 32], public.as_bytes()].concat();
        format!("ssh-ed25519 {} ada@example\n", STANDARD.encode(content))
    };
    let public_jwk = |key: &SigningKey| {
        let x = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#)
    };
    let forms: [(&[Code], Form<'_>); 21] = [
        (&[Code::KeyDer], Box::new(line)),
        (&[Code::KeyBase64url], Box::new(public_jwk)),
        (&[Code::KeyPem], Box::new(|key| STANDARD.encode(pem("PUBLIC", &der(key))))),
        (
            &[Code::KeyPem, Code::KeyIsPrivate],
            Box::new(|key| STANDARD.encode(pem("PRIVATE", &private(key)))),
        ),
        (&[Code::KeyHex], Box::new(|key| hex(key.verifying_key().as_bytes()))),
        (
            &[Code::KeyBase64url],
            Box::new(|key| STANDARD_NO_PAD.encode(key.verifying_key().as_bytes())),
        ),
        (
            &[Code::KeyBase64url],
            Box::new(|key| URL_SAFE.encode(key.verifying_key().as_bytes()) + "\n"),
        ),
        (&[Code::KeyDer], Box::new(der)),
        (
            &[Code::KeyHex, Code::KeyDer],
            Box::new(|key| hex(&[SPKI, key.verifying_key().as_bytes()].concat())),
        ),
        (&[Code::KeyPem], Box::new(|key| pem("PUBLIC", &der(key)))),
        (&[Code::KeyIsPrivate], Box::new(|key| STANDARD.encode(key.as_bytes()))),
        (&[Code::KeyIsPrivate], Box::new(private)),
        (&[Code::KeyIsPrivate], Box::new(|key| STANDARD.encode(key.to_keypair_bytes()))),
        (&[Code::KeyPem, Code::KeyIsPrivate], Box::new(|key| pem("PRIVATE", &private(key)))),
        (&[Code::KeyIsPrivate], Box::new(|key| pem("OPENSSH PRIVATE", &openssh(key)))),
        (&[Code::KeyIsPrivate], Box::new(jwk)),
        (&[Code::KeyIsPrivate], Box::new(|key| json::write(&pair(key)))),
        (&[Code::KeyIsPrivate], Box::new(|key| base58(&pair(key)))),
        (&[Code::KeyIsPrivate], Box::new(|key| format!("ed25519:{}\n", base58(&pair(key))))),
        (
            &[Code::KeyBase64url],
            Box::new(|key| STANDARD.encode(key.verifying_key().as_bytes()) + "\u{200b}"),
        ),
        (
            &[Code::KeyBase64url],
            Box::new(|key| STANDARD_NO_PAD.encode(key.verifying_key().as_bytes()) + "\u{a0}"),
        ),
    ];
    for (expected, form) in forms {
        // In an application the key is part of the signed text, in either encoding.
        for signed_as_sent in [true, false] {
            let mut runner = hundred();
            runner
                .run(&application(), |mut case| {
                    let good = case.canonical();
                    *case.field("publicKey") = json::write(&form(&case.key));
                    let message = if signed_as_sent { case.canonical() } else { good.clone() };
                    let body = case.signing(message);
                    prop_assert_eq!(codes(&body, None), expected, "{}", object(&body));
                    let read = SignedBody::read(object(&body).as_bytes()).unwrap();
                    prop_assert_eq!(diagnose(&read, None).unwrap().canonical, Some(good));
                    Ok(())
                })
                .unwrap();
        }
    }
}

/// A JWK of another curve may have an `x` of as many bytes.
#[test]
fn key_of_another_curve_is_no_form_of_a_key() {
    hundred()
        .run(&application(), |mut case| {
            let x = URL_SAFE_NO_PAD.encode(case.key.verifying_key().as_bytes());
            let jwk = format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{x}"}}"#);
            let message = case.canonical();
            *case.field("publicKey") = json::write(&jwk);
            let body = case.signing(message);
            prop_assert!(!codes(&body, None).contains(&Code::KeyBase64url), "{}", object(&body));
            Ok(())
        })
        .unwrap();
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap().to_be_bytes()
}

/// The base58 of Bitcoin.
fn base58(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let (mut number, mut digits) = (bytes.to_vec(), Vec::new());
    while number.iter().any(|byte| *byte > 0) {
        let mut rest = 0;
        for byte in &mut number {
            let value = rest * 256 + u32::from(*byte);
            (*byte, rest) = (u8::try_from(value / 58).unwrap(), value % 58);
        }
        digits.push(DIGITS[rest as usize]);
    }
    digits.extend(bytes.iter().take_while(|byte| **byte == 0).map(|_| b'1'));
    digits.iter().rev().copied().map(char::from).collect()
}

/// Asserts that only this fault of the key is named where another key signed.
#[track_caller]
fn names_fault_of_key(text: &str, fault: &str, mut runner: TestRunner) {
    let ran = runner.run(&application(), |mut case| {
        *case.field("publicKey") = json::write(text);
        // Signed with a key that has nothing to do with these bytes.
        let body = object(&case.signing(case.canonical()));
        let diagnosis = diagnose(&SignedBody::read(body.as_bytes()).unwrap(), None).unwrap();
        prop_assert_eq!(diagnosis.canonical, Some(case.canonical()));
        let codes: Vec<_> = diagnosis.findings.iter().map(|it| it.code).collect();
        prop_assert_eq!(codes, [Code::InvalidField], "{}", text);
        let message = &diagnosis.findings[0].message;
        let is_named = message.starts_with("publicKey: ") && message.contains(fault);
        prop_assert!(is_named, "{}", message);
        Ok(())
    });
    ran.unwrap();
}

/// A private key is recognised in the forms of other programs, but only a signature by it proves that it is in use.
#[test]
fn private_keys_of_other_programs_are_named_by_their_form() {
    let other = SigningKey::from_bytes(&[3; 32]);
    let pair = other.to_keypair_bytes().to_vec();
    let jwk = format!(r#"{{"d":"{}"}}"#, URL_SAFE_NO_PAD.encode(other.as_bytes()));
    for text in [base58(&pair), json::write(&pair), STANDARD.encode(&pair), jwk] {
        names_fault_of_key(&text, "the form of a private key", runner(3));
    }
    for text in [json::write(&vec![7; 64]), r#"{"d":"AAAA"}"#.to_owned(), "1".repeat(80)] {
        names_fault_of_key(&text, "must be base64 of the 32 raw bytes", runner(3));
    }
}

/// What nothing proves is not reported: any 32 bytes can be read as a private key.
#[test]
fn key_is_private_only_if_the_signature_proves_it() {
    const PKCS8: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let pem = |bytes: &[u8]| {
        let inside = STANDARD.encode(bytes);
        format!("-----BEGIN PRIVATE KEY-----\n{inside}\n-----END PRIVATE KEY-----\n")
    };
    let mut identity = [0; 32];
    identity[0] = 1;
    let points = [[0; 32], [0xff; 32], identity];
    let points = points.map(|raw| [STANDARD.encode(raw), hex(&raw), pem(&raw)]);
    let of_points = points.into_iter().flatten().map(|text| (text, "no valid point"));
    let wrapped = [PKCS8, &[0; 32]].concat();
    let others = [
        (STANDARD.encode(&wrapped), "the form of a private key"),
        (pem(&wrapped), "the form of a private key"),
        (STANDARD.encode([7; 64]), "must be base64 of the 32 raw bytes"),
        (STANDARD.encode([7; 31]), "must be base64 of the 32 raw bytes"),
        ("my key".to_owned(), "must be base64 of the 32 raw bytes"),
    ];
    for (text, fault) in of_points.chain(others) {
        names_fault_of_key(&text, fault, hundred());
    }
    // Neither is a key that is a point.
    names(&[Code::Unknown], application(), |mut case| {
        let other = SigningKey::from_bytes(&[9; 32]);
        let key = STANDARD.encode(other.verifying_key().as_bytes());
        *case.field("publicKey") = json::write(&key);
        Some((case.signing(case.canonical()), other))
    });
}

#[test]
fn other_payload() {
    names_text(Code::OtherPayload, claim(), |case| {
        serde_json::from_str(&case.fields[1].1).unwrap()
    });
    // As `echo "$challenge"` prints it.
    names(&[Code::OtherPayload, Code::TrailingNewline], claim(), |case| {
        let challenge: String = serde_json::from_str(&case.fields[1].1).unwrap();
        Some((case.signing(format!("{challenge}\n")), case.key))
    });
    names_text(Code::OtherPayload, claim(), |case| {
        let challenge: String = serde_json::from_str(&case.fields[1].1).unwrap();
        *case.field("challenge") = json::write(&format!("https://acme.example {challenge}"));
        challenge.rsplit(' ').next().unwrap().to_owned()
    });
    names(
        &[Code::OtherPayload],
        (take(), claim()).prop_map(|(mut take, claim)| {
            *take.field("memberId") = claim.fields[0].1.clone();
            take.fields.extend(claim.fields.into_iter().skip(1));
            take
        }),
        |case| {
            let claim = ["memberId", "challenge", "expiresAt"];
            let message =
                case.fields.iter().filter(|(key, _)| claim.contains(key)).cloned().collect();
            Some((case.signing(object(&message)), case.key))
        },
    );
}

#[test]
fn other_key() {
    names(&[Code::OtherKey], prop_oneof![take(), claim()], |case| {
        let mut body = case.signing(case.canonical());
        body.push(("publicKey", json::write(&case.public_key())));
        Some((body, SigningKey::from_bytes(&[9; 32])))
    });
}

#[test]
fn unknown() {
    names(&[Code::Unknown], any_kind(), |case| Some((case.signing("something else"), case.key)));
    names(&[Code::Unknown], any_kind(), |case| Some((case.signed("no signature"), case.key)));
}

#[test]
fn codes_are_unique() {
    let names: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
}

#[test]
fn signature_in_base64_of_hexadecimal_is_named() {
    let ran = hundred().run(&application(), |case| {
        let signature = case.key.sign(case.canonical().as_bytes()).to_bytes();
        let body = case.signed(&STANDARD.encode(hex(&signature)));
        prop_assert_eq!(codes(&body, None), [Code::SignatureHex]);
        Ok(())
    });
    ran.unwrap();
}

/// What other protocols and programs write around or in place of the base64.
#[test]
fn signatures_of_other_programs_are_named() {
    type Form = fn(&[u8]) -> String;
    let forms: [(&[Code], Form); 19] = [
        (&[Code::SignatureHex], |raw| separated(raw, ":")),
        // BitConverter.ToString of .NET.
        (&[Code::SignatureHex], |raw| separated(raw, "-").to_uppercase()),
        (&[Code::SignatureWhitespace, Code::SignatureHex], |raw| separated(raw, " ")),
        (&[Code::SignatureWhitespace], |raw| format!("ed25519:{}", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| format!(":{}:", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| format!("v1,{}", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| format!("`{}`", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| format!("\u{201c}{}\u{201d}", STANDARD.encode(raw))),
        (&[Code::SignatureWhitespace], |raw| STANDARD.encode(raw) + ","),
        (&[Code::SignatureWhitespace], |raw| STANDARD.encode(raw) + "\\n"),
        (&[Code::SignatureWhitespace], |raw| {
            let text = STANDARD.encode(raw).replace('+', "&#43;");
            text.replace('/', "&#x2F;").replace('=', "&#61;")
        }),
        (&[Code::SignatureWhitespace], |raw| {
            let text = STANDARD.encode(raw).replace('+', "\\u002B");
            text.replace('/', "\\/").replace('=', "\\u003d")
        }),
        (&[Code::SignatureEncoding], |raw| format!("ed25519:{}", base58(raw))),
        (&[Code::SignatureEncoding], members),
        (&[Code::SignatureEncoding], |raw| members(raw).replace(',', ",\n  ").replace(':', ": ")),
        (&[Code::SignatureEncoding], buffer),
        (&[Code::SignatureEncoding], |raw| STANDARD.encode(json::write(raw))),
        // Java, whose bytes are signed.
        (&[Code::SignatureEncoding], |raw| {
            json::write(&raw.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>())
        }),
        // Go.
        (&[Code::SignatureEncoding], |raw| json::write(raw).replace(',', " ")),
    ];
    for (codes, form) in forms {
        names(codes, any_kind(), |case| {
            let raw = case.key.sign(case.canonical().as_bytes()).to_bytes();
            Some((case.signed(&form(&raw)), case.key))
        });
    }
}

/// An encoding is reported without a proof only where the text has no other.
#[test]
fn encoding_of_a_signature_that_proves_nothing_is_named_if_it_is_the_only_one() {
    names(&[Code::SignatureHex, Code::Unknown], any_kind(), |case| {
        let raw = case.key.sign(b"another text").to_bytes();
        Some((case.signed(&separated(&raw, "-")), case.key))
    });
    // More than 64 bytes may be anything.
    names(&[Code::Unknown], any_kind(), |case| {
        let raw = case.key.sign(b"another text").to_bytes();
        Some((case.signed(&hex(&[&raw[..], b"and more"].concat())), case.key))
    });
}

#[test]
fn keys_of_other_programs_are_named() {
    fn public(key: &SigningKey) -> [u8; 32] {
        key.verifying_key().to_bytes()
    }
    fn multikey(prefix: [u8; 2], raw: &[u8]) -> String {
        format!("z{}", base58(&[&prefix[..], raw].concat()))
    }
    fn jwk(key: &SigningKey) -> String {
        format!(r#"{{"kty":"OKP","x":"{}"}}"#, URL_SAFE_NO_PAD.encode(public(key)))
    }
    fn pem(inside: &[u8]) -> String {
        let inside = STANDARD.encode(inside);
        format!("-----BEGIN PRIVATE KEY-----\n{inside}\n-----END PRIVATE KEY-----\n")
    }
    /// PKCS #8 of version 2, with its public key.
    fn second_version(key: &SigningKey, attributes: &[u8], before_public: &[u8]) -> Vec<u8> {
        const START: &[u8] = b"\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
        let inside = [START, key.as_bytes(), attributes, before_public, &public(key)].concat();
        [&[0x30, u8::try_from(inside.len()).unwrap()][..], &inside[..]].concat()
    }
    /// The attributes of the example of RFC 8410, 10.3.
    const ATTRIBUTES: &[u8] =
        b"\xa0\x1f\x30\x1d\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x09\x09\x14\x31\x0f\x0c\x0dCurdle Chairs";
    type Form = fn(&SigningKey) -> String;
    let forms: [(&[Code], Form); 27] = [
        (&[Code::KeyDer], |key| {
            STANDARD.encode([&b"Ed\x07\x06\x05\x04\x03\x02\x01\0"[..], &public(key)].concat())
        }),
        (&[Code::KeyDer], |key| {
            STANDARD
                .encode([&b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20"[..], &public(key)].concat())
        }),
        (&[Code::KeyDer], |key| {
            let inside = [&b"\0\0\0\x0bssh-ed25519\0\0\0\x20"[..], &public(key)].concat();
            let inside = STANDARD.encode(inside);
            format!(
                "---- BEGIN SSH2 PUBLIC KEY ----\nComment: \"ada\"\n{inside}\n---- END SSH2 PUBLIC KEY ----\n"
            )
        }),
        (&[Code::KeyEncoding, Code::KeyDer], |key| {
            format!("did:key:{}", multikey([0xed, 1], &public(key)))
        }),
        (&[Code::KeyEncoding, Code::KeyDer], |key| multikey([0xed, 1], &public(key))),
        (&[Code::KeyEncoding], |key| base58(&public(key))),
        (&[Code::KeyEncoding], |key| format!("ed25519:{}", base58(&public(key)))),
        (&[Code::KeyBase64url], |key| format!("ed25519:{}", STANDARD.encode(public(key)))),
        (&[Code::KeyEncoding], |key| STANDARD.encode(STANDARD.encode(public(key)))),
        (&[Code::KeyEncoding], |key| json::write(&public(key)[..])),
        (&[Code::KeyEncoding], |key| members(&public(key))),
        (&[Code::KeyEncoding], |key| buffer(&public(key))),
        (&[Code::KeyHex], |key| separated(&public(key), ":")),
        (&[Code::KeyBase64url], jwk),
        (&[Code::KeyBase64url], |key| format!(r#"{{"keys":[{}]}}"#, jwk(key))),
        (&[Code::KeyBase64url], |key| STANDARD.encode(jwk(key))),
        (&[Code::KeyPem, Code::KeyIsPrivate], |key| pem(&second_version(key, b"", b"\x81\x21\0"))),
        // As `ring` writes it.
        (&[Code::KeyPem, Code::KeyIsPrivate], |key| {
            pem(&second_version(key, b"", b"\xa1\x23\x03\x21\0"))
        }),
        (&[Code::KeyPem, Code::KeyIsPrivate], |key| {
            pem(&second_version(key, ATTRIBUTES, b"\x81\x21\0"))
        }),
        (&[Code::KeyIsPrivate], |key| {
            STANDARD.encode(second_version(key, b"", b"\xa1\x23\x03\x21\0"))
        }),
        (&[Code::KeyIsPrivate], |key| {
            STANDARD.encode(second_version(key, ATTRIBUTES, b"\x81\x21\0"))
        }),
        (&[Code::KeyIsPrivate], |key| json::write(&key.as_bytes()[..])),
        (&[Code::KeyIsPrivate], |key| members(key.as_bytes())),
        (&[Code::KeyIsPrivate], |key| buffer(key.as_bytes())),
        (&[Code::KeyIsPrivate], |key| base58(key.as_bytes())),
        (&[Code::KeyIsPrivate], |key| multikey([0x80, 0x26], key.as_bytes())),
        (&[Code::KeyHex, Code::KeyIsPrivate], |key| hex(key.as_bytes())),
    ];
    for (expected, form) in forms {
        for signed_as_sent in [true, false] {
            let mut runner = runner(30);
            runner
                .run(&application(), |mut case| {
                    let good = case.canonical();
                    *case.field("publicKey") = json::write(&form(&case.key));
                    let message = if signed_as_sent { case.canonical() } else { good };
                    let body = case.signing(message);
                    prop_assert_eq!(codes(&body, None), expected, "{}", object(&body));
                    Ok(())
                })
                .unwrap();
        }
    }
    let other = SigningKey::from_bytes(&[3; 32]);
    for text in [
        STANDARD.encode(second_version(&other, ATTRIBUTES, b"\x81\x21\0")),
        pem(&second_version(&other, b"", b"\xa1\x23\x03\x21\0")),
        multikey([0x80, 0x26], other.as_bytes()),
    ] {
        names_fault_of_key(&text, "the form of a private key", runner(3));
    }
}

/// 43 digits of base58 may be base64 without its padding as well.
#[test]
fn key_in_base58_that_may_be_base64_is_named_by_what_verifies() {
    let all =
        (0..10_000_u32).map(|at| SigningKey::from_bytes(&Sha256::digest(at.to_be_bytes()).into()));
    let read_as_base64 = |key: &SigningKey| {
        let raw = STANDARD_NO_PAD.decode(base58(key.verifying_key().as_bytes())).ok()?;
        let raw: [u8; 32] = raw.try_into().ok()?;
        Some(PublicKey::from_bytes(&raw).is_some())
    };
    let keys: Vec<_> = all.filter_map(|key| Some((read_as_base64(&key)?, key))).take(12).collect();
    let points: HashSet<_> = keys.iter().map(|(is_point, _)| *is_point).collect();
    assert_eq!((keys.len(), points.len()), (12, 2));
    for (is_point, key) in keys {
        let mut case = take_with("body", "", "0.7");
        let sent = ("publicKey", json::write(&base58(key.verifying_key().as_bytes())));
        let unproven = [&case.signing("another text")[..], std::slice::from_ref(&sent)].concat();
        case.key = key;
        let proven = [&case.signing(case.canonical())[..], &[sent]].concat();
        assert_eq!(codes(&proven, None), [Code::KeyEncoding]);
        let found = codes(&unproven, None);
        assert_eq!(found.contains(&Code::KeyEncoding), !is_point, "{found:?}");
        assert!(found.ends_with(&[Code::Unknown]) && !found.contains(&Code::KeyBase64url));
    }
}

/// Hexadecimal with this between the bytes.
fn separated(raw: &[u8], separator: &str) -> String {
    raw.iter().map(|byte| hex(&[*byte])).collect::<Vec<_>>().join(separator)
}

/// What `JSON.stringify` makes of a `Uint8Array`.
fn members(raw: &[u8]) -> String {
    let members = raw.iter().enumerate().map(|(at, byte)| format!("\"{at}\":{byte}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// What `JSON.stringify` makes of a `Buffer`.
fn buffer(raw: &[u8]) -> String {
    format!(r#"{{"type":"Buffer","data":{}}}"#, json::write(raw))
}
