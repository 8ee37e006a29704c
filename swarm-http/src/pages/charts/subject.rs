//! A subject over time: the score of its sessions with a band of dissent, and above the same days its
//! total value.

use super::scale::{Scale, as_figure};
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

/// The score of one session.
pub(crate) struct Score {
    /// The day number.
    pub(crate) day: i64,
    /// The score, −2 to 2.
    pub(crate) score: f64,
    /// The mean distance of the members from the score.
    pub(crate) dissent: f64,
    /// The tooltip.
    pub(crate) title: String,
    /// The path of the session.
    pub(crate) href: String,
}

/// The texts around the lines.
pub(crate) struct Legend<'a> {
    /// The first and the last day, in words.
    pub(crate) days: (&'a str, &'a str),
    /// The lowest and the highest value.
    pub(crate) figures: (&'a str, &'a str),
    /// The accessible name.
    pub(crate) label: &'a str,
}

/// Height of the panel of scores and of the panel of values, each with the labels above and below, in
/// pixels.
const SCORES: f64 = 140.0;
const VALUES: f64 = 124.0;

/// Draws scores and values, oldest first; a panel without figures is left out.
pub(crate) fn subject_lines(scores: &[Score], values: &[Value], legend: &Legend<'_>) -> Markup {
    let panel = |is_there: bool, height: f64| if is_there { height } else { 0.0 };
    let values_at = panel(!scores.is_empty(), SCORES);
    let bottom = values_at + panel(!values.is_empty(), VALUES);
    let mut svg = Svg::with_links("value", bottom + 24.0, legend.label);
    let days = scores.iter().map(|score| score.day).chain(values.iter().map(|value| value.day));
    let days = Scale::of(days.map(as_figure));
    let across = |day: i64| 4.0 + 94.5 * days.part(as_figure(day));
    if !scores.is_empty() {
        draw_scores(&mut svg, scores, bottom + 24.0, across);
    }
    if !values.is_empty() {
        draw_values(&mut svg, values, (values_at, bottom + 24.0), legend.figures, across);
    }
    svg.line("axis", (0.0, bottom), (100.0, bottom));
    for score in scores {
        svg.line("tick", (across(score.day), bottom - 5.0), (across(score.day), bottom));
    }
    svg.word(Anchor::Start, (0.0, bottom + 18.0), legend.days.0);
    if legend.days.0 != legend.days.1 {
        svg.word(Anchor::End, (100.0, bottom + 18.0), legend.days.1);
    }
    svg.finish()
}

fn draw_scores(svg: &mut Svg, scores: &[Score], height: f64, across: impl Fn(i64) -> f64) {
    let down = |score: f64| 68.0 - 24.0 * score.clamp(-2.0, 2.0);
    for (score, word) in [(2.0, "+2 bullish"), (0.0, "0"), (-2.0, "−2 bearish")] {
        svg.line("grid", (0.0, down(score)), (100.0, down(score)));
        svg.word(Anchor::Start, (0.0, down(score) - 4.0), word);
    }
    let band =
        |it: &Score| (across(it.day), down(it.score + it.dissent), down(it.score - it.dissent));
    if scores.len() > 1 {
        svg.band("dissent", height, &scores.iter().map(band).collect::<Vec<_>>());
    }
    let at = |it: &Score| (across(it.day), down(it.score));
    svg.path("trend", height, &scores.iter().map(at).collect::<Vec<_>>());
    for score in scores {
        svg.dot("snapshot", at(score), 4.0, (&score.title, Some(&score.href)));
    }
}

fn draw_values(
    svg: &mut Svg,
    values: &[Value],
    (top, height): (f64, f64),
    figures: (&str, &str),
    across: impl Fn(i64) -> f64,
) {
    let (highest, lowest) = (top + 24.0, top + 92.0);
    let usd = Scale::of(values.iter().map(|value| value.usd));
    let down = |value: f64| lowest - (lowest - highest) * usd.part(value);
    svg.line("grid", (0.0, highest), (100.0, highest));
    svg.line("grid", (0.0, lowest), (100.0, lowest));
    svg.word(Anchor::Start, (0.0, highest - 6.0), figures.1);
    svg.word(Anchor::Start, (0.0, lowest + 16.0), figures.0);
    if figures.0 != figures.1 {
        svg.word(Anchor::End, (100.0, lowest + 16.0), "this axis does not start at $0");
    }
    let at = |value: &Value| (across(value.day), down(value.usd));
    svg.path("trend", height, &values.iter().map(at).collect::<Vec<_>>());
    for value in values {
        svg.dot("amount", at(value), 3.0, (&value.title, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGEND: Legend<'_> =
        Legend { days: ("1 Nov", "11 Nov"), figures: ("$1", "$3"), label: "Value" };

    fn value(day: i64, usd: f64) -> Value {
        Value { day, usd, title: String::new() }
    }

    fn score(day: i64, score: f64) -> Score {
        let (title, href) = (String::new(), format!("/swarm/sessions/{day}"));
        Score { day, score, dissent: 0.5, title, href }
    }

    #[test]
    fn values_span_the_whole_range_and_say_that_it_is_truncated() {
        let Markup(svg) = subject_lines(&[], &[value(100, 1.0), value(110, 3.0)], &LEGEND);
        let trend = "class=\"trend\" d=\"M4 92L98.5 24\"";
        assert!(svg.contains(trend), "{svg}");
        assert!(svg.contains("does not start at $0") && !svg.contains("bullish"), "{svg}");
    }

    #[test]
    fn scores_and_values_share_the_days() {
        let scores = [score(95, -1.0), score(105, 1.0)];
        let Markup(svg) = subject_lines(&scores, &[value(95, 1.0), value(115, 3.0)], &LEGEND);
        assert!(svg.contains("class=\"snapshot\" cx=\"51.2%\" cy=\"2.75rem\""), "{svg}");
        assert_eq!(svg.matches("class=\"tick\"").count(), 2, "{svg}");
        assert!(svg.contains("<a href=\"/swarm/sessions/105\""), "{svg}");
        assert_eq!(svg.matches("class=\"dissent\"").count(), 1, "{svg}");
    }

    #[test]
    fn single_and_extreme_values_are_finite() {
        let Markup(svg) = subject_lines(&[score(0, 9.0)], &[value(0, f64::MAX)], &LEGEND);
        assert!(svg.contains("cx=\"51.2%\"") && !svg.contains("dissent"), "{svg}");
        let extremes = [value(0, f64::MIN), value(1, f64::MAX)];
        let Markup(svg) = subject_lines(&[], &extremes, &LEGEND);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
