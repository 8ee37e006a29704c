//! Implements [`Documents`].

use async_trait::async_trait;
use swarm_core::store::{
    Act, Collection, CountedDocuments, Document, DocumentDraft, DocumentGuard, DocumentPage,
    DocumentQuery, DocumentQuota, Documents, Put, Result,
};

use crate::codec::{self, Context};
use crate::keys::{self, BY_KEY, collection_name};
use crate::proposal::Proposal;
use crate::rows::optional;
use crate::script_call::ScriptCall;
use crate::scripts;
use crate::tenant::TenantStore;

/// The maximum number of documents in a page.
const MAX_PAGE: usize = 1 << 20;

#[async_trait]
impl Documents for TenantStore {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>> {
        let [rows, keys, _] = self.keys.collection(collection_name(collection)?);
        let mut script = ScriptCall::of(&scripts::THROUGH, [keys, rows]);
        script.arg(key);
        let row: Option<String> = self.read("document", &script).await?;
        codec::decode_optional(row.as_ref(), codec::decode_document).context("document")
    }

    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>,
    ) -> Result<Vec<Document>> {
        let [rows, _, index] = self.keys.collection(collection_name(collection)?);
        let rows = match group {
            Some(group) => {
                self.listed("documents", [rows, index], &in_group(group), None, None).await?
            }
            None => {
                let all = redis::cmd("HVALS").arg(rows).to_owned();
                self.query("documents", &all).await?
            }
        };
        let mut documents =
            codec::decode_each(&rows, codec::decode_document).context("documents")?;
        documents.sort_unstable_by_key(|document| document.id);
        Ok(documents)
    }

    async fn document_page(
        &self,
        collection: Collection,
        query: &DocumentQuery,
    ) -> Result<DocumentPage> {
        const OP: &str = "document page";
        let keys = self.keys.collection(collection_name(collection)?);
        let mut script = ScriptCall::of(&scripts::DOCUMENT_PAGE, keys);
        match &query.after {
            Some(after) => script.arg(format!("({BY_KEY}{after}")),
            None => script.arg(format!("[{BY_KEY}")),
        };
        script.arg(query.limit.min(MAX_PAGE)).arg(query.bytes).arg(flag(query.without_texts));
        let rows: Vec<String> = self.read_bulk(OP, &script).await?;
        codec::decode_page(&rows).context(OP)
    }

    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put> {
        const OP: &str = "put document";
        let name = collection_name(collection)?;
        let [rows, keys, index] = self.keys.collection(name);
        let guards = match &draft.guard {
            Some(DocumentGuard::Session(..) | DocumentGuard::ReplacedSession(..)) => {
                self.keys.sessions()
            }
            Some(DocumentGuard::Member(..)) | None => self.keys.members(),
        };
        let (counters, acts) = (self.keys.counters(), self.keys.acts());
        let keys = [self.attempt(OP)?, rows, keys, index, counters, guards, acts];
        let mut proposal = Proposal::of(draft.act.as_ref());
        loop {
            let mut script = self.call(&scripts::PUT_DOCUMENT, &keys);
            write_draft(&mut script, collection, name, draft);
            proposal.write(&mut script);
            let outcome = self.commit(OP, script).await?;
            match proposal.next(OP, draft.act.as_ref(), &outcome)? {
                Some(wanted) => proposal = wanted,
                None => return codec::decode_put(&outcome, &draft.json).context(OP),
            }
        }
    }
}

/// Writes a draft as the arguments of its script, but for its entry in the log.
fn write_draft(
    script: &mut ScriptCall<'_>,
    collection: Collection,
    name: &str,
    draft: &DocumentDraft,
) {
    script.arg(name).arg(flag(draft.key.is_some())).arg(draft.key.as_deref().unwrap_or(""));
    script.arg(in_group(&draft.group)).arg(&draft.json).arg(flag(draft.replace));
    match &draft.guard {
        Some(DocumentGuard::Member(id, version)) => script.arg(id.as_str()).arg(version.0),
        Some(DocumentGuard::Session(id, version)) => script.arg(id.0).arg(version.0),
        Some(DocumentGuard::ReplacedSession(session, version)) => {
            script.arg(session.id.0).arg(version.0)
        }
        None => script.arg("").arg(""),
    };
    script.arg(optional(draft.act.as_ref().and_then(Act::session)));
    let DocumentQuota { count, bytes } = draft.quota.unwrap_or_default();
    script.arg(optional(count.map(|count| count.most)));
    script.arg(match count.map(|count| count.of) {
        Some(CountedDocuments::Collection) => "collection",
        Some(CountedDocuments::Group) | None => "group",
    });
    script.arg(optional(count.map(|count| count.since.millis())));
    script.arg(optional(count.map(|count| count.until.millis())));
    script.arg(flag(collection.has_limited_size())).arg(optional(bytes));
}

fn flag(set: bool) -> &'static str {
    if set { "1" } else { "" }
}

/// The listing of a group.
pub(crate) fn in_group(group: &str) -> String {
    keys::listing(&["group", group])
}
