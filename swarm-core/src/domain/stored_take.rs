//! Takes as a store reads them.
//!
//! While a session is sealed, nobody but the author is shown what its takes say, and how long a read takes must not tell how
//! much that is. So a store keeps the seal beside what is sealed, and a [`StoredSealedTake`] is read without it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Day, Digest, MemberId, PublicKey, Revision, Salt, SessionId, SubjectId, Take, TakeId, Timestamp,
};

/// A take as a store reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredTake {
    /// The complete take, with texts that are withheld.
    Whole(Arc<Take>),
    /// Only what is known of a take of a session that is sealed.
    Sealed(Arc<StoredSealedTake>),
}

/// What the public sees of a sealed take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
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
    /// The seal: a digest of the 32 bytes of the salt, the canonical bytes, a zero byte and the 64 bytes of the signature.
    pub sealed: Digest,
}

/// What a store reads of a sealed take.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSealedTake {
    /// What the public sees of it.
    pub shown: SealedTake,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The version of the session under which it was judged.
    pub session_version: u64,
    /// The key that verified it.
    pub public_key: PublicKey,
    /// The salt of the seal, with which a take can be compared with this one.
    pub salt: Salt,
}

impl StoredSealedTake {
    /// Returns what is known of a take while its session is sealed; `None` of one that was filed without a seal.
    pub fn of(take: &Take) -> Option<Self> {
        let draft = take.draft();
        Some(Self {
            shown: SealedTake {
                id: take.id,
                session_id: take.session_id,
                member_id: draft.member_id.clone(),
                revision: take.revision,
                filed_at: take.filed_at,
                sealed: take.seal()?,
            },
            date: draft.date,
            subject_id: draft.subject_id.clone(),
            session_version: take.session_version,
            public_key: take.public_key.clone(),
            salt: take.salt?,
        })
    }
}

impl StoredTake {
    /// Returns the complete take, unless it is sealed.
    pub fn whole(&self) -> Option<&Arc<Take>> {
        match self {
            Self::Whole(take) => Some(take),
            Self::Sealed(_) => None,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> TakeId {
        match self {
            Self::Whole(take) => take.id,
            Self::Sealed(take) => take.shown.id,
        }
    }

    /// Returns the session it was filed in.
    pub fn session_id(&self) -> SessionId {
        match self {
            Self::Whole(take) => take.session_id,
            Self::Sealed(take) => take.shown.session_id,
        }
    }

    /// Returns the author.
    pub fn member_id(&self) -> &MemberId {
        match self {
            Self::Whole(take) => &take.draft().member_id,
            Self::Sealed(take) => &take.shown.member_id,
        }
    }

    /// Returns the subject of its session.
    pub fn subject_id(&self) -> &SubjectId {
        match self {
            Self::Whole(take) => &take.draft().subject_id,
            Self::Sealed(take) => &take.subject_id,
        }
    }

    /// Returns its number among its member's takes in its session.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Whole(take) => take.revision,
            Self::Sealed(take) => take.shown.revision,
        }
    }

    /// Returns when it was committed, by the store's clock.
    pub fn filed_at(&self) -> Timestamp {
        match self {
            Self::Whole(take) => take.filed_at,
            Self::Sealed(take) => take.shown.filed_at,
        }
    }

    /// Returns whether an operator withheld its texts.
    pub fn is_withheld(&self) -> bool {
        self.whole().is_some_and(|take| take.withheld.is_some())
    }
}

impl From<Arc<Take>> for StoredTake {
    fn from(take: Arc<Take>) -> Self {
        Self::Whole(take)
    }
}
