//! The takes of the committee, as sent and as stored.

use serde::Serialize;

use super::{CommitteeBody, CommitteeMemberId, CommitteeStance};
use crate::domain::form::{Described, FormSchema, text_schema};
use crate::domain::json;
use crate::domain::text::text;
use crate::domain::{Confidence, Day, Invalid, SubjectId, Timestamp};

text!(
    /// The name of the model that wrote a take.
    Model, "model", 0..=200
);

/// The fields of a submission, all valid (API.md, 8.4).
#[derive(Clone, Debug, PartialEq)]
pub struct CommitteeDraft {
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The name of the model that wrote it, if given.
    pub model: Option<Model>,
    /// The time when the take was written, if given.
    pub generated_at: Option<Timestamp>,
}

impl Described for CommitteeDraft {
    const NAME: &'static str = "CommitteeSubmission";
    const TOPIC: &'static str = "committee";

    fn describe(schema: &mut FormSchema) {
        schema.require("stance", FormSchema::reference("KnownStance"), "");
        schema.require("confidence", FormSchema::reference("Confidence"), "");
        let body = text_schema(CommitteeBody::MIN, CommitteeBody::MAX);
        let trailer = "Must end with the line STANCE: <stance> | CONFIDENCE: <0-1>.";
        schema.require("body", body, trailer);
        schema.add::<Option<Model>>("model", "");
        schema.add::<Option<Timestamp>>("generated_at", "");
        schema.example = r#"{
            "stance": "cautious", "confidence": 0.62,
            "body": "REGIME: Rates are falling, and risk is paid for again.\n\nALLOCATION: Half stays in cash until the fee is live.\n\nSUBJECT: Revenue is flat, and the new fee needs users who are not there yet.\nSTANCE: cautious | CONFIDENCE: 0.62",
            "model": "an-agent-1"
        }"#;
    }
}

/// A stored submission: immutable. Serializing it gives the canonical text that
/// [`commit_reference`](crate::proof::commit_reference) digests: the order of the fields matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommitteeTake {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The name of the model that wrote it; `null` if not given.
    pub model: Option<Model>,
    /// The time when the take was written; the time when it was received if not given.
    pub generated_at: Timestamp,
    /// The time of the commit, by the store's clock.
    pub received_at: Timestamp,
}

/// A submission with its author and its session: a take without the times that its commit assigns.
#[derive(Clone, Debug, PartialEq)]
pub struct UncommittedTake {
    /// The author.
    pub member_id: CommitteeMemberId,
    /// The day of its session.
    pub date: Day,
    /// The subject of its session.
    pub subject_id: SubjectId,
    /// What was sent.
    pub draft: CommitteeDraft,
}

impl UncommittedTake {
    /// Returns the JSON text of the record without the fields that the commit adds: `received_at`,
    /// and `generated_at` if not given.
    pub fn text(&self) -> String {
        #[derive(Serialize)]
        struct Text<'a> {
            member_id: &'a CommitteeMemberId,
            date: Day,
            subject_id: &'a SubjectId,
            stance: CommitteeStance,
            confidence: Confidence,
            body: &'a CommitteeBody,
            model: Option<&'a Model>,
            #[serde(skip_serializing_if = "Option::is_none")]
            generated_at: Option<Timestamp>,
        }
        json::write(&Text {
            member_id: &self.member_id,
            date: self.date,
            subject_id: &self.subject_id,
            stance: self.draft.stance,
            confidence: self.draft.confidence,
            body: &self.draft.body,
            model: self.draft.model.as_ref(),
            generated_at: self.draft.generated_at,
        })
    }

    /// Returns the record to store, with the time that the commit assigned.
    pub fn committed(&self, received_at: Timestamp) -> CommitteeTake {
        let Self { member_id, date, subject_id, draft } = self.clone();
        CommitteeTake {
            member_id,
            date,
            subject_id,
            stance: draft.stance,
            confidence: draft.confidence,
            body: draft.body,
            model: draft.model,
            generated_at: draft.generated_at.unwrap_or(received_at),
            received_at,
        }
    }
}
