//! Implements [`Documents`].

use async_trait::async_trait;
use rusqlite::Row;
use swarm_core::store::{
    Collection, Document, DocumentDraft, DocumentGuard, Documents, Put, Result,
};

use crate::failure::Outcome;
use crate::world::{Values, World, signed, timestamp, unsigned};
use crate::{TenantStore, log_rows, members, session_rows};

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        let name = key.to_owned();
        self.read("document", move |world| named(world, collection.as_str(), &name)).await
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        const ALL: &str = "SELECT id, name, record, created_at FROM documents
            WHERE tenant = ?1 AND collection = ?2 ORDER BY id";
        const IN_FAMILY: &str = "SELECT id, name, record, created_at FROM documents
            WHERE tenant = ?1 AND collection = ?2 AND family = ?3 ORDER BY id";
        let family = group.map(str::to_owned);
        self.read("documents", move |world| {
            let collection = collection.as_str();
            match family {
                Some(family) => world.all(IN_FAMILY, &[&collection, &family], document),
                None => world.all(ALL, &[&collection], document),
            }
        })
        .await
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        let draft = draft.clone();
        self.write("put document", move |world| put(world, collection.as_str(), &draft)).await
    }
}

pub(crate) fn named(world: &World<'_>, collection: &str, name: &str) -> Outcome<Option<Document>> {
    const NAMED: &str = "SELECT id, name, record, created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND name = ?3";
    world.one(NAMED, &[&collection, &name], document)
}

/// The document of a row: `id, name, record, created_at`.
pub(crate) fn document(row: &Row<'_>) -> Outcome<Document> {
    Ok(Document {
        id: unsigned(row.get(0)?)?,
        key: row.get(1)?,
        json: row.get(2)?,
        created_at: timestamp(row.get(3)?)?,
    })
}

pub(crate) fn put(world: &World<'_>, collection: &str, draft: &DocumentDraft) -> Outcome<Put> {
    const LAST: &str = "SELECT max(id) FROM documents WHERE tenant = ?1 AND collection = ?2";
    let holds = match &draft.guard {
        Some(DocumentGuard::Member(id, version)) => members::is_at(world, id, *version)?,
        Some(DocumentGuard::Session(id, version)) => session_rows::is_at(world, *id, *version)?,
        None => true,
    };
    if !holds {
        return Ok(Put::Stale);
    }
    let id = world.next_id(LAST, &[&collection])?;
    let key = draft.key.clone().unwrap_or_else(|| id.to_string());
    let put = match named(world, collection, &key)? {
        Some(_) if !draft.replace => Ok(Put::Exists),
        Some(stored) => replace(world, collection, Document { json: draft.json.clone(), ..stored }),
        None if is_full(world, collection, draft)? => Ok(Put::Full),
        None => {
            let (json, created_at) = (draft.json.clone(), world.time_of_commit()?);
            create(world, collection, &draft.group, Document { id, key, json, created_at })
        }
    }?;
    let (id, at) = match &put {
        Put::Created(made) => (made.id, made.created_at),
        Put::Replaced(made) => (made.id, world.time_of_commit()?),
        Put::Exists | Put::Full | Put::Stale => return Ok(put),
    };
    if let Some(act) = &draft.act {
        log_rows::append_minted(world, act, at, id)?;
    }
    Ok(put)
}

/// Whether the group has reached its quota. Ids are in order of time, so one row decides.
fn is_full(world: &World<'_>, collection: &str, draft: &DocumentDraft) -> Outcome<bool> {
    const NTH_NEWEST: &str = "SELECT created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND family = ?3 ORDER BY id DESC LIMIT 1 OFFSET ?4";
    let Some(quota) = &draft.quota else { return Ok(false) };
    let Some(before) = quota.most.checked_sub(1) else { return Ok(true) };
    let values: Values<'_> = &[&collection, &draft.group, &before];
    let made = world.one(NTH_NEWEST, values, |row| timestamp(row.get(0)?))?;
    Ok(made.is_some_and(|made| quota.counts(made)))
}

fn replace(world: &World<'_>, collection: &str, document: Document) -> Outcome<Put> {
    const REPLACE: &str = "UPDATE documents SET record = ?4
        WHERE tenant = ?1 AND collection = ?2 AND id = ?3";
    world.run(REPLACE, &[&collection, &signed(document.id), &document.json])?;
    Ok(Put::Replaced(document))
}

fn create(world: &World<'_>, collection: &str, family: &str, document: Document) -> Outcome<Put> {
    insert(world, collection, family, &document)?;
    Ok(Put::Created(document))
}

/// Writes a new document.
pub(crate) fn insert(
    world: &World<'_>,
    collection: &str,
    family: &str,
    document: &Document,
) -> Outcome<()> {
    let Document { id, key, json, created_at } = document;
    world.run(
        "INSERT INTO documents (tenant, collection, id, name, family, record, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[&collection, &signed(*id), key, &family, json, &created_at.millis()],
    )?;
    Ok(())
}
