//! The stance field for wide pages: a column for each stance; height is confidence.

use swarm_core::domain::StanceScale;

use super::layout::{Area, MAX_LINKED, Name, Placed, RADIUS, beside, names, sample};
use super::marks::{Dot, Mean, along, name, tick};
use crate::pages::charts::svg::{Anchor, Svg, float};
use crate::pages::charts::tone;
use crate::pages::markup::{Markup, clipped};

/// Width of the narrowest wide drawing, in pixels.
const WIDTH: f64 = 672.0;

/// Where the columns begin, and the width of all of them, in percent.
const LEFT: f64 = 4.0;
const COLUMNS: f64 = 90.0;

/// Distance between the members of neighbouring columns, in pixels.
const GAP: f64 = 16.96;

/// Approximate width of a letter, in pixels.
const LETTER: f64 = 7.4;

/// Maximum number of columns: of more stances the names have no room.
pub(super) const MAX_COLUMNS: usize = 7;

/// Height of the plot, from confidence 1 to confidence 0, in pixels.
const PLOT: f64 = 200.0;

/// The drawing.
pub(super) fn drawing(
    scale: &StanceScale,
    dots: &[Dot],
    mean: Option<Mean>,
    label: &str,
) -> Markup {
    let columns = Columns(scale);
    // The counts are above the plot, and the text of the mean between.
    let top = if mean.is_some() { 52.0 } else { 38.0 };
    let axis = top + PLOT;
    let down = |confidence: f64| axis - PLOT * confidence.clamp(0.0, 1.0);
    let (placed, note) = sample(scale, dots, columns.half(), down);
    let mut svg = Svg::with_links("field wide", axis + 44.0, label);
    for (confidence, word) in [(1.0, "confidence 1"), (0.5, "0.5"), (0.0, "0")] {
        let class = if confidence > 0.0 { "grid" } else { "axis" };
        svg.line(class, (0.0, down(confidence)), (100.0, down(confidence)));
        svg.word(Anchor::Start, (0.0, down(confidence) - 4.0), word);
    }
    for at in 0..scale.stances().len() {
        let x = columns.column(at);
        svg.line("grid", (x, top), (x, axis));
        svg.line("axis", (x, axis), (x, axis + 5.0));
        let count = dots.iter().filter(|dot| dot.place == at).count();
        svg.word(Anchor::Middle, (x, 14.0), &count.to_string());
        svg.word(Anchor::Middle, (x, axis + 20.0), &tick(scale, at));
        svg.word(Anchor::Middle, (x, axis + 38.0), &columns.label(at));
    }
    svg.word(Anchor::Start, (0.0, 14.0), note.as_deref().unwrap_or("members"));
    if let Some(mean) = mean {
        draw_mean(&mut svg, columns, mean, (top, axis));
    }
    draw_dots(&mut svg, columns, &placed, mean, (top, axis));
    svg.finish()
}

/// The columns of the stances of a scale.
#[derive(Clone, Copy)]
struct Columns<'a>(&'a StanceScale);

impl Columns<'_> {
    /// Distance between two columns, in percent.
    fn distance(self) -> f64 {
        COLUMNS / float(self.0.stances().len())
    }

    /// Half of the width of a column, in pixels.
    fn half(self) -> f64 {
        (self.distance() * WIDTH / 100.0 - GAP) / 2.0
    }

    /// Position of a column, in percent.
    fn column(self, at: usize) -> f64 {
        self.at(float(at))
    }

    /// Position of a score, in percent.
    fn across(self, score: f64) -> f64 {
        self.at(along(self.0, score))
    }

    fn at(self, place: f64) -> f64 {
        LEFT + self.distance() / 2.0 + self.distance() * place
    }

    /// The name of the stance of a column, as far as it has room.
    fn label(self, at: usize) -> String {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few letters"
        )]
        let room = (self.distance() * WIDTH / 100.0 / LETTER) as usize;
        clipped(name(self.0, at), room)
    }
}

/// The line of the mean through the plot, and its whisker above.
fn draw_mean(svg: &mut Svg, columns: Columns<'_>, mean: Mean, (top, axis): (f64, f64)) {
    let [x, from, to] = mean.extent(columns.0).map(|place| columns.at(place));
    let whisker = top - 10.0;
    svg.line(mean.class(), (x, whisker), (x, axis));
    svg.line(mean.class(), (from, whisker), (to, whisker));
    for end in [from, to] {
        svg.line(mean.class(), (end, whisker - 3.0), (end, whisker + 3.0));
    }
    svg.name(Anchor::Middle, (x, whisker - 8.0), 0.0, &mean.words());
}

fn draw_dots(
    svg: &mut Svg,
    columns: Columns<'_>,
    placed: &Placed<'_>,
    mean: Option<Mean>,
    (top, axis): (f64, f64),
) {
    let down = |confidence: f64| axis - PLOT * confidence.clamp(0.0, 1.0);
    let pixels = |percent: f64| percent * WIDTH / 100.0;
    let all: Vec<_> = placed
        .iter()
        .enumerate()
        .flat_map(|(at, members)| {
            members.iter().map(move |(dot, offset)| {
                (*dot, pixels(columns.column(at)) + offset, down(dot.confidence))
            })
        })
        .collect();
    let label = |y: f64, long: f64| Area(0.0, y - 18.0, long, y);
    let mut taken = vec![label(top, 84.0), label(down(0.5), 24.0), label(axis, 12.0)];
    if let Some(mean) = mean {
        let x = pixels(columns.across(mean.score));
        taken.push(Area(x - 3.0, top, x + 3.0, axis));
    }
    let whole = Area(0.0, top - 8.0, WIDTH, axis + 8.0);
    let named = names(columns.0, &all, mean.map(|mean| mean.score), whole, taken);
    let mut first = 0;
    for (at, members) in placed.iter().enumerate() {
        let stance = tone(columns.0, at);
        let of_column =
            named.iter().filter(|name| (first..first + members.len()).contains(&name.of));
        svg.corner(columns.column(at), 0.0, |corner| {
            let places = members.iter().map(|(dot, offset)| (*offset, down(dot.confidence)));
            if all.len() > MAX_LINKED {
                corner.dots(stance, &places.collect::<Vec<_>>());
            } else {
                for ((dot, _), place) in members.iter().zip(places) {
                    corner.dot(stance, place, RADIUS, (&dot.title(columns.0), dot.href.as_deref()));
                }
            }
            for Name { of, text, is_left } in of_column {
                let Some((dot, offset)) = members.get(of - first) else { continue };
                let anchor = if *is_left { Anchor::End } else { Anchor::Start };
                corner.name(anchor, (offset + beside(*is_left), down(dot.confidence) + 4.5), text);
            }
        });
        first += members.len();
    }
}
