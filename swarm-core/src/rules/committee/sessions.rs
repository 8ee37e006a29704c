//! The public view of the committee's sessions (API.md, 8.7).

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::domain::committee::{
    CommitteeBody, CommitteeDay, CommitteeMemberId, CommitteeStance, CommitteeTake, Generation,
    Model,
};
use crate::domain::{Confidence, Day, SubjectId, Timestamp};
use crate::proof::commit_reference;

/// A session in the list of sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct SessionLine {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The number of visible takes; 0 until the deadline has passed.
    pub takes: usize,
    /// The operator's synthesis; without one, a summary of the takes once the deadline has passed.
    pub synthesis: Option<String>,
}

/// A complete session. Takes are included after the deadline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommitteeSession {
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The last time at which a take is accepted.
    pub deadline_utc: Timestamp,
    /// The operator's synthesis; without one, a summary of the takes once the deadline has passed.
    pub synthesis: Option<String>,
    /// The takes that count, in the order of their commits; empty until the deadline has passed.
    pub takes: Vec<PublicCommitteeTake>,
}

/// The public view of a take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct PublicCommitteeTake {
    /// The member that it belongs to.
    pub member_id: CommitteeMemberId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// The confidence of the member.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The model that wrote it, if given.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub model: Option<Model>,
    /// When the take was written.
    pub generated_at: Timestamp,
    /// When the take was committed.
    pub received_at: Timestamp,
    /// The commit reference that its author received.
    #[cfg_attr(feature = "schema", schemars(with = "crate::domain::Digest"))]
    pub commit: String,
}

/// Returns the list entry of a session, from its day and all submissions of the day in the order of
/// their commits. `None` when no briefs were generated that day.
pub fn line(
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
    now: Timestamp,
) -> Option<SessionLine> {
    let made = day.generation.as_ref()?;
    let shown = shown(made, takes, now);
    Some(SessionLine {
        date: day.date,
        subject_id: made.subject_id.clone(),
        takes: shown.as_ref().map_or(0, Vec::len),
        synthesis: synthesis(day, shown.as_deref()),
    })
}

/// Returns the complete session, from its day and all submissions of the day in the order of their
/// commits. `None` when no briefs were generated that day.
pub fn session(
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
    now: Timestamp,
) -> Option<CommitteeSession> {
    let made = day.generation.as_ref()?;
    let shown = shown(made, takes, now);
    Some(CommitteeSession {
        date: day.date,
        subject_id: made.subject_id.clone(),
        deadline_utc: made.deadline,
        synthesis: synthesis(day, shown.as_deref()),
        takes: shown.unwrap_or_default().iter().map(|take| published(take)).collect(),
    })
}

/// Returns whether the deadline has passed.
pub(crate) fn is_over(made: &Generation, now: Timestamp) -> bool {
    now > made.deadline
}

/// Returns the takes that count: the newest take of each member on the session's subject, in the
/// order of their commits. A change of the subject during the day therefore restarts the session:
/// takes on the earlier subject do not count.
pub(crate) fn counted(made: &Generation, takes: &[Arc<CommitteeTake>]) -> Vec<Arc<CommitteeTake>> {
    let mut newest = HashMap::new();
    let about = |take: &&Arc<CommitteeTake>| take.subject_id == made.subject_id;
    for (place, take) in standing(made, takes).iter().filter(about).enumerate() {
        newest.insert(&take.member_id, (place, take));
    }
    let mut newest: Vec<_> = newest.into_values().collect();
    newest.sort_unstable_by_key(|(place, _)| *place);
    newest.into_iter().map(|(_, take)| Arc::clone(take)).collect()
}

/// Returns the submissions of the day that do not belong to a withdrawn generation of its briefs.
/// They are found by their position, not by their times, because a wrong clock is a reason to
/// withdraw a day.
pub(crate) fn standing<'a>(
    made: &Generation,
    takes: &'a [Arc<CommitteeTake>],
) -> &'a [Arc<CommitteeTake>] {
    takes.get(made.withdrawn..).unwrap_or_default()
}

fn shown(
    made: &Generation,
    takes: &[Arc<CommitteeTake>],
    now: Timestamp,
) -> Option<Vec<Arc<CommitteeTake>>> {
    is_over(made, now).then(|| counted(made, takes))
}

fn synthesis(day: &CommitteeDay, shown: Option<&[Arc<CommitteeTake>]>) -> Option<String> {
    let written = day.synthesis.as_ref().map(|text| text.as_str().to_owned());
    written.or_else(|| shown.map(summary))
}

/// A summary in one line: the number of takes, the number of each stance that occurs (in the order
/// of API.md, 8.4), and the mean confidence.
fn summary(takes: &[Arc<CommitteeTake>]) -> String {
    let mut stances = Vec::new();
    for stance in CommitteeStance::ALL {
        match takes.iter().filter(|take| take.stance == stance).count() {
            0 => {}
            count => stances.push(format!("{count} {stance}")),
        }
    }
    let noun = if takes.len() == 1 { "take" } else { "takes" };
    let mut confidences: Vec<f64> = takes.iter().map(|take| take.confidence.get()).collect();
    // Sort them, so that the sum does not depend on the order of commits.
    confidences.sort_by(f64::total_cmp);
    match u32::try_from(confidences.len()) {
        Ok(count) if count > 0 => format!(
            "{count} {noun}: {}; mean confidence {:.2}.",
            stances.join(", "),
            confidences.iter().sum::<f64>() / f64::from(count)
        ),
        _ => "No takes.".to_owned(),
    }
}

fn published(take: &CommitteeTake) -> PublicCommitteeTake {
    PublicCommitteeTake {
        member_id: take.member_id.clone(),
        stance: take.stance,
        confidence: take.confidence,
        body: take.body.clone(),
        model: take.model.clone(),
        generated_at: take.generated_at,
        received_at: take.received_at,
        commit: commit_reference(take),
    }
}
