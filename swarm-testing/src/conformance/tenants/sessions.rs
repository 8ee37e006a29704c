//! Isolation of sessions with the same id, day and subject in two tenants.

use std::sync::Arc;

use super::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{Author, World, session_draft};
use swarm_core::domain::SessionState::{Aggregated, Collecting, Published};
use swarm_core::domain::{Attribution, Session, SessionDraft, SessionId, Version};
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{Aggregation, SessionChange, SessionQuery, SummaryQuery, Tenants};

const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 9, without_snapshots: false };

pub async fn sessions_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    let mut own = [vec![], vec![]];
    for number in [1, 2] {
        for ((world, _), own) in both(&worlds).into_iter().zip(&mut own) {
            own.insert(0, marked(world, number).await);
        }
    }
    worlds[1].convened("third").await;
    own[1].insert(0, worlds[1].session(SessionId(3)).await.unwrap().record);
    for ((world, mark), own) in both(&worlds).into_iter().zip(&own) {
        let SessionDraft { date, subject_id, .. } = session_draft("subject");
        let on = SessionQuery { on: Some((date, subject_id)), ..ALL };
        let about: Vec<_> =
            own.iter().filter(|it| it.subject_id.as_str() == "subject").cloned().collect();
        expect_eq!(world.sessions(&ALL).await, *own, "of tenant {mark}");
        let summaries: Vec<_> = own.iter().map(|session| Arc::new(session.summary())).collect();
        let all = SummaryQuery { limit: 9, ..SummaryQuery::default() };
        expect_eq!(world.session_summaries(&all).await, summaries, "of tenant {mark}");
        expect_eq!(world.sessions(&on).await, about, "by subject of tenant {mark}");
        let collecting = SessionQuery { state: Some(Collecting), ..ALL };
        expect_eq!(world.sessions(&collecting).await, *own, "by state of tenant {mark}");
        let before = SessionQuery { before: Some(SessionId(2)), ..ALL };
        expect_eq!(world.sessions(&before).await, own[own.len() - 1..], "of tenant {mark}");
        for session in own {
            let read = world.session(session.id).await.map(|it| it.record);
            expect_eq!(read.as_ref(), Some(session), "of tenant {mark}");
        }
    }
    expect_eq!(worlds[0].session(SessionId(3)).await, None);
}

pub async fn published_sessions_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    for (world, _) in both(&worlds) {
        for number in [1, 2] {
            marked(world, number).await;
        }
    }
    for ((world, _), id) in both(&worlds).into_iter().zip([1, 2]) {
        let now = world.now().await;
        world.amend(SessionId(id), |it| (it.state, it.published_at) = (Published, Some(now))).await;
    }
    for ((world, mark), id) in both(&worlds).into_iter().zip([1, 2]) {
        let own = world.session(SessionId(id)).await.unwrap().record;
        expect_eq!(world.published(9).await, [Arc::new(own.summary())], "of tenant {mark}");
    }
}

/// Writes, versions and takes of the other tenant have no effect.
pub async fn session_saves_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    let [one, other] = &worlds;
    for (world, _) in both(&worlds) {
        marked(world, 1).await;
    }
    let untouched = other.session(SessionId(1)).await;
    for _ in 0..3 {
        one.amend(SessionId(1), |session| session.quorum = Some(9)).await;
    }
    expect_eq!(other.session(SessionId(1)).await, untouched);
    let judged = other.amended(SessionId(1), |session| session.quorum = Some(8)).await;
    let at = |version| SessionChange { expected: Version(version), ..judged.clone() };
    expect_eq!(other.save_session(&at(4)).await, Stale);
    expect_eq!(one.save_session(&at(1)).await, Stale);
    expect_eq!(other.save_session(&at(1)).await, Saved);
    expect_eq!(one.session(SessionId(1)).await.map(|it| it.version), Some(Version(4)));
}

pub async fn take_counts_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    for (world, _) in both(&worlds) {
        marked(world, 1).await;
        world.author("ada").await;
    }
    let [one, other] = &worlds;
    let ada = Author::named("ada");
    for (world, nonces) in [(one, &["1", "2"][..]), (other, &["1"][..])] {
        let session = world.session(SessionId(1)).await.unwrap().record;
        for nonce in nonces {
            world.filed(&ada, &session, nonce).await;
        }
    }
    for ((world, mark), filed) in both(&worlds).into_iter().zip([2, 1]) {
        let aggregation = world.amended(SessionId(1), |session| session.state = Aggregated).await;
        for wrong in [3 - filed, 3, 0] {
            let aggregation = SessionChange { takes: Some(wrong), ..aggregation.clone() };
            expect_eq!(world.save_session(&aggregation).await, Stale, "over {wrong} takes, {mark}");
        }
        let aggregation = SessionChange { takes: Some(filed), ..aggregation };
        expect_eq!(world.save_session(&aggregation).await, Saved, "over {filed} takes, {mark}");
    }
}

pub async fn aggregations_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    for (world, _) in both(&worlds) {
        marked(world, 1).await;
    }
    let [one, other] = &worlds;
    let untouched = other.session(SessionId(1)).await;
    let aggregation = Aggregation { session: SessionId(1), by: Attribution::SCHEDULE };
    expect_eq!(one.aggregate(&aggregation).await.map(|it| it.state), Ok(Aggregated));
    expect_eq!(other.session(SessionId(1)).await, untouched);
}

/// A session on `subject`, with a quorum that is distinct for each tenant.
async fn marked(world: &World, number: u32) -> Arc<Session> {
    let mark = if world.id.as_str().ends_with("-x") { 20 } else { 10 };
    world.convene(&SessionDraft { quorum: Some(mark + number), ..session_draft("subject") }).await
}
