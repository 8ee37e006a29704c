//! Summaries of sessions.

use std::sync::Arc;

use swarm_core::domain::SessionState::{Collecting, Published, Scheduled};
use swarm_core::domain::{Session, SessionDraft, SessionId, SessionSummary, SubjectId};
use swarm_core::store::{SessionList, SessionQuery, SummaryQuery, Tenants};

use super::listing::list_is_read_in_one_snapshot;
use super::{ALL, full_snapshot, odd_roster, sparse_snapshot};
use crate::assertions::expect_eq;
use crate::{World, moment, odd_texts, session_draft};

/// A query for all summaries.
const SUMMARIES: SummaryQuery =
    SummaryQuery { list: SessionList::All, before: None, after: None, limit: 1_000 };

pub async fn summary_shows_its_session(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    expect_eq!(world.session_summaries(&SUMMARIES).await, []);
    for (number, subject) in odd_texts().into_iter().enumerate() {
        let roster = (number % 2 == 0).then(odd_roster);
        let state = if number % 3 == 0 { Scheduled } else { Collecting };
        let draft = SessionDraft { roster, state, ..session_draft(&subject) };
        let session = world.convene(&draft).await;
        let snapshot = [None, Some(full_snapshot()), Some(sparse_snapshot())][number % 3].clone();
        world
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
            let expected = summaries(&world.sessions(&query).await);
            let list = state.map_or(SessionList::All, SessionList::InState);
            let query = SummaryQuery { list, before, after: None, limit };
            expect_eq!(world.session_summaries(&query).await, expected, "{query:?}");
        }
    }
}

pub async fn summaries_are_found_by_subject(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let subjects = odd_texts();
    for subject in subjects.iter().chain(&subjects) {
        world.convened(subject).await;
    }
    for subject in subjects {
        let of_subject = |it: &Arc<Session>| it.subject_id.as_str() == subject;
        let sessions: Vec<_> = world.sessions(&ALL).await.into_iter().filter(of_subject).collect();
        let list = SessionList::About(SubjectId::parse(subject).unwrap());
        let query = SummaryQuery { list, ..SUMMARIES };
        expect_eq!(world.session_summaries(&query).await, summaries(&sessions), "{query:?}");
    }
    let list = SessionList::About(SubjectId::parse("nothing").unwrap());
    expect_eq!(world.session_summaries(&SummaryQuery { list, ..SUMMARIES }).await, []);
}

pub async fn summaries_after_an_id_are_lowest_first(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for number in 0..12 {
        let subject = if number % 2 == 0 { "even" } else { "odd" };
        let state = if number % 3 == 0 { Scheduled } else { Collecting };
        world.convene(&SessionDraft { state, ..session_draft(subject) }).await;
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
            let found = world.session_summaries(&query).await;
            let found: Vec<_> = found.iter().map(|session| session.id.0).collect();
            expect_eq!(found, ids.take(limit).copied().collect::<Vec<_>>(), "{query:?}");
        }
    }
    let last = SummaryQuery { after: Some(SessionId(u64::MAX)), ..SUMMARIES };
    expect_eq!(world.session_summaries(&last).await, []);
}

pub async fn summaries_are_read_in_one_snapshot(tenants: Arc<dyn Tenants>) {
    list_is_read_in_one_snapshot(tenants, |world, _| async move {
        world.session_summaries(&SUMMARIES).await.iter().map(|it| it.quorum).collect()
    })
    .await;
}

fn summaries(sessions: &[Arc<Session>]) -> Vec<Arc<SessionSummary>> {
    sessions.iter().map(|session| Arc::new(session.summary())).collect()
}
