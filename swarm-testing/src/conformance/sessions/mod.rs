//! Sessions.

mod aggregation;
mod blind;
mod deadlines;
mod listing;
mod occasions;
mod take_counts;
mod withdrawals;

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{
    Author, FIRST, TestTenant, act, count, day, figures, id, moment, odd_texts, race, session_draft,
};
use swarm_core::domain::SessionState::{
    Aggregated, Collecting, Published, Scheduled, WindowClosed,
};
use swarm_core::domain::{
    Body, Bucket, BucketWeight, Confidence, Consensus, Declaration, Figures, Method, Note, Outcome,
    OutcomeSource, OutcomeValue, Participation, Question, QuestionText, Quorum, Quote,
    RankedStance, Resolution, Revision, Roster, RosterEntry, Session, SessionDraft, SessionId,
    Snapshot, Stance, StanceScale, Stances, SubjectId, TakeId, Timestamp, Version, Voided,
};
use swarm_core::rules::Refusal;
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{SessionChange, SessionQuery, Store, Versioned};

pub use aggregation::*;
pub use blind::*;
pub use deadlines::*;
pub use listing::*;
pub use occasions::*;
pub use take_counts::*;
pub use withdrawals::*;

/// A query for all sessions.
const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 1_000, without_snapshots: false };

const NONE: [u64; 0] = [];

pub async fn unknown_session_is_none(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.sessions(&ALL).await, []);
    tenant.convened("subject").await;
    for unknown in [0, 2, u64::MAX] {
        expect_eq!(tenant.session(SessionId(unknown)).await, None);
    }
}

pub async fn session_ids_count_from_one(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for number in 1..=12 {
        let date = day(if number % 2 == 0 { "2026-11-21" } else { "2026-11-20" });
        let convened = tenant.convene(&SessionDraft { date, ..session_draft("subject") }).await;
        expect_eq!(convened.id, SessionId(number));
    }
}

pub async fn concurrent_sessions_get_consecutive_ids(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let convene = |racer: usize| {
        let (tenant, subject) = (tenant.clone(), format!("subject {}", racer % 4));
        async move { tenant.convened(&subject).await }
    };
    let mut convened = race((0..32).map(convene)).await;
    convened.sort_by_key(|session| session.id);
    let ids: Vec<u64> = convened.iter().map(|session| session.id.0).collect();
    expect_eq!(ids, (1..=32).collect::<Vec<_>>());
    convened.reverse();
    expect_eq!(tenant.sessions(&ALL).await, convened);
}

pub async fn convened_at_is_the_time_of_the_store(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let before = tenant.now().await;
    let convened = tenant.convened("subject").await.convened_at;
    ensure!(
        (before..=tenant.now().await).contains(&convened),
        "a time by the store\'s clock, during the call",
        convened
    );
}

pub async fn session_draft_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let full = SessionDraft {
        date: day("0000-01-01"),
        subject_id: SubjectId::parse("\u{1f680}\0\n{a}").unwrap(),
        state: Scheduled,
        window_closes_at: Some(moment("9999-12-31T23:59:59.999Z")),
        quorum: Some(u32::MAX),
        buckets: Some(odd_texts().into_iter().map(|name| Bucket::parse(name).unwrap()).collect()),
        roster: Some(odd_roster()),
        blind: true,
        practice: true,
        finish: true,
        question: odd_question(),
        declaration: odd_declaration(),
    };
    let empty = SessionDraft {
        date: day("9999-12-31"),
        window_closes_at: Some(moment("1969-12-31T23:59:59.999Z")),
        quorum: Some(0),
        buckets: Some(vec![]),
        roster: Some(Roster::parse(vec![]).unwrap()),
        ..session_draft("empty")
    };
    for draft in [full, empty, session_draft("bare")] {
        let convened = tenant.convene(&draft).await;
        expect_eq!(*convened, draft.convened(convened.id, convened.convened_at));
        let on_file = Versioned { version: FIRST, record: Arc::clone(&convened) };
        expect_eq!(tenant.session(convened.id).await, Some(on_file));
        assert_terms(&tenant, &convened).await;
        expect_eq!(tenant.sessions(&SessionQuery { limit: 1, ..ALL }).await, [convened]);
    }
}

