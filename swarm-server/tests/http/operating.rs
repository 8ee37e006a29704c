//! Changes of operators that forgive mistakes (API.md, 7).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, signed_text};

on_every_store! {
    unknown_fields_are_refused,
    roster_lists_members_only,
    window_opens_again_when_its_deadline_moves_ahead,
    member_that_lost_its_token_claims_another,
    message_is_queued_again_or_given_up,
    take_has_at_most_a_thousand_weights,
    status_says_what_waits,
    member_is_updated_without_its_texts_in_the_log,
}

fn member_is_updated_without_its_texts_in_the_log(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    let (applied, _) = Author::apply(client, "Bob");
    let update = |body: Value| client.operate("/members/update", &body);
    let log = || client.log_entries();
    let before = log().len();
    let changed =
        update(json!({ "memberId": ada.id, "name": "Ada L.", "contact": "ada@new.example" }));
    let expected = json!({ "ok": true, "status": 200, "memberId": ada.id, "state": "claimed" });
    assert_eq!(changed.expect(200).json(), expected);
    assert_eq!(client.get(&format!("/api/swarm/members/{}", ada.id)).json()["name"], "Ada L.");
    let entry = log().pop().unwrap();
    assert_eq!(
        (&entry["act"], &entry["by"], &entry["id"]),
        (&json!("updated"), &json!("operator"), &json!(ada.id))
    );
    assert!(!entry.to_string().contains("Ada L.") && log().len() == before + 1, "{entry}");
    // What is the same is no change, and an application is not public.
    update(json!({ "memberId": ada.id, "name": "Ada L.", "lens": null })).expect(200);
    update(json!({ "memberId": applied, "lens": "Cash first." })).expect(200);
    assert_eq!(log().len(), before + 1);
    for none in [json!({ "memberId": ada.id }), json!({ "memberId": ada.id, "lens": null })] {
        invalid(&update(none), "body must have name, contact or lens");
    }
    invalid(
        &update(json!({ "memberId": ada.id, "name": "" })),
        "name must have 1 to 100 characters",
    );
    update(json!({ "memberId": "nobody", "name": "n" })).refused(404, "no such member");
    client.operate("/deactivate", &json!({ "memberId": ada.id })).expect(200);
    client.operate("/erase", &json!({ "memberId": ada.id })).expect(200);
    update(json!({ "memberId": ada.id, "name": "Ada" })).refused(409, "member is erased");
}

fn status_says_what_waits(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let read = || {
        let headers = [("x-admin-token", ADMIN)];
        client.send("GET", "/api/swarm/admin/status", &headers, b"").expect(200).json()
    };
    let empty = read();
    assert_eq!(
        empty["mail"],
        json!({ "queued": 0, "failed": 0, "undeliverable": 0, "oldest": null })
    );
    assert_eq!(
        (&empty["ready"], &empty["sessions"], &empty["log"]["size"]),
        (&json!(true), &json!([]), &json!(0))
    );
    let (ada, bob) = (Author::join(client, "Ada"), Author::join(client, "Bob"));
    Author::apply(client, "Cid");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let convene = |closes: i64, state: &str| {
        let closes = fixture.clock.now().plus_millis(closes);
        let session = json!({ "date": DATE, "subjectId": "aurora", "windowClosesAt": closes.to_string(),
            "state": state, "roster": [{ "memberId": ada.id }, { "memberId": bob.id }] });
        client.operate("/sessions", &session).expect(201);
    };
    let hour = 60 * 60 * 1_000;
    convene(3 * hour, "scheduled");
    convene(2 * hour, "collecting");
    convene(hour, "collecting");
    client.submit(&ada, ada.draft(DATE, "aurora")).expect(201);
    let status = read();
    assert_eq!((&status["applications"], &status["members"]), (&json!(1), &json!(2)));
    assert_eq!(status["mail"]["queued"], 2);
    assert!(status["mail"]["oldest"].is_string());
    let of = |status: &Value, field: &str| -> Vec<Value> {
        status["sessions"].as_array().unwrap().iter().map(|it| it[field].clone()).collect()
    };
    assert_eq!(of(&status, "id"), [3, 2, 1]);
    assert_eq!(
        (of(&status, "filed"), of(&status, "expected")),
        (vec![json!(1), json!(0), json!(0)], vec![json!(2); 3])
    );
    let first = &status["sessions"][0];
    assert_eq!(first["missing"], json!([{ "memberId": bob.id, "name": "Bob" }]));
    let closes = first["windowClosesAt"].clone();
    assert_eq!(first["next"], json!({ "act": "close", "at": closes, "by": "schedule" }));
    assert_eq!(status["sessions"][2]["next"]["by"], "operator");
    let path = |state: &str| ("/sessions/3/state", json!({ "state": state }));
    for (state, act) in [("window_closed", "aggregate"), ("aggregated", "publish")] {
        let (path, body) = path(state);
        client.operate(path, &body).expect(200);
        let status = read();
        let session =
            status["sessions"].as_array().unwrap().iter().find(|it| it["id"] == 3).unwrap().clone();
        assert_eq!(
            (&session["next"]["act"], &session["next"]["by"]),
            (&json!(act), &json!("operator"))
        );
    }
    let (path, body) = path("published");
    client.operate(path, &body).expect(200);
    assert_eq!(of(&read(), "id"), [2, 1]);
}

