//! When briefs are generated, and about what (API.md, 8.3).

use std::sync::Arc;
use std::time::Duration;

use super::{CommitteeRefusal, MemberSource, is_current, is_over, standing};
use crate::domain::committee::{
    CommitteeBrief, CommitteeBriefContent, CommitteeDay, CommitteeSettings, CommitteeTake,
    Generation, GenerationOrder, Synthesis,
};
use crate::domain::{Act, Actor, Day, Subject, SubjectId, Timestamp, Version};
use crate::rules::log::{self, DayAct};
use crate::rules::{Resource, Versioned};

/// The write of a day of the committee.
#[derive(Clone, Debug)]
pub struct CommitteeDayChange {
    /// The whole record to write.
    pub day: CommitteeDay,
    /// The version that was judged; `None`: there must be no such day.
    pub expected: Option<Version>,
    /// The briefs that take the place of all the day's briefs; `None`: they stay.
    pub briefs: Option<Vec<CommitteeBrief>>,
    /// What it says in the log.
    pub act: Act,
}

/// What is known of a day: what is on file of it, or that nothing is.
#[derive(Clone, Debug)]
pub struct KnownDay {
    /// Blank where nothing is on file.
    pub record: Arc<CommitteeDay>,
    /// The version that is on file.
    pub version: Option<Version>,
}

impl KnownDay {
    /// The day `date`, of which this is on file.
    pub fn new(date: Day, on_file: Option<Versioned<CommitteeDay>>) -> Self {
        match on_file {
            Some(Versioned { version, record }) => Self { record, version: Some(version) },
            None => Self { record: Arc::new(CommitteeDay::blank(date)), version: None },
        }
    }

    fn change(&self, day: CommitteeDay, act: DayAct, by: &Actor) -> CommitteeDayChange {
        let act = log::committee_day(act, &day, by);
        CommitteeDayChange { day, expected: self.version, briefs: None, act }
    }
}

/// What the briefs of a day are made of.
#[derive(Clone, Copy, Debug)]
pub struct NewBriefs<'a> {
    /// What they are about.
    pub subject_id: &'a SubjectId,
    /// The last moment at which a take is accepted.
    pub deadline: Timestamp,
    /// What they say: one for each member.
    pub contents: &'a [CommitteeBriefContent],
    /// How many submissions the day has. Where no briefs are there, they are of a day that was
    /// withdrawn.
    pub submissions: usize,
}

/// The day whose briefs are generated now: today, or the day of the latest session while its
/// deadline, which an operator may set to a later day, is not past. So no session is overtaken by
/// another before it is over, as far as is known when this is judged.
pub fn day_to_generate(latest: Option<&CommitteeDay>, now: Timestamp) -> Day {
    latest.filter(|latest| is_current(latest, now)).map_or(now.day(), |latest| latest.date)
}

/// Whether the schedule asks for the briefs of this day now, which has these submissions: it is today
/// and time, the deadline is ahead, and there are none, or only such as an operator had generated
/// before their time. So a server that starts late catches up, and one that comes second does
/// nothing. A deadline that an operator ordered is that of the schedule, too, unless it has passed
/// without a take; of briefs that were generated in their time it always is.
pub fn is_due(
    settings: &CommitteeSettings,
    now: Timestamp,
    day: &CommitteeDay,
    takes: &[Arc<CommitteeTake>],
) -> bool {
    let (begin, end) = (now.at(settings.brief_at()), now.at(settings.deadline()));
    let made = day.generation.as_ref();
    let end = made.filter(|made| !passed_in_vain(made, takes, now)).map_or(end, |it| it.deadline);
    let early = made.is_none_or(|made| made.generated_at < begin);
    day.date == now.day() && (begin..end).contains(&now) && early
}

/// Whether the deadline has passed, and nothing was submitted.
fn passed_in_vain(made: &Generation, takes: &[Arc<CommitteeTake>], now: Timestamp) -> bool {
    now >= made.deadline && standing(made, takes).is_empty()
}

