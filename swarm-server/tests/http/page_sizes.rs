//! Every page of a desk with the most and the longest of everything is at most 50 KiB, and what is cut can be reached
//! (MANUAL.md, 10.1).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use swarm_core::MemberId;
use swarm_core::domain::{Contact, Lens, Name};

use crate::console::visitor::Visitor;
use crate::fixture::Fixture;
use crate::harness::{ADMIN, Author, Client};

const LARGEST: usize = 50 * 1024;
const FAR: &str = "2999-01-01T00:00:00Z";

/// Members that file, and sessions on one subject.
const FILING: usize = 50;
const SESSIONS: usize = 45;

/// Members that revise their takes as often as they may. Only the last revisions are listed, so not all of them have to.
const REVISING: usize = 8;

/// A text of so many letters that take two to six bytes on a page.
fn long(letters: usize) -> String {
    "Жд & “ы” <é> 金 \"в\" ".chars().cycle().take(letters).collect()
}

/// The longest write-up, with all kinds of Markdown.
fn body(nth: usize) -> String {
    let start = format!("**{nth}** Fees & costs.\n\n|a|b|c|d|\n|-|-|-|-|\n{}", "|x|\n".repeat(40));
    let rest = 9_990 - start.chars().count();
    start + "\n\n" + &long(rest)
}

/// The desk, and the id of its largest session.
struct Desk {
    fixture: Fixture,
    session: u64,
    filed: BTreeSet<String>,
    members: BTreeSet<String>,
    acts: usize,
}

impl Desk {
    /// A desk with so many members besides those that file.
    fn with_silent(silent: usize) -> Self {
        let fixture = Fixture::start();
        let client = &fixture.client;
        let subject = "é".repeat(99) + "1";
        client.operate("/subjects", &subject_record(&subject)).expect(201);
        for nth in 0..40 {
            client
                .operate("/subjects", &subject_record(&format!("{}{nth}", "é".repeat(98))))
                .expect(201);
        }
        snapshots(client, &subject);
        let authors: Vec<_> = (0..FILING).map(|nth| author(&fixture, nth)).collect();
        let silent: Vec<_> = (FILING..FILING + silent).map(|nth| author(&fixture, nth)).collect();
        for nth in 0..SESSIONS {
            earlier_session(&fixture, &authors, &subject, nth);
        }
        let (session, filed, acts) = largest_session(client, (&authors, &silent), &subject);
        for nth in 0..60 {
            let memo = json!({ "title": long(200), "body": long(5_000), "subjectId": subject });
            let bearer = [("authorization", &*authors[nth % 2].bearer())];
            client.post("/api/swarm/memos", &bearer, &memo.to_string()).expect(201);
        }
        let members = authors.iter().chain(&silent).map(|it| it.id.as_str().to_owned()).collect();
        Self { fixture, session, filed, members, acts }
    }
}

fn subject_record(id: &str) -> Value {
    let entries: Vec<_> = (0..40).map(|nth| json!({ "address": long(300), "nth": nth })).collect();
    json!({
        "id": id, "name": long(2_000), "status": long(100), "operator": long(2_000),
        "homepage": format!("https://{}.example/", "w".repeat(2_000)), "xHandle": long(300),
        "thesisBlurb": long(5_000), "source": long(2_000), "recommendationType": long(500),
        "structuralNotes": vec![long(2_000); 40], "wallets": entries, "nftContracts": entries,
    })
}

fn snapshots(client: &Client, subject: &str) {
    let id = percent_encoding::utf8_percent_encode(subject, percent_encoding::NON_ALPHANUMERIC);
    for nth in 1..=28 {
        let position =
            json!({ "token": long(100), "chain": long(100), "valueUsd": 1e9, "pct": 1.5 });
        let snapshot = json!({
            "date": format!("2026-10-{nth:02}"), "totalValueUsd": f64::from(nth) * 1e6,
            "notable": vec![long(1_000); 40], "positions": vec![position; 60],
        });
        client.operate(&format!("/subjects/{id}/snapshots"), &snapshot).expect(201);
    }
}

