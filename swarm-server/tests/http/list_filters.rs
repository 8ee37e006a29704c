//! Filters of lists, as the API and as the pages answer them (API.md, 6.2; MANUAL.md, 10.1).

use serde_json::{Value, json};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Author, Client};

on_every_store! {
    sessions_are_filtered,
    takes_are_listed_newest_first,
    takes_are_filtered,
    memos_are_listed_and_filtered,
    sealed_takes_are_listed_without_content,
    lists_are_files_too,
}

const JSON: [(&str, &str); 1] = [("accept", "application/json")];

fn read(client: &Client, path: &str) -> Value {
    client.send("GET", path, &JSON, b"").expect(200).json()
}

/// The ids in the list that an answer has, of all of its pages.
fn ids(client: &Client, path: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(address) = next {
        let page = client.send("GET", &address, &JSON, b"").expect(200);
        let body = page.json();
        let lists = body.as_object().unwrap().values().filter_map(Value::as_array);
        found.extend(lists.flatten().map(|item| item["id"].as_u64().unwrap()));
        let link = page.header("link").and_then(|link| link.strip_prefix('<'));
        next = link.and_then(|link| link.split_once('>')).map(|(address, _)| address.to_owned());
        assert_eq!(next.is_some(), body.get("nextBefore").is_some(), "{address}");
    }
    found
}

