//! Takes whose texts operators withhold, restore and erase (API.md, 7.10).

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_core::audit::{Bundle, Evidence, Verdict, audit};
use swarm_core::json::RawJson;

use crate::backend::{Backend, on_every_store};
use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Answer, Author, Client};
use crate::raw_http::ONCE;
use crate::routes;

on_every_store! {
    texts_are_withheld_from_every_public_read,
    withheld_texts_are_restored,
    take_that_was_withheld_before_the_aggregation_counts_as_before,
    erased_texts_are_gone_for_good,
    sealed_takes_are_not_withheld,
    withheld_replay_is_recognized,
}

const DAY: &str = "2026-11-21";
const BODY: &str = "marigoldtext";
const MEMO: &str = "https://example.test/marigoldmemo";
const NOTE: &str = "it names a client";

/// Files a take with marked texts.
fn file(client: &Client, author: &Author, stance: &str) -> u64 {
    let texts = json!({ "date": DAY, "subjectId": "aurora", "stance": stance,
        "body": format!("{BODY} of {stance}"), "memoUrl": MEMO });
    let answer = client.submit(author, author.draft_of(texts)).expect(201);
    answer.json()["recommendationId"].as_u64().unwrap()
}

/// A published session with two revisions of the member `m`, each with texts, and a take of another member.
fn published(fixture: &Fixture) -> (Author, Author) {
    let client = &fixture.client;
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.convene(DAY, "aurora");
    let author = fixture.author_named("m".parse().unwrap());
    let other = fixture.author();
    file(client, &author, "bullish");
    client.submit(&other, other.draft(DAY, "aurora")).expect(201);
    file(client, &author, "bearish");
    crate::committee_fixture::insert_member(
        &fixture.committee(),
        "m",
        crate::committee_fixture::KEY,
    );
    crate::fixture::add_records(client, ADMIN, &author);
    for state in ["aggregated", "published"] {
        client.operate("/sessions/1/state", &json!({ "state": state })).expect(200);
    }
    fixture.sign_log();
    (author, other)
}

fn withhold(client: &Client, take: u64) -> Answer {
    client.operate(&format!("/takes/{take}/withhold"), &json!({ "note": NOTE }))
}

/// Every address at which the public reads, with queries under which takes, quotes and entries show.
fn addresses() -> Vec<String> {
    let mut all: Vec<_> = routes::public_reads().map(|route| route.path.clone()).collect();
    for query in [
        "/api/swarm/takes?q=marigold".to_owned(),
        "/swarm/takes?q=marigold".to_owned(),
        "/swarm/find?q=marigold".to_owned(),
        "/api/swarm/takes?superseded=true".to_owned(),
        "/api/swarm/takes?member=m".to_owned(),
        "/api/swarm/takes?session=1&superseded=true".to_owned(),
        "/api/swarm/takes/3".to_owned(),
        "/swarm/takes/3".to_owned(),
        "/api/swarm/sessions/1?after=0&limit=500".to_owned(),
        "/api/swarm/sessions?limit=1".to_owned(),
        "/api/swarm/sessions?state=published".to_owned(),
        "/api/swarm/log?kind=take-mark".to_owned(),
        "/swarm/members/m?before=2".to_owned(),
    ] {
        all.push(query);
    }
    all
}

/// What the stream of events says of all entries so far.
fn events(client: &Client) -> String {
    let entries = client.get("/api/swarm/log?limit=1000").expect(200).json();
    let last = format!("id: {}\n", entries["next"]);
    let mut stream = TcpStream::connect(client.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET /api/swarm/events?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let (mut reader, mut text) = (BufReader::new(stream), String::new());
    while !text.ends_with(&last) {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{text}");
    }
    while !text.ends_with("\n\n") && !text.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{text}");
    }
    text
}

/// All that the public reads, in each form, from caches and past them.
fn public(fixture: &Fixture, author: &Author) -> Vec<(String, String)> {
    let client = &fixture.client;
    let bearer = author.bearer();
    let mut all = vec![("the stream of events".to_owned(), events(client))];
    let page = client.send("GET", "/swarm/sessions/1", &[("accept", "text/html")], b"").text;
    let embedded = page.split("href=\"").find_map(|part| part.split_once("/oembed?url="));
    let (_, url) = embedded.expect("the page can be embedded");
    let embedded = format!("/oembed?url={}", url.split('"').next().unwrap());
    for path in addresses().into_iter().chain([embedded]) {
        for accept in ["application/json", "text/html", "text/markdown", "application/atom+xml"] {
            for headers in [
                vec![ONCE, ("accept", accept)],
                vec![("accept", accept)],
                vec![("accept", accept)],
                vec![("accept", accept), ("authorization", bearer.as_str())],
            ] {
                let answer = client.send("GET", &path, &headers, b"");
                let is_there = matches!(answer.status, 200 | 401 | 404 | 406);
                assert!(is_there, "{path} as {accept}: {answer:?}");
                all.push((format!("{path} as {accept}"), answer.text));
            }
        }
    }
    all
}

