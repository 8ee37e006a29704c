//! Each attack on the console.

use std::time::Duration;

use serde_json::json;
use swarm_http::Site;
use swarm_store_memory::MemoryStore;

use super::visitor::{OWN_NAVIGATION, Visitor};
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client, Server, services, tenant};
use crate::program::Program;
use crate::raw_http::exchange;
use crate::routes;

/// Whether a subject with this id is on record.
fn exists(client: &Client, id: &str) -> bool {
    client.get(&format!("/api/swarm/subjects/{id}")).status == 200
}

#[test]
fn forged_requests_change_nothing() {
    let server = Server::start();
    let client = server.client();
    let visitor = Visitor::signed_in(&client);
    let own = format!("http://{}", server.address);
    let sites =
        [None, Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none"), Some("")];
    let port = format!("http://{}:1", server.address.ip());
    let origins =
        [None, Some(&*own), Some("null"), Some("https://evil.example"), Some(&*port), Some("")];
    let mut nth = 0;
    for site in sites {
        for origin in origins {
            nth += 1;
            let id = format!("s{nth}");
            let headers = [("sec-fetch-site", site), ("origin", origin)];
            let headers: Vec<_> =
                headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            let seen =
                visitor.post_as("/operate/subjects", &headers, &[("id", &id), ("name", "a")]);
            let is_own = match site {
                Some(site) => site == "same-origin",
                None => origin == Some(&*own),
            };
            assert_eq!(seen.status, if is_own { 303 } else { 403 }, "{site:?} {origin:?}");
            assert_eq!(exists(&client, &id), is_own, "{site:?} {origin:?}");
            if !is_own {
                assert_eq!(seen.header("swarm-error"), Some("cross-site"));
            }
        }
    }
    // The sign-in and the sign-out too: nobody is signed in as somebody else, or out, by another site.
    let cross = [("sec-fetch-site", "cross-site")];
    let seen = Visitor::new(&client).post_as("/operate", &cross, &[("token", ADMIN)]).expect(403);
    assert!(seen.header("set-cookie").is_none());
    visitor.post_as("/operate/sign-out", &cross, &[]).expect(403);
    visitor.get("/operate").expect(200).says("What to do");
}

#[test]
fn every_page_and_form_needs_a_session() {
    let (fixture, _) = Fixture::with_records();
    let before = fixture.print();
    let visitor = Visitor::signed_in(&fixture.client);
    let header = ("x-admin-token".to_owned(), ADMIN.to_owned());
    let stranger = Visitor { headers: vec![header], ..Visitor::new(&fixture.client) };
    let of_console = || routes::all().filter(|route| route.is_of_console());
    for path in of_console().filter(|route| route.is_read()).map(|route| &route.path) {
        let seen = stranger.get(path);
        let leads_to = seen.header("location").unwrap_or_default();
        match path.as_str() {
            "/operate" => drop(seen.expect(200).form("/operate")),
            _ => {
                assert!(seen.status == 303 && leads_to.starts_with("/operate"), "{path}: {seen:?}")
            }
        }
        visitor.get(path).expect(200);
    }
    for path in of_console().filter(|route| !route.is_read()).map(|route| &route.path) {
        // Everybody may sign out.
        let expected = if path == "/operate/sign-out" { 303 } else { 401 };
        let seen = stranger.post(path, &[]);
        assert_eq!(seen.status, expected, "{path}: {seen:?}");
        let cross = [("sec-fetch-site", "cross-site")];
        let seen = visitor.post_as(path, &cross, &[("token", ADMIN)]).expect(403);
        assert_eq!(seen.header("swarm-error"), Some("cross-site"), "{path}");
        for kind in ["application/json", "text/plain", "multipart/form-data; boundary=x"] {
            let headers = [("sec-fetch-site", "same-origin"), ("content-type", kind)];
            visitor.send("POST", path, &headers, "{}").expect(415);
        }
    }
    assert_eq!(fixture.print(), before);
}

#[test]
fn malformed_forms_are_refused() {
    let (fixture, _) = Fixture::with_records();
    let visitor = Visitor::signed_in(&fixture.client);
    let long = format!("id={}", "x".repeat(200_000));
    let many = "a=1&".repeat(50_000);
    for route in routes::all().filter(|route| route.is_of_console() && !route.is_read()) {
        if ["/operate", "/operate/sign-out"].contains(&route.path.as_str()) {
            continue;
        }
        for body in ["", "=", "&&&", "%", "%ff=%ff", "id=%00&id=%0d%0a", "{", &long, &many] {
            let kind = ("content-type", "application/x-www-form-urlencoded");
            let headers = [("sec-fetch-site", "same-origin"), kind];
            let seen = visitor.send("POST", &route.path, &headers, body);
            assert!(seen.status < 500, "{} {body:.50}: {seen:?}", route.path);
        }
    }
}

#[test]
fn change_by_get_or_in_another_format_is_none() {
    let server = Server::start();
    let client = server.client();
    let visitor = Visitor::signed_in(&client);
    assert_eq!(visitor.get("/operate/sign-out").status, 405);
    let same = ("sec-fetch-site", "same-origin");
    for kind in ["application/json", "text/plain", "multipart/form-data; boundary=x"] {
        let headers = [same, ("content-type", kind)];
        visitor.send("POST", "/operate/subjects", &headers, "id=a&name=a").expect(415);
    }
    assert!(!exists(&client, "a"));
}

#[test]
fn session_cannot_be_fixed_or_guessed() {
    let server = Server::start();
    let client = server.client();
    let mut visitor = Visitor::new(&client);
    // A cookie that somebody planted before the sign-in is not the one of the session.
    let planted = format!("swarm={}", "A".repeat(43));
    visitor.cookie = Some(planted.clone());
    visitor.sign_in(ADMIN).expect(303);
    let first = visitor.cookie.clone().unwrap();
    assert_ne!(first, planted);
    // Signing in again ends the session before.
    visitor.sign_in(ADMIN).expect(303);
    assert_ne!(visitor.cookie, Some(first.clone()));
    let signed_out = ["", "swarm=", "swarm=x", &planted, &first];
    for cookie in signed_out {
        let thief = Visitor { cookie: Some(cookie.to_owned()), ..visitor.clone() };
        thief.get("/operate/members").expect(303);
        thief.post("/operate/subjects", &[("id", "a"), ("name", "a")]).expect(401);
    }
    // Two cookies of the name are none.
    let own = visitor.cookie.clone().unwrap();
    let thief = Visitor { cookie: Some(format!("{planted}; {own}")), ..visitor.clone() };
    thief.get("/operate/members").expect(303);
    // A token is no session, and a session no token.
    let header = ("x-admin-token".to_owned(), ADMIN.to_owned());
    let with_token = Visitor { headers: vec![header], ..Visitor::new(&client) };
    with_token.get("/operate/members").expect(303);
    let headers = [("cookie", &*own)];
    assert_eq!(client.send("GET", "/api/swarm/admin/outbox", &headers, b"").status, 401);
}

#[test]
fn session_is_gone_after_the_sign_out() {
    let server = Server::start();
    let visitor = Visitor::signed_in(&server.client());
    let copy = visitor.clone();
    visitor.post("/operate/sign-out", &[]).expect(303);
    copy.get("/operate/members").expect(303);
}

/// The seconds of `Retry-After`.
fn retry_after(seen: &super::visitor::Seen) -> u64 {
    seen.header("retry-after").unwrap().parse().unwrap()
}

#[test]
fn guessing_waits_and_even_the_right_token_with_it() {
    let services = services(&MemoryStore::new());
    let site = Site::single(services, tenant("default", ADMIN, &[])).trust_forwarded(true);
    let server = Server::of(site);
    let from = |address: &str| Visitor {
        headers: vec![("x-forwarded-for".to_owned(), format!("203.0.113.9, {address}"))],
        ..Visitor::new(&server.client())
    };
    let mut guesser = from("192.0.2.7");
    let seen = guesser.sign_in("wrong").expect(401);
    assert_eq!(seen.header("swarm-error"), Some("admin-token-required"));
    seen.says("not one of an operator");
    let mut waits = Vec::new();
    for _ in 0..3 {
        // At once the right one is refused as well, unless so much time went by that the wait is over.
        let seen = guesser.sign_in(ADMIN);
        if seen.status == 303 {
            return;
        }
        assert_eq!((seen.status, seen.header("swarm-error")), (429, Some("too-many-attempts")));
        waits.push(retry_after(&seen));
        std::thread::sleep(Duration::from_secs(retry_after(&seen)));
        guesser.sign_in("wrong").expect(401);
    }
    assert!(waits.is_sorted() && waits[0] <= 1, "{waits:?}");
    // Others do not wait, and what a guesser says about itself before the last address counts for nothing.
    from("192.0.2.8").sign_in(ADMIN).expect(303);
    let seen = guesser.sign_in(ADMIN);
    if seen.status != 303 {
        std::thread::sleep(Duration::from_secs(retry_after(&seen)));
        guesser.sign_in(ADMIN).expect(303);
    }
}

#[test]
fn token_that_is_asked_again_counts_too() {
    let server = Server::start();
    let client = server.client();
    let id = client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in(&client);
    let path = format!("/operate/sessions/{id}/aggregate");
    let asked = visitor.fill_in(&format!("/operate/sessions/{id}"), &path, &[]).expect(200);
    let form = asked.form(&path);
    let seen = visitor.submit(&form, &[("token", "wrong")]).expect(401);
    let form = seen.form(&path);
    assert!(form.fields.contains(&("token".to_owned(), String::new())), "{form:?}");
    let state =
        || client.get(&format!("/api/swarm/sessions/{id}")).json()["session"]["state"].clone();
    let mut seen = visitor.submit(&form, &[("token", ADMIN)]);
    if seen.status == 429 {
        assert_eq!(state(), "collecting");
        // The next sign-in from here waits as well.
        let again = Visitor::new(&client).sign_in(ADMIN);
        assert!(matches!(again.status, 429 | 303), "{again:?}");
        std::thread::sleep(Duration::from_secs(retry_after(&seen)));
        seen = visitor.submit(&seen.form(&path), &[("token", ADMIN)]);
    }
    seen.expect(303);
    assert_eq!(state(), "aggregated");
}

#[test]
fn stale_form_is_refused_with_what_was_typed() {
    let server = Server::start();
    let client = server.client();
    let id = client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in(&client);
    let page = format!("/operate/sessions/{id}");
    let (quorum, record) = (format!("{page}/quorum"), "/operate/subjects/aurora");
    let form = visitor.get(&page).expect(200).form(&quorum);
    let other = visitor.get(record).expect(200).form(record);
    let patch = json!({ "quorum": 3 }).to_string();
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    let path = format!("/api/swarm/admin/sessions/{id}");
    client.send("PATCH", &path, &headers, patch.as_bytes()).expect(200);
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(200);
    let fields = [("quorum", "7"), ("note", "a note")];
    let seen = visitor.submit(&form, &fields).expect(409);
    assert_eq!(seen.header("swarm-error"), Some("stale-form"));
    let again = seen.form(&quorum);
    for (name, value) in fields {
        assert!(again.fields.contains(&(name.to_owned(), value.to_owned())), "{again:?}");
    }
    let quorum = || client.get(&path.replace("admin/", "")).json()["session"]["quorum"].clone();
    assert_eq!(quorum(), 3);
    visitor.submit(&again, &[]).expect(303);
    assert_eq!(quorum(), 7);
    visitor.submit(&other, &[("name", "old")]).expect(409);
    assert_eq!(client.get("/api/swarm/subjects/aurora").json()["name"], "Aurora");
}

#[test]
fn double_click_acts_once() {
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let visitor = Visitor::signed_in(&client);
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    let clicks: Vec<_> = std::thread::scope(|scope| {
        let clicks: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| visitor.submit(&form, &[("date", "2026-11-22")])))
            .collect();
        clicks.into_iter().map(|click| click.join().unwrap()).collect()
    });
    for seen in clicks {
        assert_eq!((seen.status, seen.header("location")), (303, Some("/operate/sessions/2")));
    }
    let sessions = client.get("/api/swarm/sessions").json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
    // A form of another page is another form.
    let form = visitor.get("/operate/convene?subject=aurora").expect(200).form("/operate/convene");
    visitor.submit(&form, &[("date", "2026-11-22")]).expect(303);
    let sessions = client.get("/api/swarm/sessions").json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 3);
}

