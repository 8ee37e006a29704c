//! Documents.

use async_trait::async_trait;
use swarm_core::store::{Collection, Document, Documents, Put, Result};

use crate::TenantStore;

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        Ok(self.read(|world| {
            let (key, json) = world.documents.get(&collection)?.get_key_value(key)?;
            Some(document(key, json))
        }))
    }

    async fn documents(&self, collection: Collection) -> Result<Vec<Document>> {
        Ok(self.read(|world| {
            let kept = world.documents.get(&collection);
            kept.into_iter().flatten().map(|(key, json)| document(key, json)).collect()
        }))
    }

    async fn put_document(&self, collection: Collection, document: &Document) -> Result<Put> {
        let Document { key, json } = document.clone();
        let before =
            self.write(|world| world.documents.entry(collection).or_default().insert(key, json));
        Ok(if before.is_some() { Put::Replaced } else { Put::Created })
    }
}

fn document(key: &str, json: &str) -> Document {
    Document { key: key.to_owned(), json: json.to_owned() }
}
