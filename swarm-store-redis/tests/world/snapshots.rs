//! A long snapshot.

use std::sync::Arc;

use swarm_core::domain::SessionState::Aggregated;
use swarm_core::domain::{
    Body, Confidence, Figures, MemberId, Participation, Quote, Revision, Snapshot, Stance, Stances,
    Timestamp,
};
use swarm_core::{Session, TakeId};

/// Aggregates a session. Its snapshot has almost 1 MiB, and takes are not needed for it.
pub(crate) fn aggregate(session: &mut Session) {
    aggregate_with(session, 100);
}

/// The same with as many quotes, of 10 kB each.
pub(crate) fn aggregate_with(session: &mut Session, quotes: usize) {
    let figures = Figures {
        aggregated_at: Timestamp::EPOCH,
        participation: Participation { members: 1, expected: None, rate: None },
        quorum: None,
        stances: Stances::default(),
        consensus: None,
    };
    let quote = |number: usize| Quote {
        take_id: TakeId(1),
        member_id: MemberId::parse(format!("member {number}")).unwrap(),
        revision: Revision::CAP,
        stance: Stance::parse("bullish").unwrap(),
        confidence: Confidence::parse(0.5).unwrap(),
        body: Body::parse("\u{fc}".repeat(4_900) + &number.to_string()).unwrap(),
    };
    let quotes = (0..quotes).map(quote).collect();
    session.state = Aggregated;
    session.snapshot = Some(Arc::new(Snapshot { figures, weights: None, quotes }));
}
