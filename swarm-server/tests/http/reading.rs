//! The pages by which people read: home, what changed, subjects, members, find, log, about (MANUAL.md, 10).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client};

on_every_store! {
    news_are_told_a_subject_at_a_time,
    outcomes_and_new_sessions_are_news,
    practice_and_void_sessions_are_no_news,
    board_and_comparison_follow_the_log,
}

const DAY: &str = "2026-11-21";

fn html(client: &Client, path: &str) -> String {
    client.send("GET", path, &[("accept", "text/html")], b"").expect(200).text
}

/// The text of a page, without its tags.
fn text(client: &Client, path: &str) -> String {
    let mut text = String::new();
    for part in html(client, path).split('<').skip(1) {
        text += part.split_once('>').unwrap().1;
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn subject(client: &Client, id: &str) {
    client.operate("/subjects", &json!({ "id": id, "name": id.to_uppercase() }));
}

fn convene(client: &Client, date: &str, subject: &str, more: Value) -> u64 {
    self::subject(client, subject);
    let mut body = json!({ "date": date, "subjectId": subject });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.operate("/sessions", &body).expect(201).json()["session"]["id"].as_u64().unwrap()
}

fn file(client: &Client, author: &Author, (date, subject): (&str, &str), take: (&str, f64)) {
    let fields = json!({ "date": date, "subjectId": subject, "stance": take.0, "confidence": take.1,
        "body": format!("{} it is", take.0) });
    client.submit(author, author.draft_of(fields)).expect(201);
}

fn enter(client: &Client, session: u64, states: &[&str]) {
    for state in states {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    }
}

const TO_THE_END: &[&str] = &["window_closed", "aggregated", "published"];

fn size(client: &Client) -> u64 {
    client.log_entries().len() as u64
}

fn roster(authors: &[&Author]) -> Value {
    let listed = authors.iter().map(|author| json!({ "memberId": author.id.as_str() }));
    json!({ "roster": listed.collect::<Vec<_>>() })
}

/// Ada moves from one side to the other between two sessions; Grace does not file in the second; Hedy revises.
fn news_are_told_a_subject_at_a_time(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let [ada, grace, hedy] = ["Ada", "Grace", "Hedy"].map(|name| Author::join(client, name));
    let all = roster(&[&ada, &grace, &hedy]);
    let first = convene(client, "2026-11-20", "aurora", all.clone());
    for (author, take) in
        [(&ada, ("bullish", 0.5)), (&grace, ("neutral", 0.5)), (&hedy, ("constructive", 0.39))]
    {
        file(client, author, ("2026-11-20", "aurora"), take);
    }
    enter(client, first, TO_THE_END);
    let visited = size(client);
    assert!(text(client, &format!("/swarm/since/{visited}")).contains("Nothing about any subject"));

    let second = convene(client, DAY, "aurora", all);
    file(client, &ada, (DAY, "aurora"), ("cautious", 0.5));
    file(client, &hedy, (DAY, "aurora"), ("bullish", 0.5));
    file(client, &hedy, (DAY, "aurora"), ("constructive", 0.71));
    let open = text(client, &format!("/swarm/since/{visited}"));
    for told in ["AURORA", "2 takes filed, 1 take revised", "New: session 2", "+1.00"] {
        assert!(open.contains(told), "{told} in {open}");
    }
    assert!(!open.contains("score +"), "nothing of an open session: {open}");
    enter(client, second, TO_THE_END);
    let news = text(client, &format!("/swarm/since/{visited}"));
    // (1.00 + 0.39) / 1.39 = +1.00; (0.71 − 0.50) / 1.21 = +0.17: readers subtract what is shown.
    for told in [
        "score +1.00 to +0.17 (−0.83)",
        "Changed sides: Ada (bullish to cautious)",
        "2 of 3 filed",
        "Did not file: Grace",
        "1 result, 2 takes filed, 1 take revised",
    ] {
        assert!(news.contains(told), "{told} in {news}");
    }
    // It leads to itself from the newest entry on, as does the home page.
    let end = size(client);
    for path in [format!("/swarm/since/{visited}"), "/".to_owned()] {
        assert!(html(client, &path).contains(&format!("href=\"/swarm/since/{end}\"")), "{path}");
    }
    let all = text(client, "/swarm/since/0");
    let score = "score +1.00 to +0.17 (−0.83), both new";
    assert!(all.contains(score) && all.contains("3 members joined"), "{all}");
    for bad in [format!("{}", end + 1), "x".to_owned(), "01".to_owned(), "-1".to_owned()] {
        let path = format!("/swarm/since/{bad}");
        let missing = client.send("GET", &path, &[("accept", "text/html")], b"").expect(404);
        assert!(missing.header("content-type").unwrap().starts_with("text/html"), "{path}");
    }
    let path = format!("/swarm/since/{visited}?from=x");
    client.send("GET", &path, &[("accept", "text/html")], b"").expect(400);
}

/// An outcome is news, as is one that corrects it; of many sessions the others are counted.
fn outcomes_and_new_sessions_are_news(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    let session = convene(client, DAY, "aurora", json!({}));
    file(client, &ada, (DAY, "aurora"), ("bullish", 0.5));
    let filed = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    let closes = json!({ "windowClosesAt": filed["takes"][0]["filedAt"] });
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let path = format!("/api/swarm/admin/sessions/{session}");
    client.send("PATCH", &path, &headers, closes.to_string().as_bytes()).expect(200);
    enter(client, session, TO_THE_END);
    fixture.clock.move_by(1);
    let path = format!("/sessions/{session}/outcome");
    let told_after = |value: Value, told: &str| {
        let before = size(client);
        client.operate(&path, &json!({ "value": value })).expect(200);
        let news = text(client, &format!("/swarm/since/{before}"));
        assert!(news.contains(told) && !news.contains("Nothing about"), "{told} in {news}");
    };
    told_after(json!(1.5), "Outcome: session 1 +1.5");
    told_after(json!(1), "Outcome: session 1 +1, corrected from +1.5");
    told_after(json!(null), "Outcome: session 1 annulled, corrected from +1");
    let before = size(client);
    for day in ["2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04", "2026-12-05"] {
        convene(client, day, "aurora", json!({}));
    }
    let news = text(client, &format!("/swarm/since/{before}"));
    assert!(news.contains("New: session 6, session 5, session 4, session 3 and 1 more"), "{news}");
}

fn practice_and_void_sessions_are_no_news(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    let practice = convene(client, "2026-11-20", "aurora", json!({ "practice": true }));
    file(client, &ada, ("2026-11-20", "aurora"), ("bullish", 0.5));
    enter(client, practice, TO_THE_END);
    assert!(text(client, "/swarm/since/0").contains("Nothing about any subject"));
    let counted = convene(client, DAY, "aurora", json!({}));
    file(client, &ada, (DAY, "aurora"), ("bearish", 0.5));
    enter(client, counted, TO_THE_END);
    assert!(text(client, "/swarm/since/0").contains("first score −2.00"));
    let before = size(client);
    client.operate("/sessions/2/void", &json!({ "note": "Wrong brief." })).expect(200);
    let news = text(client, &format!("/swarm/since/{before}"));
    assert!(news.contains("Void, and counts for nothing: session 2"), "{news}");
    for path in ["/swarm/since/0", "/swarm/subjects", "/"] {
        let text = text(client, path);
        let cards = text.split("Newest takes").next().unwrap();
        assert!(!cards.contains("−2.00") && !cards.contains("+2.00"), "{path}: {text}");
    }
    let members = text(client, "/swarm/members");
    assert!(members.contains("No session has a result yet"), "{members}");
}

/// What is kept in memory is read again where the log says that it changed, and only what counts is in it.
fn board_and_comparison_follow_the_log(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(client, name));
    let row = |name: &str| {
        let page = html(client, "/swarm/members");
        let row = page.split("<tr>").find(|row| row.contains(&format!("<bdi>{name}</bdi>")));
        let cells = row.unwrap_or_else(|| panic!("{name} in {page}")).split("<td class=\"num\">");
        let cells = cells.skip(1).map(|cell| cell.split("</td>").next().unwrap().to_owned());
        cells.collect::<Vec<_>>()
    };
    assert_eq!(row("Ada"), ["–", "–", "–", "–"]);
    assert!(text(client, "/swarm/subjects").contains("No subjects yet"));
    let all = roster(&[&ada, &grace]);
    let first = convene(client, "2026-11-20", "aurora", all.clone());
    file(client, &ada, ("2026-11-20", "aurora"), ("bullish", 0.5));
    assert_eq!(row("Ada")[3].split('>').nth(1), Some("20 Nov</time"));
    enter(client, first, TO_THE_END);
    assert_eq!((&*row("Ada")[0], &*row("Grace")[0]), ("1 of 1", "0 of 1"));
    let second = convene(client, DAY, "aurora", all);
    file(client, &ada, (DAY, "aurora"), ("cautious", 0.5));
    file(client, &grace, (DAY, "aurora"), ("bullish", 0.8));
    enter(client, second, &["window_closed", "aggregated"]);
    assert_eq!(row("Ada")[..3], ["2 of 2", "3.00", "1 of 2"].map(str::to_owned));
    assert_eq!(row("Grace")[..3], ["1 of 2", "3.00", "0 of 1"].map(str::to_owned));
    let board = text(client, "/swarm/subjects");
    for told in ["AURORA", "+0.85", "21 Nov: −1.15 since 20 Nov", "spread 1.50"] {
        assert!(board.contains(told), "{told} in {board}");
    }
    // The figures are those of the session's own page.
    let session = text(client, "/swarm/sessions/2");
    assert!(session.contains("+0.85") && text(client, "/").contains("+0.85"), "{session}");
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Renamed" })).expect(200);
    for (day, value) in [("2026-11-01", 2e6), ("2026-11-08", 2.1e6)] {
        let snapshot = json!({ "date": day, "totalValueUsd": value, "positions": [] });
        client.operate("/subjects/aurora/snapshots", &snapshot).expect(201);
    }
    let board = text(client, "/swarm/subjects");
    for told in ["Renamed", "value $2.10 M on 8 Nov, +5.0 % since 1 Nov"] {
        assert!(board.contains(told), "{told} in {board}");
    }
    client.operate("/sessions/2/void", &json!({ "note": "Wrong brief." })).expect(200);
    assert_eq!((&*row("Ada")[0], &*row("Grace")[0]), ("1 of 1", "0 of 1"));
    assert!(text(client, "/swarm/subjects").contains("20 Nov: first result"));
    client.operate("/deactivate", &json!({ "memberId": grace.id.as_str() })).expect(200);
    assert!(!html(client, "/swarm/members").contains("Grace"));
}

#[test]
fn score_without_quorum_is_no_result_and_nothing_is_subtracted_from_it() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    for (day, quorum, stance) in
        [("2026-11-18", 1, "cautious"), ("2026-11-19", 9, "bearish"), ("2026-11-20", 1, "bullish")]
    {
        let id = convene(client, day, "aurora", json!({ "quorum": quorum }));
        file(client, &ada, (day, "aurora"), (stance, 0.5));
        enter(client, id, TO_THE_END);
    }
    for path in ["/", "/swarm/subjects"] {
        assert!(text(client, path).contains("20 Nov: +3.00 since 18 Nov"), "{path}");
        assert_eq!(html(client, path).matches("class=\"hollow\"").count(), 1, "{path}");
    }
}

