//! Means over scored sessions, with the interval of the mean skill.

use std::cmp::Ordering;

use serde::Serialize;

use super::super::aggregate::{number, rounded};
use crate::domain::ascending_sum;

/// The number of standard errors on either side of a mean that make an interval of 95 %.
const STANDARD_ERRORS: f64 = 1.96;

/// Means over scored sessions, rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreFigures {
    /// The number of scored sessions.
    pub scored: usize,
    /// The mean loss; `None` without sessions.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub loss: Option<f64>,
    /// The mean skill; `None` without sessions.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub skill: Option<f64>,
    /// The lower bound of the mean skill; `None` under two sessions.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub low: Option<f64>,
    /// The upper bound of the mean skill; `None` under two sessions.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub high: Option<f64>,
}

impl ScoreFigures {
    /// Returns the figures of sessions with these losses and skills.
    pub(super) fn of(losses: &[f64], skills: &[f64]) -> Self {
        let interval = interval(skills);
        Self {
            scored: losses.len(),
            loss: mean(losses).map(rounded),
            skill: mean(skills).map(rounded),
            low: interval.map(|(low, _)| rounded(low)),
            high: interval.map(|(_, high)| rounded(high)),
        }
    }
}

impl ScoreFigures {
    /// Compares by the lower bound of the skill, then the skill: the higher comes first, and one that is missing last.
    pub fn by_skill(&self, other: &Self) -> Ordering {
        let descending = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => b.total_cmp(&a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        descending(self.low, other.low).then(descending(self.skill, other.skill))
    }
}

/// Returns the mean, which does not depend on the order; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let sum = ascending_sum(values.iter().copied());
    (!values.is_empty()).then(|| sum / number(values.len()))
}

/// Returns the interval of the mean; `None` under two values.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    let variance = ascending_sum(squares) / number(values.len() - 1);
    let margin = STANDARD_ERRORS * variance.sqrt() / number(values.len()).sqrt();
    Some((mean - margin, mean + margin))
}
