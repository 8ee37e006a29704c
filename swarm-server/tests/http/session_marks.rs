//! Sessions that do not count, for practice or because they were voided, and what corrects a session: another brief, and
//! the end of its window (API.md, 7.3).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, Client};

on_every_store! {
    practice_session_is_open_to_all_and_counts_nowhere,
    practice_session_diverts_no_take,
    voided_session_counts_nowhere_from_then_on,
    withdrawn_result_is_not_among_those_that_members_are_compared_by,
    only_results_that_count_are_voided,
    brief_is_replaced_until_a_take_is_on_file,
    window_ends_at_once_and_never_before_a_take,
    server_finishes_a_session,
    corrections_race_with_takes,
}

const DATE: &str = "2026-11-21";
const HOUR: i64 = 60 * 60 * 1_000;

fn convene(client: &Client, more: &Value) -> Answer {
    let mut body = json!({ "date": DATE, "subjectId": "aurora" });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    client.operate("/sessions", &body)
}

fn enter(client: &Client, session: u64, states: &[&str]) {
    for state in states {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    }
}

const TO_THE_END: &[&str] = &["window_closed", "aggregated", "published"];

fn record(client: &Client, session: u64) -> Value {
    client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json()["session"].clone()
}

fn patch(client: &Client, session: u64, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    let path = format!("/api/swarm/admin/sessions/{session}");
    client.send("PATCH", &path, &headers, body.to_string().as_bytes())
}

fn void(client: &Client, session: u64, note: &str) -> Answer {
    client.operate(&format!("/sessions/{session}/void"), &json!({ "note": note }))
}

fn page(client: &Client, path: &str) -> String {
    client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
}

/// What names a session among results: the scores on the home page, the feed, the lately published sessions of a
/// brief, and the scores of its subject.
struct Results {
    home: bool,
    feed: bool,
    brief: bool,
    scores: usize,
}

impl Results {
    /// Looks for the published session of this day. The brief is that of `next`, which it is published for.
    fn of(client: &Client, session: u64, next: u64) -> Self {
        let home = page(client, "/");
        let results = home.split("<h2>Subjects</h2>").nth(1).unwrap();
        let results = results.split("</section>").next().unwrap();
        let href = format!("/swarm/sessions/{session}\"");
        let date = record(client, session)["date"].clone();
        let day = format!("<time datetime=\"{}\">", date.as_str().unwrap());
        client
            .operate(&format!("/sessions/{next}/brief"), &json!({ "replaces": true }))
            .expect(201);
        let brief = client.get(&format!("/api/swarm/brief?session={next}")).expect(200).json();
        let recent = brief["body"]["recentSessions"].as_array().unwrap();
        let csv = client.get("/swarm/subjects/aurora.csv").expect(200).text;
        let row = csv.lines().find(|line| line.starts_with(&format!("{session},"))).unwrap();
        Self {
            home: results.contains(&day),
            feed: client.get("/feed.xml").expect(200).text.contains(&href),
            brief: recent.iter().any(|recent| recent["date"] == date),
            scores: row.matches("bullish").count(),
        }
    }

    fn are(&self, expected: bool) {
        let shown = [self.home, self.feed, self.brief, self.scores > 0];
        assert_eq!(shown, [expected; 4]);
    }
}

fn bullish(client: &Client, author: &Author, date: &str) {
    let take = author.draft_of(json!({ "date": date, "subjectId": "aurora", "stance": "bullish",
        "confidence": 0.9, "body": "Up." }));
    client.submit(author, take).expect(201);
}

