//! Briefs: the session they belong to, and their content.

use serde_json::{Value, json};
use swarm_core::store::Collection;

use super::{DAY, brief, state};
use crate::backend::{Backend, on_every_store};
use crate::committee_fixture::{self, BRIEF, KEY, chair};
use crate::fixture::{Fixture, now};
use crate::harness::ADMIN;

on_every_store! {
    brief_belongs_to_the_session_that_published_it,
    regime_of_a_day_is_replaced,
    embedded_json_is_nested_at_most_64_deep,
    free_form_json_is_returned_unchanged,
    brief_quotes_the_last_published_sessions,
    brief_has_the_newest_hundred_signals,
}

fn brief_has_the_newest_hundred_signals(backend: &Backend) {
    let fixture = Fixture::on(backend);
    fixture.client.convene(DAY, "aurora");
    for number in 0..102 {
        let signal = json!({ "signal_key": number.to_string(), "date": DAY, "payload": number });
        fixture.client.operate("/signals", &signal).expect(200);
    }
    let brief = fixture.client.operate("/sessions/1/brief", &json!({})).expect(201).json();
    let signals = brief["brief"]["body"]["researchSignals"].as_array().unwrap();
    let numbers: Vec<_> = signals.iter().map(|signal| signal["payload"].clone()).collect();
    assert_eq!(json!(numbers), json!((2..102).collect::<Vec<_>>()));
}

fn brief_belongs_to_the_session_that_published_it(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let subject = json!({
        "id": "aurora", "name": "Aurora", "thesisBlurb": "</script>\u{2028}", "xHandle": "aurora",
        "wallets": [{ "chain": "eth", "address": "0x1" }], "structuralNotes": ["note"],
    });
    client.operate("/subjects", &subject).expect(201);
    for (date, composite) in [("2026-11-20", 0.1), ("2026-11-19", 0.9), ("2026-11-22", 0.7)] {
        let regime = json!({
            "date": date, "composite": composite, "regime": "risk-on", "macro_regime": "easing",
            "onchain_regime": null, "composite_percentile": 61, "thresholds": { "low": 20 },
        });
        client.operate("/regime", &regime).expect(200);
    }
    let signal = |key: &str, date: &str, payload: Value| json!({ "signal_key": key, "date": date, "payload": payload });
    client.operate("/signals", &signal("funding", DAY, json!(1))).expect(200);
    client.operate("/signals", &signal("funding", DAY, json!({ "rate": 0.01 }))).expect(200);
    client.operate("/signals", &signal("funding", "2026-11-20", json!(2))).expect(200);
    client.operate("/signals", &json!({ "signal_key": "x", "date": DAY })).expect(400);

    let buckets = json!(["cash", "btc"]);
    let convene = json!({ "date": DAY, "subjectId": "aurora", "buckets": buckets });
    for _ in 0..2 {
        client.operate("/sessions", &convene).expect(201);
    }
    let by_day = format!("/api/swarm/brief?date={DAY}&subject=aurora");
    assert_eq!(client.get(&by_day).expect(200).text, "null");
    let published = client.operate("/sessions/1/brief", &json!({})).expect(201).json();
    client.operate("/sessions/1/brief", &json!({})).refused(409, "brief already published");
    client.operate("/sessions/9/brief", &json!({})).refused(404, "no such session");

    // The newest session has none yet, so the brief of the older one is that of the day.
    let brief = client.get(&by_day).expect(200).json();
    assert_eq!(brief, published["brief"]);
    assert_eq!((&brief["id"], &brief["sessionId"]), (&json!(1), &json!("1")));
    let body = &brief["body"];
    let regime = json!({
        "date": "2026-11-20", "composite": 0.1, "regime": "risk-on", "macro_regime": "easing",
        "onchain_regime": null,
    });
    assert_eq!(body["regime"], regime);
    assert_eq!(body["subject"]["thesisBlurb"], "</script>\u{2028}");
    assert_eq!(body["researchSignals"], json!([signal("funding", DAY, json!({ "rate": 0.01 }))]));
    assert_eq!((&body["recentSessions"], &body["windowClosesAt"]), (&json!([]), &Value::Null));
    let weights = &body["takeSchema"]["properties"]["weights"];
    assert_eq!(weights["items"]["properties"]["bucket"]["enum"], buckets);
    for word in ["bearish", "confidence", "weights"] {
        assert!(body["prompt"]["system"].as_str().unwrap().contains(word), "{body}");
    }
    assert!(body["prompt"]["user"].as_str().unwrap().contains("Aurora"), "{body}");

    let path = "/api/swarm/admin/sessions/9/brief";
    let bare = client.send("POST", path, &[("x-admin-token", ADMIN)], b"");
    bare.refused(404, "no such session");

    let prompt = json!({ "system": "s\u{0}", "user": "\u{1f680}" });
    client.operate("/sessions/2/brief", &json!({ "prompt": prompt })).expect(201);
    client.operate("/sessions/2/brief", &json!({ "prompt": { "system": 1 } })).expect(400);
    let newest = client.get(&by_day).expect(200).json();
    assert_eq!((&newest["sessionId"], &newest["body"]["prompt"]), (&json!("2"), &prompt));
    for nothing in ["session=3", "session=x", "date=2026-11-22&subject=aurora", "date=x&subject=y"]
    {
        assert_eq!(client.get(&format!("/api/swarm/brief?{nothing}")).expect(200).text, "null");
    }
    for (query, hint) in [
        ("", "session: is missing, and so are date and subject"),
        ("?date=2026-11-22", "subject: is missing"),
        ("?subject=aurora", "date: is missing"),
    ] {
        let answer = client.get(&format!("/api/swarm/brief{query}"));
        assert_eq!(answer.header("swarm-hint"), Some(hint));
        answer.unread(400, "invalid query");
    }

    for to in ["aggregated", "published"] {
        state(&client, 1, to);
    }
    client.convene("2026-11-22", "basalt");
    let later = client.operate("/sessions/3/brief", &json!({})).expect(201).json();
    let recent = json!([{ "date": DAY, "subject_id": "aurora", "state": "published" }]);
    assert_eq!(later["brief"]["body"]["recentSessions"], recent);
    assert_eq!(brief, client.get("/api/swarm/brief?session=1").expect(200).json());
}

