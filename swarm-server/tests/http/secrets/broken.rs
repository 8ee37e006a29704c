//! Failing store calls: errors, lost commits, panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use swarm_core::domain::{Application, Contact, Lens, Name};
use swarm_core::proof::KeyPair;
use swarm_core::{MemberId, StoreError};

use super::{CHALLENGE, DATE};
use crate::committee_fixture;
use crate::fixture::{Clock, Fixture, add_records};
use crate::harness::{ADMIN, Answer, Author, fresh_key, signed_text};
use crate::observed_store::ObservedStore;
use crate::routes::{
    BRIEFS, CHAIR_COMMAND, COMMITTEE_POST, OPERATOR_COMMAND, OPERATOR_READS, READS,
};

type Request = (&'static str, &'static str, String);

/// Reads that do not use the store.
const STORELESS: [&str; 5] =
    ["/swarm/style.css", "/swarm/icon.svg", "/robots.txt", "/openapi.json", "/docs"];

/// Requests for each route that uses the store (method, path, body), in an order in which all succeed.
fn requests(author: &Author, applicant: &KeyPair, claim: &str) -> Vec<Request> {
    let text = |value: Value| value.to_string();
    let application = applicant.sign(Application {
        name: Name::parse("n").unwrap(),
        contact: Contact::parse("c").unwrap(),
        lens: Lens::parse("").unwrap(),
        public_key: applicant.public_key(),
    });
    let take = signed_text(&author.key.sign(author.draft(DATE, "aurora")));
    let member = text(json!({ "memberId": "m" }));
    let mut requests: Vec<_> = READS
        .into_iter()
        .chain(OPERATOR_READS)
        .chain(["/api/swarm/verify-token"])
        .filter(|path| !STORELESS.contains(path))
        .map(|path| ("GET", path, String::new()))
        .collect();
    requests.extend([
        ("POST", "/api/swarm/submit", take),
        ("POST", "/api/swarm/apply", signed_text(&application)),
        ("POST", "/api/swarm/token-claim", claim.to_owned()),
        ("POST", CHALLENGE, member.clone()),
        ("POST", "/api/swarm/admin/subjects", text(json!({ "id": "aurora", "name": "A" }))),
        ("POST", "/api/swarm/admin/sessions", text(json!({ "date": DATE, "subjectId": "aurora" }))),
        ("PATCH", "/api/swarm/admin/sessions/1", text(json!({ "quorum": 1 }))),
        (
            "POST",
            "/api/swarm/admin/sessions/1/roster",
            text(json!({ "members": [{ "memberId": "m" }] })),
        ),
        (
            "POST",
            "/api/swarm/admin/sessions/1/roster/excuse",
            text(json!({ "memberId": "m", "excused": true })),
        ),
        ("POST", "/api/swarm/admin/sessions/1/state", text(json!({ "state": "aggregated" }))),
        ("POST", "/api/swarm/admin/sessions/2/brief", text(json!({}))),
        ("POST", "/api/swarm/admin/subjects/aurora/snapshots", text(json!({ "date": DATE }))),
        ("POST", "/api/swarm/admin/regime", text(json!({ "date": DATE }))),
        (
            "POST",
            "/api/swarm/admin/signals",
            text(json!({ "date": DATE, "signal_key": "k", "payload": 1 })),
        ),
        ("POST", "/api/swarm/memos", text(json!({ "title": "t", "body": "b", "sessionId": 1 }))),
        ("POST", OPERATOR_COMMAND, String::new()),
        ("POST", "/api/swarm/admin/deactivate", member.clone()),
        ("POST", "/api/swarm/admin/activate", member.clone()),
        ("POST", "/api/swarm/admin/rotate-key", member),
        ("POST", COMMITTEE_POST, text(committee_fixture::take("neutral"))),
        ("POST", "/api/ic/admin/members", text(json!({ "id": "n", "name": "N" }))),
        ("POST", "/api/ic/admin/members/m/status", text(json!({ "status": "inactive" }))),
        ("POST", "/api/ic/admin/day", text(json!({ "date": DATE, "subject_id": "aurora" }))),
        ("POST", BRIEFS, text(json!({ "deadline_utc": "2026-11-21T12:00:00Z" }))),
        ("POST", "/api/ic/admin/synthesis", text(json!({ "date": DATE, "synthesis": "s" }))),
        ("POST", CHAIR_COMMAND, String::new()),
        ("POST", "/api/ic/admin/day/withdraw", text(json!({ "date": DATE }))),
        ("POST", "/api/swarm/admin/accept", text(json!({ "what": "clock" }))),
    ]);
    requests
}

