//! The stance field: where the members of a session stand, and how sure they are.
//!
//! Wide pages show five columns, bearish to bullish, in which height is confidence; narrow ones five
//! rows, bullish on top, in which confidence grows to the right. Up to 24 members are named; more
//! are a density, one dot each, and the table below the chart has the names.

mod columns;
mod density;
mod frame;
mod rows;

use super::place;
use super::strip::Counts;
use crate::pages::markup::Markup;

use frame::{NAMED, told};

pub(crate) use frame::{Dot, signed};

/// The field, with the consensus, −2 to 2, as a mark on its axis where there is one.
pub(crate) fn stance_field(dots: &[Dot], consensus: Option<f64>) -> Markup {
    let label = label(dots, consensus);
    let named = dots.len() <= NAMED;
    let wide = if named { columns::drawing(dots, consensus, &label) } else { None };
    let wide = wide.unwrap_or_else(|| density::columns(dots, consensus, &label));
    let narrow = if named {
        rows::drawing(dots, consensus, &label)
    } else {
        density::rows(dots, consensus, &label)
    };
    Markup(wide.0 + &narrow.0)
}

/// The field in words.
fn label(dots: &[Dot], consensus: Option<f64>) -> String {
    let mut counts = Counts::default();
    for dot in dots {
        if let Some(count) = counts.known.get_mut(place(dot.rank)) {
            *count += 1;
        }
    }
    let consensus = consensus.map(|score| format!("; {}", told(score))).unwrap_or_default();
    format!("Where the members stand: {}{consensus}", counts.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn dots(count: usize, rank: i8, confidence: f64) -> Vec<Dot> {
        let dot = |nth: usize| Dot { name: format!("Member {nth}"), rank, confidence };
        (0..count).map(dot).collect()
    }

    #[test]
    fn the_label_says_what_the_picture_shows() {
        let mut all = dots(2, 1, 0.5);
        all.extend(dots(1, -2, 0.1));
        let Markup(svg) = stance_field(&all, Some(-0.5));
        let label = "Where the members stand: 1 bearish, 2 constructive; consensus −0.50";
        assert_eq!(svg.matches(&format!("aria-label=\"{label}\"")).count(), 2, "{svg}");
    }

    #[test]
    fn names_give_way_to_a_density() {
        for (count, named) in [(1, true), (5, true), (24, true), (25, false), (250, false)] {
            let spread: Vec<_> = dots(count, 0, 0.0)
                .into_iter()
                .enumerate()
                .map(|(nth, dot)| {
                    let rank = i8::try_from(nth % 5).unwrap() - 2;
                    Dot { rank, confidence: f64::from(u32::try_from(nth).unwrap()) / 400.0, ..dot }
                })
                .collect();
            let Markup(svg) = stance_field(&spread, None);
            assert_eq!(svg.contains(">Member 0<"), named, "{count}: {svg}");
            let dots = svg.matches("<circle").count() + svg.matches("h0").count();
            assert_eq!(dots, 2 * count, "one dot each, in both drawings");
            assert!(svg.len() < 20_000, "{count}: {}", svg.len());
        }
    }

    #[test]
    fn thousands_of_members_stay_small() {
        let Markup(svg) = stance_field(&dots(5_000, 2, 1.0), Some(2.0));
        assert!(svg.len() < 20_000, "{}", svg.len());
    }

    #[test]
    fn names_are_escaped() {
        let dot = Dot { name: "<b>\"x\"".to_owned(), rank: 0, confidence: 1.0 };
        let Markup(svg) = stance_field(&[dot], None);
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
    }

    #[test]
    fn the_consensus_stands_between_its_stances() {
        let Markup(svg) = stance_field(&dots(1, 0, 0.5), Some(-1.5));
        assert!(svg.contains("<svg x=\"17.5%\" y=\"212\"><path class=\"mean\""), "{svg}");
    }
}
