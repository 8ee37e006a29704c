//! How much a tenant takes in (API.md, 5.7).

use std::fmt;

use crate::domain::Timestamp;

/// In how many seconds an operator may have looked at an application.
const REVIEW_SECONDS: u32 = 60 * 60;

/// A quota that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaReached {
    /// Which.
    pub quota: Quota,
    /// In how many seconds there may be room again: 1 to 86,400, or more where a session's deadline is
    /// farther away.
    pub retry_after: u32,
}

impl QuotaReached {
    /// As many applications are waiting as the quota allows.
    pub fn pending() -> Self {
        Self { quota: Quota::PendingApplications, retry_after: REVIEW_SECONDS }
    }

    /// A member has used up its quota for the current UTC day.
    pub fn today(quota: Quota, now: Timestamp) -> Self {
        Self::until(quota, now, now.day_end())
    }

    /// A member has used up its quota for a session, whose day may not be over with the UTC day.
    pub fn session(quota: Quota, now: Timestamp, deadline: Timestamp) -> Self {
        Self::until(quota, now, now.day_end().max(deadline))
    }

    fn until(quota: Quota, now: Timestamp, moment: Timestamp) -> Self {
        let seconds = now.until(moment).as_millis().div_ceil(1_000);
        Self { quota, retry_after: u32::try_from(seconds).unwrap_or(u32::MAX) }
    }
}

/// What is limited. `Display` describes it in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quota {
    /// Applications that wait for an operator.
    PendingApplications,
    /// Memos of one member, a UTC day.
    MemosPerDay,
    /// Submissions of one committee member, a day.
    CommitteeSubmissionsPerDay,
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PendingApplications => "applications that wait for an operator",
            Self::MemosPerDay => "memos of a member and day",
            Self::CommitteeSubmissionsPerDay => "submissions of a member and day",
        })
    }
}

/// How many documents of a group may come in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentQuota {
    /// So many, the one to write included.
    pub most: u32,
    /// Counted are those made at this moment by the store's clock, or later,
    pub since: Timestamp,
    /// but before this one: later ones are of a clock that was wrong.
    pub until: Timestamp,
}

impl DocumentQuota {
    /// So many in the UTC day that it is.
    pub fn today(most: u32, now: Timestamp) -> Self {
        Self { most, since: now.day_begin(), until: now.day_end() }
    }

    /// Whether a document counts that was made at this moment.
    pub fn counts(&self, made: Timestamp) -> bool {
        (self.since..self.until).contains(&made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_tomorrow() {
        for (time, seconds) in
            [("00:00:00.000", 86_400), ("00:00:00.999", 86_400), ("23:59:59.999", 1)]
        {
            let now = Timestamp::parse("now", &format!("2026-11-21T{time}Z")).unwrap();
            assert_eq!(QuotaReached::today(Quota::MemosPerDay, now).retry_after, seconds);
            let DocumentQuota { since, until, .. } = DocumentQuota::today(1, now);
            let day = [since, until].map(|moment| moment.to_string());
            assert_eq!(day, ["2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z"]);
        }
    }

    #[test]
    fn in_a_session_there_is_room_again_once_it_is_over_and_the_day_too() {
        let now = Timestamp::parse("now", "2026-11-21T22:00:00Z").unwrap();
        let hour = 60 * 60;
        for (deadline, hours) in [(-1, 2), (1, 2), (2, 2), (48, 48)] {
            let deadline = now.plus_millis(deadline * hour * 1_000);
            let reached = QuotaReached::session(Quota::CommitteeSubmissionsPerDay, now, deadline);
            assert_eq!(i64::from(reached.retry_after), hours * hour, "{deadline}");
        }
    }
}
