//! What the field shows: dots, and their mean.

use swarm_core::domain::StanceScale;
use swarm_core::json::write;

use crate::pages::charts::svg::float;
use crate::pages::markup::clipped;

/// Longest name in a tooltip, in letters.
const MAX_NAME: usize = 40;

/// A member's take with a stance that has a rank.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    /// The member's name.
    pub(crate) name: String,
    /// The path of the take, if it has a page.
    pub(crate) href: Option<String>,
    /// The place of the stance on the scale, from 0.
    pub(crate) place: usize,
    /// The confidence, 0 to 1.
    pub(crate) confidence: f64,
}

impl Dot {
    /// The tooltip.
    pub(super) fn title(&self, scale: &StanceScale) -> String {
        let member = clipped(&self.name, MAX_NAME);
        format!("{member}: {} {:.2}", name(scale, self.place), self.confidence)
    }
}

/// The name of the stance at a place.
pub(super) fn name(scale: &StanceScale, place: usize) -> &str {
    scale.stances().get(place).map_or("", |stance| stance.name.as_str())
}

/// The mean of the stances, or another score that is computed from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    /// The score, on the scale.
    pub(crate) score: f64,
    /// The mean distance of the members from it.
    pub(crate) distance: f64,
    /// Whether the score is the consensus. A session without a quorum has no consensus.
    pub(crate) is_consensus: bool,
    /// Whether the score is a median.
    pub(crate) is_median: bool,
}

impl Mean {
    /// `consensus +0.84`, `mean of those filed +0.84`
    pub(super) fn words(self) -> String {
        let what = match (self.is_consensus, self.is_median) {
            (true, _) => "consensus",
            (false, false) => "mean of those filed",
            (false, true) => "median of those filed",
        };
        format!("{what} {}", signed(self.score))
    }

    /// The class of its lines.
    pub(super) fn class(self) -> &'static str {
        if self.is_consensus { "mean" } else { "mean open" }
    }

    /// The score and both ends of its whisker, within the scale, as [`along`] places them.
    pub(super) fn extent(self, scale: &StanceScale) -> [f64; 3] {
        [self.score, self.score - self.distance, self.score + self.distance]
            .map(|score| along(scale, score))
    }
}

/// The place of a score among the places of the stances, which are equally far apart: between two stances in proportion to
/// the distances from their ranks.
pub(super) fn along(scale: &StanceScale, score: f64) -> f64 {
    let stances = scale.stances();
    let score = score.clamp(scale.lowest(), scale.highest());
    let between = |(at, pair): (usize, &[swarm_core::domain::RankedStance])| {
        let [from, to] = pair else { return None };
        let part = (score - from.rank) / (to.rank - from.rank);
        (0.0..=1.0).contains(&part).then(|| float(at) + part)
    };
    stances.windows(2).enumerate().find_map(between).unwrap_or_default()
}

/// A figure with two decimals and its sign, for example `+0.50` or `−0.50` (U+2212). A figure that rounds to zero has no sign: `0.00`.
pub(crate) fn signed(figure: f64) -> String {
    match format!("{:.2}", figure.abs()) {
        zero if zero == "0.00" => zero,
        text if figure < 0.0 => format!("−{text}"),
        text => format!("+{text}"),
    }
}

/// The figure that [`signed`] shows.
pub(crate) fn shown(figure: f64) -> f64 {
    format!("{figure:.2}").parse().unwrap_or(figure)
}

/// The lowest and the highest rank: `−2 to +2`.
pub(crate) fn range(scale: &StanceScale) -> String {
    let last = scale.stances().len().saturating_sub(1);
    format!("{} to {}", tick(scale, 0), tick(scale, last))
}

/// The rank of a stance, by its place: `−2`, `0`, `+1`. Without signs if no rank is negative.
pub(crate) fn tick(scale: &StanceScale, at: usize) -> String {
    let rank = scale.stances().get(at).map_or(0.0, |stance| stance.rank);
    let sign = match rank {
        rank if rank < 0.0 => "−",
        rank if rank > 0.0 && scale.lowest() < 0.0 => "+",
        _ => "",
    };
    format!("{sign}{}", write(&rank.abs()))
}
