//! The stance field for many members: dots, and the names of those farthest from the consensus.

use super::frame::{
    AXIS, Dot, TOP, begin_rows, column, down, finish_rows, frame, letters, of_place, points,
};
use crate::pages::charts::STANCES;
use crate::pages::charts::svg::{Anchor, Svg, figure, length, linked};
use crate::pages::markup::{Markup, clipped, escape, width};

/// Distance between dots and their radius, in pixels.
const PITCH: f64 = 7.0;
const RADIUS: f64 = 2.8;

/// Maximum number of dots. With more members than this, each dot stands for several.
const MAX_DOTS: usize = 250;

/// Dots that fit side by side at one confidence, in a column and in a row.
const COLUMN_LANES: usize = 13;
const ROW_LANES: usize = 7;

/// Cells along the confidence axis, of a column and of a row.
const COLUMN_CELLS: usize = 26;
const ROW_CELLS: usize = 36;

/// Maximum number of members whose dots are links, and of outliers that are named.
const MAX_LINKED: usize = 40;
const MAX_OUTLIERS: usize = 6;

/// Minimum distance of an outlier's rank from the consensus.
const OUTLIER: f64 = 1.0;

/// The drawing for wide pages.
pub(super) fn columns(dots: &[Dot], consensus: Option<f64>, label: &str) -> Markup {
    let (shown, note) = thinned(dots);
    let outliers = outliers(dots, consensus);
    let mut svg = frame(dots, consensus, label);
    let places: Vec<_> = (0..STANCES.len()).map(|at| Column::of(of_place(&shown, at))).collect();
    for ((at, stance), of_column) in STANCES.into_iter().enumerate().zip(&places) {
        svg.corner(column(at), 0.0, |corner| {
            if dots.len() <= MAX_LINKED {
                of_column.draw_links(corner, stance);
            } else {
                corner.push_str(&points(stance, RADIUS, of_column.places()));
            }
            of_column.draw_names(corner, at, &outliers, &places);
        });
    }
    if let Some(note) = note {
        svg.word(Anchor::End, (100.0, TOP + 4.0), &note);
    }
    debug_assert!(TOP + PITCH * length(COLUMN_CELLS + 1) <= AXIS);
    svg.finish()
}

/// The members of one stance, with the cell and the lane of each.
struct Column<'a> {
    members: Vec<&'a Dot>,
    cells: Vec<(usize, usize)>,
}

impl<'a> Column<'a> {
    fn of(members: Vec<&'a Dot>) -> Self {
        let along = |dot: &&Dot| (down(dot.confidence) - TOP) / PITCH;
        let cells = cells(members.iter().map(along), COLUMN_CELLS + 2, COLUMN_LANES);
        Self { members, cells }
    }

    fn place((cell, lane): (usize, usize)) -> (f64, f64) {
        (length(lane) * PITCH, TOP + PITCH * length(cell))
    }

    fn places(&self) -> impl Iterator<Item = (f64, f64)> {
        self.cells.iter().map(|cell| Self::place(*cell))
    }

    fn draw_links(&self, corner: &mut String, stance: &str) {
        for (dot, (x, y)) in self.members.iter().zip(self.places()) {
            let [x, y] = [x, y].map(figure);
            let circle = format!("<circle class=\"{stance}\" cx=\"{x}\" cy=\"{y}\" r=\"3.4\">");
            corner.push_str(&linked(&circle, &dot.title(), dot.href.as_deref()));
        }
    }

    /// Names to the right of all dots of the line, of those outliers that have room.
    fn draw_names(&self, corner: &mut String, at: usize, outliers: &[&Dot], columns: &[Self]) {
        const SHORTEST: usize = 4;
        let mut named: Vec<f64> = Vec::new();
        for (dot, cell) in self.members.iter().zip(&self.cells) {
            let is_outlier = outliers.iter().any(|outlier| outlier.name == dot.name);
            let (_, y) = Self::place(*cell);
            if !is_outlier || named.iter().any(|other| (other - y).abs() < 15.0) {
                continue;
            }
            let from = self.end(cell.0) + 9.0;
            let is_free = |at: usize| columns.get(at).is_none_or(|it| !it.is_near(cell.0));
            let room = letters(at, from, is_free);
            if room >= SHORTEST.min(width(&dot.name)) {
                let (x, base) = (figure(from), figure(y + 4.5));
                let name = escape(&clipped(&dot.name, room.min(24)));
                corner.push_str(&format!(
                    "<text class=\"name\" x=\"{x}\" y=\"{base}\">{name}</text>"
                ));
                named.push(y);
            }
        }
    }

    /// The end of the dots beside a cell, as high as a line of text, in pixels.
    fn end(&self, cell: usize) -> f64 {
        let near = self.cells.iter().filter(|other| other.0.abs_diff(cell) <= 1);
        near.map(|(_, lane)| length(*lane) * PITCH).fold(0.0, f64::max)
    }

    fn is_near(&self, cell: usize) -> bool {
        self.cells.iter().any(|other| other.0.abs_diff(cell) <= 2)
    }
}

