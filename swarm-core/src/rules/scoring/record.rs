//! The record of a member over its scored sessions.

use serde::Serialize;

use super::super::aggregate::rounded;
use super::ScoreFigures;
use super::figures::mean;
use super::session::{Forecast, outcome};

/// The lower bounds of the bins of forecasts, and the upper bound of the last one.
const BOUNDS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// The number of bins.
const BINS: usize = BOUNDS.len() - 1;

/// The record of a member, rounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberRecord {
    /// Its mean loss and skill.
    #[serde(flatten)]
    pub figures: ScoreFigures,
    /// In how many sessions it took the side of the outcome.
    pub right: Right,
    /// How forecasts of about the same height compare with the outcomes.
    pub calibration: [CalibrationBin; BINS],
}

/// In how many sessions stance and outcome are on one side, of those in which neither is neutral.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RightSides"))]
#[non_exhaustive]
pub struct Right {
    /// The sessions in which they are.
    pub n: usize,
    /// All sessions in which neither is neutral.
    pub of: usize,
}

/// The forecasts from `from` on and below `to`; of the last bin 1 too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalibrationBin {
    /// The lower bound.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub from: f64,
    /// The upper bound.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub to: f64,
    /// The number of forecasts.
    pub n: usize,
    /// Their mean; `None` without forecasts.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub forecast: Option<f64>,
    /// The mean of the outcomes, 0 to 1; `None` without forecasts.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub outcome: Option<f64>,
}

/// A member's position in a scored session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    /// The rank of the stance on the scale of the service, −2 to 2.
    pub rank: f64,
    /// The forecast.
    pub forecast: f64,
    /// The outcome on the scale of the service, −2 to 2.
    pub value: f64,
    /// The loss of the crowd.
    pub crowd_loss: f64,
}

impl Scored {
    /// Returns the loss and the skill.
    fn loss_and_skill(self) -> (f64, f64) {
        let loss = Forecast::of(self.forecast, self.value).loss;
        (loss, self.crowd_loss - loss)
    }
}

/// Returns the figures of a member with these positions.
pub(super) fn figures(scored: impl Iterator<Item = Scored>) -> ScoreFigures {
    let (losses, skills): (Vec<_>, Vec<_>) = scored.map(Scored::loss_and_skill).unzip();
    ScoreFigures::of(&losses, &skills)
}

impl MemberRecord {
    /// The record of a member with these positions.
    pub(super) fn of(scored: &[Scored]) -> Self {
        let mut right = Right::default();
        let mut bins: [(Vec<f64>, Vec<f64>); BINS] = Default::default();
        for position in scored {
            let sides = position.rank * position.value;
            right.of += usize::from(sides != 0.0);
            right.n += usize::from(sides > 0.0);
            if let Some((forecasts, outcomes)) = bins.get_mut(bin_of(position.forecast)) {
                forecasts.push(position.forecast);
                outcomes.push(outcome(position.value));
            }
        }
        let mut bounds = BOUNDS.windows(2);
        let calibration = bins.map(|(forecasts, outcomes)| {
            let (from, to) = match bounds.next() {
                Some(&[from, to]) => (from, to),
                _ => (0.0, 1.0),
            };
            CalibrationBin {
                from,
                to,
                n: forecasts.len(),
                forecast: mean(&forecasts).map(rounded),
                outcome: mean(&outcomes).map(rounded),
            }
        });
        Self { figures: figures(scored.iter().copied()), right, calibration }
    }
}

/// The bin of a forecast, by its written figure.
fn bin_of(forecast: f64) -> usize {
    let written = rounded(forecast);
    BOUNDS.iter().skip(1).take(BINS - 1).filter(|bound| written >= **bound).count()
}
