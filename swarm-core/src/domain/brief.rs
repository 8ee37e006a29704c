//! Briefs: what a member reads before it files a take (API.md, 6.6).

use serde::Serialize;

use super::json::{Json, Object};
use super::{BriefId, Day, Invalid, SessionState, Signal, Subject, SubjectId, Timestamp};

/// The content of a brief. Its fields are partly camelCase and partly snake_case (API.md, 6.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BriefBody {
    /// The latest regime.
    pub regime: Option<BriefRegime>,
    /// The subject, whole.
    pub subject: Subject,
    /// The most recently published sessions of any subject, up to five.
    pub recent_sessions: Vec<RecentSession>,
    /// The research signals of the session's day.
    pub research_signals: Vec<Signal>,
    /// A prompt that an agent can act on at once.
    pub prompt: Prompt,
    /// A JSON Schema (2020-12) of the take that is expected.
    pub take_schema: Json,
    /// The deadline when the brief was published; the session's own governs.
    pub window_closes_at: Option<Timestamp>,
}

/// A regime as briefs of interface A show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefRegime {
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
}

/// A published session as briefs show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecentSession {
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// Its state.
    pub state: SessionState,
}

/// A prompt for authoring a take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prompt {
    /// Who the model is, and how it answers.
    pub system: String,
    /// What it is asked.
    pub user: String,
}

impl Prompt {
    /// Reads a prompt from the field `prompt`, where it is there.
    ///
    /// # Errors
    /// [`Invalid`] when it is no object with both texts.
    pub fn read(fields: &mut Object) -> Result<Option<Self>, Invalid> {
        let Some(prompt) = fields.take("prompt") else { return Ok(None) };
        let mut prompt = prompt.into_object();
        Ok(Some(Self { system: prompt.text("system")?, user: prompt.text("user")? }))
    }
}

/// A brief on file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    /// Its id.
    pub id: BriefId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// Its session, as text: a number everywhere else.
    pub session_id: String,
    /// When it was committed, by the store's clock.
    pub created_at: Timestamp,
    /// Its content, as it was published.
    pub body: Json,
}
