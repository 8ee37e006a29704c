//! The rules of the schedule: when it convenes a session, and to which state it moves one next (API.md, 7.7).

use std::sync::Arc;

use crate::domain::{
    Closes, Day, Member, MemberId, Question, Roster, RosterEntry, Schedule, ScheduleEntry,
    ScheduledRoster, Session, SessionDraft, SessionState, SubjectId, Timestamp,
};

/// The window of an entry on one day. The schedule convenes one session for each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScheduledWindow<'a> {
    /// The entry.
    pub entry: &'a ScheduleEntry,
    /// The subject of the session: the one of the entry's subjects that this day is for.
    pub subject_id: &'a SubjectId,
    /// The day of the window, in the time zone of the entry.
    pub day: Day,
    /// When the window opens.
    pub opens: Timestamp,
    /// The deadline: the last time at which takes are accepted.
    pub closes: Timestamp,
}

impl<'a> ScheduledWindow<'a> {
    /// The window of this entry on the local day with this number; `None` if the entry is not for that day of the week,
    /// skips it, or the day does not exist.
    ///
    /// An entry with several subjects uses them in turn: on the n-th of its days since 1970-01-01, counted from 0, the
    /// subject at position n modulo their number. Days that it skips count too, so that skipping a day changes no other.
    fn on(entry: &'a ScheduleEntry, day_number: i64) -> Option<Self> {
        let zone = entry.timezone;
        if !entry.days.contain(day_number) || !zone.has_day(day_number) {
            return None;
        }
        let millis = day_number.checked_mul(Timestamp::DAY_MILLIS)?;
        let day = Timestamp::from_millis(millis)?.day();
        if entry.skip.contains(&day) {
            return None;
        }
        let subjects = i64::try_from(entry.subjects.len()).ok()?;
        let position = entry.days.count_before(day_number).checked_rem_euclid(subjects)?;
        let subject_id = entry.subjects.get(usize::try_from(position).ok()?)?;
        let opens = zone.at(day_number, entry.opens)?;
        let closes = match entry.closes {
            Closes::After(millis) => opens.plus_millis(millis),
            Closes::At(time) => (day_number..=day_number.saturating_add(2))
                .filter_map(|day_number| zone.at(day_number, time))
                .find(|closes| *closes > opens)?,
        };
        Some(Self { entry, subject_id, day, opens, closes })
    }

    /// Returns the name by which the commit that convenes the session claims this window, as the
    /// store's occasion. Names sort by the time of opening.
    ///
    /// It is made of the time of opening and the subject only, so that changing anything else of an entry, or the
    /// order of entries, convenes no second session that day.
    pub fn name(&self) -> String {
        format!("{} {}", self.opens, self.subject_id)
    }

    /// Returns the session to convene. `active` are the members that are active now.
    pub fn draft(&self, active: &[Arc<Member>]) -> SessionDraft {
        SessionDraft {
            window_closes_at: Some(self.closes),
            quorum: self.entry.quorum,
            buckets: self.entry.buckets.clone(),
            roster: self.entry.roster.as_ref().and_then(|roster| match roster {
                ScheduledRoster::Active => expected(active.iter().map(|member| &member.id)),
                ScheduledRoster::Members(ids) => expected(ids.iter()),
            }),
            blind: self.entry.blind,
            practice: self.entry.practice,
            question: Question {
                text: self.entry.question.clone(),
                resolution: self.entry.resolution.clone(),
                resolves_at: self
                    .entry
                    .resolves_after
                    .map(|millis| self.closes.plus_millis(millis)),
            },
            declaration: self.entry.declaration.clone(),
            ..SessionDraft::new(self.day, self.subject_id.clone())
        }
    }
}

/// A roster that expects these members. Their ids are distinct.
fn expected<'a>(ids: impl Iterator<Item = &'a MemberId>) -> Option<Roster> {
    let mut ids: Vec<_> = ids.cloned().collect();
    ids.sort_unstable();
    let entry = |member_id| RosterEntry { member_id, excused: false };
    Roster::parse(ids.into_iter().map(entry).collect()).ok()
}

