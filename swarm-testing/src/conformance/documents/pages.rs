//! Pages of a collection.

use std::sync::Arc;

use super::{created, draft};
use crate::assertions::expect_eq;
use crate::{World, odd_texts};
use swarm_core::store::Collection::{Briefs, Subjects};
use swarm_core::store::{Document, DocumentDraft, DocumentPage, DocumentQuery, Tenants};

/// By the bytes of their keys, whatever their groups and their ids.
pub async fn document_pages_are_complete(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    let empty = DocumentPage { documents: Vec::new(), more: false };
    expect_eq!(world.document_page(Subjects, &from(None, 3)).await, empty);
    let mut keys: Vec<String> = odd_texts();
    keys.sort_unstable();
    let mut written = Vec::new();
    for (number, key) in keys.iter().rev().enumerate() {
        let group = (number % 3).to_string();
        let draft = DocumentDraft { group, ..draft(key, "{}") };
        written.push(created(world.put_document(Subjects, &draft).await));
    }
    created(world.put_document(Briefs, &draft("other", "{}")).await);
    written.reverse();
    for limit in [1, 2, 3, keys.len() - 1, keys.len(), 500] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = world.document_page(Subjects, &from(after, limit)).await;
            let is_whole = page.documents.len() == limit || !page.more;
            expect_eq!(is_whole, true, "with a limit of {limit}");
            found.extend(page.documents);
            after = found.last().map(|last: &Document| last.key.clone());
            if !page.more {
                break;
            }
        }
        expect_eq!(found, written, "with a limit of {limit}");
    }
    expect_eq!(world.document_page(Subjects, &from(keys.last().cloned(), 1)).await, empty);
}

/// The document with which the texts would exceed the size belongs to the next page, unless it is alone.
pub async fn document_pages_are_limited_in_size(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(tenants).await;
    for (key, length) in [("a", 10), ("b", 5), ("c", 5), ("d", 1), ("e", 30)] {
        created(world.put_document(Subjects, &draft(key, &"1".repeat(length))).await);
    }
    let pages = [("", "a"), ("a", "bc"), ("b", "cd"), ("d", "e")];
    for (after, keys) in pages {
        let after = Some(after.to_owned()).filter(|after| !after.is_empty());
        let query = DocumentQuery { bytes: 10, ..from(after, 9) };
        let page = world.document_page(Subjects, &query).await;
        let found: String = page.documents.iter().map(|it| it.key.as_str()).collect();
        expect_eq!((found.as_str(), page.more), (keys, keys != "e"));
    }
    let keys = DocumentQuery { bytes: 10, without_texts: true, ..from(None, 9) };
    let page = world.document_page(Subjects, &keys).await;
    expect_eq!(page.documents.iter().all(|it| it.json.is_empty()), true);
    expect_eq!((page.documents.len(), page.more), (5, false));
}

fn from(after: Option<String>, limit: usize) -> DocumentQuery {
    DocumentQuery { after, limit, bytes: usize::MAX, without_texts: false }
}
