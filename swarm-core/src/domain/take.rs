//! Takes: the signed opinions of members, as sent and as stored.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{Deserializer, Error as _, IgnoredAny};
use serde::{Deserialize, Serialize, Serializer};

use super::distinct::are_distinct;
use super::form::{self, Described, FormSchema};
use super::json::{Fields, Json, Object};
use super::{
    Body, Bucket, Day, Digest, Invalid, MemberId, MemoUrl, Nonce, PublicKey, Revision, Salt,
    SessionId, Signature, Signed, Stance, SubjectId, TakeId, TextDigests, Timestamp, Withheld,
};

/// The signed fields of a take (API.md, 3.1). Serializing it gives the canonical payload: the order
/// of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeDraft {
    /// The author.
    pub member_id: MemberId,
    /// The day of the session.
    pub date: Day,
    /// The subject of the session.
    pub subject_id: SubjectId,
    /// Unique among all takes of the member.
    pub nonce: Nonce,
    /// The position taken.
    pub stance: Stance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The write-up; empty when omitted.
    pub body: Body,
    /// The address of a longer memo; empty when omitted.
    pub memo_url: MemoUrl,
    /// The distribution over buckets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
}

impl TakeDraft {
    /// A take without a write-up, a memo and weights, which are fields to set.
    pub fn new(
        member_id: MemberId,
        date: Day,
        subject_id: SubjectId,
        nonce: Nonce,
        stance: Stance,
        confidence: Confidence,
    ) -> Self {
        let (body, memo_url) = (Body::none(), MemoUrl::none());
        let weights = None;
        Self { member_id, date, subject_id, nonce, stance, confidence, body, memo_url, weights }
    }

    /// Reads the fields of a signing draft.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule (API.md, 5.1).
    pub fn read(fields: &mut dyn Fields) -> Result<Self, Invalid> {
        Ok(Self {
            member_id: MemberId::parse(fields.text("memberId")?)?,
            date: Day::parse(&fields.text("date")?)?,
            subject_id: SubjectId::parse(fields.text("subjectId")?)?,
            nonce: Nonce::parse(fields.text("nonce")?)?,
            stance: Stance::parse(fields.text("stance")?)?,
            confidence: Confidence::parse(fields.number("confidence")?)?,
            body: Body::parse(fields.text_if_any("body")?.unwrap_or_default())?,
            memo_url: MemoUrl::parse(fields.text_if_any("memoUrl")?.unwrap_or_default())?,
            weights: Weights::read(fields)?,
        })
    }
}

/// The text of an example of a take, with these fields after its own.
macro_rules! example {
    ($($more:literal)?) => {
        concat!(
            r#"{
            "memberId": "3f0c9d52-8a4e-4b5c-9c27-6d1e0f6a2b11", "date": "2026-11-21", "subjectId": "aurora",
            "nonce": "aurora-2026-11-21-1", "stance": "cautious", "confidence": 0.62,
            "body": "Revenue is flat, and the new fee needs users who are not there yet.", "memoUrl": "",
            "weights": [{"bucket": "hold", "weight": 0.7}, {"bucket": "reduce", "weight": 0.3}]"#,
            $($more,)?
            "}"
        )
    };
}

impl form::Form for TakeDraft {
    fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Self::read(fields)
    }
}

impl Described for TakeDraft {
    const NAME: &'static str = "TakeDraft";
    const TOPIC: &'static str = "takes";

    fn describe(schema: &mut FormSchema) {
        schema.description = "What a member signs: the line of JSON of memberId, date, subjectId, nonce, stance, \
            confidence, body and memoUrl (the empty string when absent), and weights where there are any, in this order, as \
            JSON.stringify writes it. Each weight is {bucket, weight}, in the order sent.";
        schema.example = example!();
        schema.add::<MemberId>("memberId", "");
        schema.add::<Day>("date", "");
        schema.add::<SubjectId>("subjectId", "");
        schema.add::<Nonce>("nonce", "Used once per member, ever.");
        schema.require("stance", FormSchema::reference("Stance"), "");
        schema.require("confidence", FormSchema::reference("Confidence"), "");
        schema.add::<Option<Body>>("body", "");
        schema.add::<Option<MemoUrl>>("memoUrl", "Any text; never fetched.");
        schema.allow("weights", FormSchema::reference("Weights"));
    }
}