const DATE: &str = "2026-11-21";

fn patch(fixture: &Fixture, session: u64, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    fixture.client.send("PATCH", &path, &headers, body.to_string().as_bytes())
}

#[track_caller]
fn invalid(answer: &Answer, detail: &str) {
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(answer.json()["error"], "invalid request");
    assert_eq!(answer.json()["detail"], detail);
}

fn unknown_fields_are_refused(backend: &Backend) {
    let (fixture, _) = Fixture::on(backend).filled();
    let before = fixture.print();
    let (client, unknown) = (&fixture.client, "body must not have the unknown field ");
    let convened = json!({ "date": DATE, "subjectId": "aurora", "windowClosesAT": null });
    let row = json!([{ "memberId": "m", "excuse": true }]);
    let in_row = json!({ "date": DATE, "subjectId": "aurora", "roster": row });
    let position = json!([{ "token": "A", "share": 1 }]);
    for (path, body, field) in [
        ("/sessions", convened, "windowClosesAT"),
        ("/sessions", in_row, "excuse"),
        ("/sessions/1/roster", json!({ "members": row }), "excuse"),
        ("/sessions/1/state", json!({ "state": "aggregated", "notes": "" }), "notes"),
        ("/sessions/1/brief", json!({ "prompts": null }), "prompts"),
        (
            "/sessions/1/brief",
            json!({ "prompt": { "system": "", "user": "", "model": "" } }),
            "model",
        ),
        ("/subjects", json!({ "id": "aurora", "name": "A", "xhandle": "a" }), "xhandle"),
        ("/subjects/aurora/snapshots", json!({ "date": DATE, "positions": position }), "share"),
        ("/signals", json!({ "signal_key": "k", "date": DATE, "payload": 1, "x": 1 }), "x"),
        ("/deactivate", json!({ "memberId": "m", "reason": "" }), "reason"),
    ] {
        invalid(&client.operate(path, &body), &format!("{unknown}{field:?}"));
    }
    invalid(&patch(&fixture, 1, &json!({ "quorom": 1 })), &format!("{unknown}\"quorom\""));
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let body = json!({ "date": DATE, "subject_id": "aurora", "subject": 1 }).to_string();
    let day = client.send("POST", "/api/ic/admin/day", &headers, body.as_bytes()).expect(400);
    assert_eq!(day.json()["detail"], format!("{unknown}\"subject\""));
    assert_eq!(fixture.print(), before);

    // What an operator sends in free form has fields of its own.
    let wallet = json!([{ "chain": "base", "any": { "thing": 1 } }]);
    let regime = json!({ "date": DATE, "composite": 1, "percentiles": { "a": 1 } });
    client.operate("/regime", &regime).expect(200);
    client
        .operate("/subjects", &json!({ "id": "aurora", "name": "A", "wallets": wallet }))
        .expect(200);
}

fn roster_lists_members_only(backend: &Backend) {
    let (fixture, author) = Fixture::on(backend).filled();
    let (applicant, _) = Author::apply(&fixture.client, "A");
    let convene = |roster: &Value| {
        let body = json!({ "date": DATE, "subjectId": "aurora", "roster": roster });
        fixture.client.operate("/sessions", &body)
    };
    for stranger in [applicant.as_str(), "nobody"] {
        let roster = json!([{ "memberId": author.id.as_str() }, { "memberId": stranger }]);
        let detail = format!("lists {stranger:?}, who is no member");
        invalid(&convene(&roster), &format!("roster {detail}"));
        let frozen = fixture.client.operate("/sessions/1/roster", &json!({ "members": roster }));
        invalid(&frozen, &format!("members {detail}"));
    }
    fixture.client.operate("/deactivate", &json!({ "memberId": author.id.as_str() })).expect(200);
    convene(&json!([{ "memberId": author.id.as_str(), "excused": true }])).expect(201);
}

