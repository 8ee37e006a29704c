//! Questions, outcomes, scores, records and the ranking (API.md, 6.11 and 7.3).

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_store_memory::MemoryStore;

use crate::backend::{Backend, on_every_store};
use crate::console::visitor::unescaped;
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, Client, Server};

on_every_store! {
    question_changes_until_a_take_is_on_file,
    outcome_is_recorded_replaced_and_annulled,
    outcome_is_refused_until_the_session_is_over,
    scores_records_and_ranking_are_exact,
}

const DATE: &str = "2026-11-21";

fn patch(client: &Client, session: u64, body: &Value) -> Answer {
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("x-admin-token", crate::harness::ADMIN), ("content-type", "application/json")];
    client.send("PATCH", &path, &headers, body.to_string().as_bytes())
}

fn outcome(client: &Client, session: u64, body: &Value) -> Answer {
    client.operate(&format!("/sessions/{session}/outcome"), body)
}

fn session_of(client: &Client, session: u64) -> Value {
    client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json()["session"].clone()
}

fn last_entry(client: &Client) -> Value {
    client.log_entries().pop().unwrap()
}

fn file(
    client: &Client,
    author: &Author,
    (date, subject): (&str, &str),
    (stance, confidence): (&str, f64),
) {
    let fields = json!({
        "date": date, "subjectId": subject, "stance": stance, "confidence": confidence,
    });
    client.submit(author, author.draft_of(fields)).expect(201);
}

/// Ends the window of a session with its last take, and aggregates it. It is over a moment later.
fn finish(client: &Client, session: u64) {
    let takes = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    let filed = takes["takes"].as_array().unwrap().iter().map(|take| take["filedAt"].as_str());
    let last = filed.max().flatten().unwrap_or("2000-01-01T00:00:00.000Z").to_owned();
    patch(client, session, &json!({ "windowClosesAt": last })).expect(200);
    let aggregated = json!({ "state": "aggregated" });
    client.operate(&format!("/sessions/{session}/state"), &aggregated).expect(200);
}

fn question_changes_until_a_take_is_on_file(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    let question = json!({
        "date": DATE, "subjectId": "aurora", "question": "Higher in a week?",
        "resolution": "The price at noon.", "resolvesAt": "2026-11-28T13:00:00+01:00",
    });
    client.convene("2026-11-20", "aurora");
    let session = client.operate("/sessions", &question).expect(201).json()["session"].clone();
    assert_eq!(session["question"], "Higher in a week?");
    assert_eq!(session["resolution"], "The price at noon.");
    assert_eq!(session["resolvesAt"], "2026-11-28T12:00:00.000Z");
    let id = session["id"].as_u64().unwrap();
    let changed =
        patch(client, id, &json!({ "question": "Lower?", "resolvesAt": null, "note": "clearer" }));
    let changed = changed.expect(200).json()["session"].clone();
    assert_eq!((&changed["question"], changed.get("resolvesAt")), (&json!("Lower?"), None));
    let entry = last_entry(client);
    assert_eq!((&entry["act"], &entry["note"]), (&json!("question"), &json!("clearer")));
    assert_eq!(entry["session"]["question"], "Lower?");
    for (field, length) in [("question", 501), ("question", 0), ("resolution", 1_001)] {
        let fault = patch(client, id, &json!({ field: "x".repeat(length) })).expect(400).json();
        assert_eq!(fault["error"], "invalid request", "{field}");
    }

    let brief = client.operate(&format!("/sessions/{id}/brief"), &json!({})).expect(201).json();
    let body = &brief["brief"]["body"];
    assert_eq!(
        (&body["question"], &body["resolution"]),
        (&json!("Lower?"), &json!("The price at noon."))
    );
    assert_eq!(body.get("resolvesAt"), None);
    let prompt = body["prompt"].to_string();
    assert!(prompt.contains("Lower?") && prompt.contains("The price at noon."), "{prompt}");

    file(client, &author, (DATE, "aurora"), ("bullish", 0.5));
    let late = patch(client, id, &json!({ "resolution": null }));
    assert_eq!(late.header("swarm-error"), Some("takes-on-file"));
    late.refused(409, "takes are on file");
    // What stays as it is, is no change.
    patch(client, id, &json!({ "question": "Lower?", "quorum": 1 })).expect(200);
    assert_eq!(last_entry(client)["act"], "quorum");
}

