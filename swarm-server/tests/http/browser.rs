//! The page of a take in a real browser.

use std::process::Command;

use serde_json::json;

use crate::harness::{Author, Client, Server};
use crate::program::scratch_folder;

/// The document in the browser after all scripts on the page could have run.
fn document(client: &Client, path: &str) -> String {
    let browser = std::env::var("SWARM_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let profile = scratch_folder().join("chromium");
    let ran = Command::new(&browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("http://{}{path}", client.address))
        .output();
    let output = ran.unwrap_or_else(|error| panic!("{browser} does not run: {error}"));
    let document = String::from_utf8(output.stdout).unwrap();
    assert!(
        document.contains("<main id=\"content\">"),
        "{document}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    document
}

#[test]
fn hostile_text_is_displayed_and_not_executed() {
    const SCRIPT: &str = "</p></td><script>document.title = 'owned'</script>";
    const IMAGE: &str = "\"'><img src=x onerror=document.title='owned'>";
    let server = Server::start();
    let client = server.client();
    client.convene("2026-11-21", "aurora");
    let author = Author::join(&client, SCRIPT);
    let take = json!({
        "date": "2026-11-21", "subjectId": "aurora", "stance": IMAGE, "body": SCRIPT,
        "memoUrl": "javascript:document.title='owned'",
        "weights": [{ "bucket": SCRIPT, "weight": 1 }, { "bucket": IMAGE, "weight": 2 }],
    });
    client.submit(&author, author.draft_of(take)).expect(201);

    let document = document(&client, "/swarm/takes/1");
    for element in ["<script", "<img ", "href=\"javascript:", "<title>owned"] {
        assert!(!document.contains(element), "{element} in {document}");
    }
    let shown = "&lt;/p&gt;&lt;/td&gt;&lt;script&gt;document.title = 'owned'&lt;/script&gt;";
    assert!(
        document.contains(&format!("<h1><a href=\"/swarm/members/{}\"><bdi>{shown}", author.id))
    );
    assert!(document.contains(&format!("<p>{shown}</p>")), "{document}");
}
