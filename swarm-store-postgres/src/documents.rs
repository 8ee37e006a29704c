//! Implements [`Documents`].

use async_trait::async_trait;
use swarm_core::store::{
    Collection, CountedDocuments, Document, DocumentCount, DocumentDraft, DocumentGuard,
    DocumentPage, DocumentQuery, Documents, Put, Result,
};
use tokio_postgres::Row;

use crate::commit::{Change, Commit};
use crate::db::{Arg, Db, limit, moment, moment_of, number, number_of, text, text_of};
use crate::failure::Outcome;
use crate::tenant::TenantStore;
use crate::{members, session_rows};

const NAMED: &str = "SELECT id, name, record, created_at FROM swarm.documents
    WHERE tenant = $1 AND collection = $2 AND name = $3";

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        let named = [text(collection.as_str()), text(key)];
        self.one("document", NAMED, &named, document).await
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        const ALL: &str = "SELECT id, name, record, created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $2 ORDER BY id";
        const IN_FAMILY: &str = "SELECT id, name, record, created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $2 AND family = $3 ORDER BY id";
        let of = || text(collection.as_str());
        match group {
            Some(family) => self.all("documents", IN_FAMILY, &[of(), text(family)], document).await,
            None => self.all("documents", ALL, &[of()], document).await,
        }
    }

    async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        // One more row than the page holds tells whether there are more.
        const PAGE: &str = "WITH listed AS MATERIALIZED (
                SELECT id, name, CASE WHEN $6 THEN '' ELSE record END AS text, created_at,
                    sum(CASE WHEN $6 THEN 0 ELSE octet_length(record) END) OVER by_name AS size,
                    row_number() OVER by_name AS place
                FROM swarm.documents
                WHERE tenant = $1 AND collection = $2 AND ($7 OR name > $3)
                WINDOW by_name AS (ORDER BY name) ORDER BY name LIMIT $4)
            SELECT id, name, text, created_at, (SELECT max(place) FROM listed) FROM listed
            WHERE place = 1 OR (place < $4 AND size <= $5) ORDER BY name";
        let values = [
            text(collection.as_str()),
            text(query.after.as_deref().unwrap_or_default()),
            limit(query.limit.saturating_add(1)),
            limit(query.bytes),
            Arg::Truth(query.without_texts),
            Arg::Truth(query.after.is_none()),
        ];
        let read = |row: &Row| Ok((document(row)?, number_of(row, 4)?));
        let found = self.all("document page", PAGE, &values, read).await?;
        let listed = found.first().map_or(0, |(_, listed)| *listed);
        let documents: Vec<_> = found.into_iter().map(|(document, _)| document).collect();
        Ok(DocumentPage { more: listed > documents.len() as u64, documents })
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        self.commit("put document", &PutDocument { collection, draft }).await
    }
}

/// The document with this key.
pub(crate) async fn named(
    db: &Db<'_>,
    collection: Collection,
    key: &str,
) -> Outcome<Option<Document>> {
    db.one(NAMED, &[text(collection.as_str()), text(key)], document).await
}

fn document(row: &Row) -> Outcome<Document> {
    Ok(Document {
        id: number_of(row, 0)?,
        key: text_of(row, 1)?,
        json: text_of(row, 2)?,
        created_at: moment_of(row, 3)?,
    })
}

pub(crate) struct PutDocument<'a> {
    pub(crate) collection: Collection,
    pub(crate) draft: &'a DocumentDraft,
}

