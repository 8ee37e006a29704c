//! Sessions that are convened once for an occasion.

use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{FIRST, TestTenant, odd_texts, race, session_draft};
use swarm_core::domain::{Attribution, Logged, SessionId};
use swarm_core::rules::convene;
use swarm_core::store::{Collection, Convocation, SessionQuery, Store, Versioned};

pub async fn session_is_convened_once_for_an_occasion(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let plain = tenant.convened("subject").await;
    let convened = tenant.convene_once("first", &convocation()).await.unwrap();
    let draft = session_draft("subject");
    expect_eq!(*convened, draft.convened(SessionId(2), convened.convened_at));
    let on_file = Versioned { version: FIRST, record: Arc::clone(&convened) };
    expect_eq!(tenant.session(convened.id).await, Some(on_file));
    let rows = tenant.acts_on(convened.id).await;
    let logged: Vec<_> = rows.into_iter().map(|row| row.logged).collect();
    expect_eq!(logged, [Logged::Entry(convocation().act.entry(2, convened.convened_at))]);
    let log = tenant.log_size().await;
    expect_eq!(tenant.convene_once("first", &convocation()).await, None);
    expect_eq!(tenant.log_size().await, log);
    let third = tenant.convene_once("second", &convocation()).await.unwrap();
    expect_eq!(third.id, SessionId(3));
    expect_eq!(tenant.sessions(&ALL).await, [third, convened, plain]);
}

pub async fn occasion_names_its_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    for (occasion, id) in odd_texts().iter().zip(1..) {
        expect_eq!(tenant.document(Collection::Occasions, occasion).await, None, "{occasion:?}");
        let convened = tenant.convene_once(occasion, &convocation()).await.unwrap();
        let claim = tenant.document(Collection::Occasions, occasion).await;
        let claim = claim.map(|claim| (claim.id, claim.key, claim.json));
        expect_eq!(claim, Some((id, occasion.clone(), convened.id.to_string())));
    }
    let claims = tenant.documents(Collection::Occasions, None).await;
    expect_eq!(tenant.documents(Collection::Occasions, Some("")).await, claims);
    expect_eq!(claims.len(), odd_texts().len());
}

pub async fn concurrent_convocations_for_an_occasion_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let convene = |racer: usize| {
        let tenant = tenant.clone();
        let occasion = if racer.is_multiple_of(2) { "even" } else { "odd" };
        async move { tenant.convene_once(occasion, &convocation()).await }
    };
    let outcomes = race((0..32).map(convene)).await;
    expect_eq!(outcomes.iter().flatten().count(), 2);
    expect_eq!(tenant.sessions(&ALL).await.len(), 2);
    expect_eq!(tenant.documents(Collection::Occasions, None).await.len(), 2);
}

const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 1_000, without_snapshots: false };

fn convocation() -> Convocation {
    convene(&session_draft("subject"), &Attribution::SCHEDULE)
}