/// A member with the longest name and lens.
fn author(fixture: &Fixture, nth: usize) -> Author {
    let id = format!("{nth:08}-62db-4676-a2e4-98f9cc743216");
    let author = fixture.author_named(MemberId::parse(id).unwrap());
    fixture.change(&author.id, |member| {
        let name: String = format!("{nth} {}", long(100)).chars().take(100).collect();
        member.name = Name::parse(name).unwrap();
        member.lens = Lens::parse(long(2_000)).unwrap();
        member.contact = Contact::parse(long(200)).unwrap();
    });
    author
}

fn convene(client: &Client, session: &Value) -> u64 {
    client.operate("/sessions", session).expect(201).json()["session"]["id"].as_u64().unwrap()
}

fn finish(client: &Client, session: u64) {
    for state in ["window_closed", "aggregated", "published"] {
        let path = format!("/sessions/{session}/state");
        client.operate(&path, &json!({ "state": state })).expect(200);
    }
}

fn stance(nth: usize) -> &'static str {
    ["bearish", "cautious", "neutral", "constructive", "bullish"][nth % 5]
}

/// A session with a result, an outcome and a few takes; the last one with all members.
fn earlier_session(fixture: &Fixture, authors: &[Author], subject: &str, nth: usize) {
    let client = &fixture.client;
    let day = format!("2026-{:02}-{:02}", 1 + nth / 28, 1 + nth % 28);
    let roster: Vec<_> = authors.iter().map(|it| json!({ "memberId": it.id.as_str() })).collect();
    let id = convene(
        client,
        &json!({ "date": day, "subjectId": subject, "windowClosesAt": FAR, "roster": roster, "quorum": 2 }),
    );
    let filing = if nth + 1 == SESSIONS { authors.len() } else { 6 };
    for (of, author) in authors.iter().take(filing).enumerate() {
        let take = json!({ "date": day, "subjectId": subject, "stance": stance(of + nth),
            "confidence": 0.5, "body": body(of) });
        client.submit(author, author.draft_of(take)).expect(201);
    }
    finish(client, id);
    let outcome = json!({ "value": 1.5, "source": long(500), "note": long(500) });
    close_window(fixture, id);
    client.operate(&format!("/sessions/{id}/outcome"), &outcome).expect(200);
}

/// Ends the window of a session now, after its last take.
fn close_window(fixture: &Fixture, session: u64) {
    let change = json!({ "windowClosesAt": fixture.clock.now().to_string() });
    patch(&fixture.client, session, &change);
    fixture.clock.move_by(1_000);
}

/// Changes a session.
fn patch(client: &Client, session: u64, change: &Value) {
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", &path, &headers, change.to_string().as_bytes()).expect(200);
}

/// The session with the most of everything: its id, its latest takes, and the number of acts on it.
fn largest_session(
    client: &Client,
    (authors, silent): (&[Author], &[Author]),
    subject: &str,
) -> (u64, BTreeSet<String>, usize) {
    let day = "2026-11-21";
    let listed = authors.iter().chain(silent);
    let entry = |(nth, author): (usize, &Author)| json!({ "memberId": author.id.as_str(), "excused": nth >= FILING && nth % 9 == 8 });
    let roster: Vec<_> = listed.enumerate().map(entry).collect();
    let buckets: Vec<_> = (0..60).map(|nth| format!("{nth} {}", long(96))).collect();
    let id = convene(
        client,
        &json!({
            "date": day, "subjectId": subject, "windowClosesAt": FAR, "roster": roster,
            "buckets": buckets, "question": long(500), "resolution": long(1_000),
            "resolvesAt": "2027-01-01T00:00:00Z", "note": long(500),
        }),
    );
    let brief = json!({ "prompt": { "system": long(20_000), "user": long(20_000) } });
    client.operate(&format!("/sessions/{id}/brief"), &brief).expect(201);
    let mut acts = 2;
    for nth in 1..=80 {
        let later = format!("2999-01-01T00:{:02}:{:02}Z", nth / 60, nth % 60);
        let change = json!({ "windowClosesAt": later, "note": long(500) });
        patch(client, id, &change);
        acts += 1;
    }
    let mut filed = BTreeSet::new();
    for (of, author) in authors.iter().enumerate() {
        let last = if of < REVISING { 4 } else { 0 };
        for revision in 0..=last {
            let weights: Vec<_> =
                buckets.iter().map(|bucket| json!({ "bucket": bucket, "weight": 1.5 })).collect();
            let take = json!({
                "date": day, "subjectId": subject, "stance": stance(of + revision),
                "confidence": 0.01 * f64::from(u32::try_from(of).unwrap()),
                "body": body(of + revision), "memoUrl": format!("https://{}", "x".repeat(1_900)),
                "weights": weights,
            });
            let answer = client.submit(author, author.draft_of(take)).expect(201).json();
            if revision == last {
                filed.insert(answer["recommendationId"].to_string());
            }
        }
    }
    (id, filed, acts)
}

