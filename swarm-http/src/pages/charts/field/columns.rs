//! The stance field for wide pages, with member names.

use super::frame::{AXIS, Dot, TOP, column, down, frame, letters, of_place};
use crate::pages::charts::STANCES;
use crate::pages::charts::svg::{Svg, figure, length, linked};
use crate::pages::markup::{Markup, clipped, escape};

/// Minimum distance between the centres of two dots, in pixels.
const DOT: f64 = 14.0;

/// Line height of names, in pixels.
const NAME: f64 = 16.0;

/// Maximum number of dots side by side in a column.
const LANES: usize = 4;

/// Longest name, in letters, if there is room.
const MAX_NAME: usize = 24;

/// Draws the field; `None` if a column has more members than fit with their names.
pub(super) fn drawing(dots: &[Dot], consensus: Option<f64>, label: &str) -> Option<Markup> {
    let columns: Vec<_> =
        (0..STANCES.len()).map(|at| Column::of(of_place(dots, at))).collect::<Option<_>>()?;
    let mut svg = frame(dots, consensus, label);
    for (at, stance) in STANCES.into_iter().enumerate() {
        if let Some(column) = columns.get(at) {
            column.draw(&mut svg, (at, stance), &columns);
        }
    }
    Some(svg.finish())
}

/// The members of one stance: dots at the height of their confidence, each name as close as space allows.
struct Column<'a> {
    members: Vec<&'a Dot>,
    heights: Vec<f64>,
    lanes: Vec<usize>,
    /// The heights of the names.
    lines: Vec<f64>,
}

impl<'a> Column<'a> {
    fn of(members: Vec<&'a Dot>) -> Option<Self> {
        let heights: Vec<_> = members.iter().map(|dot| down(dot.confidence)).collect();
        let (lanes, lines) = (lanes(&heights)?, apart(&heights)?);
        Some(Self { members, heights, lanes, lines })
    }

    /// Whether neither a dot nor a name of this column is near a height.
    fn is_free(&self, line: f64) -> bool {
        self.heights.iter().chain(&self.lines).all(|y| (y - line).abs() >= NAME)
    }

    fn draw(&self, svg: &mut Svg, (at, stance): (usize, &str), columns: &[Self]) {
        svg.corner(column(at), 0.0, |corner| {
            let places = self.heights.iter().zip(&self.lanes).zip(&self.lines);
            for (dot, ((y, lane), line)) in self.members.iter().zip(places) {
                // The name starts to the right of its own dot and of every dot on the same line.
                let level = self.heights.iter().zip(&self.lanes);
                let level = level.filter(|(y, _)| (*y - line).abs() < DOT);
                let beside = level.map(|(_, level)| *level).fold(*lane, usize::max);
                let text_at = length(beside) * DOT + 12.0;
                let is_free = |at: usize| columns.get(at).is_none_or(|it| it.is_free(*line));
                let room = letters(at, text_at, is_free).min(MAX_NAME);
                let is_moved = (line - y).abs() > 4.0;
                let [x, y, line_y] = [length(*lane) * DOT, *y, *line].map(figure);
                if is_moved {
                    let to = figure(text_at - 3.0);
                    corner.push_str(&format!(
                        "<line class=\"leader\" x1=\"{x}\" y1=\"{y}\" x2=\"{to}\" y2=\"{line_y}\"/>"
                    ));
                }
                let name = escape(&clipped(&dot.name, room));
                let [text_at, base] = [text_at, line + 4.5].map(figure);
                let circle = format!("<circle class=\"{stance}\" cx=\"{x}\" cy=\"{y}\" r=\"6.5\">");
                corner.push_str(&linked(&circle, &dot.title(), dot.href.as_deref()));
                corner.push_str(&format!(
                    "<text class=\"name\" x=\"{text_at}\" y=\"{base}\">{name}</text>"
                ));
            }
        });
    }
}

/// The lane of each dot: the first in which it overlaps no other. `None` if all lanes are taken.
fn lanes(heights: &[f64]) -> Option<Vec<usize>> {
    let mut placed: Vec<(usize, f64)> = Vec::new();
    for y in heights {
        let free = |lane: &usize| placed.iter().all(|(of, at)| of != lane || (at - y).abs() >= DOT);
        let lane = (0..LANES).find(free)?;
        placed.push((lane, *y));
    }
    Some(placed.into_iter().map(|(lane, _)| lane).collect())
}

/// Positions of the names of dots at these heights, sorted from the top. Names keep a line height
/// apart, stay inside the field, and move as little as possible (pool adjacent violators). `None` if
/// they do not fit.
fn apart(heights: &[f64]) -> Option<Vec<f64>> {
    let room = AXIS - TOP - NAME;
    if NAME * length(heights.len()) > room {
        return None;
    }
    // Subtracting the height of the lines above turns "a line height apart" into "not decreasing".
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (nth, y) in heights.iter().enumerate() {
        let mut pool = (y - NAME * length(nth), 1);
        while let Some(above) = pools.pop_if(|above| above.0 >= pool.0) {
            let count = above.1 + pool.1;
            let sum = above.0 * length(above.1) + pool.0 * length(pool.1);
            pool = (sum / length(count), count);
        }
        pools.push(pool);
    }
    let last = AXIS - NAME / 2.0 - NAME * length(heights.len().saturating_sub(1));
    let starts = pools.into_iter().flat_map(|(start, count)| std::iter::repeat_n(start, count));
    let line = |(nth, start): (usize, f64)| start.clamp(TOP, last.max(TOP)) + NAME * length(nth);
    Some(starts.enumerate().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_dots_get_separate_lanes() {
        assert_eq!(lanes(&[50.0, 50.0, 60.0, 80.0]), Some(vec![0, 1, 2, 0]));
        assert_eq!(lanes(&[50.0; 5]), None);
    }

    #[test]
    fn names_keep_a_line_height_apart() {
        assert_eq!(apart(&[50.0, 100.0]), Some(vec![50.0, 100.0]));
        assert_eq!(apart(&[50.0, 50.0]), Some(vec![42.0, 58.0]));
        for heights in [[TOP; 11], [AXIS; 11]] {
            let lines = apart(&heights).unwrap();
            assert!(lines.iter().all(|line| (TOP..=AXIS).contains(line)), "{lines:?}");
            let apart = |pair: &[f64]| (pair[1] - pair[0] - NAME).abs() < 1e-9;
            assert!(lines.windows(2).all(apart), "{lines:?}");
        }
        assert_eq!(apart(&[50.0; 14]), None);
    }
}
