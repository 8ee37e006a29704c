//! All pages of the console in a real browser, with hostile text in every field, and by keyboard alone.

use std::process::Command;

use serde_json::json;

use super::visitor::Visitor;
use crate::clients::{NODE_TOOLS, node_tools};
use crate::harness::{ADMIN, Author, Client, Server};

const SCRIPT: &str = "</p></td></title><script>document.title='owned'</script>";
const IMAGE: &str = "\"'><img src=http://127.0.0.1:1/x onerror=document.title='owned'>";
const WIDE: &str = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
const BIDI: &str = "\u{202e}evil \u{0} \u{1b}[31m \u{7f} \u{2066}";

#[test]
fn console_is_harmless_accessible_and_works_by_keyboard() {
    check_console("0");
}

mod nightly {
    #[test]
    fn every_page_of_the_console_is_accessible_at_every_width() {
        super::check_console("1");
    }
}

/// Reads the console in the browser; with `every_page`, looks at each page at every width.
fn check_console(every_page: &str) {
    let tools = node_tools();
    let server = Server::start();
    let client = server.client();
    fill(&client);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/console.mjs");
    let url = format!("http://{}", server.address);
    let mut command = Command::new("node");
    command.args([script, &url, ADMIN]).args(std::env::var("SWARM_SHOTS"));
    command.env(NODE_TOOLS, tools).env("SWARM_EVERY_PAGE", every_page);
    let ran = command.output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    let wrong: Vec<_> = told.lines().filter(|line| line.starts_with("wrong: ")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for path in ["/operate/sessions/1", "/operate/convene", "/operate/store", "/operate/committee"]
    {
        assert!(told.lines().any(|line| line == path), "not reached: {path} by {told}");
    }
}

fn fill(client: &Client) {
    client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    let mut members = Vec::new();
    for (nth, text) in [SCRIPT, IMAGE, WIDE, BIDI].into_iter().enumerate() {
        let subject = json!({
            "id": format!("s{nth}{WIDE}"), "name": text, "status": text, "thesisBlurb": text,
            "structuralNotes": [text], "wallets": [{ "address": text }],
        });
        client.operate("/subjects", &subject).expect(201);
        members.push(Author::join(client, text));
        Author::apply(client, text);
        let id = format!("m{nth}");
        let member = json!({ "id": id, "name": text, "lens": text }).to_string();
        client.post("/api/ic/admin/members", &[("x-admin-token", ADMIN)], &member).expect(201);
    }
    let roster: Vec<_> = members.iter().map(|it| json!({ "memberId": it.id.as_str() })).collect();
    let session = json!({
        "date": "2026-11-21", "subjectId": "aurora", "roster": roster, "quorum": 2, "note": SCRIPT,
        "windowClosesAt": "2099-01-01T00:00:00Z",
    });
    client.operate("/sessions", &session).expect(201);
    client.submit(&members[0], members[0].draft("2026-11-21", "aurora")).expect(201);
    let session = json!({ "date": "2026-11-22", "subjectId": format!("s0{WIDE}") });
    client.operate("/sessions", &session).expect(201);
    let visitor = Visitor::signed_in(client);
    visitor.fill_in("/operate/outbox", "/operate/outbox/cancel", &[]).expect(303);
}
