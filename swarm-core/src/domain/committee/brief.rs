//! Brief files: what a member of the committee reads before it submits (API.md, 8.2).

use std::sync::Arc;

use serde::Serialize;

use super::{CommitteeMemberId, CommitteeStance};
use crate::domain::json::{self, Json, Object};
use crate::domain::{Confidence, Day, Lens, Links, Name, Prompt, SubjectId, Timestamp};

/// The content of a brief file, in the order and with the names of API.md, 8.2,
/// but for `submit_to`: that depends on who asks (API.md, 2.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommitteeBriefContent {
    /// 1 (API.md, 1.3).
    pub schema_version: u8,
    /// The day of the session, in UTC.
    pub date: Day,
    /// The day's subject.
    pub subject_id: SubjectId,
    /// The subject itself.
    pub subject: BriefSubject,
    /// The latest regime.
    pub regime: CommitteeRegime,
    /// The latest snapshot of the subject.
    pub subject_snapshot: Option<BriefSnapshot>,
    /// The latest sessions of the same subject, up to three, the newest first.
    pub recent_sessions: Vec<BriefRecentSession>,
    /// Whose brief it is.
    pub member: BriefMember,
    /// The latest takes of the member, up to five, the newest first.
    pub your_recent_takes: Vec<BriefRecentTake>,
    /// A prompt that an agent can act on at once.
    pub prompt: Arc<Prompt>,
    /// A JSON Schema (2020-12) of the take that is expected.
    pub response_schema: Arc<Json>,
}

/// A subject as briefs of the committee show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields of Subject, in snake_case")]
pub struct BriefSubject {
    pub id: SubjectId,
    pub name: String,
    pub operator: Option<String>,
    pub thesis_blurb: Option<String>,
    pub structural_notes: Vec<String>,
}

/// A regime as briefs of the committee show it: without one on file, all fields are `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "API.md names these columns and no more")]
pub struct CommitteeRegime {
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
    /// Everything else that the operator sent, but for the day.
    #[serde(flatten)]
    pub rest: Object,
}

/// A subject snapshot as briefs of the committee show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields of SubjectSnapshot, in snake_case")]
pub struct BriefSnapshot {
    pub date: Day,
    pub total_value_usd: Option<f64>,
    pub positions: Vec<BriefPosition>,
    pub notable: Vec<String>,
}

/// A part of what a subject holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields of Position, in snake_case")]
pub struct BriefPosition {
    pub token: String,
    pub chain: Option<String>,
    pub value_usd: Option<f64>,
    pub pct: Option<f64>,
}

/// An earlier session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefRecentSession {
    /// Its day.
    pub date: Day,
    /// What its takes come to.
    pub synthesis: String,
}

/// An echo of the member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefMember {
    /// Its id.
    pub id: CommitteeMemberId,
    /// What it is called.
    pub name: Name,
    /// How it looks at the world; may be empty.
    pub lens: Lens,
}

/// An earlier take of the member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefRecentTake {
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// How sure the member was.
    pub confidence: Confidence,
    /// The first 600 characters of its body.
    pub body_preview: String,
}

/// A brief on file: its JSON text in two parts, for between them stands `submit_to`, which is
/// filled in when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitteeBrief {
    /// Whose it is.
    pub member_id: CommitteeMemberId,
    /// When it was generated, by the store's clock.
    pub generated_at: Timestamp,
    /// The text up to the value of `submit_to`.
    pub head: String,
    /// The text after it.
    pub tail: String,
}

impl CommitteeBrief {
    /// The brief to keep.
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

    /// The brief file for readers of a front end with these links, such as an origin:
    /// `https://acme.example`.
    pub fn text(&self, links: &(impl Links + ?Sized)) -> String {
        format!("{}{}{}", self.head, json::write(&links.committee_submit()), self.tail)
    }
}
