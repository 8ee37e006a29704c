//! Charts: pure functions from figures to inline SVG.
//!
//! Drawings are never scaled, so that text stays readable at every width: horizontal positions are
//! percentages, vertical ones are pixels, and text has the size that the style sheet sets. Where a
//! narrow page needs another layout, there are two drawings and the style sheet shows one of them.
//! Colours are classes; the style sheet defines them for light, dark and print.

mod bars;
mod field;
mod member;
mod scale;
mod sparkline;
mod strip;
mod subject;
mod svg;

pub(crate) use bars::{Shares, shares_of};
pub(crate) use field::{Dot, Mean, shown, signed, stance_field};
pub(crate) use member::{Point, member_line};
pub(crate) use sparkline::{Spark, sparkline};
pub(crate) use strip::{Counts, strip};
pub(crate) use subject::{Mark, Score, Timeline, Value, subject_lines};

/// The five stances from bearish to bullish. Colour is never the only sign of a stance: the word is
/// always there too.
pub(crate) const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];

/// The index of a stance in [`STANCES`], by its rank, −2 to 2.
fn place(rank: i8) -> usize {
    usize::try_from(rank.clamp(-2, 2) + 2).unwrap_or_default()
}

/// The name of the stance with this rank, −2 to 2.
fn named(rank: i8) -> &'static str {
    STANCES.get(place(rank)).copied().unwrap_or("neutral")
}
