//! The life of sessions, memos, subjects and tokens, in two tenants.

mod briefs;

use std::sync::Arc;

use serde_json::{Value, json};
use swarm_core::domain::Member;
use swarm_core::{Swarm, SystemEntropy};
use swarm_http::Site;

use crate::backend::{Backend, on_every_store};
use crate::fixture::{self, insert_member};
use crate::harness::{ADMIN, Author, Client, Server, fresh_key, tenant};

on_every_store! {
    session_lifecycle_in_two_tenants,
    memos_are_published_read_and_retracted,
    memo_permalink_is_a_page_or_a_record,
    subject_is_replaced_as_a_whole,
    subject_snapshots_are_kept_over_time,
    rotation_revokes_the_old_token_and_keeps_old_takes_verifiable,
    public_reads_are_compressed_on_request,
    pages_of_sessions_are_limited_in_bytes,
}

const DAY: &str = "2026-11-21";

fn two_tenants(backend: &Backend) -> (Server, Client, Client) {
    let swarm = Swarm::new(Arc::clone(&backend.store), SystemEntropy);
    let tenants =
        [tenant("acme", ADMIN, &["acme.example"]), tenant("zenith", ADMIN, &["zenith.example"])];
    let server = Server::of(Site::by_host(swarm, tenants).unwrap());
    let client = server.client();
    (server, client.at("acme.example"), client.at("zenith.example"))
}

fn state(client: &Client, session: u64, state: &str) -> Value {
    let path = format!("/sessions/{session}/state");
    client.operate(&path, &json!({ "state": state })).expect(200).json()["session"].clone()
}

fn brief(client: &Client, session: u64) -> Value {
    client.get(&format!("/api/swarm/brief?session={session}")).expect(200).json()
}

