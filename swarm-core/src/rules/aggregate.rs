//! Aggregation: computes the snapshot of a session from the takes that count (API.md, 6.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::resolve;
use crate::domain::{
    Bucket, BucketWeight, Confidence, Consensus, Figures, Method, Participation, Quorum, Quote,
    Session, Snapshot, Stance, StanceScale, Stances, Take, Timestamp, Weight, Weights,
    ascending_sum,
};

/// A stance that has a rank, with its confidence, on the scale of the service. Positions in sessions with different
/// stances compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPosition {
    /// The [normalized](StanceScale::normalized) rank of the stance, −2 to 2.
    pub rank: f64,
    /// The confidence, 0 to 1.
    pub confidence: f64,
}

impl RankedPosition {
    /// Returns the position of this stance in a session with these stances; `None` for another one.
    pub fn of(scale: &StanceScale, stance: &Stance, confidence: Confidence) -> Option<Self> {
        let rank = scale.normalized(scale.rank(stance)?);
        Some(Self { rank, confidence: confidence.get() })
    }

    /// Returns the position of a take.
    pub fn of_take(scale: &StanceScale, take: &Take) -> Option<Self> {
        Self::of(scale, &take.draft().stance, take.draft().confidence)
    }

    /// Returns the position of a quote in a snapshot.
    pub fn of_quote(scale: &StanceScale, quote: &Quote) -> Option<Self> {
        Self::of(scale, &quote.stance, quote.confidence)
    }
}

/// Returns the mean rank weighted by confidence, −2 to 2; the plain mean if all confidences are 0. `None`
/// without positions. It does not depend on their order.
pub fn score(positions: &[RankedPosition]) -> Option<f64> {
    let ranked = positions.iter().map(|it| Ranked { rank: it.rank, confidence: it.confidence });
    let ranked = in_order(ranked);
    (!ranked.is_empty()).then(|| rounded(mean(&ranked)))
}

/// A take whose stance has a rank: the rank as the session has it, and the confidence.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    rank: f64,
    confidence: f64,
}

/// In ascending order of rank and confidence, so that sums do not depend on the order of filing.
fn in_order(ranked: impl Iterator<Item = Ranked>) -> Vec<Ranked> {
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable_by(|a, b| {
        a.rank.total_cmp(&b.rank).then(a.confidence.total_cmp(&b.confidence))
    });
    ranked
}

/// Computes the snapshot of `session` from all its takes. Superseded revisions do not count, nor do
/// takes of members that are not on the roster or are excused now.
///
/// The figures do not depend on the order of filing or on ids, because sums run in the order of the
/// values. Only ties between quotes are broken by the order of filing.
pub fn aggregate(session: &Session, takes: &[Arc<Take>], now: Timestamp) -> Snapshot {
    let takes = counted(session, takes);
    let figures = Figures {
        aggregated_at: now,
        participation: participation(session, &takes),
        quorum: session.quorum.map(|required| Quorum {
            required,
            met: usize::try_from(required).is_ok_and(|required| takes.len() >= required),
        }),
        stances: stances(session, &takes),
        consensus: consensus(session, &takes),
    };
    let (weights, quotes) = (mean_weights(session, &takes), quotes(session, &takes));
    Snapshot { figures, weights, quotes, original: None }
}

/// The takes that count: the highest revision of each expected member.
fn counted(session: &Session, takes: &[Arc<Take>]) -> Vec<Arc<Take>> {
    let mut counted = resolve(takes);
    counted.retain(|take| session.expects(&take.draft().member_id));
    counted
}

fn participation(session: &Session, takes: &[Arc<Take>]) -> Participation {
    let members = takes.len();
    let Some(roster) = &session.roster else {
        return Participation { members, expected: None, rate: None };
    };
    let expected = roster.expected().count();
    let rate = (expected > 0).then(|| number(members) / number(expected));
    Participation { members, expected: Some(expected), rate }
}

