//! A subject over time: the score of its sessions with a band of dissent and the stances behind it, what happened on the same
//! days, and below them its total value.

use std::collections::BTreeMap;

use super::scale::{Scale, as_figure};
use super::svg::{Anchor, Svg};
use super::{StanceAxis, tone_of};
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
    /// The score on the scale of the service, −2 to 2.
    pub(crate) score: f64,
    /// The mean distance of the members from the score, on the scale of the service.
    pub(crate) dissent: f64,
    /// Whether the score is a result. A score without a quorum is not.
    pub(crate) is_result: bool,
    /// The rank of each stance on the scale of the service, −2 to 2, and the number of members that took it.
    pub(crate) counts: Vec<(f64, usize)>,
    /// The tooltip.
    pub(crate) title: String,
    /// The path of the session.
    pub(crate) href: String,
}

/// A memo on the subject.
pub(crate) struct Mark {
    /// The day number.
    pub(crate) day: i64,
    /// The tooltip.
    pub(crate) title: String,
    /// The path of the memo.
    pub(crate) href: String,
}

/// What the chart shows.
pub(crate) struct Timeline<'a> {
    /// Oldest first.
    pub(crate) scores: &'a [Score],
    /// The axis of the scores.
    pub(crate) axis: &'a StanceAxis,
    /// Oldest first.
    pub(crate) values: &'a [Value],
    pub(crate) memos: &'a [Mark],
    /// The day number of the session that is open, or announced, and the word for that; `None` without one.
    pub(crate) open: Option<(i64, &'static str)>,
    /// The days named below the axis, in words.
    pub(crate) days: &'a [(i64, String)],
    /// The lowest and the highest value.
    pub(crate) figures: (&'a str, &'a str),
    /// The last value and its change: `$1.24 M, +3.1 % since 20 Nov`.
    pub(crate) last_value: &'a str,
    /// The accessible name.
    pub(crate) label: &'a str,
}

/// Height of one step of the scale of stances, and of the whole panel of scores with its labels, in pixels.
const STEP: f64 = 72.0;
const SCORES: f64 = 20.0 + 4.0 * STEP + 14.0;

/// Height of the row of memos, and of the panel of values with its labels.
const MEMOS: f64 = 26.0;
const VALUES: f64 = 150.0;

/// Draws scores, memos and values; a panel without figures is left out.
pub(crate) fn subject_lines(timeline: &Timeline<'_>) -> Markup {
    let Timeline { scores, values, memos, .. } = timeline;
    let panel = |is_there: bool, height: f64| if is_there { height } else { 0.0 };
    let memos_at = panel(!scores.is_empty(), SCORES);
    let values_at = memos_at + panel(!memos.is_empty(), MEMOS);
    let bottom = values_at + panel(!values.is_empty(), VALUES);
    let height = bottom + 24.0;
    let mut svg = Svg::with_links("value", height, timeline.label);
    let days = scores.iter().map(|score| score.day).chain(values.iter().map(|value| value.day));
    let days =
        days.chain(memos.iter().map(|memo| memo.day)).chain(timeline.open.map(|(day, _)| day));
    let days = Scale::of(days.map(as_figure));
    let across = |day: i64| 3.0 + 94.0 * days.part(as_figure(day));
    draw_days(&mut svg, timeline.days, bottom, across);
    if let Some((day, word)) = timeline.open {
        svg.line("today", (across(day), 0.0), (across(day), bottom));
        let (anchor, x) =
            if across(day) > 80.0 { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) };
        svg.name(anchor, (across(day), 12.0), x, word);
    }
    if !scores.is_empty() {
        draw_scores(&mut svg, timeline, height, across);
    }
    if !memos.is_empty() {
        svg.margin_word(memos_at + 10.0 + MIDDLE, "memos");
        for memo in *memos {
            let place = (across(memo.day), memos_at + 10.0);
            svg.dot("memo", place, 4.0, (&memo.title, Some(&memo.href)));
        }
    }
    if !values.is_empty() {
        draw_values(&mut svg, timeline, (values_at, height), across);
    }
    svg.line("axis", (0.0, bottom), (100.0, bottom));
    for score in *scores {
        svg.line("tick", (across(score.day), bottom - 5.0), (across(score.day), bottom));
    }
    svg.finish()
}

