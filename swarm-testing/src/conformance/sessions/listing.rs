//! Lists of sessions as a whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swarm_core::domain::SessionState::Aggregated;
use swarm_core::domain::{Attribution, Session, SessionId};
use swarm_core::store::{Aggregation, SessionQuery, Tenants};
use tokio::task::yield_now;

use super::{ALL, on};
use crate::assertions::{ensure, expect_eq};
use crate::{World, race};

/// How many sessions the list has.
const SESSIONS: u64 = 12;

pub async fn sessions_are_listed_without_snapshots(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let ada = world.author("ada").await;
    for number in 1..=3 {
        let session = world.convened("subject").await;
        world.filed(&ada, &session, &number.to_string()).await;
        let aggregation = Aggregation { session: session.id, by: Attribution::SCHEDULE };
        expect_eq!(number == 2 || world.aggregate(&aggregation).await.is_ok(), true);
    }
    for query in [ALL, on("subject"), SessionQuery { state: Some(Aggregated), ..ALL }] {
        let whole = world.sessions(&query).await;
        let with_snapshots = whole.iter().filter(|session| session.snapshot.is_some());
        expect_eq!(with_snapshots.count(), 2);
        let bare = |session: &Arc<Session>| {
            Arc::new(Session { snapshot: None, ..Session::clone(session) })
        };
        let bare: Vec<_> = whole.iter().map(bare).collect();
        let query = SessionQuery { without_snapshots: true, ..query };
        expect_eq!(world.sessions(&query).await, bare);
    }
}

pub async fn session_list_is_read_in_one_snapshot(tenants: Arc<dyn Tenants>) {
    list_is_read_in_one_snapshot(tenants, |world, reader| async move {
        let query = SessionQuery { without_snapshots: reader.is_multiple_of(2), ..ALL };
        world.sessions(&query).await.iter().map(|it| it.quorum).collect()
    })
    .await;
}

/// One writer saves each session in turn, the newest first, and no reader sees a save without those before it.
/// `quorums` is a reader: it lists the quorums of all sessions, the newest session first.
pub(super) async fn list_is_read_in_one_snapshot<F>(
    tenants: Arc<dyn Tenants>,
    quorums: impl Fn(World, u32) -> F + Copy + Send + 'static,
) where
    F: Future<Output = Vec<Option<u32>>> + Send,
{
    let world = World::fresh(tenants).await;
    for _ in 0..SESSIONS {
        world.convened("subject").await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let run = |racer: u32| {
        let (world, done) = (world.clone(), Arc::clone(&done));
        async move {
            for round in (1..=4).filter(|_| racer == 0) {
                for id in (1..=SESSIONS).rev() {
                    world.amend(SessionId(id), |session| session.quorum = Some(round)).await;
                }
            }
            done.fetch_or(racer == 0, Ordering::SeqCst);
            while !done.load(Ordering::SeqCst) {
                let quorums = quorums(world.clone(), racer).await;
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
