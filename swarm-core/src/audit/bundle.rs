//! The form of a bundle (API.md, 11.8).

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use crate::domain::json::{Json, RawJson};
use crate::domain::{Invalid, Session, TakeOnFile};
use crate::proof::note::SignedNote;
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
    pub(super) timestamp: Option<RawJson<'a>>,
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
            timestamp: json.member("timestamp").filter(|it| it.as_str() != "null"),
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
    pub checkpoint: SignedNote,
    /// The timestamp of a checkpoint of the log, if there is one since the session closed.
    pub timestamp: Option<BundledTimestamp>,
}

/// An entry of the log with its proof.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct ProvenEntry {
    /// The exact text of the log entry.
    pub entry: String,
    /// Its index in the tree: its `seq` less one.
    pub index: u64,
    /// The proof, from the sibling of the leaf upwards.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub proof: Vec<TreeHash>,
}

/// A timestamp to be served in a bundle.
#[derive(Clone, Debug)]
pub struct BundledTimestamp {
    /// The checkpoint that the token is of.
    pub checkpoint: SignedNote,
    /// The token, in DER.
    pub token: Vec<u8>,
    /// The proof that the longer of this checkpoint and the bundle's continues the other.
    pub proof: Vec<TreeHash>,
}

impl Serialize for BundledTimestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { checkpoint, token, proof } = self;
        let (checkpoint, token) = (checkpoint.to_string(), STANDARD.encode(token));
        TimestampRecord { checkpoint, token, proof }.serialize(serializer)
    }
}

/// A token of RFC 3161 of a checkpoint of the log.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct TimestampRecord<'a> {
    /// A C2SP signed note.
    checkpoint: String,
    /// The DER of a TimeStampToken, in base64.
    token: String,
    /// The proof that the longer of this checkpoint and the bundle's continues the other.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    proof: &'a [TreeHash],
}

/// A key that verified a take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
struct MemberKey {
    /// The member.
    id: String,
    /// The key.
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
        let Self { session, takes, entries, checkpoint, timestamp } = self;
        let (members, checkpoint) = (self.members(), checkpoint.to_string());
        let (format, timestamp) = (FORMAT, timestamp.as_ref());
        BundleRecord { format, session, takes, members, entries, checkpoint, timestamp }
            .serialize(serializer)
    }
}

/// A session with all that it takes to verify it. See API.md, 11.8.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bundle"))]
pub(crate) struct BundleRecord<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    format: &'static str,
    /// The session.
    session: &'a Session,
    /// All of its takes, with every revision, by id.
    takes: &'a [TakeOnFile],
    /// The keys that verified its takes, by member.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<MemberKey>"))]
    members: BTreeSet<MemberKey>,
    /// The entries of the log on it, by number.
    entries: &'a [ProvenEntry],
    /// A C2SP signed note: the checkpoint that the proofs lead to.
    checkpoint: String,
    /// A token of RFC 3161 of a checkpoint of the log, if there is one since the session closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<TimestampRecord<'a>>"))]
    timestamp: Option<&'a BundledTimestamp>,
}
