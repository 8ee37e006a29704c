//! Saves of a session that are guarded by its number of takes.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::timeout;

use crate::assertions::expect_eq;
use crate::{World, count, filed};
use swarm_core::domain::SessionState::{Aggregated, Collecting};
use swarm_core::domain::{SessionId, TakeId};
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{Filed, SessionChange, Tenants};

/// All revisions of all members count, but not those in other sessions.
pub async fn session_save_can_guard_the_number_of_takes(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let (ada, grace) = (world.author("ada").await, world.author("grace").await);
    let (session, other) = (world.convened("subject").await, world.convened("other").await);
    world.filed(&ada, &session, "1").await;
    let judged = world.amended(session.id, |session| session.state = Aggregated).await;
    world.filed(&ada, &session, "2").await;
    world.filed(&grace, &session, "3").await;
    world.filed(&grace, &other, "4").await;
    for takes in [0, 1, 2, 4] {
        let change = SessionChange { takes: Some(takes), ..judged.clone() };
        expect_eq!(world.save_session(&change).await, Stale);
    }
    expect_eq!(world.session(session.id).await.unwrap().record.state, Collecting);
    expect_eq!(world.save_session(&SessionChange { takes: Some(3), ..judged }).await, Saved);
    let untouched = world.convened("untouched").await;
    let aggregation = world.amended(untouched.id, |session| session.state = Aggregated).await;
    expect_eq!(world.save_session(&SessionChange { takes: Some(0), ..aggregation }).await, Saved);
}

/// A save resets neither the number of takes nor the sequences of ids.
pub async fn session_save_keeps_counters(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let author = world.author("ada").await;
    let session = world.convened("subject").await;
    for revision in 1..=4 {
        let take = world.filed(&author, &session, &revision.to_string()).await;
        expect_eq!((take.id, take.revision.get()), (TakeId(u64::from(revision)), revision));
        world.amend(session.id, |session| session.quorum = Some(u32::from(revision))).await;
        world.edit(&author.id, |_| {}).await;
        for (takes, outcome) in [(0, Stale), (usize::from(revision), Saved)] {
            let aggregation = world.amended(session.id, |_| {}).await;
            let aggregation = SessionChange { takes: Some(takes), ..aggregation };
            expect_eq!(
                world.save_session(&aggregation).await,
                outcome,
                "aggregated over {takes} takes"
            );
        }
    }
    expect_eq!(world.convened("next").await.id, SessionId(2));
}

/// Later takes are stale.
pub async fn aggregation_includes_exactly_the_takes_filed_before_it(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let authors = world.authors(16).await;
    for round in 0..16 {
        let session = world.convened("subject").await;
        let filings = world.judged_of_each(&authors, &session, &round.to_string()).await;
        let aggregating = tokio::spawn(aggregate(world.clone(), session.id));
        let outcomes = world.race_to_file(filings).await;
        let aggregated = timeout(Duration::from_secs(10), aggregating).await.unwrap().unwrap();
        expect_eq!(world.takes(session.id).await.len(), aggregated);
        expect_eq!(count(&outcomes, &Filed::Stale), 16 - aggregated);
        let stand = outcomes.into_iter().filter(|outcome| *outcome != Filed::Stale);
        expect_eq!(stand.map(filed).count(), aggregated);
    }
}

/// Aggregates a session once it has some takes. Returns their number.
async fn aggregate(world: World, id: SessionId) -> usize {
    loop {
        let takes = world.takes(id).await.len();
        let aggregation = world.amended(id, |session| session.state = Aggregated).await;
        let aggregation = SessionChange { takes: Some(takes), ..aggregation };
        if takes > 3 && world.save_session(&aggregation).await == Saved {
            return takes;
        }
        yield_now().await;
    }
}
