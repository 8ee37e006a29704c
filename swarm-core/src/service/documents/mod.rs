//! Subjects, their snapshots, regimes and research signals. Memos and briefs have modules of their own.

mod briefs;
mod memos;
mod readable;

pub use memos::MemoPage;
pub(super) use memos::StoredMemo;
pub(super) use readable::check_readable;

use super::{Commit, Error, Tenant};
use crate::domain::json::{self, Object};
use crate::domain::{
    Actor, Day, Invalid, Regime, SessionId, Signal, Subject, SubjectId, SubjectSnapshot,
    SubjectSnapshotDraft, SubjectSnapshotId, Timestamp,
};
use crate::rules::{
    self, Act, CountedDocuments, DocumentQuota, Quota, QuotaReached, Refusal, Resource,
};
use crate::service::retries::until_committed;
use crate::service::stored_document::{read, unreadable};
use crate::store::{
    self, Collection, Document, DocumentDraft, DocumentPage, DocumentQuery, Put, Records,
    StoreError,
};

/// Number of subjects read at a time to find those that a filter keeps.
const SCANNED_AT_ONCE: usize = 100;

/// Maximum number of such reads for one page.
const MAX_SCANS: usize = 20;

/// Maximum size of the records in a page of subjects, in bytes.
const PAGE_BYTES: usize = 4 << 20;

/// Whether a write created or replaced a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The document is new.
    Created,
    /// The document replaced an existing one.
    Replaced,
}

/// A page of subjects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubjectPage {
    /// Subjects by id.
    pub subjects: Vec<Subject>,
    /// The cursor of the next page; `None` on the last page.
    pub next_after: Option<SubjectId>,
}