impl Signed<TakeDraft> {
    /// An example of a take with its signature.
    pub(crate) const EXAMPLE: &'static str = example!(
        r#", "signature": "H16/gHbdmvx0GpT9Ilng4DxGwOuq67pLo9hK8c7oYxaQIRihblT+PhrgGAA4APp6i0cxT+keSUKWOL03u4YvAw==""#
    );

    /// The same example, with the key of its member.
    pub(crate) const EXAMPLE_WITH_KEY: &'static str = example!(
        r#", "signature": "H16/gHbdmvx0GpT9Ilng4DxGwOuq67pLo9hK8c7oYxaQIRihblT+PhrgGAA4APp6i0cxT+keSUKWOL03u4YvAw==",
        "publicKey": "cHJPUSdG9XlGh/lG8peTuzR1IBW56umVsG2mMtrk2Pc=""#
    );

    /// Reads a take and its signature.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut dyn Fields) -> Result<Self, Invalid> {
        let payload = TakeDraft::read(fields)?;
        let signature = Signature::parse(fields.text("signature")?)?;
        Ok(Self { payload, signature })
    }

    /// Reads a take and its signature even if fields are invalid. Each invalid field is replaced by a valid
    /// value, and its error is returned. The errors are in the order in which the fields are read.
    ///
    /// # Errors
    /// [`Invalid`] when a field cannot be replaced; every field that a take has can be.
    pub fn read_leniently(mut fields: Object) -> Result<(Self, Vec<Invalid>), Invalid> {
        let mut invalid: Vec<Invalid> = Vec::new();
        loop {
            let fault = match Self::read(&mut fields.clone()) {
                Ok(signed) => return Ok((signed, invalid)),
                Err(fault) => fault,
            };
            if invalid.iter().any(|known| known.field == fault.field) {
                return Err(fault);
            }
            match fault.field {
                "bucket" | "weight" | "weights" => fields.set("weights", Json::Null),
                "confidence" => fields.set("confidence", 0.0.into()),
                "date" => fields.set("date", "0001-01-01".into()),
                other => fields.set(other, "-".into()),
            }
            invalid.push(fault);
        }
    }
}

/// The confidence of a member: a number from 0 to 1, inclusive (API.md, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Confidence(#[serde(serialize_with = "crate::domain::json::exact")] f64);

impl Confidence {
    /// Checks that `value` is from 0 to 1. Negative zero becomes zero, since `JSON.stringify`
    /// writes no sign.
    ///
    /// # Errors
    /// [`Invalid`] for any other number, and for NaN.
    pub fn parse(value: f64) -> Result<Self, Invalid> {
        if (0.0..=1.0).contains(&value) {
            return Ok(Self(value.abs()));
        }
        Err(Invalid::new("confidence", "must be a number from 0 to 1"))
    }

    /// Returns the number, 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A bucket and its weight. Only the proportions of the weights count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Weight {
    /// The bucket.
    pub bucket: Bucket,
    /// Its weight: finite and not negative.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub weight: f64,
}

impl Weight {
    fn read(entry: &mut dyn Fields) -> Result<Self, Invalid> {
        let bucket = Bucket::parse(entry.text("bucket")?)?;
        let weight = entry.number("weight")?;
        Ok(Self { bucket, weight })
    }
}

/// The weights of a take: at most 1,000 distinct buckets, finite weights that are not negative, and a
/// positive, finite total (API.md, 5.1). Only their proportion counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Vec<Weight>")]
pub struct Weights(
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 1_000)))] Vec<Weight>,
);

