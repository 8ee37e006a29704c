//! Memos: longer texts that members publish.

use serde::Serialize;

use super::form::form;
use super::text::Bounded;
use super::{Digest, MemberId, MemoId, SessionId, SubjectId, Timestamp};

form! {
    /// A memo as the member sends it (API.md, 5.6).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct MemoDraft "MemoDraft" in "documents" {
        /// Its title, 1 to 200 characters.
        #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
        pub title: String = "title" from Bounded<1, 200>,
        /// Its text, 1 to 100,000 characters.
        #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100_000)))]
        pub body: String = "body" from Bounded<1, 100_000>: "Markdown.",
        /// The subject it is about, if any.
        pub subject_id: Option<SubjectId> = "subjectId",
        /// The session it is about, if any.
        #[cfg_attr(feature = "schema", schemars(description = "The session it is about, if any."))]
        pub session_id: Option<SessionId> = "sessionId": "An id, or its digits as text.",
    }
    checks_first "subjectId": Option<String>;
    example r###"{
        "title": "What the fee change needs",
        "body": "## In short\n\nUsers who come for the fee alone leave with it.", "subjectId": "aurora"
    }"###;
}

impl MemoDraft {
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
