//! The serialized form of records, which a store may keep.
//!
//! Each record has one text, written as JSON by the core. Parsing that text gives an equal record.
//! The text of a public record is the text that the API shows.

/// Implements [`Record`] for types whose text is what `serde` writes.
macro_rules! derived {
    ($($record:ty),*) => {$(
        impl $crate::records::Record for $record {
            fn to_text(&self) -> String {
                $crate::domain::json::write(self)
            }

            fn read(
                fields: &mut $crate::domain::json::Object,
            ) -> Result<Self, $crate::records::Unreadable> {
                let record = $crate::domain::json::Json::Object(std::mem::take(fields));
                Ok(serde::Deserialize::deserialize(record)?)
            }
        }
    )*};
}

mod committee;
mod fields;

use std::sync::Arc;

use serde::Serialize;

use self::fields::{
    contact, contact_if_any, digest_if_any, hash, hash_if_any, key_if_any, object, object_if_any,
    present, revision, text, time, time_if_any, whole, whole_if_any,
};
use crate::domain::json::{self, Json, Mismatch, NotJson, Object};
use crate::domain::{
    Body, Bucket, Confidence, Consensus, Day, Declaration, Digest, Figures, Invalid, Lens, Member,
    MemberId, MemberState, Message, Method, Name, Note, Outcome, Question, Quote, Roster, Salt,
    Session, SessionId, Signature, Signed, Snapshot, Stance, Stances, SubjectId, Take, TakeDraft,
    TakeId, TextDigests, Voided, Webhook, Withheld,
};

pub use fields::public_key;

/// A type with a serialized form.
pub trait Record: Sized {
    /// Serializes the complete record to a JSON object.
    fn to_text(&self) -> String;

    /// Reads the record from the fields of its text. Unknown fields are ignored.
    ///
    /// # Errors
    /// [`Unreadable`], naming the first field that breaks its rule.
    fn read(fields: &mut Object) -> Result<Self, Unreadable>;

    /// Parses what [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// [`Unreadable`] when the text is not such a record.
    fn from_text(text: &str) -> Result<Self, Unreadable> {
        Self::read(&mut Json::read(text.as_bytes())?.into_object())
    }
}

/// A text is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no record: {0}")]
pub struct Unreadable(String);