fn session_lifecycle_in_two_tenants(backend: &Backend) {
    let (_server, acme, zenith) = two_tenants(backend);
    for (client, bias) in [(&acme, "bullish"), (&zenith, "bearish")] {
        let authors: Vec<_> =
            ["Ada", "Grace", "Hedy"].map(|name| Author::join(client, name)).into();
        let [ada, grace, hedy] = authors.as_slice() else { panic!() };
        let session = client.convene(DAY, "aurora");
        assert_eq!(session, 1);
        let path = format!("/sessions/{session}");
        let roster = json!({ "members": [
            { "memberId": ada.id }, { "memberId": grace.id },
            { "memberId": hedy.id, "excused": true },
        ]});
        client.operate(&format!("{path}/roster"), &roster).expect(200);
        let patch =
            json!({ "quorum": 2, "windowClosesAt": "2999-01-01T00:00:00+01:00" }).to_string();
        let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
        let patched =
            client.send("PATCH", "/api/swarm/admin/sessions/1", &headers, patch.as_bytes());
        let deadline = &patched.expect(200).json()["session"]["windowClosesAt"];
        assert_eq!(deadline, "2998-12-31T23:00:00.000Z");

        assert_eq!(brief(client, session), Value::Null);
        client.operate(&format!("{path}/brief"), &json!({})).expect(201);
        assert_eq!(&brief(client, session)["body"]["windowClosesAt"], deadline);

        let take = |author: &Author, stance: &str, confidence: f64| {
            let weights =
                json!([{ "bucket": "cash", "weight": 1 }, { "bucket": "btc", "weight": 3 }]);
            author.draft_of(json!({
                "date": DAY, "subjectId": "aurora", "stance": stance, "confidence": confidence,
                "body": format!("{stance} at {confidence}"), "weights": weights,
            }))
        };
        client.submit(ada, take(ada, "neutral", 0.1)).expect(201);
        client.submit(ada, take(ada, bias, 0.8)).expect(201);
        client.submit(grace, take(grace, "sideways", 0.9)).expect(201);
        let excused = client.submit(hedy, take(hedy, bias, 0.5));
        excused.refused(403, "member is excused from this session");

        let excuse = |excused: bool| {
            let body = json!({ "memberId": hedy.id, "excused": excused });
            client.operate(&format!("{path}/roster/excuse"), &body)
        };
        excuse(false).expect(200);
        state(client, session, "window_closed");
        state(client, session, "collecting");
        let aggregated = state(client, session, "aggregated");
        let snapshot = &aggregated["snapshot"];
        assert_eq!(
            snapshot["participation"],
            json!({ "members": 2, "expected": 3, "rate": 2.0 / 3.0 })
        );
        assert_eq!(snapshot["quorum"], json!({ "required": 2, "met": true }));
        assert_eq!(
            (&snapshot["stances"][bias], &snapshot["stances"]["other"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(snapshot["consensus"]["stance"], bias);
        let mean =
            json!([{ "bucket": "btc", "weight": 0.75 }, { "bucket": "cash", "weight": 0.25 }]);
        assert_eq!(snapshot["weights"], mean);
        let quotes = snapshot["quotes"].as_array().unwrap();
        let quoted: Vec<_> = quotes.iter().map(|quote| quote["body"].as_str().unwrap()).collect();
        assert_eq!(quoted, [format!("{bias} at 0.8"), "sideways at 0.9".to_owned()]);

        let closed = client.submit(ada, take(ada, bias, 0.2));
        closed.refused(
            409,
            "amendment window closed (session already aggregated); the take on file stands",
        );
        excuse(true).refused(409, "session already aggregated");
        // A first take is still accepted within the window; the snapshot does not change.
        client.submit(hedy, take(hedy, bias, 0.5)).expect(201);
        let published = state(client, session, "published");
        assert_eq!(&published["snapshot"], snapshot);
        let read = client.get("/api/swarm/sessions/1").expect(200).json();
        assert_eq!(&read["session"]["snapshot"], snapshot);
        assert_eq!(read["takes"].as_array().unwrap().len(), 3);
    }
}

fn memos_are_published_read_and_retracted(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let session = client.convene(DAY, "aurora");
    let author = Author::join(&client, "Ada <b>");
    let bearer = author.bearer();
    let post = |memo: &Value| {
        client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo.to_string())
    };
    let text = "\u{1f680}".repeat(100_000);
    let memo =
        json!({ "title": "<i>T</i>", "body": text, "subjectId": "aurora", "sessionId": session });
    let published = post(&memo).expect(201).json();
    let expected = json!({ "ok": true, "status": 201, "memoId": 1, "url": "/swarm/memos/1" });
    assert_eq!(published, expected);
    let read = client.get("/api/swarm/memos/1").expect(200).json();
    assert_eq!((&read["body"], &read["memberId"]), (&memo["body"], &json!(author.id.as_str())));
    assert_eq!((&read["id"], &read["sessionId"]), (&json!(1), &json!(session)));
    let page = client.get("/swarm/memos/1").expect(200).text;
    assert!(page.contains("<h1><bdi>&#60;i&#62;T&#60;/i&#62;</bdi></h1>"), "{page:.600}");

    // The longest memo with all characters escaped; its session id as in a brief.
    let escaped = "\\ud83d\\ude80".repeat(100_000);
    let escaped = format!(r#"{{"title":"T","body":"{escaped}","sessionId":"{session}"}}"#);
    client.post("/api/swarm/memos", &[("authorization", &bearer)], &escaped).expect(201);
    let read = client.get("/api/swarm/memos/2").expect(200).json();
    assert_eq!((&read["body"], &read["sessionId"]), (&memo["body"], &json!(session)));

    for bad in [
        json!({ "title": "", "body": "b" }),
        json!({ "title": "t".repeat(201), "body": "b" }),
        json!({ "title": "t", "body": format!("{text}x") }),
        json!({ "title": "t", "body": "b", "sessionId": 1.5 }),
        json!({ "title": "t", "body": "b", "subjectId": "" }),
    ] {
        post(&bad).refused(400, "invalid memo");
    }
    for id in ["01", "+1", " 1", "1.0", "one", "", "18446744073709551616"] {
        let memo = json!({ "title": "t", "body": "b", "sessionId": id });
        post(&memo).refused(400, "invalid memo");
    }
    // The session id as in the brief.
    post(&json!({ "title": "t", "body": "b", "sessionId": "9" })).refused(404, "no such session");
    post(&json!({ "title": "t", "body": "b", "subjectId": "x" })).refused(404, "no such subject");
    post(&json!({ "title": "t", "body": "b", "sessionId": 9 })).refused(404, "no such session");
    client.post("/api/swarm/memos", &[], "{}").refused(401, "missing bearer token");
    let unknown = [("authorization", "Bearer tok_x")];
    // Without a token, the answer does not reveal what exists.
    for named in ["", r#","subjectId":"x""#, r#","sessionId":9"#] {
        let memo = format!(r#"{{"title":"t","body":"b"{named}}}"#);
        client.post("/api/swarm/memos", &unknown, &memo).refused(401, "unknown member token");
    }

    let retract = || {
        let path = "/api/swarm/admin/memos/1/retract";
        client.send("POST", path, &[("x-admin-token", ADMIN)], b"")
    };
    retract().expect(200);
    retract().expect(200);
    client.get("/api/swarm/memos/1").refused(404, "no such memo");
    client.get("/swarm/memos/1").expect(404);
}

fn memo_permalink_is_a_page_or_a_record(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let author = Author::join(&client, "Ada");
    let memo = json!({ "title": "<b>T</b>", "body": "B" }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);
    let page = client.get("/swarm/memos/1").expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    let record = |id: u64| {
        let prefers = [("accept", "application/json")];
        client.send("GET", &format!("/swarm/memos/{id}"), &prefers, b"")
    };
    assert_eq!(record(1).expect(200).text, client.get("/api/swarm/memos/1").expect(200).text);
    record(2).refused(404, "no such memo");
    let unknown = client.get("/swarm/memos/2").expect(404);
    assert_eq!(unknown.header("content-type"), Some("text/html; charset=utf-8"));
}

fn subject_is_replaced_as_a_whole(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let first = json!({
        "id": "b", "name": "B", "status": "archived", "operator": "o", "wallets": [{ "a": 1 }],
        "structuralNotes": ["n"], "lastReviewed": DAY,
    });
    let created = client.operate("/subjects", &first).expect(201).json();
    for (field, value) in first.as_object().unwrap() {
        assert_eq!(created["subject"][field], *value, "{field}");
    }
    let subject = json!({
        "id": "b", "status": "active", "name": "Other", "operator": null, "homepage": null,
        "xHandle": null, "thesisBlurb": null, "wallets": [], "nftContracts": [], "source": null,
        "recommendationType": null, "linkedMemberId": null, "structuralNotes": [],
        "lastReviewed": null,
    });
    let second = json!({ "id": "b", "name": "Other" });
    let replaced = client.operate("/subjects", &second).expect(200).json();
    assert_eq!(replaced, json!({ "ok": true, "status": 200, "subject": subject }));
    client.operate("/subjects", &json!({ "id": "a", "name": "A" })).expect(201);
    let list = client.get("/api/swarm/subjects").expect(200).json();
    let ids: Vec<_> = list["subjects"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!((ids, &list["subjects"][1]), (vec![&json!("a"), &json!("b")], &subject));
}

fn subject_snapshots_are_kept_over_time(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let path = "/subjects/a%2Fb/snapshots";
    let snapshot = json!({
        "date": DAY, "totalValueUsd": 1e21, "notable": ["\u{1f680}"],
        "positions": [{ "token": "ETH", "chain": "eth", "valueUsd": 0.1, "pct": 100 }],
    });
    client.operate(path, &snapshot).refused(404, "no such subject");
    client.operate("/subjects", &json!({ "id": "a/b", "name": "A" })).expect(201);
    let added = client.operate(path, &snapshot).expect(201).json();
    assert_eq!(
        (&added["snapshot"]["id"], &added["snapshot"]["positions"]),
        (&json!(1), &snapshot["positions"])
    );
    for date in ["2026-11-22", "2026-11-20", DAY] {
        client.operate(path, &json!({ "date": date })).expect(201);
    }
    client.operate(path, &json!({ "date": "2026-02-30" })).expect(400);
    let read = client.get(&format!("/api/swarm{path}")).expect(200).json();
    let listed = read["snapshots"].as_array().unwrap().iter();
    let listed: Vec<_> =
        listed.map(|it| (it["date"].as_str().unwrap(), it["id"].as_u64())).collect();
    let by_day = [("2026-11-20", 3), (DAY, 1), (DAY, 4), ("2026-11-22", 2)];
    assert_eq!(listed, by_day.map(|(date, id)| (date, Some(id))));
    assert_eq!(read["snapshots"][1]["totalValueUsd"], json!(1e21));
    client.get("/api/swarm/subjects/other/snapshots").refused(404, "no such subject");
}

fn rotation_revokes_the_old_token_and_keeps_old_takes_verifiable(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    client.convene(DAY, "aurora");
    let (id, key) = Author::apply(&client, "Ada");
    let rotate = |fields: Value| client.operate("/rotate-key", &fields);
    rotate(json!({ "memberId": id })).refused(409, "member is applied");
    client.operate("/activate", &json!({ "memberId": id })).expect(200);
    rotate(json!({ "memberId": id })).refused(409, "member is approved");
    let token = Author::claim(&client, &id, &key).expect(201).json()["token"].clone();
    let mut author = Author { id, key, token: token.as_str().unwrap().to_owned() };
    client.submit(&author, author.draft(DAY, "aurora")).expect(201);

    let new_key = fresh_key();
    let other = Author::join(&client, "Grace");
    let taken = rotate(json!({ "memberId": author.id, "publicKey": other.key.public_key() }));
    assert_eq!(taken.expect(409).json()["memberId"], other.id.as_str());
    rotate(json!({ "memberId": author.id, "publicKey": "weak" })).expect(400);
    rotate(json!({ "memberId": "nobody" })).refused(404, "no such member");
    let rotated =
        rotate(json!({ "memberId": author.id, "publicKey": new_key.public_key() })).expect(200);
    assert_eq!(rotated.header("cache-control"), Some("no-store"));
    let rotated = rotated.json();
    assert_eq!(rotated["publicKey"], new_key.public_key().to_string());

    let dead = client.submit(&author, author.draft(DAY, "aurora"));
    dead.refused(401, "unknown member token");
    author.token = rotated["token"].as_str().unwrap().to_owned();
    let old_key = client.submit(&author, author.draft(DAY, "aurora"));
    old_key.refused(400, "signature verification failed");
    let old_key = std::mem::replace(&mut author.key, new_key).public_key().to_string();
    client.submit(&author, author.draft(DAY, "aurora")).expect(201);
    assert_eq!(client.get("/api/swarm/takes/1").expect(200).json()["publicKey"], old_key);
    // Only the token is replaced.
    let again = rotate(json!({ "memberId": author.id })).expect(200).json();
    assert_eq!(again["publicKey"], author.key.public_key().to_string());
}

fn public_reads_are_compressed_on_request(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    client.convene(DAY, &"aurora".repeat(15));
    for day in 1..20 {
        client.convene(&format!("2026-10-{day:02}"), "aurora");
    }
    let path = "/api/swarm/sessions";
    let plain = client.send("GET", path, &[("accept-encoding", "identity")], b"").expect(200);
    assert_eq!(plain.header("content-encoding"), None);
    let tag = plain.header("etag").unwrap();
    let packed = client.send("HEAD", path, &[("accept-encoding", "gzip")], b"").expect(200);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let length = |answer: &crate::harness::Answer| -> usize {
        answer.header("content-length").unwrap().parse().unwrap()
    };
    assert!(length(&packed) * 4 < length(&plain), "{packed:?}");
    assert_ne!(packed.header("etag"), Some(tag));
    for tag in [tag, packed.header("etag").unwrap(), "*", "\"x\", W/\"y\", *"] {
        let headers = [("if-none-match", tag), ("accept-encoding", "gzip")];
        assert_eq!(client.send("GET", path, &headers, b"").expect(304).text, "");
    }
    let small = client.send("GET", "/api/swarm/members", &[("accept-encoding", "gzip")], b"");
    assert_eq!(small.expect(200).header("content-encoding"), None);
}

fn pages_of_sessions_are_limited_in_bytes(backend: &Backend) {
    let server = backend.serve();
    let client = server.client();
    let authors: Vec<_> = (0..12).map(|n| Author::join(&client, &format!("m{n}"))).collect();
    let long = "\u{1f680}".repeat(10_000);
    for session in 1..=12 {
        assert_eq!(client.convene(DAY, "aurora"), session);
        for author in &authors {
            let take = json!({ "date": DAY, "subjectId": "aurora", "body": long });
            client.submit(author, author.draft_of(take)).expect(201);
        }
        state(&client, session, "aggregated");
    }
    let id = |number| format!("00000000-0000-4000-8000-{number:012}");
    let port = backend.store.open(&swarm_core::TenantId::parse("default").unwrap());
    for number in 0..3_000 {
        let other =
            fixture::member(&id(number), &authors[0].key.public_key().to_string(), &id(number));
        insert_member(&*port, Member { public_key: None, token: None, ..other });
    }
    let expected: Vec<_> = (0..3_000).map(|number| json!({ "memberId": id(number) })).collect();
    for session in 13..=52 {
        let convened = json!({ "date": DAY, "subjectId": "aurora", "roster": expected });
        let convened = client.operate("/sessions", &convened).expect(201).json();
        assert_eq!(convened["session"]["id"], session);
    }
    let (mut seen, mut pages, mut before) = (Vec::new(), 0, String::new());
    loop {
        let page = client.get(&format!("/api/swarm/sessions{before}")).expect(200);
        assert!(page.text.len() < 5 << 20, "{}", page.text.len());
        let page = page.json();
        let sessions = page["sessions"].as_array().unwrap();
        seen.extend(sessions.iter().map(|session| session["id"].as_u64().unwrap()));
        pages += 1;
        match page["nextBefore"].as_u64() {
            Some(next) => before = format!("?before={next}"),
            None => break,
        }
    }
    assert_eq!(seen, (1..=52).rev().collect::<Vec<_>>());
    assert!(pages > 2);
}
