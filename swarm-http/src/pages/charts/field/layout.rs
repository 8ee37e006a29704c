//! The places of dots that keep apart, and of the names beside them.
//!
//! All lengths are pixels at the usual size of text, on the narrowest page that shows a drawing. On wider pages
//! dots that differ in percent are farther apart, so that nothing that keeps apart here overlaps there.

use swarm_core::domain::StanceScale;

use super::marks::{Dot, along};
use crate::pages::charts::svg::float;
use crate::pages::markup::{clipped, width};

/// Radius of a dot with its outline, and the minimum distance between the centres of two.
pub(super) const RADIUS: f64 = 5.8;
const PITCH: f64 = 11.6;

/// Distance of a name from the centre of its dot, height of a line, approximate width of a letter.
const BESIDE: f64 = 9.0;
const LINE: f64 = 15.0;
pub(super) const LETTER: f64 = 7.4;

/// Longest name, in letters; and that of a name for which there is less room.
const LONG_NAME: usize = 24;
const SHORT_NAME: usize = 11;

/// Maximum number of members that are all named where there is room; of more only the farthest are.
const MAX_NAMED: usize = 60;
const FARTHEST: usize = 12;

/// Maximum number of members whose dots are links.
pub(super) const MAX_LINKED: usize = 30;

/// Maximum number of dots. With more members than this, each dot stands for several.
const MAX_DOTS: usize = 250;

/// The offsets of dots at these places on a line, each the smallest at which its dot overlaps none before it.
pub(super) fn offsets(places: &[f64]) -> Vec<f64> {
    let mut placed: Vec<(f64, f64)> = Vec::with_capacity(places.len());
    for place in places {
        let near = || placed.iter().filter(|(other, _)| (other - place).abs() < PITCH);
        let beside = |(other, offset): &(f64, f64)| {
            let apart = (PITCH * PITCH - (other - place).powi(2)).max(0.0).sqrt();
            [offset + apart, offset - apart]
        };
        let mut wishes: Vec<f64> = near().flat_map(beside).collect();
        wishes.push(0.0);
        // Of two that are as far, the one to the right.
        wishes.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(b.total_cmp(a)));
        let is_free = |wish: &f64| {
            near().all(|(other, offset)| (other - place).hypot(offset - wish) > PITCH - 0.01)
        };
        let offset = wishes.into_iter().find(is_free).unwrap_or_default();
        placed.push((*place, offset));
    }
    placed.into_iter().map(|(_, offset)| offset).collect()
}

/// The members of each stance with their offsets, in ascending order of the ranks.
pub(super) type Placed<'a> = Vec<Vec<(&'a Dot, f64)>>;

/// An even sample of the members, few enough that the offsets of each stance stay within `room`; and a note on what
/// a dot stands for if not all are drawn. `along` is the place of a confidence on the line of its stance.
pub(super) fn sample<'a>(
    scale: &StanceScale,
    dots: &'a [Dot],
    room: f64,
    along: impl Fn(f64) -> f64,
) -> (Placed<'a>, Option<String>) {
    let stances: Vec<_> = (0..scale.stances().len()).map(|at| of_place(dots, at)).collect();
    let mut each = dots.len().div_ceil(MAX_DOTS).max(1);
    loop {
        let placed = stances.iter().map(|members| {
            let members: Vec<_> = members.iter().copied().step_by(each).collect();
            let places: Vec<_> = members.iter().map(|dot| along(dot.confidence)).collect();
            members.into_iter().zip(offsets(&places)).collect::<Vec<_>>()
        });
        let placed: Placed<'_> = placed.collect();
        let fits = placed.iter().flatten().all(|(_, offset)| offset.abs() <= room);
        if fits || each >= dots.len() {
            return (placed, (each > 1).then(|| format!("1 dot = {each} members")));
        }
        each += each.div_ceil(4);
    }
}

/// The members of one stance, highest confidence first.
fn of_place(dots: &[Dot], at: usize) -> Vec<&Dot> {
    let mut members: Vec<_> = dots.iter().filter(|dot| dot.place == at).collect();
    members.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.name.cmp(&b.name)));
    members
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area(pub(super) f64, pub(super) f64, pub(super) f64, pub(super) f64);

impl Area {
    fn overlaps(self, other: Self) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }

    fn is_inside(self, other: Self) -> bool {
        self.0 >= other.0 && self.2 <= other.2 && self.1 >= other.1 && self.3 <= other.3
    }
}

/// A name beside a dot.
pub(super) struct Name {
    /// The number of the dot.
    pub(super) of: usize,
    pub(super) text: String,
    /// Whether the name is to the left of the dot.
    pub(super) is_left: bool,
}