impl Weights {
    /// The maximum number of entries.
    pub const MAX: u16 = 1_000;

    fn read(fields: &mut dyn Fields) -> Result<Option<Self>, Invalid> {
        let mut entries = Vec::new();
        let mut add = |entry: &mut dyn Fields| {
            let read = Weight::read(entry);
            let in_list = |Invalid { field, rule }| {
                let place = entries.len() + 1;
                let rule = format!(
                    "must be a list of {{bucket, weight}}, and {field} of entry {place} {rule}"
                );
                Invalid::new("weights", rule)
            };
            read.map_err(in_list).map(|weight| entries.push(weight))
        };
        let is_there = fields.objects_if_any("weights", &mut add)?;
        is_there.then(|| Self::parse(entries)).transpose()
    }

    /// Checks the entries and keeps their order.
    ///
    /// # Errors
    /// [`Invalid`] when they break one of the rules above. An empty list has no positive total.
    pub fn parse(entries: Vec<Weight>) -> Result<Self, Invalid> {
        let invalid = |rule| Err(Invalid::new("weights", rule));
        if entries.len() > usize::from(Self::MAX) {
            return invalid("must have at most 1,000 entries");
        }
        if !are_distinct(entries.iter().map(|entry| entry.bucket.as_str())) {
            return invalid("must name each bucket once");
        }
        if !entries.iter().all(|entry| entry.weight >= 0.0 && entry.weight.is_finite()) {
            return invalid("must be finite and not negative");
        }
        let total = ascending_sum(entries.iter().map(|entry| entry.weight));
        if !(total > 0.0 && total.is_finite()) {
            return invalid("must have a positive, finite total");
        }
        Ok(Self(entries))
    }

    /// Returns the entries, in the order given.
    pub fn entries(&self) -> &[Weight] {
        &self.0
    }
}

impl TryFrom<Vec<Weight>> for Weights {
    type Error = Invalid;

    fn try_from(entries: Vec<Weight>) -> Result<Self, Invalid> {
        Self::parse(entries)
    }
}

/// The sum of `values`, added in ascending order, so that the result does not depend on their
/// order.
pub(crate) fn ascending_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    // Short lists are sorted on the stack.
    let mut buffer = [0.0; 16];
    let count = values.clone().count();
    let Some(buffer) = buffer.get_mut(..count) else {
        return sorted_sum(&mut values.collect::<Vec<_>>());
    };
    buffer.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
    sorted_sum(buffer)
}

fn sorted_sum(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}

/// A stored take: immutable, with everything that is needed to verify it (API.md, 6.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// Its id, `recommendationId` in the response to a submission.
    pub id: TakeId,
    /// The session it was filed in.
    pub session_id: SessionId,
    /// The version of the session under which it was judged. The entry of the log has it (API.md, 11.2), the public
    /// record does not: a take that was read from its record has 0.
    pub session_version: u64,
    /// Its number among its member's takes in that session.
    pub revision: Revision,
    /// The time of the commit, by the store's clock.
    pub filed_at: Timestamp,
    /// The payload and the signature.
    pub signed: Arc<Signed<TakeDraft>>,
    /// The key that verified it.
    pub public_key: PublicKey,
    /// The salt of its seal, if it was filed in a blind session before that was opened.
    pub salt: Option<Salt>,
    /// The mark of an operator who withheld its texts. Serializing a take with a mark omits them.
    pub withheld: Option<Withheld>,
}

impl Take {
    /// Returns the signed payload.
    pub fn draft(&self) -> &TakeDraft {
        &self.signed.payload
    }

    /// Its seal, if it was filed in a blind session before that was opened (API.md, 5.8).
    pub fn seal(&self) -> Option<Digest> {
        match self.removed() {
            Some(removed) => removed.seal,
            None => self.salt.map(|salt| salt.seal(&self.signed)),
        }
    }

