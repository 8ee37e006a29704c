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
    /// Starts a drawing of this height, in pixels at the usual size of text, and the full width of its
    /// container. `label` is its accessible name.
    pub(super) fn new(class: &str, height: f64, label: &str) -> Self {
        Self::with_role("img", class, height, label)
    }

    /// Like [`new`](Self::new), for a drawing with links in it.
    pub(super) fn with_links(class: &str, height: f64, label: &str) -> Self {
        Self::with_role("group", class, height, label)
    }

    fn with_role(role: &str, class: &str, height: f64, label: &str) -> Self {
        let height = rem(height);
        let label = escape(label);
        Self(format!(
            "<svg class=\"chart {class}\" width=\"100%\" height=\"{height}\" role=\"{role}\" aria-label=\"{label}\">"
        ))
    }

    /// A line between two points: x in percent, y in pixels.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, x2] = [from.0, to.0].map(figure);
        let [y1, y2] = [from.1, to.1].map(rem);
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}%\" y1=\"{y1}\" x2=\"{x2}%\" y2=\"{y2}\"/>"
        ));
    }

    /// A horizontal line at `y` from `from` pixels to the right edge.
    pub(super) fn line_from(&mut self, class: &str, from: f64, y: f64) {
        let [x, y] = [from, y].map(rem);
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x}\" y1=\"{y}\" x2=\"100%\" y2=\"{y}\"/>"
        ));
    }

    /// A horizontal bar; `across` is its left and right end, in percent.
    pub(super) fn bar(&mut self, class: &str, across: (f64, f64), y: f64, height: f64) {
        let [x, width] = [across.0, across.1 - across.0].map(figure);
        let [y, height] = [y, height].map(rem);
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}%\" y=\"{y}\" width=\"{width}%\" height=\"{height}\"/>"
        ));
    }

    /// A segment of a bar that is as high as the drawing; `across` is its left and right end, in percent.
    pub(super) fn segment(&mut self, class: &str, across: (f64, f64)) {
        let [x, width] = [across.0, across.1 - across.0].map(figure);
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}%\" width=\"{width}%\" height=\"100%\"/>"
        ));
    }

    /// A dot with `title` as its tooltip. With `href` it is a link; a table below the chart has the same
    /// links for keyboards.
    pub(super) fn dot(
        &mut self,
        class: &str,
        at: (f64, f64),
        radius: f64,
        (title, href): (&str, Option<&str>),
    ) {
        let x = format!("{}%", figure(at.0));
        let [y, r] = [at.1, visible(class, radius)].map(rem);
        self.0.push_str(&circle(class, [&x, &y, &r], (title, href)));
    }

    /// A label of the chart itself.
    pub(super) fn word(&mut self, anchor: Anchor, at: (f64, f64), text: &str) {
        self.text(anchor.class(), at, 0.0, text);
    }

    /// A label in the margin left of the drawing, for which the style sheet leaves room: nothing that the chart shows is there.
    pub(super) fn margin_word(&mut self, y: f64, text: &str) {
        self.text(Anchor::End.class(), (0.0, y), -8.0, text);
    }

    /// The name of something that the chart shows, shifted right by `from` pixels.
    pub(super) fn name(&mut self, anchor: Anchor, at: (f64, f64), from: f64, text: &str) {
        self.text(&format!("name {}", anchor.class()), at, from, text);
    }

    fn text(&mut self, class: &str, at: (f64, f64), from: f64, text: &str) {
        let (x, y) = (figure(at.0), rem(at.1));
        let dx = if from == 0.0 { String::new() } else { format!(" dx=\"{}\"", rem(from)) };
        let (class, text) = (class.trim_end(), escape(text));
        self.put(format_args!("<text class=\"{class}\" x=\"{x}%\" y=\"{y}\"{dx}>{text}</text>"));
    }

    /// A filled area between two lines from left to right: x in percent, the two y in pixels, of a drawing
    /// of this height. It is stretched, so the style sheet must not scale an outline.
    pub(super) fn band(&mut self, class: &str, height: f64, points: &[(f64, f64, f64)]) {
        let point = |x: f64, y: f64| format!("{} {}", figure(x), figure(y));
        let upper = points.iter().map(|(x, top, _)| point(*x, *top));
        let lower = points.iter().rev().map(|(x, _, bottom)| point(*x, *bottom));
        let path = upper.chain(lower).collect::<Vec<_>>().join("L");
        self.stretched(class, height, &format!("M{path}z"));
    }

    /// A line through points: x in percent, y in pixels, of a drawing of this height. It is stretched, so the style
    /// sheet must not scale its stroke.
    pub(super) fn path(&mut self, class: &str, height: f64, points: &[(f64, f64)]) {
        let point = |(x, y): &(f64, f64)| format!("{} {}", figure(*x), figure(*y));
        let path = points.iter().map(point).collect::<Vec<_>>().join("L");
        self.stretched(class, height, &format!("M{path}"));
    }

    fn stretched(&mut self, class: &str, height: f64, path: &str) {
        let (whole, height) = (rem(height), figure(height));
        self.put(format_args!(
            "<svg width=\"100%\" height=\"{whole}\" viewBox=\"0 0 100 {height}\" \
             preserveAspectRatio=\"none\"><path class=\"{class}\" d=\"{path}\"/></svg>"
        ));
    }

    /// A nested coordinate system with its origin at this point, in which x is in pixels too. It grows with
    /// the text.
    pub(super) fn corner(&mut self, x: f64, y: f64, draw: impl FnOnce(&mut Corner<'_>)) {
        let (x, y) = (figure(x), rem(y));
        self.put(format_args!(
            "<svg x=\"{x}%\" y=\"{y}\" width=\"1rem\" height=\"1rem\" viewBox=\"0 0 16 16\">"
        ));
        draw(&mut Corner(&mut self.0));
        self.0.push_str("</svg>");
    }

    /// Many dots of one class without tooltips: x in percent, y in pixels, of a drawing of this height.
    pub(super) fn dots(&mut self, class: &str, height: f64, places: &[(f64, f64)]) {
        let path = points(places.iter().copied());
        for class in layers(class) {
            self.stretched(&class, height, &path);
        }
    }

    /// Like [`dots`](Self::dots), for what is behind other shapes.
    pub(super) fn faint_dots(&mut self, class: &str, height: f64, places: &[(f64, f64)]) {
        let path = points(places.iter().copied());
        self.stretched(&format!("dots faint {class}"), height, &path);
    }

    pub(super) fn finish(mut self) -> Markup {
        self.0.push_str("</svg>");
        Markup(self.0)
    }

    fn put(&mut self, shape: std::fmt::Arguments<'_>) {
        let _infallible = self.0.write_fmt(shape);
    }
}

