//! What the public reads of the committee's sessions (API.md, 8.7).

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::domain::committee::{
    CommitteeBody, CommitteeDay, CommitteeMemberId, CommitteeStance, CommitteeTake, Generation,
    Model,
};
use crate::domain::{Confidence, Day, SubjectId, Timestamp};
use crate::proof::commit_reference;

/// A session in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionLine {
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// How many members' takes show: none before the deadline has passed.
    pub takes: usize,
    /// What they come to; before the deadline has passed, only what the operator wrote.
    pub synthesis: Option<String>,
}

/// A session whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CommitteeSession {
    /// Its day.
    pub date: Day,
    /// Its subject.
    pub subject_id: SubjectId,
    /// The last moment at which a take is accepted.
    pub deadline_utc: Timestamp,
    /// As in the list.
    pub synthesis: Option<String>,
    /// The takes that count, in the order of their commits; none before the deadline has passed.
    pub takes: Vec<PublicTake>,
}

/// A take as it is published.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublicTake {
    /// Whose it is.
    pub member_id: CommitteeMemberId,
    /// The position taken.
    pub stance: CommitteeStance,
    /// How sure the member was.
    pub confidence: Confidence,
    /// The reasoning, with its trailer.
    pub body: CommitteeBody,
    /// The model that wrote it, if given.
    pub model: Option<Model>,
    /// When it was written.
    pub generated_at: Timestamp,
    /// When it was committed.
    pub received_at: Timestamp,
    /// The reference that its member was given.
    pub commit: String,
}

/// A session as the list shows it, from its day and all the day's submissions, in the order of
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

/// A session, from its day and all the day's submissions, in the order of their commits. `None`
/// when no briefs were generated that day.
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

/// Whether the deadline has passed.
pub fn is_over(made: &Generation, now: Timestamp) -> bool {
    now > made.deadline
}

/// The takes that count: of each member the newest about the session's subject, in the order of
/// their commits. So changing the subject during the day starts the session anew, and takes about
/// another subject are not shown as takes about this one.
pub fn counted(made: &Generation, takes: &[Arc<CommitteeTake>]) -> Vec<Arc<CommitteeTake>> {
    let mut newest = HashMap::new();
    let about = |take: &&Arc<CommitteeTake>| take.subject_id == made.subject_id;
    for (place, take) in standing(made, takes).iter().filter(about).enumerate() {
        newest.insert(&take.member_id, (place, take));
    }
    let mut newest: Vec<_> = newest.into_values().collect();
    newest.sort_unstable_by_key(|(place, _)| *place);
    newest.into_iter().map(|(_, take)| Arc::clone(take)).collect()
}

/// Of all the day's submissions, in the order of their commits, those that are of this generation of
/// its briefs, or of an earlier one that it replaced: not of one that was withdrawn. Times do not tell:
/// a day is withdrawn where they were wrong.
pub fn standing<'a>(
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

/// One line of facts: the number of takes, the number of each stance that occurs (in the order of API.md,
/// 8.4), and the mean confidence.
fn summary(takes: &[Arc<CommitteeTake>]) -> String {
    let mut stances = Vec::new();
    for stance in CommitteeStance::ALL {
        match takes.iter().filter(|take| take.stance == stance).count() {
            0 => {}
            count => stances.push(format!("{count} {stance}")),
        }
    }
    let noun = if takes.len() == 1 { "take" } else { "takes" };
    let mut sure: Vec<f64> = takes.iter().map(|take| take.confidence.get()).collect();
    // Sorted, so that the order of commits cannot change the last bit.
    sure.sort_by(f64::total_cmp);
    match u32::try_from(sure.len()) {
        Ok(count) if count > 0 => format!(
            "{count} {noun}: {}; mean confidence {:.2}.",
            stances.join(", "),
            sure.iter().sum::<f64>() / f64::from(count)
        ),
        _ => "No takes.".to_owned(),
    }
}

fn published(take: &CommitteeTake) -> PublicTake {
    PublicTake {
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
