//! Diagnosis of common mistakes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod codes;
mod dialects;
mod encoders;
mod fields;
mod honesty;
mod outputs;
mod serializers;
mod together;
mod writers;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use proptest::prelude::*;
use swarm_core::json;

/// The members of an object, each with its JSON text.
type Fields = Vec<(&'static str, String)>;

/// A payload and its signing key.
#[derive(Clone, Debug)]
struct Case {
    fields: Fields,
    key: SigningKey,
}

impl Case {
    fn canonical(&self) -> String {
        object(&self.fields)
    }

    fn field(&mut self, name: &str) -> &mut String {
        &mut self.fields.iter_mut().find(|(key, _)| *key == name).unwrap().1
    }

    fn public_key(&self) -> String {
        STANDARD.encode(self.key.verifying_key().as_bytes())
    }

    /// The request with a signature over these bytes.
    fn signing(&self, message: impl AsRef<[u8]>) -> Fields {
        self.signed(&STANDARD.encode(self.key.sign(message.as_ref()).to_bytes()))
    }

    /// The request with this signature.
    fn signed(&self, signature: &str) -> Fields {
        let mut body = self.fields.clone();
        body.push(("signature", json::write(signature)));
        body
    }
}

/// Compact JSON of these members, in this order.
fn object(fields: &Fields) -> String {
    let members: Vec<_> =
        fields.iter().map(|(key, value)| format!("{}:{value}", json::write(*key))).collect();
    format!("{{{}}}", members.join(","))
}

fn text(longest: usize) -> impl Strategy<Value = String> {
    let any = proptest::collection::vec(any::<char>(), 1..longest);
    prop_oneof![
        any.prop_map(|chars| chars.into_iter().collect()),
        "[a-z \"\\\\\n/<é\u{1f680}]{1,12}"
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(0.7), Just(1e-7), 0.0..1.0]
}

fn weights() -> impl Strategy<Value = String> {
    let share = prop_oneof![number(), Just(1e21), 0.0..1e6];
    let entries = proptest::collection::btree_map(text(6), share, 2..6);
    entries.prop_filter("a positive total", |map| map.values().sum::<f64>() > 0.0).prop_map(|map| {
        // Sorted neither by name nor by weight, in either direction.
        let mut list: Vec<_> = map.into_iter().collect();
        let half = list.len() / 2;
        list.rotate_left(half);
        let entries = list.iter().map(|(bucket, weight)| {
            format!("{{\"bucket\":{},\"weight\":{}}}", json::write(bucket), json::write(weight))
        });
        format!("[{}]", entries.collect::<Vec<_>>().join(","))
    })
}

fn key() -> impl Strategy<Value = SigningKey> {
    any::<[u8; 32]>().prop_map(|seed| SigningKey::from_bytes(&seed))
}

/// Any take.
fn take() -> impl Strategy<Value = Case> {
    let texts = (text(20), text(20), text(20), text(20), text(60), text(20));
    let rest = (number(), proptest::option::of(weights()), key());
    (texts, rest).prop_map(
        |((member, subject, nonce, stance, body, memo), (confidence, weights, key))| {
            let string = |text: &String| json::write(text);
            let mut fields = vec![
                ("memberId", string(&member)),
                ("date", "\"2026-11-21\"".to_owned()),
                ("subjectId", string(&subject)),
                ("nonce", string(&nonce)),
                ("stance", string(&stance)),
                ("confidence", json::write(&confidence)),
                ("body", string(&body)),
                ("memoUrl", string(&memo)),
            ];
            fields.extend(weights.map(|weights| ("weights", weights)));
            Case { fields, key }
        },
    )
}

/// Any application.
fn application() -> impl Strategy<Value = Case> {
    (text(20), text(20), text(20), key()).prop_map(|(name, contact, lens, key)| {
        let public = STANDARD.encode(key.verifying_key().as_bytes());
        let fields = vec![
            ("name", json::write(&name)),
            ("contact", json::write(&contact)),
            ("lens", json::write(&lens)),
            ("publicKey", json::write(&public)),
        ];
        Case { fields, key }
    })
}

/// A take with this body, this URL of its memo and this confidence, and no weights.
fn take_with(body: &str, memo: &str, confidence: &str) -> Case {
    let fields = [
        ("memberId", json::write("ada")),
        ("date", json::write("2026-11-21")),
        ("subjectId", json::write("aurora")),
        ("nonce", json::write("n-1")),
        ("stance", json::write("bullish")),
        ("confidence", confidence.to_owned()),
        ("body", json::write(body)),
        ("memoUrl", json::write(memo)),
    ];
    Case { fields: fields.into(), key: SigningKey::from_bytes(&[5; 32]) }
}

/// Any token claim.
fn claim() -> impl Strategy<Value = Case> {
    (text(20), text(40), text(20), key()).prop_map(|(member, challenge, expires, key)| {
        let fields = vec![
            ("memberId", json::write(&member)),
            ("challenge", json::write(&challenge)),
            ("expiresAt", json::write(&expires)),
        ];
        Case { fields, key }
    })
}