/// Where a day or a time is of another year than now, the year is told.
#[test]
fn days_of_another_year_have_it() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    let id = convene(client, "2025-12-31", "aurora", json!({}));
    file(client, &ada, ("2025-12-31", "aurora"), ("bullish", 0.5));
    enter(client, id, TO_THE_END);
    for path in ["/", "/swarm/subjects", "/swarm/members", "/swarm/sessions"] {
        assert!(html(client, path).contains(">31 Dec 2025</time>"), "{path}");
    }
    fixture.clock.move_by(60 * 24 * 60 * 60 * 1_000);
    let news = html(client, "/swarm/since/1");
    assert!(news.contains(">21 Nov 2026, 12:00 UTC</time>, 60\u{a0}days ago"), "{news}");
}

/// What is left is told beside until when.
#[test]
fn deadline_is_told_beside_the_time_that_is_left() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let closes = json!({ "windowClosesAt": "2026-11-21T15:30:00Z" });
    convene(client, DAY, "aurora", closes);
    for path in ["/swarm/sessions", "/swarm/subjects/aurora"] {
        let list = text(client, path).replace('\u{a0}', " ");
        assert!(list.contains("open, 3 h 30 min left until 21 Nov, 15:30 UTC"), "{list}");
    }
    for path in ["/", "/swarm/subjects"] {
        let list = text(client, path).replace('\u{a0}', " ");
        assert!(list.contains("closes 21 Nov, 15:30 UTC, in 3 h 30 min"), "{list}");
    }
}

