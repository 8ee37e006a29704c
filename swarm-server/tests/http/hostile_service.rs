//! What a hostile service says reaches a terminal escaped (MANUAL.md, 13.3).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::commands::{Ended, User, desk};
use crate::harness::ADMIN;
use crate::scripted_service::ScriptedService;

/// Clears the screen, sets the title, begins a control sequence in one byte, returns to the start of the line, turns the
/// direction of text, and hides.
const HOSTILE: &str = "Zoë\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{7f}\r\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{feff}\u{ad}\u{2060}\u{e0041}\u{3164}";

fn is_safe(text: &str) {
    let bad = text.chars().find(|&character| {
        (character.is_control() && character != '\n' && character != '\t')
            || HOSTILE
                .chars()
                .skip(3)
                .any(|hostile| hostile == character && !hostile.is_ascii_graphic())
    });
    assert_eq!(bad, None, "{text:?}");
}

/// What this command prints of a service that answers every request with `answer`.
fn ended(user: &User, url: &str, arguments: &[&str]) -> Ended {
    let ended = user.with(arguments, &[("SWARM_URL", url), ("SWARM_ADMIN_TOKEN", ADMIN)]);
    is_safe(&ended.out);
    is_safe(&ended.err);
    ended
}

#[test]
fn answers_are_escaped_in_text_and_in_json() {
    let (_program, user) = desk();
    let row = json!({
        "id": HOSTILE, "memberId": HOSTILE, "name": HOSTILE, "state": HOSTILE, "status": HOSTILE, "to": HOSTILE,
        "subject": HOSTILE, "lastError": HOSTILE, "date": HOSTILE, "subjectId": HOSTILE, HOSTILE: HOSTILE,
    });
    let answer = json!({
        "state": HOSTILE, "members": [row], "applications": [row], "messages": [row], "sessions": [row],
        "subjects": [row], "session": row, "warnings": [HOSTILE], "entries": [], "takes": [], "memberId": HOSTILE,
        HOSTILE: HOSTILE,
    });
    let service = ScriptedService::answering(&answer.to_string());
    let profile =
        user.file("profile", &json!({ "url": service.url, "memberId": "zoe" }).to_string());
    let folder = profile.with_file_name(".config").join("swarm/profiles/default");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(&profile, folder.join("profile.json")).unwrap();
    fs::set_permissions(folder.join("profile.json"), fs::Permissions::from_mode(0o600)).unwrap();
    for arguments in [
        &["admin", "applications"][..],
        &["admin", "members"],
        &["admin", "status"],
        &["admin", "outbox", "list"],
        &["admin", "session", "list"],
        &["admin", "session", "show", "1"],
        &["admin", "subject", "list"],
        &["admin", "subject", "show", "aurora"],
        &["admin", "subject", "put", "aurora.json"],
        &["admin", "committee", "member", "list"],
        &["admin", "activate", "--all"],
        &["admin", "activate", "nobody"],
        &["admin", "memo", "retract", "1"],
        &["member", "sessions"],
        &["member", "status"],
    ] {
        let shown = ended(&user, &service.url, arguments);
        assert!(!shown.out.is_empty() || !shown.err.is_empty(), "{arguments:?}");
        let as_json = ended(&user, &service.url, &[arguments, &["--json"]].concat());
        for line in as_json.out.lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
    }
    let listed = ended(&user, &service.url, &["admin", "applications"]);
    assert!(listed.out.contains(r"Zoë\u001b[2J"), "{}", listed.out);
    let same = ended(&user, &service.url, &["admin", "subject", "show", "aurora", "--json"]);
    assert_eq!(same.json(), answer);
}

#[test]
fn refusals_are_escaped() {
    let (_program, user) = desk();
    let body = json!({ "error": HOSTILE, "detail": HOSTILE }).to_string();
    let service = ScriptedService::responding(&format!(
        "HTTP/1.1 409 Conflict\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    ));
    for arguments in [
        &["admin", "applications"][..],
        &["admin", "subject", "put", "aurora.json"],
        &["member", "sessions"],
        &["member", "brief", "1"],
    ] {
        ended(&user, &service.url, arguments).fails(1, r"Zoë\u001b[2J");
    }
}

#[test]
fn briefs_are_escaped_and_keep_their_values() {
    let session = json!({
        "id": 1, "date": "2026-11-21", "subjectId": "aurora", "state": "collecting", "windowClosesAt": null,
        "convenedAt": "2026-11-21T12:00:00.000Z", "quorum": null, "buckets": null, "roster": null, "snapshot": null,
    });
    let answer = json!({ "session": session, "takes": [], "body": { "prompt": HOSTILE } });
    let service = ScriptedService::answering(&answer.to_string());
    let (_program, user) = desk();
    assert_eq!(ended(&user, &service.url, &["member", "brief", "1"]).json(), answer);
}

/// Each text of a status that is not one of a few.
#[test]
fn status_is_escaped() {
    let (_program, user) = desk();
    let item = json!({ "code": HOSTILE, "at": null, "by": "operator", "message": HOSTILE, "sessionId": 1 });
    let status = json!({
        "ready": false, "warnings": [HOSTILE], "applications": 0, "members": 0, "mail": {},
        "sessions": [{
            "id": 1, "date": "2026-11-21", "subjectId": HOSTILE, "state": "collecting", "filed": 0,
            "missing": [{ "memberId": HOSTILE, "name": HOSTILE }], "next": { "act": "close", "by": "operator" },
        }],
        "webhooks": [{ "url": HOSTILE, "failing": true }],
        "schedule": [{
            "subjectId": HOSTILE, "at": "2026-11-21T10:00:00Z", "local": HOSTILE, "timezone": HOSTILE,
            "skipped": HOSTILE,
        }],
        "log": { "size": 0 }, "agenda": { "needs": [item] },
    });
    let service = ScriptedService::answering(&status.to_string());
    let shown = ended(&user, &service.url, &["admin", "status"]).out;
    // Of the item, the session with its member, the webhook, the window and the warning.
    assert_eq!(shown.matches(r"\u001b[2J").count(), 1 + 1 + 2 + 1 + 4 + 1, "{shown}");
    assert!(!ended(&user, &service.url, &["admin", "status", "--json"]).out.is_empty());

    // A service that says less.
    let service = ScriptedService::answering("{}");
    let shown = ended(&user, &service.url, &["admin", "status"]).out;
    assert!(shown.starts_with("needs you: nothing\napplications that wait: 0\n"), "{shown}");
}
