//! Acts of operators, as pages show them.

use serde_json::{Value, json};

use crate::harness::{ADMIN, Author, Client, Server};

/// Convenes a session without terms, then applies these patches.
fn amended(client: &Client, patches: &[Value]) {
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let draft = json!({ "date": "2026-11-21", "subjectId": "aurora" });
    client.operate("/sessions", &draft).expect(201);
    let headers = [("content-type", "application/json"), ("x-admin-token", ADMIN)];
    for patch in patches {
        let path = "/api/swarm/admin/sessions/1";
        client.send("PATCH", path, &headers, patch.to_string().as_bytes()).expect(200);
    }
}

/// Lets a member with this name join and publish a memo.
fn publish_memo(client: &Client, name: &str) {
    let author = Author::join(client, name);
    let memo = json!({ "title": "A memo", "body": "Long." }).to_string();
    client.post("/api/swarm/memos", &[("authorization", &author.bearer())], &memo).expect(201);
}

/// The text of a page, without its elements.
fn text(client: &Client, path: &str) -> String {
    let page = client.get(path).expect(200).text;
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn acts_are_described_by_their_changes() {
    let server = Server::start();
    let client = server.client();
    amended(
        &client,
        &[
            json!({ "note": "only a remark" }),
            json!({ "quorum": 3 }),
            json!({ "note": "second remark" }),
            json!({ "quorum": 4, "windowClosesAt": "2030-01-01T00:00:00Z" }),
            json!({ "quorum": null, "windowClosesAt": "2031-01-01T00:00:00Z" }),
            json!({ "windowClosesAt": null }),
        ],
    );
    let page = text(&client, "/swarm/sessions/1/history");
    // The newest is first.
    let mut rest = page.as_str();
    for told in [
        "deadline lifted, by operator",
        "deadline moved from 1 Jan 2030",
        ", quorum lifted, by operator",
        "deadline set to 1 Jan 2030",
        ", quorum set to 4, by operator",
        "remark, by operator: “second remark”",
        "quorum set to 3, by operator",
        "remark, by operator: “only a remark”",
        "convened, without a deadline, by operator",
    ] {
        let at = rest.find(told).unwrap_or_else(|| panic!("no “{told}” in {rest}"));
        rest = &rest[at + told.len()..];
    }
    // Each line of the log is shown alone.
    let log = text(&client, "/swarm/log");
    for told in ["session 1: terms: no deadline, no quorum, by", ", quorum 4, by operator"] {
        assert!(log.contains(told), "no “{told}” in {log}");
    }
}

#[test]
fn log_page_does_not_link_retracted_memos() {
    let server = Server::start();
    let client = server.client();
    publish_memo(&client, "Ada");
    let linked = || client.get("/swarm/log").expect(200).text.contains("/swarm/memos/1");
    assert!(linked());
    client.operate("/memos/1/retract", &json!({})).expect(200);
    assert!(!linked());
}

#[test]
fn log_page_names_members() {
    let server = Server::start();
    let client = server.client();
    publish_memo(&client, "Ada <b>Byron</b>");
    let page = client.get("/swarm/log").expect(200).text;
    assert!(!page.contains("<b>"), "{page}");
    let log = text(&client, "/swarm/log");
    for told in ["Byron&lt;/b&gt; activated", "memo 1 of Ada &lt;b&gt;Byron&lt;/b&gt; published"] {
        assert!(log.contains(told), "no “{told}” in {log}");
    }
}
