//! A member over time: its stance in each session, as large as its confidence.

use super::svg::{Anchor, Svg, length};
use super::{STANCES, place};
use crate::pages::markup::Markup;

/// What the member said in one session.
pub(crate) struct Point {
    /// The rank of the stance, −2 to 2.
    pub(crate) rank: i8,
    /// 0 to 1.
    pub(crate) confidence: f64,
    /// Its day, for the axis.
    pub(crate) day: String,
    /// The tooltip.
    pub(crate) title: String,
}

/// How far apart the lines of two stances are, in pixels.
const ROW: f64 = 34.0;

/// The most points that a narrow drawing has room for.
const NARROW: usize = 20;

/// The sessions of a member, the oldest first: one drawing for wide pages, and for narrow ones another
/// of the latest alone.
pub(crate) fn member_line(points: &[Point], label: &str) -> Markup {
    let latest = points.get(points.len().saturating_sub(NARROW)..).unwrap_or_default();
    let wide = drawing("wide", points, 17.0, label);
    let narrow = drawing("narrow", latest, 0.0, label);
    Markup(wide.0 + &narrow.0)
}

/// Beside the lines, from `left` percent on, there is room for their names, or it is above them.
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

/// The area tells the confidence; without any, a point is left.
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
    fn a_session_is_a_dot_at_its_stance() {
        let Markup(svg) = member_line(&points(1), "Stances");
        let dot = "<circle class=\"bullish\" cx=\"58.5%\" cy=\"17\" r=\"5.5\"><title>#0</title>";
        assert!(svg.contains(dot), "{svg}");
        assert!(!svg.contains("trend"));
    }

    #[test]
    fn narrow_pages_show_the_latest() {
        let Markup(svg) = member_line(&points(30), "Stances");
        let (wide, narrow) = svg.split_once("narrow").unwrap();
        assert_eq!(wide.matches("<circle").count(), 30);
        assert_eq!(narrow.matches("<circle").count(), NARROW);
        assert!(narrow.contains("#29<") && !narrow.contains("#9<"));
        assert!(wide.contains(">1 Nov<") && wide.contains(">30 Nov<"));
        assert!(narrow.contains(">11 Nov<") && narrow.contains(">30 Nov<"));
    }
}
