//! Scores: how near takes came to the outcome of their session (API.md, 6.11).
//!
//! A stance with its confidence is a forecast, a number from 0 (bearish) to 1 (bullish). The loss of a forecast is its
//! squared distance from the outcome on the same scale, the Brier score: whoever expects an outcome loses least by
//! filing that expectation. Skill is what a member lost less than the crowd, the mean of all forecasts in the session.
//!
//! Scores are computed from the snapshot of a session and its outcome, and never stored. No figure depends on the order
//! of its terms: they are summed in ascending order. Figures are rounded to 12 decimals, and ranked by what is written.

/// The number of scored sessions that a place in the ranking takes, unless another one is asked for.
pub const MIN_SCORED: usize = 20;

mod book;
mod figures;
mod ranking;
mod record;
mod session;

pub use book::{ScoreBook, ScoreFilter};
pub use figures::ScoreFigures;
pub use ranking::{RankedMember, Ranking};
pub use record::{CalibrationBin, MemberRecord, Right};
pub use session::{Forecast, Score, SessionScores, counted_outcome, scores};