/// How long [`is_due`] will be false, unless what is on file changes before: until the schedule's time
/// of today or tomorrow, or until an earlier day, whose deadline is ahead, makes way for today.
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

/// What the schedule orders, where [`is_due`]: nothing, so that the day keeps what it has; but the
/// deadline of the settings, where its own has passed.
pub fn scheduled(
    settings: &CommitteeSettings,
    now: Timestamp,
    day: &CommitteeDay,
) -> GenerationOrder {
    let passed = day.generation.as_ref().filter(|made| now >= made.deadline);
    let deadline = passed.map(|_| now.at(settings.deadline()));
    GenerationOrder { subject_id: None, deadline }
}

/// Whether anyone reads what is generated. Where no member is active the schedule convenes nothing;
/// an operator may.
pub fn has_readers(members: &[MemberSource]) -> bool {
    !members.is_empty()
}

/// What the takes of a day are about: the subject that is ordered, else the one set for the day,
/// else the one of an earlier generation of it, else the active subjects in turn.
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
        None => in_turn(subjects, now).ok_or(CommitteeRefusal::NoSubject),
    }
}

fn in_turn(subjects: &[Subject], now: Timestamp) -> Option<&Subject> {
    let mut active: Vec<_> = subjects.iter().filter(|it| it.status == "active").collect();
    active.sort_by(|a, b| a.id.cmp(&b.id));
    let turn = now.day_number().checked_rem_euclid(i64::try_from(active.len()).ok()?)?;
    active.get(usize::try_from(turn).ok()?).copied()
}

/// Until when takes are accepted: until the moment that is ordered, else the one of an earlier
/// generation of the day, else the one that the settings give. A session whose deadline has passed
/// stays closed once it has `takes`, all those of the day: they have been shown.
///
/// # Errors
/// [`CommitteeRefusal::WindowClosed`] for a later deadline of such a session.
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

/// Generates the briefs of a day; they take the place of those that are there. A subject that is
/// ordered becomes the one set for the day, and a synthesis stays with the subject it was written
/// about.
pub fn generate(
    order: &GenerationOrder,
    day: &KnownDay,
    made: &NewBriefs<'_>,
    now: Timestamp,
    by: &Actor,
) -> CommitteeDayChange {
    let NewBriefs { subject_id, deadline, contents, submissions } = *made;
    let before = CommitteeDay::clone(&day.record);
    let about_it = before.generation.as_ref().is_some_and(|made| made.subject_id == *subject_id);
    let generation = Generation {
        subject_id: subject_id.clone(),
        withdrawn: before.generation.map_or(submissions, |before| before.withdrawn),
        deadline,
        generated_at: now,
        briefs: contents.len(),
    };
    let generated = CommitteeDay {
        date: before.date,
        subject: order.subject_id.clone().or(before.subject),
        generation: Some(generation),
        synthesis: before.synthesis.filter(|_| about_it),
    };
    let brief = |content| CommitteeBrief::new(content, deadline, now);
    let briefs = Some(contents.iter().map(brief).collect());
    CommitteeDayChange { briefs, ..day.change(generated, DayAct::Generated, by) }
}

/// Withdraws a day that was generated by mistake: it has no briefs and no session any more, as if it
/// had not been; no subject is set for it either. Submissions stay on record, and the log says what
/// was withdrawn.
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
        act: log::committee_day(DayAct::Withdrawn, known, by),
    })
}

/// Sets the subject of a day. Briefs that are there stay until they are generated again.
pub fn set_subject(day: &KnownDay, subject: &SubjectId, by: &Actor) -> CommitteeDayChange {
    let known = CommitteeDay::clone(&day.record);
    let set = CommitteeDay { subject: Some(subject.clone()), ..known };
    day.change(set, DayAct::Subject, by)
}

/// Sets the synthesis of a session, in place of the one that is there.
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
