//! Failing store calls: errors, lost commits, panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;
use swarm_core::StoreError;
use swarm_http::{Access, CommitteeAccess};

use super::DATE;
use crate::committee_fixture;
use crate::console::visitor::Visitor;
use crate::desk::{Desk, Request};
use crate::fixture::{Clock, Fixture};
use crate::harness::{ADMIN, Answer, Author, signed_text};
use crate::observed_store::observed_store;
use crate::routes;

/// Routes that do not use the store.
const STORELESS: [&str; 24] = [
    "/about",
    "/docs",
    "/docs/{chapter}",
    "/openapi.json",
    "/robots.txt",
    "/skill",
    "/skill/committee.md",
    "/skill/member.mjs",
    "/skill/member.py",
    "/skill/member.sh",
    "/swarm/console.css",
    "/swarm/icon.svg",
    "/swarm/lists.css",
    "/swarm/style.css",
    "/verify",
    "/verify.html",
    "/verify/page.js",
    "/verify/style.css",
    "/verify/verifier.js",
    "/verify/verifier.wasm",
    "/api/swarm/diagnose",
    "/api/swarm/signing-payload",
    "/healthz",
    "/metrics",
];

/// A fixture whose store fails on demand, and requests for it.
struct FailingFixture {
    fixture: Fixture,
    /// The number of calls that still succeed.
    left: Arc<AtomicUsize>,
    panics: Arc<AtomicBool>,
    author: Author,
    /// Requests for each route that uses the store, in an order in which all succeed.
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
            observed_store(&store, move |call| {
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
        let desk = Desk::of(Fixture::serve(clock, store, observed));
        // `/oembed` is asked about a page by its address, which these requests do not name.
        let uses_store = |request: &Request| {
            let path = request.route.info.path;
            let is_answerable = !request.route.is_of_second_log() && path != "/oembed";
            !STORELESS.contains(&path) && is_answerable
        };
        let requests = desk.requests().into_iter().filter(uses_store).collect();
        let Desk { fixture, author, .. } = desk;
        Self { fixture, left, panics, author, requests }
    }

    fn run(&self, request: &Request, accept: &str) -> Answer {
        let bearer = self.author.bearer();
        let headers = [
            ("content-type", "application/json"),
            ("accept", accept),
            ("authorization", bearer.as_str()),
            ("x-admin-token", ADMIN),
            ("x-ic-key", committee_fixture::KEY),
        ];
        let Request { route, path, body } = request;
        self.fixture.client.send(route.method(), path, &headers, body.as_bytes())
    }
}

const JSON: &str = "application/json";
const HTML: &str = "text/html";

const UNAVAILABLE: &str = "store unavailable";

/// Checks the answer of a route whose store fails, in the form of its interface.
#[track_caller]
fn unavailable(request: &Request, answer: Answer) {
    let is_of_committee = request.route.info.is_of_committee
        || request.route.info.path.starts_with("/swarm/committee");
    if request.route.info.access == Access::Committee(CommitteeAccess::Member) {
        answer.unread(500, "failed to persist submission");
    } else if is_of_committee {
        answer.unread(503, UNAVAILABLE);
    } else {
        answer.refused(503, UNAVAILABLE);
    }
}

/// Scores, subjects, members and the newest entries are kept in the process, and go on from what was read before a failure.
fn reads_what_is_kept(request: &Request) -> bool {
    const PAGES: [&str; 6] = [
        "/",
        "/swarm/find",
        "/swarm/members",
        "/swarm/members/{id}",
        "/swarm/since/{seq}",
        "/swarm/subjects",
    ];
    let path = request.route.info.path;
    path.ends_with("/record") || path.ends_with("/ranking") || PAGES.contains(&path)
}

/// For each request, each of its store calls fails once.
#[test]
fn failing_store_is_503_and_acknowledges_nothing() {
    let fragile = FailingFixture::start(false);
    let reads = fragile.requests.iter().filter(|request| request.route.is_read());
    let as_pages = reads.map(|request| (request, HTML));
    let all = as_pages.chain(fragile.requests.iter().map(|request| (request, JSON)));
    for (request, accept) in all {
        let before = fragile.fixture.print();
        let mut failed = 0;
        loop {
            fragile.left.store(failed, Ordering::SeqCst);
            let answer = fragile.run(request, accept);
            let was_asked_more = fragile.left.load(Ordering::SeqCst) == 0;
            if (200..300).contains(&answer.status) {
                // No call failed: the request needs no more calls, or fewer than before where what was read is kept.
                let is_kept = reads_what_is_kept(request);
                assert!((was_asked_more || is_kept) && failed > 0, "{request:?}");
                break;
            }
            if accept == JSON {
                unavailable(request, answer);
            } else {
                assert_eq!(answer.status, 503, "{request:?}: {answer:?}");
                assert!(!answer.text.contains("secret"), "{request:?}: {answer:?}");
            }
            assert_eq!(fragile.fixture.print(), before, "{request:?}");
            failed += 1;
            assert!(failed < 90, "{request:?}");
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

/// Each page of the console, each of whose store calls fails once.
#[test]
fn failing_store_is_503_in_the_console() {
    let fragile = FailingFixture::start(false);
    let visitor = Visitor::signed_in(&fragile.fixture.client);
    let mut failed_pages = 0;
    for route in routes::all().filter(|route| route.is_of_console() && route.is_read()) {
        let path = &route.path;
        for failed in 0.. {
            fragile.left.store(failed, Ordering::SeqCst);
            let seen = visitor.get(path);
            if seen.status == 200 {
                break;
            }
            assert_eq!(seen.status, 503, "{path}: {seen:?}");
            seen.is_silent_on("a secret reason");
            failed_pages += 1;
            assert!(failed < 50, "{path}");
        }
    }
    assert!(failed_pages > 14, "{failed_pages}");
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
    assert_eq!(fragile.fixture.takes().len(), 3);
    let again = fragile.fixture.client.submit_text(author, &text).expect(409);
    assert_eq!(again.json()["recommendationId"], 3);
    assert_eq!(again.header("link"), Some("</swarm/takes/3>; rel=\"original\""));
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
    assert_eq!(committee_fixture::records(&fixture.committee()).len(), 1);
    left.store(NEVER, Ordering::SeqCst);
    submit().expect(200);
    assert_eq!(committee_fixture::records(&fixture.committee()).len(), 2);

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
        fragile.run(request, JSON).unread(500, "internal error");
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
