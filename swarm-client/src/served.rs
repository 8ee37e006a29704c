//! What reads show of sessions and takes, and how answers are read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use swarm_core::domain::{Confidence, Revision, SealedTake, Stance, Withheld};
use swarm_core::json::{Json, Object};
use swarm_core::records::{Record, Unreadable};
use swarm_core::{Invalid, MemberId, Session, SessionId, Take, TakeId, Timestamp};

use crate::error::{Error, unreadable};

/// A page of sessions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionsAnswer {
    /// The sessions, the highest id first.
    pub sessions: Vec<Session>,
    /// The `before` of the next page, when there is more.
    pub next_before: Option<SessionId>,
}

impl SessionsAnswer {
    pub(crate) fn read(mut fields: Object) -> Result<Self, Error> {
        let sessions = list(&mut fields, "sessions", Session::read)?;
        let next = fields.whole_if_any("nextBefore").map_err(unreadable)?;
        Ok(Self { sessions, next_before: next.map(SessionId) })
    }
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

    pub(crate) fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let is_withheld =
            fields.members().any(|(name, mark)| name == "withheld" && *mark != Json::Null);
        if fields.has("signature") && !is_withheld {
            return Ok(Self::Open(Box::new(Take::read(fields)?)));
        }
        let take = Json::Object(std::mem::take(fields));
        Ok(match is_withheld {
            true => Self::Withheld(Box::new(WithheldTake::deserialize(take)?)),
            false => Self::Sealed(SealedTake::deserialize(take)?),
        })
    }
}

/// Reads an answer. Fields that the type does not have are ignored.
pub(crate) fn answer<T: DeserializeOwned>(json: impl Into<Json>) -> Result<T, Error> {
    Ok(T::deserialize(json.into())?)
}

/// The record in a field of an answer.
pub(crate) fn part<T, E: Into<Error>>(
    answer: &mut Object,
    field: &'static str,
    read: impl FnOnce(&mut Object) -> Result<T, E>,
) -> Result<T, Error> {
    let record = answer.take(field).unwrap_or(Json::Null);
    read(&mut record.into_object()).map_err(Into::into)
}

/// A list of records.
pub(crate) fn list<T>(
    fields: &mut Object,
    field: &'static str,
    read: impl Fn(&mut Object) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Error> {
    let Some(Json::List(items)) = fields.take(field) else {
        return Err(unreadable(Invalid::new(field, "must be an array")));
    };
    let items = items.into_iter().map(|item| read(&mut item.into_object()));
    Ok(items.collect::<Result<_, _>>()?)
}
