//! Whether a take counts in the snapshot of its session.

use std::cmp::Ordering;

use crate::domain::{Figures, Snapshot, Timestamp};
use crate::rules::PublicTake;

/// Whether a take counts in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// It does.
    Counted,
    /// It was filed after the snapshot was written.
    Late,
    /// Its member was not on the roster, or excused. Or a later revision counts.
    NotExpected,
}

/// Whether the latest take of a member counts in a snapshot with these figures, of which only quotes were left out.
/// `counts` is whether takes of its member do. `None` where only the quotes say: the take was filed in the millisecond
/// of the aggregation.
pub fn counting_by_time(filed_at: Timestamp, figures: &Figures, counts: bool) -> Option<Counting> {
    match filed_at.cmp(&figures.aggregated_at) {
        Ordering::Greater => Some(Counting::Late),
        Ordering::Equal => None,
        Ordering::Less if counts => Some(Counting::Counted),
        Ordering::Less => Some(Counting::NotExpected),
    }
}

/// Whether a take counts in the snapshot of its session.
pub fn counting(take: &PublicTake, snapshot: &Snapshot) -> Counting {
    if snapshot.quotes.iter().any(|quote| quote.take_id == take.id()) {
        Counting::Counted
    } else if take.filed_at() >= snapshot.figures.aggregated_at {
        Counting::Late
    } else {
        Counting::NotExpected
    }
}
