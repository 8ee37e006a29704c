//! Limits on how much a public read makes the store read at a time.

use std::mem::take;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use swarm_core::domain::{
    Attribution, Body, Confidence, Figures, Participation, Quote, Revision, Session, SessionPatch,
    SessionState, Snapshot, Stance, Stances, Timestamp, TokenHash,
};
use swarm_core::rules;
use swarm_core::store::backend::PartSet;
use swarm_core::store::{Records, Saved, SessionChange, Store};
use swarm_core::{MemberId, SessionId, Submission, Swarm, SystemEntropy, TakeId, TenantId};
use swarm_store_memory::MemoryStore;

use crate::fixture::{Clock, Fixture, convene, now};
use crate::harness::ADMIN;
use crate::observed_store::observed_store;

/// Maximum size of a page of sessions, in bytes.
const PAGE: usize = 4 << 20;

/// Maximum number of sessions read from the store per call.
const AT_ONCE: usize = 8;

/// The counted size of an empty quote: its fields, and the seven letters of its stance.
const LEAST: usize = 157;

/// The counted size of the quotes of each session, chosen so that sums fit a page exactly, or exceed it by one.
#[rustfmt::skip]
const QUOTED: [usize; 29] = [
    0, LEAST, PAGE, 0, 0, PAGE - LEAST, LEAST, 0, PAGE - LEAST, LEAST + 1, LEAST + 8, 0, PAGE + 1, 0, 0, LEAST + 7, 0, 0, 0, 0,
    LEAST, LEAST, LEAST, LEAST, 0, 0, 0, PAGE / 2, PAGE / 2,
];

#[test]
fn page_of_sessions_is_read_in_small_batches() {
    let store = Clock::noon().store();
    let id = TenantId::parse("default").unwrap();
    let port = store.open(&id);
    for bytes in QUOTED {
        quote(&port, convene(&port, "2026-11-21", "aurora"), bytes);
    }
    let (asked, observed) = watched(&store, "sessions");
    let tenant = Swarm::new(observed, SystemEntropy).tenant(&id);

    for limit in [1, 2, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE, 28, 29, 30, 500] {
        for before in (0..=30).map(Some).chain([None]) {
            let page = now(tenant.sessions(before.map(SessionId), limit)).unwrap();
            let ids: Vec<u64> = page.sessions.iter().map(|session| session.id.0).collect();
            let next = page.next_before.map(|id| id.0);
            assert_eq!((ids, next), expected(limit, before), "{limit} before {before:?}");
            let asked = take(&mut *asked.lock().unwrap());
            let whole =
                asked.iter().filter(|query| query.contains(&format!("parts: {:?}", PartSet::ALL)));
            let asked: Vec<usize> = whole.map(|query| limit_of(query)).collect();
            assert!(asked.iter().all(|limit| *limit <= AT_ONCE), "{asked:?}");
            // It continues only while the page has room.
            assert!(asked.iter().sum::<usize>() <= page.sessions.len() + AT_ONCE, "{asked:?}");
        }
    }
}

/// Anyone may apply, any number of times.
#[test]
fn only_active_members_are_read() {
    let clock = Clock::noon();
    let store = clock.store();
    let (asked, observed) = watched(&store, "members");
    let fixture = Fixture::serve(clock, store, observed);
    fixture.client.get("/api/swarm/members").expect(200);
    let asked = asked.lock().unwrap();
    let is_of = |state: &str| asked[0].contains(&format!("{state:?}"));
    assert!(asked.len() == 1 && ["approved", "claimed"].into_iter().all(is_of), "{asked:?}");
    assert!(!["applied", "rejected", "inactive"].into_iter().any(is_of), "{asked:?}");
}

