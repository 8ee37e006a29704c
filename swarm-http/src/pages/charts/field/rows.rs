//! The stance field for narrow pages, and of many stances: a row for each stance, the highest rank on top; confidence grows to the right.

use swarm_core::domain::StanceScale;

use super::layout::{Area, LETTER, Placed, RADIUS, beside, names, sample};
use super::marks::{Dot, Mean, along, name, tick};
use crate::pages::charts::svg::{Anchor, Svg, float};
use crate::pages::charts::tone;
use crate::pages::markup::{Markup, clipped, width};

/// Narrowest supported width, in pixels.
const WIDTH: f64 = 288.0;

/// Half of the height of a row's dots, at least and at most, in pixels.
const LOW: f64 = 9.0;
const HIGH: f64 = 40.0;

/// Longest name of a stance, in letters.
const LONG_NAME: usize = 26;

/// Height of the heading of a row, and the space below its dots.
const HEADING: f64 = 20.0;
const BELOW: f64 = 5.0;

/// How far the letters of a heading reach above its base line and under it, with some space.
const ABOVE: f64 = 15.0;
const UNDER: f64 = 6.0;

/// The drawing. `class` is that of the pages which show it.
pub(super) fn drawing(
    scale: &StanceScale,
    dots: &[Dot],
    mean: Option<Mean>,
    (class, label): (&str, &str),
) -> Markup {
    let pixels = |confidence: f64| across(confidence) * WIDTH / 100.0;
    let (placed, note) = sample(scale, dots, HIGH - RADIUS, pixels);
    let mut lines = vec![0.0; placed.len()];
    let mut bottom = 0.0;
    for (line, members) in lines.iter_mut().zip(&placed).rev() {
        let far = members.iter().map(|(_, offset)| offset.abs() + RADIUS + 1.0).fold(LOW, f64::max);
        *line = bottom + HEADING + far;
        bottom = *line + far + BELOW;
    }
    let below = if mean.is_some() { 48.0 } else { 26.0 };
    let mut svg = Svg::with_links(class, bottom + below, label);
    for confidence in [0.0, 0.5, 1.0] {
        let x = across(confidence);
        svg.line("grid", (x, 0.0), (x, bottom));
    }
    for line in &lines {
        svg.line("grid", (0.0, *line), (100.0, *line));
    }
    let headings: Vec<_> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let members = placed.get(at).into_iter().flatten();
            let far = members.map(|(_, offset)| offset.abs() + RADIUS + 1.0).fold(LOW, f64::max);
            let count = dots.iter().filter(|dot| dot.place == at).count();
            let stance = clipped(name(scale, at), LONG_NAME);
            (format!("{} {stance} · {count}", tick(scale, at)), line - far - 5.0)
        })
        .collect();
    if let Some(mean) = mean {
        draw_mean(&mut svg, scale, mean, (&lines, bottom), &headings);
    }
    for (words, base) in &headings {
        svg.word(Anchor::Start, (0.0, *base), words);
    }
    svg.line("axis", (0.0, bottom), (100.0, bottom));
    let low = note.as_deref().unwrap_or("confidence 0");
    svg.word(Anchor::Start, (0.0, bottom + 18.0), low);
    svg.word(Anchor::Middle, (across(0.5), bottom + 18.0), "0.5");
    svg.word(Anchor::End, (100.0, bottom + 18.0), "1");
    draw_dots(&mut svg, scale, &placed, (&lines, bottom + below), mean);
    svg.finish()
}

/// Position of a confidence, in percent.
fn across(confidence: f64) -> f64 {
    3.0 + 94.0 * confidence.clamp(0.0, 1.0)
}

