//! The rules of the schedule: which sessions it convenes when, and what becomes of them (API.md, 7.7).

use std::sync::Arc;

use crate::domain::{
    Member, MemberId, Roster, RosterEntry, Schedule, ScheduleEntry, ScheduledRoster, Session,
    SessionDraft, SessionState, SubjectId, Timestamp,
};

/// A window of an entry of the schedule, on one day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occasion<'a> {
    /// The entry.
    pub entry: &'a ScheduleEntry,
    /// The subject whose turn it is.
    pub subject_id: &'a SubjectId,
    /// When the window opens.
    pub opens: Timestamp,
    /// The last time at which takes are accepted.
    pub closes: Timestamp,
}

impl<'a> Occasion<'a> {
    /// The occasion of this entry on the day with this number; `None` when it is not among the days of
    /// the entry.
    ///
    /// The subjects take turns over the days of the entry: the n-th of these days since 1970-01-01,
    /// counted from 0, has the subject at position n modulo their number.
    fn on(entry: &'a ScheduleEntry, day_number: i64) -> Option<Self> {
        if !entry.days.contain(day_number) {
            return None;
        }
        let subjects = i64::try_from(entry.subjects.len()).ok()?;
        let turn = entry.days.count_before(day_number).checked_rem_euclid(subjects)?;
        let subject_id = entry.subjects.get(usize::try_from(turn).ok()?)?;
        let day = Timestamp::EPOCH.plus_millis(day_number.checked_mul(Timestamp::DAY_MILLIS)?);
        let opens = day.at(entry.opens);
        let closes = opens.plus_millis(entry.window_millis());
        Some(Self { entry, subject_id, opens, closes })
    }

    /// The name by which the commit that convenes its session claims it. It contains the day, the time
    /// of opening and the subject, and nothing else of the entry: every other key may be edited, and
    /// entries moved, without a second session that day.
    pub fn name(&self) -> String {
        format!("{} {}", self.opens, self.subject_id)
    }

    /// The session to convene. `active` are the members that are active now.
    pub fn draft(&self, active: &[Arc<Member>]) -> SessionDraft {
        SessionDraft {
            date: self.opens.day(),
            subject_id: self.subject_id.clone(),
            state: SessionState::Collecting,
            window_closes_at: Some(self.closes),
            quorum: self.entry.quorum,
            buckets: self.entry.buckets.clone(),
            roster: self.entry.roster.as_ref().and_then(|roster| match roster {
                ScheduledRoster::Active => expected(active.iter().map(|member| &member.id)),
                ScheduledRoster::Members(ids) => expected(ids.iter()),
            }),
        }
    }
}

/// A roster of these members; their ids are distinct.
fn expected<'a>(ids: impl Iterator<Item = &'a MemberId>) -> Option<Roster> {
    let mut ids: Vec<_> = ids.cloned().collect();
    ids.sort_unstable();
    let entry = |member_id| RosterEntry { member_id, excused: false };
    Roster::parse(ids.into_iter().map(entry).collect()).ok()
}

/// The occasions whose window is open now. A session is convened for each, unless one was; also for
/// those of earlier days, whose windows opened while no server ran.
pub fn open_occasions(schedule: &Schedule, now: Timestamp) -> Vec<Occasion<'_>> {
    let mut open: Vec<Occasion<'_>> = Vec::new();
    for entry in schedule.entries() {
        let first = now.plus_millis(-entry.window_millis()).day_number();
        let occasions = (first..=now.day_number()).filter_map(|day| Occasion::on(entry, day));
        for occasion in occasions.filter(|it| (it.opens..=it.closes).contains(&now)) {
            // Of two entries whose turns meet, the first counts.
            let is_same = |it: &Occasion<'_>| {
                (it.opens, it.subject_id) == (occasion.opens, occasion.subject_id)
            };
            if !open.iter().any(is_same) {
                open.push(occasion);
            }
        }
    }
    open
}

/// When the next window opens.
pub fn next_opening(schedule: &Schedule, now: Timestamp) -> Option<Timestamp> {
    let today = now.day_number();
    let next = |entry| {
        // Today's may have opened, and then comes the same day of the next week at the latest.
        let days = (today..=today.saturating_add(7)).filter_map(|day| Occasion::on(entry, day));
        days.map(|occasion| occasion.opens).find(|opens| *opens > now)
    };
    schedule.entries().iter().filter_map(next).min()
}

/// The occasions that the session may have been convened for: one for each time of opening.
pub fn occasions_of<'a>(schedule: &'a Schedule, session: &Session) -> Vec<Occasion<'a>> {
    let Some(day) = session.date.begin().map(Timestamp::day_number) else { return Vec::new() };
    let mut found: Vec<Occasion<'a>> = Vec::new();
    for occasion in schedule.entries().iter().filter_map(|entry| Occasion::on(entry, day)) {
        let is_new = found.iter().all(|it| it.opens != occasion.opens);
        if is_new && *occasion.subject_id == session.subject_id {
            found.push(occasion);
        }
    }
    found
}

/// The state that the schedule moves a session of this entry to: aggregated when its window has closed and
/// no more takes may come, published when it is aggregated.
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
