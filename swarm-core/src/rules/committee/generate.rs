//! The rules for generating briefs: when, and about which subject (API.md, 8.3).

use std::sync::Arc;
use std::time::Duration;

use super::{CommitteeRefusal, MemberSource, is_current, is_over, standing};
use crate::domain::committee::{
    CommitteeBrief, CommitteeBriefContent, CommitteeDay, CommitteeSettings, CommitteeTake,
    Generation, GenerationOrder, Synthesis,
};
use crate::domain::{
    Actor, CommitteeDayEntry, Day, DayAct, LogEntry, Subject, SubjectId, Timestamp, Version,
};
use crate::rules::{Act, Caution, CautionCode, Resource, Versioned};

/// A change of a day of the committee.
#[derive(Clone, Debug)]
pub struct CommitteeDayChange {
    /// The complete new record.
    pub day: CommitteeDay,
    /// Guard: the version that was judged; `None`: the day must not exist.
    pub expected: Option<Version>,
    /// The briefs that replace all briefs of the day; `None` keeps them.
    pub briefs: Option<Vec<CommitteeBrief>>,
    /// Its entry in the log.
    pub act: Act,
}

/// A day that may not be stored yet.
#[derive(Clone, Debug)]
pub struct KnownDay {
    /// The record; blank if none is stored.
    pub record: Arc<CommitteeDay>,
    /// The stored version; `None` if none is stored.
    pub version: Option<Version>,
}

impl KnownDay {
    /// The day `date`, with its stored record, if any.
    pub fn new(date: Day, on_file: Option<Versioned<CommitteeDay>>) -> Self {
        match on_file {
            Some(Versioned { version, record }) => Self { record, version: Some(version) },
            None => Self { record: Arc::new(CommitteeDay::blank(date)), version: None },
        }
    }

    fn change(&self, day: CommitteeDay, act: DayAct, by: &Actor) -> CommitteeDayChange {
        let act = act_on(act, &day, by);
        CommitteeDayChange { day, expected: self.version, briefs: None, act }
    }
}

/// The briefs to generate for a day.
#[derive(Clone, Copy, Debug)]
pub struct NewBriefs<'a> {
    /// Their subject.
    pub subject_id: &'a SubjectId,
    /// The last time at which a take is accepted.
    pub deadline: Timestamp,
    /// Their contents, one for each member.
    pub contents: &'a [CommitteeBriefContent],
    /// The number of submissions that the day has already. On a day without briefs, they belong to
    /// withdrawn generations.
    pub submissions: usize,
}

/// Returns the day whose briefs are generated now: today, or the day of the latest session if its
/// deadline has not passed. (An operator may set a deadline on a later day.) So a session is not
/// replaced by the next one before its end.
pub fn day_to_generate(latest: Option<&CommitteeDay>, now: Timestamp) -> Day {
    latest.filter(|latest| is_current(latest, now)).map_or(now.day(), |latest| latest.date)
}

/// Returns whether the schedule generates the briefs of this day now. `takes` are the submissions
/// of the day.
///
/// Briefs are due if the day is today, the time of the briefs has come, the deadline is ahead, and the
/// day has no briefs since then: none, or only earlier ones that an operator generated. So a server
/// that starts late catches up, and of two servers the second one does nothing.
///
/// A deadline that an operator set replaces that of the settings, unless it has passed without a
/// submission.
pub fn is_due(
    settings: &CommitteeSettings,
    now: Timestamp,
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
) -> bool {
    let (begin, end) = (now.at(settings.brief_at()), now.at(settings.deadline()));
    let made = day.generation.as_ref();
    let end = made.filter(|made| !passed_unused(made, takes, now)).map_or(end, |it| it.deadline);
    let early = made.is_none_or(|made| made.generated_at < begin);
    day.date == now.day() && (begin..end).contains(&now) && early
}

/// Whether the deadline has passed without a submission.
fn passed_unused(made: &Generation, takes: &[Arc<CommitteeTake>], now: Timestamp) -> bool {
    now >= made.deadline && standing(made, takes).is_empty()
}

