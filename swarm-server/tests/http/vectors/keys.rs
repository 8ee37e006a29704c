//! Texts that are not valid public keys.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::json;
use swarm_core::domain::{Application, Contact, Lens, Name};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, fresh_key, signed_text};
use crate::vector_files::{own, records};

on_every_store! {
    invalid_public_keys_are_bad_signatures,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyText {
    id: String,
    public_key: String,
    expect: String,
}

fn invalid_public_keys_are_bad_signatures(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let texts: Vec<KeyText> = records(&own("interop/public_keys.jsonl"));
    let rejected: Vec<_> = texts.iter().filter(|text| text.expect == "reject").collect();
    assert_eq!(rejected.len(), 42);
    // R is the neutral point and S is zero: a lax verifier accepts this for keys of small order, each
    // with some of these names.
    let mut forged = [0; 64];
    forged[0] = 1;
    let forged = STANDARD.encode(forged);
    for text in rejected {
        for name in 0..8 {
            let name = format!("\u{7f}\u{2028}/ \"{} {name}\"", text.id);
            refused_application(&fixture, &name, &text.public_key, &forged);
        }
    }
    // A valid key in a wrong encoding, and a valid signature.
    for shape in 0..6 {
        let key = fresh_key();
        let good = key.public_key().to_string();
        let bytes = STANDARD.decode(&good).unwrap();
        let odd = match shape {
            0 => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            1 => URL_SAFE_NO_PAD.encode(&bytes),
            2 => good.trim_end_matches('=').to_owned(),
            3 => format!(" {good}"),
            4 => format!("{good}\n"),
            _ => format!("{good}="),
        };
        let signed = key.sign(Application {
            name: Name::parse("n").unwrap(),
            contact: Contact::parse("c").unwrap(),
            lens: Lens::parse("").unwrap(),
            public_key: odd.clone(),
        });
        assert_eq!(fixture.client.post("/api/swarm/apply", &[], &signed_text(&signed)).status, 400);
        refused_application(&fixture, "n", &odd, signed.signature.as_str());
    }
    let applications = fixture.client.send(
        "GET",
        "/api/swarm/admin/applications",
        &[("x-admin-token", ADMIN)],
        b"",
    );
    assert_eq!(applications.expect(200).json(), json!({ "applications": [] }));
}

fn refused_application(fixture: &Fixture, name: &str, key: &str, signature: &str) {
    let text = |text: &str| serde_json::to_string(text).unwrap();
    let canonical =
        format!(r#"{{"name":{},"contact":"c","lens":"","publicKey":{}}}"#, text(name), text(key));
    let body = json!({ "publicKey": key, "signature": signature, "contact": "c", "name": name });
    let answer = fixture.client.post("/api/swarm/apply", &[], &body.to_string()).expect(400);
    let expected = json!({
        "ok": false, "status": 400, "error": "signature verification failed",
        "expectedPayload": canonical,
    });
    assert_eq!(answer.json(), expected);
}
