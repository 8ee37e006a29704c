//! Faults of documents and of messages.

use std::sync::{Arc, Mutex};

use swarm_core::domain::{Mail, Message, MessageId, Timestamp};
use swarm_core::store::{
    Collection, CountedDocuments, Document, DocumentDraft, DocumentGuard, DocumentPage,
    DocumentQuery, DocumentQuota, MemberChange, MemberSaved, MessageQuery, Put, Result, Versioned,
    async_trait,
};
use swarm_testing::FIRST;

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(DocumentInvented: document(stores, collection: Collection, key: &str) -> Option<Document> {
    let (key_of, json) = (key.to_owned(), "{}".to_owned());
    let invented = Document { id: 1, key: key_of, json, created_at: Timestamp::EPOCH, held: None };
    Ok(stores.own.document(collection, key).await?.or(Some(invented)))
});

fault!(OneCollectionForAll: put_document(stores, _collection: Collection, draft: &DocumentDraft) -> Put {
    stores.own.put_document(Collection::Subjects, draft).await
});

fault!(OneKeyForTheUnnamed: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let key = draft.key.clone().or_else(|| Some("unnamed".to_owned()));
    stores.own.put_document(collection, &DocumentDraft { key, ..draft.clone() }).await
});

fault!(NothingIsReplaced: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    stores.own.put_document(collection, &DocumentDraft { replace: false, ..draft.clone() }).await
});

fault!(AllIsReplaced: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    stores.own.put_document(collection, &DocumentDraft { replace: true, ..draft.clone() }).await
});

fault!(HeldTextShown: document(stores, collection: Collection, key: &str) -> Option<Document> {
    stores.own.whole_document(collection, key).await
});

fault!(HeldTextForgotten: whole_document(stores, collection: Collection, key: &str) -> Option<Document> {
    stores.own.document(collection, key).await
});

fault!(HoldForgotten: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    stores.own.put_document(collection, &DocumentDraft { held_until: None, ..draft.clone() }).await
});

fault!(DocumentOfAnyMember: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let guard = draft.guard.clone().filter(|it| matches!(it, DocumentGuard::Session(..)));
    stores.own.put_document(collection, &DocumentDraft { guard, ..draft.clone() }).await
});

fault!(GroupUnasked: documents(stores, collection: Collection, _group: Option<&str>) -> Vec<Document> {
    stores.own.documents(collection, None).await
});

fault!(TextTidied: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let json = draft.json.trim().to_owned();
    stores.own.put_document(collection, &DocumentDraft { json, ..draft.clone() }).await
});

fault!(KeysInAnyCase: document(stores, collection: Collection, key: &str) -> Option<Document> {
    stores.own.document(collection, &key.to_lowercase()).await
});

fault!(GroupsCountedApart: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let mut quota = draft.quota;
    if let Some(count) = quota.as_mut().and_then(|quota| quota.count.as_mut()) {
        count.of = CountedDocuments::Group;
    }
    stores.own.put_document(collection, &DocumentDraft { quota, ..draft.clone() }).await
});

fault!(BytesUnchecked: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let quota = draft.quota.map(|quota| DocumentQuota { bytes: None, ..quota });
    stores.own.put_document(collection, &DocumentDraft { quota, ..draft.clone() }).await
});

fault!(PagesFromTheFirst: document_page(stores, collection: Collection, query: &DocumentQuery) -> DocumentPage {
    let page = stores.own.document_page(collection, &DocumentQuery { after: None, ..query.clone() }).await?;
    Ok(DocumentPage { more: page.more && query.after.is_none(), ..page })
});

fault!(PagesOfAnySize: document_page(stores, collection: Collection, query: &DocumentQuery) -> DocumentPage {
    stores.own.document_page(collection, &DocumentQuery { bytes: usize::MAX, ..query.clone() }).await
});

fault!(ReplacementNeedsRoom: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let there = stores.own.documents(collection, Some(&draft.group)).await?.len();
    match draft.quota.and_then(|quota| quota.count) {
        Some(quota) if there >= usize::try_from(quota.most).unwrap() => Ok(Put::Full),
        _ => stores.own.put_document(collection, draft).await,
    }
});

fault!(WrittenTwice: put_document(stores, collection: Collection, draft: &DocumentDraft) -> Put {
    let _ = stores.own.put_document(collection, draft).await?;
    stores.own.put_document(collection, draft).await
});

/// The mail of a change is queued even if the change is refused.
#[derive(Default)]
pub(crate) struct MailOfTheRefused(Mutex<Vec<Mail>>);

#[async_trait]
impl Fault for MailOfTheRefused {
    async fn save_member(
        &self,
        stores: &TenantStores,
        change: &MemberChange,
    ) -> Result<MemberSaved> {
        let saved = stores.own.save_member(change).await?;
        if saved != MemberSaved::Saved {
            self.0.lock().unwrap().extend(change.mail.clone());
        }
        Ok(saved)
    }

    async fn messages(
        &self,
        stores: &TenantStores,
        query: &MessageQuery,
    ) -> Result<Vec<Versioned<Message>>> {
        let mut messages = stores.own.messages(query).await?;
        messages.extend(self.0.lock().unwrap().iter().map(|mail| {
            let message = mail.queued(MessageId(99), Timestamp::EPOCH);
            Versioned { version: FIRST, record: Arc::new(message) }
        }));
        Ok(messages)
    }
}

fault!(MailErrorForgotten:
    messages(stores, query: &MessageQuery) -> Vec<Versioned<Message>> {
    let found = stores.own.messages(query).await?.into_iter();
    let forgotten = found.map(|Versioned { version, record }| {
        let message = Message { last_error: None, ..Message::clone(&record) };
        Versioned { version, record: Arc::new(message) }
    });
    Ok(forgotten.collect())
});

fault!(MailStateUnasked:
    messages(stores, query: &MessageQuery) -> Vec<Versioned<Message>> {
    stores.own.messages(&MessageQuery { state: None, ..*query }).await
});

fault!(MailFromTheFirst:
    messages(stores, query: &MessageQuery) -> Vec<Versioned<Message>> {
    stores.own.messages(&MessageQuery { after: None, ..*query }).await
});
