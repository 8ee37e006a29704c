//! Text as shapes, for pictures. The font comes with the program, because a server may have none.
//!
//! Texts are untrusted. They are drawn letter by letter from left to right; a letter that the font lacks is a box, and what
//! has no shape of its own (controls, marks of direction) is left out.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder, Rect};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use unicode_normalization::UnicodeNormalization as _;

use super::markup::is_unseen;

/// Inter, under the SIL Open Font License (`fonts/OFL.txt`).
static FONT: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(include_bytes!("../../fonts/Inter-SemiBold.ttf"), 0).ok());

/// Longest text, in letters. The rest is cut.
const MAX_LETTERS: usize = 120;

/// Width and height of the box of a letter that the font lacks, and the width that it takes, as parts of the size.
const BOX: (f32, f32) = (0.5, 0.7);
const BOX_ADVANCE: f32 = 0.62;

/// The letters of a text that are drawn: composed, since the font has no marks that stand above others.
fn letters(text: &str) -> impl Iterator<Item = char> {
    let one_space = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    text.nfc().map(one_space).filter(|letter| !is_unseen(*letter)).take(MAX_LETTERS)
}

/// The glyph of a letter; `None` if the font lacks it.
fn glyph(face: &Face<'_>, letter: char) -> Option<GlyphId> {
    face.glyph_index(letter)
}

fn advance(face: &Face<'_>, letter: char, size: f32) -> f32 {
    let glyph = glyph(face, letter).and_then(|glyph| face.glyph_hor_advance(glyph));
    glyph.map_or(BOX_ADVANCE * size, |units| f32::from(units) * scale(face, size))
}

fn scale(face: &Face<'_>, size: f32) -> f32 {
    size / f32::from(face.units_per_em().max(1))
}

/// The width of a text of this size, in pixels.
pub(super) fn width(text: &str, size: f32) -> f32 {
    let Some(face) = &*FONT else { return 0.0 };
    letters(text).map(|letter| advance(face, letter, size)).sum()
}

/// The beginning of a text that is at most `room` pixels wide, with an ellipsis if it is cut.
pub(super) fn fitted(text: &str, size: f32, room: f32) -> String {
    let mut fitting: String = letters(text).collect();
    if text.chars().count() <= MAX_LETTERS && width(&fitting, size) <= room {
        return fitting;
    }
    while fitting.pop().is_some() {
        let cut = format!("{}…", fitting.trim_end());
        if width(&cut, size) <= room {
            return cut;
        }
    }
    fitting
}

/// The shape of a text of this size that begins at `x`, on the base line `y`. `None` without any shape.
pub(super) fn shape(text: &str, size: f32, (x, y): (f32, f32)) -> Option<Path> {
    let face = FONT.as_ref()?;
    let mut outline = Outline { path: PathBuilder::new(), x, y, scale: scale(face, size) };
    for letter in letters(text) {
        match glyph(face, letter) {
            Some(glyph) => {
                face.outline_glyph(glyph, &mut outline);
            }
            None => outline.push_box(size),
        }
        outline.x += advance(face, letter, size);
    }
    outline.path.finish()
}

/// Adds the outlines of glyphs to a path, which has its origin at the top.
struct Outline {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }

    /// A hollow box: the inner rectangle is drawn against the outer one.
    fn push_box(&mut self, size: f32) {
        let (wide, high) = (BOX.0 * size, BOX.1 * size);
        let line = (size / 16.0).max(1.0);
        let left = self.x + (BOX_ADVANCE * size - wide) / 2.0;
        if let Some(outer) = Rect::from_xywh(left, self.y - high, wide, high) {
            self.path.push_rect(outer);
        }
        let (inner_left, top) = (left + line, self.y - high + line);
        let (right, bottom) = (left + wide - line, self.y - line);
        self.path.move_to(inner_left, top);
        self.path.line_to(inner_left, bottom);
        self.path.line_to(right, bottom);
        self.path.line_to(right, top);
        self.path.close();
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_pages_are_in_the_font() {
        let face = FONT.as_ref().unwrap();
        for letter in "AZaz09 +−–…·,:()“”ÄßŁşΩжЯ€".chars() {
            assert!(glyph(face, letter).is_some(), "{letter}");
        }
    }

    #[test]
    fn unknown_letters_are_boxes_and_controls_nothing() {
        assert_eq!(width("金", 100.0), 62.0);
        assert!(shape("金", 100.0, (0.0, 100.0)).is_some());
        for nothing in ["", "\u{202e}\u{200b}\u{0}\u{1b}"] {
            assert!(shape(nothing, 100.0, (0.0, 100.0)).is_none(), "{nothing:?}");
            assert_eq!(width(nothing, 100.0), 0.0);
        }
        assert_eq!(width("a\nb", 10.0), width("a b", 10.0));
        assert_eq!(width("Mu\u{308}nchen", 10.0), width("M\u{fc}nchen", 10.0));
    }

    #[test]
    fn long_texts_are_cut_to_their_room() {
        assert_eq!(fitted("Aurora", 40.0, 400.0), "Aurora");
        let long = "W".repeat(100_000);
        let cut = fitted(&long, 40.0, 400.0);
        assert!(cut.ends_with('…') && width(&cut, 40.0) <= 400.0, "{cut}");
        assert!(width(&format!("W{cut}"), 40.0) > 400.0, "{cut}");
        assert!(shape(&long, 40.0, (0.0, 0.0)).unwrap().len() < 5_000);
    }
}