fn odd_declaration() -> Declaration {
    let ranked =
        |(name, rank): (&str, f64)| RankedStance { name: Stance::parse(name).unwrap(), rank };
    let stances =
        [("\u{1f680}\0\n{a}", -0.000_001), ("other", 999.1), ("\"", -1_000.0)].map(ranked);
    Declaration {
        stances: Some(StanceScale::parse(stances.into()).unwrap()),
        max_revisions: Some(Revision::FIRST),
        method: Some(Method::WeightedMedian),
    }
}

fn odd_question() -> Question {
    Question {
        text: Some(QuestionText::parse("\u{1f680}\0\n{a}").unwrap()),
        resolution: Some(Resolution::parse("\"".repeat(1_000)).unwrap()),
        resolves_at: Some(moment("9999-12-31T23:59:59.999Z")),
    }
}

/// Optional fields can be removed and added by later saves.
pub async fn saved_session_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let bare = tenant.convened("subject").await;
    let full = Session {
        published_at: Some(tenant.now().await),
        state: Published,
        window_closes_at: Some(Timestamp::EPOCH),
        quorum: Some(7),
        buckets: Some(vec![Bucket::parse("\u{0}").unwrap()]),
        roster: Some(odd_roster()),
        blind: true,
        practice: true,
        finish: true,
        question: odd_question(),
        declaration: odd_declaration(),
        opened_at: Some(moment("2026-11-21T12:00:00.001Z")),
        outcome: Some(Outcome {
            value: Some(OutcomeValue::parse(-1.1).unwrap()),
            source: Some(OutcomeSource::parse("\u{0}\"\u{1f680}").unwrap()),
            recorded_at: moment("1969-12-31T23:59:59.999Z"),
        }),
        voided: Some(Voided { at: Timestamp::EPOCH, note: Note::parse("").unwrap() }),
        snapshot: Some(Arc::new(declared_snapshot())),
        ..Session::clone(&bare)
    };
    let known = Session {
        declaration: Declaration { stances: None, ..odd_declaration() },
        snapshot: Some(Arc::new(full_snapshot())),
        ..full.clone()
    };
    let sparse = Session {
        state: Aggregated,
        outcome: Some(Outcome { value: None, source: None, recorded_at: Timestamp::EPOCH }),
        snapshot: Some(Arc::new(sparse_snapshot())),
        ..Session::clone(&bare)
    };
    let scheduled = Session { state: Scheduled, ..Session::clone(&bare) };
    for (version, session) in (2..).zip([&full, &sparse, &known, &full, &bare, &scheduled]) {
        tenant.amend(bare.id, |on_file| on_file.clone_from(session)).await;
        let record = Arc::new(session.clone());
        expect_eq!(tenant.sessions(&ALL).await, [Arc::clone(&record)]);
        let on_file = Versioned { version: Version(version), record };
        expect_eq!(tenant.session(bare.id).await, Some(on_file));
        assert_terms(&tenant, session).await;
    }
}

/// Asserts that takes are judged on the stored session.
async fn assert_terms(tenant: &TestTenant, session: &Session) {
    let author = Author::named("ada");
    let facts = tenant.facts(&author, &author.submission(session, "nonce")).await;
    expect_eq!(facts.session, tenant.terms(session.id).await);
}

pub async fn sessions_are_newest_first_up_to_the_limit(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 1..=12 {
        tenant.convened("subject").await;
    }
    for limit in [0, 1, 5, 12, 13] {
        let newest: Vec<u64> = (1..=12).rev().take(limit).collect();
        expect_eq!(tenant.found(&SessionQuery { limit, ..ALL }).await, newest);
        expect_eq!(tenant.found(&SessionQuery { limit, ..on("subject") }).await, newest);
    }
}

