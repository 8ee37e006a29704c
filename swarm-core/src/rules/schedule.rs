//! The rules of the schedule: when it convenes a session, and to which state it moves one next (API.md, 7.7).

use std::sync::Arc;

use crate::domain::{
    Member, MemberId, Roster, RosterEntry, Schedule, ScheduleEntry, ScheduledRoster, Session,
    SessionDraft, SessionState, SubjectId, Timestamp,
};

/// The window of an entry on one day. The schedule convenes one session for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledWindow<'a> {
    /// The entry.
    pub entry: &'a ScheduleEntry,
    /// The subject of the session: the one of the entry's subjects that this day is for.
    pub subject_id: &'a SubjectId,
    /// When the window opens.
    pub opens: Timestamp,
    /// The deadline: the last time at which takes are accepted.
    pub closes: Timestamp,
}

impl<'a> ScheduledWindow<'a> {
    /// The window of this entry on the day with this number; `None` if the entry is not for that day of the week.
    ///
    /// An entry with several subjects uses them in turn: on the n-th of its days since 1970-01-01, counted from 0, the
    /// subject at position n modulo their number.
    fn on(entry: &'a ScheduleEntry, day_number: i64) -> Option<Self> {
        if !entry.days.contain(day_number) {
            return None;
        }
        let subjects = i64::try_from(entry.subjects.len()).ok()?;
        let position = entry.days.count_before(day_number).checked_rem_euclid(subjects)?;
        let subject_id = entry.subjects.get(usize::try_from(position).ok()?)?;
        let day = Timestamp::EPOCH.plus_millis(day_number.checked_mul(Timestamp::DAY_MILLIS)?);
        let opens = day.at(entry.opens);
        let closes = opens.plus_millis(entry.window_millis());
        Some(Self { entry, subject_id, opens, closes })
    }

    /// Returns the name by which the commit that convenes the session claims this window, as the
    /// store's [occasion](crate::store::Sessions::convene_once). Names sort by the time of opening.
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
            ..SessionDraft::new(self.opens.day(), self.subject_id.clone())
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
pub fn open_windows(schedule: &Schedule, now: Timestamp) -> Vec<ScheduledWindow<'_>> {
    let mut open: Vec<ScheduledWindow<'_>> = Vec::new();
    for entry in schedule.entries() {
        let first = now.plus_millis(-entry.window_millis()).day_number();
        let windows = (first..=now.day_number()).filter_map(|day| ScheduledWindow::on(entry, day));
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
pub fn next_opening(schedule: &Schedule, now: Timestamp) -> Option<Timestamp> {
    next_windows(schedule, now).map(|window| window.opens).min()
}

/// The next window of each entry.
pub fn next_windows(
    schedule: &Schedule,
    now: Timestamp,
) -> impl Iterator<Item = ScheduledWindow<'_>> {
    let today = now.day_number();
    schedule.entries().iter().filter_map(move |entry| {
        // If today's has opened already, the same day of the next week is the last that can be next.
        let days =
            (today..=today.saturating_add(7)).filter_map(|day| ScheduledWindow::on(entry, day));
        days.into_iter().find(|window| window.opens > now)
    })
}

/// Returns the windows that a session may have been convened for: those of its day and subject, one for each
/// time of opening.
pub fn windows_of<'a>(schedule: &'a Schedule, session: &Session) -> Vec<ScheduledWindow<'a>> {
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

/// Returns the state that the schedule moves a session of this entry to, if it is due: from `window_closed` to
/// `aggregated` once the deadline has passed, and from `aggregated` to `published`.
pub fn next_state(
    entry: &ScheduleEntry,
    session: &Session,
    now: Timestamp,
) -> Option<SessionState> {
    let is_over = session.window_closes_at.is_some_and(|deadline| now > deadline);
    match session.state {
        SessionState::WindowClosed if entry.aggregate && is_over => Some(SessionState::Aggregated),
        SessionState::Aggregated if entry.publish => Some(SessionState::Published),
        _ => None,
    }
}
