//! How much a tenant takes in (contract, sections 3 and 7).

use std::fmt;

use crate::domain::{TimeOfDay, Timestamp};

/// In how many seconds an operator may have looked at an application.
const REVIEW_SECONDS: u32 = 60 * 60;

/// A quota that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaReached {
    /// Which.
    pub quota: Quota,
    /// In how many seconds there may be room again, 1 to 86,400.
    pub retry_after: u32,
}

impl QuotaReached {
    /// As many applications are waiting as the quota allows.
    pub fn pending() -> Self {
        Self { quota: Quota::PendingApplications, retry_after: REVIEW_SECONDS }
    }

    /// A member has used up its quota for the current UTC day.
    pub fn today(quota: Quota, now: Timestamp) -> Self {
        let into_day = now.millis() - day_began(now).millis();
        let seconds = u32::try_from(into_day / 1_000).unwrap_or_default();
        Self { quota, retry_after: 24 * 60 * 60 - seconds }
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

/// How many documents of a group may have come since a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentQuota {
    /// So many, the one to write included.
    pub most: u32,
    /// Counted are those made at this moment by the store's clock, or later.
    pub since: Timestamp,
}

impl DocumentQuota {
    /// So many in the UTC day that it is.
    pub fn today(most: u32, now: Timestamp) -> Self {
        Self { most, since: day_began(now) }
    }
}

fn day_began(now: Timestamp) -> Timestamp {
    now.at(TimeOfDay::from_minutes(0))
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
            let since = DocumentQuota::today(1, now).since.to_string();
            assert_eq!(since, "2026-11-21T00:00:00.000Z");
        }
    }
}