impl Unreadable {
    #[cfg(feature = "service")]
    pub(crate) fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<Invalid> for Unreadable {
    fn from(invalid: Invalid) -> Self {
        Self(invalid.to_string())
    }
}

impl From<Mismatch> for Unreadable {
    fn from(mismatch: Mismatch) -> Self {
        Self(mismatch.to_string())
    }
}

impl From<NotJson> for Unreadable {
    fn from(not_json: NotJson) -> Self {
        Self(not_json.to_string())
    }
}

derived!(Message, Webhook);

impl Record for Member {
    fn to_text(&self) -> String {
        let fields = [
            ("id", Json::from(self.id.as_str())),
            ("name", Json::from(self.name.as_str())),
            ("contact", contact(&self.contact)),
            ("lens", text((!self.is_erased()).then_some(&self.lens))),
            ("publicKey", text(self.public_key.as_ref())),
            ("state", text(Some(self.state))),
            ("appliedAt", text(Some(self.applied_at))),
            ("reviewedAt", text(self.reviewed_at)),
            ("joinedAt", text(self.joined_at)),
            ("claimedAt", text(self.claimed_at)),
            ("token", hash(self.token.as_ref())),
        ];
        // Older records have no such field.
        let claimed = self.token_claimed_at.map(|at| ("tokenClaimedAt", text(Some(at))));
        json::write(&fields.into_iter().chain(claimed).collect::<Json>())
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let state = MemberState::parse(&fields.text("state")?);
        Ok(Self {
            id: MemberId::parse(fields.text("id")?)?,
            name: Name::parse(fields.text("name")?)?,
            contact: contact_if_any(fields, "contact")?,
            lens: Lens::parse(fields.text_if_any("lens")?.unwrap_or_default())?,
            public_key: key_if_any(fields)?,
            state: state.ok_or_else(|| Invalid::new("state", "must be the name of a state"))?,
            applied_at: time(fields, "appliedAt")?,
            reviewed_at: time_if_any(fields, "reviewedAt")?,
            joined_at: time_if_any(fields, "joinedAt")?,
            claimed_at: time_if_any(fields, "claimedAt")?,
            token: hash_if_any(fields, "token")?,
            token_claimed_at: time_if_any(fields, "tokenClaimedAt")?,
        })
    }
}

/// The public record, which has no version: reading it leaves that 0.
impl Record for Session {
    fn to_text(&self) -> String {
        json::write(self)
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let snapshot = object_if_any(fields, "snapshot");
        let declaration = Declaration::read(fields)?;
        Ok(Self {
            id: SessionId(whole(fields, "id")?),
            version: 0,
            date: Day::parse(&fields.text("date")?)?,
            subject_id: SubjectId::parse(fields.text("subjectId")?)?,
            state: fields.text("state")?.parse()?,
            window_closes_at: time_if_any(fields, "windowClosesAt")?,
            convened_at: time(fields, "convenedAt")?,
            quorum: whole_if_any(fields, "quorum")?,
            buckets: fields.list_if_any("buckets", read_bucket)?,
            roster: Roster::read(fields, "roster")?,
            blind: fields.bool_if_any("blind")?.unwrap_or(false),
            practice: fields.bool_if_any("practice")?.unwrap_or(false),
            finish: fields.bool_if_any("finish")?.unwrap_or(false),
            question: Question::read(fields)?,
            opened_at: time_if_any(fields, "openedAt")?,
            published_at: time_if_any(fields, "publishedAt")?,
            outcome: object_if_any(fields, "outcome")
                .map(|mut it| Outcome::read(&mut it))
                .transpose()?,
            voided: object_if_any(fields, "voided")
                .map(|mut it| Voided::read(&mut it))
                .transpose()?,
            snapshot: snapshot
                .map(|mut it| read_snapshot(&mut it, &declaration))
                .transpose()?
                .map(Arc::new),
            declaration,
        })
    }
}

/// Reads the name of a bucket.
pub(super) fn read_bucket(name: Json) -> Result<Bucket, Invalid> {
    match name {
        Json::Text(name) => Bucket::parse(name),
        _ => Err(Invalid::new("buckets", "must hold names")),
    }
}

/// Returns the text of a snapshot, with the digest that it had when it was written, if write-ups were withheld since.
pub fn snapshot_text(snapshot: &Snapshot) -> String {
    #[derive(Serialize)]
    struct Kept<'a> {
        #[serde(flatten)]
        snapshot: &'a Snapshot,
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    }
    json::write(&Kept { snapshot, digest: snapshot.original })
}

/// Reads the snapshot of a session with this declaration, as [`snapshot_text`] wrote it.
///
/// # Errors
/// [`Unreadable`], naming the first field that breaks its rule.
pub fn read_snapshot(
    fields: &mut Object,
    declaration: &Declaration,
) -> Result<Snapshot, Unreadable> {
    Ok(Snapshot {
        figures: read_figures(fields, declaration)?,
        weights: fields.take_as("weights")?,
        quotes: present("quotes", fields.list_if_any("quotes", quote)?)?,
        original: digest_if_any(fields, "digest")?,
    })
}

/// Reads the figures of the snapshot of a session with this declaration.
pub(super) fn read_figures(
    fields: &mut Object,
    declaration: &Declaration,
) -> Result<Figures, Unreadable> {
    let consensus = object_if_any(fields, "consensus");
    Ok(Figures {
        aggregated_at: time(fields, "aggregatedAt")?,
        participation: fields.take_as("participation")?,
        quorum: fields.take_as("quorum")?,
        stances: stances(object(fields, "stances")?, declaration)?,
        consensus: consensus.map(|fields| read_consensus(fields, declaration)).transpose()?,
    })
}

fn stances(mut fields: Object, declaration: &Declaration) -> Result<Stances, Invalid> {
    let count = |fields: &mut Object, name: &str| {
        let count = fields.take(name).map(|count| ("count", count));
        whole(&mut count.into_iter().collect::<Json>().into_object(), "count")
    };
    let mut stances = Stances::none(declaration.stances.as_ref());
    for ranked in declaration.scale().stances() {
        stances.add_all(&ranked.name, count(&mut fields, ranked.name.as_str())?);
    }
    if declaration.stances.is_none() {
        stances.add_others(count(&mut fields, "other")?);
    }
    Ok(stances)
}

