//! Reads of the most recently published sessions.

use std::sync::Arc;

use super::NONE;
use crate::assertions::{ensure, expect_eq};
use crate::{FIRST, World};
use swarm_core::domain::{Session, SessionId, SessionState, Timestamp};
use swarm_core::store::{Saved, Tenants};

pub async fn published_sessions_are_latest_first(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    expect_eq!(found(&world, 9).await, NONE);
    let moments = [-62_135_596_800_000, 9, -1, 0, 253_402_300_799_999, 10, 1_795_000_000_000];
    for millis in moments {
        let session = world.convened("subject").await;
        let published = found(&world, 9).await;
        ensure!(!published.contains(&session.id.0), "only sessions that were published", published);
        publish(&world, session.id, Timestamp::EPOCH.plus_millis(millis)).await;
    }
    world.convened("subject").await;
    let in_their_order = [5, 7, 6, 2, 4, 3, 1];
    for limit in [0, 1, 5, 7, 9] {
        let first: Vec<u64> = in_their_order.into_iter().take(limit).collect();
        expect_eq!(found(&world, limit).await, first);
    }
    let latest = world.session(SessionId(5)).await.unwrap().record;
    expect_eq!(world.published(1).await, [Arc::new(latest.summary())]);
}

pub async fn sessions_published_at_the_same_time_are_by_id(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for _ in 1..=12 {
        world.convened("subject").await;
    }
    for id in [3, 12, 1, 9, 10, 2] {
        publish(&world, SessionId(id), Timestamp::EPOCH).await;
    }
    expect_eq!(found(&world, 4).await, [12, 10, 9, 3]);
    expect_eq!(found(&world, 9).await, [12, 10, 9, 3, 2, 1]);
}

pub async fn session_saved_again_is_listed_as_published_once(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for millis in [2, 1] {
        let session = world.convened("subject").await;
        publish(&world, session.id, Timestamp::EPOCH.plus_millis(millis)).await;
    }
    for quorum in 1..=2 {
        world.amend(SessionId(2), |session| session.quorum = Some(quorum)).await;
        expect_eq!(found(&world, 9).await, [1, 2]);
        expect_eq!(world.published(9).await[1].quorum, Some(quorum));
    }
    let mut moved = world.amended(SessionId(2), |_| {}).await;
    moved.expected = FIRST;
    moved.session.published_at = Some(Timestamp::EPOCH.plus_millis(3));
    expect_eq!(world.save_session(&moved).await, Saved::Stale);
    expect_eq!(found(&world, 9).await, [1, 2]);
}

/// Publishes a session at this time.
async fn publish(world: &World, id: SessionId, moment: Timestamp) {
    let publish = |session: &mut Session| {
        (session.state, session.published_at) = (SessionState::Published, Some(moment));
    };
    world.amend(id, publish).await;
}

/// The ids of the most recently published sessions.
async fn found(world: &World, limit: usize) -> Vec<u64> {
    world.published(limit).await.iter().map(|session| session.id.0).collect()
}