impl Tenant {
    /// Creates or replaces a subject.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub async fn put_subject(&self, subject: &Subject, by: &Actor) -> Result<WriteOutcome, Error> {
        let act = Some(rules::subject_put(subject, by));
        let (key, group) = (Some(subject.id.as_str().to_owned()), String::new());
        let (json, replace, guard, quota) = (json::write(subject), true, None, None);
        let draft =
            DocumentDraft { held_until: None, key, group, json, replace, guard, quota, act };
        let most = self.quotas.subjects;
        let quota = |_| (DocumentQuota::of_collection(most), Some(Quota::Subjects));
        written(&self.put_within(Collection::Subjects, draft, quota).await?)
    }

    /// Returns a subject.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn subject(&self, id: &SubjectId) -> Result<Subject, Error> {
        let document = self.store.document(Collection::Subjects, id.as_str()).await?;
        let document = document.ok_or(Refusal::NotFound(Resource::Subject))?;
        Ok(read(&document, Subject::read)?)
    }

    /// Returns up to `limit` subjects with ids higher than `after`, by id. A page has fewer subjects
    /// if they exceed about 4 MiB, but at least one, if there is one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn subjects(
        &self,
        after: Option<&SubjectId>,
        limit: usize,
    ) -> Result<SubjectPage, Error> {
        let page = self.subject_documents(after, limit, false).await?;
        let read = |document: &Document| read(document, Subject::read);
        let subjects = page.documents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let next_after = subjects.last().filter(|_| page.more).map(|last| last.id.clone());
        Ok(SubjectPage { subjects, next_after })
    }

    /// Returns up to `limit` of the subjects with ids higher than `after` that `keep` keeps, by id. A page has fewer if
    /// they are not among the next 2,000 subjects; [`SubjectPage::next_after`] goes on from there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn subjects_where(
        &self,
        after: Option<&SubjectId>,
        limit: usize,
        keep: impl Fn(&Subject) -> bool + Send,
    ) -> Result<SubjectPage, Error> {
        let (mut subjects, mut next): (Vec<Subject>, _) = (Vec::new(), after.cloned());
        for _ in 0..MAX_SCANS {
            let page = self.subjects(next.as_ref(), SCANNED_AT_ONCE).await?;
            for subject in page.subjects.into_iter().filter(&keep) {
                if subjects.len() == limit {
                    let next_after = subjects.last().map(|last| last.id.clone());
                    return Ok(SubjectPage { subjects, next_after });
                }
                subjects.push(subject);
            }
            next = page.next_after;
            if next.is_none() {
                break;
            }
        }
        Ok(SubjectPage { subjects, next_after: next })
    }

    /// Returns the ids of up to `limit` subjects with ids higher than `after`, by id, and whether
    /// there are more.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn subject_ids(
        &self,
        after: Option<&SubjectId>,
        limit: usize,
    ) -> Result<(Vec<SubjectId>, bool), Error> {
        let page = self.subject_documents(after, limit, true).await?;
        let id = |document: Document| {
            let key = document.key.clone();
            SubjectId::parse(key).map_err(|invalid| unreadable(&document, invalid))
        };
        Ok((page.documents.into_iter().map(id).collect::<Result<_, _>>()?, page.more))
    }

    async fn subject_documents(
        &self,
        after: Option<&SubjectId>,
        limit: usize,
        without_texts: bool,
    ) -> store::Result<DocumentPage> {
        let after = after.map(|after| after.as_str().to_owned());
        let query = DocumentQuery { after, limit, bytes: PAGE_BYTES, without_texts };
        self.store.document_page(Collection::Subjects, &query).await
    }

    /// Records a snapshot of a subject's holdings.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject; [`Refusal::QuotaReached`].
    pub async fn add_snapshot(
        &self,
        subject: &SubjectId,
        draft: SubjectSnapshotDraft,
        by: &Actor,
    ) -> Result<SubjectSnapshot, Error> {
        self.subject(subject).await?;
        let group = subject.as_str().to_owned();
        let (json, act) = (json::write(&draft), rules::snapshot_added(subject, &draft, by));
        let (key, guard, quota, act) = (None, None, None, Some(act));
        let added =
            DocumentDraft { key, group, json, guard, quota, act, ..DocumentDraft::default() };
        let quota = |_| (DocumentQuota::default(), None);
        match self.put_within(Collection::SubjectSnapshots, added, quota).await? {
            Put::Created(document) => Ok(snapshot(subject, draft, &document)),
            other => Err(StoreError::corrupt("add snapshot", format!("{other:?}")).into()),
        }
    }

    /// Returns the snapshots of a subject, by day, then by id.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject.
    pub async fn snapshots(&self, subject: &SubjectId) -> Result<Vec<SubjectSnapshot>, Error> {
        self.subject(subject).await?;
        let group = Some(subject.as_str());
        let documents = self.store.documents(Collection::SubjectSnapshots, group).await?;
        let read = |document: &Document| {
            read(document, SubjectSnapshotDraft::read)
                .map(|draft| snapshot(subject, draft, document))
        };
        let mut snapshots = documents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        snapshots.sort_by_key(|snapshot| (snapshot.draft.date, snapshot.id));
        Ok(snapshots)
    }

    /// Records the regime of a day, replacing an existing one.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_regime(&self, regime: &Regime, by: &Actor) -> Result<WriteOutcome, Error> {
        let key = regime.date.to_string();
        let act = rules::regime_put(regime, by);
        self.replace(Collection::Regimes, key, String::new(), json::write(regime), act).await
    }

    /// Returns all regimes, the newest day first.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn regimes(&self) -> Result<Vec<Regime>, Error> {
        let mut regimes = self.all(Collection::Regimes, None, Regime::read).await?;
        regimes.sort_by_key(|regime| std::cmp::Reverse(regime.date));
        Ok(regimes)
    }

    /// Returns the signals of a day, by key.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn signals_on(&self, day: Day) -> Result<Vec<Signal>, Error> {
        let group = day.to_string();
        let mut signals = self.all(Collection::Signals, Some(&group), Signal::read).await?;
        signals.sort_by(|one, other| one.signal_key.cmp(&other.signal_key));
        Ok(signals)
    }

    /// Records a research signal, replacing an existing one with the same key and day.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::QuotaReached`].
    pub async fn put_signal(&self, signal: &Signal, by: &Actor) -> Result<WriteOutcome, Error> {
        let group = signal.date.to_string();
        // A day always has ten characters, so the text is unique.
        let key = Some(format!("{group}{}", signal.signal_key));
        let (json, replace, guard, quota) = (json::write(signal), true, None, None);
        let act = Some(rules::signal_put(signal, by));
        let draft =
            DocumentDraft { held_until: None, key, group, json, replace, guard, quota, act };
        let most = self.quotas.signals_per_day;
        let quota = |now| {
            let today = DocumentQuota::today(CountedDocuments::Collection, most, now);
            (today, Some(Quota::SignalsPerDay))
        };
        written(&self.put_within(Collection::Signals, draft, quota).await?)
    }

    /// Writes a document of a collection whose size is limited. `quota` gives the quota of documents at
    /// this time, and its name.
    async fn put_within(
        &self,
        collection: Collection,
        draft: DocumentDraft,
        quota: impl Fn(Timestamp) -> (DocumentQuota, Option<Quota>) + Send + Sync,
    ) -> Result<Put, Error> {
        until_committed("put document", || async {
            let now = self.store.now().await?;
            let (quota, name) = quota(now);
            let quota = Some(quota.with_max_bytes(self.quotas.documents_bytes));
            let draft = DocumentDraft { quota, ..draft.clone() };
            let reached = match (self.put(collection, draft).await?, name) {
                (Put::NoRoom, _) => QuotaReached::until_changed(Quota::DocumentsBytes),
                (Put::Full, Some(Quota::Subjects)) => QuotaReached::until_changed(Quota::Subjects),
                // If another day has begun meanwhile, try again.
                (Put::Full, Some(_)) if self.store.now().await?.day() != now.day() => {
                    return Ok(None);
                }
                (Put::Full, Some(name)) => QuotaReached::today(name, now),
                (put, _) => return Ok(Some(put)),
            };
            Err(Refusal::QuotaReached(reached).into())
        })
        .await
    }

    pub(super) async fn replace(
        &self,
        collection: Collection,
        key: String,
        group: String,
        json: String,
        act: Act,
    ) -> Result<WriteOutcome, Error> {
        let (key, act) = (Some(key), Some(act));
        let draft =
            DocumentDraft { key, group, json, replace: true, act, ..DocumentDraft::default() };
        written(&self.put(collection, draft).await?)
    }

    pub(super) async fn put(
        &self,
        collection: Collection,
        draft: DocumentDraft,
    ) -> store::Result<Put> {
        let put = |store: Records| async move {
            Ok((store.put_document(collection, &draft).await?, draft))
        };
        let (put, _) = self
            .observer
            .commit(&self.store, put, move |(put, draft)| match put {
                Put::Created(document) | Put::Replaced(document) => {
                    Some(Commit::document(collection, document, draft.act.as_ref()))
                }
                _ => None,
            })
            .await?;
        Ok(put)
    }

    pub(super) async fn all<T>(
        &self,
        collection: Collection,
        group: Option<&str>,
        from: impl Fn(&mut Object) -> Result<T, Invalid> + Send + Sync,
    ) -> Result<Vec<T>, Error> {
        let documents = self.store.documents(collection, group).await?;
        Ok(documents.iter().map(|document| read(document, &from)).collect::<Result<_, _>>()?)
    }
}

fn written(put: &Put) -> Result<WriteOutcome, Error> {
    match put {
        Put::Created(_) => Ok(WriteOutcome::Created),
        Put::Replaced(_) => Ok(WriteOutcome::Replaced),
        other => Err(StoreError::corrupt("put document", format!("{other:?}")).into()),
    }
}

pub(super) fn snapshot(
    subject: &SubjectId,
    draft: SubjectSnapshotDraft,
    document: &Document,
) -> SubjectSnapshot {
    SubjectSnapshot {
        id: SubjectSnapshotId(document.id),
        subject_id: subject.clone(),
        draft,
        created_at: document.created_at,
    }
}

/// Returns the session that was convened for an occasion. It may have been withdrawn since.
pub(super) fn convened_session(occasion: &Document) -> Result<SessionId, StoreError> {
    occasion.json.parse().map(SessionId).map_err(|error| unreadable(occasion, error))
}