fn window_opens_again_when_its_deadline_moves_ahead(backend: &Backend) {
    let fixture = Fixture::on(backend);
    fixture.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let closed = || {
        let body = json!({
            "date": DATE, "subjectId": "aurora", "windowClosesAt": fixture.clock.after(60_000),
        });
        let convened = fixture.client.operate("/sessions", &body).expect(201).json();
        let session = convened["session"]["id"].as_u64().unwrap();
        let path = format!("/sessions/{session}/state");
        fixture.client.operate(&path, &json!({ "state": "window_closed" })).expect(200);
        session
    };
    for (deadline, state) in [
        (json!(fixture.clock.after(90_000)), "collecting"),
        (Value::Null, "collecting"),
        (json!(fixture.clock.after(-1_000)), "window_closed"),
    ] {
        let session = closed();
        let answer = patch(&fixture, session, &json!({ "windowClosesAt": deadline })).expect(200);
        assert_eq!(answer.json()["session"]["state"], state, "{deadline}");
        assert_eq!(answer.json()["session"]["windowClosesAt"], deadline);
    }
    let answer = patch(&fixture, closed(), &json!({ "quorum": 2 })).expect(200);
    assert_eq!(answer.json()["session"]["state"], "window_closed");
}

fn member_that_lost_its_token_claims_another(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = Author::join(&fixture.client, "A");
    let named = json!({ "memberId": author.id.as_str() });
    // The challenge that it claimed with is still given out.
    let proof = Author::proof(&fixture.client, &author.id, &author.key);
    let claim = || fixture.client.post("/api/swarm/token-claim", &[], &proof);
    claim().refused(409, "token already claimed");
    let reset = fixture.client.operate("/reset-claim", &named).expect(200).json();
    let approved = json!({
        "ok": true, "status": 200, "memberId": author.id.as_str(), "state": "approved",
    });
    assert_eq!(reset, approved);
    let verify = |token: &str| {
        fixture.client.send("GET", "/api/swarm/verify-token", &[("authorization", token)], b"")
    };
    verify(&format!("Bearer {}", author.token)).refused(401, "unknown member token");
    fixture.client.operate("/reset-claim", &named).refused(409, "member is approved");
    let log = fixture.client.get("/api/swarm/log").expect(200).json();
    let last = log["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["act"], &last["by"]), (&json!("claim-reset"), &json!("operator")));
    // What was signed before the reset, and perhaps seen by others, claims nothing.
    claim().refused(401, "token claim refused");
    let claimed = Author::claim(&fixture.client, &author.id, &author.key).expect(201).json();
    let token = claimed["token"].as_str().unwrap();
    assert_ne!(token, author.token);
    verify(&format!("Bearer {token}")).expect(200);
}

fn message_is_queued_again_or_given_up(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (member, _) = Author::apply(&fixture.client, "A");
    fixture.client.operate("/activate", &json!({ "memberId": member.as_str() })).expect(200);
    let change = |what: &str| {
        let headers = [("x-admin-token", ADMIN)];
        fixture.client.send("POST", &format!("/api/swarm/admin/outbox/{what}"), &headers, b"")
    };
    let message = change("1/cancel").expect(200).json()["message"].clone();
    assert_eq!(message["state"], "cancelled");
    assert_eq!(message["lastError"], "cancelled by an operator");
    let message = change("1/retry").expect(200).json()["message"].clone();
    assert_eq!((&message["state"], &message["attempts"]), (&json!("queued"), &json!(0)));
    for missing in ["2/retry", "2/cancel", "0/retry", "x/cancel"] {
        change(missing).refused(404, "no such message");
    }
}

fn take_has_at_most_a_thousand_weights(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    fixture.client.convene(DATE, "aurora");
    // The signature is of the take without them.
    let take = |author: &Author| signed_text(&author.key.sign(author.draft(DATE, "aurora")));
    for (entries, is_over) in [(1_000, false), (1_001, true)] {
        let weights = (0..entries).map(|i| json!({ "bucket": format!("b{i}"), "weight": 1 }));
        let mut body: Value = serde_json::from_str(&take(&author)).unwrap();
        body["weights"] = weights.collect();
        let answer = fixture.client.submit_text(&author, &body.to_string());
        assert_eq!(answer.status, 400, "{answer:?}");
        let hint = answer.header("swarm-hint").unwrap();
        assert_eq!(hint.starts_with("weights: must have at most 1,000 entries"), is_over, "{hint}");
    }
}
