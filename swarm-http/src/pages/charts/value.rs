//! A subject's total value over time, with ticks for its sessions.

use super::svg::{Anchor, Svg};
use crate::pages::markup::Markup;

/// The value at one snapshot.
pub(crate) struct Value {
    /// The day number; all days count from the same origin.
    pub(crate) day: i64,
    /// In US dollars.
    pub(crate) usd: f64,
    /// The tooltip.
    pub(crate) title: String,
}

/// The texts around the line.
pub(crate) struct Legend<'a> {
    /// The first and the last day, in words.
    pub(crate) days: (&'a str, &'a str),
    /// The lowest and the highest value.
    pub(crate) figures: (&'a str, &'a str),
    /// The accessible name.
    pub(crate) label: &'a str,
}

/// Vertical range of the line, in pixels: below the label of the highest value, above that of the
/// lowest.
const TOP: f64 = 24.0;
const BOTTOM: f64 = 140.0;

/// Draws a line through `values`, oldest first, and below it a tick for the day of each session.
pub(crate) fn value_line(values: &[Value], sessions: &[i64], legend: &Legend<'_>) -> Markup {
    let mut svg = Svg::new("value", 196.0, legend.label);
    let days = Range::of(values.iter().map(|value| as_figure(value.day)));
    let usd = Range::of(values.iter().map(|value| value.usd));
    let across = |day: f64| 1.5 + 97.0 * days.part(day);
    let down = |value: f64| BOTTOM - (BOTTOM - TOP) * usd.part(value);
    svg.line("grid", (0.0, TOP), (100.0, TOP));
    svg.line("grid", (0.0, BOTTOM), (100.0, BOTTOM));
    svg.word(Anchor::Start, (0.0, TOP - 8.0), legend.figures.1);
    svg.word(Anchor::Start, (0.0, BOTTOM + 16.0), legend.figures.0);
    let at = |value: &Value| (across(as_figure(value.day)), down(value.usd));
    for pair in values.windows(2) {
        if let [from, to] = pair {
            svg.line("trend", at(from), at(to));
        }
    }
    for value in values {
        svg.dot("snapshot", at(value), 3.5, &value.title);
    }
    svg.line("axis", (0.0, 170.0), (100.0, 170.0));
    for day in sessions.iter().map(|day| as_figure(*day)).filter(|day| days.has(*day)) {
        svg.line("tick", (across(day), 164.0), (across(day), 170.0));
    }
    svg.word(Anchor::Start, (0.0, 188.0), legend.days.0);
    svg.word(Anchor::End, (100.0, 188.0), legend.days.1);
    svg.finish()
}

/// The lowest and the highest of some figures.
struct Range(f64, f64);

impl Range {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let widest = |range: Self, figure: f64| Self(range.0.min(figure), range.1.max(figure));
        figures.fold(Self(f64::INFINITY, f64::NEG_INFINITY), widest)
    }

    fn has(&self, figure: f64) -> bool {
        (self.0..=self.1).contains(&figure)
    }

    /// The relative position of a figure in the range, 0 to 1; 0.5 if the range is a single point.
    /// Halving first keeps the difference of the largest doubles finite.
    fn part(&self, figure: f64) -> f64 {
        let part = (figure / 2.0 - self.0 / 2.0) / (self.1 / 2.0 - self.0 / 2.0);
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// A day number as a float; exact for every calendar day.
fn as_figure(day: i64) -> f64 {
    i32::try_from(day).map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGEND: Legend<'_> =
        Legend { days: ("1 Nov", "11 Nov"), figures: ("$1", "$3"), label: "Value" };

    fn value(day: i64, usd: f64) -> Value {
        Value { day, usd, title: String::new() }
    }

    #[test]
    fn line_spans_the_whole_range() {
        let Markup(svg) = value_line(&[value(100, 1.0), value(110, 3.0)], &[105, 99], &LEGEND);
        assert!(
            svg.contains("class=\"trend\" x1=\"1.5%\" y1=\"140\" x2=\"98.5%\" y2=\"24\""),
            "{svg}"
        );
        assert_eq!(svg.matches("class=\"tick\"").count(), 1, "only ticks in the range: {svg}");
        assert!(svg.contains("class=\"tick\" x1=\"50%\""), "{svg}");
    }

    #[test]
    fn single_and_extreme_values_are_finite() {
        let Markup(svg) = value_line(&[value(0, f64::MAX)], &[], &LEGEND);
        assert!(svg.contains("cx=\"50%\" cy=\"82\""), "{svg}");
        let Markup(svg) = value_line(&[value(0, f64::MIN), value(1, f64::MAX)], &[], &LEGEND);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
