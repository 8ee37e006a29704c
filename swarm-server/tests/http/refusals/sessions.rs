//! Session state transitions, roster, deadline and quorum.

use serde_json::{Value, json};
use swarm_core::MemberId;

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author};

on_every_store! {
    session_state_transitions,
    invalid_date_has_no_session,
    convened_session_has_its_initial_fields,
    roster_can_be_frozen_once,
    excuse_can_be_revoked,
    patch_null_clears_and_absent_keeps,
    patch_must_be_an_object,
    fields_used_by_a_snapshot_are_immutable,
    snapshot_without_takes,
    takes_of_unexpected_members_are_not_counted,
}

const DATE: &str = "2026-11-21";
const STATES: [&str; 5] = ["scheduled", "collecting", "window_closed", "aggregated", "published"];

fn state(fixture: &Fixture, session: u64, to: &str) -> Answer {
    fixture.client.operate(&format!("/sessions/{session}/state"), &json!({ "state": to }))
}

fn read(fixture: &Fixture, session: u64) -> Value {
    let read = fixture.client.get(&format!("/api/swarm/sessions/{session}")).expect(200);
    read.json()["session"].clone()
}

fn patch(fixture: &Fixture, session: u64, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    fixture.client.send("PATCH", &path, &headers, body.to_string().as_bytes())
}

fn session_in(fixture: &Fixture, at: &str) -> u64 {
    let begin = if at == "scheduled" { "scheduled" } else { "collecting" };
    let body = json!({ "date": DATE, "subjectId": "aurora", "state": begin });
    let convened = fixture.client.operate("/sessions", &body).expect(201).json();
    let session = convened["session"]["id"].as_u64().unwrap();
    let way: &[&str] = match at {
        "scheduled" | "collecting" => &[],
        "published" => &["aggregated", "published"],
        at => &[at],
    };
    for to in way {
        state(fixture, session, to).expect(200);
    }
    session
}

fn invalid_date_has_no_session(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    for day in ["2026-02-29", "2026-02-30", "2026-13-01", "2026-00-00", "9999-99-99"] {
        let take = fixture.client.submit(&author, author.draft(day, "aurora"));
        take.refused(404, "no session for date/subject");
        let read = fixture.client.get(&format!("/api/swarm/sessions/{day}/aurora"));
        read.refused(404, "no such session");
        let convened = json!({ "date": day, "subjectId": "aurora" });
        fixture.client.operate("/sessions", &convened).expect(400);
    }
}

fn session_state_transitions(backend: &Backend) {
    let fixture = Fixture::on(backend);
    fixture.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for (i, from) in STATES.into_iter().enumerate() {
        for (j, to) in STATES.into_iter().enumerate() {
            let session = session_in(&fixture, from);
            let before = read(&fixture, session);
            let answer = state(&fixture, session, to);
            let allowed = match (from, to) {
                ("window_closed", "collecting") | ("aggregated", "published") => true,
                (_, "published") => false,
                _ => i < j,
            };
            if !allowed {
                answer.refused(409, &format!("session is {from}"));
                assert_eq!(read(&fixture, session), before);
                continue;
            }
            let moved = answer.expect(200).json();
            let now = read(&fixture, session);
            assert_eq!(moved, json!({ "ok": true, "status": 200, "session": now }));
            assert_eq!(now["state"], to);
            assert_eq!(now["snapshot"].is_object(), matches!(to, "aggregated" | "published"));
            if from == "aggregated" {
                assert_eq!(now["snapshot"], before["snapshot"]);
            }
        }
    }
}

fn convened_session_has_its_initial_fields(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let [_, _] = ["a", "b"].map(|id| fixture.author_named(MemberId::parse(id).unwrap()));
    fixture.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let body = json!({
        "date": DATE, "subjectId": "aurora", "windowClosesAt": "2026-11-21T23:45:00.5+01:00",
        "quorum": 2, "buckets": ["cash", "btc"],
        "roster": [{ "memberId": "a" }, { "memberId": "b", "excused": true }],
    });
    let convened = fixture.client.operate("/sessions", &body).expect(201).json();
    let session = json!({
        "id": 1, "date": DATE, "subjectId": "aurora", "state": "collecting",
        "windowClosesAt": "2026-11-21T22:45:00.500Z", "convenedAt": fixture.clock.after(0),
        "quorum": 2, "buckets": ["cash", "btc"],
        "roster": [{ "memberId": "a", "excused": false }, { "memberId": "b", "excused": true }],
        "snapshot": null,
    });
    assert_eq!(convened, json!({ "ok": true, "status": 201, "session": session }));
    assert_eq!(read(&fixture, 1), session);
}

