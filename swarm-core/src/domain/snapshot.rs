//! The snapshot of a session: the frozen result of its aggregation.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::{
    Body, Bucket, Confidence, Digest, MemberId, Method, RankedStance, Revision, Stance,
    StanceScale, TakeId, Timestamp,
};

/// The result of aggregating a session (API.md, 6.5). Written once, never recomputed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// The mean of the weight distributions; `None` when no take has weights.
    #[cfg_attr(feature = "schema", schemars(with = "Option<MeanWeights>"))]
    pub weights: Option<Vec<BucketWeight>>,
    /// The write-ups verbatim, one for each member.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<QuoteRecord<'static>>"))]
    pub quotes: Vec<Quote>,
    /// The digest of the snapshot as it was written, if write-ups were withheld since.
    #[serde(skip)]
    pub original: Option<Digest>,
}

impl Snapshot {
    /// Returns the digest of the snapshot as it was written.
    pub fn digest(&self) -> Digest {
        self.original.unwrap_or_else(|| Digest::of_json(self))
    }

    /// Returns the snapshot without the write-ups of these takes.
    #[must_use]
    pub fn withholding(&self, takes: &HashSet<TakeId>) -> Self {
        let is_quoted = |quote: &Quote| quote.body.is_some() && takes.contains(&quote.take_id);
        if !self.quotes.iter().any(is_quoted) {
            return self.clone();
        }
        let mut without = Self { original: Some(self.digest()), ..self.clone() };
        for quote in without.quotes.iter_mut().filter(|quote| takes.contains(&quote.take_id)) {
            quote.body = None;
        }
        without
    }

    /// Returns the snapshot with the write-up of a take that was withheld.
    #[must_use]
    pub fn restoring(&self, take: TakeId, body: &Body) -> Self {
        let mut restored = self.clone();
        for quote in restored.quotes.iter_mut().filter(|quote| quote.take_id == take) {
            quote.body = Some(body.clone());
        }
        if restored.original == Some(Digest::of_json(&restored)) {
            restored.original = None;
        }
        restored
    }
}

/// The figures of a snapshot: all of it that does not grow with the number of takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// When the snapshot was written, by the store's clock.
    pub aggregated_at: Timestamp,
    /// The number of members that took part.
    pub participation: Participation,
    /// Whether the quorum was met; `None` when none was set.
    pub quorum: Option<Quorum>,
    /// The number of members with each stance.
    pub stances: Stances,
    /// The combined position; `None` when no take has a known stance.
    pub consensus: Option<Consensus>,
}

/// The number of distinct members that took part, and of those expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Participation {
    /// Distinct members with a take.
    pub members: usize,
    /// Members on the roster that are not excused; `None` without a roster.
    pub expected: Option<usize>,
    /// The share of the expected members that took part, 0 to 1; `None` when none are expected.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub rate: Option<f64>,
}

/// The quorum that was set, and whether it was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quorum {
    /// The required number of members.
    pub required: u32,
    /// Whether at least that many took part.
    pub met: bool,
}

/// The number of members for each stance of the session, and, unless the session declares its stances, for all other
/// stances together.
#[derive(Clone, Debug, PartialEq)]
pub struct Stances {
    scale: StanceScale,
    /// One count for each stance of the scale, in the order of the scale.
    counts: Vec<usize>,
    /// `None` if the session declares its stances: then no take has another one.
    other: Option<usize>,
}

impl Stances {
    /// Returns counts of 0 for these stances, or for those of the service.
    pub fn none(declared: Option<&StanceScale>) -> Self {
        let scale = declared.unwrap_or_else(|| StanceScale::of_service()).clone();
        let counts = vec![0; scale.stances().len()];
        Self { scale, counts, other: declared.is_none().then_some(0) }
    }

    /// Returns these counts for the stances of the service, from bearish to bullish, and for any other stance.
    pub fn of_service(counts: [usize; 5], other: usize) -> Self {
        let scale = StanceScale::of_service().clone();
        Self { scale, counts: counts.to_vec(), other: Some(other) }
    }

