//! Refusals, byte for byte, and the order of the checks.

mod applications;
mod claims;
mod deadlines;
mod erasure;
mod operators;
mod reads;
mod replays;
mod requests;
mod sessions;
mod sizes;
mod stale_judgements;
mod withdrawals;

use serde_json::{Value, json};
use swarm_http::{Access, CommitteeAccess};

use crate::backend::{Backend, on_every_store};
use crate::fixture::Fixture;
use crate::harness::{Answer, Author, fresh_key, fresh_nonce, signed_text};
use crate::raw_http;
use crate::routes;

use Check::{
    Aggregated, Bearer, Cap, Excused, Fields, Json, Key, Member, Nonce, Roster, Session, Signature,
    Token, Window,
};

on_every_store! {
    valid_take_is_filed,
    each_broken_rule_has_its_answer,
    earliest_of_all_later_rules_is_reported,
    limits_of_a_take_count_characters,
    limits_of_a_bucket_count_characters,
}

/// The checks of a submission, in the order of API.md, 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    Bearer,
    Json,
    Fields,
    Token,
    Member,
    Session,
    Window,
    Roster,
    Excused,
    Key,
    Cap,
    Aggregated,
    Signature,
    Nonce,
}

const CHECKS: [Check; 14] = [
    Bearer, Json, Fields, Token, Member, Session, Window, Roster, Excused, Key, Cap, Aggregated,
    Signature, Nonce,
];

impl Check {
    /// The row of the table in API.md, 5.2.
    fn answer(self) -> (u16, &'static str) {
        match self {
            Bearer => (401, "missing bearer token"),
            Json => (400, "invalid json body"),
            Fields => (400, "invalid submission"),
            Token => (401, "unknown member token"),
            Member => (403, "token/member mismatch"),
            Session => (404, "no session for date/subject"),
            Window => (409, "submission window closed"),
            Roster => (403, "member is not on this session's expected roster"),
            Excused => (403, "member is excused from this session"),
            Key => (403, "no registered key for member"),
            Cap => (409, "amendment cap reached (5 takes per member per session)"),
            Aggregated => (
                409,
                "amendment window closed (session already aggregated); the take on file stands",
            ),
            Signature => (400, "signature verification failed"),
            Nonce => {
                (409, "nonce already used by this member (replay); mint a fresh nonce to amend")
            }
        }
    }
}

/// Submits a take that breaks exactly these rules.
fn submit_breaking(fixture: &Fixture, broken: &[Check]) -> Answer {
    const DATE: &str = "2026-11-21";
    let breaks = |check| broken.contains(&check);
    let (author, other) = (fixture.author(), fixture.author());
    let (subject, nonce) = (fresh_nonce(), fresh_nonce());
    let session = fixture.convene(DATE, &subject);
    let admin = |path: &str, body: Value| {
        fixture.client.operate(&format!("/sessions/{session}{path}"), &body).expect(200);
    };
    if breaks(Nonce) {
        let elsewhere = fresh_nonce();
        fixture.convene(DATE, &elsewhere);
        let fields = json!({ "date": DATE, "subjectId": elsewhere, "nonce": nonce });
        fixture.client.submit(&author, author.draft_of(fields)).expect(201);
    }
    let filed = if breaks(Cap) { 5 } else { u8::from(breaks(Aggregated)) };
    for _ in 0..filed {
        fixture.client.submit(&author, author.draft(DATE, &subject)).expect(201);
    }
    if breaks(Roster) {
        admin("/roster", json!({ "members": [{ "memberId": other.id.as_str() }] }));
    } else if breaks(Excused) {
        let entry = json!({ "memberId": author.id.as_str(), "excused": true });
        admin("/roster", json!({ "members": [entry] }));
    }
    if breaks(Aggregated) {
        admin("/state", json!({ "state": "aggregated" }));
    }
    if breaks(Window) {
        close(fixture, session);
    }
    if breaks(Key) {
        fixture.change(&author.id, |member| member.public_key = None);
    }
    let date = if breaks(Session) { "2026-11-22" } else { DATE };
    let fields = json!({ "date": date, "subjectId": subject, "nonce": nonce });
    let signer = if breaks(Signature) { fresh_key() } else { author.key };
    let draft = Author { key: fresh_key(), ..author }.draft_of(fields);
    let mut body: Value = serde_json::from_str(&signed_text(&signer.sign(draft))).unwrap();
    if breaks(Fields) {
        body["confidence"] = json!(1.5);
    }
    let mut text = body.to_string();
    if breaks(Json) {
        text.pop();
    }
    let token = match (breaks(Token), breaks(Member)) {
        (true, _) => "tok_nobody_0",
        (false, true) => &other.token,
        (false, false) => &author_token(&body),
    };
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let before = fixture.takes().len();
    let sent = if breaks(Bearer) { &headers[1..] } else { &headers };
    let answer = fixture.client.post("/api/swarm/submit", sent, &text);
    assert_eq!(fixture.takes().len(), before + usize::from(answer.status == 201));
    answer
}

