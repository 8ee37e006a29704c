//! The snapshot of a session, from the takes that count (contract, section 4).

mod consensus;
mod figures;
mod weights;

use std::collections::HashSet;
use std::sync::Arc;

use consensus::consensus;
use figures::number;
use weights::mean_weights;

use super::resolve;
use crate::domain::{Participation, Quorum, Quote, Session, Snapshot, Stances, Take, Timestamp};

/// The snapshot of `session` from all its takes. Superseded revisions count for nothing; the order
/// of filing only breaks ties between quotes, and ids change no figure: sums run in the order of the
/// values.
pub fn aggregate(session: &Session, takes: &[Arc<Take>], now: Timestamp) -> Snapshot {
    let takes = resolve(takes);
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
