//! A desk with records for every route of the API, and a request for each that it accepts.
//!
//! Bodies are the examples of the reference. No two requests change the same record, so each is accepted before and after
//! the others, but for the last one.

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::fixture::Fixture;
use crate::harness::{Author, fresh_key, signed_text};
use crate::own_keys;
use crate::routes::{self, Route};

/// The members of the examples, and the members of the desk in their place.
const MEMBERS: [(&str, &str); 2] =
    [("3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11", "m"), ("a2d1e7b4-1c55-4b57-8f3e-0a9b8c7d6e5f", "n")];

/// What operators do with an applicant, and with a member. Each has a member of its own, called like it.
const ACTS_ON_APPLICANTS: [&str; 3] = ["activate", "reject", "erase"];
const ACTS_ON_MEMBERS: [&str; 3] = ["deactivate", "reset-claim", "rotate-key"];

pub struct Desk {
    pub fixture: Fixture,
    /// The member `m`.
    pub author: Author,
    /// The body of a token claim.
    claim: String,
}

/// A request that the desk accepts.
#[derive(Clone)]
pub struct Request {
    pub route: &'static Route,
    pub path: String,
    /// The body; empty: none.
    pub body: String,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.route.method(), self.path, self.body)
    }
}

impl Desk {
    pub fn start() -> Self {
        Self::on(&Backend::memory())
    }

    pub fn on(backend: &Backend) -> Self {
        Self::of(Fixture::on(backend))
    }

    /// Fills an empty fixture: with the records of [`Fixture::filled`], members for the acts on members, a message of
    /// mail, the take 2, which is withheld, the sessions 2 (no takes, no roster, no brief), 3 (a roster), 4 (to be withdrawn),
    /// 5 (aggregated) and 6 (with an outcome), and an approved member.
    pub fn of(fixture: Fixture) -> Self {
        let (fixture, author) = fixture.filled();
        let client = &fixture.client;
        let (id, key) = Author::apply(client, "Grace");
        client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
        let claim = Author::proof(client, &id, &key);
        for act in ACTS_ON_APPLICANTS {
            fixture.applied(act);
        }
        for id in ACTS_ON_MEMBERS.into_iter().chain(["n"]) {
            fixture.author_named(id.parse().unwrap());
        }
        let session = json!({ "date": "2026-11-20", "subjectId": "aurora" });
        client.operate("/sessions", &session).expect(201);
        let mut listed = session.clone();
        listed["roster"] = json!([{ "memberId": "m" }]);
        client.operate("/sessions", &listed).expect(201);
        client.operate("/sessions", &session).expect(201);
        let webhook = json!({ "url": "https://hooks.test.example/swarm" });
        client.operate("/webhooks/test", &webhook).expect(200);
        let other = fixture.author_named("of take 2".parse().unwrap());
        client.submit(&other, other.draft("2026-11-21", "aurora")).expect(201);
        let note = json!({ "note": "It names a client." });
        client.operate("/takes/2/withhold", &note).expect(200);
        let other = json!({ "date": "2026-11-19", "subjectId": "aurora" });
        client.operate("/sessions", &other).expect(201);
        client.operate("/sessions/5/state", &json!({ "state": "aggregated" })).expect(200);
        let over = json!({
            "date": "2026-11-18", "subjectId": "aurora", "windowClosesAt": "2000-01-01T00:00:00Z",
        });
        client.operate("/sessions", &over).expect(201);
        client.operate("/sessions/6/state", &json!({ "state": "aggregated" })).expect(200);
        client.operate("/sessions/6/outcome", &json!({ "value": 1 })).expect(200);
        fixture.sign_log();
        Self { fixture, author, claim }
    }

    /// A request for each route, but for those of the console, in an order in which all are accepted.
    pub fn requests(&self) -> Vec<Request> {
        let draft = || self.author.draft("2026-11-21", "aurora");
        let request = |route: &'static Route| match route.info.path {
            "/api/swarm/submit" | "/api/swarm/preflight" => {
                let body = signed_text(&self.author.key.sign(draft()));
                Request { route, path: route.path.clone(), body }
            }
            "/api/swarm/token-claim" => {
                Request { route, path: route.path.clone(), body: self.claim.clone() }
            }
            "/api/swarm/key" => {
                let body = own_keys::request(&self.author, &fresh_key()).to_string();
                Request { route, path: route.path.clone(), body }
            }
            _ => Request::of(route),
        };
        let mut requests: Vec<_> =
            routes::all().filter(|route| !route.is_of_console()).map(request).collect();
        // Reads come before a record is erased, the synthesis of a day before it is withdrawn, and takes before the key of their
        // author is replaced.
        requests.sort_by_key(|request| {
            let is_last =
                matches!(request.route.info.path, "/api/ic/admin/day/withdraw" | "/api/swarm/key");
            (!request.route.is_read(), is_last)
        });
        requests
    }
}

impl Request {
    /// A request of an operator for each route of operators.
    pub fn of_operators() -> impl Iterator<Item = Self> {
        routes::of_operators().map(Self::of)
    }

    /// A request for a route whose body is not signed.
    fn of(route: &'static Route) -> Self {
        let session = match route.info.path {
            "/api/swarm/admin/sessions/{id}/roster" | "/api/swarm/admin/sessions/{id}/brief" => "2",
            "/api/swarm/admin/sessions/{id}/roster/excuse" => "3",
            "/api/swarm/admin/sessions/{id}/withdraw" => "4",
            "/api/swarm/admin/sessions/{id}/void" => "5",
            "/api/swarm/sessions/{id}/scores" | "/api/swarm/admin/sessions/{id}/outcome" => "6",
            _ => "1",
        };
        let path = route.path.replace("/sessions/1", &format!("/sessions/{session}"));
        // The take 2 is withheld.
        let path = path.replace("/takes/1/restore", "/takes/2/restore");
        Self { route, path, body: body(route) }
    }
}

/// The example of a route, about the members of the desk.
fn body(route: &Route) -> String {
    let Some(rule) = &route.info.body else { return String::new() };
    let mut example = rule.example.clone().unwrap_or_else(|| panic!("{} has none", route.name()));
    for (theirs, ours) in MEMBERS {
        example = example.replace(theirs, ours);
    }
    let mut body: Value = serde_json::from_str(&example).unwrap();
    let act = route.info.path.strip_prefix("/api/swarm/admin/").unwrap_or_default();
    if ACTS_ON_APPLICANTS.iter().chain(&ACTS_ON_MEMBERS).any(|name| *name == act) {
        body["memberId"] = act.into();
    }
    // More than the example says.
    match act {
        "rotate-key" => body["publicKey"] = fresh_key().public_key().to_string().into(),
        "sessions/{id}/state" => body["state"] = "aggregated".into(),
        _ => {}
    }
    body.to_string()
}
