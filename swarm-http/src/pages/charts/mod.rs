//! Charts: pure functions from figures to inline SVG.
//!
//! Drawings are never scaled, so that text stays readable at every width: horizontal positions are
//! percentages, vertical ones are pixels, and text has the size that the style sheet sets. Where a
//! narrow page needs another layout, there are two drawings and the style sheet shows one of them.
//! Colours are classes; the style sheet defines them for light, dark and print.

mod axis;
mod bars;
mod field;
mod member;
mod scale;
mod sparkline;
mod strip;
mod subject;
mod svg;

use swarm_core::domain::StanceScale;

pub(crate) use axis::StanceAxis;
pub(crate) use bars::{Shares, shares_of};
pub(crate) use field::{Dot, Mean, range, shown, signed, stance_field, tick};
pub(crate) use member::{Point, member_line};
pub(crate) use sparkline::{Spark, sparkline};
pub(crate) use strip::{Counts, strip};
pub(crate) use subject::{Mark, Score, Timeline, Value, subject_lines};
pub(crate) use svg::float;

/// The five stances of the service from bearish to bullish, which are also the classes of the colours. Colour is never the only
/// sign of a stance: the word is always there too.
pub(crate) const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];

/// The class of the colour of a rank on the scale of the service, −2 to 2: that of the nearest stance.
pub(crate) fn tone_of(rank: f64) -> &'static str {
    // Out of bounds is the nearest bound; in the middle of two stances, the one nearer to neutral.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 4")]
    let place = ((rank.clamp(-2.0, 2.0).abs() - 0.5).ceil().max(0.0).copysign(rank) + 2.0) as usize;
    STANCES.get(place).copied().unwrap_or("neutral")
}

/// The class of the colour of the stance at this place of a scale.
pub(crate) fn tone(scale: &StanceScale, place: usize) -> &'static str {
    let stance = scale.stances().get(place);
    tone_of(stance.map_or(0.0, |stance| scale.normalized(stance.rank)))
}
