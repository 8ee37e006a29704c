//! The stance field for wide pages: a column for each stance; height is confidence.

use super::layout::{Area, MAX_LINKED, Name, Placed, RADIUS, beside, names, sample};
use super::marks::{Dot, Mean, tick};
use crate::pages::charts::svg::{Anchor, Svg, length};
use crate::pages::charts::{STANCES, place};
use crate::pages::markup::Markup;

/// Width of the narrowest wide drawing, in pixels.
const WIDTH: f64 = 672.0;

/// Position of the first of the five columns, and the distance between two, in percent.
const FIRST: f64 = 13.0;
const COLUMN: f64 = 18.0;

/// Half of the width of a column, in pixels.
const HALF: f64 = 52.0;

/// Height of the plot, from confidence 1 to confidence 0, in pixels.
const PLOT: f64 = 200.0;

/// The drawing.
pub(super) fn drawing(dots: &[Dot], mean: Option<Mean>, label: &str) -> Markup {
    // The counts are above the plot, and the text of the mean between.
    let top = if mean.is_some() { 52.0 } else { 38.0 };
    let axis = top + PLOT;
    let down = |confidence: f64| axis - PLOT * confidence.clamp(0.0, 1.0);
    let (placed, note) = sample(dots, HALF, down);
    let mut svg = Svg::with_links("field wide", axis + 44.0, label);
    for (confidence, word) in [(1.0, "confidence 1"), (0.5, "0.5"), (0.0, "0")] {
        let class = if confidence > 0.0 { "grid" } else { "axis" };
        svg.line(class, (0.0, down(confidence)), (100.0, down(confidence)));
        svg.word(Anchor::Start, (0.0, down(confidence) - 4.0), word);
    }
    for (at, stance) in STANCES.into_iter().enumerate() {
        let x = column(at);
        svg.line("grid", (x, top), (x, axis));
        svg.line("axis", (x, axis), (x, axis + 5.0));
        let count = dots.iter().filter(|dot| place(dot.rank) == at).count();
        svg.word(Anchor::Middle, (x, 14.0), &count.to_string());
        svg.word(Anchor::Middle, (x, axis + 20.0), tick(at));
        svg.word(Anchor::Middle, (x, axis + 38.0), stance);
    }
    svg.word(Anchor::Start, (0.0, 14.0), note.as_deref().unwrap_or("members"));
    if let Some(mean) = mean {
        draw_mean(&mut svg, mean, (top, axis));
    }
    draw_dots(&mut svg, &placed, mean, (top, axis));
    svg.finish()
}

fn column(at: usize) -> f64 {
    FIRST + COLUMN * length(at)
}

/// Position of a score, in percent.
fn across(score: f64) -> f64 {
    FIRST + COLUMN * (score + 2.0)
}

/// The line of the mean through the plot, and its whisker above.
fn draw_mean(svg: &mut Svg, mean: Mean, (top, axis): (f64, f64)) {
    let [x, from, to] = mean.extent().map(across);
    let whisker = top - 10.0;
    svg.line(mean.class(), (x, whisker), (x, axis));
    svg.line(mean.class(), (from, whisker), (to, whisker));
    for end in [from, to] {
        svg.line(mean.class(), (end, whisker - 3.0), (end, whisker + 3.0));
    }
    svg.name(Anchor::Middle, (x, whisker - 8.0), 0.0, &mean.words());
}

fn draw_dots(svg: &mut Svg, placed: &Placed<'_>, mean: Option<Mean>, (top, axis): (f64, f64)) {
    let down = |confidence: f64| axis - PLOT * confidence.clamp(0.0, 1.0);
    let pixels = |percent: f64| percent * WIDTH / 100.0;
    let all: Vec<_> = placed
        .iter()
        .enumerate()
        .flat_map(|(at, members)| {
            members
                .iter()
                .map(move |(dot, offset)| (*dot, pixels(column(at)) + offset, down(dot.confidence)))
        })
        .collect();
    let label = |y: f64, long: f64| Area(0.0, y - 18.0, long, y);
    let mut taken = vec![label(top, 84.0), label(down(0.5), 24.0), label(axis, 12.0)];
    if let Some(mean) = mean {
        let [x, ..] = mean.extent().map(across).map(pixels);
        taken.push(Area(x - 3.0, top, x + 3.0, axis));
    }
    let whole = Area(0.0, top - 8.0, WIDTH, axis + 8.0);
    let named = names(&all, mean.map(|mean| mean.score), whole, taken);
    let mut first = 0;
    for (at, members) in placed.iter().enumerate() {
        let Some(stance) = STANCES.get(at) else { continue };
        let of_column =
            named.iter().filter(|name| (first..first + members.len()).contains(&name.of));
        svg.corner(column(at), 0.0, |corner| {
            let places = members.iter().map(|(dot, offset)| (*offset, down(dot.confidence)));
            if all.len() > MAX_LINKED {
                corner.dots(stance, &places.collect::<Vec<_>>());
            } else {
                for ((dot, _), place) in members.iter().zip(places) {
                    corner.dot(stance, place, RADIUS, (&dot.title(), dot.href.as_deref()));
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