#[test]
fn minted_secret_is_shown_once() {
    let server = Server::start();
    let client = server.client();
    let author = Author::join(&client, "Ada");
    let visitor = Visitor::signed_in(&client);
    let page = format!("/operate/members/{}", author.id.as_str());
    let path = format!("{page}/rotate-key");
    let asked = visitor.fill_in(&page, &path, &[]).expect(200);
    asked.says("stops working at once");
    let valid = |token: &str| {
        let bearer = format!("Bearer {token}");
        client.send("GET", "/api/swarm/verify-token", &[("authorization", &bearer)], b"").status
    };
    assert_eq!(valid(&author.token), 200);
    let form = asked.form(&path);
    let seen = visitor.submit(&form, &[("token", ADMIN)]).expect(303);
    // A second click mints no second one, and does not show the first again.
    assert_eq!(
        visitor.submit(&form, &[("token", ADMIN)]).expect(303).header("location"),
        Some("/operate/secret")
    );
    // An image of another site or of this one, a HEAD and a link of another site leave it for the operator.
    let [site, mode, dest] = OWN_NAVIGATION;
    let own = format!("http://{}", server.address);
    let other_page = format!("{own}/swarm/memos/1");
    for headers in [
        &[("sec-fetch-site", "same-site"), mode, dest][..],
        &[("sec-fetch-site", "none"), mode, dest],
        &[site, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        &[site, mode, ("sec-fetch-dest", "iframe")],
        &[("referer", "http://evil.example/operate")],
        &[("referer", &*other_page)],
    ] {
        visitor.send("GET", "/operate/secret", headers, "").expect(200).says("Show it now");
    }
    visitor.send("HEAD", "/operate/secret", &OWN_NAVIGATION, "").expect(200);
    let shown = visitor.follow(&seen);
    let token = shown.text.split("<code>").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!((valid(token), valid(&author.token)), (200, 401));
    visitor.follow(&seen).is_silent_on(token);
    // Another session never sees it.
    Visitor::signed_in(&client).follow(&seen).is_silent_on(token);
    // An old browser names the page in place of the kind of request.
    let asked = visitor.fill_in(&page, &path, &[]).expect(200);
    let seen = visitor.submit(&asked.form(&path), &[("token", ADMIN)]).expect(303);
    let referer = format!("{own}{page}");
    let location = seen.header("location").unwrap();
    visitor.send("GET", location, &[("referer", &referer)], "").expect(200).says("<code>");
    // A program names neither.
    for headers in [&[][..], &[site]] {
        let asked = visitor.fill_in(&page, &path, &[]).expect(200);
        let seen = visitor.submit(&asked.form(&path), &[("token", ADMIN)]).expect(303);
        let location = seen.header("location").unwrap();
        visitor.send("GET", location, headers, "").expect(200).says("<code>");
    }
}

#[test]
fn form_of_a_stranger_is_not_kept() {
    let server = Server::start();
    let stranger = Visitor::new(&server.client());
    let body = "unknown=x&".repeat(20_000) + "name=kept&" + &"a&".repeat(20_000);
    let headers =
        [("sec-fetch-site", "same-origin"), ("content-type", "application/x-www-form-urlencoded")];
    let seen = stranger.send("POST", "/operate/subjects", &headers, &body).expect(401);
    let form = seen.form("/operate/subjects");
    let fields: Vec<_> = form.fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(fields, ["name", "signing-in", "token"]);
}

/// The memory of the names of 20 sessions, each with 200 forms of 250 kB, would be 1 GB.
#[test]
fn long_names_of_forms_are_not_kept() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let sessions: Vec<_> = (0..3).map(|_| Visitor::signed_in(&program.client)).collect();
    let before = program.memory();
    for number in 0..600 {
        let visitor = &sessions[number / 200];
        let name = number.to_string() + &"n".repeat(250_000);
        let id = format!("s{number}");
        visitor
            .post("/operate/subjects", &[("form", &name), ("id", &id), ("name", "a")])
            .expect(303);
    }
    // It is one and the same form still.
    let again = "599".to_owned() + &"n".repeat(250_000);
    sessions[2]
        .post("/operate/subjects", &[("form", &again), ("id", "b"), ("name", "a")])
        .expect(303);
    assert!(!exists(&program.client, "b"));
    let grown = program.memory().saturating_sub(before);
    assert!(grown < 80 << 20, "grown by {} MiB", grown >> 20);
}

