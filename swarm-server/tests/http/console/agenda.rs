//! The first page: what needs an operator, what comes next, and what is fine.

use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

fn agenda(fixture: &Fixture) -> Value {
    let headers = [("x-admin-token", ADMIN)];
    let status = fixture.client.send("GET", "/api/swarm/admin/status", &headers, b"").expect(200);
    status.json()["agenda"].clone()
}

/// The codes of these items.
fn codes(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap()).collect()
}

#[test]
fn mail_that_was_queued_for_days_is_not_fine() {
    let fixture = Fixture::start();
    Author::join(&fixture.client, "Ada");
    let fine = agenda(&fixture);
    assert_eq!((codes(&fine["needs"]), codes(&fine["next"])), (vec![], vec![]), "{fine}");
    assert!(codes(&fine["fine"]).contains(&"mail"), "{fine}");
    let page = || Visitor::signed_in(&fixture.client).get("/operate").expect(200);
    page().says("Nothing needs you now.");
    page().says("1 message is about to be sent.");

    fixture.clock.move_by(25 * DAY_MILLIS);
    let stuck = agenda(&fixture);
    assert_eq!(codes(&stuck["needs"]), ["mail"]);
    assert!(!codes(&stuck["fine"]).contains(&"mail"), "{stuck}");
    assert!(stuck["needs"][0]["at"].is_string());
    page().says("1 message is not sent yet.");
    page().says("25\u{a0}days ago");
    page().says("href=\"/operate/outbox\"");
}

#[test]
fn what_is_due_longest_comes_first_with_the_form_that_does_it() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    client.operate("/outbox/1/cancel", &json!({})).expect(200);
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let convene = |date: &str, closes: i64, more: Value| {
        let mut session = json!({ "date": date, "subjectId": "aurora",
            "windowClosesAt": fixture.clock.after(closes) });
        session.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        client.operate("/sessions", &session).expect(201);
    };
    let roster = json!({ "roster": [{ "memberId": ada.id }] });
    convene("2026-11-21", 60_000, roster);
    convene("2026-11-22", 30_000, json!({ "state": "scheduled" }));
    convene("2026-11-23", 90_000, json!({ "finish": true }));
    client
        .operate("/sessions", &json!({ "date": "2026-11-24", "subjectId": "aurora" }))
        .expect(201);
    let of = |items: &Value| -> Vec<(String, u64, String)> {
        let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
        let items = items.as_array().unwrap().iter();
        items
            .map(|it| (text(it, "code"), it["sessionId"].as_u64().unwrap(), text(it, "by")))
            .collect()
    };
    let row = |code: &str, id, by: &str| (code.to_owned(), id, by.to_owned());
    let ahead = agenda(&fixture);
    assert_eq!(of(&ahead["needs"]), []);
    let next = [
        row("close", 2, "operator"),
        row("close", 1, "schedule"),
        row("close", 3, "schedule"),
        row("close", 4, "operator"),
    ];
    assert_eq!(of(&ahead["next"]), next);
    for (nth, text) in [
        "the window ends, and an operator closes it; 0 members have filed",
        "the window closes, and the result waits for an operator; 0 of 1 have filed",
        "the window closes, and the result follows; 0 members have filed",
        "it has no deadline, and is open until it is closed; 0 members have filed",
    ]
    .into_iter()
    .enumerate()
    {
        let message = ahead["next"][nth]["message"].as_str().unwrap();
        assert!(message.starts_with("Aurora, 2026-11-2") && message.ends_with(text), "{message}");
    }
    let visitor = Visitor::signed_in(client);
    let page = visitor.get("/operate").expect(200);
    page.says("Not filed: <bdi>Ada</bdi>");
    // The name alone is set apart from the sentence.
    page.says("<bdi>Aurora</bdi>, 21 Nov: the window closes");
    assert_eq!(page.forms().len(), 2, "the sign-out, and the end of session 4: {:?}", page.forms());

    // The sessions are over. Those that no background job closes here are closed by hand.
    fixture.clock.move_by(120_000);
    for id in [1, 3] {
        let path = format!("/sessions/{id}/state");
        client.operate(&path, &json!({ "state": "window_closed" })).expect(200);
    }
    let over = agenda(&fixture);
    assert_eq!(of(&over["needs"]), [row("close", 2, "operator"), row("aggregate", 1, "operator")]);
    let next = [row("aggregate", 3, "schedule"), row("close", 4, "operator")];
    assert_eq!(of(&over["next"]), next);
    let page = visitor.get("/operate").expect(200);
    let (first, second) = (
        page.text.find("/operate/sessions/2/close"),
        page.text.find("/operate/sessions/1/aggregate"),
    );
    assert!(first.is_some() && first < second, "{first:?} {second:?}");

    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    assert_eq!(of(&agenda(&fixture)["needs"]).last(), Some(&row("publish", 1, "operator")));
}

