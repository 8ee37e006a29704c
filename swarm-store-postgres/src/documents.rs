//! Implements [`Documents`].

use async_trait::async_trait;
use swarm_core::store::{
    Collection, Document, DocumentDraft, DocumentGuard, Documents, Put, Result,
};
use tokio_postgres::Row;

use crate::commit::{Change, Commit};
use crate::db::{Arg, Db, moment, moment_of, number, number_of, text, text_of};
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
        let put = match named(&db, collection, &key).await? {
            Some(_) if !draft.replace => return Ok(Put::Exists),
            Some(stored) => Put::Replaced(self.replace(commit, stored).await?),
            None if self.is_full(commit).await? => return Ok(Put::Full),
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

    /// Whether the group has reached its quota. Ids are in order of time, so one row decides.
    async fn is_full(&self, commit: &Commit<'_>) -> Outcome<bool> {
        const NTH_NEWEST: &str = "SELECT created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $2 AND family = $3 ORDER BY id DESC LIMIT 1 OFFSET $4";
        let Some(quota) = &self.draft.quota else { return Ok(false) };
        let Some(before) = quota.most.checked_sub(1) else { return Ok(true) };
        let values = [self.of(), text(&self.draft.group), number(before.into())];
        let made = commit.db().one(NTH_NEWEST, &values, |row| moment_of(row, 0)).await?;
        Ok(made.is_some_and(|made| quota.counts(made)))
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