/// The days below the axis, with faint lines above.
fn draw_days(svg: &mut Svg, days: &[(i64, String)], bottom: f64, across: impl Fn(i64) -> f64) {
    for (nth, (day, words)) in days.iter().enumerate() {
        let x = across(*day);
        svg.line("grid", (x, 0.0), (x, bottom));
        let (anchor, x) = match nth {
            0 if days.len() > 1 => (Anchor::Start, 0.0),
            last if last + 1 == days.len() && last > 0 => (Anchor::End, 100.0),
            _ => (Anchor::Middle, x),
        };
        svg.word(anchor, (x, bottom + 18.0), words);
    }
}

/// The least distance of two names at the axis, on the scale of the service, and the longest name, in letters: as it fits in
/// the margin.
const APART: f64 = 0.25;
const MAX_NAME: usize = 12;

/// The width of the margin in which the names stand, in pixels: the style sheet pads the drawing by it.
const MARGIN: f64 = 112.0;

/// How far below its line the letters of a label stand, in pixels, so that its middle is at the line.
const MIDDLE: f64 = 4.4;

fn draw_scores(
    svg: &mut Svg,
    Timeline { scores, axis, .. }: &Timeline<'_>,
    height: f64,
    across: impl Fn(i64) -> f64,
) {
    let down = |score: f64| 20.0 + STEP * (2.0 - score.clamp(-2.0, 2.0));
    for rank in axis.lines() {
        let class = if rank == 0.0 { "axis" } else { "grid" };
        svg.line(class, (0.0, down(rank)), (100.0, down(rank)));
    }
    let band =
        |it: &Score| (across(it.day), down(it.score + it.dissent), down(it.score - it.dissent));
    if scores.len() > 1 {
        svg.band("dissent", height, &scores.iter().map(band).collect::<Vec<_>>());
    }
    draw_stances(svg, scores, height, (&across, &down));
    for (rank, words) in axis.ranks_and_names(APART, MAX_NAME) {
        svg.margin_word(down(rank) + MIDDLE, &words);
    }
    let at = |it: &Score| (across(it.day), down(it.score));
    svg.path("trend", height, &scores.iter().map(at).collect::<Vec<_>>());
    for pair in scores.windows(2) {
        let [before, after] = pair else { continue };
        if before.score * after.score < 0.0 {
            let part = before.score / (before.score - after.score);
            let (from, to) = (across(before.day), across(after.day));
            svg.corner(from + (to - from) * part, down(0.0), |corner| corner.diamond("crossing"));
        }
    }
    for score in *scores {
        let class = if score.is_result { "snapshot" } else { "snapshot open" };
        svg.dot(class, at(score), 5.0, (&score.title, Some(&score.href)));
    }
}

/// The members of each stance as faint dots, larger where they are more.
fn draw_stances(
    svg: &mut Svg,
    scores: &[Score],
    height: f64,
    (across, down): (&impl Fn(i64) -> f64, &impl Fn(f64) -> f64),
) {
    let mut places: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for score in scores {
        for (rank, members) in &score.counts {
            let size = match members {
                0 => continue,
                1..=2 => "few",
                3..=5 => "some",
                _ => "many",
            };
            places
                .entry((tone_of(*rank), size))
                .or_default()
                .push((across(score.day), down(*rank)));
        }
    }
    for ((stance, size), places) in places {
        svg.faint_dots(&format!("{stance} {size}"), height, &places);
    }
}

