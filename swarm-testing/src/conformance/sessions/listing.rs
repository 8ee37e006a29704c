//! Lists of sessions, of their summaries, and of the sessions that were published last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swarm_core::domain::SessionState::{Aggregated, Collecting, Published, Scheduled};
use swarm_core::domain::{
    Attribution, Note, Session, SessionDraft, SessionId, SessionState, SessionSummary, SubjectId,
    Timestamp, Voided,
};
use swarm_core::store::{Aggregation, Saved, SessionList, SessionQuery, Store, SummaryQuery};
use tokio::task::yield_now;

use super::{ALL, NONE, full_snapshot, odd_roster, on, sparse_snapshot};
use crate::assertions::{ensure, expect_eq};
use crate::{FIRST, TestTenant, moment, odd_texts, race, session_draft};

/// How many sessions the list has.
const SESSIONS: u64 = 12;

pub async fn sessions_are_listed_without_snapshots(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let ada = tenant.author("ada").await;
    for number in 1..=3 {
        let session = tenant.convened("subject").await;
        tenant.filed(&ada, &session, &number.to_string()).await;
        let aggregation = Aggregation { session: session.id, by: Attribution::SCHEDULE };
        expect_eq!(number == 2 || tenant.aggregate(&aggregation).await.is_ok(), true);
    }
    for query in [ALL, on("subject"), SessionQuery { state: Some(Aggregated), ..ALL }] {
        let whole = tenant.sessions(&query).await;
        let with_snapshots = whole.iter().filter(|session| session.snapshot.is_some());
        expect_eq!(with_snapshots.count(), 2);
        let bare = |session: &Arc<Session>| {
            Arc::new(Session { snapshot: None, ..Session::clone(session) })
        };
        let bare: Vec<_> = whole.iter().map(bare).collect();
        let query = SessionQuery { without_snapshots: true, ..query };
        expect_eq!(tenant.sessions(&query).await, bare);
    }
}

pub async fn session_list_is_read_in_one_snapshot(tenants: Store) {
    list_is_read_in_one_snapshot(tenants, |tenant, reader| async move {
        let query = SessionQuery { without_snapshots: reader.is_multiple_of(2), ..ALL };
        tenant.sessions(&query).await.iter().map(|it| it.quorum).collect()
    })
    .await;
}

/// One writer saves each session in turn, the newest first, and no reader sees a save without those before it.
/// `quorums` is a reader: it lists the quorums of all sessions, the newest session first.
pub(super) async fn list_is_read_in_one_snapshot<F>(
    tenants: Store,
    quorums: impl Fn(TestTenant, u32) -> F + Copy + Send + 'static,
) where
    F: Future<Output = Vec<Option<u32>>> + Send,
{
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 0..SESSIONS {
        tenant.convened("subject").await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let run = |racer: u32| {
        let (tenant, done) = (tenant.clone(), Arc::clone(&done));
        async move {
            for round in (1..=4).filter(|_| racer == 0) {
                for id in (1..=SESSIONS).rev() {
                    tenant.amend(SessionId(id), |session| session.quorum = Some(round)).await;
                }
            }
            done.fetch_or(racer == 0, Ordering::SeqCst);
            while !done.load(Ordering::SeqCst) {
                let quorums = quorums(tenant.clone(), racer).await;
                let rounds: Vec<_> = quorums.iter().map(|quorum| quorum.unwrap_or(0)).collect();
                let together = rounds.first().zip(rounds.last());
                let in_order = rounds.is_sorted_by(|newer, older| newer >= older)
                    && together.is_some_and(|(newest, oldest)| newest - oldest <= 1);
                ensure!(in_order, "each save with those before it", rounds);
                yield_now().await;
            }
        }
    };
    race((0..5).map(run)).await;
}

/// A query for all summaries.
const SUMMARIES: SummaryQuery =
    SummaryQuery { list: SessionList::All, before: None, after: None, limit: 1_000 };

pub async fn summary_shows_its_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(tenant.session_summaries(&SUMMARIES).await, []);
    for (number, subject) in odd_texts().into_iter().enumerate() {
        let roster = (number % 2 == 0).then(odd_roster);
        let state = if number % 3 == 0 { Scheduled } else { Collecting };
        let draft = SessionDraft { roster, state, ..session_draft(&subject) };
        let session = tenant.convene(&draft).await;
        let snapshot = [None, Some(full_snapshot()), Some(sparse_snapshot())][number % 3].clone();
        tenant
            .amend(session.id, |session| {
                session.snapshot = snapshot.map(Arc::new);
                session.quorum = (number % 5 == 0).then_some(7);
                if number % 4 == 0 {
                    let now = moment("2026-11-21T22:45:00.001Z");
                    (session.state, session.published_at) = (Published, Some(now));
                    session.window_closes_at = Some(now);
                }
            })
            .await;
    }
    for state in [None, Some(Scheduled), Some(Collecting), Some(Published)] {
        for (before, limit) in [(None, 1_000), (None, 3), (Some(SessionId(9)), 1_000)] {
            let query = SessionQuery { state, before, limit, ..ALL };
            let expected = summaries(&tenant.sessions(&query).await);
            let list = state.map_or(SessionList::All, SessionList::InState);
            let query = SummaryQuery { list, before, after: None, limit };
            expect_eq!(tenant.session_summaries(&query).await, expected, "{query:?}");
        }
    }
}

