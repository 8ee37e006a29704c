//! The stance field: a chart of the stance and confidence of each member of a session.
//!
//! Wide pages show five columns, bearish to bullish; height is confidence. Narrow pages show five
//! rows, bullish on top; confidence grows to the right. A dot is exactly at its confidence; dots that would
//! overlap are moved sideways. Members are named where there is room, those farthest from the mean first; the
//! table below the chart has all names. On wide pages dots are links to the takes.

mod columns;
mod layout;
mod marks;
mod rows;

use swarm_core::domain::{Stance, StanceScale};

use super::strip::Counts;
use crate::pages::markup::Markup;

pub(crate) use marks::{Dot, Mean, range, shown, signed, tick};

/// Minimum number of dots of a chart that is wider than the text where there is room.
const BROAD: usize = 16;

/// Draws the field of a session with these stances.
pub(crate) fn stance_field(scale: &StanceScale, dots: &[Dot], mean: Option<Mean>) -> Markup {
    let label = label(scale, dots, mean);
    let broad = if dots.len() >= BROAD { " broad" } else { "" };
    if scale.stances().len() > columns::MAX_COLUMNS {
        let rows = rows::drawing(scale, dots, mean, ("field", &label));
        return Markup(format!("<div class=\"drawing{broad}\">{rows}</div>"));
    }
    let wide = columns::drawing(scale, dots, mean, &label);
    let narrow = rows::drawing(scale, dots, mean, ("field narrow", &label));
    Markup(format!("<div class=\"drawing{broad}\">{wide}{narrow}</div>"))
}

/// The field in words, as its accessible name.
fn label(scale: &StanceScale, dots: &[Dot], mean: Option<Mean>) -> String {
    let stance = |dot: &Dot| scale.stances().get(dot.place).map(|stance| &stance.name);
    let stances: Vec<&Stance> = dots.iter().filter_map(stance).collect();
    let counts = Counts::of_each(scale, stances);
    let mean = mean.map(|mean| format!("; {}", mean.words())).unwrap_or_default();
    format!("Stances of the members: {}{mean}", counts.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn dots(count: usize, place: usize, confidence: f64) -> Vec<Dot> {
        let name = |nth: usize| format!("Member {nth}");
        let dot = |nth: usize| Dot { name: name(nth), href: None, place, confidence };
        (0..count).map(dot).collect()
    }

    fn service() -> &'static StanceScale {
        StanceScale::of_service()
    }

    /// A session with so many stances, of ranks 0, 10, 20 and so on.
    fn tens(count: u32) -> StanceScale {
        let ranked = |nth| swarm_core::domain::RankedStance {
            name: Stance::parse(format!("<stance number {nth}>")).unwrap(),
            rank: f64::from(nth) * 10.0,
        };
        StanceScale::parse((0..count).map(ranked).collect()).unwrap()
    }

    #[test]
    fn axis_has_the_stances_and_ranks_of_the_session() {
        let mean = Mean { score: 5.0, distance: 10.0, is_consensus: false, is_median: true };
        let Markup(svg) = stance_field(&tens(3), &dots(2, 1, 0.5), Some(mean));
        // Columns are 30 % apart, the first at 19 %; the score is halfway between the first and the second.
        assert!(svg.contains("<line class=\"mean open\" x1=\"34%\""), "{svg}");
        assert!(svg.contains("median of those filed +5.00") && !svg.contains("+10<"), "{svg}");
        for word in ["&lt;stance number 1&gt;", ">20</text>", ">10</text>"] {
            assert!(svg.contains(word), "{word} in {svg}");
        }
        assert!(!svg.contains("<stance"), "{svg}");
    }

    #[test]
    fn many_stances_are_rows_on_every_page() {
        for (count, is_wide) in [(2, true), (7, true), (8, false), (20, false)] {
            let Markup(svg) = stance_field(&tens(count), &dots(30, 1, 0.5), None);
            assert_eq!(svg.contains("class=\"chart field wide\""), is_wide, "{count}");
            assert_eq!(svg.contains("class=\"chart field\""), !is_wide, "{count}");
            assert!(svg.len() < 20_000, "{count}: {}", svg.len());
        }
    }

    fn consensus(score: f64) -> Option<Mean> {
        Some(Mean { score, distance: 0.5, is_consensus: true, is_median: false })
    }

    #[test]
    fn differences_of_shown_figures_are_those_that_readers_compute() {
        let (from, to) = (0.3551, 0.7046);
        assert_eq!([from, to].map(signed), ["+0.36", "+0.70"]);
        assert_eq!(signed(shown(to) - shown(from)), "+0.34");
    }

    #[test]
    fn label_has_counts_and_consensus() {
        let mut all = dots(2, 3, 0.5);
        all.extend(dots(1, 0, 0.1));
        let Markup(svg) = stance_field(service(), &all, consensus(-0.5));
        let label = "Stances of the members: 1 bearish, 2 constructive; consensus −0.50";
        assert_eq!(svg.matches(&format!("aria-label=\"{label}\"")).count(), 2, "{svg}");
    }

    #[test]
    fn mean_without_a_quorum_is_no_consensus() {
        let mean = Mean { score: -0.5, distance: 0.5, is_consensus: false, is_median: false };
        let Markup(svg) = stance_field(service(), &dots(3, 3, 0.5), Some(mean));
        assert!(!svg.contains("consensus") && svg.contains("mean of those filed −0.50"), "{svg}");
        assert!(svg.contains("class=\"mean open\"") && !svg.contains("class=\"mean\""), "{svg}");
    }

    #[test]
    fn every_member_is_one_dot_in_both_drawings() {
        for count in [1, 5, 19, 20, 40, 41, 250] {
            let spread: Vec<_> = dots(count, 2, 0.0)
                .into_iter()
                .enumerate()
                .map(|(nth, dot)| {
                    let place = nth % 5;
                    Dot { place, confidence: f64::from(u32::try_from(nth).unwrap()) / 400.0, ..dot }
                })
                .collect();
            let Markup(svg) = stance_field(service(), &spread, None);
            let rings = svg.split("class=\"dots hole\"").skip(1);
            let holes: usize =
                rings.map(|path| path.split("/>").next().unwrap().matches("h0").count()).sum();
            let dots = svg.matches("<circle").count() + svg.matches("h0").count() - holes;
            assert_eq!(dots, 2 * count, "{svg}");
            assert!(svg.contains("class=\"name "), "some are named: {svg}");
            assert!(svg.len() < 20_000, "{count}: {}", svg.len());
        }
    }

    #[test]
    fn size_is_bounded_for_thousands_of_members() {
        let Markup(svg) = stance_field(service(), &dots(5_000, 4, 1.0), consensus(2.0));
        assert!(svg.len() < 20_000 && svg.contains("1 dot = "), "{}", svg.len());
    }

    #[test]
    fn names_are_escaped() {
        let dot = Dot { name: "<b>\"x\"".to_owned(), href: None, place: 2, confidence: 1.0 };
        let Markup(svg) = stance_field(service(), &[dot], None);
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
    }

    #[test]
    fn consensus_is_a_line_between_two_stances_with_its_whisker() {
        let Markup(svg) = stance_field(service(), &dots(1, 2, 0.5), consensus(-1.5));
        // Columns are 18 % apart, the first at 13 %.
        assert!(svg.contains("<line class=\"mean\" x1=\"22%\""), "{svg}");
        assert!(svg.contains("x1=\"13%\"") && svg.contains("x2=\"31%\""), "{svg}");
    }
}
