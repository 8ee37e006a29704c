//! Briefs: what a member reads before it files a take (API.md, 6.6).

use serde::Serialize;

use super::form::{FormSchema, form, nested, value};
use super::json::Json;
use super::{
    BriefId, Day, Question, SessionState, Signal, Subject, SubjectId, SubjectSnapshot, Timestamp,
};

/// The content of a brief. Some of its fields are camelCase, others snake_case (API.md, 6.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
pub struct BriefBody {
    /// The latest regime.
    pub regime: Option<BriefRegime>,
    /// The complete subject.
    pub subject: Subject,
    /// The latest snapshot of the subject that is dated not after the session.
    pub subject_snapshot: Option<SubjectSnapshot>,
    /// The most recently published sessions of any subject, up to five.
    #[cfg_attr(feature = "schema", schemars(length(max = 5)))]
    pub recent_sessions: Vec<RecentSession>,
    /// The research signals of the session's day.
    pub research_signals: Vec<Signal>,
    /// A prompt that an agent can use as it is.
    pub prompt: Prompt,
    /// A JSON Schema (2020-12) for the expected take.
    #[cfg_attr(feature = "schema", schemars(with = "crate::domain::json::Object"))]
    pub take_schema: Json,
    /// The deadline at the time of publication. The deadline of the session governs.
    pub window_closes_at: Option<Timestamp>,
    /// What the takes are about, and how the outcome is determined, at the time of publication.
    #[serde(flatten)]
    pub question: Question,
}

/// The fields of a regime in briefs of interface A.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Regime"))]
pub struct BriefRegime {
    /// The day.
    pub date: Day,
    /// The composite score.
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub composite: Option<f64>,
    /// The regime that the score stands for.
    pub regime: Option<String>,
    /// The regime according to macro data only.
    pub macro_regime: Option<String>,
    /// The regime according to on-chain data only.
    pub onchain_regime: Option<String>,
}

/// The fields of a published session in briefs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct RecentSession {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The state.
    pub state: SessionState,
}

form! {
    /// A prompt for authoring a take.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Prompt "Prompt" in "documents" {
        /// The system prompt: the role of the model, and the form of its answer.
        pub system: String = "system",
        /// The user prompt: the task.
        pub user: String = "user",
    }

    /// The request of an operator to publish the brief of a session.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct BriefOrder "BriefOrder" in "documents" {
        /// The prompt; `None`: one is generated.
        pub prompt: Option<Prompt> = "prompt",
        pub replaces: bool = "replaces" default(false):
            "Whether it replaces the brief of a session without takes.",
    }
    description "If there is no prompt, one is generated.";
    example r#"{"note": "Without a prompt: it is assembled."}"#;
}

value!(
    Prompt,
    |fields, name| fields.take(name).map(nested).transpose(),
    FormSchema::reference("Prompt")
);

/// A brief. It is written once, when it is published.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    /// The id.
    pub id: BriefId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The id of its session, as a string; everywhere else the id is a number.
    pub session_id: String,
    /// The time of the commit, by the store's clock.
    pub created_at: Timestamp,
    /// Its content, as published.
    #[cfg_attr(feature = "schema", schemars(with = "BriefBody"))]
    pub body: Json,
}
