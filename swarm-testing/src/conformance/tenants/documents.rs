//! Isolation of documents with the same key, group and id in two tenants.

use std::sync::Arc;

use super::two_tenants::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{applicant, id};
use swarm_core::domain::Version;
use swarm_core::store::Collection::Subjects;
use swarm_core::store::{
    Document, DocumentDraft, DocumentGuard, DocumentQuery, DocumentQuota, Put, Tenants,
};

pub async fn documents_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    let mut own = [vec![], vec![]];
    for key in ["a", "b"] {
        for ((world, mark), own) in both(&worlds).into_iter().zip(&mut own) {
            own.push(written(world.put_document(Subjects, &draft(key, mark)).await));
        }
    }
    // Replace it only in the other tenant.
    own[1][0] = written(worlds[1].put_document(Subjects, &draft("a", "replaced")).await);
    for ((world, mark), own) in both(&worlds).into_iter().zip(&own) {
        expect_eq!(world.documents(Subjects, None).await, *own, "of tenant {mark}");
        expect_eq!(world.documents(Subjects, Some("group")).await, *own, "of tenant {mark}");
        for document in own {
            let read = world.document(Subjects, &document.key).await;
            expect_eq!(read.as_ref(), Some(document), "of tenant {mark}");
        }
    }
}

/// Keys, ids and versions of members of the other tenant have no effect.
pub async fn document_writes_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let [one, other] = two_tenants(tenants).await;
    for world in [&one, &other] {
        world.create(&applicant("ada")).await;
    }
    one.edit(&id("ada"), |_| {}).await;
    let once = |key, version| DocumentDraft {
        replace: false,
        guard: Some(DocumentGuard::Member(id("ada"), Version(version))),
        ..draft(key, "once")
    };
    expect_eq!(one.put_document(Subjects, &once("a", 1)).await, Put::Stale);
    expect_eq!(other.put_document(Subjects, &once("a", 2)).await, Put::Stale);
    for (world, version) in [(&one, 2), (&other, 1)] {
        let first = written(world.put_document(Subjects, &once("a", version)).await);
        expect_eq!((first.id, first.key.as_str()), (1, "a"));
        expect_eq!(world.put_document(Subjects, &once("a", version)).await, Put::Exists);
    }
}

pub async fn document_sizes_are_isolated_by_tenant(tenants: Arc<dyn Tenants>) {
    let worlds = two_tenants(tenants).await;
    let quota = Some(DocumentQuota::default().with_max_bytes(8));
    for (world, _) in both(&worlds) {
        let draft = DocumentDraft { quota, ..draft("a", "mark") };
        written(world.put_document(Subjects, &draft).await);
        expect_eq!(world.document_page(Subjects, &all()).await.documents.len(), 1);
        expect_eq!(world.documents(Subjects, None).await.len(), 1);
    }
}

fn all() -> DocumentQuery {
    DocumentQuery { after: None, limit: 9, bytes: usize::MAX, without_texts: false }
}

fn draft(key: &str, mark: &str) -> DocumentDraft {
    DocumentDraft {
        key: Some(key.to_owned()),
        group: "group".to_owned(),
        json: format!("{mark:?}"),
        replace: true,
        guard: None,
        quota: None,
        act: None,
    }
}

fn written(outcome: Put) -> Document {
    match outcome {
        Put::Created(document) | Put::Replaced(document) => document,
        other => panic!(
            "a document of this tenant only\n  expected: Created or Replaced\n  actual: {other:?}"
        ),
    }
}