fn stances(session: &Session, takes: &[Arc<Take>]) -> Stances {
    let mut stances = Stances::none(session.declaration.stances.as_ref());
    takes.iter().for_each(|take| stances.add(&take.draft().stance));
    stances
}

/// The score and the mean confidence. `None` when no take has a stance with a rank.
fn consensus(session: &Session, takes: &[Arc<Take>]) -> Option<Consensus> {
    let scale = session.declaration.scale();
    let ranked = in_order(takes.iter().filter_map(|take| {
        let draft = take.draft();
        Some(Ranked { rank: scale.rank(&draft.stance)?, confidence: draft.confidence.get() })
    }));
    if ranked.is_empty() {
        return None;
    }
    let score = rounded(match session.declaration.method() {
        Method::Mean => mean(&ranked),
        Method::WeightedMedian => weighted_median(&ranked),
    });
    let total: f64 = ranked.iter().map(|it| it.confidence).sum();
    Some(Consensus {
        stance: scale.nearest(score)?.clone(),
        score,
        confidence: rounded(total / number(ranked.len())),
        method: session.declaration.method,
    })
}

/// The mean rank weighted by confidence; the plain mean if all confidences are 0. The takes are in order, and there is
/// one.
fn mean(ranked: &[Ranked]) -> f64 {
    let total: f64 = ranked.iter().map(|it| it.confidence).sum();
    if total > 0.0 {
        ranked.iter().map(|it| it.rank * it.confidence).sum::<f64>() / total
    } else {
        ranked.iter().map(|it| it.rank).sum::<f64>() / number(ranked.len())
    }
}

/// The lower weighted median: the smallest rank up to which the takes have at least half of all confidence; half of the
/// takes if all confidences are 0. The takes are in order, and there is one.
///
/// A confidence counts as a whole number of 10⁻¹², to which it is rounded, so that sums are exact: ten times 0.1 is as
/// much as 1.
fn weighted_median(ranked: &[Ranked]) -> f64 {
    let weights: Vec<_> = ranked.iter().map(|it| trillionths(it.confidence)).collect();
    let has_weight = weights.iter().any(|weight| *weight > 0);
    let weight = |weight: &u128| if has_weight { *weight } else { 1 };
    let total: u128 = weights.iter().map(weight).sum();
    let mut cumulative = 0;
    for (it, own) in ranked.iter().zip(&weights) {
        cumulative += weight(own);
        if 2 * cumulative >= total {
            return it.rank;
        }
    }
    0.0
}

/// A confidence, 0 to 1, as a number of 10⁻¹², rounded half away from zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is from 0 to 10^12"
)]
fn trillionths(confidence: f64) -> u128 {
    // The product is so near to a whole number that rounding it is exact.
    (rounded(confidence) * 1e12).round() as u128
}

/// The unweighted mean of the normalized distributions. If the session lists buckets, the result
/// has exactly those, in that order; otherwise it is sorted by bucket name. `None` when no take has
/// a distribution.
fn mean_weights(session: &Session, takes: &[Arc<Take>]) -> Option<Vec<BucketWeight>> {
    let listed = session.buckets.as_deref();
    let weights = takes.iter().filter_map(|take| take.draft().weights.as_ref());
    let distributions: Vec<_> = weights.filter_map(|weights| normalized(weights, listed)).collect();
    if distributions.is_empty() {
        return None;
    }
    let count = number(distributions.len());
    let mut shares: BTreeMap<&Bucket, Vec<f64>> = BTreeMap::new();
    for (bucket, share) in distributions.into_iter().flatten() {
        shares.entry(bucket).or_default().push(share);
    }
    let buckets = match listed {
        Some(listed) => listed.iter().collect(),
        None => shares.keys().copied().collect::<Vec<_>>(),
    };
    let mean = |bucket: &Bucket| {
        let sum = ascending_sum(shares.remove(bucket).unwrap_or_default().into_iter());
        BucketWeight { bucket: bucket.clone(), weight: rounded(sum / count) }
    };
    Some(buckets.into_iter().map(mean).collect())
}

