//! What the drawings of the field have in common: the dots, the columns, the axis, the consensus.

use crate::pages::charts::svg::{Anchor, Svg, figure, length};
use crate::pages::charts::{STANCES, named, place};
use crate::pages::markup::Markup;

/// A member whose take has a known stance.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    /// What it is called.
    pub(crate) name: String,
    /// The rank of the stance, −2 to 2.
    pub(crate) rank: i8,
    /// 0 to 1.
    pub(crate) confidence: f64,
}

impl Dot {
    /// The tooltip.
    pub(super) fn title(&self) -> String {
        format!("{}: {} {:.2}", self.name, named(self.rank), self.confidence)
    }
}

/// The most members that are named in the drawing.
pub(super) const NAMED: usize = 24;

/// `consensus +0.84`
pub(super) fn told(score: f64) -> String {
    format!("consensus {}", signed(score))
}

/// A figure with its sign, the one of typesetters: `−0.50`.
pub(crate) fn signed(figure: f64) -> String {
    let sign = if figure < 0.0 { '−' } else { '+' };
    format!("{sign}{:.2}", figure.abs())
}

/// The members of one stance, the surest first.
pub(super) fn of_place(dots: &[Dot], at: usize) -> Vec<&Dot> {
    let mut members: Vec<_> = dots.iter().filter(|dot| place(dot.rank) == at).collect();
    members.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.name.cmp(&b.name)));
    members
}

/// The five columns of wide drawings: where each stands, in percent; to the right of the last there
/// is room for names.
pub(super) const FIRST: f64 = 8.0;
pub(super) const COLUMN: f64 = 19.0;

/// Where the field begins and where its axis is, down, in pixels.
pub(super) const TOP: f64 = 12.0;
pub(super) const AXIS: f64 = TOP + HEIGHT;
const HEIGHT: f64 = 200.0;

/// What all wide drawings have in common: lines, axis, words, and the consensus.
pub(super) fn frame(dots: &[Dot], consensus: Option<f64>, label: &str) -> Svg {
    let mut svg =
        Svg::new("field wide", AXIS + if consensus.is_some() { 54.0 } else { 30.0 }, label);
    svg.word(Anchor::Start, (0.0, TOP + 4.0), "sure");
    svg.word(Anchor::Start, (0.0, AXIS - 6.0), "unsure");
    for (at, stance) in STANCES.into_iter().enumerate() {
        let x = column(at);
        svg.line("grid", (x, TOP), (x, AXIS));
        let count = dots.iter().filter(|dot| place(dot.rank) == at).count();
        let few = count == 0 || dots.len() <= NAMED;
        let word = if few { stance.to_owned() } else { format!("{stance} {count}") };
        svg.word(Anchor::Middle, (x, AXIS + 22.0), &word);
    }
    svg.line("axis", (0.0, AXIS), (100.0, AXIS));
    if let Some(score) = consensus {
        let x = FIRST + COLUMN * (score.clamp(-2.0, 2.0) + 2.0);
        svg.corner(x, AXIS, |corner| corner.push_str("<path class=\"mean\" d=\"M0 1l6 9h-12z\"/>"));
        svg.name(Anchor::Middle, (x, AXIS + 44.0), 0.0, &told(score));
    }
    svg
}

pub(super) fn column(at: usize) -> f64 {
    FIRST + COLUMN * length(at)
}

/// How far down a confidence is in a wide drawing.
pub(super) fn down(confidence: f64) -> f64 {
    AXIS - 10.0 - (HEIGHT - 20.0) * confidence.clamp(0.0, 1.0)
}

/// A narrow drawing to its end: the axis, the words below it, and the consensus.
pub(super) fn finish_rows(
    mut svg: Svg,
    lines: &[f64; 5],
    consensus: Option<f64>,
    bottom: f64,
    left: &str,
) -> Markup {
    svg.line("axis", (0.0, bottom - 18.0), (100.0, bottom - 18.0));
    svg.word(Anchor::Start, (0.0, bottom), left);
    svg.word(Anchor::End, (100.0, bottom), "sure");
    if let Some(score) = consensus {
        mark_rows(&mut svg, lines, score, bottom);
    }
    svg.finish()
}

/// The beginning of a narrow drawing, the words below whose axis stand at `bottom`, and the consensus below them.
pub(super) fn begin_rows(bottom: f64, consensus: Option<f64>, label: &str) -> Svg {
    let below = if consensus.is_some() { 10.0 + CONSENSUS } else { 10.0 };
    Svg::new("field narrow", bottom + below, label)
}

/// How far below the words the consensus stands.
const CONSENSUS: f64 = 22.0;

/// The mark of the consensus at the edge of a narrow drawing, between the rows whose lines are at
/// these heights, from bearish to bullish.
fn mark_rows(svg: &mut Svg, lines: &[f64; 5], score: f64, bottom: f64) {
    let along = score.clamp(-2.0, 2.0) + 2.0;
    let between = |pair: (usize, &[f64])| {
        let part = along - length(pair.0);
        let [from, to] = pair.1 else { return None };
        (0.0..=1.0).contains(&part).then(|| from + (to - from) * part)
    };
    let y = lines.windows(2).enumerate().find_map(between).unwrap_or(bottom);
    svg.corner(100.0, y, |corner| corner.push_str("<path class=\"mean\" d=\"M0 0l9-6v12z\"/>"));
    svg.name(Anchor::End, (100.0, bottom + CONSENSUS), 0.0, &format!("{} ◂", told(score)));
}

/// Dots as one line of points, which takes the fewest bytes: places from the corner, in pixels.
pub(super) fn points(class: &str, radius: f64, places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path =
        format!("<path class=\"dots {class}\" stroke-width=\"{}\" d=\"", figure(radius * 2.0));
    for (x, y) in places {
        path.push_str(&format!("M{} {}h0", figure(x), figure(y)));
    }
    path.push_str("\"/>");
    path
}