/// The token of an author of the fixture.
fn author_token(body: &Value) -> String {
    format!("tok_{}_0", body["memberId"].as_str().unwrap())
}

/// Sets the deadline of a session to now, and lets it pass.
fn close(fixture: &Fixture, session: u64) {
    let deadline = json!({ "windowClosesAt": fixture.clock.after(0) });
    let body = deadline.to_string();
    let path = format!("/api/swarm/admin/sessions/{session}");
    let headers = [("content-type", "application/json"), ("x-admin-token", crate::harness::ADMIN)];
    fixture.client.send("PATCH", &path, &headers, body.as_bytes()).expect(200);
    fixture.clock.move_by(1);
}

#[track_caller]
fn refused_by(check: Check, answer: Answer) {
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("link"), None);
    let (status, error) = check.answer();
    if check == Json { answer.unread(status, error) } else { answer.refused(status, error) }
}

fn valid_take_is_filed(backend: &Backend) {
    submit_breaking(&Fixture::on(backend), &[]).expect(201);
}

fn each_broken_rule_has_its_answer(backend: &Backend) {
    let fixture = Fixture::on(backend);
    for check in CHECKS {
        refused_by(check, submit_breaking(&fixture, &[check]));
    }
}

/// In memory alone: the order is that of the rules, and `earliest_of_all_later_rules_is_reported` compares it on every store.
#[test]
fn earlier_of_two_broken_rules_is_reported() {
    let fixture = Fixture::start();
    for (at, first) in CHECKS.into_iter().enumerate() {
        for second in &CHECKS[at + 1..] {
            refused_by(first, submit_breaking(&fixture, &[first, *second]));
        }
    }
}

fn earliest_of_all_later_rules_is_reported(backend: &Backend) {
    let fixture = Fixture::on(backend);
    for at in 0..CHECKS.len() {
        refused_by(CHECKS[at], submit_breaking(&fixture, &CHECKS[at..]));
    }
}

/// Other schemes and malformed values count as missing.
#[test]
fn authorization_must_be_a_bearer_token() {
    let fixture = Fixture::start();
    for value in ["", "Bearer", "Bearer ", "Bearer  ", "Basic dXNlcjpwYXNz", "tok_m_0", "Bearertok"]
    {
        for route in routes::all().filter(|route| route.info.access == Access::Member) {
            let headers = [("content-type", "application/json"), ("authorization", value)];
            let answer = fixture.client.send(route.method(), &route.path, &headers, b"");
            answer.refused(401, "missing bearer token");
        }
    }
    let author = fixture.author();
    let bearer = format!("bEARER  {}", author.token);
    let who =
        fixture.client.send("GET", "/api/swarm/verify-token", &[("authorization", &bearer)], b"");
    assert_eq!(who.expect(200).json(), json!({ "memberId": author.id.as_str() }));
    let unknown = [("authorization", "Bearer tok_m_0")];
    let answer = fixture.client.send("GET", "/api/swarm/verify-token", &unknown, b"");
    answer.refused(401, "unknown member token");
}

