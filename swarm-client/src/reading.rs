//! Reads: sessions, briefs, takes; and publishing memos.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use swarm_core::domain::{Brief, Day, MemoId, SubjectId};
use swarm_core::json::{Json, Object};
use swarm_core::{Invalid, Session, SessionId, TakeId};

use crate::connection::{Client, Credential};
use crate::error::{Error, unreadable};
use crate::served::{ServedTake, SessionsAnswer, answer};

impl Client {
    /// Returns the newest session that collects takes. Ask every few minutes, not seconds.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn open_session(&self) -> Result<Option<Session>, Error> {
        match self.get("/api/swarm/open-session")? {
            Json::Null => Ok(None),
            session => answer(session).map(Some),
        }
    }

    /// At most `limit` sessions (1 to 500), the highest id first, below the id `before`.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn sessions(
        &self,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<SessionsAnswer, Error> {
        let before = before.map_or_else(String::new, |id| format!("&before={id}"));
        answer(self.get(&format!("/api/swarm/sessions?limit={limit}{before}"))?)
    }

    /// Returns a session and the takes in it, the highest revision of each member.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn session(&self, session: SessionId) -> Result<(Session, Vec<ServedTake>), Error> {
        self.session_at(&format!("/api/swarm/sessions/{session}"))
    }

    /// Returns the newest session of a day and subject, to which takes go, and the takes in it.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn session_on(
        &self,
        date: Day,
        subject: &SubjectId,
    ) -> Result<(Session, Vec<ServedTake>), Error> {
        let subject = path_segment(subject.as_str());
        self.session_at(&format!("/api/swarm/sessions/{date}/{subject}"))
    }

    fn session_at(&self, path: &str) -> Result<(Session, Vec<ServedTake>), Error> {
        let mut answer = self.get(path)?.into_object();
        let takes = answer.take("takes").unwrap_or(Json::List(Vec::new()));
        let Json::List(takes) = takes else {
            return Err(unreadable(Invalid::new("takes", "must be an array")));
        };
        let takes = takes.into_iter().map(ServedTake::read).collect::<Result<_, _>>()?;
        Ok((answer.take_as("session")?, takes))
    }

    /// Returns the brief of a session, if it has published one.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn brief(&self, session: SessionId) -> Result<Option<Brief>, Error> {
        match self.get(&format!("/api/swarm/brief?session={session}"))? {
            Json::Null => Ok(None),
            brief => read_brief(brief.into_object()).map(Some),
        }
    }

    /// Returns the public view of a take on file. It is not verified: see
    /// [`verify_take`](crate::verify_take()).
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `not-found` when there is none.
    pub fn take(&self, take: TakeId) -> Result<ServedTake, Error> {
        ServedTake::read(self.get(&format!("/api/swarm/takes/{take}"))?)
    }

    /// Returns a take on file, as the member with this bearer token sees it: its own takes complete even while
    /// they are sealed, with the salt of the seal (API.md, 5.8), other takes as [`Client::take`] does.
    ///
    /// # Errors
    /// The errors of [`Client::take`].
    pub fn take_for(&self, token: &str, take: TakeId) -> Result<ServedTake, Error> {
        ServedTake::read(self.get_for(token, &format!("/api/swarm/takes/{take}"))?)
    }

    /// Publishes a memo, Markdown of at most 100,000 characters; returns its id. It is sent without retries: after
    /// [`Error::NoAnswer`], check whether it exists.
    ///
    /// # Errors
    /// [`Error`], as of every call.
    pub fn publish_memo(
        &self,
        token: &str,
        title: &str,
        body: &str,
        subject_id: Option<&SubjectId>,
        session_id: Option<SessionId>,
    ) -> Result<MemoId, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Memo<'a> {
            title: &'a str,
            body: &'a str,
            subject_id: Option<&'a SubjectId>,
            session_id: Option<SessionId>,
        }
        let memo = Memo { title, body, subject_id, session_id };
        let mut receipt = self.post("/api/swarm/memos", Credential::Bearer(token), &memo)?;
        Ok(receipt.take_as("memoId")?)
    }
}

pub(crate) fn read_brief(mut fields: Object) -> Result<Brief, Error> {
    Ok(Brief {
        date: fields.take_as("date")?,
        subject_id: fields.take_as("subjectId")?,
        session_id: fields.take_as("sessionId")?,
        created_at: fields.take_as("createdAt")?,
        // Not deserialized: that would lose the digits of its numbers.
        body: fields.take("body").unwrap_or(Json::Null),
        id: fields.take_as("id")?,
    })
}

/// Every character but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns a text, encoded as one segment of a path or one value of a query.
pub fn path_segment(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}
