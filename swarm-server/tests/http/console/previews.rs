//! What is public or cannot be undone is shown first, and a session has one act that comes next.

use serde_json::{Value, json};

use super::visitor::{Seen, Visitor};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, Server};

fn sessions(client: &Client) -> usize {
    client.get("/api/swarm/sessions").json()["sessions"].as_array().unwrap().len()
}

#[test]
fn convening_with_cautions_is_shown_first_and_can_be_cancelled() {
    let server = Server::start();
    let client = server.client();
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    Author::join(&client, "Ada");
    let visitor = Visitor::signed_in(&client);
    let path = "/operate/convene";
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form(path);
    let fields = [
        ("date", "2026-01-02"),
        ("windowClosesAt", "2026-01-02T03:04"),
        ("rosterKind", "listed"),
        ("quorum", "5"),
        ("note", "typed"),
    ];
    let fixed = [
        ("blind", "on"),
        ("finish", "on"),
        ("question", "Higher?"),
        ("stances", "-1 sell\n1 buy"),
        ("maxRevisions", "2"),
        ("method", "weighted_median"),
    ];
    let asked = visitor.submit(&form, &[&fields[..], &fixed[..]].concat()).expect(200);
    assert_eq!(sessions(&client), 0);
    for text in
        [", 03:04 UTC, has passed", "the quorum is 5, and 1 are expected", "Aurora", "1 member"]
    {
        asked.says(text);
    }
    // What can never change is shown too.
    for text in [
        "sealed until it is opened",
        "by the server, once the window has closed",
        "Higher?",
        "sell (−1), buy (+1)",
        "at most 2, the first one included",
        "the lower median, weighted by confidence",
    ] {
        asked.says(text);
    }
    asked.is_silent_on("type=\"password\"");
    assert_eq!(asked.filled(), ["Convene"]);
    let form = asked.form(path);
    let cancelled = visitor.submit(&form, &[("back", "yes")]).expect(200);
    assert_eq!(sessions(&client), 0);
    for (name, value) in fields {
        let typed = (name.to_owned(), value.to_owned());
        assert!(cancelled.form(path).fields.contains(&typed), "{name}");
    }
    let seen = visitor.submit(&form, &[]);
    assert_eq!(seen.header("location"), Some("/operate/sessions/1"));
    visitor.follow(&seen).says("The session is convened.");

    // Without a caution there is nothing to look at, and the brief follows at once.
    let form = visitor.get("/operate/convene").expect(200).form(path);
    let fields = [
        ("windowClosesAt", "2099-01-02T03:04"),
        ("quorum", ""),
        ("rosterKind", ""),
        ("publishBrief", "on"),
    ];
    let seen = visitor.submit(&form, &fields).expect(303);
    visitor.follow(&seen).says("The session is convened. The brief is published.");
    client.get("/api/swarm/brief?session=2").expect(200);
}

#[test]
fn each_public_act_on_a_session_waits_for_its_confirmation() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let closes = fixture.clock.after(1_000);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "windowClosesAt": closes });
    for _ in 0..2 {
        client.operate("/sessions", &session).expect(201);
    }
    fixture.clock.move_by(2_000);
    let visitor = Visitor::signed_in(client);
    let record =
        |id: u64| client.get(&format!("/api/swarm/sessions/{id}")).json()["session"].clone();
    let log = || client.log_entries().len();
    for (act, then, token, filled) in [
        ("close", "<strong><bdi>closed</bdi></strong>", false, &["Close"][..]),
        ("aggregate", "<strong><bdi>result</bdi></strong>", false, &["Compute the result"]),
        ("publish", "<strong><bdi>published</bdi></strong>", false, &["Publish"]),
        ("void", "counts for nothing", true, &[]),
    ] {
        let (page, before, entries) = ("/operate/sessions/1", record(1), log());
        let path = format!("{page}/{act}");
        let asked = visitor.fill_in(page, &path, &[("note", "why")]).expect(200);
        asked.says(then);
        asked.says("Nothing is changed yet.");
        asked.says("<time datetime=\"2026-11-21\">21 Nov</time>");
        let result = asked.text.contains("<dt>Result</dt><dd><bdi>no takes</bdi></dd>");
        assert_eq!(result, ["publish", "void"].contains(&act), "{act}: {asked:?}");
        assert_eq!(asked.text.contains("type=\"password\""), token, "{act}");
        assert_eq!(asked.filled(), filled, "what destroys is not filled");
        let form = asked.form(&path);
        let cancelled = visitor.submit(&form, &[("back", "yes")]).expect(200);
        cancelled.says("value=\"why\"");
        assert_eq!((record(1), log()), (before, entries), "{act}");
        let more: &[_] = if token { &[("token", ADMIN)] } else { &[] };
        visitor.submit(&form, more).expect(303);
        assert_eq!(log(), entries + 1, "{act}");
    }
    let path = "/operate/sessions/2/withdraw";
    let asked = visitor.fill_in("/operate/sessions/2", path, &[]).expect(200);
    assert_eq!(record(2)["id"], 2);
    let seen = visitor.submit(&asked.form(path), &[]);
    assert_eq!(seen.header("location"), Some("/operate/sessions"));
    client.get("/api/swarm/sessions/2").expect(404);
}

/// The stage that the page names as the present one.
fn stage(seen: &Seen) -> String {
    let present = seen.text.split("aria-current=\"step\">").nth(1).unwrap();
    present.split('<').next().unwrap().to_owned()
}

#[test]
fn session_has_one_filled_button_for_what_comes_next() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let closes = fixture.clock.after(60_000);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "state": "scheduled",
        "windowClosesAt": closes, "question": "Higher?", "resolvesAt": fixture.clock.after(120_000) });
    client.operate("/sessions", &session).expect(201);
    let visitor = Visitor::signed_in(client);
    let page = || visitor.get("/operate/sessions/1").expect(200);
    let state = |state: &str| {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    };
    let is = |expected: &str, filled: &[&str]| {
        let seen = page();
        assert_eq!((stage(&seen).as_str(), &*seen.filled()), (expected, filled));
        // What ends or removes something is folded, with a sentence that says so.
        for act in ["/close", "/withdraw", "/void"] {
            if let Some(at) = seen.text.find(&format!("sessions/1{act}\"")) {
                let fold = seen.text[..at].rsplit("<details").next().unwrap();
                let is_next = act == "/close" && filled == ["Close"];
                assert!(is_next || fold.contains("<p class=\"quiet\">"), "{act}: {fold}");
            }
        }
        assert_eq!(seen.text.matches("name=\"note\"").count(), 1, "one note for all acts");
    };
    is("Announced", &["Publish the brief"]);
    client.operate("/sessions/1/brief", &json!({})).expect(201);
    is("Announced", &[]);
    state("collecting");
    is("Open", &[]);
    fixture.clock.move_by(61_000);
    state("window_closed");
    is("Closed", &["Compute the result"]);
    state("aggregated");
    is("Result", &["Publish"]);
    state("published");
    is("Published", &[]);
    fixture.clock.move_by(60_000);
    is("Published", &["Record the outcome"]);
    let value: Value = client.get("/api/swarm/sessions/1").json()["session"]["outcome"].clone();
    assert_eq!(value, json!(null));
}
