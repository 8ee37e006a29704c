//! The door: hints, the doctor and the preflight.

use serde_json::{Value, json};

use crate::harness::{Answer, Author, Server, fresh_nonce, signed_text};

const DIAGNOSE: &str = "POST the same body to /api/swarm/diagnose";

fn hint(answer: &Answer) -> &str {
    answer.header("swarm-hint").unwrap_or_else(|| panic!("no hint: {answer:?}"))
}

/// A member, an open session, and the body of a take that would be filed in it.
fn scene() -> (Server, Author, Value) {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "ada");
    let signed = author.key.sign(author.draft("2026-11-21", "aurora"));
    let body = serde_json::from_str(&signed_text(&signed)).unwrap();
    (server, author, body)
}

fn with(body: &Value, field: &str, value: Value) -> String {
    let mut body = body.clone();
    body[field] = value;
    body.to_string()
}

#[test]
fn a_hint_names_the_field_and_what_was_sent() {
    let (server, author, body) = scene();
    let client = server.client();
    let submit = |body: &str| client.submit_text(&author, body).expect(400);
    let rule = "confidence: must be a number from 0 to 1, is 70";
    assert_eq!(hint(&submit(&with(&body, "confidence", json!(70)))), rule);
    assert_eq!(hint(&submit(&with(&body, "stance", Value::Null))), "stance: is missing");
    assert_eq!(hint(&submit(&with(&body, "body", json!("another")))), DIAGNOSE);
    assert!(hint(&submit("{")).starts_with("body: must be one JSON text"));
    let draft = client.post("/api/swarm/signing-payload", &[], &with(&body, "date", json!("x")));
    assert!(hint(&draft).starts_with("date: "), "{draft:?}");
    let open = |path: &str, body: &str| client.post(path, &[], body).expect(400);
    assert_eq!(hint(&open("/api/swarm/apply", "{}")), "name: is missing");
    assert_eq!(hint(&open("/api/swarm/token-claim", "{}")), "memberId: is missing");
    let application = json!({ "name": "A", "contact": "a", "publicKey": "", "signature": "" });
    assert_eq!(hint(&open("/api/swarm/apply", &application.to_string())), DIAGNOSE);
    let memo = client.post("/api/swarm/memos", &[("authorization", &author.bearer())], "{}");
    assert_eq!(hint(&memo), "title: is missing");
}

#[test]
fn hostile_text_in_a_hint_breaks_no_header() {
    let (server, author, body) = scene();
    let client = server.client();
    let hostile = "\r\nSet-Cookie: a=b\r\n\r\n<script>\u{0}\u{7f}\u{9b}\u{2028}\u{1f680}";
    for field in ["memberId", "date", "subjectId", "nonce", "stance", "body", "memoUrl"] {
        let text = hostile.repeat(400);
        let answer = client.submit_text(&author, &with(&body, field, json!(text))).expect(400);
        assert!(answer.header("set-cookie").is_none());
        let hint = hint(&answer);
        assert!(hint.starts_with(&format!("{field}: ")) && hint.len() < 400, "{hint}");
        assert!(hint.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{hint}");
    }
}

#[test]
fn the_doctor_says_what_was_signed() {
    let (server, author, body) = scene();
    let client = server.client();
    let diagnose = |body: &str| client.post("/api/swarm/diagnose", &[], body);
    let well = diagnose(&body.to_string()).expect(200).json();
    assert_eq!((&well["kind"], &well["verified"]), (&json!("take"), &json!(true)));
    assert_eq!(well["findings"], json!([]));

    // By the registered key, whatever key is sent beside it.
    let mut wrong: Value =
        serde_json::from_str(&with(&body, "signature", json!("ab".repeat(64)))).unwrap();
    wrong["publicKey"] = json!(author.key.public_key());
    let ill = diagnose(&wrong.to_string()).expect(200).json();
    assert_eq!(ill["verified"], false);
    assert_eq!(ill["canonical"], well["canonical"]);
    let codes: Vec<_> = ill["findings"].as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["signature-hex", "unknown"]);

    let stranger = with(&body, "memberId", json!("nobody"));
    let none = diagnose(&stranger).expect(400);
    assert_eq!(hint(&none), "publicKey: is missing");
    none.unread(400, "invalid diagnosis");
    diagnose("{}").unread(400, "invalid diagnosis");
    diagnose("[").unread(400, "invalid json body");
    // Nothing was kept, and the take can still be filed.
    client.submit_text(&author, &body.to_string()).expect(201);
}

#[test]
fn a_preflight_names_all_that_would_refuse_a_take_and_spends_nothing() {
    let (server, author, body) = scene();
    let client = server.client();
    let bearer = author.bearer();
    let preflight =
        |body: &str| client.post("/api/swarm/preflight", &[("authorization", &bearer)], body);
    let ready = json!({ "ok": true, "sessionId": 1, "revision": 1, "windowClosesAt": null, "millisLeft": null, "findings": [] });
    assert_eq!(preflight(&body.to_string()).expect(200).json(), ready);
    assert_eq!(preflight(&body.to_string()).expect(200).json(), ready);
    let broken = preflight(&with(&body, "confidence", json!(70))).expect(200).json();
    assert_eq!(
        broken["findings"],
        json!([{ "status": 400, "error": "invalid submission", "detail": "confidence must be a number from 0 to 1" }])
    );
    assert_eq!(broken["sessionId"], 1);
    client.submit_text(&author, &body.to_string()).expect(201);
    let again = preflight(&with(&body, "stance", json!("bearish"))).expect(200).json();
    let errors: Vec<_> =
        again["findings"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!((errors, &again["revision"]), (vec![&json!(400), &json!(409)], &json!(2)));

    let nowhere = preflight(&with(&body, "subjectId", json!("nowhere"))).expect(200).json();
    assert_eq!(
        (&nowhere["ok"], &nowhere["sessionId"], &nowhere["revision"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    let unknown = [("authorization", "Bearer tok_x")];
    client
        .post("/api/swarm/preflight", &unknown, &body.to_string())
        .refused(401, "unknown member token");
    client
        .post("/api/swarm/preflight", &[], &body.to_string())
        .refused(401, "missing bearer token");
}

/// Turns are few: whoever comes beyond them is told to wait, and honest requests are not held up.
#[test]
fn parallel_diagnoses_are_bounded() {
    let (server, _, body) = scene();
    let ill = with(&body, "nonce", json!(fresh_nonce()));
    let statuses: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..64)
            .map(|_| {
                let (client, ill) = (server.client(), &ill);
                scope.spawn(move || {
                    let answer = client.post("/api/swarm/diagnose", &[], ill);
                    let wait = answer.header("retry-after").map(str::to_owned);
                    assert_eq!(answer.status == 503, wait.is_some(), "{answer:?}");
                    answer.status
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
}
