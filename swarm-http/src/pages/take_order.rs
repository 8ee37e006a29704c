//! The orders in which the page of a session lists its takes.

use std::cmp::Reverse;

use swarm_core::rules::PublicTake;

use super::stance;

/// An order of takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakeOrder {
    /// Those for, those against, the neutral ones; within a side by confidence.
    Side,
    /// By confidence, the highest first.
    Confidence,
    /// By the time of filing, the newest first.
    Newest,
}

impl TakeOrder {
    pub(super) const ALL: [Self; 3] = [Self::Side, Self::Confidence, Self::Newest];

    /// Reads the value of the query parameter.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|order| order.value() == text);
        found.ok_or_else(|| "must be side, confidence or newest".to_owned())
    }

    /// The value of the query parameter.
    pub(super) fn value(self) -> &'static str {
        match self {
            Self::Side => "side",
            Self::Confidence => "confidence",
            Self::Newest => "newest",
        }
    }

    /// The order in words: `by side`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Side => "by side",
            Self::Confidence => "by confidence",
            Self::Newest => "newest first",
        }
    }

    pub(super) fn sort(self, takes: &mut [PublicTake]) {
        match self {
            Self::Newest => takes.sort_unstable_by_key(|take| Reverse(take.id())),
            Self::Confidence => takes.sort_by(by_confidence),
            Self::Side => {
                takes.sort_by(|a, b| side(a).cmp(&side(b)).then_with(|| by_confidence(a, b)))
            }
        }
    }
}

fn by_confidence(a: &PublicTake, b: &PublicTake) -> std::cmp::Ordering {
    let sure = |take: &PublicTake| take.open().map_or(-1.0, |take| take.draft().confidence.get());
    sure(b).total_cmp(&sure(a)).then(b.id().cmp(&a.id()))
}

/// The side that a take is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TakeSide {
    For,
    Against,
    Neutral,
    Other,
    Sealed,
}

impl TakeSide {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::For => "For",
            Self::Against => "Against",
            Self::Neutral => "Neutral",
            Self::Other => "Other stances",
            Self::Sealed => "Sealed",
        }
    }
}

/// The side of a take.
pub(super) fn side(take: &PublicTake) -> TakeSide {
    let Some(take) = take.open() else { return TakeSide::Sealed };
    match stance::rank(take.draft().stance.as_str()) {
        Some(1..) => TakeSide::For,
        Some(..0) => TakeSide::Against,
        Some(0) => TakeSide::Neutral,
        None => TakeSide::Other,
    }
}