/// Distance of a name from the centre of its dot.
pub(super) fn beside(is_left: bool) -> f64 {
    if is_left { -BESIDE } else { BESIDE }
}

/// The names that have room inside `whole` beside the dots at these places, without touching a dot, `taken` or one
/// another. Members far from the mean go first, then those with a high confidence.
pub(super) fn names(
    scale: &StanceScale,
    dots: &[(&Dot, f64, f64)],
    mean: Option<f64>,
    whole: Area,
    mut taken: Vec<Area>,
) -> Vec<Name> {
    let total: f64 = dots.iter().map(|(dot, ..)| float(dot.place)).sum();
    let count = float(dots.len().max(1));
    let center = mean.map_or(total / count, |mean| along(scale, mean));
    let distance = |dot: &Dot| (float(dot.place) - center).abs();
    let mut order: Vec<_> = dots.iter().enumerate().collect();
    order.sort_by(|(_, (a, ..)), (_, (b, ..))| {
        let far = distance(b).total_cmp(&distance(a));
        far.then(b.confidence.total_cmp(&a.confidence)).then(a.name.cmp(&b.name))
    });
    order.truncate(if dots.len() > MAX_NAMED { FARTHEST } else { MAX_NAMED });
    taken.extend(
        dots.iter()
            .map(|(_, x, y)| Area(x - RADIUS - 1.0, y - RADIUS, x + RADIUS + 1.0, y + RADIUS)),
    );
    let mut named = Vec::new();
    for (of, (dot, x, y)) in order {
        let place = |(room, is_left): (usize, bool)| {
            let text = clipped(&dot.name, room);
            let long = LETTER * float(width(&text));
            let from = if is_left { x - BESIDE - long } else { x + BESIDE };
            let area = Area(from, y - LINE / 2.0, from + long, y + LINE / 2.0);
            (Name { of, text, is_left }, area)
        };
        let wishes =
            [(LONG_NAME, false), (LONG_NAME, true), (SHORT_NAME, false), (SHORT_NAME, true)];
        let free = wishes.into_iter().map(place).find(|(_, area)| {
            area.is_inside(whole) && taken.iter().all(|other| !area.overlaps(*other))
        });
        if let Some((name, area)) = free {
            taken.push(area);
            named.push(name);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_keep_apart_at_their_exact_places() {
        for places in [vec![50.0; 30], (0..60).map(|nth| f64::from(nth * nth % 97)).collect()] {
            let placed: Vec<_> = places.iter().zip(offsets(&places)).collect();
            for (nth, (place, offset)) in placed.iter().enumerate() {
                for (other, beside) in placed.iter().skip(nth + 1) {
                    assert!((*place - *other).hypot(offset - beside) >= PITCH - 0.02);
                }
            }
        }
        assert_eq!(offsets(&[50.0, 50.0, 50.0, 80.0]), [0.0, PITCH, -PITCH, 0.0]);
    }

    #[test]
    fn a_dot_stands_for_several_where_there_are_too_many() {
        let dots = super::super::tests::dots(1_201, 3, 0.5);
        let scale = StanceScale::of_service();
        let (placed, note) = sample(scale, &dots, 50.0, |confidence| confidence * 200.0);
        let drawn = placed.iter().flatten().count();
        let each: usize = note.unwrap().split(' ').nth(3).unwrap().parse().unwrap();
        assert_eq!(drawn, 1_201_usize.div_ceil(each));
        assert!(placed.iter().flatten().all(|(_, offset)| offset.abs() <= 50.0));
    }

    #[test]
    fn names_stay_inside_and_touch_nothing() {
        let all = super::super::tests::dots(30, 2, 0.5);
        let places: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(nth, dot)| {
                (
                    dot,
                    f64::from(u32::try_from(nth).unwrap() * 37 % 280),
                    f64::from(u32::try_from(nth).unwrap() * 53 % 190),
                )
            })
            .collect();
        let whole = Area(0.0, 0.0, 288.0, 200.0);
        let named = names(StanceScale::of_service(), &places, None, whole, Vec::new());
        assert!(named.len() > 3);
        let area = |name: &Name| {
            let (_, x, y) = places[name.of];
            let long = LETTER * f64::from(u32::try_from(width(&name.text)).unwrap());
            let from = if name.is_left { x - BESIDE - long } else { x + BESIDE };
            Area(from, y - LINE / 2.0, from + long, y + LINE / 2.0)
        };
        for (nth, name) in named.iter().enumerate() {
            assert!(area(name).is_inside(whole));
            for other in named.iter().skip(nth + 1) {
                assert!(!area(name).overlaps(area(other)), "{} {}", name.text, other.text);
            }
        }
    }
}