fn outcome_is_recorded_replaced_and_annulled(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    let id = client.convene(DATE, "aurora");
    file(client, &author, (DATE, "aurora"), ("bullish", 0.5));
    finish(client, id);
    fixture.clock.move_by(1);
    let scores = format!("/api/swarm/sessions/{id}/scores");
    let none = client.get(&scores);
    assert_eq!(none.header("swarm-error"), Some("no-outcome"));
    none.refused(404, "no outcome");
    client.get("/api/swarm/sessions/99/scores").refused(404, "no such session");
    for (body, field) in [
        (json!({}), "value"),
        (json!({ "source": "x" }), "value"),
        (json!({ "value": 2.1 }), "value"),
        (json!({ "value": "1" }), "value"),
        (json!({ "value": 1, "source": "x".repeat(501) }), "source"),
        (json!({ "value": 1, "at": 1 }), "at"),
    ] {
        let fault = outcome(client, id, &body).expect(400).json();
        assert_eq!(fault["error"], "invalid request", "{body}");
        assert!(fault["detail"].to_string().contains(field), "{body}: {fault}");
    }
    outcome(client, 99, &json!({ "value": 1 })).refused(404, "no such session");

    let before = session_of(client, id);
    let source = json!({ "value": 1, "source": "the price at noon", "note": "read twice" });
    let dry = client.operate(&format!("/sessions/{id}/outcome?dry_run=true"), &source).expect(200);
    assert_eq!(dry.json()["cautions"], json!([]));
    assert_eq!(session_of(client, id), before, "a dry run changes nothing");
    let answer = outcome(client, id, &source).expect(200).json();
    let recorded = &answer["session"];
    assert_eq!((&answer["ok"], &answer["status"]), (&json!(true), &json!(200)));
    assert_eq!(recorded["outcome"]["value"], 1);
    assert_eq!(recorded["outcome"]["source"], "the price at noon");
    assert!(recorded["outcome"]["recordedAt"].is_string());
    assert_eq!(recorded["snapshot"], before["snapshot"]);
    assert_eq!(session_of(client, id), *recorded);
    let entry = last_entry(client);
    assert_eq!(
        (&entry["kind"], &entry["act"], &entry["note"], &entry["session"]["outcome"]),
        (&json!("session"), &json!("outcome"), &json!("read twice"), &recorded["outcome"])
    );

    client.operate(&format!("/sessions/{id}/state"), &json!({ "state": "published" })).expect(200);
    let replaced = outcome(client, id, &json!({ "value": -0.5 })).expect(200).json();
    assert_eq!(replaced["session"]["outcome"]["value"], -0.5);
    assert_eq!(replaced["session"]["outcome"]["source"], Value::Null);
    assert_eq!(client.get(&scores).expect(200).json()["value"], -0.5);
    let (ranking, record) =
        ("/api/swarm/ranking", format!("/api/swarm/members/{}/record", author.id));
    assert_eq!(client.get(ranking).expect(200).json()["sessions"], 1);
    assert_eq!(client.get(&record).expect(200).json()["scored"], 1);
    let annulled = outcome(client, id, &json!({ "value": null })).expect(200).json();
    assert_eq!(annulled["session"]["outcome"]["value"], Value::Null);
    client.get(&scores).refused(404, "no outcome");
    assert_eq!(client.get(ranking).expect(200).json()["sessions"], 0);
    assert_eq!(client.get(&record).expect(200).json()["scored"], 0);
}

fn outcome_is_refused_until_the_session_is_over(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let value = json!({ "value": 0 });
    let refused = |session: u64, error: &str| {
        let answer = outcome(client, session, &value);
        assert_eq!(answer.header("swarm-error"), Some("session-state"));
        answer.refused(409, error);
    };
    let id = client.convene(DATE, "aurora");
    refused(id, "session is open");
    patch(client, id, &json!({ "windowClosesAt": "2999-01-01T00:00:00Z" })).expect(200);
    refused(id, "session is open");
    client.operate(&format!("/sessions/{id}/state"), &json!({ "state": "aggregated" })).expect(200);
    refused(id, "session is open");
    patch(client, id, &json!({ "windowClosesAt": "2000-01-01T00:00:00Z" })).expect(200);
    outcome(client, id, &value).expect(200);
    // Nobody had a known stance: there is an outcome, and nothing to score.
    let scores = client.get(&format!("/api/swarm/sessions/{id}/scores")).expect(200).text;
    let expected = r#"{"sessionId":1,"value":0,"crowd":{"forecast":null,"loss":null},"neutral":{"forecast":0.5,"loss":0},"scores":[]}"#;
    assert_eq!(scores, expected);
    assert_eq!(client.get("/api/swarm/ranking").expect(200).json()["sessions"], 0);

    let over = json!({
        "date": DATE, "subjectId": "aurora", "windowClosesAt": "2000-01-01T00:00:00Z",
    });
    let id = client.operate("/sessions", &over).expect(201).json()["session"]["id"].as_u64();
    refused(id.unwrap(), "session is collecting");
    client.operate("/sessions/2/state", &json!({ "state": "window_closed" })).expect(200);
    refused(2, "session is window_closed");
    let mut practice = over.clone();
    practice["practice"] = json!(true);
    client.operate("/sessions", &practice).expect(201);
    refused(3, "session is practice");
}