    /// Returns the digest of the canonical bytes that were signed.
    pub fn digest(&self) -> Digest {
        match self.removed() {
            Some(removed) => removed.digest,
            None => Digest::of_json(self.draft()),
        }
    }

    /// Returns whether the record has the texts that were signed, so that its signature can be verified.
    pub fn has_texts(&self) -> bool {
        self.removed().is_none()
    }

    fn removed(&self) -> Option<&TextDigests> {
        self.withheld.as_ref().and_then(|withheld| withheld.removed.as_ref())
    }

    /// Returns the take with this mark and without its texts, but with their digests.
    #[must_use]
    pub fn without_texts(&self, mark: &Withheld) -> Self {
        let removed = Some(TextDigests { digest: self.digest(), seal: self.seal() });
        let draft =
            TakeDraft { body: Body::none(), memo_url: MemoUrl::none(), ..self.draft().clone() };
        let signature = self.signed.signature.clone();
        Self {
            signed: Arc::new(Signed { payload: draft, signature }),
            withheld: Some(Withheld { removed, ..mark.clone() }),
            ..self.clone()
        }
    }

    /// Returns the take as readers are shown it: without texts that are withheld.
    #[must_use]
    pub fn shown(self: &Arc<Self>) -> Arc<Self> {
        match &self.withheld {
            Some(mark) if self.has_texts() => Arc::new(self.without_texts(mark)),
            _ => Arc::clone(self),
        }
    }

    /// The text that a store and a dump keep of the take: with texts that are withheld, unless they were erased.
    pub(crate) fn kept_text(&self) -> String {
        struct Kept<'a>(&'a Take);
        impl Serialize for Kept<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                record(self.0, None, Form::Kept, serializer)
            }
        }
        super::json::write(&Kept(self))
    }
}

/// A take, and the id of the revision that superseded it, as a read of a single take shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeOnFile<T = Arc<Take>> {
    /// The take.
    pub take: T,
    /// The id of the next revision, if any.
    pub superseded_by: Option<TakeId>,
}

impl Serialize for Take {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        record(self, None, Form::Public, serializer)
    }
}

impl Serialize for TakeOnFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        record(&self.take, self.superseded_by, Form::Public, serializer)
    }
}

/// A form of the record of a take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The form for readers: without texts that are withheld.
    Public,
    /// The form for a store: with texts that are withheld, or with their digest if they were erased.
    Kept,
}

/// A take on file; immutable. With the member's key, it can be verified from this record alone.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Record<'a> {
    /// The id.
    id: TakeId,
    /// The session it was filed in.
    session_id: SessionId,
    /// Its number among its member's takes in that session.
    revision: Revision,
    /// The author.
    member_id: Cow<'a, MemberId>,
    /// The day of the session.
    date: Day,
    /// The subject of the session.
    subject_id: Cow<'a, SubjectId>,
    /// Used once per member, ever.
    nonce: Cow<'a, Nonce>,
    /// The position taken.
    stance: Cow<'a, Stance>,
    /// The confidence of the member.
    confidence: Confidence,
    /// The write-up; empty if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Body"))]
    body: Option<Cow<'a, Body>>,
    /// The address of a longer memo; empty if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "MemoUrl"))]
    memo_url: Option<Cow<'a, MemoUrl>>,
    /// When its body and memoUrl were withheld, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Withheld"))]
    withheld: Option<Cow<'a, Withheld>>,
    /// The distribution over buckets.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Cow<'a, Weights>>,
    /// The signature.
    signature: Cow<'a, Signature>,
    /// The key that verified it.
    public_key: Cow<'a, PublicKey>,
    /// The time of the commit, by the store's clock.
    filed_at: Timestamp,
    /// The digest of what was signed, in a store that has not got the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    digest: Option<DigestField>,
    /// Its seal, if it was filed in a blind session before that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Option<Digest>>"))]
    sealed: Option<DigestField>,
    /// The salt of the seal, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<Salt>,
    /// The next revision.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    superseded_by: Option<TakeId>,
}