fn read_consensus(mut fields: Object, declaration: &Declaration) -> Result<Consensus, Invalid> {
    let stance = Stance::parse(fields.text("stance")?)?;
    if declaration.scale().rank(&stance).is_none() {
        return Err(Invalid::new("stance", "must be a known one"));
    }
    let method = fields.text_if_any("method")?;
    Ok(Consensus {
        stance,
        score: fields.number("score")?,
        confidence: fields.number("confidence")?,
        method: method.map(|name| Method::parse(&name)).transpose()?,
    })
}

fn quote(entry: Json) -> Result<Quote, Invalid> {
    let mut fields = entry.into_object();
    Ok(Quote {
        take_id: TakeId(whole(&mut fields, "takeId")?),
        member_id: MemberId::parse(fields.text("memberId")?)?,
        revision: revision(&mut fields)?,
        stance: Stance::parse(fields.text("stance")?)?,
        confidence: Confidence::parse(fields.number("confidence")?)?,
        body: match fields.bool_if_any("withheld")? {
            Some(true) => None,
            _ => Some(Body::parse(fields.text("body")?)?),
        },
    })
}

/// The public record, with texts that are withheld, or with their digest if they were erased. It does not have the
/// version of the session: reading it leaves that 0.
impl Record for Take {
    fn to_text(&self) -> String {
        self.kept_text()
    }

    fn read(fields: &mut Object) -> Result<Self, Unreadable> {
        let has_texts = fields.has("body");
        let payload = TakeDraft::read(fields)?;
        let signature = Signature::parse(fields.text("signature")?)?;
        Ok(Self {
            id: TakeId(whole(fields, "id")?),
            session_id: SessionId(whole(fields, "sessionId")?),
            session_version: 0,
            revision: revision(fields)?,
            filed_at: time(fields, "filedAt")?,
            signed: Arc::new(Signed { payload, signature }),
            public_key: present("publicKey", key_if_any(fields)?)?,
            salt: fields.text_if_any("salt")?.map(Salt::parse).transpose()?,
            withheld: match object_if_any(fields, "withheld") {
                Some(mut mark) => Some(Withheld {
                    at: time(&mut mark, "at")?,
                    note: Note::parse(mark.text("note")?)?,
                    removed: (!has_texts).then(|| removed(fields)).transpose()?,
                }),
                None => None,
            },
        })
    }
}

/// Reads the digests of texts that the record does not have.
fn removed(fields: &mut Object) -> Result<TextDigests, Invalid> {
    let digest = present("digest", digest_if_any(fields, "digest")?)?;
    Ok(TextDigests { digest, seal: digest_if_any(fields, "sealed")? })
}

/// What the log has of a take besides its payload and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeProof {
    /// The signature.
    pub signature: Signature,
    /// The version of the session under which the take was judged.
    pub session_version: u64,
    /// The salt of the seal, if the take has one.
    pub salt: Option<Salt>,
}

/// Returns the proof of a take as one word: its signature, a dot and the version of its session, then, if it has
/// a seal, a dot and the salt of the seal. A verified signature is base64, so it contains no dot.
pub fn proof_text(take: &Take) -> String {
    let (signature, version) = (take.signed.signature.as_str(), take.session_version);
    match &take.salt {
        Some(salt) => format!("{signature}.{version}.{salt}"),
        None => format!("{signature}.{version}"),
    }
}

/// Reads what [`proof_text`] wrote.
///
/// # Errors
/// [`Invalid`] for any other text.
pub fn read_proof(text: &str) -> Result<TakeProof, Invalid> {
    let mut words = text.splitn(3, '.');
    let signature = Signature::parse(words.next().unwrap_or_default())?;
    let session_version = words.next().and_then(|version| version.parse().ok());
    let session_version = session_version.ok_or_else(|| Invalid::missing("sessionVersion"))?;
    let salt = words.next().map(Salt::parse).transpose()?;
    Ok(TakeProof { signature, session_version, salt })
}