#[test]
fn members_are_in_the_order_in_which_they_joined_on_every_page() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let join = |nth| {
        fixture.clock.move_by(1);
        Author::join(client, &format!("Ada {nth:02}")).id
    };
    let joined: Vec<_> = (0..60).map(join).collect();
    let listed = |path: &str| {
        let page = html(client, path);
        let rows = page.split("<th scope=\"row\"><a href=\"/swarm/members/").skip(1);
        rows.map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids: Vec<_> = joined.iter().map(|id| id.as_str().to_owned()).collect();
    assert_eq!(listed("/swarm/members"), ids[..50]);
    assert_eq!(listed("/swarm/members?from=51"), ids[50..]);
    let newest: Vec<_> = ids.iter().rev().take(50).cloned().collect();
    assert_eq!(listed("/swarm/members?sort=newest"), newest);
    assert_eq!(listed("/swarm/members?q=ada+0&sort=name"), ids[..10]);
    // Links of before lead to members by id.
    assert_eq!(listed("/swarm/members?after=0").len(), 50);
    client.send("GET", "/swarm/members?from=x", &[("accept", "text/html")], b"").expect(400);
}

#[test]
fn filtered_sorted_and_paged_lists_keep_their_section() {
    let fixture = Fixture::with_records().0;
    let client = &fixture.client;
    for path in [
        "/swarm/members",
        "/swarm/members?q=m",
        "/swarm/members?sort=filed",
        "/swarm/members?from=2",
        "/swarm/members?after=a",
        "/swarm/members/m",
        "/swarm/members/m?before=9",
        "/swarm/subjects?q=a",
        "/swarm/subjects?sort=score",
        "/swarm/subjects?after=a",
        "/swarm/sessions?state=open",
        "/swarm/sessions?before=9",
        "/swarm/takes?stance=bullish",
        "/swarm/log?kind=take",
        "/swarm/ranking?min=5",
    ] {
        let page = html(client, path);
        let section = path.split(['?']).next().unwrap();
        let section = section.strip_suffix("/m").unwrap_or(section);
        let current = format!("<a href=\"{section}\" aria-current=\"true\">");
        assert!(page.contains(&current), "{path}: {page}");
    }
}

