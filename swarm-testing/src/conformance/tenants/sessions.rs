//! Isolation of sessions with the same id, day and subject in two tenants.

use std::sync::Arc;

use super::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{Author, TestTenant, session_draft};
use swarm_core::domain::SessionState::{Aggregated, Collecting, Published};
use swarm_core::domain::{Attribution, Session, SessionDraft, SessionId, Version};
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{Aggregation, SessionChange, SessionQuery, Store, SummaryQuery};

const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 9, without_snapshots: false };

pub async fn sessions_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let mut own = [vec![], vec![]];
    for number in [1, 2] {
        for ((tenant, _), own) in both(&pair).into_iter().zip(&mut own) {
            own.insert(0, marked(tenant, number).await);
        }
    }
    pair[1].convened("third").await;
    own[1].insert(0, pair[1].session(SessionId(3)).await.unwrap().record);
    for ((tenant, mark), own) in both(&pair).into_iter().zip(&own) {
        let SessionDraft { date, subject_id, .. } = session_draft("subject");
        let on = SessionQuery { on: Some((date, subject_id)), ..ALL };
        let about: Vec<_> =
            own.iter().filter(|it| it.subject_id.as_str() == "subject").cloned().collect();
        expect_eq!(tenant.sessions(&ALL).await, *own, "of tenant {mark}");
        let summaries: Vec<_> = own.iter().map(|session| Arc::new(session.summary())).collect();
        let all = SummaryQuery { limit: 9, ..SummaryQuery::default() };
        expect_eq!(tenant.session_summaries(&all).await, summaries, "of tenant {mark}");
        expect_eq!(tenant.sessions(&on).await, about, "by subject of tenant {mark}");
        let collecting = SessionQuery { state: Some(Collecting), ..ALL };
        expect_eq!(tenant.sessions(&collecting).await, *own, "by state of tenant {mark}");
        let before = SessionQuery { before: Some(SessionId(2)), ..ALL };
        expect_eq!(tenant.sessions(&before).await, own[own.len() - 1..], "of tenant {mark}");
        for session in own {
            let read = tenant.session(session.id).await.map(|it| it.record);
            expect_eq!(read.as_ref(), Some(session), "of tenant {mark}");
        }
    }
    expect_eq!(pair[0].session(SessionId(3)).await, None);
}

pub async fn published_sessions_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, _) in both(&pair) {
        for number in [1, 2] {
            marked(tenant, number).await;
        }
    }
    for ((tenant, _), id) in both(&pair).into_iter().zip([1, 2]) {
        let now = tenant.now().await;
        tenant
            .amend(SessionId(id), |it| (it.state, it.published_at) = (Published, Some(now)))
            .await;
    }
    for ((tenant, mark), id) in both(&pair).into_iter().zip([1, 2]) {
        let own = tenant.session(SessionId(id)).await.unwrap().record;
        expect_eq!(tenant.published(9).await, [Arc::new(own.summary())], "of tenant {mark}");
    }
}

/// Writes, versions and takes of the other tenant have no effect.
pub async fn session_saves_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let [one, other] = &pair;
    for (tenant, _) in both(&pair) {
        marked(tenant, 1).await;
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

pub async fn take_counts_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, _) in both(&pair) {
        marked(tenant, 1).await;
        tenant.author("ada").await;
    }
    let [one, other] = &pair;
    let ada = Author::named("ada");
    for (tenant, nonces) in [(one, &["1", "2"][..]), (other, &["1"][..])] {
        let session = tenant.session(SessionId(1)).await.unwrap().record;
        for nonce in nonces {
            tenant.filed(&ada, &session, nonce).await;
        }
    }
    for ((tenant, mark), filed) in both(&pair).into_iter().zip([2, 1]) {
        let aggregation = tenant.amended(SessionId(1), |session| session.state = Aggregated).await;
        for wrong in [3 - filed, 3, 0] {
            let aggregation = SessionChange { takes: Some(wrong), ..aggregation.clone() };
            expect_eq!(
                tenant.save_session(&aggregation).await,
                Stale,
                "over {wrong} takes, {mark}"
            );
        }
        let aggregation = SessionChange { takes: Some(filed), ..aggregation };
        expect_eq!(tenant.save_session(&aggregation).await, Saved, "over {filed} takes, {mark}");
    }
}

pub async fn aggregations_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, _) in both(&pair) {
        marked(tenant, 1).await;
    }
    let [one, other] = &pair;
    let untouched = other.session(SessionId(1)).await;
    let aggregation = Aggregation { session: SessionId(1), by: Attribution::SCHEDULE };
    expect_eq!(one.aggregate(&aggregation).await.map(|it| it.state), Ok(Aggregated));
    expect_eq!(other.session(SessionId(1)).await, untouched);
}

/// A session on `subject`, with a quorum that is distinct for each tenant.
async fn marked(tenant: &TestTenant, number: u32) -> Arc<Session> {
    let mark = if tenant.id.as_str().ends_with("-x") { 20 } else { 10 };
    tenant.convene(&SessionDraft { quorum: Some(mark + number), ..session_draft("subject") }).await
}
