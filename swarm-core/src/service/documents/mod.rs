//! Subjects, their snapshots, and what briefs go by; memos and briefs below.

mod briefs;
mod memos;

use super::{Commit, Error, Tenant};
use crate::domain::json::{self, Json, Object};
use crate::domain::{
    Actor, Invalid, Regime, Signal, Subject, SubjectId, SubjectSnapshot, SubjectSnapshotDraft,
    SubjectSnapshotId,
};
use crate::rules::{self, Act, Refusal, Resource};
use crate::store::{self, Collection, Document, DocumentDraft, Put, StoreError};

/// Whether a write created or replaced a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The document is new.
    Created,
    /// The document replaced an existing one.
    Replaced,
}

impl Tenant {
    /// Creates or replaces a subject.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_subject(&self, subject: &Subject, by: &Actor) -> Result<Written, Error> {
        let key = subject.id.as_str().to_owned();
        let act = rules::subject_put(subject, by);
        self.replace(Collection::Subjects, key, String::new(), json::write(subject), act).await
    }

    /// A subject.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn subject(&self, id: &SubjectId) -> Result<Subject, Error> {
        let document = self.store.document(Collection::Subjects, id.as_str()).await?;
        let document = document.ok_or(Refusal::NotFound(Resource::Subject))?;
        Ok(read(&document, Subject::read)?)
    }

    /// All subjects, by id.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn subjects(&self) -> Result<Vec<Subject>, Error> {
        let mut subjects = self.all(Collection::Subjects, None, Subject::read).await?;
        subjects.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(subjects)
    }

    /// Records a snapshot of a subject's holdings.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject.
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
        let added = DocumentDraft { key, group, json, replace: false, guard, quota, act };
        match self.put(Collection::SubjectSnapshots, &added).await? {
            Put::Created(document) => Ok(snapshot(subject, draft, &document)),
            other => Err(StoreError::corrupt("add snapshot", format!("{other:?}")).into()),
        }
    }

    /// The snapshots of a subject, by day, then by id.
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
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_regime(&self, regime: &Regime, by: &Actor) -> Result<Written, Error> {
        let key = regime.date.to_string();
        let act = rules::regime_put(regime, by);
        self.replace(Collection::Regimes, key, String::new(), json::write(regime), act).await
    }

    /// Records a research signal, replacing an existing one with the same key and day.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_signal(&self, signal: &Signal, by: &Actor) -> Result<Written, Error> {
        let group = signal.date.to_string();
        // A day always has ten characters, so the text is unique.
        let key = format!("{group}{}", signal.signal_key);
        let act = rules::signal_put(signal, by);
        self.replace(Collection::Signals, key, group, json::write(signal), act).await
    }

    pub(super) async fn replace(
        &self,
        collection: Collection,
        key: String,
        group: String,
        json: String,
        act: Act,
    ) -> Result<Written, Error> {
        let (key, act) = (Some(key), Some(act));
        let draft =
            DocumentDraft { key, group, json, replace: true, guard: None, quota: None, act };
        match self.put(collection, &draft).await? {
            Put::Created(_) => Ok(Written::Created),
            Put::Replaced(_) => Ok(Written::Replaced),
            other => Err(StoreError::corrupt("put document", format!("{other:?}")).into()),
        }
    }

    pub(super) async fn put(
        &self,
        collection: Collection,
        draft: &DocumentDraft,
    ) -> store::Result<Put> {
        let put = self.store.put_document(collection, draft).await?;
        if let Put::Created(document) | Put::Replaced(document) = &put {
            self.observer.tell(Commit::Document(collection, document));
        }
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

/// Parses a stored document.
pub(super) fn read<T>(
    document: &Document,
    from: impl FnOnce(&mut Object) -> Result<T, Invalid>,
) -> Result<T, StoreError> {
    let json = Json::read(document.json.as_bytes()).map_err(|error| unreadable(document, error))?;
    from(&mut json.into_object()).map_err(|error| unreadable(document, error))
}

pub(super) fn unreadable(document: &Document, error: impl std::fmt::Display) -> StoreError {
    StoreError::corrupt("read document", format!("document {}: {error}", document.id))
}