#[test]
fn console_cannot_be_framed_and_is_not_indexed() {
    let server = Server::start();
    let client = server.client();
    // `Visitor` checks the headers of each answer, signed in or not.
    let visitor = Visitor::signed_in(&client);
    for visitor in [Visitor::new(&client), visitor] {
        for path in ["/operate", "/operate/members", "/operate/unknown", "/operate/sessions/9"] {
            visitor.get(path);
        }
        visitor.post_as("/operate/subjects", &[("sec-fetch-site", "cross-site")], &[]).expect(403);
    }
    // Errors too, also those that no page is made of.
    let host = client.address;
    for (request, status) in [
        (format!("PUT /operate HTTP/1.1\r\nhost: {host}"), 405),
        (format!("DELETE /operate/unknown HTTP/1.1\r\nhost: {host}"), 404),
        (format!("OPTIONS /operate/subjects HTTP/1.1\r\nhost: {host}"), 204),
        (format!("POST /operate/subjects HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0"), 415),
        (format!("POST /operate HTTP/1.1\r\nhost: {host}\r\ncontent-length: 99999999"), 415),
        (format!("GET /operate/?x HTTP/1.1\r\nhost: {host}\r\nhost: {host}"), 400),
        ("GET /operate/members HTTP/1.1".to_owned(), 400),
    ] {
        let request = format!("{request}\r\nconnection: close\r\n\r\n");
        let answer = exchange(client.address, request.as_bytes());
        assert_eq!(answer.status, status, "{request}");
        for (name, value) in
            [("content-security-policy", "frame-ancestors 'none'"), ("x-robots-tag", "noindex")]
        {
            let sent = answer.header(name).unwrap_or_default();
            assert!(sent.contains(value), "{request}: {name}: {sent}");
        }
    }
    let elsewhere = client.get("/operates");
    assert_eq!(elsewhere.header("x-robots-tag"), None);
    let answer = client.get("/openapi.json");
    assert!(!answer.text.contains("/operate"), "the console is no API");
}