pub async fn summaries_are_found_by_subject(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let subjects = odd_texts();
    for subject in subjects.iter().chain(&subjects) {
        tenant.convened(subject).await;
    }
    for subject in subjects {
        let of_subject = |it: &Arc<Session>| it.subject_id.as_str() == subject;
        let sessions: Vec<_> = tenant.sessions(&ALL).await.into_iter().filter(of_subject).collect();
        let list = SessionList::About(SubjectId::parse(subject).unwrap());
        let query = SummaryQuery { list, ..SUMMARIES };
        expect_eq!(tenant.session_summaries(&query).await, summaries(&sessions), "{query:?}");
    }
    let list = SessionList::About(SubjectId::parse("nothing").unwrap());
    expect_eq!(tenant.session_summaries(&SummaryQuery { list, ..SUMMARIES }).await, []);
}

pub async fn summaries_after_an_id_are_lowest_first(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for number in 0..12 {
        let subject = if number % 2 == 0 { "even" } else { "odd" };
        let state = if number % 3 == 0 { Scheduled } else { Collecting };
        tenant.convene(&SessionDraft { state, ..session_draft(subject) }).await;
    }
    let odd = SessionList::About(SubjectId::parse("odd").unwrap());
    for (list, ids) in [
        (SessionList::All, &[4, 5, 6, 7, 8, 9, 10, 11, 12][..]),
        (SessionList::InState(Scheduled), &[4, 7, 10]),
        (odd, &[4, 6, 8, 10, 12]),
    ] {
        for (before, limit) in [(None, 1_000), (None, 2), (Some(9), 1_000), (Some(3), 1_000)] {
            let ids = ids.iter().filter(|id| before.is_none_or(|before| **id < before));
            let (list, before) = (list.clone(), before.map(SessionId));
            let query = SummaryQuery { list, after: Some(SessionId(3)), before, limit };
            let found = tenant.session_summaries(&query).await;
            let found: Vec<_> = found.iter().map(|session| session.id.0).collect();
            expect_eq!(found, ids.take(limit).copied().collect::<Vec<_>>(), "{query:?}");
        }
    }
    let last = SummaryQuery { after: Some(SessionId(u64::MAX)), ..SUMMARIES };
    expect_eq!(tenant.session_summaries(&last).await, []);
}

