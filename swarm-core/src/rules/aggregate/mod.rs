//! Aggregation: computes the snapshot of a session from the takes that count (API.md, 6.5).

mod consensus;
mod figures;
mod position;
mod weights;

use std::sync::Arc;

use consensus::consensus;
pub(in crate::rules) use figures::number;
use weights::mean_weights;

pub use position::{Position, score};

use super::resolve;
use crate::domain::{
    Figures, Participation, Quorum, Quote, Session, Snapshot, Stances, Take, Timestamp,
};

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
        stances: stances(&takes),
        consensus: consensus(&takes),
    };
    Snapshot { figures, weights: mean_weights(session, &takes), quotes: quotes(&takes) }
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
    let expected = roster.entries().iter().filter(|entry| !entry.excused).count();
    let rate = (expected > 0).then(|| number(members) / number(expected));
    Participation { members, expected: Some(expected), rate }
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

/// Quotes with a known stance come first, then those with higher confidence, then those filed
/// earlier.
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