/// A page, and the bytes of its style sheets.
struct Read {
    html: String,
    styles: usize,
}

/// Reads pages, and remembers the sizes of style sheets.
struct Reader<'a> {
    client: &'a Client,
    sheets: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn read(&mut self, path: &str) -> Option<Read> {
        let answer = self.client.send("GET", path, &[("accept", "text/html")], b"");
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        if answer.status != 200 || !kind.starts_with("text/html") {
            assert!(answer.status == 200 || answer.status == 404, "{path}: {}", answer.text);
            return None;
        }
        let mut styles = 0;
        for sheet in attributes(&answer.text, "<link rel=\"stylesheet\" href=\"") {
            let client = self.client;
            let size = || client.get(&sheet).expect(200).text.len();
            styles += *self.sheets.entry(sheet.clone()).or_insert_with(size);
        }
        Some(Read { html: answer.text, styles })
    }
}

/// What follows a text in a page, up to the next quotation mark.
fn attributes(html: &str, before: &str) -> Vec<String> {
    let ends = html.split(before).skip(1);
    ends.map(|end| end.split('"').next().unwrap().replace("&amp;", "&").replace("&#38;", "&"))
        .collect()
}

/// The paths that pages link to on this server.
fn links(html: &str) -> Vec<String> {
    let all = attributes(html, " href=\"");
    all.into_iter().filter(|path| path.starts_with('/') && !path.starts_with("//")).collect()
}

/// The kind of a page: its path without ids and values.
fn template(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<_> = path.split('/').collect();
    let part = |(at, part): (usize, &&str)| match parts.get(at.wrapping_sub(1)) {
        Some(
            &("sessions" | "members" | "subjects" | "takes" | "memos" | "since" | "committee"),
        ) => "*".to_owned(),
        _ => (*part).to_owned(),
    };
    let path: Vec<_> = parts.iter().enumerate().map(part).collect();
    let names: Vec<_> = query.split('&').map(|it| it.split('=').next().unwrap()).collect();
    format!("{}?{}", path.join("/"), names.join("&"))
}

/// The page without its one long text.
fn without_long_text(html: &str) -> String {
    let Some((before, rest)) = html.split_once("<article class=\"prose\"") else {
        return html.to_owned();
    };
    format!("{before}{}", rest.split_once("</article>").unwrap().1)
}

/// Checks the size of a page; returns the bytes of the HTML and of the styles that count.
fn check(path: &str, read: &Read) -> Option<String> {
    let is_long = ["/swarm/takes/*?", "/swarm/memos/*?"].contains(&&*template(path));
    let html = if is_long { without_long_text(&read.html) } else { read.html.clone() };
    let is_session = template(path).starts_with("/swarm/sessions/*?");
    let whole = html.len() + if is_session { 0 } else { read.styles };
    (whole > LARGEST).then(|| format!("{path}: {} bytes, {} of styles", html.len(), read.styles))
}

/// The pages from this one on that `rel="next"` leads to, in one text.
fn all_pages(client: &Client, first: &str) -> String {
    let (mut text, mut path) = (String::new(), first.to_owned());
    for _ in 0..200 {
        let page = client.send("GET", &path, &[("accept", "text/html")], b"").expect(200).text;
        text.push_str(&page);
        match attributes(&page, "rel=\"next\" href=\"").into_iter().find(|it| it.contains('?')) {
            Some(next) => path = next,
            None => return text,
        }
    }
    panic!("{first} has no end");
}

#[test]
fn pages_of_a_large_desk_are_at_most_50_kib() {
    check_pages(150, 3);
}

mod nightly {
    #[test]
    fn pages_of_the_largest_desk_are_at_most_50_kib() {
        super::check_pages(1_950, 12);
    }
}

