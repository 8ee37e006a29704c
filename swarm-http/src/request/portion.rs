//! How much of its lists a page has: fewer rows where those that it usually has would make it too large.
//!
//! Rows differ in length by two orders of magnitude: names may have 100 letters, and ids in links 1,200 bytes. A page is made
//! with the rows that it usually has, and again with fewer until it fits. So what leads on, such as the position of the next
//! page, always follows from the rows that are shown.

/// A part of the rows that pages usually have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    parts: usize,
    /// Whether a page was too large with a larger portion.
    is_cut: bool,
}

/// The parts that make the whole.
const PARTS: usize = 64;

impl Portion {
    pub(crate) const WHOLE: Self = Self { parts: PARTS, is_cut: false };

    /// The number of rows where a page usually has `rows`: one at least.
    pub(crate) fn of(self, rows: usize) -> usize {
        (rows * self.parts / PARTS).max(1)
    }

    /// A smaller portion for a page that takes `size` bytes with this one and may take `room`; `None` if it is the smallest.
    pub(crate) fn smaller(self, size: usize, room: usize) -> Option<Self> {
        // Somewhat less than what fits if every row were as long as the others: an attempt costs as much as a page.
        let room = room - room / 16;
        let wished = self.parts.saturating_mul(room) / size.max(1);
        // If the estimate was too high once, most of the page is not rows: larger steps make fewer attempts.
        let most = if self.is_cut { self.parts * 7 / 8 } else { self.parts - 1 };
        let smaller = Self { parts: wished.min(most).max(1), is_cut: true };
        (smaller.parts < self.parts).then_some(smaller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_shrink_until_they_fit() {
        let size = |portion: Portion| 10_000 + 2_000 * portion.of(50);
        let (mut portion, mut attempts) = (Portion::WHOLE, 0);
        while size(portion) > 51_200 {
            portion = portion.smaller(size(portion), 51_200).unwrap();
            attempts += 1;
        }
        assert!((13..=20).contains(&portion.of(50)) && attempts < 12, "{portion:?} {attempts}");
    }

    #[test]
    fn smallest_portion_has_a_row() {
        let mut portion = Portion::WHOLE;
        while let Some(smaller) = portion.smaller(1_000_000, 50_000) {
            portion = smaller;
        }
        assert_eq!([portion.of(4), portion.of(500)], [1, 7]);
        let (mut portion, mut attempts) = (Portion::WHOLE, 0);
        while let Some(smaller) = portion.smaller(51_000, 50_000) {
            (portion, attempts) = (smaller, attempts + 1);
        }
        assert!(attempts < 26, "{attempts}");
        assert_eq!(Portion::WHOLE.of(50), 50);
    }
}
