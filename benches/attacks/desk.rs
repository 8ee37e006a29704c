//! Two tenants of the size of a busy desk: hundreds of sessions and subjects, thousands of takes, large snapshots. The
//! second one has the largest documents that its quotas allow.

use std::path::Path;

use hyper::StatusCode;
use serde_json::{Value, json};
use swarm_benches::shipped::{ServerFixture, load};
use swarm_benches::{LONGEST, USUAL};

/// The members of the first tenant.
pub const MEMBERS: usize = 400;

/// Sessions in which takes are filed while others read.
pub const OPEN: usize = 400;

/// Sessions with a result, and the members who filed in each.
const PAST: usize = 200;
const FILED: usize = 20;

/// Takes of the longest form of all members, with a result.
const LARGE_PAST: usize = OPEN + PAST;

/// The same without a result.
pub const LARGE: usize = LARGE_PAST + 1;

/// A session with 100 takes.
pub const SMALL: usize = LARGE + 1;

const SESSIONS: usize = SMALL + 1;

/// Snapshots of one subject, and positions in each.
const SNAPSHOTS: usize = 200;

/// Subjects of the second tenant, and the characters of each.
const LARGE_SUBJECTS: usize = 150;
const LARGEST_NOTE: usize = 240_000;

/// Serves both tenants.
pub fn open(program: &Path) -> ServerFixture {
    let fixture = ServerFixture::first_of(program, 2, MEMBERS, SESSIONS);
    let server = fixture.server.address;
    let past = (0..PAST).flat_map(|session| {
        (0..FILED).map(move |member| ((session + member * 7) % MEMBERS, OPEN + session))
    });
    let small = (0..100).map(|member| (member, SMALL));
    let takes = past.chain(small).map(|(member, session)| fixture.take_of(USUAL, member, session));
    load::send(server, 16, takes.collect(), StatusCode::CREATED);
    for session in [LARGE_PAST, LARGE] {
        load::send(server, 16, fixture.takes_of(LONGEST, session), StatusCode::CREATED);
    }
    for state in ["aggregated", "published"] {
        let advance = |session: usize| {
            let id = fixture.sessions.get(session).expect("a session").id;
            (format!("/swarm/admin/sessions/{id}/state"), json!({ "state": state }))
        };
        fixture.operate(0, StatusCode::OK, (OPEN..=LARGE_PAST).map(advance));
    }
    for tenant in [0, 1] {
        fixture.operate(tenant, StatusCode::CREATED, documents());
    }
    fixture.operate(1, StatusCode::CREATED, (0..LARGE_SUBJECTS).map(largest_subject));
    fixture.operate(0, StatusCode::CREATED, committee());
    fixture.publish_memos(100, 100_000);
    fixture
}

/// Documents of a subject and a brief.
fn documents() -> impl Iterator<Item = (String, Value)> {
    let position = |number: usize| json!({ "token": format!("T{number}"), "chain": "base", "valueUsd": number, "pct": 0.5 });
    let positions: Vec<_> = (0..100).map(position).collect();
    let snapshot = move |number: usize| {
        let date = format!("2026-{:02}-{:02}", number / 28 % 12 + 1, number % 28 + 1);
        let snapshot = json!({ "date": date, "totalValueUsd": number, "positions": positions });
        ("/swarm/admin/subjects/subject-0/snapshots".to_owned(), snapshot)
    };
    let brief = ("/swarm/admin/sessions/1/brief".to_owned(), json!({}));
    (0..SNAPSHOTS).map(snapshot).chain([brief])
}

fn largest_subject(number: usize) -> (String, Value) {
    let subject = json!({
        "id": format!("large-{number:03}"), "name": "Large", "structuralNotes": ["n".repeat(LARGEST_NOTE)],
    });
    ("/swarm/admin/subjects".to_owned(), subject)
}

fn committee() -> impl Iterator<Item = (String, Value)> {
    let member = |number| {
        let member = json!({ "id": format!("m{number}"), "name": format!("Member {number}") });
        ("/ic/admin/members".to_owned(), member)
    };
    (0..5).map(member).chain([("/ic/admin/briefs".to_owned(), json!({}))])
}