fn practice_session_is_open_to_all_and_counts_nowhere(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ada = Author::join(client, "Ada");
    for (field, value) in [("roster", json!([{ "memberId": ada.id }])), ("quorum", json!(1))] {
        let answer = convene(client, &json!({ "practice": true, field: value }));
        assert_eq!(answer.status, 400, "{answer:?}");
        let detail = format!("{field} must not be given for a practice session");
        assert_eq!(answer.json()["detail"], detail);
    }
    let convened = convene(client, &json!({ "practice": true })).expect(201).json();
    assert_eq!(convened["session"]["practice"], true);
    patch(client, 1, &json!({ "quorum": 3 })).refused(409, "session is practice");
    patch(client, 1, &json!({ "quorum": null })).expect(200);
    let roster = json!({ "members": [{ "memberId": ada.id }] });
    client.operate("/sessions/1/roster", &roster).refused(409, "session is practice");

    let me = |author: &Author| {
        let headers = [("authorization", &*author.bearer())];
        client.send("GET", "/api/swarm/me", &headers, b"").expect(200).json()["sessions"].clone()
    };
    assert_eq!(me(&ada)[0]["practice"], true);
    assert_eq!(me(&ada)[0]["mayFile"], true);
    assert!(client.get("/skill.md").expect(200).text.contains("**for practice**"));
    assert!(page(client, "/").contains("for practice;"));
    assert!(page(client, "/swarm/sessions").contains("open, practice"));
    bullish(client, &ada, DATE);
    let remark = "not counted: a practice session";
    for path in ["/", "/swarm/takes", "/swarm/takes/1"] {
        assert!(page(client, path).contains(remark), "{path}");
    }
    enter(client, 1, TO_THE_END);
    void(client, 1, "It was wrong.").refused(409, "session is practice");
    let member = page(client, &format!("/swarm/members/{}", ada.id));
    assert!(member.contains(remark) && !member.contains("against the consensus"), "{member}");
    let shown = page(client, "/swarm/sessions/1");
    assert!(shown.contains("For practice: every active member may file here"), "{shown}");
    for part in ["roster", "history"] {
        let shown = page(client, &format!("/swarm/sessions/1/{part}"));
        assert!(shown.contains("<span class=\"state\">published, practice</span>"), "{shown}");
    }

    // Sessions that count are published before and after it: nothing moved since it, and it is no result.
    let next = convene(client, &json!({ "date": "2026-11-30" })).expect(201).json();
    let next = next["session"]["id"].as_u64().unwrap();
    Results::of(client, 1, next).are(false);
    bullish(client, &ada, "2026-11-30");
    let subject = client.get("/swarm/subjects/aurora/feed.xml").expect(200).text;
    assert!(!subject.contains("/swarm/sessions/1\""), "{subject}");
    // Nor are its takes in any feed.
    let member = client.get(&format!("/swarm/members/{}/feed.xml", ada.id)).expect(200).text;
    for feed in [&subject, &member] {
        assert!(!feed.contains("/swarm/takes/1\"") && feed.contains("/swarm/takes/2\""), "{feed}");
    }
    assert!(
        client.get("/swarm/subjects/aurora.csv").expect(200).text.contains("published, practice")
    );
    let csv = client.get("/swarm/sessions/1.csv").expect(200).text;
    assert!(csv.contains(",false,"), "{csv}");
}

/// Takes go to the newest session of a day and subject.
fn practice_session_diverts_no_take(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    convene(client, &json!({})).expect(201);
    let refused = convene(client, &json!({ "practice": true }));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("practice must not"));
    convene(client, &json!({ "practice": true, "date": "2026-11-22" })).expect(201);
    // The one that counts stays the open session, though it is older.
    assert_eq!(client.get("/api/swarm/open-session").expect(200).json()["id"], 1);
    enter(client, 1, TO_THE_END);
    assert_eq!(client.get("/api/swarm/open-session").expect(200).json()["id"], 2);
    convene(client, &json!({ "practice": true })).expect(201);

    // Nor one that is open again.
    let passed = fixture.clock.now().plus_millis(-HOUR).to_string();
    let ahead = fixture.clock.now().plus_millis(HOUR).to_string();
    convene(client, &json!({ "date": "2026-11-23", "windowClosesAt": passed })).expect(201);
    convene(client, &json!({ "date": "2026-11-23", "practice": true })).expect(201);
    let refused = patch(client, 4, &json!({ "windowClosesAt": ahead }));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("windowClosesAt must not"));
    patch(client, 5, &json!({ "windowClosesAt": passed })).expect(200);
    patch(client, 4, &json!({ "windowClosesAt": ahead })).expect(200);
}

