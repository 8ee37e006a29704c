//! Saves of a session that are guarded by its number of takes.

use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::timeout;

use crate::assertions::expect_eq;
use crate::{TestTenant, count, filed};
use swarm_core::domain::SessionState::{Aggregated, Collecting};
use swarm_core::domain::{SessionId, TakeId};
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{Filed, SessionChange, Store};

/// All revisions of all members count, but not those in other sessions.
pub async fn session_save_can_guard_the_number_of_takes(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (ada, grace) = (tenant.author("ada").await, tenant.author("grace").await);
    let (session, other) = (tenant.convened("subject").await, tenant.convened("other").await);
    tenant.filed(&ada, &session, "1").await;
    let judged = tenant.amended(session.id, |session| session.state = Aggregated).await;
    tenant.filed(&ada, &session, "2").await;
    tenant.filed(&grace, &session, "3").await;
    tenant.filed(&grace, &other, "4").await;
    for takes in [0, 1, 2, 4] {
        let change = SessionChange { takes: Some(takes), ..judged.clone() };
        expect_eq!(tenant.save_session(&change).await, Stale);
    }
    expect_eq!(tenant.session(session.id).await.unwrap().record.state, Collecting);
    expect_eq!(tenant.save_session(&SessionChange { takes: Some(3), ..judged }).await, Saved);
    let untouched = tenant.convened("untouched").await;
    let aggregation = tenant.amended(untouched.id, |session| session.state = Aggregated).await;
    expect_eq!(tenant.save_session(&SessionChange { takes: Some(0), ..aggregation }).await, Saved);
}

/// A save resets neither the number of takes nor the sequences of ids.
pub async fn session_save_keeps_counters(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    for revision in 1..=4 {
        let take = tenant.filed(&author, &session, &revision.to_string()).await;
        expect_eq!((take.id, take.revision.get()), (TakeId(u64::from(revision)), revision));
        tenant.amend(session.id, |session| session.quorum = Some(u32::from(revision))).await;
        tenant.edit(&author.id, |_| {}).await;
        for (takes, outcome) in [(0, Stale), (usize::from(revision), Saved)] {
            let aggregation = tenant.amended(session.id, |_| {}).await;
            let aggregation = SessionChange { takes: Some(takes), ..aggregation };
            expect_eq!(
                tenant.save_session(&aggregation).await,
                outcome,
                "aggregated over {takes} takes"
            );
        }
    }
    expect_eq!(tenant.convened("next").await.id, SessionId(2));
}

/// Later takes are stale.
pub async fn aggregation_includes_exactly_the_takes_filed_before_it(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(16).await;
    for round in 0..16 {
        let session = tenant.convened("subject").await;
        let filings = tenant.judged_of_each(&authors, &session, &round.to_string()).await;
        let aggregating = tokio::spawn(aggregate(tenant.clone(), session.id));
        let outcomes = tenant.race_to_file(filings).await;
        let aggregated = timeout(Duration::from_secs(10), aggregating).await.unwrap().unwrap();
        expect_eq!(tenant.takes(session.id).await.len(), aggregated);
        expect_eq!(count(&outcomes, &Filed::Stale), 16 - aggregated);
        let stand = outcomes.into_iter().filter(|outcome| *outcome != Filed::Stale);
        expect_eq!(stand.map(filed).count(), aggregated);
    }
}

/// Aggregates a session once it has some takes. Returns their number.
async fn aggregate(tenant: TestTenant, id: SessionId) -> usize {
    loop {
        let takes = tenant.takes(id).await.len();
        let aggregation = tenant.amended(id, |session| session.state = Aggregated).await;
        let aggregation = SessionChange { takes: Some(takes), ..aggregation };
        if takes > 3 && tenant.save_session(&aggregation).await == Saved {
            return takes;
        }
        yield_now().await;
    }
}
