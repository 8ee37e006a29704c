//! A scale: positions of figures between the lowest and the highest.

/// The lowest and the highest of some figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale(f64, f64);

impl Scale {
    pub(super) fn of(figures: impl Iterator<Item = f64>) -> Self {
        let widest = |range: Self, figure: f64| Self(range.0.min(figure), range.1.max(figure));
        figures.fold(Self(f64::INFINITY, f64::NEG_INFINITY), widest)
    }

    /// The relative position of a figure in the range, 0 to 1; 0.5 if the range is a single point.
    /// Halving first keeps the difference of the largest doubles finite.
    pub(super) fn part(self, figure: f64) -> f64 {
        let part = (figure / 2.0 - self.0 / 2.0) / (self.1 / 2.0 - self.0 / 2.0);
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// A day number as a float; exact for every calendar day.
pub(super) fn as_figure(day: i64) -> f64 {
    i32::try_from(day).map_or(0.0, f64::from)
}
