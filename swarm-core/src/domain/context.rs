//! What briefs give their readers to go by: regimes, research signals, subject snapshots.

use serde::Serialize;

use super::json::{Json, Object};
use super::{Day, Invalid, SubjectId, SubjectSnapshotId, Timestamp, bounded};

/// The state of the world on a day (API.md, 7.4). Interface A shows the first five fields,
/// with the names of API.md, 6.6.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regime {
    /// Its day.
    pub date: Day,
    /// The composite score.
    pub composite: Option<f64>,
    /// The regime that it stands for.
    pub regime: Option<String>,
    /// The regime by macro data alone.
    pub macro_regime: Option<String>,
    /// The regime by on-chain data alone.
    pub onchain_regime: Option<String>,
    /// Everything else that the operator sent: percentiles, thresholds.
    #[serde(flatten)]
    pub rest: Object,
}

impl Regime {
    /// Reads a row.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self {
            date: Day::read(fields)?,
            composite: fields.number_if_any("composite")?,
            regime: fields.text_if_any("regime")?,
            macro_regime: fields.text_if_any("macro_regime")?,
            onchain_regime: fields.text_if_any("onchain_regime")?,
            rest: fields.rest()?,
        })
    }
}

/// One finding of research for a day (API.md, 6.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    /// What it is called, 1 to 200 characters.
    pub signal_key: String,
    /// Its day.
    pub date: Day,
    /// What was found.
    pub payload: Json,
}

impl Signal {
    /// Reads a row.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        let payload = fields.take("payload").ok_or_else(|| Invalid::missing("payload"))?;
        Ok(Self {
            signal_key: bounded("signal_key", fields.text("signal_key")?, 1, 200)?,
            date: Day::read(fields)?,
            payload: payload.free("payload")?,
        })
    }
}

/// What a subject holds on a day, as the operator sends it (API.md, 6.8).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubjectSnapshotDraft {
    /// Its day.
    pub date: Day,
    /// What all of it is worth, in US dollars.
    pub total_value_usd: Option<f64>,
    /// What it is made of.
    pub positions: Vec<Position>,
    /// What stands out.
    pub notable: Vec<String>,
}

/// A part of what a subject holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The token.
    pub token: String,
    /// The chain it is on.
    pub chain: Option<String>,
    /// What it is worth, in US dollars.
    pub value_usd: Option<f64>,
    /// Its part of the whole, in the operator's unit.
    pub pct: Option<f64>,
}

impl SubjectSnapshotDraft {
    /// Reads a snapshot.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    pub fn read(fields: &mut Object) -> Result<Self, Invalid> {
        Ok(Self {
            date: Day::read(fields)?,
            total_value_usd: fields.number_if_any("totalValueUsd")?,
            positions: fields.list_if_any("positions", Position::read)?.unwrap_or_default(),
            notable: fields.texts("notable")?,
        })
    }
}

impl Position {
    fn read(entry: Json) -> Result<Self, Invalid> {
        let mut entry = entry.into_object();
        Ok(Self {
            token: entry.text("token")?,
            chain: entry.text_if_any("chain")?,
            value_usd: entry.number_if_any("valueUsd")?,
            pct: entry.number_if_any("pct")?,
        })
    }
}

/// A subject snapshot on file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubjectSnapshot {
    /// Its id.
    pub id: SubjectSnapshotId,
    /// The subject.
    pub subject_id: SubjectId,
    /// What was sent.
    #[serde(flatten)]
    pub draft: SubjectSnapshotDraft,
    /// When it was committed, by the store's clock.
    pub created_at: Timestamp,
}
