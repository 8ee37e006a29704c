//! Hints about requests that no field explains: their bytes, their shape, their credential (API.md, 1.2).

use serde_json::{Value, json};

use crate::diagnosis::{hint, scene, with};
use crate::harness::{ADMIN, Server};
use crate::raw_http;

#[test]
fn hint_names_invisible_bytes_around_a_body() {
    let (server, author, body) = scene();
    let client = server.client();
    let text = body.to_string();
    let rule = "body: must be one JSON text in UTF-8, ";
    let last = text.chars().count() + 1;
    for (bytes, place) in [
        (["\u{feff}", &text].concat().into_bytes(), "begins with a byte order mark".to_owned()),
        (
            text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "see line 1, column 2: there is an invisible character, U+0000".to_owned(),
        ),
        (
            [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
                .concat(),
            "is in UTF-16".to_owned(),
        ),
        (
            [&text, "\0"].concat().into_bytes(),
            format!("see line 1, column {last}: there is an invisible character, U+0000"),
        ),
        (
            [&text, "\u{feff}"].concat().into_bytes(),
            format!("see line 1, column {last}: there is an invisible character, U+FEFF"),
        ),
        (
            ["\u{a0}", &text].concat().into_bytes(),
            "see line 1, column 1: there is an invisible character, U+00A0".to_owned(),
        ),
    ] {
        let bearer = author.bearer();
        for (path, of_member) in [
            ("/api/swarm/submit", true),
            ("/api/swarm/memos", true),
            ("/api/swarm/apply", false),
            ("/api/swarm/token-claim", false),
            ("/api/swarm/signing-payload", false),
            ("/api/swarm/diagnose", false),
        ] {
            let mut headers = vec![("content-type", "application/json")];
            if of_member {
                headers.push(("authorization", &bearer));
            }
            let answer = client.send("POST", path, &headers, &bytes).expect(400);
            assert!(hint(&answer).starts_with(&[rule, &place].concat()), "{path}: {answer:?}");
        }
    }
}

/// The paths that the tests of content codings and of values send to, and whether a member sends there.
const OF_JSON: [(&str, bool); 4] = [
    ("/api/swarm/submit", true),
    ("/api/swarm/memos", true),
    ("/api/swarm/apply", false),
    ("/api/swarm/diagnose", false),
];

#[test]
fn hint_names_the_content_coding_of_a_body() {
    const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\xae\x05";
    let (server, author, body) = scene();
    let client = server.client();
    let (bearer, plain) = (author.bearer(), body.to_string());
    let coded =
        "Content-Encoding: no content coding of a body is decoded, send the body without it";
    let compressed =
        "body: must be one JSON text in UTF-8, is compressed with gzip: send it without that";
    let broken = "body: must be one JSON text in UTF-8, see line 1, column 2";
    for (path, of_member) in OF_JSON {
        let send = |coding: Option<&str>, body: &[u8]| {
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(of_member.then_some(("authorization", &*bearer)));
            headers.extend(coding.map(|coding| ("content-encoding", coding)));
            client.send("POST", path, &headers, body)
        };
        for (coding, bytes, told) in [
            (Some("gzip"), GZIP, coded),
            (Some("br"), b"\x0b\x00\x80{}\x03", coded),
            (None, GZIP, compressed),
            (Some("Identity"), GZIP, compressed),
            (Some("identity"), b"{,", broken),
            (Some("utf-8, identity"), b"{,", broken),
            (Some("identity, Gzip"), b"\x01", coded),
        ] {
            let answer = send(coding, bytes).expect(400);
            assert_eq!(hint(&answer), told, "{path}: {answer:?}");
            answer.unread(400, "invalid json body");
        }
        // A body that is JSON has another fault, or none.
        let answer = send(Some("gzip"), plain.as_bytes());
        assert_ne!(answer.header("swarm-hint"), Some(coded), "{path}: {answer:?}");
    }
}

#[test]
fn hint_names_values_of_json_that_are_not_read() {
    let (server, author, _) = scene();
    let client = server.client();
    let bearer = author.bearer();
    let deep = "[".repeat(128);
    for (sent, place) in [
        (r#"{"a":"\ud800"}"#, "column 6: the string has half of a surrogate pair"),
        (r#"{"a":1e999}"#, "column 6: the number is out of the range of a double"),
        (deep.as_str(), "column 128: there are more than 127 levels of nesting"),
    ] {
        for (path, of_member) in OF_JSON {
            let member = [("authorization", bearer.as_str())];
            let headers = if of_member { &member[..] } else { &[] };
            let answer = client.post(path, headers, sent).expect(400);
            let told = format!("body: must be one JSON text in UTF-8, see line 1, {place}");
            assert_eq!(hint(&answer), told, "{path}: {answer:?}");
        }
    }
}

#[test]
fn hint_names_an_array_or_a_wrapper_and_not_its_fields() {
    let (server, author, body) = scene();
    let client = server.client();
    let bearer = author.bearer();
    let member = [("authorization", bearer.as_str())];
    let array = "body: must be one JSON object, is an array";
    let wrapped = "body: must have the fields at the top level, has them inside \"take\"";
    let twice = "body: must be one JSON object, is a string with an object in it: encode it once";
    for (sent, told) in [
        (json!([body]), array),
        (json!([]), array),
        (json!({ "take": body }), wrapped),
        (json!({ "signature": body["signature"], "take": body }), wrapped),
        (json!(body.to_string()), twice),
        (json!({ "take": body.to_string() }), wrapped),
    ] {
        let text = sent.to_string();
        let submit = client.submit_text(&author, &text).expect(400);
        assert_eq!(hint(&submit), told, "{text}");
        submit.refused(400, "invalid submission");
        for path in ["/api/swarm/signing-payload", "/api/swarm/token-claim", "/api/swarm/diagnose"]
        {
            let answer = client.post(path, &[], &text).expect(400);
            assert_eq!(hint(&answer), told, "{path}: {text}");
        }
        let preflight = client.post("/api/swarm/preflight", &member, &text).expect(200).json();
        let findings = preflight["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{preflight}");
        assert_eq!(findings[0]["detail"].as_str().unwrap(), told.replacen(": ", " ", 1));
    }
    let application = json!({ "data": { "name": "A", "contact": "a" } }).to_string();
    let apply = client.post("/api/swarm/apply", &[], &application).expect(400);
    assert!(hint(&apply).ends_with("has them inside \"data\""), "{apply:?}");
    let memo = json!([{ "title": "t", "body": "b" }]).to_string();
    assert_eq!(hint(&client.post("/api/swarm/memos", &member, &memo).expect(400)), array);
    // A field with an object in it is no wrapper.
    let nested = with(&body, "stance", json!({ "memberId": "m" }));
    assert!(hint(&client.submit_text(&author, &nested).expect(400)).starts_with("stance: "));
}

/// In `detail`, as all that is wrong with an operator's request.
#[test]
fn wrapped_request_of_an_operator_is_told_so() {
    let server = Server::start();
    let client = server.client();
    let admin = [("x-admin-token", ADMIN)];
    let told = |path: &str, body: Value| {
        let answer = client.post(path, &admin, &body.to_string()).expect(400).json();
        answer["detail"].as_str().unwrap().to_owned()
    };
    for (path, name, fields) in [
        ("/api/swarm/admin/subjects", "subject", json!({ "id": "a", "name": "A" })),
        ("/api/swarm/admin/sessions", "session", json!({ "date": "2026-11-21", "subjectId": "a" })),
        ("/api/swarm/admin/activate", "data", json!({ "memberId": "m" })),
        ("/api/swarm/admin/accept", "body", json!({ "what": "clock" })),
        ("/api/ic/admin/members", "member", json!({ "id": "ada", "name": "Ada" })),
    ] {
        let wrapped =
            format!("body must have the fields at the top level, has them inside {name:?}");
        assert_eq!(told(path, json!({ name: fields.clone() })), wrapped, "{path}");
        assert_eq!(told(path, json!({ name: [fields.clone()] })), wrapped, "{path}");
        assert_eq!(told(path, json!([fields])), "body must be a JSON object", "{path}");
    }
    // What may have objects in it is no wrapper.
    let roster = json!({ "members": [{ "memberId": "m", "excuse": true }] });
    assert_eq!(
        told("/api/swarm/admin/sessions/1/roster", roster),
        "body must not have the unknown field \"excuse\""
    );
    let wallets = json!({ "id": "a", "wallets": [{ "name": "hot" }] });
    assert_eq!(told("/api/swarm/admin/subjects", wallets), "name is missing");
    let payload = json!({ "signal_key": "k", "payload": { "date": "2026-11-21" } });
    assert_eq!(told("/api/swarm/admin/signals", payload), "date is missing");
}

#[test]
fn missing_credential_of_operators_and_the_committee_is_explained() {
    let server = Server::start();
    let client = server.client();
    let other = ("authorization", "Bearer adm_of_the_tests");
    let twice = [("x-admin-token", ADMIN), ("x-admin-token", ADMIN)];
    for (headers, fault) in [
        (&[][..], "is missing"),
        (&[other], "is missing: Authorization is not read here"),
        (&twice, "is sent more than once"),
    ] {
        for path in ["/api/swarm/admin/outbox", "/api/ic/admin/members"] {
            let answer = client.send("GET", path, headers, b"").expect(401);
            let told = format!("X-Admin-Token: must be the token of an operator, {fault}");
            assert_eq!(hint(&answer), told, "{path}");
        }
    }
    let wrong = client.send("GET", "/api/swarm/admin/outbox", &[("x-admin-token", "x")], b"");
    assert_eq!(wrong.expect(401).header("swarm-hint"), None);
    let bearer = ("authorization", "Bearer ic_ada_0123");
    for (headers, fault) in [
        (&[][..], "is missing"),
        (&[bearer], "is missing: Authorization is not read here"),
        (&[("x-ic-key", "ada")], "has another form"),
    ] {
        let answer = client.post("/api/ic/submit", headers, "{}").expect(401);
        let told = format!("x-ic-key: must be <prefix>_<member_id>_<32 hex>, {fault}");
        assert_eq!(hint(&answer), told);
    }
}

#[test]
fn missing_bearer_is_explained_without_its_secret() {
    let (server, author, body) = scene();
    let client = server.client();
    let token = author.bearer().replace("Bearer ", "");
    let json = ("content-type", "application/json");
    let basic = format!("Basic {token}");
    for (sent, fault) in [
        (vec![], "is missing"),
        (vec![token.as_str()], "does not begin with the word Bearer and a space"),
        (vec![basic.as_str()], "has another scheme than Bearer"),
        (vec!["Bearer"], "has no token after Bearer"),
    ] {
        let mut headers: Vec<_> = sent.iter().map(|value| ("authorization", *value)).collect();
        headers.push(json);
        for path in ["/api/swarm/submit", "/api/swarm/preflight", "/api/swarm/memos"] {
            let answer = client.send("POST", path, &headers, body.to_string().as_bytes());
            let answer = answer.expect(401);
            let told = format!("Authorization: must be Bearer <token>, {fault}");
            assert_eq!(hint(&answer), told, "{path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert!(!format!("{answer:?}").contains(&token), "{answer:?}");
            answer.refused(401, "missing bearer token");
        }
    }
    let unknown = [("authorization", "Bearer tok_nobody"), json];
    let unknown = client.send("GET", "/api/swarm/verify-token", &unknown, b"").expect(401);
    assert_eq!(unknown.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
}

#[test]
fn hint_names_the_entry_of_weights() {
    let (server, author, body) = scene();
    let client = server.client();
    for (weights, fault) in [
        (json!([{ "weight": 1 }]), "bucket of entry 1 is missing"),
        (json!([{ "bucket": "a", "weight": 1 }, 5]), "bucket of entry 2 is missing"),
        (json!([{ "bucket": "a" }]), "weight of entry 1 is missing"),
        (json!([{ "bucket": "a", "weight": "1" }]), "weight of entry 1 must be a number"),
        (json!([{ "bucket": "", "weight": 1 }]), "bucket of entry 1 must have 1 to 100 characters"),
    ] {
        let answer = client.submit_text(&author, &with(&body, "weights", weights)).expect(400);
        let expected = format!("weights: must be a list of {{bucket, weight}}, and {fault}");
        assert!(hint(&answer).starts_with(&expected), "{answer:?}");
    }
}

/// A token that was copied with its surroundings, or read from a file with its invisible bytes.
#[test]
fn hint_names_what_a_token_has_around_it() {
    let (server, author, _) = scene();
    let client = server.client();
    let token = author.bearer().replace("Bearer ", "");
    let outside =
        "a character outside ASCII, perhaps an invisible one (a byte order mark, a no-break space)";
    for (around, fault) in [
        (format!("\u{feff}{token}"), outside),
        (format!("{token}\u{200b}"), outside),
        (format!("{token}\u{a0}"), outside),
        (format!("\"{token}\""), "quotes around the token"),
        (format!("<{token}>"), "quotes around the token"),
        (format!("Bearer {token}"), "the word Bearer twice"),
        (format!("{token} {token}"), "a space in the token"),
    ] {
        let request = format!(
            "GET /api/swarm/verify-token HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {around}\r\n\r\n"
        );
        let answer = raw_http::exchange(client.address, request.as_bytes());
        assert_eq!(answer.json()["error"], "unknown member token");
        assert_eq!(
            hint(&answer),
            format!("Authorization: must be Bearer <token>, has {fault}"),
            "{answer:?}"
        );
    }
    let other =
        client.send("GET", "/api/swarm/verify-token", &[("authorization", "Bearer tok_a_b")], b"");
    assert_eq!(other.header("swarm-hint"), None, "{other:?}");
    let quoted = format!("\"{ADMIN}\"");
    let answer = client.send("GET", "/api/swarm/admin/outbox", &[("x-admin-token", &quoted)], b"");
    assert_eq!((answer.status, &answer.json()["error"]), (401, &json!("admin token required")));
    let expected = "X-Admin-Token: must be the token of an operator, has quotes around the token";
    assert_eq!(hint(&answer), expected);
}
