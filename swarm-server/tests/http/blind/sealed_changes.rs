//! Changes of a session with sealed takes: an operator who reads the store knows what was filed, so nothing may depend on it
//! (API.md, 5.8).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, Client};

on_every_store! {
    nothing_depends_on_sealed_takes,
    blind_session_without_takes_changes_as_ever,
    session_that_is_not_blind_changes_as_ever,
}

const DAY: &str = "2026-11-21";

/// A session with a roster whose window is open.
struct Desk {
    fixture: Fixture,
    ada: Author,
    deadline: String,
}

impl Desk {
    fn new(backend: &Backend, blind: bool) -> Self {
        let fixture = Fixture::on(backend);
        let client = &fixture.client;
        let (ada, grace) = (fixture.author(), fixture.author());
        client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
        let deadline = fixture.clock.after(60_000).to_string();
        let roster = json!([{ "memberId": ada.id }, { "memberId": grace.id }]);
        let session = json!({
            "date": DAY, "subjectId": "aurora", "blind": blind, "windowClosesAt": deadline,
            "roster": roster, "quorum": 1,
        });
        client.operate("/sessions", &session).expect(201);
        Self { fixture, ada, deadline }
    }

    fn client(&self) -> &Client {
        &self.fixture.client
    }

    fn file(&self) {
        self.client().submit(&self.ada, self.ada.draft(DAY, "aurora")).expect(201);
    }

    fn patch(&self, body: &Value) -> Answer {
        let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
        let path = "/api/swarm/admin/sessions/1";
        self.client().send("PATCH", path, &headers, body.to_string().as_bytes())
    }

    /// All changes that could depend on what was filed.
    fn changes(&self) -> Vec<(&'static str, Answer)> {
        let client = self.client();
        let (earlier, id) = (self.fixture.clock.after(30_000), self.ada.id.as_str());
        let excuse = json!({ "memberId": id, "excused": true });
        vec![
            ("excuse", client.operate("/sessions/1/roster/excuse", &excuse)),
            ("quorum", self.patch(&json!({ "quorum": 2 }))),
            ("no quorum", self.patch(&json!({ "quorum": null }))),
            ("earlier", self.patch(&json!({ "windowClosesAt": earlier }))),
            ("no deadline", self.patch(&json!({ "windowClosesAt": null }))),
            ("aggregated", client.operate("/sessions/1/state", &json!({ "state": "aggregated" }))),
        ]
    }
}

fn nothing_depends_on_sealed_takes(backend: &Backend) {
    let desk = Desk::new(backend, true);
    desk.file();
    let client = desk.client();
    let memo = json!({ "title": "Why", "body": "Because.", "sessionId": 1 }).to_string();
    let bearer = desk.ada.bearer();
    client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo).expect(201);
    let entries = client.get("/api/swarm/log?limit=1000").text;
    for (name, refused) in desk.changes() {
        assert_eq!(refused.header("swarm-error"), Some("takes-sealed"), "{name}");
        refused.refused(409, "takes are sealed");
    }
    client.operate("/memos/1/retract", &json!({})).refused(409, "takes are sealed");
    assert_eq!(client.get("/api/swarm/log?limit=1000").text, entries, "nothing was committed");
    let other = json!({ "date": "2026-11-22", "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &other).expect(201);
    client.submit(&desk.ada, desk.ada.draft("2026-11-22", "aurora")).expect(201);
    let roster = json!({ "members": [{ "memberId": desk.ada.id }] });
    client.operate("/sessions/2/roster", &roster).refused(409, "takes are sealed");
    let before = client.get("/api/swarm/log?limit=1000").text;
    let dry = client.operate("/sessions/1/state?dry_run=true", &json!({ "state": "aggregated" }));
    dry.refused(409, "takes are sealed");
    assert_eq!(client.get("/api/swarm/log?limit=1000").text, before, "nothing was committed");

    // What changes nothing, a note, a later deadline, and the end of the window at its time.
    desk.patch(&json!({ "quorum": 1, "windowClosesAt": desk.deadline, "note": "as it is" }))
        .expect(200);
    desk.patch(&json!({ "windowClosesAt": desk.fixture.clock.after(90_000) })).expect(200);
    client.operate("/sessions/1/state", &json!({ "state": "window_closed" })).expect(200);
    client
        .operate("/sessions/1/state", &json!({ "state": "aggregated" }))
        .refused(409, "takes are sealed");
    desk.fixture.clock.move_by(90_001);
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    client.operate("/memos/1/retract", &json!({})).expect(200);
}

fn blind_session_without_takes_changes_as_ever(backend: &Backend) {
    changes_as_ever(&Desk::new(backend, true));
}

fn session_that_is_not_blind_changes_as_ever(backend: &Backend) {
    let desk = Desk::new(backend, false);
    desk.file();
    changes_as_ever(&desk);
}

#[track_caller]
fn changes_as_ever(desk: &Desk) {
    for (name, changed) in desk.changes() {
        assert_eq!(changed.status, 200, "{name}: {changed:?}");
    }
}
