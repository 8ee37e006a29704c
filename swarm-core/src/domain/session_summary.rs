//! What lists show of a session.

use std::sync::Arc;

use serde::Serialize;

use super::{
    Day, Declaration, Figures, Outcome, Question, Session, SessionId, SessionState, SubjectId,
    Timestamp, Voided,
};

/// What lists show of a session: all of it but its buckets, its roster, and the parts of its snapshot that grow with
/// the number of takes. So its size is constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The id.
    pub id: SessionId,
    /// The number of acts on it, as [`Session::version`]. Not on the wire.
    #[serde(skip)]
    pub version: u64,
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The state.
    pub state: SessionState,
    /// The deadline: the last moment for takes, itself included; `None` if none is set.
    pub window_closes_at: Option<Timestamp>,
    /// The time when it was convened, by the store's clock.
    pub convened_at: Timestamp,
    /// The number of members required for a quorum.
    pub quorum: Option<u32>,
    /// Whether the session has a roster, so that only the members on it may file.
    pub has_roster: bool,
    /// Whether its takes are sealed: it is blind and not opened yet. Not on the wire.
    #[serde(skip)]
    pub sealed: bool,
    /// The time when it was opened, if it is blind, by the store's clock. Not on the wire.
    #[serde(skip)]
    pub opened_at: Option<Timestamp>,
    /// Whether the session is for practice, and counts nowhere; omitted on the wire if it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub practice: bool,
    /// What its takes are about, and how its outcome is determined.
    #[serde(flatten)]
    pub question: Question,
    /// Its own stances, number of revisions and method of aggregation.
    #[serde(flatten)]
    pub declaration: Declaration,
    /// The time when it was published, by the store's clock.
    pub published_at: Option<Timestamp>,
    /// What came of it; omitted on the wire until that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The mark that it counts for nothing; omitted on the wire while it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<Voided>,
    /// The figures of its snapshot; `None` until it is aggregated.
    #[serde(rename = "snapshot")]
    pub figures: Option<Figures>,
}

impl SessionSummary {
    /// Returns the key that sorts sessions by their deadline, the soonest first; sessions without a deadline come last.
    pub fn by_deadline(&self) -> (bool, Option<Timestamp>, SessionId) {
        (self.window_closes_at.is_none(), self.window_closes_at, self.id)
    }

    /// Returns whether none of these sessions is a newer one of its day and subject, which would get the takes instead.
    pub fn is_newest_of_its_day<'a>(
        &self,
        sessions: impl IntoIterator<Item = &'a Arc<Self>>,
    ) -> bool {
        let is_newer = |other: &Arc<Self>| {
            other.id > self.id && (other.date, &other.subject_id) == (self.date, &self.subject_id)
        };
        !sessions.into_iter().any(is_newer)
    }

    /// Returns whether its result counts: not for practice, and not once it was voided.
    pub fn counts(&self) -> bool {
        !self.practice && self.voided.is_none()
    }
}

impl Session {
    /// What lists show of it.
    pub fn summary(&self) -> SessionSummary {
        SessionSummary {
            id: self.id,
            version: self.version,
            date: self.date,
            subject_id: self.subject_id.clone(),
            state: self.state,
            window_closes_at: self.window_closes_at,
            convened_at: self.convened_at,
            quorum: self.quorum,
            has_roster: self.roster.is_some(),
            sealed: self.is_sealed(),
            opened_at: self.opened_at,
            practice: self.practice,
            question: self.question.clone(),
            declaration: self.declaration.clone(),
            published_at: self.published_at,
            outcome: self.outcome.clone(),
            voided: self.voided.clone(),
            figures: self.snapshot.as_ref().map(|snapshot| snapshot.figures.clone()),
        }
    }
}