/// The windows that are open now, including those that opened on earlier days or while no server ran.
pub(crate) fn open_windows(schedule: &Schedule, now: Timestamp) -> Vec<ScheduledWindow<'_>> {
    let mut open: Vec<ScheduledWindow<'_>> = Vec::new();
    for entry in schedule.entries() {
        let longest = match entry.closes {
            Closes::After(millis) => millis,
            Closes::At(_) => 2 * Timestamp::DAY_MILLIS,
        };
        let [first, today] =
            [now.plus_millis(-longest), now].map(|time| entry.timezone.day_number(time));
        // A time that summer time leaves out may be the first of the next day.
        let days = first.saturating_sub(1)..=today;
        let windows = days.filter_map(|day| ScheduledWindow::on(entry, day));
        for window in windows.filter(|it| (it.opens..=it.closes).contains(&now)) {
            // If two entries open at the same time with the same subject, the first one counts.
            let is_same = |it: &ScheduledWindow<'_>| {
                (it.opens, it.subject_id) == (window.opens, window.subject_id)
            };
            if !open.iter().any(is_same) {
                open.push(window);
            }
        }
    }
    open
}

/// When the next window opens.
pub(crate) fn next_opening(schedule: &Schedule, now: Timestamp) -> Option<Timestamp> {
    let next = |entry| next_windows(entry, now).next();
    schedule.entries().iter().filter_map(next).map(|window| window.opens).min()
}

/// The next windows of an entry, at least three unless time ends.
pub fn next_windows(
    entry: &ScheduleEntry,
    now: Timestamp,
) -> impl Iterator<Item = ScheduledWindow<'_>> {
    let yesterday = entry.timezone.day_number(now).saturating_sub(1);
    // Each of its weekdays that is skipped makes the search a week longer at most.
    let weeks = i64::try_from(entry.skip.len()).unwrap_or(i64::MAX).saturating_add(5);
    let days = yesterday..=yesterday.saturating_add(weeks.saturating_mul(7));
    let windows = days.filter_map(|day| ScheduledWindow::on(entry, day));
    windows.filter(move |window| window.opens > now)
}

/// Returns the windows that a session may have been convened for: those of its day and subject, one for each
/// time of opening.
pub(crate) fn windows_of<'a>(
    schedule: &'a Schedule,
    session: &Session,
) -> Vec<ScheduledWindow<'a>> {
    let Some(day) = session.date.begin().map(Timestamp::day_number) else { return Vec::new() };
    let mut found: Vec<ScheduledWindow<'a>> = Vec::new();
    for window in schedule.entries().iter().filter_map(|entry| ScheduledWindow::on(entry, day)) {
        let is_new = found.iter().all(|it| it.opens != window.opens);
        if is_new && *window.subject_id == session.subject_id {
            found.push(window);
        }
    }
    found
}

/// What the server does with a session once its window has closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Whether the server aggregates the session.
    pub aggregate: bool,
    /// Whether the server publishes the session once it is aggregated.
    pub publish: bool,
}

impl Steps {
    /// Returns whether the server does any of it.
    pub fn is_any(self) -> bool {
        self.aggregate || self.publish
    }
}

/// Returns what the server does with a session: both steps if it [finishes](Session::finish) it, else those of the entry for
/// which it was convened. Nothing once it was voided.
pub(crate) fn steps(session: &Session, entry: Option<&ScheduleEntry>) -> Steps {
    match entry {
        _ if session.voided.is_some() => Steps::default(),
        _ if session.finish => Steps { aggregate: true, publish: true },
        Some(entry) => Steps { aggregate: entry.aggregate, publish: entry.publish },
        None => Steps::default(),
    }
}

/// Returns the state that the server moves a session with these steps to, if it is due: from `window_closed` to
/// `aggregated` once the deadline has passed, and from `aggregated` to `published`.
pub(crate) fn next_state(steps: Steps, session: &Session, now: Timestamp) -> Option<SessionState> {
    let is_over = session.window_closes_at.is_some_and(|deadline| now > deadline);
    match session.state {
        SessionState::WindowClosed if steps.aggregate && is_over => Some(SessionState::Aggregated),
        SessionState::Aggregated if steps.publish => Some(SessionState::Published),
        _ => None,
    }
}