/// The line of the mean between the lines of two stances, its whisker at the right edge, and its text below the axis. A heading
/// in its way is left out of it.
fn draw_mean(
    svg: &mut Svg,
    scale: &StanceScale,
    mean: Mean,
    (lines, bottom): (&[f64], f64),
    headings: &[(String, f64)],
) {
    let [y, from, to] = mean.extent(scale).map(|place| height(lines, place));
    let in_the_way = headings.iter().find(|(_, base)| (base - ABOVE..base + UNDER).contains(&y));
    let start = in_the_way.map_or(0.0, |(words, _)| LETTER * float(width(words)) + 8.0);
    svg.line_from(mean.class(), start, y);
    svg.line(mean.class(), (100.0, from), (100.0, to));
    for end in [from, to] {
        svg.line(mean.class(), (98.5, end), (100.0, end));
    }
    svg.name(Anchor::End, (100.0, bottom + 40.0), 0.0, &format!("line: {}", mean.words()));
}

/// The height of a place between the lines of the stances, which are in ascending order of the ranks.
fn height(lines: &[f64], along: f64) -> f64 {
    let between = |(at, pair): (usize, &[f64])| {
        let part = along - float(at);
        let [from, to] = pair else { return None };
        (0.0..=1.0).contains(&part).then(|| from + (to - from) * part)
    };
    lines.windows(2).enumerate().find_map(between).unwrap_or_default()
}

fn draw_dots(
    svg: &mut Svg,
    scale: &StanceScale,
    placed: &Placed<'_>,
    (lines, whole_height): (&[f64], f64),
    mean: Option<Mean>,
) {
    let all: Vec<_> = placed
        .iter()
        .zip(lines)
        .flat_map(|(members, line)| {
            members.iter().map(move |(dot, offset)| {
                (*dot, across(dot.confidence) * WIDTH / 100.0, line + offset)
            })
        })
        .collect();
    let whole = Area(0.0, 0.0, WIDTH - 8.0, f64::INFINITY);
    let mut taken = Vec::new();
    if let Some(mean) = mean {
        let y = height(lines, along(scale, mean.score));
        taken.push(Area(0.0, y - 1.0, WIDTH, y + 1.0));
    }
    for line in lines {
        // The heading of the row below.
        taken.push(Area(0.0, line + LOW + BELOW, WIDTH, line + LOW + BELOW));
    }
    let named = names(scale, &all, mean.map(|mean| mean.score), whole, taken);
    let mut number = 0;
    for (at, members) in placed.iter().enumerate() {
        let (stance, Some(line)) = (tone(scale, at), lines.get(at)) else { continue };
        let places = members.iter().map(|(dot, offset)| (across(dot.confidence), line + offset));
        // Without links, which would be too small for a finger.
        svg.dots(stance, whole_height, &places.collect::<Vec<_>>());
        for (dot, offset) in members {
            if let Some(name) = named.iter().find(|name| name.of == number) {
                let anchor = if name.is_left { Anchor::End } else { Anchor::Start };
                let at = (across(dot.confidence), line + offset + 4.5);
                svg.name(anchor, at, beside(name.is_left), &name.text);
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_the_mean_crosses_no_heading() {
        let all = super::super::tests::dots(12, 1, 0.5);
        let (mut whole, mut cut) = (0, 0);
        for step in 0..=400 {
            let score = f64::from(step) / 100.0 - 2.0;
            let mean = Mean { score, distance: 0.5, is_consensus: true, is_median: false };
            let Markup(svg) = drawing(StanceScale::of_service(), &all, Some(mean), ("", ""));
            let value = |text: &str, before: &str| -> f64 {
                let rest = text.split(before).nth(1).unwrap().split('"').next().unwrap();
                16.0 * rest.trim_end_matches("rem").parse::<f64>().unwrap()
            };
            let line = svg.split("<line class=\"mean\" ").nth(1).unwrap();
            let (x, y) = (value(line, "x1=\""), value(line, "y1=\""));
            let headings = svg.split("<text class=\"start\" x=\"0%\"").skip(1);
            let near = headings.filter(|it| it.split('<').next().unwrap().contains(" · "));
            let crossed = near.filter(|it| {
                let base = value(it, "y=\"");
                (base - 13.0..base + 4.0).contains(&y)
            });
            match crossed.count() {
                0 => whole += 1,
                _ => {
                    assert!(x > 100.0, "at {score} from {x}");
                    cut += 1;
                }
            }
        }
        assert!(whole > 100 && cut > 100, "{whole} {cut}");
    }
}