fn voided_session_counts_nowhere_from_then_on(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ada = Author::join(client, "Ada");
    let mut dates = ["2026-11-19", "2026-11-20", DATE].into_iter();
    for (id, date) in (1..).zip(&mut dates) {
        convene(client, &json!({ "date": date })).expect(201);
        bullish(client, &ada, date);
        enter(client, id, TO_THE_END);
    }
    let next = convene(client, &json!({ "date": "2026-11-30" })).expect(201).json();
    let next = next["session"]["id"].as_u64().unwrap();
    let before = record(client, 2);
    Results::of(client, 2, next).are(true);
    let dry = client.operate("/sessions/2/void?dry_run=true", &json!({ "note": "Wrong brief." }));
    assert_eq!(dry.expect(200).json()["cautions"][0]["code"], "irreversible");
    assert_eq!(record(client, 2), before);

    let note = "Its brief <b>had</b> other prices.";
    let voided = void(client, 2, note).expect(200).json()["session"].clone();
    assert_eq!(
        (&voided["voided"]["note"], &voided["snapshot"]),
        (&json!(note), &before["snapshot"])
    );
    assert_eq!(record(client, 2), voided);
    let entry = client.log_entries().pop().unwrap();
    assert_eq!((&entry["act"], &entry["note"]), (&json!("void"), &json!(note)));
    assert_eq!(entry["session"]["voided"], voided["voided"]);

    Results::of(client, 2, next).are(false);
    Results::of(client, 3, next).are(true);
    let shown = page(client, "/swarm/sessions/2");
    let (mark, lead) = (shown.find("Void since").unwrap(), shown.find("class=\"lead\"").unwrap());
    assert!(
        mark < lead && shown.contains("had&#60;/b&#62;") || shown.contains("&lt;b&gt;had"),
        "{shown}"
    );
    assert_eq!(shown.to_lowercase().matches("void since").count(), 1, "{shown}");
    assert!(!shown.contains("<dl class=\"facts\">"), "{shown}");
    assert!(!shown.contains("score, from"), "{shown}");
    assert!(!shown.contains("The score is") && !shown.contains("result above"), "{shown}");
    assert!(page(client, "/swarm/takes/2").contains("not counted: the session is void"));
    assert!(page(client, "/swarm/sessions").contains(">published, void<"));
    for part in ["roster", "history"] {
        let shown = page(client, &format!("/swarm/sessions/2/{part}"));
        assert!(shown.contains("<span class=\"state\">published, void</span>"), "{part}: {shown}");
    }
    let feed = client.get("/swarm/subjects/aurora/feed.xml").expect(200).text;
    assert!(feed.contains("<summary>published, void.</summary>"), "{feed}");
    let file = client.get(&format!("/swarm/members/{}.csv", ada.id)).expect(200).text;
    assert_eq!(file.matches(",true,").count(), 2, "{file}");
    let status = client.send("GET", "/api/swarm/admin/status", &[("x-admin-token", ADMIN)], b"");
    assert!(!status.expect(200).text.contains("\"id\":2,"));

    // It is not undone, and nothing else makes sense.
    void(client, 2, "again").refused(409, "session is void");
    patch(client, 2, &json!({ "windowClosesAt": "2999-01-01T00:00:00Z" }))
        .refused(409, "session is void");
    client.operate("/sessions/2/withdraw", &json!({})).refused(409, "session is void");
}

/// A server that has read the results before does not count it either.
fn withdrawn_result_is_not_among_those_that_members_are_compared_by(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ada = Author::join(client, "Ada");
    let roster = json!([{ "memberId": ada.id.as_str() }]);
    for (id, date) in [(1, "2026-11-19"), (2, "2026-11-20")] {
        convene(client, &json!({ "date": date, "roster": roster })).expect(201);
        enter(client, id, &["window_closed", "aggregated"]);
    }
    assert!(page(client, "/swarm/members").contains("0 of 2"));
    client.operate("/sessions/2/withdraw", &json!({})).expect(200);
    let members = page(client, "/swarm/members");
    assert!(members.contains("0 of 1") && !members.contains("0 of 2"), "{members}");
}

fn only_results_that_count_are_voided(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.convene(DATE, "aurora");
    void(client, 9, "none").refused(404, "no such session");
    for state in ["collecting", "window_closed"] {
        enter(client, 1, if state == "collecting" { &[] } else { &["window_closed"] });
        void(client, 1, "too early").refused(409, &format!("session is {state}"));
    }
    enter(client, 1, &["aggregated"]);
    for body in [json!({}), json!({ "note": null }), json!({ "note": " " })] {
        let answer = client.operate("/sessions/1/void", &body);
        assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("invalid request")));
    }
    void(client, 1, "It was aggregated too early.").expect(200);
    let publish = json!({ "state": "published" });
    client.operate("/sessions/1/state", &publish).refused(409, "session is void");
    client
        .operate("/sessions/1/state", &json!({ "state": "aggregated" }))
        .refused(409, "session is aggregated");
    let operator = Visitor::signed_in(client);
    let shown = operator.get("/operate/sessions/1").text;
    assert!(shown.contains("result, void"), "{shown}");
    for form in ["void", "publish", "deadline", "withdraw"] {
        assert!(!shown.contains(&format!("/operate/sessions/1/{form}\"")), "{form}: {shown}");
    }
}

