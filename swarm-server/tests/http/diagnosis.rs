//! Hints, diagnosis of signatures, and preflight.

use serde_json::{Value, json};
use swarm_http::{PublicOrigin, Site};
use swarm_store_memory::MemoryStore;

use crate::harness::{
    ADMIN, Answer, Author, Client, Server, fresh_nonce, services, signed_text, tenant,
};

/// The hint for an unknown session.
const OPEN: &str = "open now: 2026-11-21/aurora";

const DIAGNOSE: &str = "POST the same body to /api/swarm/diagnose";

pub fn hint(answer: &Answer) -> &str {
    answer.header("swarm-hint").unwrap_or_else(|| panic!("no hint: {answer:?}"))
}

/// A member, an open session, and the body of a valid take for it.
pub fn scene() -> (Server, Author, Value) {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, "ada");
    let signed = author.key.sign(author.draft("2026-11-21", "aurora"));
    let body = serde_json::from_str(&signed_text(&signed)).unwrap();
    (server, author, body)
}

pub fn with(body: &Value, field: &str, value: Value) -> String {
    let mut body = body.clone();
    body[field] = value;
    body.to_string()
}

#[test]
fn hint_names_the_field_and_what_was_sent() {
    let (server, author, body) = scene();
    let client = server.client();
    let submit = |body: &str| client.submit_text(&author, body).expect(400);
    let rule = "confidence: must be a number from 0 to 1, is 70";
    assert_eq!(hint(&submit(&with(&body, "confidence", json!(70)))), rule);
    assert_eq!(hint(&submit(&with(&body, "stance", Value::Null))), "stance: is missing");
    assert_eq!(hint(&submit(&with(&body, "body", json!("another")))), DIAGNOSE);
    let fault = "body: must be one JSON text in UTF-8, see line 2, column 3";
    assert_eq!(hint(&submit("{\n  x}")), fault);
    let twice = "body: must be one JSON text in UTF-8, the key \"stance\" occurs twice";
    assert_eq!(hint(&submit(r#"{"stance":"a","stance":"b"}"#)), twice);
    assert_eq!(hint(&client.post("/api/swarm/apply", &[], "{\n  x}").expect(400)), fault);
    let draft = client.post("/api/swarm/signing-payload", &[], &with(&body, "date", json!("x")));
    assert!(hint(&draft).starts_with("date: "), "{draft:?}");
    let open = |path: &str, body: &str| client.post(path, &[], body).expect(400);
    assert_eq!(hint(&open("/api/swarm/apply", "{}")), "name: is missing");
    assert_eq!(hint(&open("/api/swarm/token-claim", "{}")), "memberId: is missing");
    let application = json!({ "name": "A", "contact": "a", "publicKey": "", "signature": "" });
    let unkeyed = open("/api/swarm/apply", &application.to_string());
    assert!(
        hint(&unkeyed).starts_with("publicKey: must be base64 of the 32 raw bytes"),
        "{unkeyed:?}"
    );
    assert!(hint(&unkeyed).ends_with(DIAGNOSE), "{unkeyed:?}");
    let key = author.key.public_key().to_string();
    let forged = json!({ "name": "A", "contact": "a", "publicKey": key, "signature": "" });
    assert_eq!(hint(&open("/api/swarm/apply", &forged.to_string())), DIAGNOSE);
    let memo = client.post("/api/swarm/memos", &[("authorization", &author.bearer())], "{}");
    assert_eq!(hint(&memo), "title: is missing");
}

#[test]
fn hostile_text_in_a_hint_is_escaped_in_headers() {
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
fn diagnosis_says_what_was_signed() {
    let (server, author, body) = scene();
    let client = server.client();
    let diagnose = |body: &str| client.post("/api/swarm/diagnose", &[], body);
    let well = diagnose(&body.to_string()).expect(200).json();
    assert_eq!((&well["kind"], &well["verified"]), (&json!("take"), &json!(true)));
    assert_eq!(well["findings"], json!([]));

    // The registered key is used, even if another is sent.
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
    let unsigned = diagnose(&with(&body, "signature", Value::Null)).expect(200).json();
    assert_eq!((&unsigned["kind"], &unsigned["verified"]), (&json!("take"), &json!(false)));
    let missing = json!([{ "code": "invalid-field", "message": "signature: is missing" }]);
    assert_eq!((&unsigned["findings"], &unsigned["canonical"]), (&missing, &well["canonical"]));
    let stance = diagnose(r#"{ "stance": "neutral" }"#).expect(200).json();
    assert_eq!((&stance["kind"], &stance["canonical"]), (&json!("take"), &Value::Null));
    diagnose("[").unread(400, "invalid json body");
    // Nothing was stored, and the take can still be filed.
    client.submit_text(&author, &body.to_string()).expect(201);
}

#[test]
fn preflight_names_all_refusals_and_spends_no_nonce() {
    let (server, author, body) = scene();
    let client = server.client();
    let bearer = author.bearer();
    let preflight =
        |body: &str| client.post("/api/swarm/preflight", &[("authorization", &bearer)], body);
    let ready = json!({
        "ok": true, "sessionId": 1, "revision": 1, "takesLeft": 4, "windowClosesAt": null,
        "millisLeft": null, "findings": [], "warnings": [],
    });
    assert_eq!(preflight(&body.to_string()).expect(200).json(), ready);
    assert_eq!(preflight(&body.to_string()).expect(200).json(), ready);
    let broken = preflight(&with(&body, "confidence", json!(70))).expect(200).json();
    assert_eq!(
        broken["findings"],
        json!([{
            "status": 400, "error": "invalid submission", "code": "invalid-submission",
            "detail": "confidence must be a number from 0 to 1",
        }])
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
    let absent = &nowhere["findings"][0];
    assert_eq!((&absent["code"], &absent["detail"]), (&json!("no-session"), &json!(OPEN)));
    let forged = preflight(&with(&body, "body", json!("another"))).expect(200).json();
    assert_eq!(forged["findings"][0]["detail"], DIAGNOSE);
    let unknown = [("authorization", "Bearer tok_x")];
    client
        .post("/api/swarm/preflight", &unknown, &body.to_string())
        .refused(401, "unknown member token");
    client
        .post("/api/swarm/preflight", &[], &body.to_string())
        .refused(401, "missing bearer token");
}

/// Permits are few: requests beyond them are throttled, and do not delay others.
#[test]
fn concurrent_diagnoses_are_limited() {
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

/// A session with buckets, a member, and the body of a take with these fields in place of others, signed.
fn signed_take(client: &Client, author: &Author, fields: Value, more: Value) -> String {
    client.convene("2026-11-21", "aurora");
    let session = json!({ "date": "2026-11-22", "subjectId": "aurora", "buckets": ["btc", "eth"] });
    client.operate("/sessions", &session).expect(201);
    let weights = json!([{ "bucket": "btc", "weight": 1 }]);
    let mut whole = json!({ "date": "2026-11-22", "subjectId": "aurora", "weights": weights });
    whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let signed = author.key.sign(author.draft_of(whole));
    let mut body: Value = serde_json::from_str(&signed_text(&signed)).unwrap();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body.to_string()
}

/// What a memoUrl that leads to this service names must exist, for its author at least.
#[test]
fn memo_url_is_warned_of_unless_the_memo_exists() {
    let mut default = tenant("default", ADMIN, &[]);
    default.public_origin = Some(PublicOrigin::parse("https://desk.example").unwrap());
    let server = Server::of(Site::single(services(&MemoryStore::new()), default));
    let client = server.client();
    let author = Author::join(&client, "ada");
    client.convene("2026-11-21", "aurora");
    let bearer = author.bearer();
    let memo = r#"{"title":"t","body":"b"}"#;
    client.post("/api/swarm/memos", &[("authorization", &bearer)], memo).expect(201);
    for (url, is_known) in [
        ("/swarm/memos/1", true),
        ("/swarm/memos/1#part", true),
        ("https://elsewhere.example/swarm/memos/9", true),
        ("//elsewhere.example/swarm/memos/9", true),
        ("", true),
        ("/swarm/memos/01", false),
        ("/swarm/memos/2", false),
        ("/memos/1", false),
        ("https://desk.example/swarm/memos/1", true),
        ("https://desk.example/swarm/memos/1?part#end", true),
        ("https://desk.example/swarm/memos/9", false),
        ("https://desk.example/swarm/memos/", false),
        // Other pages of the host, and other hosts.
        ("https://desk.example/research/9", true),
        ("https://desk.example", true),
        ("https://desk.example.org/swarm/memos/9", true),
    ] {
        let draft =
            author.draft_of(json!({ "date": "2026-11-21", "subjectId": "aurora", "memoUrl": url }));
        let body = signed_text(&author.key.sign(draft));
        let flight = client.post("/api/swarm/preflight", &[("authorization", &bearer)], &body);
        let warnings = flight.expect(200).json()["warnings"].clone();
        let codes: Vec<_> = warnings.as_array().unwrap().iter().map(|it| &it["code"]).collect();
        assert_eq!(codes.is_empty(), is_known, "{url}: {codes:?}");
    }
}

/// Whoever is not on the roster is told since when it stands, and where it can file.
#[test]
fn finding_of_a_member_off_the_roster_names_sessions_without_one() {
    let server = Server::start();
    let client = server.client();
    let (ada, bob) = (Author::join(&client, "ada"), Author::join(&client, "bob"));
    client.convene("2026-11-21", "aurora");
    let roster = json!([{ "memberId": ada.id }]);
    let session = json!({ "date": "2026-11-22", "subjectId": "aurora", "roster": roster });
    client.operate("/sessions", &session).expect(201);
    let draft = bob.draft_of(json!({ "date": "2026-11-22", "subjectId": "aurora" }));
    let body = signed_text(&bob.key.sign(draft));
    let flight = client.post("/api/swarm/preflight", &[("authorization", &bob.bearer())], &body);
    let flight = flight.expect(200).json();
    assert_eq!(flight["findings"][0]["code"], "not-on-roster");
    let detail = flight["findings"][0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("the roster stands since 20"), "{detail}");
    assert!(detail.ends_with("; open now without a roster: 2026-11-21/aurora"), "{detail}");
}

/// Preflight and submit warn of a take that will not count as its fields suggest.
#[test]
fn take_that_will_not_count_is_warned_of() {
    let weights =
        json!({ "weights": [{ "bucket": "BTC", "weight": 1 }, { "bucket": "eth", "weight": 1 }] });
    for (fields, more, code, said) in [
        (
            json!({ "stance": "Bullish" }),
            json!({}),
            "unknown-stance",
            "stance: counts only if it is one of",
        ),
        (
            weights,
            json!({}),
            "unlisted-bucket",
            "weights: count only for the buckets of the session, not for \"BTC\"",
        ),
        (
            json!({}),
            json!({ "weight": 1 }),
            "unknown-field",
            "\"weight\": is not a field of a take and was not signed; weights is one",
        ),
        (
            json!({ "weights": null }),
            json!({}),
            "missing-weights",
            "weights: the session has buckets, and the take divides nothing among them",
        ),
        (
            json!({ "memoUrl": "/swarm/memos/7" }),
            json!({}),
            "unknown-memo",
            "memoUrl: leads to this service, where there is no such memo",
        ),
        (json!({}), json!({ "\u{202e}\r\nX: y": 1 }), "unknown-field", "\"\\u202e"),
    ] {
        let server = Server::start();
        let client = server.client();
        let author = Author::join(&client, "ada");
        let body = signed_take(&client, &author, fields, more);
        let bearer = author.bearer();
        let flight = client.post("/api/swarm/preflight", &[("authorization", &bearer)], &body);
        let flight = flight.expect(200).json();
        assert_eq!((&flight["ok"], &flight["findings"]), (&json!(true), &json!([])), "{code}");
        assert_eq!(flight["warnings"].as_array().unwrap().len(), 1, "{flight}");
        assert_eq!(flight["warnings"][0]["code"], code);
        let filed = client.submit_text(&author, &body).expect(201);
        assert!(hint(&filed).starts_with(said), "{filed:?}");
        assert_eq!(flight["warnings"][0]["message"], hint(&filed));
    }
}

/// It is no part of what is signed, and is not kept.
#[test]
fn unknown_field_of_a_weight_is_ignored() {
    let server = Server::start();
    let client = server.client();
    let author = Author::join(&client, "ada");
    let more = json!({ "weights": [{ "bucket": "btc", "weight": 1, "why": "fees" }] });
    let body = signed_take(&client, &author, json!({}), more);
    let filed = client.submit_text(&author, &body).expect(201);
    assert_eq!(filed.header("swarm-hint"), None);
    let weights = &client.get("/api/swarm/takes/1").json()["weights"];
    assert_eq!(*weights, json!([{ "bucket": "btc", "weight": 1 }]));
}

#[test]
fn first_take_after_aggregation_is_warned_of() {
    let (server, author, body) = scene();
    let client = server.client();
    for state in ["window_closed", "aggregated"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    let bearer = author.bearer();
    let body = body.to_string();
    let flight = client.post("/api/swarm/preflight", &[("authorization", &bearer)], &body);
    assert_eq!(flight.expect(200).json()["warnings"][0]["code"], "already-aggregated");
    let filed = client.submit_text(&author, &body).expect(201);
    assert!(hint(&filed).contains("not in the snapshot"), "{filed:?}");
}

#[test]
fn take_that_counts_has_no_hint() {
    let (server, author, body) = scene();
    let filed = server.client().submit_text(&author, &body.to_string()).expect(201);
    assert_eq!(filed.header("swarm-hint"), None);
}

#[test]
fn unknown_session_hint_lists_open_sessions() {
    let (server, author, body) = scene();
    let client = server.client();
    let nowhere = with(&body, "subjectId", json!("nowhere"));
    let submit = || client.submit_text(&author, &nowhere).expect(404);
    assert_eq!(hint(&submit()), OPEN);
    submit().refused(404, "no session for date/subject");
    for day in 22..26 {
        client.convene(&format!("2026-11-{day}"), "aurora");
    }
    assert!(hint(&submit()).ends_with("2026-11-21/aurora"), "{:?}", hint(&submit()));
    client.convene("2026-11-26", "aurora");
    let said = hint(&submit()).to_owned();
    assert_eq!(said.matches("/aurora").count(), 5, "{said}");
    assert!(said.ends_with(", and more: see /api/swarm/open-sessions"), "{said}");
    for session in 2..=6 {
        client.operate(&format!("/sessions/{session}/withdraw"), &json!({})).expect(200);
    }
    let close = json!({ "windowClosesAt": "2020-01-01T00:00:00Z" });
    let patch = serde_json::to_vec(&close).unwrap();
    let admin = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", "/api/swarm/admin/sessions/1", &admin, &patch).expect(200);
    assert_eq!(hint(&submit()), "no session is open now: see /api/swarm/open-sessions");
}

/// Not those that are closed, aggregated, or superseded by a newer one of their day and subject.
#[test]
fn open_sessions_lists_those_that_accept_first_takes() {
    let server = Server::start();
    let client = server.client();
    let convene = |fields: Value| {
        let answer = client.operate("/sessions", &fields).expect(201).json();
        answer["session"]["id"].as_u64().unwrap()
    };
    let open = || {
        let sessions = client.get("/api/swarm/open-sessions").expect(200).json();
        let ids = sessions["sessions"].as_array().unwrap().iter().map(|it| it["id"].as_u64());
        ids.collect::<Option<Vec<_>>>().unwrap()
    };
    client.convene("2026-11-21", "aurora");
    let newer = convene(json!({ "date": "2026-11-21", "subjectId": "aurora" }));
    let scheduled =
        convene(json!({ "date": "2026-11-22", "subjectId": "aurora", "state": "scheduled" }));
    let past = "2020-01-01T00:00:00Z";
    convene(json!({ "date": "2026-11-23", "subjectId": "aurora", "windowClosesAt": past }));
    let aggregated = convene(json!({ "date": "2026-11-24", "subjectId": "aurora" }));
    let closed = convene(json!({ "date": "2026-11-25", "subjectId": "aurora" }));
    let advance = |id: u64, state: &str| {
        client.operate(&format!("/sessions/{id}/state"), &json!({ "state": state })).expect(200);
    };
    advance(closed, "window_closed");
    assert_eq!(open(), [closed, aggregated, scheduled, newer]);
    advance(aggregated, "window_closed");
    advance(aggregated, "aggregated");
    assert_eq!(open(), [closed, scheduled, newer]);
}

#[test]
fn missing_brief_hint_says_why() {
    let (server, _, _) = scene();
    let client = server.client();
    for (query, said) in [
        ("session=1", "brief: not published yet"),
        ("session=7", "session: there is none with this id"),
        ("session=x", "session: there is none with this id"),
        ("date=2026-11-21&subject=aurora", "brief: none is published for this date and subject"),
    ] {
        let answer = client.get(&format!("/api/swarm/brief?{query}")).expect(200);
        assert_eq!(answer.text, "null");
        assert!(hint(&answer).starts_with(said), "{query}: {answer:?}");
    }
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    let published = client.get("/api/swarm/brief?session=1").expect(200);
    assert_eq!(published.header("swarm-hint"), None);
    assert_eq!(published.json()["body"]["subjectSnapshot"], Value::Null);
}

/// The latest snapshot not dated after the session, in the prompt too.
#[test]
fn brief_contains_the_snapshot_of_its_subject() {
    let (server, _, _) = scene();
    let client = server.client();
    for (date, value) in [("2026-11-20", 1.5), ("2026-11-21", 2.5), ("2026-11-22", 3.5)] {
        let snapshot = json!({ "date": date, "totalValueUsd": value });
        client.operate("/subjects/aurora/snapshots", &snapshot).expect(201);
    }
    let brief = client.operate("/sessions/1/brief", &json!({})).expect(201).json();
    let body = &brief["brief"]["body"];
    let snapshot = &body["subjectSnapshot"];
    assert_eq!(
        (&snapshot["date"], &snapshot["totalValueUsd"]),
        (&json!("2026-11-21"), &json!(2.5))
    );
    let user = body["prompt"]["user"].as_str().unwrap();
    assert!(
        user.contains(r#""totalValueUsd":2.5"#) && !user.contains(r#""totalValueUsd":3.5"#),
        "{user}"
    );
    let system = body["prompt"]["system"].as_str().unwrap();
    assert!(system.contains("\n- weights: if you wish"), "{system}");
}

#[test]
fn trailing_slash_hint() {
    let server = Server::start();
    let client = server.client();
    for path in ["/api/swarm/sessions/", "/api/swarm/brief/", "/skill.md/"] {
        let answer = client.get(path).expect(404);
        assert!(hint(&answer).starts_with("path: ends with a slash"), "{answer:?}");
    }
    assert_eq!(client.get("/api/swarm/session").expect(404).header("swarm-hint"), None);
}

#[test]
fn published_memo_has_a_location() {
    let (server, author, _) = scene();
    let client = server.client();
    let memo = json!({ "title": "t", "body": "b" }).to_string();
    let answer = client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo);
    let answer = answer.expect(201);
    assert_eq!(answer.header("location"), answer.json()["url"].as_str());
    client.get(answer.header("location").unwrap()).expect(200);
}

#[test]
fn diagnosis_states_nothing_that_is_not_proved() {
    let server = Server::start();
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let signature = format!("{}==", "A".repeat(86));
    let application = json!({
        "name": "A", "contact": "a", "lens": "", "publicKey": key, "signature": signature,
    });
    let answer = server.client().post("/api/swarm/diagnose", &[], &application.to_string());
    let diagnosis = answer.expect(200).json();
    assert_eq!(diagnosis["findings"].as_array().unwrap().len(), 1, "{diagnosis}");
    assert_eq!(diagnosis["findings"][0]["code"], "invalid-field");
    let message = diagnosis["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("no valid point of Ed25519"), "{message}");
    assert!(diagnosis["canonical"].as_str().unwrap().contains(key), "{diagnosis}");
}