pub async fn session_pages_are_complete(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 1..=12 {
        tenant.convened("subject").await;
    }
    for query in [ALL, on("subject"), SessionQuery { state: Some(Collecting), ..ALL }] {
        let mut query = SessionQuery { limit: 5, ..query };
        let mut covered: Vec<u64> = Vec::new();
        for length in [5, 5, 2, 0] {
            let page = tenant.found(&query).await;
            expect_eq!(page.len(), length);
            query.before = page.last().copied().map(SessionId);
            covered.extend(page);
        }
        expect_eq!(covered, (1..=12).rev().collect::<Vec<_>>());
    }
}

pub async fn session_pages_start_before_any_number(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 1..=3 {
        tenant.convened("subject").await;
    }
    let expected: [(u64, &[u64]); 5] =
        [(0, &[]), (1, &[]), (2, &[1]), (4, &[3, 2, 1]), (u64::MAX, &[3, 2, 1])];
    for (before, ids) in expected {
        let before = Some(SessionId(before));
        expect_eq!(tenant.found(&SessionQuery { before, ..ALL }).await, ids);
        expect_eq!(tenant.found(&SessionQuery { before, ..on("subject") }).await, ids);
    }
}

pub async fn sessions_are_found_by_day_and_subject(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let another_day = SessionDraft { date: day("2026-11-22"), ..session_draft("subject") };
    tenant.convened("subject").await;
    tenant.convene(&another_day).await;
    tenant.convened("another").await;
    tenant.convened("subject").await;
    expect_eq!(tenant.found(&on("subject")).await, [4, 1]);
    let on_another_day =
        SessionQuery { on: Some((another_day.date, another_day.subject_id)), ..ALL };
    expect_eq!(tenant.found(&on_another_day).await, [2]);
    expect_eq!(tenant.found(&on("unknown")).await, NONE);
}

pub async fn odd_subjects_are_distinct(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for subject in odd_texts() {
        expect_eq!(tenant.found(&on(&subject)).await, NONE, "{subject:?}");
        let session = tenant.convened(&subject).await;
        expect_eq!(session.subject_id.as_str(), subject);
        expect_eq!(tenant.found(&on(&subject)).await, [session.id.0], "{subject:?}");
    }
}

pub async fn sessions_are_found_by_latest_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 1..=3 {
        tenant.convened("subject").await;
    }
    tenant.convene(&SessionDraft { state: Scheduled, ..session_draft("subject") }).await;
    let mut left = Collecting;
    for state in [WindowClosed, Aggregated, Published, WindowClosed] {
        tenant.amend(SessionId(2), |session| session.state = state).await;
        expect_eq!(tenant.found(&SessionQuery { state: Some(state), ..ALL }).await, [2]);
        expect_eq!(tenant.found(&SessionQuery { state: Some(state), ..on("subject") }).await, [2]);
        let others: &[u64] = if left == Collecting { &[3, 1] } else { &[] };
        expect_eq!(tenant.found(&SessionQuery { state: Some(left), ..ALL }).await, others);
        left = state;
    }
    tenant.amend(SessionId(2), |session| session.state = Collecting).await;
    let collecting = SessionQuery { state: Some(Collecting), ..ALL };
    expect_eq!(tenant.found(&collecting).await, [3, 2, 1]);
    expect_eq!(tenant.found(&SessionQuery { limit: 1, ..collecting.clone() }).await, [3]);
    let before = Some(SessionId(3));
    expect_eq!(tenant.found(&SessionQuery { before, limit: 1, ..collecting }).await, [2]);
    expect_eq!(tenant.found(&SessionQuery { state: Some(Scheduled), ..ALL }).await, [4]);
}

pub async fn session_change_at_another_version_is_stale(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    for quorum in 1..12 {
        tenant.amend(session.id, |session| session.quorum = Some(quorum)).await;
    }
    let on_file = tenant.session(session.id).await;
    expect_eq!(on_file.as_ref().map(|session| session.version), Some(Version(12)));
    for version in [0, 1, 2, 11, 13, 120, u64::MAX] {
        let mut change = tenant.amended(session.id, |session| session.state = WindowClosed).await;
        change.expected = Version(version);
        expect_eq!(tenant.save_session(&change).await, Stale);
    }
    expect_eq!(tenant.session(session.id).await, on_file);
    expect_eq!(tenant.found(&SessionQuery { state: Some(WindowClosed), ..ALL }).await, NONE);
}