/// However many sessions, members and takes there are.
#[test]
fn pages_read_no_more_than_they_show() {
    /// The most results of a read: a page of takes of a member, and one more.
    const MOST: usize = 41;
    let clock = Clock::noon();
    let store = clock.store();
    let asked: Arc<Mutex<Vec<(&str, String)>>> = Arc::default();
    let listener = Arc::clone(&asked);
    let observed = observed_store(&store, move |call| {
        if !call.done {
            listener.lock().unwrap().push((call.op, call.arguments.to_owned()));
        }
        Ok(())
    });
    let fixture = Fixture::serve(clock, store, observed);
    fixture.client.operate("/subjects", &json!({ "id": "aurora", "name": "Aurora" })).expect(201);
    for _ in 0..60 {
        fixture.convene("2026-11-21", "aurora");
    }
    let author = fixture.author();
    fixture.client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    let member = format!("/swarm/members/{}", author.id);
    // All sessions with an outcome, all subjects and members and the newest results are read once; from then on only what is
    // new.
    fixture.client.get("/api/swarm/ranking").expect(200);
    fixture.client.get("/swarm/members").expect(200);
    // The paths, and the most sessions whose takes are read: the home page shows who has filed in four open ones.
    for (path, takes) in [
        ("/", 4),
        ("/swarm/members", 0),
        ("/swarm/subjects", 0),
        ("/swarm/since/1", 0),
        ("/swarm/find?q=a", 0),
        ("/swarm/log", 0),
        ("/swarm/sessions", 0),
        ("/swarm/sessions?subject=aurora", 0),
        ("/swarm/sessions/60", 1),
        (&member, 0),
        ("/swarm/ranking", 0),
        ("/swarm/takes/1", 0),
        ("/swarm/subjects/aurora", 0),
    ] {
        asked.lock().unwrap().clear();
        fixture.client.get(path).expect(200);
        let asked = take(&mut *asked.lock().unwrap());
        let of =
            |name: &str| asked.iter().filter(|(method, _)| *method == name).collect::<Vec<_>>();
        assert!(of("session takes").len() <= takes, "{path}: {asked:?}");
        assert!(
            of("members").iter().all(|(_, query)| !query.contains("index: Some")),
            "{path}: {asked:?}"
        );
        let sessions = of("sessions");
        assert!(
            sessions
                .iter()
                .all(|(_, query)| !query.contains(&format!("parts: {:?}", PartSet::ALL))),
            "{path}: {asked:?}"
        );
        let listed = ["session summaries", "sessions", "member takes"].into_iter().flat_map(of);
        assert!(
            listed.map(|(_, query)| limit_of(query)).all(|limit| limit <= MOST),
            "{path}: {asked:?}"
        );
    }
}

/// Who has filed in each open session is read without what was filed.
#[test]
fn console_reads_no_takes_for_what_to_do() {
    let clock = Clock::noon();
    let store = clock.store();
    let (asked, observed) = watched(&store, "session takes");
    let fixture = Fixture::serve(clock, store, observed);
    let session = fixture.convene("2026-11-21", "aurora");
    let author = fixture.author();
    fixture.client.submit(&author, author.draft("2026-11-21", "aurora")).expect(201);
    asked.lock().unwrap().clear();
    let headers = [("x-admin-token", ADMIN)];
    let status = fixture.client.send("GET", "/api/swarm/admin/status", &headers, b"");
    let status = status.expect(200).json();
    assert_eq!(status["sessions"][0]["id"], session);
    assert_eq!(status["sessions"][0]["filed"], 1);
    assert_eq!(*asked.lock().unwrap(), Vec::<String>::new());
}

/// The take is filed between the read of its session and that of the newest takes.
#[test]
fn page_shows_no_take_that_its_session_lacks() {
    type Submit = Box<dyn FnOnce() + Send>;
    let clock = Clock::noon();
    let store = clock.store();
    let waiting: Arc<Mutex<Option<Submit>>> = Arc::default();
    let listener = Arc::clone(&waiting);
    let observed = observed_store(&store, move |call| {
        let is_read = call.op == "session takes" && call.done;
        if let Some(submit) = is_read.then(|| listener.lock().unwrap().take()).flatten() {
            submit();
        }
        Ok(())
    });
    let fixture = Fixture::serve(clock, store, observed);
    fixture.convene("2026-11-21", "aurora");
    let (author, tenant) = (fixture.author(), fixture.tenant());
    let take = Submission::new(author.key.sign(author.draft("2026-11-21", "aurora")));
    let token = TokenHash::of(author.token.as_bytes());
    *waiting.lock().unwrap() = Some(Box::new(move || {
        now(tenant.submit(&token, &take)).unwrap();
    }));
    let page = fixture.client.get("/").expect(200).text;
    assert!(waiting.lock().unwrap().is_none(), "the session is read");
    assert!(page.contains("/swarm/takes/1\"") && page.contains("1 member filed"), "{page}");
}