/// A coordinate system in pixels within a drawing.
pub(super) struct Corner<'a>(&'a mut String);

impl Corner<'_> {
    /// A dot with a tooltip, which is a link if there is a path.
    pub(super) fn dot(
        &mut self,
        class: &str,
        at: (f64, f64),
        radius: f64,
        (title, href): (&str, Option<&str>),
    ) {
        let [x, y, r] = [at.0, at.1, visible(class, radius)].map(figure);
        self.0.push_str(&circle(class, [&x, &y, &r], (title, href)));
    }

    /// A small diamond at the origin.
    pub(super) fn diamond(&mut self, class: &str) {
        self.0.push_str(&format!("<path class=\"{class}\" d=\"M0-5l5 5-5 5-5-5z\"/>"));
    }

    /// Many dots of one class without tooltips.
    pub(super) fn dots(&mut self, class: &str, places: &[(f64, f64)]) {
        let path = points(places.iter().copied());
        for class in layers(class) {
            self.0.push_str(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
        }
    }

    /// The name of something that the chart shows.
    pub(super) fn name(&mut self, anchor: Anchor, at: (f64, f64), text: &str) {
        let [x, y] = [at.0, at.1].map(figure);
        let (class, text) = (anchor.class(), escape(text));
        self.0.push_str(&format!("<text class=\"name {class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }
}

/// The radius of a circle of this class: the outline of a hollow one is of its own colour, and makes it larger.
fn visible(class: &str, radius: f64) -> f64 {
    if class == "neutral" { radius - 1.6 } else { radius }
}

/// Dots as zero-length segments with round caps, which takes the fewest bytes.
fn points(places: impl Iterator<Item = (f64, f64)>) -> String {
    places.map(|(x, y)| format!("M{} {}h0", figure(x), figure(y))).collect()
}

/// The classes of the paths that draw dots of a class over each other: neutral dots are hollow.
fn layers(class: &str) -> Vec<String> {
    let dots = format!("dots {class}");
    if class == "neutral" { vec![dots, "dots hole".to_owned()] } else { vec![dots] }
}

/// A circle with `title` as its tooltip, and a link if there is a path.
fn circle(class: &str, [x, y, r]: [&str; 3], (title, href): (&str, Option<&str>)) -> String {
    let title = escape(title);
    let shape = format!(
        "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"><title>{title}</title></circle>"
    );
    match href {
        Some(href) => {
            let href = escape(href);
            format!("<a href=\"{href}\" tabindex=\"-1\" aria-label=\"{title}\">{shape}</a>")
        }
        None => shape,
    }
}

/// A length in pixels, in units that grow with the text of the page.
fn rem(pixels: f64) -> String {
    let text = format!("{:.4}", pixels / 16.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if matches!(text, "0" | "-0") { "0".to_owned() } else { format!("{text}rem") }
}

/// A number with at most one decimal.
fn figure(number: f64) -> String {
    let text = format!("{number:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A count as a floating-point number.
pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
