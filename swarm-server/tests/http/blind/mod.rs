//! Blind sessions (API.md, 5.8): what others see of a sealed session does not depend on what was filed, and everything
//! shows once it is opened.

mod kills;
mod openings;
mod sealed_changes;
mod two_worlds;

use serde_json::{Value, json};
use swarm_core::MemberId;

use crate::fixture::{Fixture, insert_member, key_of, member};
use crate::harness::{Author, Client};

const DAY: &str = "2026-11-21";

/// A server with a blind session, in which ada filed twice and grace once.
struct World {
    fixture: Fixture,
    ada: Author,
    grace: Author,
}

impl World {
    /// `takes` are stance, confidence and body.
    fn filled(takes: [(&str, f64, &str); 3]) -> Self {
        let fixture = Fixture::start();
        let author = |name: &str| {
            let (id, key) =
                (MemberId::parse(name).unwrap(), key_of(format!("{name:*<32}").as_bytes()));
            let token = format!("token of {name}");
            insert_member(&fixture.port(), member(name, &key.public_key().to_string(), &token));
            Author { id, key, token }
        };
        let (ada, grace) = (author("ada"), author("grace"));
        let client = &fixture.client;
        client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" }));
        let session = json!({ "date": DAY, "subjectId": "aurora", "blind": true });
        let convened = client.operate("/sessions", &session).expect(201).json();
        assert_eq!(convened["session"]["blind"], true);
        for (author, (stance, confidence, body)) in [&ada, &grace, &ada].into_iter().zip(takes) {
            let mut fields = serde_json::to_value(author.draft(DAY, "aurora")).unwrap();
            fields["stance"] = stance.into();
            fields["confidence"] = confidence.into();
            fields["body"] = body.into();
            let filed = client.submit(author, author.draft_of(fields)).expect(201);
            assert_eq!(filed.header("swarm-seal").unwrap().len(), 44);
        }
        Self { fixture, ada, grace }
    }

    fn client(&self) -> &Client {
        &self.fixture.client
    }
}

#[test]
fn sealed_take_shows_whole_to_its_author_alone() {
    let world =
        World::filled([("bullish", 0.25, "a"), ("bearish", 1.0, "b"), ("neutral", 0.5, "c")]);
    let client = world.client();
    let sealed = client.get("/api/swarm/takes/1").expect(200).json();
    let mut fields: Vec<_> = sealed.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let expected = ["filedAt", "id", "memberId", "revision", "sealed", "sessionId", "supersededBy"];
    assert_eq!(fields, expected);
    let read = |bearer: &str| {
        client.send("GET", "/api/swarm/takes/1", &[("authorization", bearer)], b"").expect(200)
    };
    let own = read(&world.ada.bearer());
    assert_eq!(own.header("cache-control"), Some("no-store"));
    let own = own.json();
    assert!(own["salt"].is_string() && own["sealed"] == sealed["sealed"], "{own}");
    assert_eq!(read(&world.grace.bearer()).json(), sealed);
}

#[test]
fn opened_session_shows_its_takes_and_stays_open() {
    let world =
        World::filled([("bullish", 0.25, "a"), ("bearish", 1.0, "b"), ("neutral", 0.5, "c")]);
    let client = world.client();
    let sealed = client.get("/api/swarm/takes/2").expect(200).json();
    let dry = client.operate("/sessions/1/state?dry_run=true", &json!({ "state": "aggregated" }));
    assert_eq!(dry.expect(200).json()["session"]["snapshot"], Value::Null);
    let before = client.log_entries().len();
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let take = client.get("/api/swarm/takes/2").expect(200).json();
    assert_eq!((&take["sealed"], &take["stance"]), (&sealed["sealed"], &json!("bearish")));
    let entries = client.log_entries().split_off(before);
    let kinds: Vec<_> = entries.iter().map(|entry| (&entry["kind"], &entry["act"])).collect();
    let (session, opening) = (json!("session"), (&json!("opening"), &Value::Null));
    let [state, opened] = [json!("state"), json!("opened")];
    assert_eq!(kinds, [(&session, &state), (&session, &opened), opening, opening, opening]);
    assert_eq!(entries[3]["salt"], take["salt"]);
    let moved = json!({ "windowClosesAt": "2999-01-01T00:00:00Z" });
    let admin = [("x-admin-token", crate::harness::ADMIN), ("content-type", "application/json")];
    let path = "/api/swarm/admin/sessions/1";
    let refused = client.send("PATCH", path, &admin, moved.to_string().as_bytes());
    refused.refused(409, "session already opened");
}