impl Record<'_> {
    /// The take of a record with texts that are withheld, or with their digest if they were erased. The record does not have the
    /// version of the session: that is 0.
    fn into_take(self) -> Result<Take, Invalid> {
        let has_texts = self.body.is_some();
        let removed = || {
            let digest = self.digest.map(|digest| digest.read("digest")).transpose()?.flatten();
            let seal = self.sealed.map(|seal| seal.read("sealed")).transpose()?.flatten();
            Ok(TextDigests { digest: digest.ok_or_else(|| Invalid::missing("digest"))?, seal })
        };
        let withheld = match self.withheld.map(Cow::into_owned) {
            Some(mark) if has_texts => Some(mark),
            Some(mark) => Some(Withheld { removed: Some(removed()?), ..mark }),
            None => None,
        };
        let payload = TakeDraft {
            member_id: self.member_id.into_owned(),
            date: self.date,
            subject_id: self.subject_id.into_owned(),
            nonce: self.nonce.into_owned(),
            stance: self.stance.into_owned(),
            confidence: self.confidence,
            body: self.body.map_or_else(Body::none, Cow::into_owned),
            memo_url: self.memo_url.map_or_else(MemoUrl::none, Cow::into_owned),
            weights: self.weights.map(Cow::into_owned),
        };
        Ok(Take {
            id: self.id,
            session_id: self.session_id,
            session_version: 0,
            revision: self.revision,
            filed_at: self.filed_at,
            signed: Arc::new(Signed { payload, signature: self.signature.into_owned() }),
            public_key: self.public_key.into_owned(),
            salt: self.salt,
            withheld,
        })
    }
}

/// Reads the public record, with texts that are withheld, or with their digest if they were erased. It does not have the
/// version of the session: reading it leaves that 0.
impl<'de> Deserialize<'de> for Take {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Record::deserialize(deserializer)?.into_take().map_err(D::Error::custom)
    }
}

/// A digest that is read of records without texts alone: any other record has what it is computed from.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum DigestField {
    Digest(Option<Digest>),
    #[serde(skip_serializing)]
    Other(IgnoredAny),
}

impl DigestField {
    fn read(self, name: &'static str) -> Result<Option<Digest>, Invalid> {
        match self {
            Self::Digest(digest) => Ok(digest),
            Self::Other(_) => Err(Invalid::new(name, "must be a digest")),
        }
    }
}

fn record<S: Serializer>(
    take: &Take,
    superseded_by: Option<TakeId>,
    form: Form,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let draft = take.draft();
    let has_texts = match form {
        Form::Public => take.withheld.is_none(),
        Form::Kept => take.has_texts(),
    };
    let removed = take.removed().filter(|_| form == Form::Kept);
    let record = Record {
        id: take.id,
        session_id: take.session_id,
        revision: take.revision,
        member_id: Cow::Borrowed(&draft.member_id),
        date: draft.date,
        subject_id: Cow::Borrowed(&draft.subject_id),
        nonce: Cow::Borrowed(&draft.nonce),
        stance: Cow::Borrowed(&draft.stance),
        confidence: draft.confidence,
        body: has_texts.then_some(Cow::Borrowed(&draft.body)),
        memo_url: has_texts.then_some(Cow::Borrowed(&draft.memo_url)),
        withheld: take.withheld.as_ref().map(Cow::Borrowed),
        weights: draft.weights.as_ref().map(Cow::Borrowed),
        signature: Cow::Borrowed(&take.signed.signature),
        public_key: Cow::Borrowed(&take.public_key),
        filed_at: take.filed_at,
        digest: removed.map(|removed| DigestField::Digest(Some(removed.digest))),
        sealed: take.salt.map(|_| DigestField::Digest(take.seal())),
        salt: take.salt,
        superseded_by,
    };
    record.serialize(serializer)
}
