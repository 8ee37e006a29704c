//! Replays: the sender of a take gets its id again, anyone else learns nothing.

use serde_json::{Value, json};

use super::close;
use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, signed_text};

on_every_store! {
    replay_returns_original_id_while_the_window_is_open,
    replay_returns_original_id_after_the_window_has_closed,
    replay_returns_original_id_at_the_cap,
    replay_returns_original_id_after_aggregation,
    replay_returns_original_id_after_a_newer_session,
    refusals_other_than_conflicts_name_nothing,
    takes_of_other_members_are_not_named,
    nonces_are_per_member,
}

const DATE: &str = "2026-11-21";
const NONCE_USED: &str = "nonce already used by this member (replay); mint a fresh nonce to amend";
const CLOSED: &str = "submission window closed";
const CAP: &str = "amendment cap reached (5 takes per member per session)";
const AGGREGATED: &str =
    "amendment window closed (session already aggregated); the take on file stands";

/// Checks for a 409 that names the stored take, in body and header.
#[track_caller]
fn refused_with_original(answer: Answer, error: &str, take: u64) {
    assert_eq!(answer.status, 409, "{answer:?}");
    let link = format!("</swarm/takes/{take}>; rel=\"original\"");
    assert_eq!(answer.header("link"), Some(link.as_str()));
    let expected = json!({ "ok": false, "status": 409, "error": error, "recommendationId": take });
    assert_eq!(answer.json(), expected);
}

/// Checks for a 409 that names no take.
#[track_caller]
fn refused_without_original(answer: Answer, error: &str) {
    assert_eq!(answer.header("link"), None, "{answer:?}");
    answer.refused(409, error);
}

struct FiledTwice {
    fixture: Fixture,
    author: Author,
    session: u64,
    /// The text of take 2, as it was sent.
    text: String,
}

impl FiledTwice {
    fn start(backend: &Backend) -> Self {
        let fixture = Fixture::on(backend);
        let (author, early) = (fixture.author(), fixture.author());
        let session = fixture.convene(DATE, "aurora");
        fixture.client.submit(&early, early.draft(DATE, "aurora")).expect(201);
        let text = signed_text(&author.key.sign(author.draft(DATE, "aurora")));
        let filed = fixture.client.submit_text(&author, &text).expect(201).json();
        assert_eq!(filed["recommendationId"], 2);
        Self { fixture, author, session, text }
    }

    fn again(&self) -> Answer {
        self.fixture.client.submit_text(&self.author, &self.text)
    }

    /// Another take of the author with the nonce of the first.
    fn other(&self) -> Answer {
        let filed: Value = serde_json::from_str(&self.text).unwrap();
        let fields = json!({
            "date": DATE, "subjectId": "aurora", "nonce": filed["nonce"], "body": "Another one.",
        });
        self.fixture.client.submit(&self.author, self.author.draft_of(fields))
    }
}

fn replay_returns_original_id_while_the_window_is_open(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    refused_with_original(filed.again(), NONCE_USED, 2);
    refused_without_original(filed.other(), NONCE_USED);
    // The order of keys and the notation of numbers are not signed.
    let mut value: Value = serde_json::from_str(&filed.text).unwrap();
    value["more"] = json!(1);
    let text = value.to_string().replace("\"confidence\":0.5", "\"confidence\":5.0e-1");
    refused_with_original(filed.fixture.client.submit_text(&filed.author, &text), NONCE_USED, 2);
    assert_eq!(filed.fixture.takes().len(), 2);
}

fn replay_returns_original_id_after_the_window_has_closed(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    close(&filed.fixture, filed.session);
    refused_with_original(filed.again(), CLOSED, 2);
    refused_without_original(filed.other(), CLOSED);
    // The same nonce and text with another signature is not the stored take.
    let mut value: Value = serde_json::from_str(&filed.text).unwrap();
    value["signature"] = json!("A".repeat(86) + "==");
    refused_without_original(
        filed.fixture.client.submit_text(&filed.author, &value.to_string()),
        CLOSED,
    );
}

fn replay_returns_original_id_at_the_cap(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    for _ in 0..4 {
        let draft = filed.author.draft(DATE, "aurora");
        filed.fixture.client.submit(&filed.author, draft).expect(201);
    }
    refused_with_original(filed.again(), CAP, 2);
    refused_without_original(filed.other(), CAP);
}

fn replay_returns_original_id_after_aggregation(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    let path = format!("/sessions/{}/state", filed.session);
    filed.fixture.client.operate(&path, &json!({ "state": "aggregated" })).expect(200);
    refused_with_original(filed.again(), AGGREGATED, 2);
    refused_without_original(filed.other(), AGGREGATED);
}

fn replay_returns_original_id_after_a_newer_session(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    filed.fixture.convene(DATE, "aurora");
    refused_with_original(filed.again(), NONCE_USED, 2);
    refused_without_original(filed.other(), NONCE_USED);
}

/// Only 409 names the stored take.
fn refusals_other_than_conflicts_name_nothing(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    let other = filed.fixture.author();
    let member = json!({ "members": [{ "memberId": other.id.as_str() }] });
    filed
        .fixture
        .client
        .operate(&format!("/sessions/{}/roster", filed.session), &member)
        .expect(200);
    let answer = filed.again();
    assert_eq!(answer.header("link"), None);
    answer.refused(403, "member is not on this session's expected roster");
    let mut value: Value = serde_json::from_str(&filed.text).unwrap();
    value["date"] = json!("2026-11-22");
    let answer = filed.fixture.client.submit_text(&filed.author, &value.to_string());
    answer.refused(404, "no session for date/subject");
}

fn takes_of_other_members_are_not_named(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    let other = filed.fixture.author();
    // A take of one member with the token of another.
    filed.fixture.client.submit_text(&other, &filed.text).refused(403, "token/member mismatch");
    // The same fields and signature under another name.
    let mut value: Value = serde_json::from_str(&filed.text).unwrap();
    value["memberId"] = json!(other.id.as_str());
    let client = &filed.fixture.client;
    client.submit_text(&other, &value.to_string()).refused(400, "signature verification failed");
    close(&filed.fixture, filed.session);
    refused_without_original(client.submit_text(&other, &value.to_string()), CLOSED);
}

fn nonces_are_per_member(backend: &Backend) {
    let filed = FiledTwice::start(backend);
    let sent: Value = serde_json::from_str(&filed.text).unwrap();
    let other = filed.fixture.author();
    let fields = json!({ "date": DATE, "subjectId": "aurora", "nonce": sent["nonce"] });
    filed.fixture.client.submit(&other, other.draft_of(fields)).expect(201);
}
