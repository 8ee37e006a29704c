//! Documents.

use std::ops::Bound;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::store::{
    Collection, CountedDocuments, Document, DocumentCount, DocumentDraft, DocumentGuard,
    DocumentPage, DocumentQuery, Documents, Put, Result,
};

use crate::TenantStore;
use crate::tenant_records::{DocumentCollection, TenantRecords, count, next_id};

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        Ok(self.read(|tenant| {
            let collection = tenant.documents.get(&collection)?;
            collection.documents.get(*collection.keys.get(key)?).cloned()
        }))
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        Ok(self.read(|tenant| {
            let Some(collection) = tenant.documents.get(&collection) else { return Vec::new() };
            let Some(group) = group else { return collection.documents.clone() };
            let places = collection.groups.get(group).into_iter().flatten();
            places.filter_map(|place| collection.documents.get(*place).cloned()).collect()
        }))
    }

    async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        Ok(self.read(|tenant| match tenant.documents.get(&collection) {
            Some(collection) => page(collection, query),
            None => DocumentPage { documents: Vec::new(), more: false },
        }))
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        self.commit(|tenant, now| {
            if draft.guard.as_ref().is_some_and(|guard| !holds(tenant, guard)) {
                return Put::Stale;
            }
            let put = put(tenant, collection, draft, now);
            if let (Some(act), Put::Created(made) | Put::Replaced(made)) = (&draft.act, &put) {
                tenant.log.minted(act, now, made.id);
            }
            put
        })
    }
}

fn holds(tenant: &TenantRecords, guard: &DocumentGuard) -> bool {
    match guard {
        DocumentGuard::Member(id, version) => {
            tenant.members.get(id).is_some_and(|row| row.member.version == *version)
        }
        DocumentGuard::Session(id, version) => {
            tenant.sessions.get(*id).is_some_and(|row| row.session.version == *version)
        }
    }
}

pub(crate) fn put(
    tenant: &mut TenantRecords,
    name: Collection,
    draft: &DocumentDraft,
    now: Timestamp,
) -> Put {
    let collection = tenant.documents.entry(name).or_default();
    let id = next_id(collection.documents.len());
    let key = draft.key.clone().unwrap_or_else(|| id.to_string());
    let stored = collection.keys.get(&key).and_then(|place| collection.documents.get(*place));
    if stored.is_some() && !draft.replace {
        return Put::Exists;
    }
    let quota = draft.quota.unwrap_or_default();
    if stored.is_none() && quota.count.is_some_and(|it| is_full(collection, &draft.group, it)) {
        return Put::Full;
    }
    if name.has_limited_size() {
        let (size, replaced) = (draft.json.len(), stored.map_or(0, |stored| stored.json.len()));
        let others = tenant.document_bytes.saturating_sub(bytes(replaced));
        let after = others.saturating_add(bytes(size));
        if size > replaced && quota.bytes.is_some_and(|most| after > most) {
            return Put::NoRoom;
        }
        tenant.document_bytes = after;
    }
    let place = collection.keys.get(&key).copied();
    if let Some(stored) = place.and_then(|place| collection.documents.get_mut(place)) {
        stored.json.clone_from(&draft.json);
        return Put::Replaced(stored.clone());
    }
    let place = collection.documents.len();
    let document = Document { id, key: key.clone(), json: draft.json.clone(), created_at: now };
    collection.documents.push(document.clone());
    collection.keys.insert(key, place);
    collection.groups.entry(draft.group.clone()).or_default().push(place);
    Put::Created(document)
}

fn is_full(collection: &DocumentCollection, group: &str, quota: DocumentCount) -> bool {
    let Some(before) = count(quota.most).checked_sub(1) else { return true };
    let nth_newest = match quota.of {
        CountedDocuments::Collection => collection.documents.iter().nth_back(before),
        CountedDocuments::Group => {
            let places = collection.groups.get(group).into_iter().flatten();
            places.rev().filter_map(|place| collection.documents.get(*place)).nth(before)
        }
    };
    nth_newest.is_some_and(|document| quota.counts(document.created_at))
}

fn page(collection: &DocumentCollection, query: &DocumentQuery) -> DocumentPage {
    let after = query.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
    let listed = collection.keys.range::<String, _>((after, Bound::Unbounded));
    let (mut documents, mut size) = (Vec::new(), 0);
    for document in listed.filter_map(|(_, place)| collection.documents.get(*place)) {
        let json = if query.without_texts { String::new() } else { document.json.clone() };
        size += json.len();
        if documents.len() == query.limit || (size > query.bytes && !documents.is_empty()) {
            return DocumentPage { documents, more: true };
        }
        documents.push(Document { json, ..document.clone() });
    }
    DocumentPage { documents, more: false }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