#[test]
fn memo_of_a_sealed_session_is_shown_when_it_is_opened() {
    let world =
        World::filled([("bullish", 0.25, "a"), ("bearish", 1.0, "b"), ("neutral", 0.5, "c")]);
    let (client, bearer) = (world.client(), world.ada.bearer());
    let memo = json!({ "title": "Why", "body": "Because.", "sessionId": 1 }).to_string();
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    client.send("POST", "/api/swarm/memos", &headers, memo.as_bytes()).expect(201);
    let json = ("accept", "application/json");
    let read = |headers: &[(&str, &str)]| {
        ["/swarm/memos/1", "/api/swarm/memos/1"]
            .map(|path| client.send("GET", path, headers, b"").status)
    };
    assert_eq!((read(&[json]), read(&[json, headers[0]])), ([404; 2], [200; 2]));
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    assert_eq!(read(&[json]), [200; 2]);
    let last = client.log_entries().pop().unwrap();
    assert_eq!((&last["kind"], &last["act"]), (&json!("memo"), &json!("published")));
    let memo = client.get("/api/swarm/memos/1").expect(200).json();
    assert_eq!(memo["publishedAt"], last["at"]);
}

/// Readers of feeds take an entry for new by `updated`.
#[test]
fn feeds_date_what_was_sealed_by_the_opening() {
    let world =
        World::filled([("bullish", 0.25, "a"), ("bearish", 1.0, "b"), ("neutral", 0.5, "c")]);
    let (client, bearer, clock) = (world.client(), world.ada.bearer(), &world.fixture.clock);
    let memo = json!({ "title": "Why", "body": "Because.", "sessionId": 1 }).to_string();
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    client.send("POST", "/api/swarm/memos", &headers, memo.as_bytes()).expect(201);
    // When an entry of the session, of a take or of a memo was updated.
    let updated = |path: &str, end: &str| {
        let feed = client.get(path).expect(200).text;
        let entry = feed.split("<entry>").skip(1).find(|entry| entry.contains(end)).unwrap();
        let updated = entry.split_once("<updated>").unwrap().1.split_once("</updated>").unwrap().0;
        updated.get(..19).unwrap().to_owned()
    };
    let (subject, member) = ("/swarm/subjects/aurora/feed.xml", "/swarm/members/ada/feed.xml");
    assert_eq!(updated(subject, "/swarm/sessions/1</id>"), "2026-11-21T12:00:00");
    let deadline = clock.after(30_000);
    let next = json!({ "date": "2026-11-22", "subjectId": "aurora", "windowClosesAt": deadline });
    client.operate("/sessions", &next).expect(201);
    clock.move_by(60_000);
    // A deadline that passed may be moved on.
    assert_eq!(updated(subject, "/swarm/sessions/2</id>"), "2026-11-21T12:00:00");
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    for (path, end) in [
        (subject, "/swarm/sessions/1</id>"),
        (subject, "/swarm/sessions/1#grace</id>"),
        (member, "/swarm/sessions/1#ada</id>"),
        (member, "/swarm/memos/1</id>"),
    ] {
        assert_eq!(updated(path, end), "2026-11-21T12:01:00", "{path}: {end}");
    }
    // The opening publishes a memo that was sealed.
    let feed = client.get(member).expect(200).text;
    assert!(feed.contains("<published>2026-11-21T12:01:00"), "{feed}");
    // What is filed afterwards was never sealed.
    clock.move_by(60_000);
    let late = world.fixture.author();
    client.submit(&late, late.draft(DAY, "aurora")).expect(201);
    let end = format!("/swarm/sessions/1#{}</id>", late.id);
    assert_eq!(updated(subject, &end), "2026-11-21T12:02:00");
    client.operate("/sessions/1/void", &json!({ "note": "no" })).expect(200);
    assert_eq!(updated(subject, "/swarm/sessions/1</id>"), "2026-11-21T12:02:00");
}
