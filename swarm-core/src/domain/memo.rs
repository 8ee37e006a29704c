//! Memos: the longer texts of members.

use serde::Serialize;

use super::json::Object;
use super::{Invalid, MemberId, MemoId, SessionId, SubjectId, Timestamp, bounded};

/// What a member publishes (API.md, 5.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoDraft {
    /// Its title, 1 to 200 characters.
    pub title: String,
    /// Its text, 1 to 100,000 characters.
    pub body: String,
    /// The subject it is about, where it is about one.
    pub subject_id: Option<SubjectId>,
    /// The session it belongs to, where it belongs to one.
    pub session_id: Option<SessionId>,
}

impl MemoDraft {
    /// Reads a memo to publish.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let subject_id = fields.text_if_any("subjectId")?;
        Ok(Self {
            title: bounded("title", fields.text("title")?, 1, 200)?,
            body: bounded("body", fields.text("body")?, 1, 100_000)?,
            subject_id: subject_id.map(SubjectId::parse).transpose()?,
            session_id: fields.id_if_any("sessionId")?.map(SessionId),
        })
    }
}

/// A memo on file (API.md, 6.7).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memo {
    /// Its id.
    pub id: MemoId,
    /// Whose it is.
    pub member_id: MemberId,
    /// What was published.
    #[serde(flatten)]
    pub draft: MemoDraft,
    /// When it was committed, by the store's clock.
    pub published_at: Timestamp,
}