#[test]
fn text_is_found_in_members_subjects_takes_and_memos_and_marked() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Marigold <b>");
    let subject = json!({ "id": "a", "name": "A", "thesisBlurb": "Grows marigolds & more." });
    client.operate("/subjects", &subject).expect(201);
    client.operate("/sessions", &json!({ "date": DAY, "subjectId": "a" })).expect(201);
    for body in ["The first marigold.", "**MARIGOLD** again."] {
        let take = json!({ "date": DAY, "subjectId": "a", "stance": "bullish", "body": body });
        client.submit(&ada, ada.draft_of(take)).expect(201);
    }
    let memo = json!({ "title": "On marigolds", "body": "Long." }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &ada.bearer())], &memo).expect(201);
    let found = html(client, "/swarm/find?q=marigold");
    for part in [
        "<mark>Marigold</mark> &lt;b&gt;",
        "Grows <mark>marigold</mark>s &amp; more.",
        "<mark>MARIGOLD</mark> again.",
        "On <mark>marigold</mark>s",
        "/swarm/takes/2\"",
        "Members <span>1</span>",
        "Takes <span>1</span>",
        "Memos <span>1</span>",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    assert!(!found.contains("/swarm/takes/1\""), "it was revised: {found}");
    let memos = html(client, "/swarm/find?q=marigold&kind=memos");
    assert!(memos.contains("/swarm/memos/1\"") && !memos.contains("<h2>Members</h2>"), "{memos}");
    let nothing = html(client, "/swarm/find?q=%3Cscript%3E%22");
    assert!(nothing.contains("Nothing was found") && !nothing.contains("<script"), "{nothing}");
    assert!(!html(client, "/swarm/find").contains("Nothing was found"));
    // What is withheld is not found any longer.
    client.operate("/takes/2/withhold", &json!({ "note": "Names a person." })).expect(200);
    client.operate("/memos/1/retract", &json!({})).expect(200);
    let found = html(client, "/swarm/find?q=marigold");
    assert!(found.contains("Takes <span>0</span>") && found.contains("Memos <span>0</span>"));
}

