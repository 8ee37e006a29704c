//! The stance field for narrow pages, with member names.

use super::frame::{Dot, begin_rows, finish_rows, of_place};
use crate::pages::charts::STANCES;
use crate::pages::charts::svg::{Anchor, Svg, length};
use crate::pages::markup::{Markup, clipped, width};

/// Narrowest supported width, in pixels: names that do not overlap here do not overlap when wider.
const ROOM: f64 = 272.0;

/// Approximate maximum width of a letter, and the distance of a name from the centre of its dot.
const LETTER: f64 = 8.0;
const BESIDE: f64 = 11.0;

/// Longest name, in letters.
const MAX_NAME: usize = 14;

/// Height of a row's heading and of each line of names.
const HEADING: f64 = 24.0;
const LINE: f64 = 19.0;

/// The drawing.
pub(super) fn drawing(dots: &[Dot], consensus: Option<f64>, label: &str) -> Markup {
    let rows: Vec<_> = (0..STANCES.len()).map(|at| lines(&of_place(dots, at))).collect();
    let count = |row: &Vec<Placed<'_>>| row.iter().map(|placed| placed.line + 1).max().unwrap_or(0);
    let heights = rows.iter().map(|row| HEADING + LINE * length(count(row)));
    let bottom = heights.clone().sum::<f64>() + 22.0;
    let mut svg = begin_rows(bottom, consensus, label);
    let mut top = 0.0;
    let mut middles = [0.0; 5];
    for (at, (row, height)) in rows.iter().zip(heights).enumerate().rev() {
        svg.line("grid", (0.0, top + 20.0), (100.0, top + 20.0));
        if let (Some(stance), Some(middle)) = (STANCES.get(at), middles.get_mut(at)) {
            svg.word(Anchor::Start, (0.0, top + 14.0), stance);
            *middle = top + 20.0;
            for placed in row {
                placed.draw(&mut svg, stance, top + HEADING + LINE * (length(placed.line) + 0.5));
            }
        }
        top += height;
    }
    finish_rows(svg, &middles, consensus, bottom, "confidence 0")
}

/// A member's position in its row.
struct Placed<'a> {
    dot: &'a Dot,
    name: String,
    /// Horizontal position, in percent.
    x: f64,
    /// Whether the name is to the left of the dot because there is no room to the right.
    left: bool,
    line: usize,
}

impl<'a> Placed<'a> {
    fn new(dot: &'a Dot) -> Self {
        let x = 3.0 + 93.0 * dot.confidence.clamp(0.0, 1.0);
        let name = clipped(&dot.name, MAX_NAME);
        let left = x * ROOM / 100.0 + BESIDE + LETTER * length(width(&name)) > ROOM;
        Self { dot, name, x, left, line: 0 }
    }

    /// Left and right edge at the narrowest width, in pixels.
    fn reach(&self) -> (f64, f64) {
        let at = self.x * ROOM / 100.0;
        let name = BESIDE + LETTER * length(width(&self.name));
        if self.left { (at - name, at + 8.0) } else { (at - 8.0, at + name) }
    }

    fn draw(&self, svg: &mut Svg, stance: &str, y: f64) {
        let (title, href) = (self.dot.title(), self.dot.href.as_deref());
        svg.dot(stance, (self.x, y), 6.5, (&title, href));
        let (anchor, beside) =
            if self.left { (Anchor::End, -BESIDE) } else { (Anchor::Start, BESIDE) };
        svg.name(anchor, (self.x, y + 4.5), beside, &self.name);
    }
}

/// The members of a row, each in the first line in which it overlaps no other.
fn lines<'a>(members: &[&'a Dot]) -> Vec<Placed<'a>> {
    let mut row: Vec<Placed<'a>> = Vec::new();
    for dot in members {
        let mut placed = Placed::new(dot);
        let (from, to) = placed.reach();
        let covers = |line: usize| {
            let mut others = row.iter().filter(|other| other.line == line).map(Placed::reach);
            others.any(|(other_from, other_to)| from < other_to && other_from < to)
        };
        placed.line = (0..).find(|line| !covers(*line)).unwrap_or_default();
        row.push(placed);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(name: &str, confidence: f64) -> Dot {
        Dot { name: name.to_owned(), href: None, rank: 0, confidence }
    }

    #[test]
    fn names_stay_inside_and_do_not_overlap() {
        let dots: Vec<_> =
            (0..24).map(|nth| dot("Rosalind Franklin", f64::from(nth) / 23.0)).collect();
        let row = lines(&dots.iter().collect::<Vec<_>>());
        for (nth, placed) in row.iter().enumerate() {
            let (from, to) = placed.reach();
            assert!(from >= -16.0 && to <= ROOM + 8.0, "{from} {to}");
            for other in row.iter().skip(nth + 1).filter(|other| other.line == placed.line) {
                assert!(other.reach().1 <= from || other.reach().0 >= to);
            }
        }
    }

    #[test]
    fn distant_names_share_a_line() {
        let dots = [dot("Ada", 0.1), dot("Lise", 0.9), dot("Hedy", 0.12)];
        let row = lines(&dots.iter().collect::<Vec<_>>());
        assert_eq!(row.iter().map(|placed| placed.line).collect::<Vec<_>>(), [0, 0, 1]);
    }
}
