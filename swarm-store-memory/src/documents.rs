//! Documents.

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::store::{
    Collection, Document, DocumentDraft, DocumentGuard, DocumentQuota, Documents, Put, Result,
};

use crate::TenantStore;
use crate::world::{DocumentCollection, World, count, next_id};

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        Ok(self.read(|world| {
            let collection = world.documents.get(&collection)?;
            collection.documents.get(*collection.keys.get(key)?).cloned()
        }))
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        Ok(self.read(|world| {
            let Some(collection) = world.documents.get(&collection) else { return Vec::new() };
            let Some(group) = group else { return collection.documents.clone() };
            let places = collection.groups.get(group).into_iter().flatten();
            places.filter_map(|place| collection.documents.get(*place).cloned()).collect()
        }))
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        self.commit(|world, now| {
            if draft.guard.as_ref().is_some_and(|guard| !holds(world, guard)) {
                return Put::Stale;
            }
            let put = put(world.documents.entry(collection).or_default(), draft, now);
            if let (Some(act), Put::Created(made) | Put::Replaced(made)) = (&draft.act, &put) {
                world.log.minted(act, now, made.id);
            }
            put
        })
    }
}

fn holds(world: &World, guard: &DocumentGuard) -> bool {
    match guard {
        DocumentGuard::Member(id, version) => {
            world.members.get(id).is_some_and(|row| row.member.version == *version)
        }
        DocumentGuard::Session(id, version) => {
            world.sessions.get(id).is_some_and(|row| row.session.version == *version)
        }
    }
}

pub(crate) fn put(
    collection: &mut DocumentCollection,
    draft: &DocumentDraft,
    now: Timestamp,
) -> Put {
    let id = next_id(collection.documents.len());
    let key = draft.key.clone().unwrap_or_else(|| id.to_string());
    let stored = collection.keys.get(&key).and_then(|place| collection.documents.get_mut(*place));
    if let Some(stored) = stored {
        if !draft.replace {
            return Put::Exists;
        }
        stored.json.clone_from(&draft.json);
        return Put::Replaced(stored.clone());
    }
    if draft.quota.is_some_and(|quota| is_full(collection, &draft.group, quota)) {
        return Put::Full;
    }
    let place = collection.documents.len();
    let document = Document { id, key: key.clone(), json: draft.json.clone(), created_at: now };
    collection.documents.push(document.clone());
    collection.keys.insert(key, place);
    collection.groups.entry(draft.group.clone()).or_default().push(place);
    Put::Created(document)
}

fn is_full(collection: &DocumentCollection, group: &str, quota: DocumentQuota) -> bool {
    let Some(before) = count(quota.most).checked_sub(1) else { return true };
    let places = collection.groups.get(group).into_iter().flatten();
    let mut documents = places.rev().filter_map(|place| collection.documents.get(*place));
    documents.nth(before).is_some_and(|document| quota.counts(document.created_at))
}
