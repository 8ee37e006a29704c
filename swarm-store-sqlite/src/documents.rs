//! Implements [`Documents`].

use async_trait::async_trait;
use rusqlite::Row;
use swarm_core::store::{
    Collection, CountedDocuments, Document, DocumentCount, DocumentDraft, DocumentGuard,
    DocumentPage, DocumentQuery, Documents, Put, Result,
};

use crate::failure::Outcome;
use crate::tenant_rows::{TenantRows, signed, timestamp, unsigned};
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

    async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        let query = query.clone();
        self.read("document page", move |world| page(world, collection.as_str(), &query)).await
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        let draft = draft.clone();
        self.write("put document", move |world| put(world, collection, &draft)).await
    }
}

pub(crate) fn named(
    world: &TenantRows<'_>,
    collection: &str,
    name: &str,
) -> Outcome<Option<Document>> {
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

/// Reads row by row, until the page is full.
fn page(world: &TenantRows<'_>, collection: &str, query: &DocumentQuery) -> Outcome<DocumentPage> {
    const FIRST: &str = "SELECT id, name, record, created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 ORDER BY name";
    const AFTER: &str = "SELECT id, name, record, created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND name > ?3 ORDER BY name";
    const KEYS: &str = "SELECT id, name, '', created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 ORDER BY name";
    const KEYS_AFTER: &str = "SELECT id, name, '', created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND name > ?3 ORDER BY name";
    let (mut documents, mut size, mut more) = (Vec::new(), 0, false);
    let take = |row: &Row<'_>| {
        let next = document(row)?;
        size += next.json.len();
        more = documents.len() == query.limit || (size > query.bytes && !documents.is_empty());
        if !more {
            documents.push(next);
        }
        Ok(!more)
    };
    match (&query.after, query.without_texts) {
        (None, false) => world.each_while(FIRST, &[&collection], take),
        (None, true) => world.each_while(KEYS, &[&collection], take),
        (Some(after), false) => world.each_while(AFTER, &[&collection, after], take),
        (Some(after), true) => world.each_while(KEYS_AFTER, &[&collection, after], take),
    }?;
    Ok(DocumentPage { documents, more })
}

pub(crate) fn put(
    world: &TenantRows<'_>,
    collection: Collection,
    draft: &DocumentDraft,
) -> Outcome<Put> {
    const LAST: &str = "SELECT max(id) FROM documents WHERE tenant = ?1 AND collection = ?2";
    let name = collection.as_str();
    let holds = match &draft.guard {
        Some(DocumentGuard::Member(id, version)) => members::is_at(world, id, *version)?,
        Some(DocumentGuard::Session(id, version)) => session_rows::is_at(world, *id, *version)?,
        None => true,
    };
    if !holds {
        return Ok(Put::Stale);
    }
    let id = world.next_id(LAST, &[&name])?;
    let key = draft.key.clone().unwrap_or_else(|| id.to_string());
    let stored = named(world, name, &key)?;
    if stored.is_some() && !draft.replace {
        return Ok(Put::Exists);
    }
    if stored.is_none() && is_full(world, name, id, draft)? {
        return Ok(Put::Full);
    }
    if collection.has_limited_size() {
        let replaced = stored.as_ref().map_or(0, |stored| stored.json.len());
        let most = draft.quota.and_then(|quota| quota.bytes);
        if !resized(world, replaced, draft.json.len(), most)? {
            return Ok(Put::NoRoom);
        }
    }
    let (json, at) = (draft.json.clone(), world.time_of_commit()?);
    let put = match stored {
        Some(stored) => replace(world, name, Document { json, ..stored }),
        None => create(world, name, &draft.group, Document { id, key, json, created_at: at }),
    }?;
    if let (Some(act), Put::Created(made) | Put::Replaced(made)) = (&draft.act, &put) {
        log_rows::append_minted(world, act, at, made.id)?;
    }
    Ok(put)
}

/// Whether the group or the collection has reached its quota. Ids count from 1 in order of time, so one
/// row decides.
fn is_full(
    world: &TenantRows<'_>,
    collection: &str,
    id: u64,
    draft: &DocumentDraft,
) -> Outcome<bool> {
    const AT: &str = "SELECT created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND id = ?3";
    const NTH_NEWEST: &str = "SELECT created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND family = ?3 ORDER BY id DESC LIMIT 1 OFFSET ?4";
    let Some(quota) = draft.quota.and_then(|quota| quota.count) else { return Ok(false) };
    let DocumentCount { of, most, .. } = quota;
    let Some(before) = most.checked_sub(1) else { return Ok(true) };
    let time = |row: &Row<'_>| timestamp(row.get(0)?);
    let made = match of {
        CountedDocuments::Group => {
            world.one(NTH_NEWEST, &[&collection, &draft.group, &before], time)
        }
        CountedDocuments::Collection => {
            world.one(AT, &[&collection, &signed(id.saturating_sub(most.into()))], time)
        }
    }?;
    Ok(made.is_some_and(|made| quota.counts(made)))
}

/// Counts the size of a text in place of the one that it replaces; false, with nothing written, if all texts would
/// exceed `most` then.
fn resized(
    world: &TenantRows<'_>,
    replaced: usize,
    length: usize,
    most: Option<u64>,
) -> Outcome<bool> {
    const BYTES: &str = "SELECT bytes FROM document_bytes WHERE tenant = ?1";
    const SET: &str = "INSERT INTO document_bytes (tenant, bytes) VALUES (?1, ?2)
        ON CONFLICT (tenant) DO UPDATE SET bytes = excluded.bytes";
    let bytes = |length| u64::try_from(length).unwrap_or(u64::MAX);
    let others = world.number(BYTES, &[])?.unwrap_or(0).saturating_sub(bytes(replaced));
    let after = others.saturating_add(bytes(length));
    if length > replaced && most.is_some_and(|most| after > most) {
        return Ok(false);
    }
    world.run(SET, &[&signed(after)])?;
    Ok(true)
}

fn replace(world: &TenantRows<'_>, collection: &str, document: Document) -> Outcome<Put> {
    const REPLACE: &str = "UPDATE documents SET record = ?4
        WHERE tenant = ?1 AND collection = ?2 AND id = ?3";
    world.run(REPLACE, &[&collection, &signed(document.id), &document.json])?;
    Ok(Put::Replaced(document))
}

fn create(
    world: &TenantRows<'_>,
    collection: &str,
    family: &str,
    document: Document,
) -> Outcome<Put> {
    insert(world, collection, family, &document)?;
    Ok(Put::Created(document))
}

/// Writes a restored document.
pub(crate) fn restore(
    world: &TenantRows<'_>,
    collection: Collection,
    family: &str,
    document: &Document,
) -> Outcome<()> {
    if collection.has_limited_size() {
        resized(world, 0, document.json.len(), None)?;
    }
    insert(world, collection.as_str(), family, document)
}

fn insert(
    world: &TenantRows<'_>,
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
