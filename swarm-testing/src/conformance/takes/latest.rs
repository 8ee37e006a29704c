//! Reads of the takes that are not superseded.

use std::sync::Arc;

use crate::World;
use crate::promise::promised;
use swarm_core::domain::{SessionId, Take, TakeId};
use swarm_core::store::{TakeQuery, Tenants};

pub async fn latest_takes_are_one_per_member(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let authors = [world.author("ada").await, world.author("grace").await];
    let sessions = [world.convened("subject").await, world.convened("other").await];
    for revision in 1..=3 {
        for session in &sessions {
            let mut last = Vec::new();
            for author in &authors {
                let nonce = format!("{}-{revision}", session.id);
                last.push(world.filed(author, session, &nonce).await);
            }
            promised!(page(&world, session.id, 0, usize::MAX).await, last);
        }
    }
    for unknown in [0, 3, u64::MAX] {
        promised!(page(&world, SessionId(unknown), 0, usize::MAX).await, []);
    }
}

pub async fn latest_take_pages_are_complete(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let session = world.convened("subject").await;
    let mut latest = Vec::new();
    for member in 0..11 {
        let author = world.author(&member.to_string()).await;
        for revision in 0..member % 3 {
            world.filed(&author, &session, &revision.to_string()).await;
        }
        latest.push(world.filed(&author, &session, "last").await);
    }
    let mut after = 0;
    for expected in latest.chunks(4) {
        let takes = page(&world, session.id, after, 4).await;
        promised!(takes, expected);
        after = takes.last().map(|take| take.id.0).unwrap_or_default();
    }
    promised!(page(&world, session.id, after, 4).await, []);
    // Start after an id that no take has, or that of a superseded take.
    for (after, first) in [(1, 3), (2, 3), (4, 6), (u64::MAX, 0)] {
        let takes = page(&world, session.id, after, 1).await;
        promised!(takes.first().map_or(0, |take| take.id.0), first);
    }
}

async fn page(world: &World, session: SessionId, after: u64, limit: usize) -> Vec<Arc<Take>> {
    let query = TakeQuery { after: TakeId(after), limit, ..TakeQuery::latest(session) };
    let found = world.session_takes(&query).await;
    promised!(found.is_some(), world.session(session).await.is_some());
    found.map(|found| found.takes).unwrap_or_default()
}
