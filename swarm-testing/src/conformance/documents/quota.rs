//! Quotas of documents in a group.

use std::sync::Arc;

use crate::World;
use crate::promise::{ensure, promised};
use crate::race;
use swarm_core::domain::Timestamp;
use swarm_core::store::Collection::{Briefs, Subjects};
use swarm_core::store::{DocumentDraft, DocumentQuota, Put, Tenants};

pub async fn document_quota_is_enforced(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let put = async |group: &str, most: u32, since: Timestamp| {
        world.put_document(Subjects, &draft(group, Some(quota(most, since)))).await
    };
    let began = world.now().await;
    promised!(put("a", 0, began).await, Put::Full);
    for _ in 0..2 {
        created(&put("a", 2, began).await);
        created(&put("b", 9, began).await);
    }
    promised!(put("a", 2, began).await, Put::Full);
    promised!(world.documents(Subjects, Some("a")).await.len(), 2);
    created(&put("a", 3, began).await);
    created(&put("", 1, began).await);
    let elsewhere = draft("a", Some(quota(1, began)));
    created(&world.put_document(Briefs, &elsewhere).await);

    let last = world.now().await;
    world.pass(last).await;
    let tomorrow = world.now().await;
    promised!(put("a", 3, began).await, Put::Full);
    created(&put("a", 1, tomorrow).await);
    promised!(put("a", 1, tomorrow).await, Put::Full);
    let last = world.documents(Subjects, Some("a")).await.pop().unwrap();
    promised!(put("a", 1, last.created_at).await, Put::Full, "one made at the very moment");
    let before = DocumentQuota { until: last.created_at, ..quota(1, began) };
    created(&world.put_document(Subjects, &draft("a", Some(before))).await);
    created(&world.put_document(Subjects, &draft("a", None)).await);
}

pub async fn document_replacement_ignores_the_quota(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let only = Some(quota(1, Timestamp::EPOCH));
    let draft = DocumentDraft { key: Some("key".to_owned()), replace: true, ..draft("a", only) };
    created(&world.put_document(Subjects, &draft).await);
    let replaced = world.put_document(Subjects, &draft).await;
    ensure!(matches!(replaced, Put::Replaced(_)), "the document in place of the other", replaced);
}

pub async fn concurrent_documents_do_not_exceed_the_quota(tenants: Arc<dyn Tenants>) {
    let world = &World::fresh(tenants).await;
    let quota = Some(quota(7, Timestamp::EPOCH));
    let put = |_: usize| {
        let world = world.clone();
        async move { world.put_document(Subjects, &draft("a", quota)).await }
    };
    let outcomes = race((0..32).map(put)).await;
    let full = outcomes.iter().filter(|outcome| **outcome == Put::Full).count();
    promised!((full, world.documents(Subjects, Some("a")).await.len()), (25, 7));
}

/// A quota from this time on.
fn quota(most: u32, since: Timestamp) -> DocumentQuota {
    DocumentQuota { most, since, until: since.plus_millis(i64::MAX) }
}

fn draft(group: &str, quota: Option<DocumentQuota>) -> DocumentDraft {
    let (group, json) = (group.to_owned(), "{}".to_owned());
    DocumentDraft { key: None, group, json, replace: false, guard: None, quota, act: None }
}

#[track_caller]
fn created(outcome: &Put) {
    ensure!(matches!(outcome, Put::Created(_)), "a new document", outcome);
}