fn draw_values(
    svg: &mut Svg,
    timeline: &Timeline<'_>,
    (top, height): (f64, f64),
    across: impl Fn(i64) -> f64,
) {
    let (values, figures) = (timeline.values, timeline.figures);
    let (highest, lowest) = (top + 48.0, top + 116.0);
    let usd = Scale::of(values.iter().map(|value| value.usd));
    let down = |value: f64| lowest - (lowest - highest) * usd.part(value);
    svg.name(Anchor::Start, (0.0, top + 20.0), -MARGIN, &format!("value {}", timeline.last_value));
    svg.line("grid", (0.0, highest), (100.0, highest));
    svg.line("grid", (0.0, lowest), (100.0, lowest));
    svg.margin_word(highest + MIDDLE, figures.1);
    svg.margin_word(lowest + MIDDLE, figures.0);
    let begins_at_zero = values.iter().map(|value| value.usd).reduce(f64::min) == Some(0.0);
    if figures.0 != figures.1 && !begins_at_zero {
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

    fn drawn(scores: &[Score], values: &[Value], open: Option<i64>) -> String {
        let open = open.map(|day| (day, "announced"));
        let days = [(1, "1 Nov".to_owned()), (11, "11 Nov".to_owned())];
        let memos: &[Mark] = &[];
        let figures = ("$1", "$3");
        let last_value = "$3, +200.0 % since 1 Nov";
        let timeline = Timeline {
            scores,
            axis: &StanceAxis::of(std::iter::empty()),
            values,
            memos,
            open,
            days: &days,
            figures,
            last_value,
            label: "Value",
        };
        subject_lines(&timeline).0
    }

    fn value(day: i64, usd: f64) -> Value {
        Value { day, usd, title: String::new() }
    }

    fn score(day: i64, score: f64) -> Score {
        let (title, href) = (String::new(), format!("/swarm/sessions/{day}"));
        let counts = vec![(-2.0, 0), (-1.0, 1), (0.0, 0), (1.0, 3), (2.0, 6)];
        Score { day, score, dissent: 0.5, is_result: true, counts, title, href }
    }

    #[test]
    fn values_span_the_whole_range_and_say_that_it_is_truncated() {
        let svg = drawn(&[], &[value(100, 1.0), value(110, 3.0)], None);
        assert!(svg.contains("class=\"trend\" d=\"M3 116L97 48\""), "{svg}");
        assert!(svg.contains("value $3, +200.0 % since 1 Nov"), "{svg}");
        assert!(svg.contains("does not start at $0") && !svg.contains("bullish"), "{svg}");
        let whole = drawn(&[], &[value(100, 0.0), value(110, 3.0)], None);
        assert!(!whole.contains("does not start"), "{whole}");
    }

    #[test]
    fn scores_and_values_share_the_days() {
        let scores = [score(95, -1.0), score(105, 1.0)];
        let svg = drawn(&scores, &[value(95, 1.0), value(115, 3.0)], None);
        // Halfway, one step above the middle of the scale.
        assert!(svg.contains("class=\"snapshot\" cx=\"50%\" cy=\"5.75rem\""), "{svg}");
        assert_eq!(svg.matches("class=\"tick\"").count(), 2, "{svg}");
        assert!(svg.contains("<a href=\"/swarm/sessions/105\""), "{svg}");
        assert_eq!(svg.matches("class=\"dissent\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"crossing\"").count(), 1, "the score changed sides: {svg}");
        // The stances are named beside their lines, in the margin, so that no session is under a name.
        let name = "<text class=\"end\" x=\"0%\" y=\"10.525rem\" dx=\"-0.5rem\">0 neutral</text>";
        assert!(svg.contains(name), "{svg}");
        assert_eq!(svg.matches("dx=\"-0.5rem\"").count(), 5 + 2, "stances and values: {svg}");
        for faint in ["cautious few\"", "constructive some\"", "bullish many\""] {
            assert_eq!(svg.matches(faint).count(), 1, "{faint} in {svg}");
        }
    }

    #[test]
    fn open_session_and_missed_quorum_are_told_apart() {
        let missed = Score { is_result: false, ..score(95, 1.0) };
        let svg = drawn(&[missed, score(100, 1.0)], &[], Some(105));
        assert!(svg.contains("class=\"snapshot open\"") && svg.contains("class=\"snapshot\""));
        assert!(svg.contains("class=\"today\" x1=\"97%\"") && !svg.contains("crossing"), "{svg}");
        assert!(svg.contains(">announced</text>") && !svg.contains(">open</text>"), "{svg}");
    }

    #[test]
    fn single_and_extreme_values_are_finite() {
        let svg = drawn(&[score(0, 9.0)], &[value(0, f64::MAX)], None);
        assert!(svg.contains("cx=\"50%\"") && !svg.contains("dissent"), "{svg}");
        let extremes = [value(0, f64::MIN), value(1, f64::MAX)];
        let svg = drawn(&[], &extremes, None);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
