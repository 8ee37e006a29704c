//! All pages in a real browser, with hostile text in every field.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::clients::{NODE_TOOLS, node_tools};
use crate::harness::{ADMIN, Author, Client, Server};

const DAY: &str = "2026-11-21";

/// Text that would run, break out, fetch, cover or widen the page.
const SCRIPT: &str = "</p></td></title><script>document.title='owned'</script>";
const IMAGE: &str = "\"'><img src=http://127.0.0.1:1/x onerror=document.title='owned'>";
const WIDE: &str = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
const BIDI: &str = "\u{202e}evil \u{0} \u{1b}[31m \u{7f} \u{2066}";
const UNSEEN: &str = "\u{200b} \u{2060}";
const TEXTS: [&str; 5] = [SCRIPT, IMAGE, WIDE, BIDI, UNSEEN];
const MARKDOWN: &str = "# one\n###### six\n![x](http://127.0.0.1:1/y)\n[js](javascript:alert(1))\n\
    [](http://web.example/)\n<iframe src=http://127.0.0.1:1/z></iframe>\n\n|a||\n|-|-|\n|1|2|\n\n\
    1. a\n   - b\n\n> quote\n\n`code`\n\n```\nWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW\n```\n";

#[test]
fn pages_are_harmless_accessible_and_link_to_everything() {
    check_pages("0");
}

mod nightly {
    #[test]
    fn every_page_is_harmless_and_accessible_at_every_width() {
        super::check_pages("1");
    }
}

/// Reads all pages in the browser; with `every_page`, looks at each of them at every width.
fn check_pages(every_page: &str) {
    let tools = node_tools();
    let server = Server::start();
    let client = server.client();
    let records = fill(&client);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/pages.mjs");
    let url = format!("http://{}/", server.address);
    let mut command = Command::new("node");
    command.args([script, &url]).env(NODE_TOOLS, tools).env("SWARM_EVERY_PAGE", every_page);
    let ran = command.output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let wrong: Vec<_> = told.lines().filter(|line| line.starts_with("wrong: ")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let reached: BTreeSet<_> = told.lines().map(str::to_owned).collect();
    let missing: Vec<_> = records.difference(&reached).collect();
    assert!(missing.is_empty(), "not reached: {missing:?} by {reached:?}");
}

/// Creates records with hostile text in every text field; returns their paths.
fn fill(client: &Client) -> BTreeSet<String> {
    let mut paths = BTreeSet::from(["/swarm/ranking".to_owned()]);
    let mut authors = Vec::new();
    for (nth, text) in TEXTS.into_iter().enumerate() {
        let subject = json!({
            "id": format!("s{nth} {text}"), "status": text, "name": text, "operator": text,
            "homepage": format!("https://{WIDE}.example/"), "xHandle": text, "thesisBlurb": text,
            "source": text, "structuralNotes": [text, WIDE], "lastReviewed": DAY,
        });
        client.operate("/subjects", &subject).expect(201);
        let author = Author::join(client, text);
        paths.insert(format!("/swarm/members/{}", author.id));
        authors.push(author);
    }
    snapshots(client);
    for (nth, text) in TEXTS.into_iter().enumerate() {
        paths.extend(session(client, &authors, nth, text));
    }
    paths.extend(sealed(client, &authors));
    paths.extend(memo(client, &authors));
    paths.extend(committee(client));
    paths
}

/// A text with all elements of Markdown, some of them unterminated.
fn body(text: &str) -> String {
    let nested =
        ["> ", "- ", "1. ", "> - ", "*a **"].map(|marks| marks.repeat(200) + "deep\n\n").concat();
    format!("{text}\n\n{MARKDOWN}\n{}{nested}", table(20))
}

fn table(columns: usize) -> String {
    let row = |cell: &str| format!("{}|\n", format!("|{cell}").repeat(columns));
    row("cell") + &row("-") + "x\n\n"
}

fn subject_id(nth: usize) -> String {
    format!("s{nth} {}", TEXTS[nth])
}

fn snapshots(client: &Client) {
    let id = percent_encoding::utf8_percent_encode(WIDE, percent_encoding::NON_ALPHANUMERIC);
    for (day, value) in [("2026-11-01", 1.5e6), ("2026-11-08", 1.25e6), (DAY, 1e300)] {
        let snapshot = json!({
            "date": day, "totalValueUsd": value, "notable": [SCRIPT, WIDE],
            "positions": [{ "token": WIDE, "chain": IMAGE, "valueUsd": value, "pct": 33.3 }, { "token": "b" }],
        });
        client.operate(&format!("/subjects/s2%20{id}/snapshots"), &snapshot).expect(201);
    }
}

/// A session with a take of each author and one amendment; the first two sessions are published.
fn session(client: &Client, authors: &[Author], nth: usize, text: &str) -> Vec<String> {
    let mut roster: Vec<_> =
        authors.iter().map(|author| json!({ "memberId": author.id.as_str() })).collect();
    let [excused, silent] = ["excused", "silent"].map(|name| Author::join(client, name).id);
    roster.push(json!({ "memberId": excused.as_str(), "excused": true }));
    roster.push(json!({ "memberId": silent.as_str() }));
    let subject = subject_id(nth);
    let convened = json!({
        "date": DAY, "subjectId": subject, "quorum": if nth == 1 { 99 } else { 3 }, "buckets": [WIDE, IMAGE, SCRIPT],
    "roster": roster,
        "windowClosesAt": "9999-12-31T23:59:59Z",
        "question": text, "resolution": text, "resolvesAt": "2027-01-01T00:00:00Z",
    });
    let session =
        client.operate("/sessions", &convened).expect(201).json()["session"]["id"].clone();
    let mut paths = vec![format!("/swarm/sessions/{session}")];
    client
        .operate(
            &format!("/sessions/{session}/brief"),
            &json!({ "prompt": { "system": text, "user": text } }),
        )
        .expect(201);
    for (of, author) in authors.iter().enumerate() {
        let stance = ["bearish", "neutral", WIDE, IMAGE, BIDI][of];
        for revision in 0..if of == 0 { 2 } else { 1 } {
            let take = json!({
                "date": DAY, "subjectId": subject, "stance": stance, "confidence": 0.5 + f64::from(revision) / 10.0,
                "body": body(text), "memoUrl": format!("https://{WIDE}.example/{IMAGE}"),
                "weights": [{ "bucket": WIDE, "weight": 1 }, { "bucket": IMAGE, "weight": 1e300 }],
            });
            let filed = client.submit(author, author.draft_of(take)).expect(201).json();
            paths.push(format!("/swarm/takes/{}", filed["recommendationId"]));
        }
    }
    if nth < 2 {
        for state in ["window_closed", "aggregated", "published"] {
            client
                .operate(&format!("/sessions/{session}/state"), &json!({ "state": state }))
                .expect(200);
        }
        outcome(client, &session, text);
    }
    paths
}

/// Records the outcome of a session, whose window ends with its last take.
fn outcome(client: &Client, session: &Value, source: &str) {
    let takes = client.get(&format!("/api/swarm/sessions/{session}")).expect(200).json();
    let filed = takes["takes"].as_array().unwrap().iter().map(|take| take["filedAt"].as_str());
    let over = json!({ "windowClosesAt": filed.max() }).to_string();
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("x-admin-token", ADMIN), ("content-type", "application/json")];
    client.send("PATCH", &path, &headers, over.as_bytes()).expect(200);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let outcome = json!({ "value": -0.5, "source": source });
    client.operate(&format!("/sessions/{session}/outcome"), &outcome).expect(200);
}

