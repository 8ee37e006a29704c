//! A member's stance in each session over time; the size of a dot is the confidence.

use super::svg::{Anchor, Svg, length};
use super::{STANCES, place};
use crate::pages::markup::Markup;

/// The member's take in one session.
pub(crate) struct Point {
    /// The rank of the stance, −2 to 2.
    pub(crate) rank: i8,
    /// The confidence, 0 to 1.
    pub(crate) confidence: f64,
    /// The day, for the axis.
    pub(crate) day: String,
    /// The tooltip.
    pub(crate) title: String,
}

/// Distance between the lines of two stances, in pixels.
const ROW: f64 = 34.0;

/// Maximum number of points in a narrow drawing.
const MAX_NARROW: usize = 20;

/// Draws the sessions of a member, oldest first: all of them for wide pages, the latest for
/// narrow ones.
pub(crate) fn member_line(points: &[Point], label: &str) -> Markup {
    let latest = points.get(points.len().saturating_sub(MAX_NARROW)..).unwrap_or_default();
    let wide = drawing("wide", points, 17.0, label);
    let narrow = drawing("narrow", latest, 0.0, label);
    Markup(wide.0 + &narrow.0)
}

/// The lines begin at `left` percent, with their names to the left; at 0 the names are above them.
fn drawing(class: &str, points: &[Point], left: f64, label: &str) -> Markup {
    let above = if left == 0.0 { 8.0 } else { 0.0 };
    let row = ROW + above;
    let down = |place: usize| row * (4.0 - length(place)) + row / 2.0 + above;
    let bottom = row * 5.0 + above;
    let mut svg = Svg::new(&format!("member {class}"), bottom + 26.0, label);
    for place in 0..STANCES.len() {
        svg.line("grid", (left, down(place)), (100.0, down(place)));
    }
    let room = 100.0 - left;
    let across = |nth: usize| left + room * (length(nth) + 0.5) / length(points.len().max(1));
    let at = |(nth, point): (usize, &Point)| (across(nth), down(place(point.rank)));
    let mut before = None;
    for point in points.iter().enumerate() {
        if let Some(before) = before {
            svg.line("trend", before, at(point));
        }
        before = Some(at(point));
    }
    for (place, stance) in STANCES.into_iter().enumerate() {
        let lift = if left == 0.0 { -11.0 } else { 4.5 };
        svg.word(Anchor::Start, (0.0, down(place) + lift), stance);
    }
    for point in points.iter().enumerate() {
        svg.dot(super::named(point.1.rank), at(point), radius(point.1.confidence), &point.1.title);
    }
    if let [first, .., last] | [first @ last] = points {
        svg.word(Anchor::Start, (left, bottom + 18.0), &first.day);
        svg.word(Anchor::End, (100.0, bottom + 18.0), &last.day);
    }
    svg.finish()
}

/// The area of a dot is proportional to the confidence, with a minimum for confidence 0.
fn radius(confidence: f64) -> f64 {
    2.0 + 7.0 * confidence.clamp(0.0, 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: usize) -> Vec<Point> {
        let point = |nth: usize| {
            let (day, title) = (format!("{} Nov", nth + 1), format!("#{nth}"));
            Point { rank: 2, confidence: 0.25, day, title }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn single_session_is_one_dot() {
        let Markup(svg) = member_line(&points(1), "Stances");
        let dot = "<circle class=\"bullish\" cx=\"58.5%\" cy=\"17\" r=\"5.5\"><title>#0</title>";
        assert!(svg.contains(dot), "{svg}");
        assert!(!svg.contains("trend"));
    }

    #[test]
    fn narrow_drawing_shows_latest_sessions() {
        let Markup(svg) = member_line(&points(30), "Stances");
        let (wide, narrow) = svg.split_once("narrow").unwrap();
        assert_eq!(wide.matches("<circle").count(), 30);
        assert_eq!(narrow.matches("<circle").count(), MAX_NARROW);
        assert!(narrow.contains("#29<") && !narrow.contains("#9<"));
        assert!(wide.contains(">1 Nov<") && wide.contains(">30 Nov<"));
        assert!(narrow.contains(">11 Nov<") && narrow.contains(">30 Nov<"));
    }
}