/// Two members, and a third who files once; every text is computed by hand.
fn scores_records_and_ranking_are_exact(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let [ada, grace, hedy] =
        ["ada", "grace", "hedy"].map(|id| fixture.author_named(id.parse().unwrap()));
    for (day, subject, takes, value) in [
        ("2026-11-21", "aurora", [("bullish", 0.6), ("cautious", 0.4)], 1.0),
        ("2026-11-22", "borealis", [("bullish", 0.6), ("bearish", 0.2)], 2.0),
        ("2026-11-23", "aurora", [("neutral", 1.0), ("cautious", 1.0)], -1.0),
    ] {
        let id = client.convene(day, subject);
        file(client, &ada, (day, subject), takes[0]);
        file(client, &grace, (day, subject), takes[1]);
        if day == "2026-11-23" {
            file(client, &hedy, (day, subject), ("sideways", 1.0));
        }
        finish(client, id);
        fixture.clock.move_by(1);
        outcome(client, id, &json!({ "value": value })).expect(200);
    }
    // f = 0.8 and 0.4, the crowd 0.6; y = 0.75.
    let text = |path: &str| client.get(path).expect(200).text;
    assert_eq!(
        text("/api/swarm/sessions/1/scores"),
        concat!(
            r#"{"sessionId":1,"value":1,"crowd":{"forecast":0.6,"loss":0.0225},"#,
            r#""neutral":{"forecast":0.5,"loss":0.0625},"scores":["#,
            r#"{"memberId":"ada","takeId":1,"forecast":0.8,"loss":0.0025,"skill":0.02},"#,
            r#"{"memberId":"grace","takeId":2,"forecast":0.4,"loss":0.1225,"skill":-0.1}]}"#
        )
    );
    // Losses of Ada 0.0025, 0.04, 0.0625; of Grace 0.1225, 0.36, 0; of the crowd 0.0225, 0.16, 0.015625.
    assert_eq!(
        text("/api/swarm/members/ada/record?subject=aurora"),
        concat!(
            r#"{"memberId":"ada","scored":2,"loss":0.0325,"skill":-0.0134375,"low":-0.078975,"high":0.0521,"#,
            r#""right":{"n":1,"of":1},"calibration":["#,
            r#"{"from":0,"to":0.2,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.2,"to":0.4,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.4,"to":0.6,"n":1,"forecast":0.5,"outcome":0.25},"#,
            r#"{"from":0.6,"to":0.8,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.8,"to":1,"n":1,"forecast":0.8,"outcome":0.75}]}"#
        )
    );
    assert_eq!(
        text("/api/swarm/members/hedy/record"),
        concat!(
            r#"{"memberId":"hedy","scored":0,"loss":null,"skill":null,"low":null,"high":null,"right":{"n":0,"of":0},"#,
            r#""calibration":[{"from":0,"to":0.2,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.2,"to":0.4,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.4,"to":0.6,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.6,"to":0.8,"n":0,"forecast":null,"outcome":null},"#,
            r#"{"from":0.8,"to":1,"n":0,"forecast":null,"outcome":null}]}"#
        )
    );
    client.get("/api/swarm/members/nobody/record").refused(404, "no such member");
    let shown = client.send("GET", "/swarm/ranking?min=3", &[("accept", "text/html")], b"");
    let shown = shown.expect(200).text;
    // Members with a place for three sessions are neither better nor worse than the crowd.
    assert!(shown.contains("Skill over fewer than 20 sessions says little of anybody."), "{shown}");
    assert!(!shown.contains("surely"), "{shown}");
    let home = client.send("GET", "/", &[("accept", "text/html")], b"").expect(200).text;
    assert!(home.contains("Too few outcomes to say."), "{home}");
    let ranking = client.get("/api/swarm/ranking?min=3").expect(200).json();
    assert_eq!((&ranking["min"], &ranking["sessions"]), (&json!(3), &json!(3)));
    assert_eq!(ranking["neutral"]["loss"], json!(0.125));
    assert_eq!(ranking["ranking"][0]["memberId"], "ada");
    assert_eq!(ranking["ranking"][0]["place"], 1);
    assert_eq!(ranking["ranking"][1]["place"], 2);
    assert_eq!(ranking["unranked"], json!([]), "Hedy was never scored");
    assert_eq!(
        text("/api/swarm/ranking?since=2026-11-22&subject=aurora&min=2"),
        concat!(
            r#"{"min":2,"sessions":1,"crowd":{"loss":0.015625},"neutral":{"loss":0.0625},"ranking":[],"unranked":["#,
            r#"{"memberId":"ada","name":"A member","scored":1,"loss":0.0625,"skill":-0.046875,"low":null,"high":null},"#,
            r#"{"memberId":"grace","name":"A member","scored":1,"loss":0,"skill":0.015625,"low":null,"high":null}]}"#
        )
    );
    assert_eq!(
        text("/api/swarm/ranking?subject=elsewhere"),
        r#"{"min":20,"sessions":0,"crowd":{"loss":null},"neutral":{"loss":null},"ranking":[],"unranked":[]}"#
    );
    for query in ["min=1", "min=1001", "min=x", "since=yesterday", "since=2026-13-01"] {
        let refused = client.get(&format!("/api/swarm/ranking?{query}"));
        assert_eq!(refused.header("swarm-error"), Some("invalid-query"), "{query}");
        refused.unread(400, "invalid query");
    }

    for path in
        ["/api/swarm/ranking", "/api/swarm/sessions/1/scores", "/api/swarm/members/ada/record"]
    {
        let read = client.get(path).expect(200);
        let tag = read.header("etag").unwrap().to_owned();
        assert_eq!(read.header("access-control-allow-origin"), Some("*"));
        let head = client.send("HEAD", path, &[], b"").expect(200);
        assert_eq!((head.header("etag"), &*head.text), (Some(&*tag), ""));
        client.send("GET", path, &[("if-none-match", &tag)], b"").expect(304);
    }
}

