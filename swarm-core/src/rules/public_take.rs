//! What the public sees of a take (API.md, 5.8).
//!
//! Everything that shows takes to anyone but their authors gets them from [`PublicTake::of`]. A sealed take is read
//! without its content, so no public read can reveal any; of a take whose texts are withheld, these texts are not shown.
//! [`is_shown_sealed`] says who is shown what is sealed.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::domain::{
    Day, Member, MemberId, Revision, SealedTake, SessionId, StoredSealedTake, StoredTake,
    SubjectId, Take, TakeId, TakeOnFile, Timestamp, Withheld,
};

/// What the public sees of a take.
#[derive(Clone, Debug, PartialEq)]
pub enum PublicTake {
    /// The complete take; without its texts if they are withheld.
    Open(Arc<Take>),
    /// Only the fact that it was filed: its session is blind, and not opened yet.
    Sealed(Arc<StoredSealedTake>),
}

/// Returns whether the bearer of a token, this member, is shown a sealed take or memo of `author` that was filed at
/// this time: it is the author, and claimed the token with a proof of its key before. So an operator, who can mint
/// tokens of members and replace their keys, reads nothing that is sealed.
pub(crate) fn is_shown_sealed(bearer: &Member, author: &MemberId, filed_at: Timestamp) -> bool {
    let claimed_before = bearer.token_claimed_at.is_some_and(|claimed| claimed < filed_at);
    bearer.state.is_active() && bearer.id == *author && claimed_before
}

impl PublicTake {
    /// Returns what the public sees of a take.
    pub fn of(take: &StoredTake) -> Self {
        match take {
            StoredTake::Whole(take) => Self::opened(take),
            StoredTake::Sealed(take) => Self::Sealed(Arc::clone(take)),
        }
    }

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
            Self::Sealed(take) => take.shown.id,
        }
    }

    /// The session it was filed in.
    pub fn session_id(&self) -> SessionId {
        match self {
            Self::Open(take) => take.session_id,
            Self::Sealed(take) => take.shown.session_id,
        }
    }

    /// Returns the author.
    pub fn member_id(&self) -> &MemberId {
        match self {
            Self::Open(take) => &take.draft().member_id,
            Self::Sealed(take) => &take.shown.member_id,
        }
    }

    /// Its number among its member's takes in its session.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Open(take) => take.revision,
            Self::Sealed(take) => take.shown.revision,
        }
    }

    /// When the take was committed, by the store's clock.
    pub fn filed_at(&self) -> Timestamp {
        match self {
            Self::Open(take) => take.filed_at,
            Self::Sealed(take) => take.shown.filed_at,
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
            Self::Sealed(take) => take.shown.serialize(serializer),
        }
    }
}

impl Serialize for TakeOnFile<PublicTake> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let superseded_by = self.superseded_by;
        match &self.take {
            PublicTake::Open(take) => {
                TakeOnFile { take: Arc::clone(take), superseded_by }.serialize(serializer)
            }
            PublicTake::Sealed(take) => {
                Superseded { take: &take.shown, superseded_by }.serialize(serializer)
            }
        }
    }
}

/// A take of a blind session that is not opened yet.
#[derive(Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "SealedTake", extend("not" = {"required": ["stance"]}))
)]
#[serde(rename_all = "camelCase")]
struct Superseded<'a> {
    #[serde(flatten)]
    take: &'a SealedTake,
    /// The next revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<TakeId>,
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PublicTake {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PublicTake".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = TakeOnFile::<Arc<Take>>::json_schema(generator);
        if let Some(serde_json::Value::Array(variants)) = schema.get_mut("anyOf") {
            variants.push(generator.subschema_for::<Superseded<'static>>().into());
        }
        schema
    }
}
