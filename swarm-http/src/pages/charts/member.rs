//! A member's stances on one subject over time; the size of a dot is the confidence.

use super::scale::{Scale, as_figure};
use super::svg::{Anchor, Svg};
use super::{StanceAxis, tone_of};
use crate::pages::markup::Markup;

/// The member's take in one session on the subject.
pub(crate) struct Point {
    /// The rank of the stance on the scale of the service, −2 to 2.
    pub(crate) rank: f64,
    /// The confidence, 0 to 1.
    pub(crate) confidence: f64,
    /// The day number of the session, and the day in words.
    pub(crate) day: (i64, String),
    /// The tooltip.
    pub(crate) title: String,
    /// The path of the take.
    pub(crate) href: String,
}

/// Distance between the lines of two stances, in pixels.
const ROW: f64 = 16.0;

/// Where the lines begin, in percent; to the left is room for the names of the stances.
const LEFT: f64 = 21.0;

/// The least distance of two names at the axis, on the scale of the service, and the longest name, in letters: as it fits on a
/// phone.
const APART: f64 = 1.5;
const MAX_NAME: usize = 10;

/// Draws the takes of a member on one subject, oldest first.
pub(crate) fn member_line(points: &[Point], axis: &StanceAxis, label: &str) -> Markup {
    let down = |rank: f64| ROW * (2.0 - rank) + 12.0;
    let bottom = down(-2.0) + 10.0;
    let mut svg = Svg::with_links("member", bottom + 20.0, label);
    for rank in axis.lines() {
        svg.line("grid", (LEFT, down(rank)), (100.0, down(rank)));
    }
    for (rank, name) in axis.names(APART, MAX_NAME) {
        svg.word(Anchor::Start, (0.0, down(rank) + 4.5), &name);
    }
    let days = Scale::of(points.iter().map(|point| as_figure(point.day.0)));
    // Room for half of the largest dot at both ends.
    let across = |point: &Point| LEFT + 3.0 + (94.0 - LEFT) * days.part(as_figure(point.day.0));
    let at = |point: &Point| (across(point), down(point.rank.clamp(-2.0, 2.0)));
    if points.len() > 1 {
        svg.path("trend", bottom + 20.0, &points.iter().map(at).collect::<Vec<_>>());
    }
    for point in points {
        let radius = radius(point.confidence);
        svg.dot(tone_of(point.rank), at(point), radius, (&point.title, Some(&point.href)));
    }
    match points {
        [only] => svg.word(Anchor::Middle, (across(only), bottom + 16.0), &only.day.1),
        [first, .., last] => {
            svg.word(Anchor::Start, (LEFT, bottom + 16.0), &first.day.1);
            svg.word(Anchor::End, (100.0, bottom + 16.0), &last.day.1);
        }
        [] => {}
    }
    svg.finish()
}

/// The area of a dot is proportional to the confidence, with a minimum for confidence 0.
fn radius(confidence: f64) -> f64 {
    2.0 + 5.0 * confidence.clamp(0.0, 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(days: &[i64]) -> Vec<Point> {
        let point = |day: &i64| Point {
            rank: 2.0,
            confidence: 0.25,
            day: (*day, format!("{day} Nov")),
            title: format!("#{day}"),
            href: format!("/swarm/takes/{day}"),
        };
        days.iter().map(point).collect()
    }

    fn of_service() -> StanceAxis {
        StanceAxis::of(std::iter::empty())
    }

    #[test]
    fn single_session_is_one_dot() {
        let Markup(svg) = member_line(&points(&[3]), &of_service(), "Stances");
        assert_eq!(svg.matches("<circle class=\"bullish\"").count(), 1, "{svg}");
        for name in [">bearish<", ">neutral<", ">bullish<"] {
            assert!(svg.contains(name) && !svg.contains(">cautious<"), "{name} in {svg}");
        }
        assert!(svg.contains("<a href=\"/swarm/takes/3\"") && !svg.contains("trend"), "{svg}");
        assert_eq!(svg.matches(">3 Nov<").count(), 1, "{svg}");
    }

    #[test]
    fn sessions_are_placed_by_their_day() {
        let Markup(svg) = member_line(&points(&[1, 2, 11]), &of_service(), "Stances");
        assert!(svg.contains("class=\"trend\" d=\"M24 12L31.3 12L97 12\""), "{svg}");
        for x in ["cx=\"24%\"", "cx=\"31.3%\"", "cx=\"97%\""] {
            assert!(svg.contains(x), "{x} in {svg}");
        }
        assert!(svg.contains(">1 Nov<") && svg.contains(">11 Nov<") && !svg.contains(">2 Nov<"));
    }
}
