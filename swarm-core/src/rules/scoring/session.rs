//! The scores of one session.

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

use super::super::aggregate::{RankedPosition, number, rounded};
use crate::domain::{MemberId, Quote, Session, SessionId, StanceScale, TakeId, ascending_sum};

/// A forecast, and its squared distance from the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Forecast {
    /// The forecast, 0 (bearish) to 1 (bullish).
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub forecast: f64,
    /// The loss, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub loss: f64,
}

impl Forecast {
    /// The forecast of always filing neutral.
    pub(super) const NEUTRAL: f64 = 0.5;

    /// A forecast in a session with this outcome on the scale of the service, −2 to 2.
    pub(super) fn of(forecast: f64, value: f64) -> Self {
        let distance = forecast - outcome(value);
        Self { forecast, loss: distance * distance }
    }

    fn written(self) -> Self {
        Self { forecast: rounded(self.forecast), loss: rounded(self.loss) }
    }
}

/// The score of a member in a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// The member.
    pub member_id: MemberId,
    /// The take that counted.
    pub take_id: TakeId,
    /// The forecast of the take, with its loss.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// The loss of the crowd minus the loss of the take.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub skill: f64,
}

/// The scores of a session, rounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionScores {
    /// The session.
    pub session_id: SessionId,
    /// The outcome, on the scale of the session.
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub value: f64,
    /// The mean of all forecasts; null where nobody had a known stance.
    #[serde(serialize_with = "forecast_or_nulls")]
    #[cfg_attr(feature = "schema", schemars(with = "CrowdForecast"))]
    pub crowd: Option<Forecast>,
    /// What always filing neutral lost.
    pub neutral: Forecast,
    /// The members with a known stance, by loss, then by id.
    pub scores: Vec<Score>,
}

/// Returns the outcome on the scale of forecasts, 0 to 1, from that on the scale of the service, −2 to 2.
pub(super) fn outcome(value: f64) -> f64 {
    forecast(value / 2.0)
}

/// Returns the part of a forecast that is not neutral, −1 to 1.
pub(super) fn lean(position: RankedPosition) -> f64 {
    position.rank / 2.0 * position.confidence
}

/// Returns the forecast with this lean, 0 to 1.
pub(super) fn forecast(lean: f64) -> f64 {
    f64::midpoint(1.0, lean)
}

/// Returns the forecast of the crowd; `None` without positions.
pub(super) fn crowd_forecast(positions: &[RankedPosition]) -> Option<f64> {
    let sum = ascending_sum(positions.iter().copied().map(lean));
    (!positions.is_empty()).then(|| forecast(sum / number(positions.len())))
}

/// Returns the outcome of a session, on the scale of its stances; `None` if it has none that counts, because it is annulled, or the session is
/// void.
pub fn counted_outcome(session: &Session) -> Option<f64> {
    let outcome = session.outcome.as_ref().filter(|_| session.voided.is_none())?;
    Some(outcome.value?.get())
}

/// Returns the scores of a session with these stances and this outcome, which is on their scale, from the quotes of its
/// snapshot.
pub fn scores(
    session_id: SessionId,
    scale: &StanceScale,
    value: f64,
    quotes: &[Quote],
) -> SessionScores {
    let position = |quote: &Quote| RankedPosition::of_quote(scale, quote);
    let positions: Vec<_> = quotes.iter().filter_map(position).collect();
    let normalized = scale.normalized(value);
    let crowd = crowd_forecast(&positions).map(|forecast| Forecast::of(forecast, normalized));
    let score = |quote: &Quote| {
        let own = Forecast::of(forecast(lean(position(quote)?)), normalized);
        Some(Score {
            member_id: quote.member_id.clone(),
            take_id: quote.take_id,
            forecast: own.written(),
            skill: rounded(crowd?.loss - own.loss),
        })
    };
    let mut scores: Vec<_> = quotes.iter().filter_map(score).collect();
    scores.sort_unstable_by(|a, b| by_loss(a, b).then_with(|| a.member_id.cmp(&b.member_id)));
    SessionScores {
        session_id,
        value,
        crowd: crowd.map(Forecast::written),
        neutral: Forecast::of(Forecast::NEUTRAL, normalized).written(),
        scores,
    }
}

/// The mean of all forecasts; null where nobody had a known stance.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CrowdForecast {
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    forecast: Option<f64>,
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    loss: Option<f64>,
}

/// The fields of a forecast stay where there is none.
fn forecast_or_nulls<S: Serializer>(
    forecast: &Option<Forecast>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let fields = CrowdForecast {
        forecast: forecast.map(|forecast| forecast.forecast),
        loss: forecast.map(|forecast| forecast.loss),
    };
    fields.serialize(serializer)
}

fn by_loss(a: &Score, b: &Score) -> Ordering {
    a.forecast.loss.total_cmp(&b.forecast.loss)
}
