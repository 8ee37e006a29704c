//! Links from a page of a list to the next, and hints for parameters that mean nothing (API.md, 9.2).

use serde_json::{Value, json};

use crate::committee_fixture::chair;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author};
use crate::routes;

/// The address of the next page.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let address = link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?;
    Some(address.to_owned())
}

#[test]
fn lists_link_to_their_next_pages() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    for subject in ["a&b", "c d", "e"] {
        client.operate("/subjects", &json!({ "id": subject, "name": subject })).expect(201);
    }
    for _ in 0..3 {
        fixture.convene("2026-11-21", "e");
    }
    for name in ["Ada", "Bob", "Eve"] {
        let author = Author::join(client, name);
        client.submit(&author, author.draft("2026-11-21", "e")).expect(201);
    }
    let admin = [("x-admin-token", ADMIN)];
    let json = ("accept", "application/json");
    for (path, list, count) in [
        ("/api/swarm/sessions?limit=1", "sessions", 3),
        ("/api/swarm/sessions/3?limit=1", "takes", 3),
        ("/api/swarm/subjects?limit=1&x=y", "subjects", 3),
        ("/api/swarm/log?limit=4", "entries", 0),
        ("/api/swarm/admin/applications?limit=1&state=claimed", "applications", 0),
        ("/api/swarm/admin/outbox?limit=1", "messages", 3),
        ("/swarm/sessions?limit=1", "sessions", 3),
        ("/swarm/subjects?limit=2", "subjects", 3),
    ] {
        let whole = path.split('?').next().unwrap();
        let whole = format!("{whole}?limit=500");
        let whole = client.send("GET", &whole, &[admin[0], json], b"").expect(200);
        assert_eq!(next(&whole), None, "{path}");
        let (mut read, mut address) = (Vec::<Value>::new(), Some(path.to_owned()));
        while let Some(at) = address {
            let page = client.send("GET", &at, &[admin[0], json], b"").expect(200);
            // Again, from the cache.
            let again = client.send("GET", &at, &[admin[0], json], b"").expect(200);
            assert_eq!(next(&page), next(&again), "{at}");
            read.extend(page.json()[list].as_array().unwrap().iter().cloned());
            address = next(&page);
            let only_known = address.as_ref().is_none_or(|it| !it.contains("x=y"));
            assert!(only_known, "{at} leads to {address:?}");
        }
        assert!(count == 0 || read.len() == count, "{path}: {read:?}");
        if !path.contains("state=") {
            assert_eq!(json!(read), whole.json()[list], "{path}");
        }
    }
}

#[test]
fn committee_list_links_to_its_next_page() {
    let fixture = Fixture::start();
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "e", "name": "e" })).expect(201);
    chair(client, "/members", &json!({ "id": "ada", "name": "Ada" })).expect(201);
    for _ in 0..3 {
        chair(client, "/briefs", &json!({})).expect(201);
        fixture.clock.move_by(24 * 60 * 60 * 1_000);
    }
    let first = client.get("/api/ic/sessions?limit=2").expect(200);
    let next = next(&first).unwrap();
    assert_eq!(next, "/api/ic/sessions?limit=2&before=2026-11-22");
    let last = client.get(&next).expect(200);
    assert_eq!((last.json()["sessions"].as_array().unwrap().len(), last.header("link")), (1, None));
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
