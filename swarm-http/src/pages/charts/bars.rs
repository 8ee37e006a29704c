//! Shares of a whole as bars, in the order given, with the figures at their ends.

use super::svg::{Anchor, Svg, length};
use crate::pages::markup::{Markup, clipped};

/// A bar.
pub(crate) struct Bar<'a> {
    /// What it stands for.
    pub(crate) name: &'a str,
    /// How long it is, 0 to 1.
    pub(crate) share: f64,
}

/// How high a bar with its name is, in pixels.
const ROW: f64 = 38.0;

/// The letters of a name that have room at the narrowest, beside the figure.
const NAME: usize = 28;

/// The bars below each other; `label` says what they show.
pub(crate) fn bars(bars: &[Bar<'_>], label: &str) -> Markup {
    let mut svg = Svg::new("bars", ROW * length(bars.len()), label);
    for (row, bar) in bars.iter().enumerate() {
        let top = ROW * length(row);
        let share = if bar.share.is_finite() { bar.share.clamp(0.0, 1.0) } else { 0.0 };
        svg.name(Anchor::Start, (0.0, top + 14.0), 0.0, &clipped(bar.name, NAME));
        svg.word(Anchor::End, (100.0, top + 14.0), &format!("{:.1} %", share * 100.0));
        svg.bar("rest", (0.0, 100.0), top + 21.0, 6.0);
        svg.bar("part", (0.0, share * 100.0), top + 21.0, 6.0);
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_keep_their_order_and_say_their_figure() {
        let Markup(svg) = bars(
            &[Bar { name: "stable<coins>", share: 0.25 }, Bar { name: "b", share: f64::NAN }],
            "Weights",
        );
        assert!(svg.contains("stable&lt;coins&gt;") && svg.contains("25.0 %"), "{svg}");
        assert!(svg.contains("class=\"part\" x=\"0%\" y=\"21\" width=\"25%\""), "{svg}");
        assert!(svg.contains("0.0 %") && svg.contains("height=\"76\""), "{svg}");
    }
}
