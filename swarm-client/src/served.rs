//! What reads show of sessions and takes, and how answers are read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use swarm_core::domain::{Confidence, Revision, SealedTake, Stance, Weights, Withheld};
use swarm_core::json::{Json, Object};
use swarm_core::{MemberId, Session, SessionId, Take, TakeId, Timestamp};

use crate::error::Error;

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionsAnswer {
    /// The sessions, the highest id first.
    pub sessions: Vec<Session>,
    /// The `before` of the next page, when there is more.
    pub next_before: Option<SessionId>,
}

/// What a read shows of a take.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServedTake {
    /// The complete take.
    Open(Box<Take>),
    /// A take whose write-up and memo address an operator withheld (API.md, 7.10).
    Withheld(Box<WithheldTake>),
    /// Only the fact that it was filed: its session is blind, and not opened yet (API.md, 5.8).
    Sealed(SealedTake),
}

/// The public view of a take whose texts are withheld.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WithheldTake {
    /// The id.
    pub id: TakeId,
    /// The session it was filed in.
    pub session_id: SessionId,
    /// The author.
    pub member_id: MemberId,
    /// Its number among its member's takes in that session.
    pub revision: Revision,
    /// The time of the commit, by the service's clock.
    pub filed_at: Timestamp,
    /// The position taken.
    pub stance: Stance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The distribution over buckets, if there is one.
    pub weights: Option<Weights>,
    /// When the texts were withheld, and why.
    #[serde(rename = "withheld")]
    pub mark: Withheld,
}

impl ServedTake {
    /// The take, unless it is sealed or withheld.
    pub fn open(&self) -> Option<&Take> {
        match self {
            Self::Open(take) => Some(take),
            Self::Withheld(_) | Self::Sealed(_) => None,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> TakeId {
        match self {
            Self::Open(take) => take.id,
            Self::Withheld(take) => take.id,
            Self::Sealed(take) => take.id,
        }
    }

    pub(crate) fn read(take: Json) -> Result<Self, Error> {
        let fields = take.into_object();
        let has = |field: &str| {
            fields.members().any(|(name, value)| name == field && *value != Json::Null)
        };
        let (is_withheld, is_signed) = (has("withheld"), has("signature"));
        Ok(match (is_withheld, is_signed) {
            (true, _) => Self::Withheld(answer(fields)?),
            (false, true) => Self::Open(answer(fields)?),
            (false, false) => Self::Sealed(answer(fields)?),
        })
    }
}

/// Reads an answer. Fields that the type does not have are ignored.
pub(crate) fn answer<T: DeserializeOwned>(json: impl Into<Json>) -> Result<T, Error> {
    Ok(T::deserialize(json.into())?)
}

/// Reads the take in the field `take` of an answer.
pub(crate) fn served_take(mut answer: Object) -> Result<ServedTake, Error> {
    ServedTake::read(answer.take("take").unwrap_or(Json::Null))
}
