//! Quotas of documents.

use crate::TestTenant;
use crate::assertions::{ensure, expect_eq};
use crate::race;
use swarm_core::domain::Timestamp;
use swarm_core::store::Collection::{Briefs, Memos, Regimes, Signals, SubjectSnapshots, Subjects};
use swarm_core::store::CountedDocuments::{self, Collection, Group};
use swarm_core::store::{DocumentCount, DocumentDraft, DocumentQuota, Put, Store};

pub async fn document_quota_is_enforced(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let put = async |group: &str, most: u32, since: Timestamp| {
        tenant.put_document(Subjects, &draft(group, Some(quota(most, since)))).await
    };
    let began = tenant.now().await;
    expect_eq!(put("a", 0, began).await, Put::Full);
    for _ in 0..2 {
        created(&put("a", 2, began).await);
        created(&put("b", 9, began).await);
    }
    expect_eq!(put("a", 2, began).await, Put::Full);
    expect_eq!(tenant.documents(Subjects, Some("a")).await.len(), 2);
    created(&put("a", 3, began).await);
    created(&put("", 1, began).await);
    let elsewhere = draft("a", Some(quota(1, began)));
    created(&tenant.put_document(Briefs, &elsewhere).await);

    let last = tenant.now().await;
    tenant.pass(last).await;
    let tomorrow = tenant.now().await;
    expect_eq!(put("a", 3, began).await, Put::Full);
    created(&put("a", 1, tomorrow).await);
    expect_eq!(put("a", 1, tomorrow).await, Put::Full);
    let last = tenant.documents(Subjects, Some("a")).await.pop().unwrap();
    expect_eq!(put("a", 1, last.created_at).await, Put::Full, "one made at the very moment");
    created(&tenant.put_document(Subjects, &draft("c", None)).await);
    let only = tenant.documents(Subjects, Some("c")).await.pop().unwrap();
    let count = DocumentCount { until: only.created_at, ..count(Group, 1, began) };
    let before = DocumentQuota { count: Some(count), bytes: None };
    created(&tenant.put_document(Subjects, &draft("c", Some(before))).await);
    created(&tenant.put_document(Subjects, &draft("a", None)).await);
}

pub async fn document_replacement_ignores_the_quota(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let only = Some(quota(1, Timestamp::EPOCH));
    let draft = DocumentDraft { key: Some("key".to_owned()), replace: true, ..draft("a", only) };
    created(&tenant.put_document(Subjects, &draft).await);
    replaced(&tenant.put_document(Subjects, &draft).await);
}

pub async fn concurrent_documents_do_not_exceed_the_quota(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    let quota = Some(quota(7, Timestamp::EPOCH));
    let put = |_: usize| {
        let tenant = tenant.clone();
        async move { tenant.put_document(Subjects, &draft("a", quota)).await }
    };
    let outcomes = race((0..32).map(put)).await;
    let full = outcomes.iter().filter(|outcome| **outcome == Put::Full).count();
    expect_eq!((full, tenant.documents(Subjects, Some("a")).await.len()), (25, 7));
}

/// All groups of a collection count together, those of another do not.
pub async fn collection_quota_is_enforced(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let put = async |group: &str, most: u32, since: Timestamp| {
        let quota = DocumentQuota { count: Some(count(Collection, most, since)), bytes: None };
        tenant.put_document(Subjects, &draft(group, Some(quota))).await
    };
    let began = tenant.now().await;
    expect_eq!(put("a", 0, began).await, Put::Full);
    created(&tenant.put_document(Briefs, &draft("a", None)).await);
    for group in ["a", "b", "a"] {
        created(&put(group, 3, began).await);
    }
    expect_eq!(put("c", 3, began).await, Put::Full);
    expect_eq!(tenant.documents(Subjects, None).await.len(), 3);
    created(&put("c", 4, began).await);
    let last = tenant.now().await;
    tenant.pass(last).await;
    let tomorrow = tenant.now().await;
    created(&put("c", 1, tomorrow).await);
    expect_eq!(put("d", 1, tomorrow).await, Put::Full);
    let count = DocumentCount { until: began, ..count(Collection, 1, Timestamp::EPOCH) };
    let before = DocumentQuota { count: Some(count), bytes: None };
    created(&tenant.put_document(Subjects, &draft("d", Some(before))).await);
}