/// Returns the time until [`is_due`] may become true if no record changes: until the scheduled time
/// of today or tomorrow, or until the deadline of an earlier day that is still open.
pub fn until_due(
    settings: &CommitteeSettings,
    now: Timestamp,
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
) -> Duration {
    if is_due(settings, now, day, takes) {
        return Duration::ZERO;
    }
    let (begin, end) = (now.at(settings.brief_at()), now.at(settings.deadline()));
    let earlier = day.generation.as_ref().filter(|_| day.date != now.day());
    let next = match earlier {
        _ if now < begin => begin,
        Some(earlier) if earlier.deadline < end => earlier.deadline.plus_millis(1),
        _ => begin.plus_millis(Timestamp::DAY_MILLIS),
    };
    now.until(next)
}

/// Returns the request of the schedule when a generation [is due](is_due). It keeps the subject and
/// the deadline of the day, except that a deadline which has passed is replaced by that of the
/// settings.
pub fn scheduled(
    settings: &CommitteeSettings,
    now: Timestamp,
    day: &CommitteeDay,
) -> GenerationOrder {
    let passed = day.generation.as_ref().filter(|made| now >= made.deadline);
    let deadline = passed.map(|_| now.at(settings.deadline()));
    GenerationOrder { subject_id: None, deadline }
}

/// Returns whether there is an active member to read the briefs. Without one the schedule generates
/// nothing; an operator still may.
pub(crate) fn has_readers(members: &[MemberSource]) -> bool {
    !members.is_empty()
}

/// Returns the subject of a day: the requested subject, else the one set for the day, else the one
/// of an earlier generation of the day, else one of the active subjects in rotation.
///
/// The rotation: of the `n` subjects with status `active`, sorted by id, the UTC day number `d`
/// since 1970-01-01 gets the one with index `d mod n`. So each subject recurs every `n` days. When
/// a subject is added or removed, the rotation shifts.
///
/// # Errors
/// [`CommitteeRefusal::NotFound`] when the subject does not exist,
/// [`CommitteeRefusal::NoSubject`] when none is given and none is active.
pub fn subject_for<'a>(
    order: &GenerationOrder,
    day: &CommitteeDay,
    subjects: &'a [Subject],
    now: Timestamp,
) -> Result<&'a Subject, CommitteeRefusal> {
    let before = day.generation.as_ref().map(|made| &made.subject_id);
    match order.subject_id.as_ref().or(day.subject.as_ref()).or(before) {
        Some(id) => {
            let named = subjects.iter().find(|subject| subject.id == *id);
            named.ok_or(CommitteeRefusal::NotFound(Resource::Subject))
        }
        None => by_rotation(subjects, now).ok_or(CommitteeRefusal::NoSubject),
    }
}

fn by_rotation(subjects: &[Subject], now: Timestamp) -> Option<&Subject> {
    let mut active: Vec<_> = subjects.iter().filter(|it| it.status == "active").collect();
    active.sort_by(|a, b| a.id.cmp(&b.id));
    let index = now.day_number().checked_rem_euclid(i64::try_from(active.len()).ok()?)?;
    active.get(usize::try_from(index).ok()?).copied()
}

/// Returns the deadline of a day: the requested one, else the one of an earlier generation of the
/// day, else the one of the settings. A session with submissions is not reopened after its
/// deadline, because its takes have become public. `takes` are all submissions of the day.
///
/// # Errors
/// [`CommitteeRefusal::WindowClosed`] when the deadline would reopen such a session.
pub fn deadline(
    order: &GenerationOrder,
    settings: &CommitteeSettings,
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
    now: Timestamp,
) -> Result<Timestamp, CommitteeRefusal> {
    let Some(made) = &day.generation else {
        return Ok(order.deadline.unwrap_or_else(|| now.at(settings.deadline())));
    };
    let deadline = order.deadline.unwrap_or(made.deadline);
    if deadline > made.deadline && is_over(made, now) && !standing(made, takes).is_empty() {
        return Err(CommitteeRefusal::WindowClosed);
    }
    Ok(deadline)
}

/// Generates the briefs of a day, replacing existing ones. A requested subject becomes the one set
/// for the day. A synthesis is kept only if the subject stays the same.
pub fn generate(
    order: &GenerationOrder,
    day: &KnownDay,
    made: &NewBriefs<'_>,
    now: Timestamp,
    by: &Actor,
) -> CommitteeDayChange {
    let NewBriefs { subject_id, deadline, contents, submissions } = *made;
    let before = CommitteeDay::clone(&day.record);
    let generated_at = dated(before.generation.as_ref(), now);
    let about_it = before.generation.as_ref().is_some_and(|made| made.subject_id == *subject_id);
    let generation = Generation {
        subject_id: subject_id.clone(),
        withdrawn: before.generation.map_or(submissions, |before| before.withdrawn),
        deadline,
        generated_at,
        briefs: contents.len(),
    };
    let generated = CommitteeDay {
        date: before.date,
        subject: order.subject_id.clone().or(before.subject),
        generation: Some(generation),
        synthesis: before.synthesis.filter(|_| about_it),
    };
    let brief = |content| CommitteeBrief::new(content, deadline, generated_at);
    let briefs = Some(contents.iter().map(brief).collect());
    CommitteeDayChange { briefs, ..day.change(generated, DayAct::Generated, by) }
}

