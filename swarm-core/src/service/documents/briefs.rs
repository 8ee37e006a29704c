//! Publishing and reading briefs.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::domain::json::{self, Json};
use crate::domain::{
    Attribution, Brief, BriefId, Day, Prompt, Regime, Session, SessionId, Signal, SubjectId,
};
use crate::rules::{self, BriefFacts, Refusal};
use crate::service::retries::until_committed;
use crate::service::stored_document::unreadable;
use crate::service::{Error, Tenant};
use crate::store::{
    Collection, Document, DocumentDraft, DocumentGuard, Put, StoreError, TakeQuery,
};

/// The number of published sessions in a brief (API.md, 6.6).
const RECENT_SESSIONS: usize = 5;

impl Tenant {
    /// Publishes the brief of a session, with the given prompt or a composed one. A session has at
    /// most one brief.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`]; [`Refusal::BriefPublished`] when it
    /// has one.
    pub async fn publish_brief(
        &self,
        id: SessionId,
        prompt: Option<Prompt>,
        by: &Attribution,
    ) -> Result<Brief, Error> {
        self.put_brief(id, prompt, false, by).await
    }

    /// Publishes the brief of a session in which no take is on file, in place of an earlier one if there is one. It keeps the
    /// id of that.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::AlreadyAggregated`]; [`Refusal::TakesOnFile`] when it has one, and takes.
    pub async fn replace_brief(
        &self,
        id: SessionId,
        prompt: Option<Prompt>,
        by: &Attribution,
    ) -> Result<Brief, Error> {
        self.put_brief(id, prompt, true, by).await
    }

    async fn put_brief(
        &self,
        id: SessionId,
        prompt: Option<Prompt>,
        replace: bool,
        by: &Attribution,
    ) -> Result<Brief, Error> {
        until_committed("publish brief", || async {
            let session = self.load(id).await?;
            let briefed = rules::after_act(Session::clone(&session.record));
            let act = Some(rules::brief_published(&briefed, by));
            let guard = DocumentGuard::ReplacedSession(Arc::new(briefed), session.version);
            let Session { date, subject_id, .. } = Session::clone(&session.record);
            let body = rules::compose(self.brief_facts(session.record).await?, prompt.clone())?;
            if replace && self.brief(id).await?.is_some() {
                let one = TakeQuery { limit: 1, ..TakeQuery::all(id) };
                // A take that is filed meanwhile makes the commit stale.
                if !self.session_takes(&one).await?.1.is_empty() {
                    return Err(Refusal::TakesOnFile.into());
                }
            }
            let draft = DocumentDraft {
                key: Some(id.to_string()),
                group: brief_group(date, &subject_id),
                json: json::write(&body),
                replace,
                guard: Some(guard),
                act,
                ..DocumentDraft::default()
            };
            match self.put(Collection::Briefs, draft).await? {
                Put::Created(document) | Put::Replaced(document) => {
                    Ok(Some(brief(date, subject_id, &document)?))
                }
                Put::Exists => Err(Refusal::BriefPublished.into()),
                Put::Full | Put::NoRoom | Put::Stale => Ok(None),
            }
        })
        .await
    }

    async fn brief_facts(&self, session: Arc<Session>) -> Result<BriefFacts, Error> {
        let day = session.date.to_string();
        Ok(BriefFacts {
            subject: self.subject(&session.subject_id).await?,
            snapshots: self.snapshots(&session.subject_id).await?,
            regimes: self.all(Collection::Regimes, None, Regime::read).await?,
            published: self.store.published(RECENT_SESSIONS).await?,
            signals: self.all(Collection::Signals, Some(&day), Signal::read).await?,
            session,
        })
    }

    /// Returns the brief of a session, if it has one.
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

    /// Returns the brief of the newest session of a day and subject that has one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn brief_on(&self, date: Day, subject: SubjectId) -> Result<Option<Brief>, Error> {
        let group = brief_group(date, &subject);
        let documents = self.store.documents(Collection::Briefs, Some(&group)).await?;
        let mut documents: Vec<_> = documents
            .iter()
            .filter_map(|document| Some((SessionId(document.key.parse().ok()?), document)))
            .collect();
        documents.sort_unstable_by_key(|(session, _)| Reverse(*session));
        for (session, document) in documents {
            // The brief of a withdrawn session stays in the store and is not shown.
            if self.store.session(session).await?.is_some() {
                return Ok(Some(brief(date, subject, document)?));
            }
        }
        Ok(None)
    }
}

/// The group of the briefs of a day and subject. It is unique, because a day always has ten
/// characters.
fn brief_group(date: Day, subject: &SubjectId) -> String {
    format!("{date}{subject}")
}

/// The body of a stored brief.
pub(super) fn body(document: &Document) -> Result<Json, StoreError> {
    Json::read(document.json.as_bytes()).map_err(|error| unreadable(document, error))
}

fn brief(date: Day, subject_id: SubjectId, document: &Document) -> Result<Brief, StoreError> {
    let body = body(document)?;
    Ok(Brief {
        id: BriefId(document.id),
        date,
        subject_id,
        session_id: document.key.clone(),
        created_at: document.created_at,
        body,
    })
}