/// Checks up to `most` pages of each template, of a desk with so many members besides those that file.
fn check_pages(silent: usize, most: usize) {
    let desk = Desk::with_silent(silent);
    let client = &desk.fixture.client;
    let largest = format!("/swarm/sessions/{}", desk.session);
    let mut wrong = Vec::new();
    for is_over in [false, true] {
        if is_over {
            finish(client, desk.session);
            close_window(&desk.fixture, desk.session);
            let outcome = json!({ "value": 1.5, "source": long(500), "note": long(500) });
            client.operate(&format!("/sessions/{}/outcome", desk.session), &outcome).expect(200);
        }
        wrong.extend(crawl(client, most));
        let takes = all_pages(client, &largest);
        for id in &desk.filed {
            let link = format!("href=\"/swarm/takes/{id}\"");
            assert!(takes.contains(&link), "{link} is on no page of the session");
        }
        let acts = all_pages(client, &format!("{largest}/history"));
        let acts = acts.matches("<li><span class=\"when\">").count();
        assert!(acts >= desk.acts, "{acts} of {} acts", desk.acts);
    }
    let roster = all_pages(client, &format!("{largest}/roster"));
    let members = all_pages(client, "/swarm/members");
    for id in &desk.members {
        let link = format!("href=\"/swarm/members/{id}\"");
        assert!(roster.contains(&link) && members.contains(&link), "{link}");
    }
    wrong.extend(console(client, desk.session));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads pages from the home page on, up to `most` of each template; returns what is too large.
fn crawl(client: &Client, most: usize) -> Vec<String> {
    let mut reader = Reader { client, sheets: BTreeMap::new() };
    let mut waiting =
        vec!["/".to_owned(), "/swarm/find?q=a".to_owned(), "/swarm/since/0".to_owned()];
    waiting.extend(
        ["members", "subjects", "takes", "memos"]
            .map(|kind| format!("/swarm/find?q=%D0%B6&kind={kind}")),
    );
    let mut known: BTreeSet<_> = waiting.iter().cloned().collect();
    let (mut counts, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    while let Some(path) = waiting.pop() {
        let kind = template(&path);
        let count = counts.entry(kind.clone()).or_insert(0);
        *count += 1;
        if *count > most || path.starts_with("/docs") || path.starts_with("/api/") {
            continue;
        }
        let Some(read) = reader.read(&path) else { continue };
        wrong.extend(check(&path, &read));
        let size = sizes.entry(kind).or_insert((0, 0));
        *size = (*size).max((read.html.len(), read.styles));
        for link in links(&read.html) {
            if known.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    for kind in [
        "/swarm/sessions/*?",
        "/swarm/sessions/*/roster?",
        "/swarm/since/*?",
        "/swarm/log?",
        "/swarm/ranking?",
    ] {
        assert!(sizes.contains_key(kind), "{kind} among {:?}", sizes.keys());
    }
    for (kind, (html, styles)) in sizes {
        println!("{kind}: {html} bytes, {styles} of styles");
    }
    wrong
}

/// The page without the content of its `textarea` fields. That is input which is sent back to the operator, such as the ids of a roster.
fn without_typed_text(html: &str) -> String {
    let mut parts = html.split("<textarea");
    let first = parts.next().unwrap().to_owned();
    let ends = parts.map(|field| field.split_once("</textarea>").unwrap().1);
    ends.fold(first, |text, end| text + end)
}

/// The pages of the console that are too large.
fn console(client: &Client, session: u64) -> Vec<String> {
    let visitor = Visitor::signed_in(client);
    let session = format!("/operate/sessions/{session}");
    let paths = [
        "/operate",
        "/operate/sessions",
        &session,
        "/operate/members",
        "/operate/subjects",
        "/operate/applications",
        "/operate/outbox",
        "/operate/acts",
        "/operate/acts/all",
        "/operate/records",
        "/operate/convene",
        "/operate/store",
    ];
    let size = |path: &str| (path.to_owned(), without_typed_text(&visitor.get(path).text).len());
    let sizes = paths.map(size);
    for (path, size) in &sizes {
        println!("{path}: {size} bytes");
    }
    let wrong = sizes.into_iter().filter(|(_, size)| *size > LARGEST);
    wrong.map(|(path, size)| format!("{path}: {size} bytes")).collect()
}
