//! An SVG writer with the shapes that the charts use.

use std::fmt::Write as _;

use crate::pages::markup::{Markup, escape};

/// An SVG document under construction.
pub(super) struct Svg(String);

/// Horizontal alignment of a text at its position.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn class(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "mid",
            Self::End => "end",
        }
    }
}

impl Svg {
    /// Starts a drawing of this height, in pixels, and the full width of its container. `label` is its
    /// accessible name.
    pub(super) fn new(class: &str, height: f64, label: &str) -> Self {
        let height = figure(height);
        let label = escape(label);
        Self(format!(
            "<svg class=\"chart {class}\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{label}\">"
        ))
    }

    /// A line between two points: x in percent, y in pixels.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(figure);
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}%\" y1=\"{y1}\" x2=\"{x2}%\" y2=\"{y2}\"/>"
        ));
    }

    /// A horizontal bar; `across` is its left and right end, in percent.
    pub(super) fn bar(&mut self, class: &str, across: (f64, f64), y: f64, height: f64) {
        let [x, width, y, height] = [across.0, across.1 - across.0, y, height].map(figure);
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}%\" y=\"{y}\" width=\"{width}%\" height=\"{height}\"/>"
        ));
    }

    /// A dot with `title` as its tooltip.
    pub(super) fn dot(&mut self, class: &str, at: (f64, f64), radius: f64, title: &str) {
        let [x, y, r] = [at.0, at.1, radius].map(figure);
        let title = escape(title);
        self.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x}%\" cy=\"{y}\" r=\"{r}\"><title>{title}</title></circle>"
        ));
    }

    /// A label of the chart itself.
    pub(super) fn word(&mut self, anchor: Anchor, at: (f64, f64), text: &str) {
        self.text(anchor.class(), at, 0.0, text);
    }

    /// The name of something that the chart shows, shifted right by `from` pixels.
    pub(super) fn name(&mut self, anchor: Anchor, at: (f64, f64), from: f64, text: &str) {
        self.text(&format!("name {}", anchor.class()), at, from, text);
    }

    fn text(&mut self, class: &str, at: (f64, f64), from: f64, text: &str) {
        let [x, y, dx] = [at.0, at.1, from].map(figure);
        let dx = if from == 0.0 { String::new() } else { format!(" dx=\"{dx}\"") };
        let (class, text) = (class.trim_end(), escape(text));
        self.put(format_args!("<text class=\"{class}\" x=\"{x}%\" y=\"{y}\"{dx}>{text}</text>"));
    }

    /// A nested coordinate system with its origin at this point, in which x is in pixels too.
    pub(super) fn corner(&mut self, x: f64, y: f64, draw: impl FnOnce(&mut String)) {
        let [x, y] = [x, y].map(figure);
        self.put(format_args!("<svg x=\"{x}%\" y=\"{y}\">"));
        draw(&mut self.0);
        self.0.push_str("</svg>");
    }

    pub(super) fn finish(mut self) -> Markup {
        self.0.push_str("</svg>");
        Markup(self.0)
    }

    fn put(&mut self, shape: std::fmt::Arguments<'_>) {
        let _infallible = self.0.write_fmt(shape);
    }
}

/// A number with at most one decimal.
pub(super) fn figure(number: f64) -> String {
    let text = format!("{number:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A count as a floating-point number.
pub(super) fn length(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