fn sessions_are_filtered(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    for (date, subject) in [
        ("2026-11-20", "aurora"),
        ("2026-11-21", "borealis"),
        ("2026-11-22", "aurora"),
        ("2026-11-23", "aurora"),
    ] {
        client.convene(date, subject);
    }
    for state in ["aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    client.operate("/sessions/2/state", &json!({ "state": "window_closed" })).expect(200);
    for (query, expected) in [
        ("", &[4, 3, 2, 1][..]),
        ("subject=aurora", &[4, 3, 1]),
        ("state=published", &[1]),
        ("state=window_closed", &[2]),
        ("state=collecting", &[4, 3]),
        ("from=2026-11-21&to=2026-11-22", &[3, 2]),
        ("from=2026-11-22", &[4, 3]),
        ("to=2026-11-20&subject=aurora&state=published", &[1]),
        ("subject=aurora&state=window_closed", &[]),
        ("subject=&state=", &[4, 3, 2, 1]),
    ] {
        for limit in [1, 2, 500] {
            for view in ["", "&view=summary", "&view=full"] {
                let path = format!("/api/swarm/sessions?{query}&limit={limit}{view}");
                assert_eq!(ids(client, &path), expected, "{path}");
            }
        }
    }
    // The same records as without filters.
    let all = read(client, "/api/swarm/sessions");
    let published = read(client, "/api/swarm/sessions?state=published");
    assert_eq!(published["sessions"][0], all["sessions"][3]);
    let summary = read(client, "/api/swarm/sessions?state=published&view=summary");
    let summary = summary["sessions"][0].as_object().unwrap();
    assert!(!summary.contains_key("roster") && summary["hasRoster"] == false, "{summary:?}");
    assert_eq!(summary["snapshot"].get("quotes"), None, "{summary:?}");
    assert_eq!(summary["snapshot"]["stances"], all["sessions"][3]["snapshot"]["stances"]);
    for (bad, hint) in [
        ("state=open", "state: "),
        ("from=yesterday", "from: "),
        ("from=2026-13-01", "from: must be a day of the calendar"),
        ("to=2026-02-30", "to: must be a day of the calendar"),
        ("to=2026-2-3", "to: "),
        ("view=short", "view: must be summary or full"),
        ("before=x", "before: "),
    ] {
        let answer = client.get(&format!("/api/swarm/sessions?{bad}"));
        assert!(answer.header("swarm-hint").unwrap().starts_with(hint), "{answer:?}");
        answer.unread(400, "invalid query");
    }
    // A page names the stages, JSON names the states.
    for (accept, names) in [
        ("text/html", "announced, open, closed, result, published"),
        ("application/json", "scheduled, collecting, window_closed, aggregated, published"),
    ] {
        let answer = client.send("GET", "/swarm/sessions?state=shut", &[("accept", accept)], b"");
        let hint = answer.expect(400).header("swarm-hint").unwrap().to_owned();
        assert!(hint.starts_with(&format!("state: must be one of {names}")), "{hint}");
        assert!(!hint.contains(if accept == "text/html" { "collecting" } else { "announced" }));
    }
    // The page filters by stage or by state, in both of its forms.
    for (query, expected) in [
        ("state=open", &[4, 3][..]),
        ("state=collecting", &[4, 3]),
        ("state=window_closed", &[2]),
        ("state=scheduled", &[]),
        ("subject=aurora&state=published", &[1]),
        ("subject=borealis", &[2]),
        ("state=result", &[]),
    ] {
        let path = format!("/swarm/sessions?{query}");
        assert_eq!(ids(client, &path), expected, "{path}");
        let html = client.send("GET", &path, &[("accept", "text/html")], b"").expect(200).text;
        if let Some((_, state)) = query.split_once("state=") {
            assert!(html.contains(&format!("<option selected>{state}</option>")), "{path}");
        }
        for id in 1..=4 {
            let is_shown = html.contains(&format!("href=\"/swarm/sessions/{id}\""));
            assert_eq!(is_shown, expected.contains(&id), "{path}: session {id}");
        }
    }
}

/// The takes 1 to 5: the first and the third are revisions of one take.
fn file_takes(fixture: &Fixture) -> [Author; 2] {
    let client = &fixture.client;
    client.convene("2026-11-21", "aurora");
    client.convene("2026-11-21", "borealis");
    let [ada, bob] = ["Ada", "Bob"].map(|name| Author::join(client, name));
    for (author, subject, stance, body) in [
        (&ada, "aurora", "bullish", "First."),
        (&bob, "aurora", "bearish", "Utilisation is down."),
        (&ada, "aurora", "neutral", "Second."),
        (&ada, "borealis", "bullish", "Demand for utilisation."),
        (&bob, "borealis", "neutral", "Nothing."),
    ] {
        let fields = json!({
            "date": "2026-11-21", "subjectId": subject, "stance": stance, "body": body,
        });
        client.submit(author, author.draft_of(fields)).expect(201);
    }
    [ada, bob]
}

fn takes_are_listed_newest_first(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    assert_eq!(read(client, "/api/swarm/takes"), json!({ "takes": [] }));
    file_takes(&fixture);
    let whole = read(client, "/api/swarm/takes?superseded=true");
    for (at, id) in [5, 4, 3, 2, 1].into_iter().enumerate() {
        assert_eq!(whole["takes"][at], read(client, &format!("/api/swarm/takes/{id}")));
    }
    assert_eq!(whole["takes"][4]["supersededBy"], 3);
    for limit in 1..=6 {
        let of = |query: &str| ids(client, &format!("/api/swarm/takes?limit={limit}{query}"));
        assert_eq!(of(""), [5, 4, 3, 2], "{limit}");
        assert_eq!(of("&superseded=true"), [5, 4, 3, 2, 1], "{limit}");
        assert_eq!(of("&before=4&superseded=true"), [3, 2, 1], "{limit}");
        assert_eq!(of("&session=1"), [3, 2], "{limit}");
        assert_eq!(of("&session=1&superseded=true"), [3, 2, 1], "{limit}");
        assert_eq!(of("&session=1&superseded=true&before=3"), [2, 1], "{limit}");
    }
    let superseded = read(client, "/api/swarm/takes?session=1&superseded=true");
    assert_eq!(superseded["takes"][2], whole["takes"][4]);
    for far in [6, 1_000, u64::MAX] {
        assert_eq!(ids(client, &format!("/api/swarm/takes?before={far}")), [5, 4, 3, 2]);
    }
    assert_eq!(ids(client, "/api/swarm/takes?before=1"), [0_u64; 0]);
    assert_eq!(ids(client, "/api/swarm/takes?before=0"), [0_u64; 0]);
    assert_eq!(ids(client, "/api/swarm/takes?session=9"), [0_u64; 0]);
    for bad in ["limit=0", "limit=501", "before=x", "session=x", "superseded=1", "q=%C3%28"] {
        client.get(&format!("/api/swarm/takes?{bad}")).unread(400, "invalid query");
    }
}

fn takes_are_filtered(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    let [ada, bob] = file_takes(&fixture);
    for (query, expected) in [
        (format!("member={}", ada.id), &[4, 3][..]),
        (format!("member={}&subject=aurora", bob.id), &[2]),
        (format!("member={}&session=2", bob.id), &[5]),
        ("subject=borealis".to_owned(), &[5, 4]),
        ("stance=bullish".to_owned(), &[4]),
        ("stance=bullish&superseded=true".to_owned(), &[4, 1]),
        ("q=UTILISATION".to_owned(), &[4, 2]),
        ("q=utilisation&session=1".to_owned(), &[2]),
        ("q=&subject=&stance=".to_owned(), &[5, 4, 3, 2]),
        ("stance=none".to_owned(), &[]),
    ] {
        for path in ["/api/swarm/takes", "/swarm/takes"] {
            let path = format!("{path}?limit=1&{query}");
            assert_eq!(ids(client, &path), expected, "{path}");
        }
    }
}

fn memos_are_listed_and_filtered(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    assert_eq!(read(client, "/api/swarm/memos"), json!({ "memos": [] }));
    client.convene("2026-11-21", "aurora");
    let [ada, bob] = ["Ada", "Bob"].map(|name| Author::join(client, name));
    for (author, title, subject) in [
        (&ada, "On demand", Some("aurora")),
        (&bob, "On supply", None),
        (&ada, "Retracted", None),
        (&ada, "On prices", Some("aurora")),
    ] {
        let memo = json!({ "title": title, "body": "Long.", "subjectId": subject });
        let bearer = author.bearer();
        client.post("/api/swarm/memos", &[("authorization", &bearer)], &memo.to_string());
    }
    client.operate("/memos/3/retract", &json!({})).expect(200);
    let whole = read(client, "/api/swarm/memos");
    assert_eq!(whole["memos"][2], read(client, "/api/swarm/memos/1"));
    for (query, expected) in [
        (String::new(), &[4, 2, 1][..]),
        ("before=4".to_owned(), &[2, 1]),
        ("before=99".to_owned(), &[4, 2, 1]),
        (format!("member={}", ada.id), &[4, 1]),
        ("subject=aurora&q=PRICES".to_owned(), &[4]),
        ("q=long".to_owned(), &[4, 2, 1]),
        ("q=retracted".to_owned(), &[]),
    ] {
        for path in ["/api/swarm/memos", "/swarm/memos"] {
            for limit in [1, 500] {
                let path = format!("{path}?limit={limit}&{query}");
                assert_eq!(ids(client, &path), expected, "{path}");
            }
        }
    }
    for bad in ["limit=0", "before=x"] {
        client.get(&format!("/api/swarm/memos?{bad}")).unread(400, "invalid query");
    }
}

fn sealed_takes_are_listed_without_content(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "aurora" })).expect(201);
    let blind = json!({ "date": "2026-11-21", "subjectId": "aurora", "blind": true });
    client.operate("/sessions", &blind).expect(201);
    let author = Author::join(client, "Ada");
    let fields = json!({
        "date": "2026-11-21", "subjectId": "aurora", "stance": "bullish", "body": "Secret.",
    });
    client.submit(&author, author.draft_of(fields)).expect(201);
    for path in ["/api/swarm/takes", "/api/swarm/takes?session=1", "/swarm/takes"] {
        let list = client.send("GET", path, &JSON, b"").expect(200);
        assert!(!list.text.contains("Secret") && !list.text.contains("bullish"), "{list:?}");
        assert_eq!(list.json()["takes"][0], read(client, "/api/swarm/takes/1"), "{path}");
    }
    for query in ["q=secret", "stance=bullish", "session=1&stance=bullish"] {
        assert_eq!(ids(client, &format!("/api/swarm/takes?{query}")), [0_u64; 0], "{query}");
    }
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    assert_eq!(ids(client, "/api/swarm/takes?q=secret"), [1]);
}