/// The members whose ranks are farthest from the consensus, or without one from the mean rank.
fn outliers(dots: &[Dot], consensus: Option<f64>) -> Vec<&Dot> {
    let ranks: f64 = dots.iter().map(|dot| f64::from(dot.rank)).sum();
    let center = consensus.unwrap_or(ranks / length(dots.len().max(1)));
    let distance = |dot: &Dot| (f64::from(dot.rank) - center).abs();
    let mut far: Vec<_> = dots.iter().filter(|dot| distance(dot) >= OUTLIER).collect();
    far.sort_by(|a, b| {
        let by_distance = distance(b).total_cmp(&distance(a));
        by_distance.then(b.confidence.total_cmp(&a.confidence)).then(a.name.cmp(&b.name))
    });
    far.truncate(MAX_OUTLIERS);
    far
}

/// The drawing for narrow pages.
pub(super) fn rows(dots: &[Dot], consensus: Option<f64>, label: &str) -> Markup {
    const ROW: f64 = 26.0 + 7.0 * PITCH;
    let (shown, note) = thinned(dots);
    let outliers = outliers(dots, consensus);
    let bottom = ROW * 5.0 + 22.0;
    let mut svg = begin_rows(bottom, consensus, label);
    let mut lines = [0.0; 5];
    for (nth, at) in (0..STANCES.len()).rev().enumerate() {
        let top = ROW * length(nth);
        let (Some(stance), Some(line)) = (STANCES.get(at), lines.get_mut(at)) else { continue };
        *line = top + 20.0;
        svg.line("grid", (0.0, *line), (100.0, *line));
        let members = of_place(dots, at);
        let heading = format!("{stance} {}", members.len());
        svg.word(Anchor::Start, (0.0, top + 14.0), &heading);
        let named = members.iter().filter(|dot| outliers.iter().any(|it| it.name == dot.name));
        let names: Vec<_> = named.map(|dot| dot.name.as_str()).collect();
        // What the narrowest page has room for beside the heading.
        let room = 32_usize.saturating_sub(heading.len());
        svg.name(Anchor::End, (100.0, top + 14.0), 0.0, &clipped(&names.join(", "), room));
        draw_row(&mut svg, (stance, top), &of_place(&shown, at), dots.len() <= MAX_LINKED);
    }
    finish_rows(svg, &lines, consensus, bottom, note.as_deref().unwrap_or("confidence 0"))
}

fn draw_row(svg: &mut Svg, (stance, top): (&str, f64), members: &[&Dot], is_linked: bool) {
    let last = length(ROW_CELLS - 1);
    let along = |dot: &&Dot| dot.confidence.clamp(0.0, 1.0) * last;
    let found = cells(members.iter().map(along), ROW_CELLS, ROW_LANES);
    let across = |cell: usize| 2.0 + 96.0 * length(cell) / last;
    if is_linked {
        for (dot, (cell, lane)) in members.iter().zip(found) {
            let y = top + 23.0 + PITCH * (length(lane) + 0.5);
            let (title, href) = (dot.title(), dot.href.as_deref());
            svg.dot(stance, (across(cell), y), 3.4, (&title, href));
        }
        return;
    }
    let mut found = found;
    found.sort_unstable();
    for of_cell in found.chunk_by(|a, b| a.0 == b.0) {
        let Some((cell, _)) = of_cell.first() else { continue };
        let place = |(_, lane): &(usize, usize)| (0.0, PITCH * (length(*lane) + 0.5));
        svg.small_corner(across(*cell), top + 23.0, |corner| {
            corner.push_str(&points(stance, RADIUS, of_cell.iter().map(place)));
        });
    }
}

/// An even sample of at most about [`MAX_DOTS`] members, and a note on what a dot stands for if not all
/// are drawn.
fn thinned(dots: &[Dot]) -> (Vec<Dot>, Option<String>) {
    let each = dots.len().div_ceil(MAX_DOTS).max(1);
    if each == 1 {
        return (dots.to_vec(), None);
    }
    let mut thin = Vec::with_capacity(MAX_DOTS);
    for at in 0..STANCES.len() {
        thin.extend(of_place(dots, at).into_iter().step_by(each).cloned());
    }
    (thin, Some(format!("1 dot = {each} members")))
}

/// A cell and a lane for each dot, no pair used twice: the nearest cell with a free lane. If all
/// cells are full, further lanes are added.
fn cells(places: impl Iterator<Item = f64>, count: usize, lanes: usize) -> Vec<(usize, usize)> {
    let mut used = vec![0_usize; count];
    let mut found = Vec::new();
    for place in places {
        let wish = |cell: usize| (length(cell) - place).abs();
        let nearest = |free: &dyn Fn(usize) -> bool| {
            (0..count).filter(|cell| free(*cell)).min_by(|a, b| wish(*a).total_cmp(&wish(*b)))
        };
        let free = nearest(&|cell| used.get(cell).is_some_and(|used| *used < lanes));
        let Some(cell) = free.or_else(|| nearest(&|_| true)) else { continue };
        if let Some(used) = used.get_mut(cell) {
            found.push((cell, *used));
            *used += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn dots_do_not_overlap() {
        for count in [1, 100, 600] {
            let found = cells(std::iter::repeat_n(3.2, count), 28, 13);
            assert_eq!(found.iter().collect::<HashSet<_>>().len(), count);
        }
        assert_eq!(cells([3.2, 3.2].into_iter(), 28, 1), [(3, 0), (4, 0)]);
    }

    #[test]
    fn a_dot_stands_for_several_of_thousands_of_members() {
        let dots = super::super::tests::dots(1_201, 1, 0.5);
        let (thin, note) = thinned(&dots);
        assert_eq!((thin.len(), note.as_deref()), (241, Some("1 dot = 5 members")));
    }
}
