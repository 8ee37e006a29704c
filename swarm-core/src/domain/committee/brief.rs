//! Brief files, which a committee member reads before it submits (API.md, 8.2).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CommitteeMemberId, CommitteeStance};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Confidence, Day, Lens, Links, Name, Prompt, SubjectId, Timestamp};

/// The content of a brief file, in the order and with the names of API.md, 8.2, except `submit_to`,
/// which depends on the host of the request (API.md, 2.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitteeBriefContent {
    /// Always 1 (API.md, 1.3).
    #[cfg_attr(feature = "schema", schemars(with = "i64", extend("const" = 1)))]
    pub schema_version: u8,
    /// The day of the session, in UTC.
    pub date: Day,
    /// The id of the day's subject.
    pub subject_id: SubjectId,
    /// The subject.
    pub subject: BriefSubject,
    /// The latest regime, with other fields that the operator sent.
    pub regime: CommitteeRegime,
    /// The latest snapshot of the subject.
    pub subject_snapshot: Option<BriefSnapshot>,
    /// The latest sessions of the same subject: up to three, newest first.
    #[cfg_attr(feature = "schema", schemars(length(max = 3)))]
    pub recent_sessions: Vec<BriefRecentSession>,
    /// The member that the brief is for.
    pub member: BriefMember,
    /// The latest takes of the member: up to five, newest first.
    #[cfg_attr(feature = "schema", schemars(length(max = 5)))]
    pub your_recent_takes: Vec<BriefRecentTake>,
    /// A prompt that an agent can use as it is.
    pub prompt: Arc<Prompt>,
    /// A JSON Schema (2020-12) for the expected take.
    #[cfg_attr(feature = "schema", schemars(with = "Object"))]
    pub response_schema: Arc<Json>,
}

/// The fields of a subject in briefs of the committee.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[expect(missing_docs, reason = "the fields of Subject, in snake_case")]
pub struct BriefSubject {
    pub id: SubjectId,
    pub name: String,
    pub operator: Option<String>,
    pub thesis_blurb: Option<String>,
    pub structural_notes: Vec<String>,
}

/// The fields of a regime in briefs of the committee, with other fields that the operator sent; all null when none is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, extend("additionalProperties" = true)))]
#[expect(missing_docs, reason = "API.md names these columns and no more")]
pub struct CommitteeRegime {
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub composite: Option<f64>,
    pub composite_percentile: Option<Json>,
    pub regime: Option<String>,
    pub macro_regime: Option<String>,
    pub macro_percentile: Option<Json>,
    pub onchain_regime: Option<String>,
    pub onchain_percentile: Option<Json>,
    pub factor_regime: Option<Json>,
    pub factor_percentile: Option<Json>,
    /// The bucket thresholds, as the operator sent them.
    pub thresholds: Option<Json>,
    /// All other fields that the operator sent, except the day.
    #[serde(flatten)]
    pub rest: Object,
}

/// The fields of a subject snapshot in briefs of the committee.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "CommitteeSubjectSnapshot")
)]
#[expect(missing_docs, reason = "the fields of SubjectSnapshot, in snake_case")]
pub struct BriefSnapshot {
    pub date: Day,
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub total_value_usd: Option<f64>,
    pub positions: Vec<BriefPosition>,
    pub notable: Vec<String>,
}

/// One holding of a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[expect(missing_docs, reason = "the fields of Position, in snake_case")]
pub struct BriefPosition {
    pub token: String,
    pub chain: Option<String>,
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub value_usd: Option<f64>,
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub pct: Option<f64>,
}

/// An earlier session in a brief.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct BriefRecentSession {
    /// The day.
    pub date: Day,
    /// The operator's synthesis of its takes.
    pub synthesis: String,
}

/// The member that the brief is for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct BriefMember {
    /// The id.
    pub id: CommitteeMemberId,
    /// The name.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// Its point of view; may be empty.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub lens: Lens,
}

/// An earlier take of the member in a brief.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct BriefRecentTake {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The first 600 characters of its body.
    #[cfg_attr(feature = "schema", schemars(length(max = 600)))]
    pub body_preview: String,
}

/// A brief file. Its schema_version is 1; optional fields may be added.
#[cfg(all(feature = "committee", feature = "schema"))]
#[derive(schemars::JsonSchema)]
#[schemars(rename = "CommitteeBrief")]
#[expect(dead_code, reason = "only its schema is used: a brief is stored as text")]
pub(crate) struct BriefFile {
    #[serde(flatten)]
    content: CommitteeBriefContent,
    /// The address to which the take is submitted.
    submit_to: String,
    /// The last time at which a take is accepted.
    deadline_utc: Timestamp,
    /// When the brief was generated.
    generated_at: Timestamp,
}

/// A stored brief: its JSON text in two parts. The value of `submit_to` goes between them when the
/// brief is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitteeBrief {
    /// The member that it belongs to.
    pub member_id: CommitteeMemberId,
    /// The time when it was generated, by the store's clock.
    pub generated_at: Timestamp,
    /// The text before the value of `submit_to`.
    pub head: String,
    /// The text after the value of `submit_to`.
    pub tail: String,
}

impl CommitteeBrief {
    /// The brief to store.
    pub fn new(
        content: &CommitteeBriefContent,
        deadline: Timestamp,
        generated_at: Timestamp,
    ) -> Self {
        let content_text = json::write(content);
        let before = content_text.strip_suffix('}').unwrap_or(&content_text);
        Self {
            member_id: content.member.id.clone(),
            generated_at,
            head: format!("{before},\"submit_to\":"),
            tail: format!(
                ",\"deadline_utc\":{},\"generated_at\":{}}}",
                json::write(&deadline),
                json::write(&generated_at)
            ),
        }
    }

    /// Returns the complete brief file for a front end with these links; an origin such as
    /// `https://acme.example` will do.
    pub fn text(&self, links: &(impl Links + ?Sized)) -> String {
        format!("{}{}{}", self.head, json::write(&links.committee_submit()), self.tail)
    }
}