/// Commits come between the reads of each attempt. Those that change nothing on the page cost one more attempt.
#[test]
fn page_is_made_again_for_commits_that_it_shows() {
    for (is_shown, attempts) in [(false, 2), (true, 4)] {
        let clock = Clock::noon();
        let store = clock.store();
        let port = store.open(&TenantId::parse("default").unwrap());
        convene(&port, "2026-11-21", "aurora");
        let tenant =
            Swarm::new(store.clone(), SystemEntropy).tenant(&TenantId::parse("default").unwrap());
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let observed = observed_store(&store, move |call| {
            if call.op == "session takes" && call.done {
                let number = count.fetch_add(1, Ordering::SeqCst);
                if is_shown {
                    let patch =
                        SessionPatch { quorum: Some(Some(number + 1)), ..Default::default() };
                    now(tenant.amend_session(SessionId(1), &patch, &Attribution::SCHEDULE))
                        .unwrap();
                } else {
                    convene(&port, "2026-11-21", "borealis");
                }
            }
            Ok(())
        });
        let fixture = Fixture::serve(clock, store, observed);
        fixture.client.get("/swarm/sessions/1").expect(200);
        assert_eq!(made.load(Ordering::SeqCst), attempts, "{is_shown}");
    }
}

/// A store that records the `{:?}` of the arguments of each call of this method.
fn watched(store: &MemoryStore, method: &'static str) -> (Arc<Mutex<Vec<String>>>, Store) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&asked);
    let observed = observed_store(store, move |call| {
        if call.op == method && !call.done {
            listener.lock().unwrap().push(call.arguments.to_owned());
        }
        Ok(())
    });
    (asked, observed)
}

/// The ids on a page, and the cursor of the next one.
fn expected(limit: usize, before: Option<u64>) -> (Vec<u64>, Option<u64>) {
    let listed = |id: &u64| before.is_none_or(|before| *id < before);
    let mut ids: Vec<u64> = (1..=29).rev().filter(listed).collect();
    let found = ids.len();
    let mut bytes = 0;
    let fits = |id: &&u64| {
        bytes += QUOTED[usize::try_from(**id).unwrap() - 1];
        bytes <= PAGE
    };
    let fitting = ids.iter().take_while(fits).count().max(1);
    ids.truncate(fitting.min(limit));
    let next = ids.last().copied().filter(|_| ids.len() < found);
    (ids, next)
}

/// The limit of a query, from its `{:?}`.
fn limit_of(query: &str) -> usize {
    let (_, limit) = query.split_once("limit: ").unwrap();
    limit.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Writes a snapshot with quotes of this counted size into a session.
fn quote(port: &Records, id: u64, bytes: usize) {
    let mut left = bytes;
    let bodies = std::iter::from_fn(|| {
        let length = if left > 10_000 { 10_000 - LEAST } else { left };
        left -= length;
        Some("x".repeat(length.checked_sub(LEAST)?))
    });
    let quotes = bodies.map(|body| Quote {
        take_id: TakeId(1),
        member_id: MemberId::parse("m").unwrap(),
        revision: Revision::FIRST,
        stance: Stance::parse("neutral").unwrap(),
        confidence: Confidence::parse(1.0).unwrap(),
        body: Some(Body::parse(body).unwrap()),
    });
    let figures = Figures {
        aggregated_at: Timestamp::EPOCH,
        participation: Participation { members: 1, expected: None, rate: None },
        quorum: None,
        stances: Stances::default(),
        consensus: None,
    };
    let snapshot = Snapshot { figures, weights: None, quotes: quotes.collect(), original: None };
    let stored = now(port.session(SessionId(id))).unwrap().unwrap();
    let (state, snapshot) = (SessionState::Aggregated, Some(Arc::new(snapshot)));
    let session = Session { state, snapshot, ..Session::clone(&stored.record) };
    let patch = SessionPatch { quorum: Some(Some(1)), ..SessionPatch::default() };
    let acts = rules::amend(&stored, &patch, stored.record.convened_at, &Attribution::SCHEDULE)
        .unwrap()
        .unwrap()
        .acts;
    let change = SessionChange {
        session,
        expected: stored.version,
        takes: None,
        takes_refusal: rules::Refusal::TakesSealed,
        none_filed_after: None,
        withdrawn: false,
        acts,
        opens: false,
    };
    assert_eq!(now(port.save_session(&change)).unwrap(), Saved::Saved);
}
