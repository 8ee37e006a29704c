//! The entries of takes, of either interface.

use serde::{Deserialize, Serialize};

use super::Actor;
use crate::domain::committee::CommitteeMemberId;
use crate::domain::{
    Day, Digest, MemberId, Note, PublicKey, Revision, Salt, SessionId, Signature, SubjectId, TakeId,
};

/// A take that was filed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TakeEntry {
    /// The take.
    pub id: TakeId,
    /// Its session.
    pub session_id: SessionId,
    /// The version of the session under which it was judged.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub session_version: u64,
    /// The author.
    pub member_id: MemberId,
    /// Its number among the author's takes in the session.
    pub revision: Revision,
    /// The content of the take, or its seal.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "ContentFields"))]
    pub content: TakeContent,
    /// The key that verified it.
    pub public_key: PublicKey,
}

/// The content of a take in its entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "ContentFields")]
#[non_exhaustive]
pub enum TakeContent {
    /// It was public when it was filed.
    Open {
        /// The digest of the canonical bytes that were signed.
        digest: Digest,
        /// The signature.
        signature: Signature,
    },
    /// It was filed in a blind session that was not opened yet (API.md, 5.8).
    Sealed {
        /// The seal.
        sealed: Digest,
    },
}

/// The fields of both kinds of [`TakeContent`], as they are parsed.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend(
        "if" = {"required": ["sealed"]},
        "then" = {"not": {"anyOf": [{"required": ["digest"]}, {"required": ["signature"]}]}},
        "else" = {"required": ["digest", "signature"]}
    )))]
struct ContentFields {
    /// The digest of the canonical bytes that were signed, unless the take is sealed.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    digest: Option<Digest>,
    /// The signature, unless the take is sealed.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    signature: Option<Signature>,
    /// The seal, if the take is sealed.
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    sealed: Option<Digest>,
}

impl TryFrom<ContentFields> for TakeContent {
    type Error = &'static str;

    fn try_from(fields: ContentFields) -> Result<Self, Self::Error> {
        match fields {
            ContentFields { digest: Some(digest), signature: Some(signature), sealed: None } => {
                Ok(Self::Open { digest, signature })
            }
            ContentFields { digest: None, signature: None, sealed: Some(sealed) } => {
                Ok(Self::Sealed { sealed })
            }
            _ => Err("a take has digest and signature, or sealed"),
        }
    }
}

/// A take that was opened: what its entry withheld, and the salt that its seal was made with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct OpeningEntry {
    /// The take.
    pub id: TakeId,
    /// The salt of its seal, in base64.
    pub salt: Salt,
    /// The digest of the canonical bytes that were signed.
    pub digest: Digest,
    /// The signature.
    pub signature: Signature,
}

/// An act on the texts of a take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct TakeMarkEntry {
    /// What was done.
    pub act: TakeMarkAct,
    /// The name of the operator's token.
    pub by: Actor,
    /// Why.
    pub note: Option<Note>,
    /// The take.
    pub id: TakeId,
}

/// What was done to the texts of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TakeMarkAct {
    /// They were withheld from the public.
    Withheld,
    /// They are shown again.
    Restored,
}

/// A submission to the committee that was filed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct CommitteeTakeEntry {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The reference of the stored record.
    pub commit: Digest,
}