    /// Counts one more member with this stance.
    pub fn add(&mut self, stance: &Stance) {
        self.add_all(stance, 1);
    }

    /// Counts so many more members with this stance.
    pub(crate) fn add_all(&mut self, stance: &Stance, members: usize) {
        let count = self.scale.place(stance).and_then(|place| self.counts.get_mut(place));
        if let Some(count) = count.or(self.other.as_mut()) {
            *count += members;
        }
    }

    /// Counts so many more members with a stance that is not counted by name.
    pub(crate) fn add_others(&mut self, members: usize) {
        if let Some(other) = &mut self.other {
            *other += members;
        }
    }

    /// Returns the stances that are counted by name.
    pub fn scale(&self) -> &StanceScale {
        &self.scale
    }

    /// Returns each stance with its count, in ascending order of the ranks.
    pub fn counts(&self) -> impl Iterator<Item = (&RankedStance, usize)> {
        self.scale.stances().iter().zip(self.counts.iter().copied())
    }

    /// Returns the number of members with any other stance.
    pub fn other(&self) -> usize {
        self.other.unwrap_or(0)
    }
}

/// No members, by the stances of the service.
impl Default for Stances {
    fn default() -> Self {
        Self::none(None)
    }
}

impl Serialize for Stances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut counts = serializer.serialize_map(None)?;
        for (stance, count) in self.counts() {
            counts.serialize_entry(&stance.name, &count)?;
        }
        if let Some(other) = self.other {
            counts.serialize_entry("other", &other)?;
        }
        counts.end()
    }
}

/// The combined position of the members with a known stance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Consensus {
    /// The stance whose rank is nearest to the score; a tie goes to the one nearer to the middle of the ranks.
    pub stance: Stance,
    /// The score, by the method of the session: from its lowest rank to its highest, −2 to 2 unless it declares others.
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub score: f64,
    /// The mean confidence; 0 to 1.
    #[cfg_attr(feature = "schema", schemars(with = "Confidence"))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub confidence: f64,
    /// The method of aggregation, if the session declares one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
}

/// The mean share of a bucket. The shares of all buckets add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct BucketWeight {
    /// The bucket.
    pub bucket: Bucket,
    /// Its mean share, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub weight: f64,
}

/// The mean weights, of each bucket.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
struct MeanWeights(#[expect(dead_code, reason = "only its schema is used")] Vec<BucketWeight>);

/// One member's take, quoted.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// The take.
    pub take_id: TakeId,
    /// The author.
    pub member_id: MemberId,
    /// The revision that counted.
    pub revision: Revision,
    /// The stance.
    pub stance: Stance,
    /// The confidence.
    pub confidence: Confidence,
    /// Its write-up, verbatim; `None` if it is withheld.
    pub body: Option<Body>,
}

impl Serialize for Quote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { take_id, member_id, revision, stance, confidence, body } = self;
        QuoteRecord {
            take_id: *take_id,
            member_id: Cow::Borrowed(member_id),
            revision: *revision,
            stance: Cow::Borrowed(stance),
            confidence: *confidence,
            body: body.as_ref().map(Cow::Borrowed),
            withheld: body.is_none(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Quote {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = QuoteRecord::deserialize(deserializer)?;
        let body = match record.withheld {
            true => None,
            false => Some(record.body.ok_or_else(|| D::Error::missing_field("body"))?.into_owned()),
        };
        Ok(Self {
            take_id: record.take_id,
            member_id: record.member_id.into_owned(),
            revision: record.revision,
            stance: record.stance.into_owned(),
            confidence: record.confidence,
            body,
        })
    }
}

/// One member's take, quoted.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
struct QuoteRecord<'a> {
    /// The take.
    take_id: TakeId,
    /// The author.
    member_id: Cow<'a, MemberId>,
    /// The revision that counted.
    revision: Revision,
    /// The stance.
    stance: Cow<'a, Stance>,
    /// The confidence.
    confidence: Confidence,
    /// Its write-up, verbatim; `None` if it is withheld.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    body: Option<Cow<'a, Body>>,
    /// Whether its write-up is withheld; omitted on the wire if it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    withheld: bool,
}
