//! The latest scores of a subject as a small line, for lists. All have one scale, −2 to +2, so that they compare.

use super::scale::{Scale, as_figure};
use super::svg::Svg;
use crate::pages::markup::Markup;

/// The score of one session.
pub(crate) struct Spark {
    /// The day number; all days count from the same origin.
    pub(crate) day: i64,
    /// The score, −2 to 2.
    pub(crate) score: f64,
    /// Whether the quorum was missed. The line passes over such a score.
    pub(crate) is_hollow: bool,
    /// The tooltip.
    pub(crate) title: String,
}

/// Height of the drawing and distance of ±2 from its edges, in pixels.
const HEIGHT: f64 = 34.0;
const EDGE: f64 = 5.0;

/// Draws scores, oldest first. `label` is the accessible name.
pub(crate) fn sparkline(scores: &[Spark], label: &str) -> Markup {
    let mut svg = Svg::new("spark", HEIGHT, label);
    let middle = HEIGHT / 2.0;
    let down = |score: f64| middle - (middle - EDGE) * score.clamp(-2.0, 2.0) / 2.0;
    let days = Scale::of(scores.iter().map(|spark| as_figure(spark.day)));
    let at = |spark: &Spark| (4.0 + 92.0 * days.part(as_figure(spark.day)), down(spark.score));
    for (class, score) in [("edge", 2.0), ("zero", 0.0), ("edge", -2.0)] {
        svg.line(class, (0.0, down(score)), (100.0, down(score)));
    }
    let full: Vec<_> = scores.iter().filter(|spark| !spark.is_hollow).collect();
    if full.len() > 1 {
        let points: Vec<_> = full.iter().map(|spark| at(spark)).collect();
        svg.path("trend", HEIGHT, &points);
    }
    for spark in scores.iter().filter(|spark| spark.is_hollow) {
        svg.dot("hollow", at(spark), 3.0, (&spark.title, None));
    }
    if let Some(last) = full.last() {
        svg.dot("snapshot", at(last), 4.0, (&last.title, None));
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spark(day: i64, score: f64, is_hollow: bool) -> Spark {
        Spark { day, score, is_hollow, title: format!("day {day}") }
    }

    #[test]
    fn scores_share_one_scale_with_a_line_at_zero() {
        let Markup(svg) = sparkline(&[spark(1, -2.0, false), spark(11, 2.0, false)], "Scores");
        assert!(svg.contains("class=\"trend\" d=\"M4 29L96 5\""), "{svg}");
        assert!(svg.contains("class=\"zero\" x1=\"0%\" y1=\"1.0625rem\""), "{svg}");
        let Markup(small) = sparkline(&[spark(1, 0.0, false), spark(11, 0.1, false)], "Scores");
        assert!(small.contains("d=\"M4 17L96 16.4\""), "{small}");
    }

    #[test]
    fn missed_quorum_is_hollow_and_not_on_the_line() {
        let sparks = [spark(1, 0.0, false), spark(6, 2.0, true), spark(11, 0.0, false)];
        let Markup(svg) = sparkline(&sparks, "Scores");
        assert!(svg.contains("class=\"trend\" d=\"M4 17L96 17\""), "{svg}");
        assert_eq!(svg.matches("class=\"hollow\"").count(), 1, "{svg}");
        let Markup(svg) = sparkline(&sparks[1..2], "Scores");
        assert!(!svg.contains("trend") && !svg.contains("snapshot"), "{svg}");
    }
}
