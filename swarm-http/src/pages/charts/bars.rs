//! Shares of a whole, as a bar chart and as a table: in their order, each with its name and percentage.

use super::svg::{Anchor, Svg, float};
use crate::pages::markup::{Markup, clipped};

/// One share.
pub(crate) struct Bar<'a> {
    /// The label.
    pub(crate) name: &'a str,
    /// The share, 0 to 1.
    pub(crate) share: f64,
}

/// Height of a bar with its name, in pixels.
const ROW: f64 = 38.0;

/// Longest name, in letters, that fits beside the figure on the narrowest page.
const MAX_NAME: usize = 28;

/// Draws the bars below each other; `label` is the accessible name.
pub(crate) fn bars(bars: &[Bar<'_>], label: &str) -> Markup {
    let mut svg = Svg::new("bars", ROW * float(bars.len()), label);
    for (row, bar) in bars.iter().enumerate() {
        let top = ROW * float(row);
        let share = if bar.share.is_finite() { bar.share.clamp(0.0, 1.0) } else { 0.0 };
        svg.name(Anchor::Start, (0.0, top + 14.0), 0.0, &clipped(bar.name, MAX_NAME));
        svg.word(Anchor::End, (100.0, top + 14.0), &format!("{:.1} %", share * 100.0));
        svg.bar("rest", (0.0, 100.0), top + 21.0, 6.0);
        svg.bar("part", (0.0, share * 100.0), top + 21.0, 6.0);
    }
    svg.finish()
}

/// The chart and the rows of its table.
pub(crate) struct Shares {
    pub(crate) chart: Markup,
    pub(crate) rows: Vec<(String, String)>,
    /// The number of shares that are not shown.
    pub(crate) more: usize,
}

/// Draws the first `most` of named shares; `write` formats the figures of the table.
pub(crate) fn shares_of(
    named: &[(String, f64)],
    most: usize,
    write: impl Fn(f64) -> String,
    label: &str,
) -> Shares {
    let shown: Vec<_> =
        named.iter().take(most).map(|(name, share)| Bar { name, share: *share }).collect();
    let rows = named.iter().take(most).map(|(name, share)| (name.clone(), write(*share)));
    Shares {
        chart: bars(&shown, label),
        rows: rows.collect(),
        more: named.len().saturating_sub(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_names_and_percentages_in_order() {
        let Markup(svg) = bars(
            &[Bar { name: "stable<coins>", share: 0.25 }, Bar { name: "b", share: f64::NAN }],
            "Weights",
        );
        assert!(svg.contains("stable&lt;coins&gt;") && svg.contains("25.0 %"), "{svg}");
        assert!(svg.contains("class=\"part\" x=\"0%\" y=\"1.3125rem\" width=\"25%\""), "{svg}");
        assert!(svg.contains("0.0 %") && svg.contains("height=\"4.75rem\""), "{svg}");
    }
}
