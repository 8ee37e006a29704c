//! The stance field for many members: dots without names.

use super::frame::{
    AXIS, Dot, TOP, begin_rows, column, down, finish_rows, frame, of_place, points,
};
use crate::pages::charts::STANCES;
use crate::pages::charts::svg::{Anchor, length};
use crate::pages::markup::Markup;

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

/// The drawing for wide pages.
pub(super) fn columns(dots: &[Dot], consensus: Option<f64>, label: &str) -> Markup {
    let (shown, note) = thinned(dots);
    let mut svg = frame(dots, consensus, label);
    for (at, stance) in STANCES.into_iter().enumerate() {
        let members = of_place(&shown, at);
        let along = |dot: &&Dot| (down(dot.confidence) - TOP) / PITCH;
        let cells = cells(members.iter().map(along), COLUMN_CELLS + 2, COLUMN_LANES);
        let place =
            |(cell, lane): (usize, usize)| (length(lane) * PITCH, TOP + PITCH * length(cell));
        svg.corner(column(at), 0.0, |corner| {
            corner.push_str(&points(stance, RADIUS, cells.into_iter().map(place)));
        });
    }
    if let Some(note) = note {
        svg.word(Anchor::End, (100.0, TOP + 4.0), &note);
    }
    debug_assert!(TOP + PITCH * length(COLUMN_CELLS + 1) <= AXIS);
    svg.finish()
}

/// The drawing for narrow pages.
pub(super) fn rows(dots: &[Dot], consensus: Option<f64>, label: &str) -> Markup {
    const ROW: f64 = 26.0 + 7.0 * PITCH;
    let (shown, note) = thinned(dots);
    let bottom = ROW * 5.0 + 22.0;
    let mut svg = begin_rows(bottom, consensus, label);
    let mut lines = [0.0; 5];
    for (nth, at) in (0..STANCES.len()).rev().enumerate() {
        let top = ROW * length(nth);
        let (Some(stance), Some(line)) = (STANCES.get(at), lines.get_mut(at)) else { continue };
        *line = top + 20.0;
        svg.line("grid", (0.0, *line), (100.0, *line));
        let count = of_place(dots, at).len();
        svg.word(Anchor::Start, (0.0, top + 14.0), &format!("{stance} {count}"));
        let members = of_place(&shown, at);
        let last = length(ROW_CELLS - 1);
        let along = |dot: &&Dot| dot.confidence.clamp(0.0, 1.0) * last;
        let mut found = cells(members.iter().map(along), ROW_CELLS, ROW_LANES);
        found.sort_unstable();
        for of_cell in found.chunk_by(|a, b| a.0 == b.0) {
            let Some((cell, _)) = of_cell.first() else { continue };
            let place = |(_, lane): &(usize, usize)| (0.0, PITCH * (length(*lane) + 0.5));
            svg.corner(2.0 + 96.0 * length(*cell) / last, top + 23.0, |corner| {
                corner.push_str(&points(stance, RADIUS, of_cell.iter().map(place)));
            });
        }
    }
    finish_rows(svg, &lines, consensus, bottom, note.as_deref().unwrap_or("confidence 0"))
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
