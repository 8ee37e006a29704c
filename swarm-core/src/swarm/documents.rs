//! Subjects, their snapshots, memos, and what briefs go by.

use super::{Error, Tenant};
use crate::domain::json::{self, Json, Object};
use crate::domain::{
    Brief, BriefId, Day, Invalid, MemberId, Memo, MemoDraft, MemoId, Prompt, Regime, SecretHash,
    SessionId, SessionState, Signal, Subject, SubjectId, SubjectSnapshot, SubjectSnapshotDraft,
    SubjectSnapshotId,
};
use crate::rules::{self, BriefFacts, Refusal};
use crate::store::{Collection, Document, DocumentDraft, Put, SessionQuery, StoreError};

/// How many published sessions a brief recalls (specification, section 8A).
const RECENT_SESSIONS: usize = 5;

/// Whether a write brought something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// There was none.
    Created,
    /// It took the place of another.
    Replaced,
}

impl Tenant {
    /// Creates or replaces a subject.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_subject(&self, subject: &Subject) -> Result<Written, Error> {
        let key = subject.id.as_str().to_owned();
        self.replace(Collection::Subjects, key, String::new(), json::write(subject)).await
    }

    /// One subject.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn subject(&self, id: &SubjectId) -> Result<Subject, Error> {
        let document = self.store.document(Collection::Subjects, id.as_str()).await?;
        let document = document.ok_or(Refusal::NotFound("subject"))?;
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

    /// Records what a subject holds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is no such subject.
    pub async fn add_snapshot(
        &self,
        subject: &SubjectId,
        draft: SubjectSnapshotDraft,
    ) -> Result<SubjectSnapshot, Error> {
        self.subject(subject).await?;
        let group = subject.as_str().to_owned();
        let document = self.add(Collection::SubjectSnapshots, group, json::write(&draft)).await?;
        Ok(snapshot(subject, draft, &document))
    }

    /// The snapshots of a subject over time, the oldest first.
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
        Ok(documents.iter().map(read).collect::<Result<_, _>>()?)
    }

    /// Publishes a memo of the member whose bearer token hashes to `token`.
    ///
    /// # Errors
    /// [`Refusal::UnknownToken`]; [`Refusal::NotFound`] for a subject or session that it names.
    pub async fn publish_memo(&self, token: &SecretHash, draft: MemoDraft) -> Result<Memo, Error> {
        let author = self.bearer(token).await?;
        if let Some(subject) = &draft.subject_id {
            self.subject(subject).await?;
        }
        if let Some(session) = draft.session_id {
            self.load(session).await?;
        }
        let kept = KeptMemo { member_id: &author.id, draft: &draft, retracted: false };
        let document = self.add(Collection::Memos, String::new(), json::write(&kept)).await?;
        Ok(memo(author.id.clone(), draft, &document))
    }

    /// A published memo.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id, or it was retracted.
    pub async fn memo(&self, id: MemoId) -> Result<Memo, Error> {
        let (memo, retracted) = self.kept_memo(id).await?;
        if retracted { Err(Refusal::NotFound("memo").into()) } else { Ok(memo) }
    }

    /// Retracts a memo: it reads as not found from now on. Retracted already, it stays so.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn retract_memo(&self, id: MemoId) -> Result<(), Error> {
        let (memo, _) = self.kept_memo(id).await?;
        let kept = KeptMemo { member_id: &memo.member_id, draft: &memo.draft, retracted: true };
        let text = json::write(&kept);
        self.replace(Collection::Memos, id.to_string(), String::new(), text).await?;
        Ok(())
    }

    async fn kept_memo(&self, id: MemoId) -> Result<(Memo, bool), Error> {
        let document = self.store.document(Collection::Memos, &id.to_string()).await?;
        let document = document.ok_or(Refusal::NotFound("memo"))?;
        let (author, draft, retracted) = read(&document, |fields| {
            let author = MemberId::parse(fields.text("memberId")?)?;
            let retracted = fields.bool_if_any("retracted")?.unwrap_or(false);
            Ok((author, MemoDraft::read(fields)?, retracted))
        })?;
        Ok((memo(author, draft, &document), retracted))
    }

    /// Records the regime of a day, in place of the one that was there.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_regime(&self, regime: &Regime) -> Result<Written, Error> {
        let key = regime.date.to_string();
        self.replace(Collection::Regimes, key, String::new(), json::write(regime)).await
    }

    /// Records a research signal, in place of the one with its key and day.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_signal(&self, signal: &Signal) -> Result<Written, Error> {
        let group = signal.date.to_string();
        // A day has ten characters: day and key cannot run into each other.
        let key = format!("{group}{}", signal.signal_key);
        self.replace(Collection::Signals, key, group, json::write(signal)).await
    }

    /// Publishes a session's one brief, with this prompt or an assembled one.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::BriefPublished`] when it has one.
    pub async fn publish_brief(
        &self,
        id: SessionId,
        prompt: Option<Prompt>,
    ) -> Result<Brief, Error> {
        let session = self.load(id).await?.record;
        let published = SessionQuery {
            state: Some(SessionState::Published),
            limit: RECENT_SESSIONS,
            ..SessionQuery::default()
        };
        let day = session.date.to_string();
        let facts = BriefFacts {
            subject: self.subject(&session.subject_id).await?,
            regimes: self.all(Collection::Regimes, None, Regime::read).await?,
            published: self.store.sessions(&published).await?,
            signals: self.all(Collection::Signals, Some(&day), Signal::read).await?,
            session: session.clone(),
        };
        let draft = DocumentDraft {
            key: Some(id.to_string()),
            group: brief_group(session.date, &session.subject_id),
            json: json::write(&rules::compose(facts, prompt)),
            replace: false,
        };
        match self.store.put_document(Collection::Briefs, &draft).await? {
            Put::Created(document) | Put::Replaced(document) => {
                Ok(brief(session.date, session.subject_id.clone(), &document)?)
            }
            Put::Exists => Err(Refusal::BriefPublished.into()),
        }
    }

    /// The brief of a session, if it has one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn brief(&self, id: SessionId) -> Result<Option<Brief>, Error> {
        let Some(document) = self.store.document(Collection::Briefs, &id.to_string()).await? else {
            return Ok(None);
        };
        let Some(session) = self.store.session(id).await? else { return Ok(None) };
        let session = session.record;
        Ok(Some(brief(session.date, session.subject_id.clone(), &document)?))
    }

    /// The brief of the most recent session of a day and subject that has published one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn brief_on(&self, date: Day, subject: SubjectId) -> Result<Option<Brief>, Error> {
        let group = brief_group(date, &subject);
        let documents = self.store.documents(Collection::Briefs, Some(&group)).await?;
        let newest = documents.iter().max_by_key(|document| document.key.parse::<u64>().ok());
        Ok(newest.map(|document| brief(date, subject, document)).transpose()?)
    }

    async fn replace(
        &self,
        collection: Collection,
        key: String,
        group: String,
        json: String,
    ) -> Result<Written, Error> {
        let draft = DocumentDraft { key: Some(key), group, json, replace: true };
        match self.store.put_document(collection, &draft).await? {
            Put::Created(_) => Ok(Written::Created),
            Put::Replaced(_) | Put::Exists => Ok(Written::Replaced),
        }
    }

    async fn add(
        &self,
        collection: Collection,
        group: String,
        json: String,
    ) -> Result<Document, Error> {
        let draft = DocumentDraft { key: None, group, json, replace: false };
        match self.store.put_document(collection, &draft).await? {
            Put::Created(document) | Put::Replaced(document) => Ok(document),
            Put::Exists => Err(StoreError::new("add document", "a new id was taken").into()),
        }
    }

    async fn all<T>(
        &self,
        collection: Collection,
        group: Option<&str>,
        from: impl Fn(&mut Object) -> Result<T, Invalid> + Send + Sync,
    ) -> Result<Vec<T>, Error> {
        let documents = self.store.documents(collection, group).await?;
        Ok(documents.iter().map(|document| read(document, &from)).collect::<Result<_, _>>()?)
    }
}