#[async_trait]
impl Change for PutDocument<'_> {
    type Made = Put;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Put> {
        let Self { draft, collection } = *self;
        let (db, now) = (commit.db(), commit.time()?);
        let holds = match &draft.guard {
            Some(DocumentGuard::Member(id, version)) => members::is_at(&db, id, *version).await?,
            Some(DocumentGuard::Session(id, version)) => {
                session_rows::is_at(&db, *id, *version).await?
            }
            None => true,
        };
        if !holds {
            return Ok(Put::Stale);
        }
        let id = commit.next_document_id(collection).await?;
        let key = draft.key.clone().unwrap_or_else(|| id.to_string());
        let stored = named(&db, collection, &key).await?;
        if stored.is_some() && !draft.replace {
            return Ok(Put::Exists);
        }
        if stored.is_none() && self.is_full(commit, id).await? {
            return Ok(Put::Full);
        }
        let replaced = stored.as_ref().map_or(0, |stored| stored.json.len());
        if collection.has_limited_size() && !self.resized(commit, replaced).await? {
            return Ok(Put::NoRoom);
        }
        let put = match stored {
            Some(stored) => Put::Replaced(self.replace(commit, stored).await?),
            None => {
                let made = Document { id, key, json: draft.json.clone(), created_at: now };
                Put::Created(self.create(commit, made).await?)
            }
        };
        if let (Some(act), Put::Created(made) | Put::Replaced(made)) = (&draft.act, &put) {
            commit.append(act, now, made.id).await?;
        }
        Ok(put)
    }
}

impl PutDocument<'_> {
    fn of(&self) -> Arg<'static> {
        text(self.collection.as_str())
    }

    /// Whether the group or the collection has reached its quota. Ids count from 1 in order of time, so one row
    /// decides.
    async fn is_full(&self, commit: &Commit<'_>, id: u64) -> Outcome<bool> {
        const AT: &str = "SELECT created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $2 AND id = $3";
        const NTH_NEWEST: &str = "SELECT created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $2 AND family = $3 ORDER BY id DESC LIMIT 1 OFFSET $4";
        let Some(quota) = self.draft.quota.and_then(|quota| quota.count) else { return Ok(false) };
        let DocumentCount { of, most, .. } = quota;
        let Some(before) = most.checked_sub(1) else { return Ok(true) };
        let made = |row: &Row| moment_of(row, 0);
        let made = match of {
            CountedDocuments::Group => {
                let values = [self.of(), text(&self.draft.group), number(before.into())];
                commit.db().one(NTH_NEWEST, &values, made).await?
            }
            CountedDocuments::Collection => {
                let nth = number(id.saturating_sub(most.into()));
                commit.db().one(AT, &[self.of(), nth], made).await?
            }
        };
        Ok(made.is_some_and(|made| quota.counts(made)))
    }

    /// Counts the size of the document in place of the one that it replaces; false, with nothing written, if the
    /// documents would be too large then.
    async fn resized(&self, commit: &mut Commit<'_>, replaced: usize) -> Outcome<bool> {
        const BYTES: &str = "SELECT document_bytes FROM swarm.tenants WHERE tenant = $1";
        const SET: &str = "UPDATE swarm.tenants SET document_bytes = $2 WHERE tenant = $1";
        let bytes = |length| u64::try_from(length).unwrap_or(u64::MAX);
        let length = self.draft.json.len();
        let before = commit.db().number(BYTES, &[]).await?.unwrap_or(0);
        let after = before.saturating_sub(bytes(replaced)).saturating_add(bytes(length));
        let most = self.draft.quota.and_then(|quota| quota.bytes);
        if length > replaced && most.is_some_and(|most| after > most) {
            return Ok(false);
        }
        commit.run(SET, &[number(after)]).await?;
        Ok(true)
    }

    async fn replace(&self, commit: &mut Commit<'_>, stored: Document) -> Outcome<Document> {
        const REPLACE: &str = "UPDATE swarm.documents SET record = $4
            WHERE tenant = $1 AND collection = $2 AND id = $3";
        let json = self.draft.json.clone();
        commit.run(REPLACE, &[self.of(), number(stored.id), text(&json)]).await?;
        Ok(Document { json, ..stored })
    }

    async fn create(&self, commit: &mut Commit<'_>, made: Document) -> Outcome<Document> {
        const CREATE: &str = "INSERT INTO swarm.documents
                (tenant, collection, id, name, family, record, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";
        commit.mint_document(self.collection, made.id).await?;
        let (id, at) = (number(made.id), moment(made.created_at));
        let (key, group, json) = (text(&made.key), text(&self.draft.group), text(&made.json));
        commit.run(CREATE, &[self.of(), id, key, group, json, at]).await?;
        Ok(made)
    }
}