fn brief_is_replaced_until_a_take_is_on_file(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.convene(DATE, "aurora");
    let order = |body: Value| client.operate("/sessions/1/brief", &body);
    let prompt = |user: &str| json!({ "system": "s", "user": user });
    let first = order(json!({ "prompt": prompt("wrong"), "replaces": true })).expect(201).json();
    order(json!({ "prompt": prompt("right") })).refused(409, "brief already published");
    fixture.clock.move_by(HOUR);
    let dry = client.operate("/sessions/1/brief?dry_run=true", &json!({ "replaces": true }));
    assert_eq!(dry.expect(201).json()["dryRun"], true);
    let second = order(json!({ "prompt": prompt("right"), "replaces": true })).expect(201).json();
    let [first, second] = [&first["brief"], &second["brief"]];
    assert_eq!(first["id"], second["id"]);
    assert!(first["createdAt"].as_str() < second["createdAt"].as_str(), "{first} {second}");
    let read = client.get("/api/swarm/brief?session=1").expect(200).json();
    assert_eq!((&read, &read["body"]["prompt"]["user"]), (second, &json!("right")));
    let acts = client.log_entries().iter().filter(|it| it["act"] == "brief").count();
    assert_eq!(acts, 2);

    let author = fixture.author();
    client.submit(&author, author.draft(DATE, "aurora")).expect(201);
    order(json!({ "replaces": true })).refused(409, "takes are on file");
    assert_eq!(client.get("/api/swarm/brief?session=1").expect(200).json(), read);
    enter(client, 1, &["window_closed", "aggregated"]);
    order(json!({ "replaces": true })).refused(409, "session already aggregated");
}

fn window_ends_at_once_and_never_before_a_take(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ahead = fixture.clock.now().plus_millis(HOUR).to_string();
    let end = |session: u64| {
        let body = json!({ "state": "window_closed", "endWindow": true, "note": "venue is down" });
        client.operate(&format!("/sessions/{session}/state"), &body)
    };
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let author = fixture.author();
    convene(client, &json!({ "windowClosesAt": ahead })).expect(201);
    client.submit(&author, author.draft(DATE, "aurora")).expect(201);
    let closed = end(1).expect(200).json()["session"].clone();
    let filed = client.get("/api/swarm/takes/1").expect(200).json();
    assert_eq!(closed["state"], "window_closed");
    let deadline = closed["windowClosesAt"].as_str().unwrap();
    assert!(
        deadline < ahead.as_str() && deadline >= filed["filedAt"].as_str().unwrap(),
        "{closed}"
    );
    fixture.clock.move_by(1_000);
    client.submit(&author, author.draft(DATE, "aurora")).refused(409, "submission window closed");
    end(1).refused(409, "session is window_closed");
    let log = client.get("/api/swarm/log?session=1").expect(200).json();
    let acts: Vec<_> =
        log["entries"].as_array().unwrap().iter().map(|it| it["act"].clone()).collect();
    assert_eq!(acts[acts.len() - 2..], [json!("deadline"), json!("state")]);

    // One without a deadline gets one; one that has passed stays.
    convene(client, &json!({ "date": "2026-11-22" })).expect(201);
    assert!(end(2).expect(200).json()["session"]["windowClosesAt"].is_string());
    let passed = fixture.clock.now().plus_millis(-HOUR).to_string();
    convene(
        client,
        &json!({ "date": "2026-11-23", "windowClosesAt": passed, "state": "scheduled" }),
    )
    .expect(201);
    assert_eq!(end(3).expect(200).json()["session"]["windowClosesAt"], passed);
    // Sealed takes forbid an earlier deadline.
    convene(client, &json!({ "date": "2026-11-24", "windowClosesAt": ahead, "blind": true }))
        .expect(201);
    let take = author.draft("2026-11-24", "aurora");
    client.submit(&author, take).expect(201);
    end(4).refused(409, "takes are sealed");
    // A first deadline is no earlier one.
    convene(client, &json!({ "date": "2026-11-25", "blind": true })).expect(201);
    client.submit(&author, author.draft("2026-11-25", "aurora")).expect(201);
    assert_eq!(end(5).expect(200).json()["session"]["state"], "window_closed");
    let body = json!({ "state": "collecting", "endWindow": true });
    let wrong = client.operate("/sessions/4/state", &body);
    assert_eq!(wrong.json()["detail"], "endWindow goes with the state window_closed");
}

