//! Every operator's route: what it needs, and what it refuses.

mod commands;
mod dry_runs;
mod roles;

use serde_json::{Value, json};

use crate::desk::{Desk, Request};
use crate::harness::ADMIN;

/// Also of requests that need no field. Those of a regime are free.
#[test]
fn unknown_field_of_any_change_is_refused() {
    let fixture = Desk::start().fixture;
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let before = fixture.print();
    let has_fixed_fields = |request: &Request| !request.path.ends_with("/regime");
    for Request { route, path, body } in Request::of_operators().filter(has_fixed_fields) {
        if route.is_read() {
            continue;
        }
        let mut body: Value = serde_json::from_str(&body).unwrap();
        body["unknown"] = json!(1);
        let body = body.to_string();
        let refused = fixture.client.send(route.method(), &path, &headers, body.as_bytes());
        let detail = refused.expect(400).json()["detail"].clone();
        assert_eq!(detail, "body must not have the unknown field \"unknown\"", "{path}");
    }
    assert_eq!(fixture.print(), before);
}
