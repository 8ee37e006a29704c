//! The orders in which the page of a session lists its takes, and the parts in which it does.

use std::cmp::Reverse;

use swarm_core::domain::StanceScale;
use swarm_core::rules::{PublicTake, RankedPosition};
use swarm_core::{Session, TakeId};

use super::disagreement::Voice;
use super::lists::{TakeView, number_param, part_title};
use crate::request::RequestContext;
use crate::request::portion::Portion;
use crate::response::ApiError;

/// Takes per page. With takes of usual length a page of this many is within the limit of bytes, so it is rendered once.
const PER_PAGE: usize = 32;

/// An order of takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakeOrder {
    /// Those for, those against, the neutral ones; within a side by confidence.
    Side,
    /// By confidence, the highest first.
    Confidence,
    /// By the time of filing, the newest first.
    Newest,
}

impl TakeOrder {
    const ALL: [Self; 3] = [Self::Side, Self::Confidence, Self::Newest];

    /// Reads the value of the query parameter.
    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|order| order.value() == text);
        found.ok_or_else(|| "must be side, confidence or newest".to_owned())
    }

    /// The value of the query parameter.
    fn value(self) -> &'static str {
        match self {
            Self::Side => "side",
            Self::Confidence => "confidence",
            Self::Newest => "newest",
        }
    }

    /// The order in words: `by side`.
    fn words(self) -> &'static str {
        match self {
            Self::Side => "by side",
            Self::Confidence => "by confidence",
            Self::Newest => "newest first",
        }
    }

    fn sort(self, scale: &StanceScale, takes: &mut [PublicTake]) {
        match self {
            Self::Newest => takes.sort_unstable_by_key(|take| Reverse(take.id())),
            Self::Confidence => takes.sort_by(by_confidence),
            Self::Side => {
                let side = |take: &PublicTake| side(scale, take);
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
enum TakeSide {
    For,
    Against,
    Neutral,
    Other,
    Sealed,
}

impl TakeSide {
    /// The side of a stance with this rank.
    fn of_rank(rank: Option<f64>) -> Self {
        match rank {
            Some(rank) if rank > 0.0 => Self::For,
            Some(rank) if rank < 0.0 => Self::Against,
            Some(_) => Self::Neutral,
            None => Self::Other,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::For => "For",
            Self::Against => "Against",
            Self::Neutral => "Neutral",
            Self::Other => "Other stances",
            Self::Sealed => "Sealed",
        }
    }
}

/// The side of a take in a session with this scale.
fn side(scale: &StanceScale, take: &PublicTake) -> TakeSide {
    let Some(take) = take.open() else { return TakeSide::Sealed };
    TakeSide::of_rank(RankedPosition::of_take(scale, take).map(|position| position.rank))
}

/// A take of a list by side.
pub(super) struct ListedTake {
    /// The side and how many takes on it count, at the first take of each side.
    pub(super) heading: Option<(&'static str, usize)>,
    pub(super) take: TakeView,
}

/// What part of the takes a page lists, in which order.
#[derive(Clone, Copy)]
pub(super) struct Place {
    order: TakeOrder,
    /// The order without a parameter.
    default: TakeOrder,
    /// Takes that come before the part.
    skipped: usize,
    /// The take before which the part of newest takes is.
    before: Option<TakeId>,
}

impl Place {
    pub(super) fn of(request: &RequestContext) -> Result<Self, ApiError> {
        let before = number_param(request, "before")?.map(TakeId);
        let default = if before.is_some() { TakeOrder::Newest } else { TakeOrder::Side };
        let from = number_param(request, "from")?.unwrap_or(1).max(1);
        let order = request.filter("sort", TakeOrder::parse)?.unwrap_or(default);
        let is_newest = order == TakeOrder::Newest;
        Ok(Self {
            order,
            default: TakeOrder::Side,
            skipped: if is_newest { 0 } else { usize::try_from(from - 1).unwrap_or(usize::MAX) },
            before: before.filter(|_| is_newest),
        })
    }

    /// The place in a session. Takes that are sealed are on no side.
    pub(super) fn in_order_of(self, session: &Session) -> Self {
        if !session.is_sealed() {
            return self;
        }
        Self { order: TakeOrder::Newest, default: TakeOrder::Newest, skipped: 0, ..self }
    }

    /// Sorts the takes of a session.
    pub(super) fn sort(&self, scale: &StanceScale, takes: &mut [PublicTake]) {
        self.order.sort(scale, takes);
    }

    /// The takes of the part, and the place of the next one.
    pub(super) fn part<'a>(
        &self,
        takes: &'a [PublicTake],
        portion: Portion,
    ) -> (&'a [PublicTake], Option<Self>) {
        let skipped = match self.before {
            Some(before) => takes.partition_point(|take| take.id() >= before),
            None => self.skipped.min(takes.len()),
        };
        let rest = takes.get(skipped..).unwrap_or_default();
        let (shown, more) = rest.split_at(rest.len().min(portion.of(PER_PAGE)));
        let next = shown.last().filter(|_| !more.is_empty()).map(|last| match self.order {
            TakeOrder::Newest => Self { before: Some(last.id()), ..*self },
            _ => Self { skipped: skipped + shown.len(), ..*self },
        });
        (shown, next)
    }

    pub(super) fn is_first(&self) -> bool {
        self.before.is_none() && self.skipped == 0
    }

    /// The address of the part, at the path of the session.
    pub(super) fn address(&self, base: &str) -> String {
        let sort = (self.order != self.default && self.before.is_none())
            .then(|| format!("sort={}", self.order.value()));
        let before = self.before.map(|before| format!("before={before}"));
        let from = (self.skipped > 0).then(|| format!("from={}", self.skipped.saturating_add(1)));
        let query: Vec<_> = sort.into_iter().chain(before).chain(from).collect();
        if query.is_empty() { base.to_owned() } else { format!("{base}?{}", query.join("&")) }
    }

    /// The canonical address of the part. The first part is the same page in every order.
    pub(super) fn canonical(&self, base: &str) -> String {
        if self.is_first() { base.to_owned() } else { self.address(base) }
    }

    pub(super) fn title(&self, session: &str) -> String {
        let session = match self.order {
            order if order == self.default => session.to_owned(),
            order => format!("{session}, {}", order.words()),
        };
        match self.before {
            Some(before) => part_title(&session, "before take", Some(before)),
            None if self.skipped > 0 => {
                part_title(&session, "from take", Some(self.skipped.saturating_add(1)))
            }
            None => session,
        }
    }

    /// Links to the orders, where there is something to order.
    pub(super) fn links(
        &self,
        session: &Session,
        takes: usize,
        base: &str,
    ) -> Vec<(&'static str, Option<String>)> {
        if session.is_sealed() || takes < 2 {
            return Vec::new();
        }
        let link = |order: TakeOrder| {
            let place = Self { order, skipped: 0, before: None, ..*self };
            let is_here = order == self.order && self.is_first();
            (order.words(), (!is_here).then(|| place.address(base)))
        };
        TakeOrder::ALL.map(link).to_vec()
    }

    /// The takes of the part, by side with headings, which count these voices.
    pub(super) fn listed(
        &self,
        scale: &StanceScale,
        shown: &[PublicTake],
        voices: &[Voice<'_>],
        view: impl Fn(&PublicTake) -> TakeView,
    ) -> Vec<ListedTake> {
        let mut last: Option<TakeSide> = None;
        let listed = shown.iter().map(|take| {
            let side_of = Some(side(scale, take)).filter(|_| self.order == TakeOrder::Side);
            let count = |of: TakeSide| {
                voices.iter().filter(|voice| TakeSide::of_rank(voice.rank) == of).count()
            };
            let heading = side_of.filter(|_| side_of != last).map(|of| (of.word(), count(of)));
            last = side_of;
            ListedTake { heading, take: view(take) }
        });
        listed.collect()
    }
}
