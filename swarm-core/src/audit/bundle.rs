//! The form of a bundle (API.md, 11.8).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::domain::json::{Json, RawJson};
use crate::domain::{Invalid, Session, TakeOnFile};
use crate::proof::note::Note;
use crate::proof::tree::TreeHash;

/// The format that this version reads and writes.
pub const FORMAT: &str = "swarm-bundle/1";

/// A bundle as received, split into its parts: their texts, which are read one after another. Nothing in it is verified yet.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    pub(super) session: RawJson<'a>,
    takes: RawJson<'a>,
    members: RawJson<'a>,
    entries: RawJson<'a>,
    /// A signed note.
    pub(super) checkpoint: String,
}

impl<'a> Bundle<'a> {
    /// Returns whether a JSON value has the form of a bundle, of any version.
    pub fn is_one(json: RawJson<'_>) -> bool {
        let has = |field| json.members().any(|(name, _)| name == field);
        has("format") && has("entries")
    }

    /// Reads the parts of a bundle. Their content is checked by [`audit`](super::audit).
    ///
    /// # Errors
    /// [`Invalid`] if a part is missing, or the format is not [`FORMAT`].
    pub fn read(json: RawJson<'a>) -> Result<Self, Invalid> {
        let part = |field| json.member(field).ok_or_else(|| Invalid::missing(field));
        let text = |field| match part(field)?.to_json() {
            Json::Text(text) => Ok(text),
            _ => Err(Invalid::new(field, "must be a string")),
        };
        let list = |field| {
            let part = part(field)?;
            let is_list = part.elements().is_some();
            is_list.then_some(part).ok_or_else(|| Invalid::new(field, "must be an array"))
        };
        if text("format")? != FORMAT {
            return Err(Invalid::new("format", format!("must be {FORMAT}")));
        }
        Ok(Self {
            session: part("session")?,
            takes: list("takes")?,
            members: list("members")?,
            entries: list("entries")?,
            checkpoint: text("checkpoint")?,
        })
    }

    /// The takes, as they stand in it.
    pub(super) fn takes(&self) -> impl Iterator<Item = RawJson<'a>> {
        self.takes.elements().into_iter().flatten()
    }

    /// The rows of members, as they stand in it.
    pub(super) fn members(&self) -> impl Iterator<Item = RawJson<'a>> {
        self.members.elements().into_iter().flatten()
    }

    /// The entries, as they stand in it.
    pub(super) fn entries(&self) -> impl Iterator<Item = RawJson<'a>> {
        self.entries.elements().into_iter().flatten()
    }
}

/// A bundle to be served. Serializing it gives the form that [`Bundle::read`] reads.
#[derive(Clone, Debug)]
pub struct SessionBundle {
    /// The session.
    pub session: Arc<Session>,
    /// All of its takes, with every revision, by id.
    pub takes: Vec<TakeOnFile>,
    /// The entries of the log on it, by number.
    pub entries: Vec<ProvenEntry>,
    /// The checkpoint that the proofs lead to.
    pub checkpoint: Note,
}

/// An entry of the log with its proof.
#[derive(Clone, Debug, Serialize)]
pub struct ProvenEntry {
    /// Its exact text.
    pub entry: String,
    /// Its index in the tree: its `seq` less one.
    pub index: u64,
    /// The proof, from the sibling of the leaf upwards.
    pub proof: Vec<TreeHash>,
}

/// A key that verified a take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
struct MemberKey {
    id: String,
    public_key: String,
}

impl SessionBundle {
    /// The keys that verified its takes, by member.
    fn members(&self) -> BTreeSet<MemberKey> {
        let key = |it: &TakeOnFile| MemberKey {
            id: it.take.draft().member_id.as_str().to_owned(),
            public_key: it.take.public_key.to_string(),
        };
        self.takes.iter().map(key).collect()
    }
}

impl Serialize for SessionBundle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Parts<'a> {
            format: &'static str,
            session: &'a Session,
            takes: &'a [TakeOnFile],
            members: BTreeSet<MemberKey>,
            entries: &'a [ProvenEntry],
            checkpoint: String,
        }
        let Self { session, takes, entries, checkpoint } = self;
        let (members, checkpoint) = (self.members(), checkpoint.to_string());
        Parts { format: FORMAT, session, takes, members, entries, checkpoint }.serialize(serializer)
    }
}
