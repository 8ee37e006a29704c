//! Aggregations among takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use swarm_core::domain::SessionState::Aggregated;
use swarm_core::domain::{Attribution, Session, SessionId, StoredTake};
use swarm_core::rules::Refusal;
use swarm_core::store::{Aggregation, Filed, Store, TakeQuery};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::assertions::expect_eq;
use crate::{Author, TestTenant};

/// How many tasks file takes while a session is aggregated.
const FILERS: usize = 4;

/// The members whose amendments each of them files, four each.
const MEMBERS: usize = 20;

pub async fn session_is_aggregated_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (ada, session) = (tenant.author("ada").await, tenant.convened("subject").await);
    let take = tenant.filed(&ada, &session, "1").await;
    let before = tenant.log_size().await;
    let aggregated = tenant.aggregate(&aggregation(session.id)).await.unwrap();
    expect_eq!(aggregated.state, Aggregated);
    expect_eq!(quoted(&aggregated), [take.id]);
    let on_file = tenant.session(session.id).await.unwrap();
    expect_eq!((&on_file.record, on_file.version.0), (&aggregated, 2));
    let rows = tenant.log(before, 9).await;
    expect_eq!(rows.len(), 1);
    let again = tenant.aggregate(&aggregation(session.id)).await;
    expect_eq!(again, Err(Refusal::SessionIs(Aggregated)));
    let unknown = tenant.aggregate(&aggregation(SessionId(9))).await;
    expect_eq!(matches!(unknown, Err(Refusal::NotFound(_))), true);
    expect_eq!(tenant.session(session.id).await, Some(on_file));
    expect_eq!(tenant.log(before, 9).await, rows);
}

/// Its snapshot contains exactly the takes that were filed before, even while others arrive.
pub async fn aggregation_ends_while_takes_arrive(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut authors = tenant.authors(MEMBERS * FILERS).await;
    // First takes may be filed after an aggregation, amendments not.
    for author in &authors {
        tenant.filed(author, &session, "first").await;
    }
    let (mut filers, ended) = (JoinSet::new(), Arc::new(AtomicBool::new(false)));
    for _ in 0..FILERS {
        let members = authors.split_off(authors.len() - MEMBERS);
        let (tenant, session) = (tenant.clone(), Arc::clone(&session));
        filers.spawn(keep_filing(tenant, session, members, Arc::clone(&ended)));
    }
    while tenant.takes(session.id).await.len() < (MEMBERS + 1) * FILERS {
        sleep(Duration::from_millis(1)).await;
    }
    let aggregation = aggregation(session.id);
    let aggregating = tenant.store().aggregate(&aggregation);
    let outcome = timeout(Duration::from_secs(10), aggregating).await;
    ended.store(true, Ordering::SeqCst);
    expect_eq!(outcome.as_ref().is_ok_and(|outcome| outcome.is_ok()), true, "{outcome:?}");
    filers.join_all().await;
    let found = tenant.session_takes(&TakeQuery::latest(session.id)).await.unwrap();
    let mut quoted = quoted(&found.session.record);
    quoted.sort();
    expect_eq!(quoted, found.takes.iter().map(StoredTake::id).collect::<Vec<_>>());
}

/// Files amendments, each a millisecond after the one before, until one is refused.
async fn keep_filing(
    tenant: TestTenant,
    session: Arc<Session>,
    authors: Vec<Author>,
    ended: Arc<AtomicBool>,
) {
    for revision in 2..=5 {
        for author in &authors {
            let take = author.submission(&session, &format!("{}.{revision}", session.id));
            let facts = tenant.facts(author, &take).await;
            let Ok(filing) = crate::test_tenant::try_judged(&facts, &take) else { return };
            if tenant.file(&filing).await == Filed::Stale || ended.load(Ordering::SeqCst) {
                return;
            }
            sleep(Duration::from_millis(1)).await;
        }
    }
}

fn aggregation(session: SessionId) -> Aggregation {
    Aggregation { session, by: Attribution::SCHEDULE }
}

fn quoted(session: &Session) -> Vec<swarm_core::TakeId> {
    let quotes = session.snapshot.iter().flat_map(|snapshot| &snapshot.quotes);
    quotes.map(|quote| quote.take_id).collect()
}
