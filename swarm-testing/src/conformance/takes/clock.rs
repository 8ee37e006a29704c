//! The clock that times and limits filings, and the moment when it is read.

use std::sync::Arc;

use crate::assertions::ensure;
use crate::conformance::exact_deadline::meet;
use crate::{Author, TestTenant, judged, race};
use swarm_core::domain::{Revision, Session, SessionTerms, Timestamp};
use swarm_core::store::{Basis, Filed, Store};

/// A filing is not late one millisecond too early.
pub async fn filing_commits_exactly_at_its_deadline(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(32).await;
    let (tenant, authors) = (&tenant, &authors);
    meet(tenant.store(), async |deadlines| {
        let session = tenant.convened("subject").await;
        let mut filings = Vec::new();
        for (author, deadline) in authors.iter().zip(&deadlines) {
            let submission = author.submission(&session, &session.id.to_string());
            let facts = tenant.facts(author, &submission).await;
            filings.push(judged(&closing(facts, *deadline), &submission));
        }
        async move || {
            let outcomes = tenant.race_to_file(filings).await;
            outcomes.into_iter().map(landed).collect()
        }
    })
    .await;
}

/// The facts with this deadline, which is still ahead.
fn closing(mut facts: Basis, deadline: Timestamp) -> Basis {
    if let Some(session) = &mut facts.session {
        let terms = SessionTerms::clone(&session.record);
        session.record = Arc::new(SessionTerms { window_closes_at: Some(deadline), ..terms });
    }
    Basis { now: facts.now.min(deadline), ..facts }
}

fn landed(outcome: Filed) -> Option<Timestamp> {
    match outcome {
        Filed::Filed(take, _) => Some(take.filed_at),
        Filed::Late => None,
        other => {
            panic!("a filing in time or late\n  expected: Filed or Late\n  actual: {other:?}")
        }
    }
}

/// The maximum duration of a commit after its time is read, in milliseconds. During that time
/// readers may not see it yet. It is generous: on a busy disk, a commit may wait for its sync for seconds.
const MAX_COMMIT_MILLIS: i64 = 30_000;

/// The time is read in the critical section, not before waiting for it: no reader misses a take
/// long after its time.
pub async fn take_time_is_the_time_of_its_commit(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut authors = Vec::new();
    for name in 0..16 {
        authors.push(Arc::new(tenant.author(&name.to_string()).await));
    }
    let run = |racer: usize| {
        let (tenant, session, author) =
            (tenant.clone(), Arc::clone(&session), Arc::clone(&authors[racer / 2]));
        async move {
            match racer % 2 {
                0 => file_all(&tenant, &author, &session).await,
                _ => watch(&tenant, &author, &session).await,
            }
        }
    };
    let seen = race((0..2 * authors.len()).map(run)).await;
    let takes = tenant.takes(session.id).await;
    ensure!(takes.is_sorted_by_key(|take| take.filed_at), "times in the order of ids", takes);
    for (author, shown) in authors.iter().zip(seen.chunks(2).map(|pair| &pair[1])) {
        for take in takes.iter().filter(|take| take.draft().member_id == author.id) {
            for (now, latest) in shown {
                let there = latest.is_some_and(|latest| latest >= take.revision);
                let (early, late) =
                    (take.filed_at <= *now, take.filed_at.plus_millis(MAX_COMMIT_MILLIS) >= *now);
                ensure!(
                    if there { early } else { late },
                    "no take visible before its time, and none missing long after it",
                    (now, latest, take.revision, take.filed_at)
                );
            }
        }
    }
}

/// What a read returned: the time, and the latest revision.
type Shown = Vec<(Timestamp, Option<Revision>)>;

async fn file_all(tenant: &TestTenant, author: &Author, session: &Session) -> Shown {
    for nonce in ["1", "2", "3", "4", "5"] {
        tenant.filed(author, session, nonce).await;
    }
    Vec::new()
}

/// Reads until all takes are visible.
async fn watch(tenant: &TestTenant, author: &Author, session: &Session) -> Shown {
    let submission = author.submission(session, "never");
    let mut shown = Vec::new();
    loop {
        let facts = tenant.facts(author, &submission).await;
        shown.push((facts.now, facts.latest));
        if facts.latest == Some(Revision::CAP) {
            return shown;
        }
        tokio::task::yield_now().await;
    }
}
