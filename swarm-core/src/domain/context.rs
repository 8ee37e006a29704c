//! The background material of briefs: regimes, research signals, subject snapshots.

use serde::Serialize;

use super::json::{Json, Object};
use super::{Day, Digest, Invalid, SubjectId, SubjectSnapshotId, Timestamp, bounded};

/// The market regime of a day (API.md, 7.4). Interface A shows the first five fields, with the
/// names of API.md, 6.6.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regime {
    /// The day.
    pub date: Day,
    /// The composite score.
    pub composite: Option<f64>,
    /// The regime that the score stands for.
    pub regime: Option<String>,
    /// The regime according to macro data only.
    pub macro_regime: Option<String>,
    /// The regime according to on-chain data only.
    pub onchain_regime: Option<String>,
    /// All other fields that the operator sent, such as percentiles and thresholds.
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

/// One research finding for a day (API.md, 6.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    /// Its name, 1 to 200 characters.
    pub signal_key: String,
    /// The day.
    pub date: Day,
    /// Its content: any JSON value.
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

/// The holdings of a subject on a day, as the operator sends them (API.md, 6.8).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubjectSnapshotDraft {
    /// The day.
    pub date: Day,
    /// The total value, in US dollars.
    pub total_value_usd: Option<f64>,
    /// The single holdings.
    pub positions: Vec<Position>,
    /// Remarks.
    pub notable: Vec<String>,
}

/// One holding of a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The token.
    pub token: String,
    /// The chain it is on.
    pub chain: Option<String>,
    /// Its value, in US dollars.
    pub value_usd: Option<f64>,
    /// Its share of the total, in the operator's unit.
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

    /// Returns the digest of the snapshot of this subject: of the text of its record without `id` and `createdAt`, which its
    /// commit assigns (API.md, 11.2).
    pub fn digest(&self, subject_id: &SubjectId) -> Digest {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Content<'a> {
            subject_id: &'a SubjectId,
            #[serde(flatten)]
            draft: &'a SubjectSnapshotDraft,
        }
        Digest::of_json(&Content { subject_id, draft: self })
    }
}

impl Position {
    fn read(entry: Json) -> Result<Self, Invalid> {
        entry.into_object().read_all(|entry| {
            Ok(Self {
                token: entry.text("token")?,
                chain: entry.text_if_any("chain")?,
                value_usd: entry.number_if_any("valueUsd")?,
                pct: entry.number_if_any("pct")?,
            })
        })
    }
}

/// A stored subject snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubjectSnapshot {
    /// The id.
    pub id: SubjectSnapshotId,
    /// The subject.
    pub subject_id: SubjectId,
    /// The content.
    #[serde(flatten)]
    pub draft: SubjectSnapshotDraft,
    /// The time of the commit, by the store's clock.
    pub created_at: Timestamp,
}
