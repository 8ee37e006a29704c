//! The form of a bundle (API.md, 11.8).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::domain::json::{Json, Object};
use crate::domain::{Invalid, Session, TakeOnFile};
use crate::proof::note::Note;
use crate::proof::tree::TreeHash;

/// The format that this version reads and writes.
pub const FORMAT: &str = "swarm-bundle/1";

/// A bundle as received, split into its parts. Nothing in it is verified yet.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(super) session: Object,
    pub(super) takes: Vec<Json>,
    pub(super) members: Vec<Json>,
    pub(super) entries: Vec<Json>,
    /// A signed note.
    pub(super) checkpoint: String,
}

impl Bundle {
    /// Returns whether a JSON object has the form of a bundle, of any version.
    pub fn is_one(fields: &Object) -> bool {
        fields.has("format") && fields.has("entries")
    }

    /// Reads the parts of a bundle. Their content is checked by [`audit`](super::audit).
    ///
    /// # Errors
    /// [`Invalid`] if a part is missing, or the format is not [`FORMAT`].
    pub fn read(mut fields: Object) -> Result<Self, Invalid> {
        let format = fields.text("format")?;
        if format != FORMAT {
            return Err(Invalid::new("format", format!("must be {FORMAT}")));
        }
        let session = fields.take("session").ok_or_else(|| Invalid::missing("session"))?;
        Ok(Self {
            session: session.into_object(),
            takes: list(&mut fields, "takes")?,
            members: list(&mut fields, "members")?,
            entries: list(&mut fields, "entries")?,
            checkpoint: fields.text("checkpoint")?,
        })
    }
}

fn list(fields: &mut Object, field: &'static str) -> Result<Vec<Json>, Invalid> {
    fields.list_if_any(field, Ok)?.ok_or_else(|| Invalid::missing(field))
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