/// The reads in which a text stands.
fn showing<'a>(all: &'a [(String, String)], text: &str) -> Vec<&'a str> {
    let shown = all.iter().filter(|(_, body)| body.contains(text));
    shown.map(|(place, _)| place.as_str()).collect()
}

fn texts_are_withheld_from_every_public_read(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (author, _) = published(&fixture);
    let client = &fixture.client;
    let before = public(&fixture, &author);
    for text in [BODY, MEMO] {
        assert!(showing(&before, text).len() > 20, "{text}: {:?}", showing(&before, text));
    }
    let figures = |session: &Value| {
        let mut session = session["session"].clone();
        session["snapshot"]["quotes"] = Value::Null;
        session
    };
    let session = client.get("/api/swarm/sessions/1").expect(200).json();

    for take in [1, 3] {
        let dry = client
            .operate(&format!("/takes/{take}/withhold?dry_run=true"), &json!({ "note": NOTE }));
        let dry = dry.expect(200).json();
        assert_eq!(
            (&dry["dryRun"], &dry["take"]["withheld"]["note"]),
            (&json!(true), &json!(NOTE))
        );
        let answer = withhold(client, take).expect(200).json();
        let record = client.get(&format!("/api/swarm/takes/{take}")).expect(200).json();
        assert_eq!(answer, json!({ "ok": true, "status": 200, "take": record }));
        let fields: Vec<_> = record.as_object().unwrap().keys().map(String::as_str).collect();
        let (head, tail) = (
            ["id", "sessionId", "revision", "memberId", "date", "subjectId", "nonce", "stance"],
            ["confidence", "withheld", "signature", "publicKey", "filedAt"],
        );
        let named: Vec<_> = [&head[..], &tail[..]].concat();
        assert_eq!(fields.iter().filter(|it| **it != "supersededBy").count(), named.len());
        assert!(named.iter().all(|it| fields.contains(it)), "{record}");
        assert_eq!(record["withheld"]["note"], NOTE);
        let entries = client.get("/api/swarm/log?kind=take-mark").expect(200).json();
        let entry = entries["entries"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(record["withheld"]["at"], entry["at"]);
        let seq = entry["seq"].clone();
        assert_eq!(
            entry,
            json!({ "seq": seq, "at": entry["at"], "kind": "take-mark", "act": "withheld",
                "by": "operator", "note": NOTE, "id": take })
        );
    }
    fixture.sign_log();
    let after = public(&fixture, &author);
    for text in [BODY, MEMO] {
        assert_eq!(showing(&after, text), Vec::<&str>::new());
    }
    // As another process reads the store, without what this one had cached.
    let other = crate::harness::Server::signing(backend.opened_again());
    for path in addresses() {
        let answer = other.client().send("GET", &path, &[ONCE], b"");
        assert!(!answer.text.contains(BODY) && !answer.text.contains(MEMO), "{path}");
    }
    let visitor = Visitor::signed_in(client);
    for path in ["/operate/sessions/1", "/operate/takes/3", "/operate/acts", "/operate"] {
        visitor.get(path).expect(200).is_silent_on(BODY);
    }

    // What counts is as before.
    let now = client.get("/api/swarm/sessions/1").expect(200).json();
    assert_eq!(figures(&now), figures(&session));
    let quote = &now["session"]["snapshot"]["quotes"];
    let quote = quote.as_array().unwrap().iter().find(|quote| quote["takeId"] == 3).unwrap();
    assert_eq!((&quote["body"], &quote["withheld"]), (&Value::Null, &json!(true)));
    for query in
        ["session=1&kind=take-mark", "member=m&kind=take-mark", "subject=aurora&kind=take-mark"]
    {
        let page = client.get(&format!("/api/swarm/log?{query}")).expect(200).json();
        assert_eq!(page["entries"].as_array().unwrap().len(), 2, "{query}");
    }
    let page = client.get("/swarm/sessions/1").expect(200).text;
    assert!(page.contains("take 3: texts withheld, by operator: “it names a client”"), "{page}");
    // What the page says that the bundle proves is not said of them.
    for said in [
        "signed by the key in it, but for those withheld",
        "stances and confidences of withheld takes as this service shows them",
        "That the key in it signed any of 2 takes whose texts are withheld",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let page = client.get("/swarm/takes/3").expect(200).text;
    let note = page.split("<p class=\"note\">").skip(1).find(|part| part.contains(NOTE)).unwrap();
    let (note, _) = note.split_once("</p>").unwrap();
    assert!(note.ends_with("Stance, confidence and weights stay, and count."), "{page}");
    assert!(page.contains("/swarm/takes/3 of <time"), "what is printed: {page}");
    withhold(client, 3).refused(409, "take is withheld");
    withhold(client, 4).refused(404, "no such take");
    for bad in
        [json!({}), json!({ "note": "" }), json!({ "note": "n".repeat(501) }), json!({ "note": 1 })]
    {
        client.operate("/takes/2/withhold", &bad).expect(400);
    }
    verified(client, 2);
}

/// Verifies the bundle: nothing fails, and as many takes are said to be withheld.
fn verified(client: &Client, withheld: usize) {
    let bundle = client.get("/api/swarm/sessions/1/bundle").expect(200).text;
    let bundle = Bundle::read(RawJson::read(bundle.as_bytes()).unwrap()).unwrap();
    let findings = audit(&bundle, &Evidence::default());
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.iter().all(|it| it.verdict != Verdict::Fails), "{lines:#?}");
    let is_mark = |line: &&String| line.starts_with("notable: withheld: take ");
    assert_eq!(lines.iter().filter(is_mark).count(), withheld, "{lines:#?}");
}

fn withheld_texts_are_restored(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (author, _) = published(&fixture);
    let client = &fixture.client;
    let reads = ["/api/swarm/takes/3", "/api/swarm/sessions/1", "/api/swarm/takes?superseded=true"];
    let read = || reads.map(|path| client.get(path).expect(200).json());
    let before = read();
    client.operate("/takes/3/restore", &json!({})).refused(409, "take is not withheld");
    for take in [1, 3] {
        withhold(client, take).expect(200);
    }
    // The session goes on, and its snapshot stays the one that was written.
    client.operate("/sessions/1/brief", &json!({})).expect(409);
    let restored = client.operate("/takes/3/restore", &json!({ "note": "it did not" }));
    assert_eq!(restored.expect(200).json()["take"], before[0]);
    client.operate("/takes/1/restore", &json!({})).expect(200);
    assert_eq!(read(), before);
    client.operate("/takes/3/restore", &json!({})).refused(409, "take is not withheld");
    let marks = client.get("/api/swarm/log?kind=take-mark").expect(200).json();
    let acts: Vec<_> = marks["entries"].as_array().unwrap().iter().collect();
    assert_eq!(acts.len(), 4);
    assert_eq!((&acts[2]["act"], &acts[2]["note"]), (&json!("restored"), &json!("it did not")));
    assert_eq!((&acts[3]["act"], &acts[3]["note"]), (&json!("restored"), &Value::Null));
    fixture.sign_log();
    verified(client, 0);
    drop(author);
}

fn take_that_was_withheld_before_the_aggregation_counts_as_before(backend: &Backend) {
    let aggregated = |withheld: bool, client: &Client, author: &Author| {
        let id = client.convene(DAY, "aurora");
        let take = file(client, author, "bullish");
        if withheld {
            withhold(client, take).expect(200);
        }
        let path = format!("/sessions/{id}/state");
        client.operate(&path, &json!({ "state": "aggregated" })).expect(200);
        let session = client.get(&format!("/api/swarm/sessions/{id}")).expect(200).json();
        (take, session["session"]["snapshot"].clone())
    };
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    let (_, open) = aggregated(false, client, &author);
    let (take, withheld) = aggregated(true, client, &author);
    for field in ["participation", "stances", "consensus", "weights"] {
        assert_eq!(open[field], withheld[field], "{field}");
    }
    assert_eq!(withheld["quotes"][0]["body"], Value::Null);
    client.operate(&format!("/takes/{take}/restore"), &json!({})).expect(200);
    let session = client.get("/api/swarm/sessions/2").expect(200).json();
    let body = &session["session"]["snapshot"]["quotes"][0]["body"];
    assert!(body.as_str().unwrap().starts_with(BODY), "{body}");
}

fn erased_texts_are_gone_for_good(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (author, _) = published(&fixture);
    let client = &fixture.client;
    let id = author.id.as_str();
    let entries = client.get("/api/swarm/log?limit=1000").expect(200).json()["entries"].clone();
    let erase = json!({ "memberId": id, "texts": true });
    client.operate("/erase", &erase).refused(409, "member is claimed");
    withhold(client, 1).expect(200);
    client.operate("/deactivate", &json!({ "memberId": id })).expect(200);
    client.operate("/erase?dry_run=true", &erase).expect(200);
    if backend.folder.is_some() || backend.redis.is_some() {
        assert!(kept(backend).contains(BODY));
    }
    client.operate("/erase", &erase).expect(200);
    let records =
        [1, 3].map(|take| client.get(&format!("/api/swarm/takes/{take}")).expect(200).json());
    assert_eq!(records[0]["withheld"]["note"], NOTE);
    assert_eq!(records[1]["withheld"]["note"], "texts erased");
    for take in [1, 3] {
        let restored = client.operate(&format!("/takes/{take}/restore"), &json!({}));
        restored.refused(409, "texts are erased");
        let page = Visitor::signed_in(client).get(&format!("/operate/takes/{take}")).expect(200);
        page.says("Its texts were erased, and cannot be restored.");
        page.is_silent_on("/restore");
        withhold(client, take).refused(409, "take is withheld");
    }
    fixture.sign_log();
    let after = public(&fixture, &author);
    for text in [BODY, MEMO] {
        assert_eq!(showing(&after, text), Vec::<&str>::new());
        assert!(!kept(backend).contains(text), "the store keeps {text}");
        assert!(!fixture.print().contains(text));
    }
    let now = client.get("/api/swarm/log?limit=1000").expect(200).json()["entries"].clone();
    let count = entries.as_array().unwrap().len();
    assert_eq!(now.as_array().unwrap()[..count], entries.as_array().unwrap()[..]);
    verified(client, 2);
    // Again: nothing is left to erase.
    let size = now.as_array().unwrap().len();
    client.operate("/erase", &erase).expect(200);
    assert_eq!(client.log_entries().len(), size);
    client.operate("/erase", &json!({ "memberId": id, "texts": "yes" })).expect(400);
}

fn kept(backend: &Backend) -> String {
    String::from_utf8_lossy(&backend.kept()).into_owned()
}

fn sealed_takes_are_not_withheld(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    let draft = json!({ "date": DAY, "subjectId": "aurora", "blind": true });
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    client.operate("/sessions", &draft).expect(201);
    let take = file(client, &author, "bullish");
    withhold(client, take).refused(409, "takes are sealed");
    let id = author.id.as_str();
    client.operate("/deactivate", &json!({ "memberId": id })).expect(200);
    let erase = json!({ "memberId": id, "texts": true });
    client.operate("/erase", &erase).refused(409, "takes are sealed");
    assert!(fixture.print().contains(BODY));
    client.operate("/sessions/1/state", &json!({ "state": "aggregated" })).expect(200);
    let sealed = client.get(&format!("/api/swarm/takes/{take}")).expect(200).json();
    withhold(client, take).expect(200);
    let withheld = client.get(&format!("/api/swarm/takes/{take}")).expect(200).json();
    for field in ["sealed", "salt", "nonce", "signature", "stance", "confidence"] {
        assert_eq!(sealed[field], withheld[field], "{field}");
    }
    fixture.sign_log();
    verified(client, 1);
    client.operate("/erase", &erase).expect(200);
    assert!(!fixture.print().contains(BODY));
    assert_eq!(client.get(&format!("/api/swarm/takes/{take}")).expect(200).json(), withheld);
    verified(client, 1);
}

/// A client that lost its answer learns that the take stands, whatever became of its texts.
fn withheld_replay_is_recognized(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let (client, author) = (&fixture.client, fixture.author());
    client.convene(DAY, "aurora");
    let texts = json!({ "date": DAY, "subjectId": "aurora", "body": BODY, "memoUrl": MEMO });
    let body = crate::harness::signed_text(&author.key.sign(author.draft_of(texts)));
    client.submit_text(&author, &body).expect(201);
    withhold(client, 1).expect(200);
    let again = client.submit_text(&author, &body).expect(409).json();
    assert_eq!(again["recommendationId"], 1);
    let id = author.id.as_str();
    client.operate("/deactivate", &json!({ "memberId": id })).expect(200);
    client.operate("/erase", &json!({ "memberId": id, "texts": true })).expect(200);
    client.submit_text(&author, &body).expect(401);
}

/// The console's forms do the same.
#[test]
fn texts_are_withheld_and_restored_in_the_console() {
    let fixture = Fixture::start();
    let _ = published(&fixture);
    let visitor = Visitor::signed_in(&fixture.client);
    let page = "/operate/takes/3";
    visitor.get("/operate/sessions/1").expect(200).says("take 3");
    visitor.fill_in(page, "/operate/takes/3/withhold", &[("note", "")]).expect(400);
    let done = visitor.fill_in(page, "/operate/takes/3/withhold", &[("note", NOTE)]).expect(303);
    visitor.follow(&done).expect(200).says(NOTE);
    let take = || fixture.client.get("/api/swarm/takes/3").expect(200).json();
    assert_eq!(take()["withheld"]["note"], NOTE);
    let done = visitor.fill_in(page, "/operate/takes/3/restore", &[]).expect(303);
    visitor.follow(&done).expect(200).is_silent_on(NOTE);
    assert_eq!(take()["withheld"], Value::Null);
}