/// The date of a generation: now, but no earlier than the whole second after the generation before. So
/// the `Last-Modified` of a brief, which has no fractions, tells each generation from the others.
fn dated(before: Option<&Generation>, now: Timestamp) -> Timestamp {
    let second_after = |made: &Generation| {
        let millis = made.generated_at.millis().rem_euclid(1_000);
        made.generated_at.plus_millis(1_000 - millis)
    };
    before.map_or(now, |made| now.max(second_after(made)))
}

/// Withdraws a day that was generated by mistake: its briefs, its session and the subject set for
/// it are removed. Its submissions stay stored, and the log records the withdrawal.
///
/// # Errors
/// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
pub fn withdraw(day: &KnownDay, by: &Actor) -> Result<CommitteeDayChange, CommitteeRefusal> {
    let known = &*day.record;
    if known.generation.is_none() {
        return Err(CommitteeRefusal::NotFound(Resource::Session));
    }
    Ok(CommitteeDayChange {
        day: CommitteeDay { generation: None, synthesis: None, subject: None, ..known.clone() },
        expected: day.version,
        briefs: Some(Vec::new()),
        act: act_on(DayAct::Withdrawn, known, by),
    })
}

/// What the withdrawal of a day of the committee means.
pub fn withdrawn_day() -> Caution {
    Caution::irreversible("its briefs and its deadline are gone; its submissions stay on record")
}

/// Returns what should be heard before a generation that sets this deadline: a session that is over shows its takes, and stays
/// closed.
pub(crate) fn new_deadline(
    day: &CommitteeDay,
    to: Option<Timestamp>,
    now: Timestamp,
) -> Option<Caution> {
    let (to, made) = (to?, day.generation.as_ref());
    match made.filter(|made| !is_over(made, now) && to < made.deadline) {
        Some(made) => {
            let from = made.deadline;
            let message = format!("the deadline moves from {from} to {to}, which is earlier");
            Some(Caution::new(CautionCode::DeadlineEarlier, message))
        }
        None if to <= now => {
            let message = format!("the deadline, {to}, has passed");
            Some(Caution::new(CautionCode::DeadlinePast, message))
        }
        None => None,
    }
}

/// Sets the subject of a day. Existing briefs stay until they are generated again.
pub fn set_subject(day: &KnownDay, subject: &SubjectId, by: &Actor) -> CommitteeDayChange {
    let known = CommitteeDay::clone(&day.record);
    let set = CommitteeDay { subject: Some(subject.clone()), ..known };
    day.change(set, DayAct::Subject, by)
}

/// Sets the synthesis of a session, replacing an existing one.
///
/// # Errors
/// [`CommitteeRefusal::NotFound`] when no briefs were generated that day.
pub fn set_synthesis(
    day: &KnownDay,
    synthesis: &Synthesis,
    by: &Actor,
) -> Result<CommitteeDayChange, CommitteeRefusal> {
    if day.record.generation.is_none() {
        return Err(CommitteeRefusal::NotFound(Resource::Session));
    }
    let known = CommitteeDay::clone(&day.record);
    let set = CommitteeDay { synthesis: Some(synthesis.clone()), ..known };
    Ok(day.change(set, DayAct::Synthesis, by))
}

/// Returns the act: a day of the committee is changed.
fn act_on(act: DayAct, day: &CommitteeDay, by: &Actor) -> Act {
    let generation = day.generation.as_ref();
    let subject_id = match act {
        DayAct::Subject => day.subject.as_ref(),
        DayAct::Generated | DayAct::Synthesis | DayAct::Withdrawn => {
            generation.map(|generation| &generation.subject_id)
        }
    };
    LogEntry::CommitteeDay(CommitteeDayEntry {
        act,
        by: by.clone(),
        date: day.date,
        subject_id: subject_id.cloned(),
        deadline_utc: generation.map(|generation| generation.deadline),
    })
    .into()
}