#[test]
fn sealed_take_is_neither_found_nor_called_none() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let ada = Author::join(client, "Ada");
    convene(
        client,
        DAY,
        "aurora",
        json!({ "blind": true, "windowClosesAt": "2999-01-01T00:00:00Z" }),
    );
    file(client, &ada, (DAY, "aurora"), ("bullish", 0.5));
    let found = text(client, "/swarm/find?q=bullish");
    assert!(found.contains("Nothing was found"), "{found}");
    let member = text(client, &format!("/swarm/members/{}", ada.id));
    assert!(member.contains("1 take is sealed until its session is opened."), "{member}");
    assert!(!member.contains("No takes yet"), "{member}");
    let news = text(client, "/swarm/since/0");
    assert!(news.contains("1 take filed") && !news.contains("score"), "{news}");
    for path in ["/", "/swarm/subjects"] {
        let page = text(client, path);
        assert!(page.contains("sealed; closes"), "{path}: {page}");
    }
}

#[test]
fn member_page_says_first_what_it_owes() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let [ada, grace] = ["Ada", "Grace"].map(|name| Author::join(client, name));
    let closes = json!({ "windowClosesAt": "2999-01-01T00:00:00Z" });
    let mut listed = roster(&[&ada]);
    listed.as_object_mut().unwrap().extend(closes.as_object().unwrap().clone());
    let path = |author: &Author| format!("/swarm/members/{}", author.id);
    assert!(text(client, &path(&ada)).contains("No open session expects it now."));
    convene(client, DAY, "aurora", listed.clone());
    convene(client, DAY, "borealis", listed);
    convene(client, DAY, "practice", json!({ "practice": true }));
    let owes = text(client, &path(&ada));
    assert!(owes.contains("It owes 2 takes now: AURORA, session of 21 Nov"), "{owes}");
    file(client, &ada, (DAY, "aurora"), ("bullish", 0.5));
    let owes = text(client, &path(&ada));
    assert!(owes.contains(
        "It owes a take now, and has filed in 1 other open session that expects it: BOREALIS"
    ));
    file(client, &ada, (DAY, "borealis"), ("bullish", 0.5));
    let owes = text(client, &path(&ada));
    assert!(owes.contains("It owes nothing now: it has filed in all 2 open sessions"), "{owes}");
    assert!(text(client, &path(&grace)).contains("No open session expects it now."));
}

#[test]
fn log_is_told_by_day_with_takes_of_a_session_together() {
    let (fixture, _) = Fixture::with_records();
    let client = &fixture.client;
    let authors = ["Ada", "Grace", "Hedy"].map(|name| Author::join(client, name));
    for author in &authors {
        file(client, author, (DAY, "aurora"), ("bullish", 0.5));
    }
    let page = html(client, "/swarm/log");
    assert!(page.contains("<summary>4 takes filed in session 1 "), "{page}");
    assert!(page.contains("href=\"/api/swarm/takes/1/proof\""), "{page}");
    let heading = |page: &str| page.matches("<section class=\"day\">").count();
    assert_eq!(heading(&page), 1);
    fixture.clock.move_by(24 * 60 * 60 * 1_000);
    client.convene("2026-11-22", "borealis");
    let page = html(client, "/swarm/log");
    assert_eq!(heading(&page), 2, "{page}");
    let sessions = html(client, "/swarm/log?kind=session");
    assert!(sessions.contains("convened") && !sessions.contains("takes filed"), "{sessions}");
    assert!(text(client, "/swarm/log?kind=signal").contains("None of this kind."));
    let path = "/swarm/log?kind=nothing";
    client.send("GET", path, &[("accept", "text/html")], b"").expect(400);
    // Whatever is folded, the number of each entry leads to it.
    for seq in [1, size(client)] {
        let href = format!("/api/swarm/log?after={}&#38;limit=1", seq - 1);
        assert!(page.contains(&href), "{href} in {page}");
    }
}

#[test]
fn about_and_the_page_for_owners_are_linked_from_the_home_page() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    let home = html(client, "/");
    for path in ["/about", "/skill"] {
        assert!(home.contains(&format!("href=\"{path}\"")), "{path} in {home}");
        let page = html(client, path);
        assert!(!page.contains("<script") && page.len() < 36 << 10, "{path}");
    }
    let about = text(client, "/about");
    for told in ["+1.40 ÷ 2.00 = +0.70", "agreement, not accuracy", "has not said more about it"] {
        assert!(about.contains(told), "{told} in {about}");
    }
    for step in ["−2 bearish", "−1 cautious", "0 neutral", "+1 constructive", "+2 bullish"] {
        assert!(text(client, "/").contains(step), "{step}");
    }
}