/// A memo as it is kept.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptMemo<'a> {
    member_id: &'a MemberId,
    #[serde(flatten)]
    draft: &'a MemoDraft,
    retracted: bool,
}

fn memo(member_id: MemberId, draft: MemoDraft, document: &Document) -> Memo {
    Memo { id: MemoId(document.id), member_id, draft, published_at: document.created_at }
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

/// The briefs of a day and subject: a day has ten characters, so no two groups are alike.
fn brief_group(date: Day, subject: &SubjectId) -> String {
    format!("{date}{subject}")
}

fn brief(date: Day, subject_id: SubjectId, document: &Document) -> Result<Brief, StoreError> {
    let body = Json::read(document.json.as_bytes()).map_err(|error| unreadable(document, error))?;
    Ok(Brief {
        id: BriefId(document.id),
        date,
        subject_id,
        session_id: document.key.clone(),
        created_at: document.created_at,
        body,
    })
}

/// Reads a document on file.
pub(super) fn read<T>(
    document: &Document,
    from: impl FnOnce(&mut Object) -> Result<T, Invalid>,
) -> Result<T, StoreError> {
    let json = Json::read(document.json.as_bytes()).map_err(|error| unreadable(document, error))?;
    from(&mut json.into_object()).map_err(|error| unreadable(document, error))
}

fn unreadable(document: &Document, error: impl std::fmt::Display) -> StoreError {
    StoreError::new("read document", format!("document {}: {error}", document.id))
}
