//! Every operator's route: what it needs, and a request that it accepts.

mod dry_runs;
mod roles;

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, fresh_key};

/// An operator's route, with a request that [`desk`] accepts.
pub struct OperatorRoute {
    pub method: &'static str,
    /// The path as `/openapi.json` has it.
    pub template: &'static str,
    /// The least role that may use it.
    pub role: &'static str,
    /// The path of the request.
    pub path: &'static str,
    /// The body of the request; null: none.
    pub body: Value,
}

impl OperatorRoute {
    pub fn is_change(&self) -> bool {
        self.method != "GET"
    }
}

/// All of them. Add a new route here: a test compares them with `/openapi.json`.
pub fn operator_routes() -> Vec<OperatorRoute> {
    let key = fresh_key().public_key();
    let member = |id: &str| json!({ "memberId": id });
    let route =
        |method, role, template, path, body| OperatorRoute { method, template, role, path, body };
    let change = |role, template, path, body| route("POST", role, template, path, body);
    let plain = |role, path, body| change(role, path, path, body);
    let read = |path| route("GET", "reader", path, path, Value::Null);
    let session = "/api/swarm/admin/sessions/{id}";
    vec![
        read("/api/swarm/admin/applications"),
        read("/api/swarm/admin/outbox"),
        read("/api/ic/admin/members"),
        plain("admin", "/api/swarm/admin/activate", member("applied")),
        plain("admin", "/api/swarm/admin/reject", member("applied")),
        plain("admin", "/api/swarm/admin/deactivate", member("m")),
        plain("admin", "/api/swarm/admin/erase", member("applied")),
        plain("admin", "/api/swarm/admin/reset-claim", member("m")),
        plain("admin", "/api/swarm/admin/rotate-key", json!({ "memberId": "m", "publicKey": key })),
        change(
            "admin",
            "/api/swarm/admin/outbox/{id}/retry",
            "/api/swarm/admin/outbox/1/retry",
            Value::Null,
        ),
        change(
            "admin",
            "/api/swarm/admin/outbox/{id}/cancel",
            "/api/swarm/admin/outbox/1/cancel",
            Value::Null,
        ),
        plain("admin", "/api/swarm/admin/accept", json!({ "what": "clock" })),
        plain(
            "operator",
            "/api/swarm/admin/subjects",
            json!({ "id": "borealis", "name": "Borealis", "wallets": [{ "b": 1.50, "a": 1 }] }),
        ),
        change(
            "operator",
            "/api/swarm/admin/subjects/{id}/snapshots",
            "/api/swarm/admin/subjects/aurora/snapshots",
            json!({ "date": "2026-11-21", "totalValueUsd": 1.5 }),
        ),
        plain(
            "operator",
            "/api/swarm/admin/sessions",
            json!({ "date": "2026-11-21", "subjectId": "aurora", "roster": [{ "memberId": "m" }] }),
        ),
        route(
            "PATCH",
            "operator",
            session,
            "/api/swarm/admin/sessions/1",
            json!({ "quorum": 3, "windowClosesAt": "2999-11-21T13:00:00Z" }),
        ),
        change(
            "operator",
            "/api/swarm/admin/sessions/{id}/state",
            "/api/swarm/admin/sessions/1/state",
            json!({ "state": "aggregated", "note": "early" }),
        ),
        change(
            "operator",
            "/api/swarm/admin/sessions/{id}/withdraw",
            "/api/swarm/admin/sessions/2/withdraw",
            json!({ "note": "twice" }),
        ),
        change(
            "operator",
            "/api/swarm/admin/sessions/{id}/roster",
            "/api/swarm/admin/sessions/1/roster",
            json!({ "members": [{ "memberId": "m" }] }),
        ),
        change(
            "operator",
            "/api/swarm/admin/sessions/{id}/roster/excuse",
            "/api/swarm/admin/sessions/3/roster/excuse",
            json!({ "memberId": "m", "excused": true }),
        ),
        change(
            "operator",
            "/api/swarm/admin/sessions/{id}/brief",
            "/api/swarm/admin/sessions/2/brief",
            json!({}),
        ),
        plain(
            "operator",
            "/api/swarm/admin/regime",
            json!({ "date": "2026-11-21", "regime": "calm", "composite": 0.5 }),
        ),
        plain(
            "operator",
            "/api/swarm/admin/signals",
            json!({ "signal_key": "k", "date": "2026-11-21", "payload": [1.0] }),
        ),
        change(
            "operator",
            "/api/swarm/admin/memos/{id}/retract",
            "/api/swarm/admin/memos/1/retract",
            Value::Null,
        ),
        plain("admin", "/api/ic/admin/members", json!({ "id": "chair", "name": "Chair" })),
        change(
            "admin",
            "/api/ic/admin/members/{id}/rotate-key",
            "/api/ic/admin/members/m/rotate-key",
            Value::Null,
        ),
        change(
            "admin",
            "/api/ic/admin/members/{id}/status",
            "/api/ic/admin/members/m/status",
            json!({ "status": "inactive" }),
        ),
        plain(
            "operator",
            "/api/ic/admin/day",
            json!({ "date": "2030-01-01", "subject_id": "aurora" }),
        ),
        plain("operator", "/api/ic/admin/briefs", json!({})),
        plain("operator", "/api/ic/admin/day/withdraw", json!({ "date": "2026-11-21" })),
        plain(
            "operator",
            "/api/ic/admin/synthesis",
            json!({ "date": "2026-11-21", "synthesis": "Neutral." }),
        ),
    ]
}

/// A desk that accepts each of the [requests](operator_routes): the records of [`Fixture::filled`], the
/// applicant `applied`, a message of mail, and the sessions 2 (no takes, no brief) and 3 (a roster).
pub fn desk(backend: &Backend) -> (Fixture, Author) {
    let (fixture, author) = Fixture::on(backend).filled();
    let client = &fixture.client;
    let (id, _) = Author::apply(client, "Grace");
    client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
    fixture.applied("applied");
    let session = json!({ "date": "2026-11-20", "subjectId": "aurora" });
    client.operate("/sessions", &session).expect(201);
    let mut listed = session.clone();
    listed["roster"] = json!([{ "memberId": "m" }]);
    client.operate("/sessions", &listed).expect(201);
    (fixture, author)
}

/// Also of requests that need no field. Those of a regime are free.
#[test]
fn unknown_field_of_any_change_is_refused() {
    let (fixture, _) = desk(&Backend::memory());
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let before = fixture.print();
    let has_fixed_fields = |route: &OperatorRoute| !route.path.ends_with("/regime");
    for route in
        operator_routes().into_iter().filter(OperatorRoute::is_change).filter(has_fixed_fields)
    {
        let mut body = route.body;
        body["unknown"] = json!(1);
        let body = body.to_string();
        let refused = fixture.client.send(route.method, route.path, &headers, body.as_bytes());
        let detail = refused.expect(400).json()["detail"].clone();
        assert_eq!(detail, "body must not have the unknown field \"unknown\"", "{}", route.path);
    }
    assert_eq!(fixture.print(), before);
}