/// A blind session with a take, which is sealed.
fn sealed(client: &Client, authors: &[Author]) -> Vec<String> {
    let subject = subject_id(0);
    let convened = json!({
        "date": "2026-11-22", "subjectId": subject, "blind": true,
        "windowClosesAt": "9999-12-31T23:59:59Z",
    });
    let session =
        client.operate("/sessions", &convened).expect(201).json()["session"]["id"].clone();
    let take = json!({ "date": "2026-11-22", "subjectId": subject, "body": body(SCRIPT) });
    let filed = client.submit(&authors[0], authors[0].draft_of(take)).expect(201).json();
    let take = &filed["recommendationId"];
    vec![format!("/swarm/sessions/{session}"), format!("/swarm/takes/{take}")]
}

fn memo(client: &Client, authors: &[Author]) -> Vec<String> {
    let publish = |author: &Author, text: &str| -> Value {
        let memo = json!({
            "title": format!("{text}{WIDE}"), "body": body(text) + &table(21) + &table(500),
            "subjectId": subject_id(0), "sessionId": 1,
        });
        let headers = [("authorization", author.bearer())];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        client.post("/api/swarm/memos", &headers, &memo.to_string()).expect(201).json()
    };
    let mut paths: Vec<_> = authors
        .iter()
        .zip(TEXTS)
        .map(|(author, text)| publish(author, text)["url"].as_str().unwrap().to_owned())
        .collect();
    // Nothing links to a retracted memo.
    let retracted = paths.pop().unwrap();
    let id = retracted.rsplit('/').next().unwrap();
    client.operate(&format!("/memos/{id}/retract"), &json!({})).expect(200);
    paths
}

/// A day of the committee whose deadline has passed.
#[expect(clippy::disallowed_methods, reason = "the store under test uses the system clock")]
fn committee(client: &Client) -> Option<String> {
    let operate = |path: &str, body: &Value| {
        client.post(&format!("/api/ic/admin{path}"), &[("x-admin-token", ADMIN)], &body.to_string())
    };
    let soon = std::time::SystemTime::now() + std::time::Duration::from_millis(1_500);
    let soon = soon.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let deadline = swarm_core::Timestamp::from_millis(i64::try_from(soon).unwrap()).unwrap();
    let member = json!({ "id": "x".repeat(100), "name": SCRIPT, "lens": IMAGE, "voice": SCRIPT });
    let key = operate("/members", &member).expect(201).json()["api_key"].clone();
    let order = json!({ "subject_id": subject_id(0), "deadline_utc": deadline.to_string() });
    let made = operate("/briefs", &order).expect(201).json();
    let body = format!(
        "REGIME\n\n{SCRIPT}\n\nALLOCATION {WIDE}\n\nSUBJECT {IMAGE} and so on and on\n\nSTANCE: neutral | CONFIDENCE: 0.5"
    );
    let take = json!({ "stance": "neutral", "confidence": 0.5, "body": body, "model": SCRIPT });
    let key = key.as_str().unwrap();
    client.post("/api/ic/submit", &[("x-ic-key", key)], &take.to_string()).expect(200);
    let date = made["date"].as_str().unwrap().to_owned();
    operate(
        "/synthesis",
        &json!({ "date": date, "synthesis": format!("{SCRIPT} {WIDE} {IMAGE}") }),
    )
    .expect(200);
    std::thread::sleep(std::time::Duration::from_millis(1_600));
    Some(format!("/swarm/committee/{date}"))
}
