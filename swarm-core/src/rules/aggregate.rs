//! The snapshot of a session, from the takes that count (contract, section 4).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::resolve;
use crate::domain::{
    Bucket, BucketWeight, Consensus, Participation, Quorum, Quote, STANCES, Session, Snapshot,
    Stances, Take, Timestamp, Weights,
};

/// The snapshot of `session` from all its takes. Superseded revisions count for nothing; the order
/// of filing only breaks ties between quotes, since sums run in the order of member ids.
pub fn aggregate(session: &Session, takes: &[Arc<Take>], now: Timestamp) -> Snapshot {
    let mut takes = resolve(takes);
    takes.sort_unstable_by(|a, b| a.draft().member_id.cmp(&b.draft().member_id));
    Snapshot {
        aggregated_at: now,
        participation: participation(session, &takes),
        quorum: session.quorum.map(|required| Quorum {
            required,
            met: usize::try_from(required).is_ok_and(|required| takes.len() >= required),
        }),
        stances: stances(&takes),
        consensus: consensus(&takes),
        weights: mean_weights(&takes),
        quotes: quotes(&takes),
    }
}

fn participation(session: &Session, takes: &[Arc<Take>]) -> Participation {
    let members = takes.len();
    let Some(roster) = &session.roster else {
        return Participation { members, expected: None, rate: None };
    };
    let took_part: HashSet<_> = takes.iter().map(|take| &take.draft().member_id).collect();
    let expected: Vec<_> = roster.entries().iter().filter(|entry| !entry.excused).collect();
    let came = expected.iter().filter(|entry| took_part.contains(&entry.member_id)).count();
    let rate = (!expected.is_empty()).then(|| number(came) / number(expected.len()));
    Participation { members, expected: Some(expected.len()), rate }
}

fn stances(takes: &[Arc<Take>]) -> Stances {
    let mut stances = Stances::default();
    for take in takes {
        let count = match take.draft().stance.known() {
            Some(-2) => &mut stances.bearish,
            Some(-1) => &mut stances.cautious,
            Some(0) => &mut stances.neutral,
            Some(1) => &mut stances.constructive,
            Some(2) => &mut stances.bullish,
            _ => &mut stances.other,
        };
        *count += 1;
    }
    stances
}

fn consensus(takes: &[Arc<Take>]) -> Option<Consensus> {
    let known: Vec<(f64, f64)> = takes
        .iter()
        .filter_map(|take| {
            let rank = take.draft().stance.known()?;
            Some((f64::from(rank), take.draft().confidence.get()))
        })
        .collect();
    if known.is_empty() {
        return None;
    }
    let count = number(known.len());
    let total: f64 = known.iter().map(|(_, confidence)| confidence).sum();
    let score = if total > 0.0 {
        known.iter().map(|(rank, confidence)| rank * confidence).sum::<f64>() / total
    } else {
        known.iter().map(|(rank, _)| rank).sum::<f64>() / count
    };
    // The sum of tiny confidences may round; the mean of ranks never leaves their range.
    let score = score.clamp(-2.0, 2.0);
    Some(Consensus { stance: nearest(score), score, confidence: total / count })
}

/// The known stance whose rank is nearest to `score`; ties go toward neutral.
fn nearest(score: f64) -> &'static str {
    let distance = |rank: i8| (f64::from(rank) - score).abs();
    STANCES
        .iter()
        .min_by(|(_, a), (_, b)| {
            distance(*a).total_cmp(&distance(*b)).then(a.unsigned_abs().cmp(&b.unsigned_abs()))
        })
        .map_or("neutral", |(name, _)| name)
}

/// Each distribution normalized, then their unweighted mean, by bucket name.
fn mean_weights(takes: &[Arc<Take>]) -> Option<Vec<BucketWeight>> {
    let carried: Vec<&Weights> =
        takes.iter().filter_map(|take| take.draft().weights.as_ref()).collect();
    if carried.is_empty() {
        return None;
    }
    let mut shares: BTreeMap<&Bucket, f64> = BTreeMap::new();
    for weights in &carried {
        let total: f64 = weights.entries().iter().map(|entry| entry.weight).sum();
        for entry in weights.entries() {
            *shares.entry(&entry.bucket).or_default() += entry.weight / total;
        }
    }
    let mean = |(bucket, share): (&Bucket, f64)| BucketWeight {
        bucket: bucket.clone(),
        weight: share / number(carried.len()),
    };
    Some(shares.into_iter().map(mean).collect())
}

/// Known stances first, then by confidence from high to low, then by filing.
fn quotes(takes: &[Arc<Take>]) -> Vec<Quote> {
    let mut ordered: Vec<&Arc<Take>> = takes.iter().collect();
    ordered.sort_by(|a, b| {
        let unknown = |take: &Take| take.draft().stance.known().is_none();
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
        body: draft.body.clone(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of members are far below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}
