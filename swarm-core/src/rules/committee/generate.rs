//! When briefs are generated, and about what (contract, section 6).

use super::CommitteeRefusal;
use crate::domain::committee::{
    CommitteeBrief, CommitteeBriefContent, CommitteeDay, CommitteeSettings, Generation,
    GenerationOrder, Synthesis,
};
use crate::domain::{Day, Instant, Subject, SubjectId, Version};
use crate::rules::Versioned;

/// The write of a day of the committee.
#[derive(Clone, Debug)]
pub struct CommitteeDayChange {
    /// The whole record to write.
    pub day: CommitteeDay,
    /// The version that was judged; `None`: there must be no such day.
    pub expected: Option<Version>,
    /// The briefs that take the place of all the day's briefs; `None`: they stay.
    pub briefs: Option<Vec<CommitteeBrief>>,
}

/// Whether the schedule asks for briefs now: it is time, the deadline is still ahead, and the day
/// has none. So a server that starts late catches up, and one that comes second does nothing.
pub fn is_due(settings: &CommitteeSettings, now: Instant, today: Option<&CommitteeDay>) -> bool {
    let window = now.at(settings.brief_at())..now.at(settings.deadline());
    window.contains(&now) && today.is_none_or(|day| day.generation.is_none())
}

/// Whether anyone reads what is generated. Where no member is active the schedule convenes nothing;
/// an operator may.
pub fn has_readers(change: &CommitteeDayChange) -> bool {
    change.briefs.as_ref().is_some_and(|briefs| !briefs.is_empty())
}

/// What today's takes are about: the subject that is ordered, else the one set for the day, else
/// the one of an earlier generation today, else the active subjects in turn.
///
/// In turn means: of the `n` subjects with status `active`, sorted by id, day `d` after the first of
/// 1970 (UTC) takes number `d mod n`, counted from 0. So each comes every `n` days, over month
/// ends and leap days; when a subject joins or leaves, the turn moves.
///
/// # Errors
/// [`CommitteeRefusal::NotFound`] when there is no such subject,
/// [`CommitteeRefusal::NoSubject`] when none is named and none is active.
pub fn subject_for<'a>(
    order: &GenerationOrder,
    today: Option<&CommitteeDay>,
    subjects: &'a [Subject],
    now: Instant,
) -> Result<&'a Subject, CommitteeRefusal> {
    let set = today.and_then(|day| day.subject.as_ref());
    let before = today.and_then(|day| day.generation.as_ref()).map(|made| &made.subject_id);
    match order.subject_id.as_ref().or(set).or(before) {
        Some(id) => {
            let named = subjects.iter().find(|subject| subject.id == *id);
            named.ok_or(CommitteeRefusal::NotFound("subject"))
        }
        None => in_turn(subjects, now).ok_or(CommitteeRefusal::NoSubject),
    }
}

fn in_turn(subjects: &[Subject], now: Instant) -> Option<&Subject> {
    let mut active: Vec<_> = subjects.iter().filter(|it| it.status == "active").collect();
    active.sort_by(|a, b| a.id.cmp(&b.id));
    let turn = now.day_number().checked_rem_euclid(i64::try_from(active.len()).ok()?)?;
    active.get(usize::try_from(turn).ok()?).copied()
}

/// Until when takes are accepted: until the moment that is ordered, else the one of an earlier
/// generation today, else the one that the settings give.
pub fn deadline(
    order: &GenerationOrder,
    settings: &CommitteeSettings,
    today: Option<&CommitteeDay>,
    now: Instant,
) -> Instant {
    let before = today.and_then(|day| day.generation.as_ref()).map(|made| made.deadline);
    order.deadline.or(before).unwrap_or_else(|| now.at(settings.deadline()))
}

/// Generates today's briefs; they take the place of those that are there. A subject that is
/// ordered becomes the one set for the day.
pub fn generate(
    order: &GenerationOrder,
    today: Option<&Versioned<CommitteeDay>>,
    subject_id: &SubjectId,
    deadline: Instant,
    now: Instant,
    contents: &[CommitteeBriefContent],
) -> CommitteeDayChange {
    let before = known(today, now.day());
    let generation = Generation {
        subject_id: subject_id.clone(),
        deadline,
        generated_at: now,
        briefs: contents.len(),
    };
    let day = CommitteeDay {
        subject: order.subject_id.clone().or(before.subject),
        generation: Some(generation),
        ..before
    };
    let brief = |content| CommitteeBrief::new(content, deadline, now);
    CommitteeDayChange { briefs: Some(contents.iter().map(brief).collect()), ..change(today, day) }
}

/// Sets the subject of a day. Briefs that are there stay until they are generated again.
pub fn set_subject(
    day: Option<&Versioned<CommitteeDay>>,
    date: Day,
    subject: &SubjectId,
) -> CommitteeDayChange {
    change(day, CommitteeDay { subject: Some(subject.clone()), ..known(day, date) })
}

/// Sets the synthesis of a session, in place of the one that is there.
///
/// # Errors
/// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
pub fn set_synthesis(
    day: Option<&Versioned<CommitteeDay>>,
    synthesis: &Synthesis,
) -> Result<CommitteeDayChange, CommitteeRefusal> {
    let session = day.filter(|day| day.record.generation.is_some());
    let session = session.ok_or(CommitteeRefusal::NotFound("session"))?;
    let synthesis = Some(synthesis.clone());
    Ok(change(day, CommitteeDay { synthesis, ..CommitteeDay::clone(&session.record) }))
}

fn known(day: Option<&Versioned<CommitteeDay>>, date: Day) -> CommitteeDay {
    day.map_or_else(|| CommitteeDay::blank(date), |day| CommitteeDay::clone(&day.record))
}

fn change(judged: Option<&Versioned<CommitteeDay>>, day: CommitteeDay) -> CommitteeDayChange {
    CommitteeDayChange { day, expected: judged.map(|judged| judged.version), briefs: None }
}