/// The texts of subjects, snapshots and signals count together; others do not.
pub async fn document_bytes_are_limited(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let put = async |collection, key: &str, length: usize, most: u64| {
        tenant.put_document(collection, &sized(key, length, most)).await
    };
    expect_eq!(put(Subjects, "a", 11, 10).await, Put::NoRoom);
    expect_eq!(tenant.document(Subjects, "a").await, None);
    created(&put(Subjects, "a", 4, 10).await);
    created(&put(SubjectSnapshots, "b", 3, 10).await);
    created(&put(Signals, "c", 3, 10).await);
    created(&put(Briefs, "d", 100, 10).await);
    created(&put(Memos, "e", 100, 10).await);
    created(&put(Regimes, "f", 100, 10).await);
    for collection in [Subjects, SubjectSnapshots, Signals] {
        expect_eq!(put(collection, "g", 2, 10).await, Put::NoRoom, "of {collection}");
    }
    // A replaced text frees its size, and a replacement that is not longer needs no room.
    expect_eq!(put(Subjects, "a", 5, 10).await, Put::NoRoom);
    replaced(&put(Subjects, "a", 4, 5).await);
    replaced(&put(Subjects, "a", 2, 5).await);
    expect_eq!(put(Signals, "c", 6, 10).await, Put::NoRoom);
    replaced(&put(Signals, "c", 5, 10).await);
    expect_eq!(put(Subjects, "h", 2, 10).await, Put::NoRoom);
    created(&put(Subjects, "h", 2, 12).await);
    // Documents without a quota are counted too.
    created(
        &tenant.put_document(Subjects, &DocumentDraft { quota: None, ..sized("i", 8, 0) }).await,
    );
    expect_eq!(put(Subjects, "j", 2, 20).await, Put::NoRoom);
    created(&put(Subjects, "j", 2, 22).await);
}

pub async fn concurrent_replacements_keep_the_sum_of_bytes(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    created(&tenant.put_document(Subjects, &sized("a", 2, 100)).await);
    let replace = |racer: usize| {
        let tenant = tenant.clone();
        async move { tenant.put_document(Subjects, &sized("a", 10 + racer, 100)).await }
    };
    race((0..8).map(replace)).await.iter().for_each(replaced);
    let length = tenant.document(Subjects, "a").await.map_or(0, |it| it.json.len() as u64);
    expect_eq!(tenant.put_document(Subjects, &sized("b", 10, length + 9)).await, Put::NoRoom);
    created(&tenant.put_document(Subjects, &sized("b", 10, length + 10)).await);
}

pub async fn concurrent_documents_do_not_exceed_the_bytes(tenants: Store) {
    let tenant = &TestTenant::fresh(tenants).await;
    let put = |racer: usize| {
        let tenant = tenant.clone();
        async move { tenant.put_document(Subjects, &sized(&racer.to_string(), 10, 75)).await }
    };
    let outcomes = race((0..32).map(put)).await;
    let refused = outcomes.iter().filter(|outcome| **outcome == Put::NoRoom).count();
    expect_eq!((refused, tenant.documents(Subjects, None).await.len()), (25, 7));
}

/// A quota from this time on.
fn quota(most: u32, since: Timestamp) -> DocumentQuota {
    DocumentQuota { count: Some(count(Group, most, since)), bytes: None }
}

fn count(of: CountedDocuments, most: u32, since: Timestamp) -> DocumentCount {
    DocumentCount { of, most, since, until: since.plus_millis(i64::MAX) }
}

fn draft(group: &str, quota: Option<DocumentQuota>) -> DocumentDraft {
    let (group, json) = (group.to_owned(), "{}".to_owned());
    DocumentDraft {
        held_until: None,
        key: None,
        group,
        json,
        replace: false,
        guard: None,
        quota,
        act: None,
    }
}

/// A document with this key and a text of this length, in a collection limited to `most` bytes.
fn sized(key: &str, length: usize, most: u64) -> DocumentDraft {
    let quota = Some(DocumentQuota { count: None, bytes: Some(most) });
    let (key, json) = (Some(key.to_owned()), "1".repeat(length));
    DocumentDraft { key, json, replace: true, ..draft("group", quota) }
}

#[track_caller]
fn created(outcome: &Put) {
    ensure!(matches!(outcome, Put::Created(_)), "a new document", outcome);
}

#[track_caller]
fn replaced(outcome: &Put) {
    ensure!(matches!(outcome, Put::Replaced(_)), "the document in place of the other", outcome);
}
