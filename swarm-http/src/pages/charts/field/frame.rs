//! The parts that all drawings of the stance field share: dots, columns, axis and consensus mark.

use crate::pages::charts::svg::{Anchor, Svg, figure, length};
use crate::pages::charts::{STANCES, named, place};
use crate::pages::markup::Markup;

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
        format!("{}: {} {:.2}", self.name, named(self.rank), self.confidence)
    }
}

/// Maximum number of members that are all drawn with their names.
pub(super) const MAX_NAMED: usize = 19;

/// `consensus +0.84`
pub(super) fn consensus_text(score: f64) -> String {
    format!("consensus {}", signed(score))
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

#[cfg(test)]
#[test]
fn differences_of_shown_figures_are_those_that_readers_compute() {
    let (from, to) = (0.3551, 0.7046);
    assert_eq!([from, to].map(signed), ["+0.36", "+0.70"]);
    assert_eq!(signed(shown(to) - shown(from)), "+0.34");
}

/// The members of one stance, highest confidence first.
pub(super) fn of_place(dots: &[Dot], at: usize) -> Vec<&Dot> {
    let mut members: Vec<_> = dots.iter().filter(|dot| place(dot.rank) == at).collect();
    members.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.name.cmp(&b.name)));
    members
}

/// Position of the first of the five columns in wide drawings, and the width of each, in percent. The
/// rest, to the right of the last column, is for names.
pub(super) const FIRST: f64 = 7.0;
pub(super) const COLUMN: f64 = 18.5;

/// Vertical positions of the top of the field and of its axis, in pixels.
pub(super) const TOP: f64 = 12.0;
pub(super) const AXIS: f64 = TOP + HEIGHT;
const HEIGHT: f64 = 200.0;

/// Starts a wide drawing: grid, axis, labels and the consensus mark.
pub(super) fn frame(dots: &[Dot], consensus: Option<f64>, label: &str) -> Svg {
    let height = AXIS + if consensus.is_some() { 54.0 } else { 30.0 };
    let mut svg = Svg::with_links("field wide", height, label);
    svg.word(Anchor::Start, (0.0, TOP + 4.0), "conf. 1");
    svg.word(Anchor::Start, (0.0, AXIS - 6.0), "conf. 0");
    for (at, stance) in STANCES.into_iter().enumerate() {
        let x = column(at);
        svg.line("grid", (x, TOP), (x, AXIS));
        let count = dots.iter().filter(|dot| place(dot.rank) == at).count();
        let without_count = count == 0 || dots.len() <= MAX_NAMED;
        let word = if without_count { stance.to_owned() } else { format!("{stance} {count}") };
        svg.word(Anchor::Middle, (x, AXIS + 22.0), &word);
    }
    svg.line("axis", (0.0, AXIS), (100.0, AXIS));
    if let Some(score) = consensus {
        let x = FIRST + COLUMN * (score.clamp(-2.0, 2.0) + 2.0);
        svg.corner(x, AXIS, |corner| corner.push_str("<path class=\"mean\" d=\"M0 1l6 9h-12z\"/>"));
        svg.name(Anchor::Middle, (x, AXIS + 44.0), 0.0, &consensus_text(score));
    }
    svg
}

pub(super) fn column(at: usize) -> f64 {
    FIRST + COLUMN * length(at)
}

/// Width of a column on the narrowest wide page, and of the room to the right of the last, in pixels.
const COLUMN_ROOM: f64 = 122.0;
const LAST_ROOM: f64 = 122.0;

/// Approximate width of a letter, in pixels.
const LETTER: f64 = 7.5;

/// How many letters fit from `from` pixels to the right of a column's line, at this height: into the columns
/// to the right too, as far as `is_free`.
pub(super) fn letters(at: usize, from: f64, is_free: impl Fn(usize) -> bool) -> usize {
    let last = STANCES.len() - 1;
    let end = (at + 1..=last).find(|column| !is_free(*column)).unwrap_or(STANCES.len());
    let room = if end > last {
        COLUMN_ROOM * length(last - at) + LAST_ROOM
    } else {
        COLUMN_ROOM * length(end - at) - 8.0
    };
    (0..=40).rev().find(|count| length(*count) * LETTER <= room - from).unwrap_or_default()
}

/// Vertical position of a confidence in a wide drawing, in pixels.
pub(super) fn down(confidence: f64) -> f64 {
    AXIS - 10.0 - (HEIGHT - 20.0) * confidence.clamp(0.0, 1.0)
}

/// Finishes a narrow drawing: the axis, the labels below it, and the consensus mark.
pub(super) fn finish_rows(
    mut svg: Svg,
    lines: &[f64; 5],
    consensus: Option<f64>,
    bottom: f64,
    left: &str,
) -> Markup {
    svg.line("axis", (0.0, bottom - 18.0), (100.0, bottom - 18.0));
    svg.word(Anchor::Start, (0.0, bottom), left);
    svg.word(Anchor::End, (100.0, bottom), "confidence 1");
    if let Some(score) = consensus {
        mark_rows(&mut svg, lines, score, bottom);
    }
    svg.finish()
}

/// Starts a narrow drawing. The labels of its axis are at `bottom`, the consensus text below them.
pub(super) fn begin_rows(bottom: f64, consensus: Option<f64>, label: &str) -> Svg {
    let below = if consensus.is_some() { 10.0 + CONSENSUS } else { 10.0 };
    Svg::with_links("field narrow", bottom + below, label)
}

/// Distance from the axis labels to the consensus text, in pixels.
const CONSENSUS: f64 = 22.0;

/// Draws the consensus mark at the right edge of a narrow drawing. `lines` are the heights of the
/// rows, from bearish to bullish.
fn mark_rows(svg: &mut Svg, lines: &[f64; 5], score: f64, bottom: f64) {
    let along = score.clamp(-2.0, 2.0) + 2.0;
    let between = |pair: (usize, &[f64])| {
        let part = along - length(pair.0);
        let [from, to] = pair.1 else { return None };
        (0.0..=1.0).contains(&part).then(|| from + (to - from) * part)
    };
    let y = lines.windows(2).enumerate().find_map(between).unwrap_or(bottom);
    svg.corner(100.0, y, |corner| corner.push_str("<path class=\"mean\" d=\"M0 0l9-6v12z\"/>"));
    svg.name(
        Anchor::End,
        (100.0, bottom + CONSENSUS),
        0.0,
        &format!("{} ◂", consensus_text(score)),
    );
}

/// Dots as one path of zero-length segments with round caps, which takes the fewest bytes. Positions
/// are relative to the corner, in pixels.
pub(super) fn points(class: &str, radius: f64, places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path =
        format!("<path class=\"dots {class}\" stroke-width=\"{}\" d=\"", figure(radius * 2.0));
    for (x, y) in places {
        path.push_str(&format!("M{} {}h0", figure(x), figure(y)));
    }
    path.push_str("\"/>");
    path
}