/// The body is never sent, and the answer does not wait for it.
#[test]
fn missing_credential_is_refused_before_the_body() {
    let fixture = Fixture::start();
    for (route, _) in routes::with_json_body() {
        let (method, path) = (route.method(), &route.path);
        let error = match route.info.access {
            Access::Member => "missing bearer token",
            Access::Operator(_) | Access::Committee(CommitteeAccess::Operator(_)) => {
                "admin token required"
            }
            Access::Committee(CommitteeAccess::Member) => "missing or malformed x-ic-key",
            _ => continue,
        };
        for framing in ["Content-Length: 200000", "Transfer-Encoding: chunked"] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
                 {framing}\r\n\r\n"
            );
            let answer = raw_http::exchange(fixture.server.address, head.as_bytes()).expect(401);
            assert_eq!(answer.json()["error"], error);
        }
    }
}

/// Each limit, and one character more.
fn limits_of_a_take_count_characters(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    let text = |length| "\u{1f680}".repeat(length);
    for (field, limit) in
        [("nonce", 200), ("stance", 100), ("body", 10_000), ("memoUrl", 2_000), ("subjectId", 100)]
    {
        fixture.convene(
            "2026-11-21",
            if field == "subjectId" { text(limit) } else { field.into() }.as_str(),
        );
        let mut fields = json!({ "date": "2026-11-21", "subjectId": field });
        fields[field] = json!(text(limit));
        let signed = author.key.sign(author.draft_of(fields));
        let mut over: Value = serde_json::from_str(&signed_text(&signed)).unwrap();
        over[field] = json!(text(limit + 1));
        fixture.client.submit_text(&author, &over.to_string()).refused(400, "invalid submission");
        fixture.client.submit_text(&author, &signed_text(&signed)).expect(201);
    }
    let mut over: Value =
        serde_json::from_str(&signed_text(&author.key.sign(author.draft("2026-11-21", "body"))))
            .unwrap();
    over["signature"] = json!("A".repeat(2_000));
    fixture
        .client
        .submit_text(&author, &over.to_string())
        .refused(400, "signature verification failed");
    over["signature"] = json!("A".repeat(2_001));
    fixture.client.submit_text(&author, &over.to_string()).refused(400, "invalid submission");
    over["memberId"] = json!("m".repeat(101));
    fixture.client.submit_text(&author, &over.to_string()).refused(400, "invalid submission");
}

/// From 1 to 100 characters.
fn limits_of_a_bucket_count_characters(backend: &Backend) {
    let fixture = Fixture::on(backend);
    let author = fixture.author();
    fixture.convene("2026-11-21", "aurora");
    let weights = |length| json!([{ "bucket": "\u{1f680}".repeat(length), "weight": 1 }]);
    for length in [1, 100] {
        let fields =
            json!({ "date": "2026-11-21", "subjectId": "aurora", "weights": weights(length) });
        fixture.client.submit(&author, author.draft_of(fields)).expect(201);
    }
    for length in [0, 101] {
        let signed = author.key.sign(author.draft("2026-11-21", "aurora"));
        let mut bad: Value = serde_json::from_str(&signed_text(&signed)).unwrap();
        bad["weights"] = weights(length);
        fixture.client.submit_text(&author, &bad.to_string()).refused(400, "invalid submission");
    }
    // Empty names are refused.
    for field in ["memberId", "subjectId", "nonce", "stance"] {
        let signed = author.key.sign(author.draft("2026-11-21", "aurora"));
        let mut bad: Value = serde_json::from_str(&signed_text(&signed)).unwrap();
        bad[field] = json!("");
        fixture.client.submit_text(&author, &bad.to_string()).refused(400, "invalid submission");
    }
}
