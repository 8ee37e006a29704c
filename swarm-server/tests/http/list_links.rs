//! Lists: links to their next pages, what their parameters select, and hints for parameters that mean nothing (API.md, 9.2
//! and 10.1). The lists are those of the route table.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::committee_fixture::chair;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, Client};
use crate::routes;

/// The address of the next page.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let address = link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?;
    Some(address.to_owned())
}

/// Three of everything that is listed, each at a time of its own.
fn desk() -> Fixture {
    let (fixture, author) = Fixture::with_records();
    let client = &fixture.client;
    for subject in ["a&b", "c d"] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
        client.operate("/webhooks/test", &json!({ "url": HOOK })).expect(200);
        fixture.clock.move_by(1);
    }
    for day in ["2026-11-22", "2026-11-23"] {
        client.convene(day, "a&b");
        let take = json!({ "date": day, "subjectId": "a&b", "stance": "bullish" });
        client.submit(&author, author.draft_of(take)).expect(201);
        let memo = json!({ "title": "On prices", "body": "Long.", "subjectId": "a&b" });
        let headers = [("authorization", &*author.bearer())];
        client.post("/api/swarm/memos", &headers, &memo.to_string()).expect(201);
    }
    for name in ["Ada", "Bob", "Eve"] {
        let author = Author::join(client, name);
        client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
        client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
        let memo = json!({ "title": "A memo", "body": "Long." }).to_string();
        client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);
        fixture.clock.move_by(1);
    }
    for _ in 0..2 {
        fixture.clock.move_by(24 * 60 * 60 * 1_000);
        chair(client, "/briefs", &json!({})).expect(201);
    }
    client.operate("/sessions/3/state", &json!({ "state": "aggregated" })).expect(200);
    fixture.sign_log();
    fixture
}

/// The webhook of the tenant of the tests.
const HOOK: &str = "https://hooks.test.example/swarm";

const JSON: &str = "application/json";
const HTML: &str = "text/html";

fn read(client: &Client, path: &str, accept: &str) -> Answer {
    client.send("GET", path, &[("x-admin-token", ADMIN), ("accept", accept)], b"")
}

fn with_query(path: &str, query: &str) -> String {
    format!("{path}{}{query}", if path.contains('?') { '&' } else { '?' })
}