/// The subject of a session may be called like the path of its scores.
#[test]
fn subject_may_be_called_scores() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.convene(DATE, "scores");
    let found = client.get(&format!("/api/swarm/sessions/{DATE}/scores")).expect(200).json();
    assert_eq!(found["session"]["subjectId"], "scores");
}

/// Another server on the store records outcomes, renames members and erases them.
#[test]
fn ranking_follows_what_other_servers_commit() {
    let store = MemoryStore::new();
    let (one, other) = (Server::on(store.clone()), Server::on(store));
    let (client, elsewhere) = (one.client(), other.client());
    let ada = Author::join(&client, "Ada");
    let listed = || client.get("/api/swarm/ranking").expect(200).json()["unranked"].clone();
    assert_eq!(listed(), json!([]));
    for (scored, day) in ["2026-11-21", "2026-11-22"].into_iter().enumerate() {
        let id = elsewhere.convene(day, "aurora");
        file(&elsewhere, &ada, (day, "aurora"), ("bullish", 0.5));
        finish(&elsewhere, id);
        sleep(Duration::from_millis(5));
        assert_eq!(listed().as_array().unwrap().len(), usize::from(scored > 0));
        outcome(&elsewhere, id, &json!({ "value": 1 })).expect(200);
        assert_eq!(listed()[0]["scored"], scored + 1);
    }
    let renamed = json!({ "memberId": ada.id.as_str(), "name": "Ada L." });
    elsewhere.operate("/members/update", &renamed).expect(200);
    assert_eq!(listed()[0]["name"], "Ada L.");
    let member = json!({ "memberId": ada.id.as_str() });
    elsewhere.operate("/deactivate", &member).expect(200);
    assert_eq!(listed()[0]["scored"], 2, "an inactive member stays");
    elsewhere.operate("/erase", &member).expect(200);
    assert_eq!(listed()[0]["name"], "erased");
    outcome(&elsewhere, 1, &json!({ "value": null })).expect(200);
    assert_eq!(listed()[0]["scored"], 1);
}

fn page(client: &Client, path: &str) -> String {
    unescaped(&client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text)
}

