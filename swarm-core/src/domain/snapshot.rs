//! The snapshot of a session: what aggregation wrote, once and for all.

use serde::Serialize;

use super::{Body, Bucket, Confidence, MemberId, Revision, Stance, TakeId, Timestamp};

/// The frozen outcome of a session (API.md, 6.5). Written once, never recomputed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// When it was written, by the store's clock.
    pub aggregated_at: Timestamp,
    /// How many members took part.
    pub participation: Participation,
    /// Whether enough did; `None` where no quorum was set.
    pub quorum: Option<Quorum>,
    /// How many took each stance.
    pub stances: Stances,
    /// Where they stand together; `None` where nobody took a known stance.
    pub consensus: Option<Consensus>,
    /// The mean of the distributions; `None` where no take carries one.
    pub weights: Option<Vec<BucketWeight>>,
    /// What they said, word for word, one per member.
    pub quotes: Vec<Quote>,
}

/// How many distinct members took part, of how many expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Participation {
    /// Distinct members with a take on file.
    pub members: usize,
    /// Members on the roster that are not excused; `None` without a roster.
    pub expected: Option<usize>,
    /// Expected members that took part, as a part of the expected; `None` without any.
    pub rate: Option<f64>,
}

/// The quorum that was set, and whether it was met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quorum {
    /// The members needed.
    pub required: u32,
    /// Whether as many took part.
    pub met: bool,
}

/// The number of members for each known stance, and for all others together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stances {
    /// Rank −2.
    pub bearish: usize,
    /// Rank −1.
    pub cautious: usize,
    /// Rank 0.
    pub neutral: usize,
    /// Rank 1.
    pub constructive: usize,
    /// Rank 2.
    pub bullish: usize,
    /// Stances that aggregation does not understand.
    pub other: usize,
}

/// Where the members with a known stance stand together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Consensus {
    /// The known stance nearest to the score; ties go toward neutral.
    pub stance: &'static str,
    /// The mean rank, weighted by confidence; −2 to 2.
    pub score: f64,
    /// The mean confidence; 0 to 1.
    pub confidence: f64,
}

/// The mean share of a bucket; all of them together are 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BucketWeight {
    /// The bucket.
    pub bucket: Bucket,
    /// Its mean share, 0 to 1.
    pub weight: f64,
}

/// One member's take, quoted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// The take.
    pub take_id: TakeId,
    /// Whose it is.
    pub member_id: MemberId,
    /// Which revision counted.
    pub revision: Revision,
    /// Its stance.
    pub stance: Stance,
    /// Its confidence.
    pub confidence: Confidence,
    /// Its write-up, verbatim.
    pub body: Body,
}
