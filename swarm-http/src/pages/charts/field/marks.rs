//! What the field shows: dots, and their mean.

use crate::pages::charts::named;
use crate::pages::markup::clipped;

/// Longest name in a tooltip, in letters.
const MAX_NAME: usize = 40;

/// A member's take with a known stance.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    /// The member's name.
    pub(crate) name: String,
    /// The path of the take, if it has a page.
    pub(crate) href: Option<String>,
    /// The rank of the stance, −2 to 2.
    pub(crate) rank: i8,
    /// The confidence, 0 to 1.
    pub(crate) confidence: f64,
}

impl Dot {
    /// The tooltip.
    pub(super) fn title(&self) -> String {
        let name = clipped(&self.name, MAX_NAME);
        format!("{name}: {} {:.2}", named(self.rank), self.confidence)
    }
}

/// The mean of the stances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mean {
    /// The score, −2 to 2.
    pub(crate) score: f64,
    /// The mean distance of the members from it.
    pub(crate) distance: f64,
    /// Whether the mean is the consensus. A session without a quorum has no consensus.
    pub(crate) is_consensus: bool,
}

impl Mean {
    /// `consensus +0.84`, `mean of those filed +0.84`
    pub(super) fn words(self) -> String {
        let what = if self.is_consensus { "consensus" } else { "mean of those filed" };
        format!("{what} {}", signed(self.score))
    }

    /// The class of its lines.
    pub(super) fn class(self) -> &'static str {
        if self.is_consensus { "mean" } else { "mean open" }
    }

    /// The score and both ends of its whisker, within the scale.
    pub(super) fn extent(self) -> [f64; 3] {
        [self.score, self.score - self.distance, self.score + self.distance]
            .map(|score| score.clamp(-2.0, 2.0))
    }
}

/// A figure with its sign, a true minus: `−0.50`.
pub(crate) fn signed(figure: f64) -> String {
    let sign = if figure < 0.0 { '−' } else { '+' };
    format!("{sign}{:.2}", figure.abs())
}

/// The figure that [`signed`] shows.
pub(crate) fn shown(figure: f64) -> f64 {
    format!("{figure:.2}").parse().unwrap_or(figure)
}

/// The stance of a column or row, with its place on the scale: `−2`, `0`, `+1`.
pub(super) fn tick(at: usize) -> &'static str {
    ["−2", "−1", "0", "+1", "+2"].get(at).copied().unwrap_or_default()
}