/// A fixture whose store fails on demand, and requests for it.
struct FailingFixture {
    fixture: Fixture,
    /// The number of calls that still succeed.
    left: Arc<AtomicUsize>,
    panics: Arc<AtomicBool>,
    author: Author,
    requests: Vec<Request>,
}

const NEVER: usize = usize::MAX;

impl FailingFixture {
    /// With `after`, the call fails after its work is done, as if the answer were lost.
    fn start(after: bool) -> Self {
        let clock = Clock::noon();
        let store = clock.store();
        let (left, panics) = (Arc::new(AtomicUsize::new(NEVER)), Arc::new(AtomicBool::new(false)));
        let observed = {
            let (left, panics) = (Arc::clone(&left), Arc::clone(&panics));
            ObservedStore::new(&store, move |call| {
                if call.done != after {
                    return Ok(());
                }
                let calls = left.load(Ordering::SeqCst);
                if calls == 0 {
                    if panics.load(Ordering::SeqCst) {
                        // Panics without printing a message.
                        std::panic::resume_unwind(Box::new("as asked"));
                    }
                    return Err(StoreError::unavailable("test", "broken with a secret reason"));
                }
                left.store(calls - 1, Ordering::SeqCst);
                Ok(())
            })
        };
        let fixture = Fixture::serve(clock, store, observed);
        committee_fixture::insert_member(&*fixture.committee(), "m", committee_fixture::KEY);
        let author = fixture.author_named(MemberId::parse("m").unwrap());
        fixture.client.convene(DATE, "aurora");
        fixture.client.submit(&author, author.draft(DATE, "aurora")).expect(201);
        add_records(&fixture.client, ADMIN, &author);
        let (id, key) = Author::apply(&fixture.client, "B");
        fixture.client.operate("/activate", &json!({ "memberId": id.as_str() })).expect(200);
        let proof = Author::proof(&fixture.client, &id, &key);
        let requests = requests(&author, &fresh_key(), &proof);
        Self { fixture, left, panics, author, requests }
    }

    fn run(&self, (method, path, body): &Request) -> Answer {
        let bearer = self.author.bearer();
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
            ("authorization", bearer.as_str()),
            ("x-admin-token", ADMIN),
            ("x-ic-key", committee_fixture::KEY),
        ];
        self.fixture.client.send(method, path, &headers, body.as_bytes())
    }
}

const UNAVAILABLE: &str = "store unavailable";

/// Checks the answer of a route whose store fails, in the form of its interface.
#[track_caller]
fn unavailable((_, path, _): &Request, answer: Answer) {
    match *path {
        COMMITTEE_POST => answer.unread(500, "failed to persist submission"),
        path if ["/api/ic/", "/swarm/committee"].iter().any(|of| path.starts_with(of))
            || path == committee_fixture::BRIEF =>
        {
            answer.unread(503, UNAVAILABLE);
        }
        _ => answer.refused(503, UNAVAILABLE),
    }
}

