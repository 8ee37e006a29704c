//! Memos: longer texts that members publish.

use serde::Serialize;

use super::json::Object;
use super::{Digest, Invalid, MemberId, MemoId, SessionId, SubjectId, Timestamp, bounded};

/// A memo as the member sends it (API.md, 5.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoDraft {
    /// Its title, 1 to 200 characters.
    pub title: String,
    /// Its text, 1 to 100,000 characters.
    pub body: String,
    /// The subject it is about, if any.
    pub subject_id: Option<SubjectId>,
    /// The session it is about, if any.
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

    /// Returns the digest of the memo of this author: of the text of its record without `id` and `publishedAt`, which its
    /// commit assigns (API.md, 11.2).
    pub fn digest(&self, member_id: &MemberId) -> Digest {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Content<'a> {
            member_id: &'a MemberId,
            #[serde(flatten)]
            draft: &'a MemoDraft,
        }
        Digest::of_json(&Content { member_id, draft: self })
    }
}

/// A stored memo (API.md, 6.7).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memo {
    /// The id.
    pub id: MemoId,
    /// The author.
    pub member_id: MemberId,
    /// The content.
    #[serde(flatten)]
    pub draft: MemoDraft,
    /// The time of the commit, by the store's clock.
    pub published_at: Timestamp,
}
