//! Tests of scores, records and the ranking.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics")]

mod oracle;
mod properties;

use std::sync::Arc;

use swarm_core::domain::{Body, Confidence, Day, Quote, Revision, SessionDraft, Stance};
use swarm_core::rules::aggregate;
use swarm_core::{Session, SessionId, TakeId, Timestamp};
use swarm_testing::{id, session_draft};

fn quote(take: u64, member: &str, stance: &str, confidence: f64) -> Quote {
    Quote {
        take_id: TakeId(take),
        member_id: id(member),
        revision: Revision::FIRST,
        stance: Stance::parse(stance).unwrap(),
        confidence: Confidence::parse(confidence).unwrap(),
        body: Some(Body::parse("").unwrap()),
    }
}

/// An aggregated session with these quotes.
fn session(number: u64, date: &str, subject: &str, quotes: Vec<Quote>) -> Session {
    let draft = SessionDraft { date: Day::parse(date).unwrap(), ..session_draft(subject) };
    let session = draft.convened(SessionId(number), Timestamp::EPOCH);
    let mut snapshot = aggregate(&session, &[], Timestamp::EPOCH);
    snapshot.quotes = quotes;
    Session { snapshot: Some(Arc::new(snapshot)), ..session }
}
