//! Charts: pure functions from figures to SVG that stands in the page.
//!
//! No drawing is ever scaled: across, places are percentages of the room there is; down, they are
//! pixels; text has the size that the style sheet gives it. So text stays readable at every width.
//! Where a narrow page needs another arrangement, there are two drawings, and the style sheet shows
//! one of them. Colours are classes, so that dark and print are the style sheet's business.

mod bars;
mod field;
mod member;
mod strip;
mod svg;
mod value;

pub(crate) use bars::{Bar, bars};
pub(crate) use field::{Dot, signed, stance_field};
pub(crate) use member::{Point, member_line};
pub(crate) use strip::{Counts, strip};
pub(crate) use value::{Legend, Value, value_line};

/// The five stances from bearish to bullish; what stands in colour always stands in words, too.
pub(crate) const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];

/// Where a stance stands among the five, 0 to 4, by its rank, −2 to 2.
fn place(rank: i8) -> usize {
    usize::try_from(rank.clamp(-2, 2) + 2).unwrap_or_default()
}

/// The stance of this rank, −2 to 2.
fn named(rank: i8) -> &'static str {
    STANCES.get(place(rank)).copied().unwrap_or("neutral")
}
