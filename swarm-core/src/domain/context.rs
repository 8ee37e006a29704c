//! The background material of briefs: regimes, research signals, subject snapshots.

use serde::Serialize;

use super::form::{Described, Form, FormSchema, Given, form, list_of, nested, value};
use super::json::{Json, Object};
use super::text::Bounded;
use super::{Day, Digest, Invalid, SubjectId, SubjectSnapshotId, Timestamp};

form! {
    /// The market regime of a day (API.md, 7.4). Interface A shows the first five fields, with the
    /// names of API.md, 6.6.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Regime "RegimeDraft" in "documents" {
        /// The day.
        pub date: Day = "date",
        /// The composite score.
        #[serde(serialize_with = "crate::domain::json::exact")]
        pub composite: Option<f64> = "composite",
        /// The regime that the score stands for.
        pub regime: Option<String> = "regime",
        /// The regime according to macro data only.
        pub macro_regime: Option<String> = "macro_regime",
        /// The regime according to on-chain data only.
        pub onchain_regime: Option<String> = "onchain_regime",
        /// All other fields that the operator sent, such as percentiles and thresholds.
        #[serde(flatten)]
        pub rest: Object = flatten,
    }
    description "Unknown fields are kept and returned unchanged.";
    example r#"{"date": "2026-11-21", "composite": 0.4, "regime": "risk-on"}"#;

    /// One research finding for a day (API.md, 6.6).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Signal "Signal" in "documents" {
        /// Its name, 1 to 200 characters.
        pub signal_key: String = "signal_key" from Bounded<1, 200>,
        /// The day.
        pub date: Day = "date",
        /// Its content: any JSON value.
        pub payload: Json = "payload",
    }
    checks_first "payload": Given;
    example r#"{"signal_key": "fees.7d", "date": "2026-11-21", "payload": {"change": -0.12}}"#;

    /// The holdings of a subject on a day, as the operator sends them (API.md, 6.8).
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct SubjectSnapshotDraft "SnapshotDraft" in "documents" {
        /// The day.
        pub date: Day = "date",
        /// The total value, in US dollars.
        #[serde(serialize_with = "crate::domain::json::exact")]
        pub total_value_usd: Option<f64> = "totalValueUsd",
        /// The single holdings.
        pub positions: Vec<Position> = "positions" default(Vec::new()),
        /// Remarks.
        pub notable: Vec<String> = "notable" default(Vec::new()),
    }
    example r#"{
        "date": "2026-11-21", "totalValueUsd": 1250000,
        "positions": [{"token": "AUR", "chain": "base", "valueUsd": 1000000, "pct": 80}],
        "notable": ["Moved a fifth into stablecoins."]
    }"#;

    /// One holding of a subject.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
    #[serde(rename_all = "camelCase")]
    pub struct Position {
        /// The token.
        pub token: String = "token",
        /// The chain it is on.
        pub chain: Option<String> = "chain",
        /// Its value, in US dollars.
        #[serde(serialize_with = "crate::domain::json::exact")]
        pub value_usd: Option<f64> = "valueUsd",
        /// Its share of the total, in the operator's unit.
        #[serde(serialize_with = "crate::domain::json::exact")]
        pub pct: Option<f64> = "pct",
    }
}

value!(Vec<Position>, |fields, name| fields.list_if_any(name, nested), list_of(Position::schema()));

/// All fields that are left, kept as they are.
impl Form for Object {
    fn read(fields: &mut Object) -> Result<Self, Invalid> {
        fields.rest()
    }
}

impl Described for Object {
    const NAME: &'static str = "";
    const TOPIC: &'static str = "";

    fn describe(_: &mut FormSchema) {}
}

impl SubjectSnapshotDraft {
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

/// A stored subject snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