pub async fn summaries_are_read_in_one_snapshot(tenants: Store) {
    list_is_read_in_one_snapshot(tenants, |tenant, _| async move {
        tenant.session_summaries(&SUMMARIES).await.iter().map(|it| it.quorum).collect()
    })
    .await;
}

fn summaries(sessions: &[Arc<Session>]) -> Vec<Arc<SessionSummary>> {
    sessions.iter().map(|session| Arc::new(session.summary())).collect()
}

pub async fn published_sessions_are_latest_first(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    expect_eq!(found(&tenant, 9).await, NONE);
    let moments = [-62_135_596_800_000, 9, -1, 0, 253_402_300_799_999, 10, 1_795_000_000_000];
    for millis in moments {
        let session = tenant.convened("subject").await;
        let published = found(&tenant, 9).await;
        ensure!(!published.contains(&session.id.0), "only sessions that were published", published);
        publish(&tenant, session.id, Timestamp::EPOCH.plus_millis(millis)).await;
    }
    tenant.convened("subject").await;
    let in_their_order = [5, 7, 6, 2, 4, 3, 1];
    for limit in [0, 1, 5, 7, 9] {
        let first: Vec<u64> = in_their_order.into_iter().take(limit).collect();
        expect_eq!(found(&tenant, limit).await, first);
    }
    let latest = tenant.session(SessionId(5)).await.unwrap().record;
    expect_eq!(tenant.published(1).await, [Arc::new(latest.summary())]);
}

pub async fn sessions_published_at_the_same_time_are_by_id(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for _ in 1..=12 {
        tenant.convened("subject").await;
    }
    for id in [3, 12, 1, 9, 10, 2] {
        publish(&tenant, SessionId(id), Timestamp::EPOCH).await;
    }
    expect_eq!(found(&tenant, 4).await, [12, 10, 9, 3]);
    expect_eq!(found(&tenant, 9).await, [12, 10, 9, 3, 2, 1]);
}

pub async fn session_saved_again_is_listed_as_published_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for millis in [2, 1] {
        let session = tenant.convened("subject").await;
        publish(&tenant, session.id, Timestamp::EPOCH.plus_millis(millis)).await;
    }
    for quorum in 1..=2 {
        tenant.amend(SessionId(2), |session| session.quorum = Some(quorum)).await;
        expect_eq!(found(&tenant, 9).await, [1, 2]);
        expect_eq!(tenant.published(9).await[1].quorum, Some(quorum));
    }
    let mut moved = tenant.amended(SessionId(2), |_| {}).await;
    moved.expected = FIRST;
    moved.session.published_at = Some(Timestamp::EPOCH.plus_millis(3));
    expect_eq!(tenant.save_session(&moved).await, Saved::Stale);
    expect_eq!(found(&tenant, 9).await, [1, 2]);
    // Only sessions that count are listed; the record keeps when they were published.
    let voided = Some(Voided { at: Timestamp::EPOCH, note: Note::parse("void").unwrap() });
    tenant.amend(SessionId(1), |session| session.voided = voided.clone()).await;
    expect_eq!(found(&tenant, 9).await, [2]);
    let practice = SessionDraft { practice: true, ..session_draft("subject") };
    let practice = tenant.convene(&practice).await;
    publish(&tenant, practice.id, Timestamp::EPOCH).await;
    expect_eq!(found(&tenant, 9).await, [2]);
    let kept = tenant.session(SessionId(1)).await.unwrap().record.published_at;
    expect_eq!(kept, Some(Timestamp::EPOCH.plus_millis(2)));
}

/// Publishes a session at this time.
async fn publish(tenant: &TestTenant, id: SessionId, moment: Timestamp) {
    let publish = |session: &mut Session| {
        (session.state, session.published_at) = (SessionState::Published, Some(moment));
    };
    tenant.amend(id, publish).await;
}

/// The ids of the most recently published sessions.
async fn found(tenant: &TestTenant, limit: usize) -> Vec<u64> {
    tenant.published(limit).await.iter().map(|session| session.id.0).collect()
}