/// The share of each bucket, restricted to the listed buckets if there are any. `None` when none of
/// them has a positive weight.
fn normalized<'a>(
    weights: &'a Weights,
    listed: Option<&[Bucket]>,
) -> Option<Vec<(&'a Bucket, f64)>> {
    let counts = |entry: &&Weight| listed.is_none_or(|listed| listed.contains(&entry.bucket));
    let entries: Vec<_> = weights.entries().iter().filter(counts).collect();
    let total = ascending_sum(entries.iter().map(|entry| entry.weight));
    let share = |entry: &'a Weight| (&entry.bucket, entry.weight / total);
    (total > 0.0).then(|| entries.into_iter().map(share).collect())
}

/// Quotes with a known stance come first, then those with higher confidence, then those filed
/// earlier.
fn quotes(session: &Session, takes: &[Arc<Take>]) -> Vec<Quote> {
    let scale = session.declaration.scale();
    let mut ordered: Vec<&Arc<Take>> = takes.iter().collect();
    ordered.sort_by(|a, b| {
        let unknown = |take: &Take| scale.rank(&take.draft().stance).is_none();
        let confidence = |take: &Take| take.draft().confidence.get();
        unknown(a)
            .cmp(&unknown(b))
            .then(confidence(b).total_cmp(&confidence(a)))
            .then(a.id.cmp(&b.id))
    });
    ordered.into_iter().map(|take| quote(take)).collect()
}

fn quote(take: &Take) -> Quote {
    let draft = take.draft();
    Quote {
        take_id: take.id,
        member_id: draft.member_id.clone(),
        revision: take.revision,
        stance: draft.stance.clone(),
        confidence: draft.confidence,
        body: take.has_texts().then(|| draft.body.clone()),
    }
}

/// Rounds to 12 decimals, half away from zero. Zero loses its sign.
///
/// Rust's formatter rounds the exact value of the double, and ties to even. The only doubles
/// halfway between two such decimals are the odd multiples of 2⁻¹³. For these, the next double away
/// from zero is formatted instead.
pub(super) fn rounded(value: f64) -> f64 {
    let size = value.abs();
    let halfway = (size * 8_192.0) % 2.0 == 1.0;
    let beyond = if halfway { size.next_up() } else { size };
    let rounded: f64 = format!("{beyond:.12}").parse().unwrap_or(size);
    // Adding zero turns -0 into 0.
    rounded.copysign(value) + 0.0
}

#[expect(clippy::cast_precision_loss, reason = "numbers of members are far below 2^53")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_to_twelve_decimals() {
        for (value, expected) in [
            (0.1 + 0.2, 0.3),
            (-1.500_000_000_000_000_2, -1.5),
            (2.0 / 3.0, 0.666_666_666_667),
            (1.0 / 3.0, 0.333_333_333_333),
            (0.499_999_999_999_6, 0.5),
            (4.9e-13, 0.0),
            (5e-324, 0.0),
            (2.0, 2.0),
        ] {
            assert_eq!(rounded(value).to_bits(), f64::to_bits(expected), "{value}");
            assert_eq!(rounded(-value).to_bits(), (0.0 - expected).to_bits(), "-{value}");
        }
    }

    #[test]
    fn ties_round_away_from_zero() {
        // Multiples of 2^-13 = 0.0001220703125: thirteen decimals, the last of them a 5.
        for (odd, expected) in [(1.0, 0.000_122_070_313), (3.0, 0.000_366_210_938)] {
            assert_eq!(rounded(odd / 8_192.0), expected);
            assert_eq!(rounded(-odd / 8_192.0), -expected);
        }
        assert_eq!(rounded(2.0 / 8_192.0), 0.000_244_140_625);
        // A value just below the tie is rounded to the nearer decimal.
        assert_eq!(rounded((1.0_f64 / 8_192.0).next_down()), 0.000_122_070_312);
    }
}