fn roster_can_be_frozen_once(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let [_, _] = ["a", "b"].map(|id| fixture.author_named(MemberId::parse(id).unwrap()));
    let session = fixture.convene(DATE, "aurora");
    let roster = format!("/sessions/{session}/roster");
    let excuse = format!("{roster}/excuse");
    let a = json!({ "memberId": "a", "excused": true });
    fixture.client.operate(&excuse, &a).refused(409, "session has no roster");
    let members = json!({ "members": [{ "memberId": "a" }, { "memberId": "b", "excused": true }] });
    let frozen = fixture.client.operate(&roster, &members).expect(200).json();
    assert_eq!(frozen["session"], read(&fixture, session));
    let listed = |a: bool, b: bool| json!([{ "memberId": "a", "excused": a }, { "memberId": "b", "excused": b }]);
    assert_eq!(frozen["session"]["roster"], listed(false, true));
    fixture.client.operate(&roster, &members).refused(409, "roster already frozen");
    fixture
        .client
        .operate(&roster, &json!({ "members": [] }))
        .refused(409, "roster already frozen");
    let nobody = json!({ "memberId": "c", "excused": true });
    let error = fixture.client.operate(&excuse, &nobody).expect(404).json();
    assert_eq!((&error["ok"], &error["status"]), (&json!(false), &json!(404)));
    let excused = fixture.client.operate(&excuse, &a).expect(200).json();
    assert_eq!(excused["session"]["roster"], listed(true, true));
    let b = json!({ "memberId": "b", "excused": false });
    fixture.client.operate(&excuse, &b).expect(200);
    assert_eq!(read(&fixture, session)["roster"], listed(true, false));
}

/// The member may file again afterwards.
fn excuse_can_be_revoked(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let session = fixture.convene(DATE, "aurora");
    let id = author.id.as_str();
    let members = json!({ "members": [{ "memberId": id, "excused": true }] });
    fixture.client.operate(&format!("/sessions/{session}/roster"), &members).expect(200);
    let submit = || fixture.client.submit(&author, author.draft(DATE, "aurora"));
    submit().refused(403, "member is excused from this session");
    let back = json!({ "memberId": id, "excused": false });
    fixture.client.operate(&format!("/sessions/{session}/roster/excuse"), &back).expect(200);
    submit().expect(201);
}

fn patch_null_clears_and_absent_keeps(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let session = fixture.convene(DATE, "aurora");
    let moment = "2026-11-21T22:45:00.000Z";
    for (body, deadline, quorum) in [
        (json!({ "windowClosesAt": moment, "quorum": 3 }), json!(moment), json!(3)),
        (json!({}), json!(moment), json!(3)),
        (json!({ "quorum": null }), json!(moment), json!(null)),
        (json!({ "quorum": 1 }), json!(moment), json!(1)),
        (json!({ "windowClosesAt": null }), json!(null), json!(1)),
        (json!({ "windowClosesAt": null, "quorum": null }), json!(null), json!(null)),
    ] {
        let patched = patch(&fixture, session, &body).expect(200).json();
        let now = read(&fixture, session);
        assert_eq!(patched, json!({ "ok": true, "status": 200, "session": now }));
        assert_eq!((&now["windowClosesAt"], &now["quorum"]), (&deadline, &quorum), "{body}");
    }
    for (field, value) in
        [("quorum", json!(-1)), ("quorum", json!({})), ("windowClosesAt", json!("soon"))]
    {
        let answer = patch(&fixture, session, &json!({ field: value })).expect(400).json();
        assert_eq!(answer["error"], "invalid request");
        assert!(answer["detail"].as_str().unwrap().contains(field));
    }
}

/// Other JSON values are refused.
fn patch_must_be_an_object(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let session = fixture.convene(DATE, "aurora");
    for body in [json!([]), json!(null), json!("x"), json!(1), json!(true)] {
        let answer = patch(&fixture, session, &body);
        assert_eq!(answer.status, 400, "PATCH {body}: {answer:?}");
    }
}

