//! The snapshot of a session: the frozen result of its aggregation.

use serde::Serialize;

use super::{Body, Bucket, Confidence, MemberId, Revision, Stance, TakeId, Timestamp};

/// The result of aggregating a session (API.md, 6.5). Written once, never recomputed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// The mean of the weight distributions; `None` when no take has weights.
    pub weights: Option<Vec<BucketWeight>>,
    /// The write-ups verbatim, one for each member.
    pub quotes: Vec<Quote>,
}

/// The figures of a snapshot: all of it that does not grow with the number of takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Participation {
    /// Distinct members with a take.
    pub members: usize,
    /// Members on the roster that are not excused; `None` without a roster.
    pub expected: Option<usize>,
    /// The share of the expected members that took part, 0 to 1; `None` when none are expected.
    pub rate: Option<f64>,
}

/// The quorum that was set, and whether it was met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quorum {
    /// The required number of members.
    pub required: u32,
    /// Whether at least that many took part.
    pub met: bool,
}

/// The number of members for each known stance, and for all other stances together.
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
    /// Any other stance.
    pub other: usize,
}

/// The combined position of the members with a known stance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Consensus {
    /// The known stance nearest to the score; a tie goes to the one closer to neutral.
    pub stance: &'static str,
    /// The mean rank, weighted by confidence; −2 to 2.
    pub score: f64,
    /// The mean confidence; 0 to 1.
    pub confidence: f64,
}

/// The mean share of a bucket. The shares of all buckets add up to 1.
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
    /// The author.
    pub member_id: MemberId,
    /// The revision that counted.
    pub revision: Revision,
    /// The stance.
    pub stance: Stance,
    /// The confidence.
    pub confidence: Confidence,
    /// Its write-up, verbatim.
    pub body: Body,
}