/// The rows of each list in an answer, by name.
fn lists(answer: &Answer) -> BTreeMap<String, Vec<Value>> {
    let kind = answer.header("content-type").unwrap();
    let lines = |skipped: usize| -> Vec<Value> {
        answer.text.lines().skip(skipped).map(Value::from).collect()
    };
    match kind.split(';').next().unwrap() {
        "application/x-ndjson" => [("lines".to_owned(), lines(0))].into(),
        // The columns of a page are those of its rows alone.
        "text/csv" => [("rows".to_owned(), vec![Value::Null; lines(1).len()])].into(),
        JSON => {
            let body = answer.json();
            let members = body.as_object().into_iter().flatten();
            let lists =
                members.filter_map(|(name, it)| Some((name.clone(), it.as_array()?.clone())));
            lists.collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Whether the body says that there are more rows.
fn goes_on(answer: &Answer) -> bool {
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    body["more"] == true || !body["nextBefore"].is_null() || !body["nextAfter"].is_null()
}

/// Of every route with pages, also where only its JSON has them.
#[test]
fn every_list_links_to_its_next_page() {
    let fixture = desk();
    let client = &fixture.client;
    let mut with_pages = Vec::new();
    let reads = routes::all().filter(|route| {
        route.is_read() && !route.is_of_second_log() && route.info.path != "/api/swarm/events"
    });
    for route in reads {
        let name = route.name();
        let first = read(client, &with_query(&route.path, "limit=1"), JSON);
        let is_list = route.info.query.contains(&"limit");
        assert_eq!(next(&first).is_some(), is_list || goes_on(&first), "{name}: {first:?}");
        if next(&first).is_none() {
            continue;
        }
        with_pages.push(route.info.path);
        let whole = read(client, &with_query(&route.path, "limit=500"), JSON).expect(200);
        assert!(next(&whole).is_none() && !goes_on(&whole), "{name}: {whole:?}");
        let is_paged =
            |(list, rows): &(&String, &Vec<Value>)| rows.len() > lists(&first)[*list].len();
        let whole = lists(&whole);
        let (list, expected) = whole.iter().find(is_paged).unwrap_or_else(|| panic!("{name}"));
        let (mut found, mut address) = (Vec::new(), Some(with_query(&route.path, "limit=1&x=y")));
        while let Some(at) = address {
            let page = read(client, &at, JSON).expect(200);
            // Again, from the cache.
            assert_eq!(next(&page), next(&read(client, &at, JSON)), "{at}");
            found.extend(lists(&page).remove(list).unwrap());
            address = next(&page);
            assert!(
                address.as_ref().is_none_or(|it| !it.contains("x=y")),
                "{at} leads to {address:?}"
            );
        }
        assert_eq!(found, *expected, "{name}");
    }
    for path in [
        "/api/swarm/takes",
        "/api/swarm/admin/webhooks",
        "/api/ic/sessions",
        "/swarm/log",
        "/swarm/takes.csv",
    ] {
        assert!(with_pages.contains(&path), "{path}: {with_pages:?}");
    }
}

/// The query that a route needs to find something, beside this parameter.
fn needed(client: &Client, path: &str, name: &str) -> Vec<(&'static str, String)> {
    let of_day = |other| {
        vec![("date", "2026-11-21".to_owned()), ("subject", "aurora".to_owned())]
            .into_iter()
            .filter(move |(of, _)| *of == other)
            .collect()
    };
    match (path, name) {
        ("/api/swarm/brief", "date") => of_day("subject"),
        ("/api/swarm/brief", "subject") => of_day("date"),
        ("/oembed", "format") => vec![("url", format!("{}/swarm/sessions/1", client.url()))],
        _ => Vec::new(),
    }
}

/// The addresses of records on a page.
fn linked_records(page: &str) -> BTreeSet<&str> {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let kinds = ["sessions", "takes", "memos", "members", "subjects", "committee"];
    let is_record = |link: &&str| {
        let path = link.split(['?', '#']).next().unwrap_or_default();
        kinds.iter().any(|kind| path.strip_prefix(&format!("/swarm/{kind}/")).is_some())
            || link.starts_with("/api/swarm/log?after=")
    };
    links.filter(is_record).collect()
}

/// A text of 101 letters is no id, name, day, number or word that a parameter takes, and is found nowhere.
#[test]
fn every_parameter_is_refused_or_finds_nothing_if_it_is_wrong() {
    let fixture = desk();
    let client = &fixture.client;
    let wrong = "x".repeat(101);
    let mut tried = 0;
    for route in routes::all().filter(|route| route.is_read() && !route.is_of_second_log()) {
        for name in &route.info.query {
            let path = route.path.split('?').next().unwrap();
            let mut query = needed(client, path, name);
            query.push((name, wrong.clone()));
            let query: Vec<_> =
                query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            for accept in [JSON, HTML] {
                let answer = read(client, &with_query(path, &query.join("&")), accept);
                let is_empty = || {
                    lists(&answer).values().all(Vec::is_empty)
                        && linked_records(&answer.text).is_empty()
                };
                let is_refused =
                    answer.status == 400 || (answer.status == 404 && path == "/oembed");
                assert!(
                    is_refused || answer.status == 200 && is_empty(),
                    "{name} of {}: {answer:?}",
                    route.name()
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// A value of a parameter that selects some of the rows of [`desk`].
fn selecting(path: &str, name: &str) -> &'static str {
    match (path, name) {
        ("/swarm/committee", "before") => "2026-11-22",
        (_, "before") => "3",
        (_, "after") => "a%26b",
        ("/swarm/ranking", "subject") => "none",
        (_, "subject") => "a%26b",
        (_, "session") => "1",
        (_, "member") => "m",
        (_, "stance") => "bullish",
        (_, "superseded") => "true",
        (_, "state") => "result",
        (_, "kind") => "session",
        ("/swarm/members", "q") => "bob",
        ("/swarm/memos", "q") => "PRICES",
        ("/swarm/subjects", "q") => "A%26B",
        ("/swarm/takes", "q") => "BULLISH",
        _ => panic!("{name} of {path} has no sample value"),
    }
}

/// The addresses of the pages of the rows of a list.
fn addresses(answer: &Answer) -> BTreeSet<String> {
    let lists = lists(answer);
    let rows =
        lists.iter().flat_map(|(list, rows)| rows.iter().map(move |row| (list.as_str(), row)));
    rows.map(|(list, row)| match list {
        "entries" => format!("/api/swarm/log?after={}&", row["seq"].as_u64().unwrap() - 1),
        "sessions" if row["id"].is_null() => {
            format!("/swarm/committee/{}", row["date"].as_str().unwrap())
        }
        _ => {
            let id = row["id"].as_str().map_or_else(|| row["id"].to_string(), str::to_owned);
            format!("/swarm/{list}/{}", id.replace('&', "%26").replace(' ', "%20"))
        }
    })
    .collect()
}

/// The rows that a page links to are those that its JSON has. The ranking has its own test: it selects figures, not rows.
#[test]
fn every_parameter_of_a_page_means_the_same_in_json() {
    let fixture = desk();
    let client = &fixture.client;
    let mut compared = Vec::new();
    for route in
        routes::all().filter(|route| route.is_read() && route.info.path != "/swarm/ranking")
    {
        let path = route.path.as_str();
        let whole = read(client, path, JSON);
        let is_page = read(client, path, HTML).header("content-type").unwrap().starts_with(HTML);
        if whole.status != 200 || !is_page || whole.header("content-type") != Some(JSON) {
            continue;
        }
        let whole = addresses(&whole);
        for name in &route.info.query {
            let value = if *name == "limit" { "1" } else { selecting(path, name) };
            let path = with_query(path, &format!("{name}={value}"));
            let selected = addresses(&read(client, &path, JSON).expect(200));
            let page = read(client, &path, HTML).expect(200).text.replace("&amp;", "&");
            let shown: BTreeSet<_> = whole
                .union(&selected)
                .filter(|row| {
                    page.contains(&format!("href=\"{row}\""))
                        || row.ends_with('&') && page.contains(row.as_str())
                })
                .cloned()
                .collect();
            match *name {
                // The lists are in different orders.
                "limit" => assert_eq!((shown.len(), selected.len()), (1, 1), "{path}"),
                _ => assert_eq!(shown, selected, "{path}"),
            }
            assert!(
                !selected.is_empty() && selected != whole,
                "{path} selects nothing: {selected:?}"
            );
            compared.push(path);
        }
    }
    assert!(compared.len() > 20, "{compared:?}");
}

/// At every route of the API, whether it refuses the request or not.
#[test]
fn parameters_that_mean_nothing_are_named() {
    let (fixture, _) = Fixture::with_records();
    let client = &fixture.client;
    let of_api = routes::all().filter(|route| route.info.path.starts_with("/api/"));
    for route in of_api.filter(|route| !route.is_of_second_log()) {
        let mark = if route.path.contains('?') { '&' } else { '?' };
        let path = format!("{}{mark}nothing=1", route.path);
        let answer = client.send(route.method(), &path, &[crate::raw_http::ONCE], b"");
        let hint = answer.header("swarm-hint").unwrap_or_default().to_owned();
        assert!(hint.contains("nothing: means nothing here"), "{}: {answer:?}", route.name());
        let plain = client.send(route.method(), &route.path, &[crate::raw_http::ONCE], b"");
        assert_eq!(plain.status, answer.status, "{}", route.name());
        let plain = plain.header("swarm-hint").unwrap_or_default();
        assert!(!plain.contains("means nothing"), "{}: {plain}", route.name());
    }
    let hint = |path: &str| client.get(path).header("swarm-hint").map(str::to_owned);
    let known = "nothing here, the parameters of this path are limit, after, q";
    assert_eq!(
        hint("/api/swarm/subjects?aftr=1&%C3%A4=2").unwrap(),
        format!("\\u00e4, aftr: mean {known}")
    );
    assert_eq!(hint("/api/swarm/subjects?limit=5&after=a"), None);
    let both = hint("/api/swarm/subjects?limit=x&page=2").unwrap();
    assert!(both.starts_with("limit: must be a whole number"), "{both}");
    assert!(both.ends_with(&format!("; page: means {known}")), "{both}");
    assert_eq!(hint("/swarm/subjects?utm_source=x"), None);
}
