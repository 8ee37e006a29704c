//! Quotas of a tenant, and the errors when they are reached (API.md, 5.7).

use std::fmt;

use crate::domain::Timestamp;

/// `Retry-After` when only an operator can make room, in seconds.
const OPERATOR_RETRY_SECONDS: u32 = 60 * 60;

/// The error of a quota that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaReached {
    /// The quota.
    pub quota: Quota,
    /// The seconds after which a retry may succeed: 1 to 86,400, or until the deadline of a session
    /// if that is later.
    pub retry_after: u32,
}

impl QuotaReached {
    /// A quota is reached that stays reached until an operator makes room.
    pub fn until_changed(quota: Quota) -> Self {
        Self { quota, retry_after: OPERATOR_RETRY_SECONDS }
    }

    /// A quota for the current UTC day is reached.
    pub fn today(quota: Quota, now: Timestamp) -> Self {
        Self::until(quota, now, now.day_end())
    }

    /// A member has reached its quota for a session, which may last beyond the UTC day.
    pub fn session(quota: Quota, now: Timestamp, deadline: Timestamp) -> Self {
        Self::until(quota, now, now.day_end().max(deadline))
    }

    fn until(quota: Quota, now: Timestamp, moment: Timestamp) -> Self {
        let seconds = now.until(moment).as_millis().div_ceil(1_000);
        Self { quota, retry_after: u32::try_from(seconds).unwrap_or(u32::MAX) }
    }
}

/// The kinds of quota. `Display` describes what is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quota {
    /// Applications that await review.
    PendingApplications,
    /// Applications of one client address per UTC day.
    ApplicationsPerAddress,
    /// Memos of one member per UTC day.
    MemosPerDay,
    /// Subjects.
    Subjects,
    /// Research signals created per UTC day.
    SignalsPerDay,
    /// Bytes of subjects, subject snapshots and research signals.
    DocumentsBytes,
    /// Submissions of one committee member per day.
    CommitteeSubmissionsPerDay,
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PendingApplications => "applications that wait for an operator",
            Self::ApplicationsPerAddress => "applications from an address and day",
            Self::MemosPerDay => "memos of a member and day",
            Self::Subjects => "subjects",
            Self::SignalsPerDay => "signals of a day",
            Self::DocumentsBytes => "bytes of subjects, snapshots and signals",
            Self::CommitteeSubmissionsPerDay => "submissions of a member and day",
        })
    }
}

/// A guard: how many documents there may be after a write, and how large they may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentQuota {
    /// The maximum number, which a replacement does not change.
    pub count: Option<DocumentCount>,
    /// The maximum size of the texts of all documents in the collections whose size is limited, in
    /// bytes. A replacement that is no longer than the text before it is never refused.
    pub bytes: Option<u64>,
}

/// A maximum number of documents that were created in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentCount {
    /// The documents that are counted.
    pub of: CountedDocuments,
    /// The maximum, including the document to be written.
    pub most: u32,
    /// The start of the period, by the store's clock.
    pub since: Timestamp,
    /// The end of the period, exclusive. A later document is from a time when the clock was wrong.
    pub until: Timestamp,
}

/// Which documents are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedDocuments {
    /// The documents of the same group.
    Group,
    /// The documents of the same collection.
    Collection,
}

impl DocumentQuota {
    /// At most `most` documents created in the current UTC day.
    pub fn today(of: CountedDocuments, most: u32, now: Timestamp) -> Self {
        let (since, until) = (now.day_begin(), now.day_end());
        Self { count: Some(DocumentCount { of, most, since, until }), bytes: None }
    }

    /// At most `most` documents in the collection.
    pub fn of_collection(most: u32) -> Self {
        let (since, until) = (Timestamp::EPOCH, Timestamp::EPOCH.plus_millis(i64::MAX));
        let of = CountedDocuments::Collection;
        Self { count: Some(DocumentCount { of, most, since, until }), bytes: None }
    }

    /// Sets the maximum size.
    #[must_use]
    pub fn with_max_bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }
}

impl DocumentCount {
    /// Returns whether a document that was created at this time counts.
    pub fn counts(&self, made: Timestamp) -> bool {
        (self.since..self.until).contains(&made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daily_quota_ends_with_the_utc_day() {
        for (time, seconds) in
            [("00:00:00.000", 86_400), ("00:00:00.999", 86_400), ("23:59:59.999", 1)]
        {
            let now = Timestamp::parse("now", &format!("2026-11-21T{time}Z")).unwrap();
            assert_eq!(QuotaReached::today(Quota::MemosPerDay, now).retry_after, seconds);
            let today = DocumentQuota::today(CountedDocuments::Group, 1, now).count.unwrap();
            let DocumentCount { since, until, .. } = today;
            let day = [since, until].map(|moment| moment.to_string());
            assert_eq!(day, ["2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z"]);
        }
    }

    #[test]
    fn session_quota_ends_with_the_later_of_deadline_and_utc_day() {
        let now = Timestamp::parse("now", "2026-11-21T22:00:00Z").unwrap();
        let hour = 60 * 60;
        for (deadline, hours) in [(-1, 2), (1, 2), (2, 2), (48, 48)] {
            let deadline = now.plus_millis(deadline * hour * 1_000);
            let reached = QuotaReached::session(Quota::CommitteeSubmissionsPerDay, now, deadline);
            assert_eq!(i64::from(reached.retry_after), hours * hour, "{deadline}");
        }
    }
}