pub async fn session_change_does_not_convene_a_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for (id, version) in [(1, 0), (1, 1), (7, 1)] {
        let session = session_draft("subject").convened(SessionId(id), Timestamp::EPOCH);
        let (expected, act) = (Version(version), act("saved"));
        let change = SessionChange {
            session,
            expected,
            takes: None,
            takes_refusal: Refusal::TakesSealed,
            none_filed_after: None,
            withdrawn: false,
            acts: vec![act],
            opens: false,
        };
        expect_eq!(tenant.save_session(&change).await, Stale);
    }
    expect_eq!(tenant.sessions(&ALL).await, []);
    expect_eq!(tenant.convened("subject").await.id, SessionId(1));
}

pub async fn concurrent_session_saves_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let judged = tenant.amended(session.id, |_| {}).await;
    let save = |quorum: u32| {
        let (tenant, mut change) = (tenant.clone(), judged.clone());
        change.session.quorum = Some(quorum);
        async move { tenant.save_session(&change).await }
    };
    let outcomes = race((0..32).map(save)).await;
    expect_eq!((count(&outcomes, &Saved), count(&outcomes, &Stale)), (1, 31));
    let on_file = tenant.session(session.id).await.unwrap();
    let won = on_file.record.quorum.unwrap();
    expect_eq!(outcomes.iter().position(|outcome| *outcome == Saved), Some(won as usize));
    expect_eq!(on_file.version, Version(2));
}

fn on(subject: &str) -> SessionQuery {
    let SessionDraft { date, subject_id, .. } = session_draft(subject);
    SessionQuery { on: Some((date, subject_id)), ..ALL }
}

/// A roster that is not sorted by id.
fn odd_roster() -> Roster {
    let entry = |(place, name): (usize, String)| RosterEntry {
        member_id: id(&name),
        excused: place % 3 == 0,
    };
    Roster::parse(odd_texts().into_iter().enumerate().map(entry).rev().collect()).unwrap()
}

fn full_snapshot() -> Snapshot {
    let bucket =
        |(name, weight): (&str, f64)| BucketWeight { bucket: Bucket::parse(name).unwrap(), weight };
    let quote = Quote {
        take_id: TakeId(9_007_199_254_740_991),
        member_id: id("a:b"),
        revision: Revision::CAP,
        stance: Stance::parse("\u{1f680}\0").unwrap(),
        confidence: Confidence::parse(5e-324).unwrap(),
        body: Some(Body::parse("\u{1f680}\u{0}\r\n\"\\\u{2028}").unwrap()),
    };
    let figures = Figures {
        aggregated_at: moment("2026-11-21T22:45:00.001Z"),
        participation: Participation { members: 3, expected: Some(9), rate: Some(1.0 / 3.0) },
        quorum: Some(Quorum { required: 4, met: false }),
        stances: Stances::of_service([1, 2, 3, 4, 5], 6),
        consensus: Some(Consensus {
            stance: Stance::parse("cautious").unwrap(),
            score: -1.1,
            confidence: 0.1 + 0.2,
            method: None,
        }),
    };
    Snapshot {
        figures,
        weights: Some([("b", 5e-324), ("a", 0.1 + 0.2), ("\0", 1.0)].map(bucket).into()),
        quotes: vec![quote.clone(), Quote { member_id: id("a"), ..quote }],
        original: None,
    }
}

/// A snapshot of a session with the [`odd_declaration`].
fn declared_snapshot() -> Snapshot {
    let scale = odd_declaration().stances;
    let stance = Stance::parse("other").unwrap();
    let mut stances = Stances::none(scale.as_ref());
    stances.add(&stance);
    let method = Some(Method::WeightedMedian);
    let consensus = Some(Consensus { stance, score: 999.1, confidence: 1.0, method });
    let full = full_snapshot();
    Snapshot { figures: Figures { stances, consensus, ..full.figures }, ..full }
}

fn sparse_snapshot() -> Snapshot {
    Snapshot { figures: figures(), weights: None, quotes: vec![], original: None }
}
