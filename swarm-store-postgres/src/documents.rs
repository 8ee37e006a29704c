//! Implements [`Documents`].

use async_trait::async_trait;
use serde_json::{Value, json};
use swarm_core::store::{
    Collection, CountedDocuments, Document, DocumentDraft, DocumentGuard, DocumentPage,
    DocumentQuery, DocumentQuota, Documents, Put, Result,
};
use tokio_postgres::Row;

use crate::commit::Change;
use crate::db::{Arg, any, limit, moment_of, number_of, signed, text, text_of, timestamp};
use crate::failure::{Failure, Outcome};
use crate::tenant::TenantStore;

/// The beginning of the statements that read [`document`]s of a collection.
const DOCUMENTS: &str = "SELECT id, name, record, created_at FROM swarm.documents
    WHERE tenant = $1 AND collection = $2";

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        let named = [text(collection.as_str()), text(key)];
        self.one("document", &format!("{DOCUMENTS} AND name = $3"), &named, document).await
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        let (in_family, family) = match group {
            Some(family) => ("AND family = $3", Some(text(family))),
            None => ("", None),
        };
        let values: Vec<_> = [text(collection.as_str())].into_iter().chain(family).collect();
        let sql = format!("{DOCUMENTS} {in_family} ORDER BY id");
        self.all("documents", &sql, &values, document).await
    }

    async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        const PAGE: &str = include_str!("queries/document_page.sql");
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
        const OP: &str = "put document";
        const PUT: &str = include_str!("commits/put_document.sql");
        let DocumentDraft { key, json, act, .. } = draft;
        let put = self.commit(Change::new(OP, PUT, put_args(collection, draft)).with(act)).await?;
        let document = |created_at| Document {
            id: put.id,
            key: key.clone().unwrap_or_else(|| put.id.to_string()),
            json: json.clone(),
            created_at,
        };
        match (&*put.outcome, &put.detail) {
            ("saved", None) => Ok(Put::Created(document(put.at))),
            ("saved", Some(created_at)) => {
                let created_at = created_at.parse().map_err(Failure::corrupt).and_then(timestamp);
                Ok(Put::Replaced(document(created_at.map_err(|failure| failure.of(OP))?)))
            }
            ("stale", _) => Ok(Put::Stale),
            ("exists", _) => Ok(Put::Exists),
            ("full", _) => Ok(Put::Full),
            ("no room", _) => Ok(Put::NoRoom),
            _ => Err(put.unknown(OP)),
        }
    }
}

/// The arguments of `put_document.sql`.
fn put_args(collection: Collection, draft: &DocumentDraft) -> Value {
    let (member, session, at) = match &draft.guard {
        Some(DocumentGuard::Member(id, at)) => (Some(any(id.as_str())), None, Some(at)),
        Some(DocumentGuard::Session(id, at)) => (None, Some(signed(id.0)), Some(at)),
        Some(DocumentGuard::ReplacedSession(session, at)) => {
            (None, Some(signed(session.id.0)), Some(at))
        }
        None => (None, None, None),
    };
    let DocumentQuota { count, bytes } = draft.quota.unwrap_or_default();
    json!({
        "collection": collection.as_str(),
        "key": draft.key.as_deref().map(any),
        "family": any(&draft.group),
        "record": any(&draft.json),
        "replace": draft.replace,
        "member": member,
        "session": session,
        "at": at.map(|version| signed(version.0)),
        "in_group": count.map(|count| count.of == CountedDocuments::Group),
        "most": count.map(|count| count.most),
        "since": count.map(|count| count.since.millis()),
        "until": count.map(|count| count.until.millis()),
        "is_limited": collection.has_limited_size(),
        "most_bytes": bytes.map(signed),
    })
}

/// The document of a row: `id, name, record, created_at`.
pub(crate) fn document(row: &Row) -> Outcome<Document> {
    Ok(Document {
        id: number_of(row, 0)?,
        key: text_of(row, 1)?,
        json: text_of(row, 2)?,
        created_at: moment_of(row, 3)?,
    })
}

/// The row of a document.
pub(crate) fn row(collection: Collection, group: &str, document: &Document) -> Value {
    json!({
        "collection": collection.as_str(),
        "id": signed(document.id),
        "name": any(&document.key),
        "family": any(group),
        "created_at": document.created_at.millis(),
        "record": any(&document.json),
    })
}
