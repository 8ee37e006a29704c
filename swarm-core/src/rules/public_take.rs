//! What the public sees of a take (API.md, 5.8).
//!
//! Everything that shows takes to anyone but their authors gets them from [`public_take`]. For a sealed
//! take it returns no content, so no public read can reveal any; of a take whose texts are withheld, not these texts.
//! [`is_shown_sealed`] says who is shown what is sealed.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::domain::{
    Day, Digest, Member, MemberId, Revision, Session, SessionId, SubjectId, Take, TakeId,
    TakeOnFile, Timestamp, Withheld,
};

/// What the public sees of a take.
#[derive(Clone, Debug, PartialEq)]
pub enum PublicTake {
    /// The complete take; without its texts if they are withheld.
    Open(Arc<Take>),
    /// Only the fact that it was filed: its session is blind, and not opened yet.
    Sealed(Arc<SealedTake>),
}

/// What the public sees of a sealed take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedTake {
    /// The id.
    pub id: TakeId,
    /// The session it was filed in.
    pub session_id: SessionId,
    /// The author.
    pub member_id: MemberId,
    /// Its number among its member's takes in that session.
    pub revision: Revision,
    /// When the take was committed, by the store's clock.
    pub filed_at: Timestamp,
    /// The seal.
    pub sealed: Digest,
    /// The day of its session.
    #[serde(skip)]
    pub date: Day,
    /// The subject of its session.
    #[serde(skip)]
    pub subject_id: SubjectId,
}

/// What the public sees of a take of this session.
pub fn public_take(session: &Session, take: &Arc<Take>) -> PublicTake {
    match take.seal().filter(|_| session.is_sealed()) {
        Some(sealed) => PublicTake::Sealed(Arc::new(SealedTake {
            id: take.id,
            session_id: take.session_id,
            member_id: take.draft().member_id.clone(),
            revision: take.revision,
            filed_at: take.filed_at,
            sealed,
            date: take.draft().date,
            subject_id: take.draft().subject_id.clone(),
        })),
        None => PublicTake::opened(take),
    }
}

/// Returns whether the bearer of a token, this member, is shown a sealed take or memo of `author` that was filed at
/// this time: it is the author, and claimed the token with a proof of its key before. So an operator, who can mint
/// tokens of members and replace their keys, reads nothing that is sealed.
pub fn is_shown_sealed(bearer: &Member, author: &MemberId, filed_at: Timestamp) -> bool {
    let claimed_before = bearer.token_claimed_at.is_some_and(|claimed| claimed < filed_at);
    bearer.state.is_active() && bearer.id == *author && claimed_before
}

impl PublicTake {
    /// What is shown of a take that is not sealed.
    pub(crate) fn opened(take: &Arc<Take>) -> Self {
        Self::Open(take.shown())
    }

    /// The mark of a take whose texts are withheld.
    pub fn withheld(&self) -> Option<&Withheld> {
        self.open().and_then(|take| take.withheld.as_ref())
    }

    /// The take, unless it is sealed.
    pub fn open(&self) -> Option<&Arc<Take>> {
        match self {
            Self::Open(take) => Some(take),
            Self::Sealed(_) => None,
        }
    }

    /// Returns whether the take is sealed.
    pub fn is_sealed(&self) -> bool {
        self.open().is_none()
    }

    /// Returns the id.
    pub fn id(&self) -> TakeId {
        match self {
            Self::Open(take) => take.id,
            Self::Sealed(take) => take.id,
        }
    }

    /// The session it was filed in.
    pub fn session_id(&self) -> SessionId {
        match self {
            Self::Open(take) => take.session_id,
            Self::Sealed(take) => take.session_id,
        }
    }

    /// Returns the author.
    pub fn member_id(&self) -> &MemberId {
        match self {
            Self::Open(take) => &take.draft().member_id,
            Self::Sealed(take) => &take.member_id,
        }
    }

    /// Its number among its member's takes in its session.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Open(take) => take.revision,
            Self::Sealed(take) => take.revision,
        }
    }

    /// When the take was committed, by the store's clock.
    pub fn filed_at(&self) -> Timestamp {
        match self {
            Self::Open(take) => take.filed_at,
            Self::Sealed(take) => take.filed_at,
        }
    }

    /// Returns the day of its session.
    pub fn date(&self) -> Day {
        match self {
            Self::Open(take) => take.draft().date,
            Self::Sealed(take) => take.date,
        }
    }

    /// Returns the subject of its session.
    pub fn subject_id(&self) -> &SubjectId {
        match self {
            Self::Open(take) => &take.draft().subject_id,
            Self::Sealed(take) => &take.subject_id,
        }
    }
}

impl Serialize for PublicTake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Open(take) => take.serialize(serializer),
            Self::Sealed(take) => take.serialize(serializer),
        }
    }
}

impl Serialize for TakeOnFile<PublicTake> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Superseded<'a> {
            #[serde(flatten)]
            take: &'a SealedTake,
            #[serde(skip_serializing_if = "Option::is_none")]
            superseded_by: Option<TakeId>,
        }
        let superseded_by = self.superseded_by;
        match &self.take {
            PublicTake::Open(take) => {
                TakeOnFile { take: Arc::clone(take), superseded_by }.serialize(serializer)
            }
            PublicTake::Sealed(take) => Superseded { take, superseded_by }.serialize(serializer),
        }
    }
}