/// Only the deadline may still move (API.md, 7.3).
fn fields_used_by_a_snapshot_are_immutable(backend: &Backend) {
    const AGGREGATED: &str = "session already aggregated";
    let fixture = Fixture::on(backend);
    let [plain, listed] = ["plain", "listed"].map(|subject| fixture.convene(DATE, subject));
    for subject in ["plain", "listed"] {
        fixture.client.operate("/subjects", &json!({ "id": subject, "name": "A" })).expect(201);
    }
    fixture.author_named(MemberId::parse("a").unwrap());
    let roster = json!({ "members": [{ "memberId": "a" }] });
    fixture.client.operate(&format!("/sessions/{listed}/roster"), &roster).expect(200);
    for to in ["aggregated", "published"] {
        for session in [plain, listed] {
            state(&fixture, session, to).expect(200);
            let before = read(&fixture, session);
            let path = format!("/sessions/{session}");
            let excuse = json!({ "memberId": "a", "excused": true });
            for (tail, body) in
                [("roster", &roster), ("roster/excuse", &excuse), ("brief", &json!({}))]
            {
                let answer = fixture.client.operate(&format!("{path}/{tail}"), body);
                answer.refused(409, AGGREGATED);
            }
            let moment = "2030-01-01T00:00:00.000Z";
            for body in
                [json!({ "quorum": 1 }), json!({ "quorum": null, "windowClosesAt": moment })]
            {
                patch(&fixture, session, &body).refused(409, AGGREGATED);
            }
            assert_eq!(read(&fixture, session), before);
            let moved = patch(&fixture, session, &json!({ "windowClosesAt": moment })).expect(200);
            assert_eq!(moved.json()["session"]["windowClosesAt"], moment);
            patch(&fixture, session, &json!({ "windowClosesAt": null })).expect(200);
        }
    }
}

/// Its time is that of the store's clock.
fn snapshot_without_takes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let session = fixture.convene(DATE, "aurora");
    fixture.clock.move_by(1_234);
    state(&fixture, session, "aggregated").expect(200);
    let aggregated_at = fixture.clock.after(0);
    fixture.clock.move_by(1_000);
    state(&fixture, session, "published").expect(200);
    let expected = json!({
        "aggregatedAt": aggregated_at,
        "participation": { "members": 0, "expected": null, "rate": null },
        "quorum": null,
        "stances": {
            "bearish": 0, "cautious": 0, "neutral": 0, "constructive": 0, "bullish": 0, "other": 0,
        },
        "consensus": null, "weights": null, "quotes": [],
    });
    assert_eq!(read(&fixture, session)["snapshot"], expected);
}

/// Takes filed before the roster was frozen, or the member excused, stay stored but are in no figure.
fn takes_of_unexpected_members_are_not_counted(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let authors = [fixture.author(), fixture.author(), fixture.author()];
    let session = fixture.convene(DATE, "aurora");
    patch(&fixture, session, &json!({ "quorum": 2 })).expect(200);
    for author in &authors {
        fixture.client.submit(author, author.draft(DATE, "aurora")).expect(201);
    }
    let entry = |author: &Author| json!({ "memberId": author.id });
    let roster = json!({ "members": [entry(&authors[0]), entry(&authors[1])] });
    fixture.client.operate(&format!("/sessions/{session}/roster"), &roster).expect(200);
    let excuse = json!({ "memberId": authors[1].id, "excused": true });
    fixture.client.operate(&format!("/sessions/{session}/roster/excuse"), &excuse).expect(200);
    state(&fixture, session, "aggregated").expect(200);
    let read = fixture.client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    assert_eq!(read["takes"].as_array().unwrap().len(), 3);
    let snapshot = &read["session"]["snapshot"];
    assert_eq!(snapshot["participation"], json!({ "members": 1, "expected": 1, "rate": 1 }));
    assert_eq!(snapshot["quorum"], json!({ "required": 2, "met": false }));
    let quoted: Vec<_> =
        snapshot["quotes"].as_array().unwrap().iter().map(|quote| &quote["memberId"]).collect();
    assert_eq!(quoted, [&json!(authors[0].id)]);
}