/// For each request, each of its store calls fails once.
#[test]
fn failing_store_is_503_and_acknowledges_nothing() {
    let fragile = FailingFixture::start(false);
    for request in &fragile.requests {
        let before = fragile.fixture.print();
        let mut failed = 0;
        loop {
            fragile.left.store(failed, Ordering::SeqCst);
            let answer = fragile.run(request);
            let was_asked_more = fragile.left.load(Ordering::SeqCst) == 0;
            if (200..300).contains(&answer.status) {
                // No call failed: the request needs no more calls.
                assert!(was_asked_more && failed > 0, "{request:?}");
                break;
            }
            unavailable(request, answer);
            assert_eq!(fragile.fixture.print(), before, "{request:?}");
            failed += 1;
            assert!(failed < 20, "{request:?}");
        }
    }
    fragile.left.store(0, Ordering::SeqCst);
    fragile.fixture.client.get("/readyz").refused(503, UNAVAILABLE);
    fragile.fixture.client.get("/healthz").expect(200);
    fragile.fixture.client.get("/metrics").expect(200);
    let page = fragile.fixture.client.get("/swarm/takes/1").expect(503);
    assert!(!page.text.contains("secret"), "{page:?}");
    fragile.fixture.client.get("/swarm/style.css").expect(200);
    fragile.left.store(NEVER, Ordering::SeqCst);
    fragile.fixture.client.get("/readyz").expect(200);
}

/// The commit succeeds and its answer is lost: the take gets no receipt, and a replay returns its id.
#[test]
fn take_with_a_lost_commit_answer_is_found_by_a_replay() {
    let fragile = FailingFixture::start(true);
    let author = &fragile.author;
    let text = signed_text(&author.key.sign(author.draft(DATE, "aurora")));
    // The basis is returned, the outcome of the filing is lost.
    fragile.left.store(1, Ordering::SeqCst);
    fragile.fixture.client.submit_text(author, &text).refused(503, UNAVAILABLE);
    fragile.left.store(NEVER, Ordering::SeqCst);
    assert_eq!(fragile.fixture.takes().len(), 2);
    let again = fragile.fixture.client.submit_text(author, &text).expect(409);
    assert_eq!(again.json()["recommendationId"], 2);
    assert_eq!(again.header("link"), Some("</swarm/takes/2>; rel=\"original\""));
}

/// The same for the committee. A committed submission is kept, and a key whose answer was lost is never
/// usable by anyone.
#[test]
fn submission_with_a_lost_commit_answer_is_not_acknowledged() {
    let fragile = FailingFixture::start(true);
    let (fixture, left) = (&fragile.fixture, &fragile.left);
    let submit = || {
        committee_fixture::submit(
            &fixture.client,
            committee_fixture::KEY,
            &committee_fixture::take("bullish"),
        )
    };
    left.store(1, Ordering::SeqCst);
    submit().unread(500, "failed to persist submission");
    assert_eq!(committee_fixture::records(&*fixture.committee()).len(), 1);
    left.store(NEVER, Ordering::SeqCst);
    submit().expect(200);
    assert_eq!(committee_fixture::records(&*fixture.committee()).len(), 2);

    let rotate =
        || committee_fixture::chair(&fixture.client, "/members/m/rotate-key", &Value::Null);
    left.store(1, Ordering::SeqCst);
    rotate().unread(503, UNAVAILABLE);
    left.store(NEVER, Ordering::SeqCst);
    submit().unread(401, "invalid key");
    let key = rotate().expect(200).json()["api_key"].as_str().unwrap().to_owned();
    committee_fixture::submit(&fixture.client, &key, &committee_fixture::take("bullish"))
        .expect(200);
}

#[test]
fn panicking_store_fails_one_request() {
    let fragile = FailingFixture::start(false);
    fragile.panics.store(true, Ordering::SeqCst);
    let before = fragile.fixture.print();
    for request in &fragile.requests {
        fragile.left.store(0, Ordering::SeqCst);
        fragile.run(request).unread(500, "internal error");
        fragile.left.store(NEVER, Ordering::SeqCst);
        fragile.fixture.client.get("/api/swarm/takes/1").expect(200);
    }
    fragile.left.store(0, Ordering::SeqCst);
    fragile.fixture.client.get("/readyz").unread(500, "internal error");
    fragile.left.store(NEVER, Ordering::SeqCst);
    assert_eq!(fragile.fixture.print(), before);
    let draft = fragile.author.draft(DATE, "aurora");
    fragile.fixture.client.submit(&fragile.author, draft).expect(201);
}