fn regime_of_a_day_is_replaced(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.convene(DAY, "aurora");
    for name in ["calm", "wild"] {
        let regime = json!({ "date": DAY, "composite": 0.5, "regime": name });
        let put = client.operate("/regime", &regime).expect(200).json();
        assert_eq!(put, json!({ "ok": true, "status": 200 }));
    }
    let rows = now(fixture.port().documents(Collection::Regimes, None)).unwrap();
    assert_eq!(rows.len(), 1);
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    assert_eq!(brief(client, 1)["body"]["regime"]["regime"], "wild");
}

fn embedded_json_is_nested_at_most_64_deep(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    client.convene(DAY, "aurora");
    let nested = |depth: usize| {
        let payload = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        serde_json::from_str::<Value>(&payload).unwrap()
    };
    let signal = |depth| json!({ "signal_key": "k", "date": DAY, "payload": nested(depth) });
    client.operate("/signals", &signal(65)).expect(400);
    client.operate("/signals", &signal(64)).expect(200);
    let wallet =
        |depth| json!({ "id": "aurora", "name": "A", "wallets": [{ "x": nested(depth) }] });
    client.operate("/subjects", &wallet(64)).expect(400);
    client.operate("/subjects", &wallet(63)).expect(200);
    client.operate("/regime", &json!({ "date": DAY, "rest": nested(64) })).expect(400);
    client.operate("/regime", &json!({ "date": DAY, "rest": nested(63) })).expect(200);
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    assert_eq!(brief(&client, 1)["body"]["researchSignals"][0]["payload"], nested(64));
}

/// Including the order of keys, and the digits of numbers.
fn free_form_json_is_returned_unchanged(backend: &Backend) {
    const FREE: &str = r#"{"z":1.0,"a":[0.10,1E3,-0,12345678901234567890],"m":{"y":null,"x":"é"}}"#;
    let server = backend.serve();
    let client = server.client();
    let operate = |path: &str, body: String| {
        client.post(&format!("/api/swarm/admin{path}"), &[("x-admin-token", ADMIN)], &body)
    };
    let subject = format!(r#"{{"wallets":[{FREE}],"name":"A","id":"aurora"}}"#);
    let wallets = format!(r#""wallets":[{FREE}]"#);
    assert!(operate("/subjects", subject).expect(201).text.contains(&wallets));
    assert!(client.get("/api/swarm/subjects/aurora").expect(200).text.contains(&wallets));
    let signal = format!(r#"{{"signal_key":"k","date":"{DAY}","payload":{FREE}}}"#);
    operate("/signals", signal).expect(200);
    client.operate("/sessions", &json!({ "date": DAY, "subjectId": "aurora" })).expect(201);
    for brief in [
        client.operate("/sessions/1/brief", &json!({})).expect(201),
        client.get("/api/swarm/brief?session=1").expect(200),
    ] {
        assert!(brief.text.contains(&format!(r#""payload":{FREE}"#)), "{}", brief.text);
        assert!(brief.text.contains(&wallets), "{}", brief.text);
    }
    // The extras of a regime are in the briefs of the committee; `nftContracts` is free like `wallets`.
    let regime =
        format!(r#"{{"z_extra":{FREE},"thresholds":{FREE},"date":"{DAY}","composite":0.5}}"#);
    operate("/regime", regime).expect(200);
    let subject = format!(r#"{{"nftContracts":[{FREE}],"name":"A","id":"aurora"}}"#);
    operate("/subjects", subject).expect(200);
    let read = client.get("/api/swarm/subjects/aurora").expect(200).text;
    assert!(read.contains(&format!(r#""nftContracts":[{FREE}]"#)), "{read}");
    let tenant = swarm_core::TenantId::parse("default").unwrap();
    committee_fixture::insert_member(&backend.store.open(&tenant), "m", KEY);
    chair(&client, "/briefs", &json!({})).expect(201);
    let brief = client.get(BRIEF).expect(200).text;
    for part in [format!(r#""thresholds":{FREE}"#), format!(r#""z_extra":{FREE}"#)] {
        assert!(brief.contains(&part), "{part}\n{brief}");
    }
}

fn brief_quotes_the_last_published_sessions(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    for day in 1..=7 {
        assert_eq!(client.convene(&format!("2026-10-{day:02}"), "aurora"), day);
        state(&client, day, "aggregated");
    }
    for session in [7, 2, 3, 4, 5, 6, 1] {
        // Of two published in the same millisecond, the newer session comes first.
        backend.clock.move_by(1);
        assert!(state(&client, session, "published")["publishedAt"].is_string());
    }
    client.convene(DAY, "aurora");
    let brief = client.operate("/sessions/8/brief", &json!({})).expect(201).json();
    let recent = brief["brief"]["body"]["recentSessions"].as_array().unwrap();
    let days: Vec<_> = recent.iter().map(|session| session["date"].as_str().unwrap()).collect();
    assert_eq!(days, ["2026-10-01", "2026-10-06", "2026-10-05", "2026-10-04", "2026-10-03"]);
}