#[test]
fn members_and_subjects_are_found_by_text() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    for name in ["Ada", "Bob"] {
        Author::join(client, name);
    }
    for (id, blurb) in [("aurora", "Lights."), ("borealis", "Northern LIGHTS."), ("c", "")] {
        let subject = json!({ "id": id, "name": id, "thesisBlurb": blurb });
        client.operate("/subjects", &subject).expect(201);
    }
    let names = |path: &str, list: &str| {
        let found = read(client, path)[list].as_array().unwrap().clone();
        let mut names: Vec<_> =
            found.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    for base in ["/api/swarm", "/swarm"] {
        let members = |query: &str| names(&format!("{base}/members{query}"), "members");
        assert_eq!(members(""), ["Ada", "Bob"]);
        assert_eq!(members("?q=aDA"), ["Ada"]);
        assert_eq!(members("?q=none"), [""; 0]);
        let subjects = |query: &str| names(&format!("{base}/subjects{query}"), "subjects");
        assert_eq!(subjects("?q=lights"), ["aurora", "borealis"]);
        assert_eq!(subjects("?q=lights&limit=1"), ["aurora"]);
        assert_eq!(subjects("?q=lights&after=aurora"), ["borealis"]);
    }
}

/// With the filters of the lists, in pages, and with nothing that a spreadsheet takes for a formula.
fn lists_are_files_too(backend: &Backend) {
    let (fixture, author) = Fixture::on(backend).filled();
    let client = &fixture.client;
    client.convene("2026-11-22", "gold");
    let take = json!({ "date": "2026-11-22", "subjectId": "gold", "body": "=cmd()",
        "weights": [{ "bucket": "+a", "weight": 0.25 }, { "bucket": "b", "weight": 2 }] });
    client.submit(&author, author.draft_of(take)).expect(201);
    fixture.sign_log();
    let rows = |path: &str, field: &str| read(client, path)[field].as_array().unwrap().clone();
    for (file, list, field) in [
        ("/swarm/takes", "/api/swarm/takes", "takes"),
        ("/swarm/members", "/api/swarm/members", "members"),
        ("/swarm/sessions", "/api/swarm/sessions", "sessions"),
        ("/swarm/log", "/api/swarm/log", "entries"),
        ("/swarm/committee", "/api/ic/sessions", "sessions"),
    ] {
        let answer = client.get(&format!("{file}.ndjson")).expect(200);
        assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
        let lines: Vec<Value> =
            answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, rows(list, field), "{file}");
        let csv = client.get(&format!("{file}.csv")).expect(200);
        assert!(csv.header("content-type").unwrap().starts_with("text/csv"), "{csv:?}");
        assert!(csv.header("content-disposition").unwrap().starts_with("attachment"), "{csv:?}");
        // A header, and each row.
        assert!(csv.text.split("\r\n").count() >= lines.len() + 2, "{file}: {}", csv.text);
    }
    let csv = client.get("/swarm/takes.csv?subject=gold").expect(200).text;
    let (header, row) = csv.split_once("\r\n").unwrap();
    assert!(header.contains("\"weights.+a\",\"weights.b\""), "{csv}");
    assert!(row.contains("\"'=cmd()\"") && row.contains(",0.25,2,"), "{csv}");
    assert_eq!(row.matches("\r\n").count(), 1, "the take on gold alone: {csv}");
    let first = client.get("/swarm/takes.ndjson?limit=1").expect(200);
    let next = first.header("link").unwrap().to_owned();
    let next = next.trim_start_matches('<').split('>').next().unwrap();
    assert!(next.starts_with("/swarm/takes.ndjson?"), "{next}");
    let second = client.get(next).expect(200).text;
    assert_eq!((first.text + &second).lines().count(), rows("/api/swarm/takes", "takes").len());
    client.get("/swarm/takes.csv?limit=0").expect(400);
}