#[test]
fn pages_show_question_outcome_record_and_ranking() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let [ada, grace] = ["ada", "grace"].map(|id| fixture.author_named(id.parse().unwrap()));
    client.convene("2026-11-20", "aurora");
    let asked = json!({
        "date": DATE, "subjectId": "aurora", "question": "<b>Higher</b> in a week?",
        "resolution": "The price at noon.", "resolvesAt": "2026-11-28T12:00:00Z",
    });
    client.operate("/sessions", &asked).expect(201);
    let text = page(client, "/swarm/sessions/2");
    for part in
        ["Question</dt>", "<b>Higher</b> in a week?", "The price at noon.", "28 Nov, 12:00 UTC"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("<h2>Outcome</h2>"));
    assert!(page(client, "/swarm/ranking").contains("No session has an outcome yet"));
    assert!(!page(client, "/swarm/members/ada").contains("<h2>Record</h2>"));

    file(client, &ada, (DATE, "aurora"), ("bullish", 0.6));
    file(client, &grace, (DATE, "aurora"), ("cautious", 0.4));
    finish(client, 2);
    // An outcome that is recorded earlier is known earlier.
    fixture.clock.move_by(8 * 24 * 3_600_000);
    outcome(client, 2, &json!({ "value": 1, "source": "prices.example" })).expect(200);
    let text = page(client, "/swarm/sessions/2");
    for part in [
        "<strong>+1 after 7\u{a0}days</strong>; the crowd said +0.40: the mean",
        "prices.example",
        "0.003",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = page(client, "/swarm/members/ada");
    for part in ["<h2>Record</h2>", "too few to say", "Agreement, not accuracy"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("Calibration"));
    let text = page(client, "/swarm/ranking?min=2");
    for part in [
        "Too few to say",
        "<em>crowd</em>",
        "<em>always neutral</em>",
        "by the outcomes of 1 session.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    outcome(client, 2, &json!({ "value": null })).expect(200);
    let text = page(client, "/swarm/sessions/2");
    assert!(text.contains("<strong>Annulled</strong>. Nothing is scored."), "{text}");
    assert!(text.contains("outcome annulled"));

    let json = client.send("GET", "/swarm/ranking", &[("accept", "application/json")], b"");
    assert_eq!(json.expect(200).json()["min"], 20);
    client.send("GET", "/swarm/ranking?min=1", &[("accept", "text/html")], b"").expect(400);
    assert!(page(client, "/").contains("href=\"/swarm/ranking\""));
}

/// Half of the members were right twice, the others wrong.
#[test]
fn ranking_is_paged_and_has_baselines_among_the_members() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let names: Vec<_> = (0..70).map(|number| format!("m{number:02}")).collect();
    let authors: Vec<_> =
        names.iter().map(|name| fixture.author_named(name.parse().unwrap())).collect();
    for day in 1..=2 {
        let date = format!("2026-10-{day:02}");
        let id = client.convene(&date, "aurora");
        for (number, author) in authors.iter().enumerate() {
            let stance = if number < 35 { "bullish" } else { "bearish" };
            file(client, author, (&date, "aurora"), (stance, 0.5));
        }
        finish(client, id);
        fixture.clock.move_by(1);
        outcome(client, id, &json!({ "value": 1 })).expect(200);
    }
    let first = page(client, "/swarm/ranking?min=2");
    let rows = |text: &str| text.matches("<tr><td>").count();
    assert_eq!(rows(&first), 60);
    let place = |text: &str, of: &str| text.find(of).unwrap_or_else(|| panic!("{of} in {text}"));
    // The crowd is neutral here.
    assert!(place(&first, "/swarm/members/m34") < place(&first, "<em>crowd</em>"));
    assert!(place(&first, "<em>crowd</em>") < place(&first, "<em>always neutral</em>"));
    assert!(place(&first, "<em>always neutral</em>") < place(&first, "/swarm/members/m35"));
    assert!(first.contains("<tr><td>36</td>"), "places after a tie are skipped");
    assert!(first.contains("href=\"/swarm/ranking?min=2&from=61\""), "{first}");
    let second = page(client, "/swarm/ranking?min=2&from=61");
    assert_eq!(rows(&second), 12);
    assert!(second.contains("/swarm/members/m69") && !second.contains("rel=\"next\""));
    let few = page(client, "/swarm/ranking");
    assert!(few.contains("No member has been scored 20 times"), "{few}");
    for text in [first, few] {
        let size = |path| client.get(path).expect(200).text.len();
        let styles = size("/swarm/style.css") + size("/swarm/lists.css");
        assert!(text.len() + styles < 50 << 10, "{} and {styles}", text.len());
    }
    let text = page(client, "/swarm/members/m00");
    assert!(text.contains("2 sessions are too few to say"), "{text}");
}