/// Also one that is only announced.
fn server_finishes_a_session(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let ahead = fixture.clock.now().plus_millis(HOUR).to_string();
    let days = ["2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"];
    for (day, state, finish) in [
        (days[0], "collecting", true),
        (days[1], "scheduled", true),
        (days[2], "collecting", false),
        (days[3], "scheduled", false),
    ] {
        let body =
            json!({ "date": day, "state": state, "finish": finish, "windowClosesAt": ahead });
        convene(client, &body).expect(201);
    }
    let round = || {
        crate::fixture::now(async {
            let tenant = fixture.tenant();
            tenant.close_due_sessions().await.unwrap();
            let schedule = swarm_core::domain::Schedule::default();
            tenant.run_schedule(&schedule, &mut Default::default()).await.unwrap().steps.len()
        })
    };
    let states = || [1, 2, 3, 4].map(|id| record(client, id)["state"].as_str().unwrap().to_owned());
    let status = client.send("GET", "/api/swarm/admin/status", &[("x-admin-token", ADMIN)], b"");
    let status = status.expect(200).json();
    let by = |at: usize| status["sessions"][at]["next"]["by"].clone();
    assert_eq!([by(0), by(1), by(2), by(3)], ["schedule", "schedule", "schedule", "operator"]);
    assert_eq!(round(), 0);
    fixture.clock.move_by(HOUR + 1);
    assert_eq!(round(), 4);
    assert_eq!(states(), ["published", "published", "window_closed", "scheduled"]);
    assert_eq!(round(), 0);
    let log = client.get("/api/swarm/log?limit=1000&session=2").expect(200).json();
    let acts: Vec<_> = log["entries"].as_array().unwrap()[1..].to_vec();
    assert_eq!(acts.len(), 3);
    assert!(acts.iter().all(|act| act["by"] == "schedule"), "{acts:?}");
}

/// No brief is replaced after a take, and no window ends before one, when they come at the same time.
fn corrections_race_with_takes(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let authors: Vec<_> = (0..4).map(|_| fixture.author()).collect();
    let (mut replaced, mut refused) = (0, 0);
    for day in 1..=25_u64 {
        let date = format!("2026-10-{day:02}");
        convene(client, &json!({ "date": date })).expect(201);
        client.operate(&format!("/sessions/{day}/brief"), &json!({})).expect(201);
        let path = |act: &str| format!("/sessions/{day}/{act}");
        let statuses = std::thread::scope(|scope| {
            let brief =
                scope.spawn(|| client.operate(&path("brief"), &json!({ "replaces": true })).status);
            let takes: Vec<_> = authors
                .iter()
                .map(|author| {
                    scope.spawn(|| client.submit(author, author.draft(&date, "aurora")).status)
                })
                .collect();
            let ended = json!({ "state": "window_closed", "endWindow": true });
            let end = scope.spawn(move || client.operate(&path("state"), &ended).status);
            assert_eq!(end.join().unwrap(), 200);
            for take in takes {
                assert!(matches!(take.join().unwrap(), 201 | 409));
            }
            brief.join().unwrap()
        });
        replaced += usize::from(statuses == 201);
        refused += usize::from(statuses == 409);
        let log =
            client.get(&format!("/api/swarm/log?limit=1000&session={day}")).expect(200).json();
        let entries = log["entries"].as_array().unwrap();
        let at = |found: &dyn Fn(&Value) -> bool| entries.iter().rposition(found);
        let first_take = entries.iter().position(|entry| entry["kind"] == "take");
        let last_brief = at(&|entry| entry["act"] == "brief");
        assert!(first_take.is_none_or(|take| last_brief < Some(take)), "{entries:?}");
        let deadline = record(client, day)["windowClosesAt"].as_str().unwrap().to_owned();
        let is_late =
            |entry: &&Value| entry["kind"] == "take" && entry["at"].as_str() > Some(&*deadline);
        assert_eq!(entries.iter().filter(is_late).count(), 0, "{deadline}: {entries:?}");
    }
    assert_eq!(replaced + refused, 25);
}