#[test]
fn outcome_that_is_due_needs_an_operator_until_it_is_recorded() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "question": "Higher?",
        "windowClosesAt": fixture.clock.after(1_000), "resolvesAt": fixture.clock.after(DAY_MILLIS) });
    client.operate("/sessions", &session).expect(201);
    fixture.clock.move_by(2_000);
    for state in ["aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    let needs =
        || codes(&agenda(&fixture)["needs"]).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert!(needs().is_empty(), "{:?}", needs());
    fixture.clock.move_by(DAY_MILLIS);
    assert_eq!(needs(), ["outcome"]);
    let page = Visitor::signed_in(client).get("/operate").expect(200);
    page.says("the outcome is due and not recorded");
    client.operate("/sessions/1/outcome", &json!({ "value": 1 })).expect(200);
    assert!(needs().is_empty(), "{:?}", needs());

    // Without a deadline, takes may come that know the outcome.
    let session = json!({ "date": "2026-11-22", "subjectId": "aurora", "question": "Higher?",
        "resolvesAt": fixture.clock.after(0) });
    client.operate("/sessions", &session).expect(201);
    for state in ["aggregated", "published"] {
        client.operate("/sessions/2/state", &json!({ "state": state })).expect(200);
    }
    Visitor::signed_in(client).get("/operate").expect(200).says("once the deadline has passed");
    client.operate("/sessions/2/outcome", &json!({ "value": 1 })).refused(409, "session is open");
}

/// An excused member has filed, and a member that is expected has not.
#[test]
fn members_that_have_filed_are_counted_among_those_that_are_expected() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let [ada, grace] = [fixture.author(), fixture.author()];
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let roster = [&ada, &grace].map(|author| json!({ "memberId": author.id.as_str() }));
    let session = json!({ "date": "2026-11-21", "subjectId": "aurora", "roster": roster,
        "windowClosesAt": fixture.clock.after(DAY_MILLIS) });
    client.operate("/sessions", &session).expect(201);
    client.submit(&ada, ada.draft("2026-11-21", "aurora")).expect(201);
    let excused = json!({ "memberId": ada.id.as_str(), "excused": true });
    client.operate("/sessions/1/roster/excuse", &excused).expect(200);
    let status = client.send("GET", "/api/swarm/admin/status", &[("x-admin-token", ADMIN)], b"");
    let session = status.expect(200).json()["sessions"][0].clone();
    assert_eq!((&session["filed"], &session["expected"]), (&json!(0), &json!(1)), "{session}");
    Visitor::signed_in(client).get("/operate").expect(200).says("0 of 1 have filed");
    for (path, words) in [("/", "0 of 1 filed"), ("/swarm/sessions/1", "0 of 1")] {
        let page = client.send("GET", path, &[("accept", "text/html")], b"").expect(200);
        assert!(page.text.contains(words), "{path}");
    }
}
