//! The daily committee (interface B): queries, and outcomes.

use std::sync::Arc;

use crate::domain::committee::{CommitteeMemberId, CommitteeTake};
use crate::domain::{Day, SubjectId};

/// A filter for sessions.
#[derive(Clone, Debug, Default)]
pub struct CommitteeSessionQuery {
    /// Only sessions whose latest generation has this subject.
    pub subject: Option<SubjectId>,
    /// Only sessions of earlier days.
    pub before: Option<Day>,
    /// The maximum number of results.
    pub limit: usize,
}

/// A filter for submissions.
#[derive(Clone, Copy, Debug)]
pub enum CommitteeTakesQuery<'a> {
    /// All submissions of these days, in the given order of days, then in the order of commits.
    On(&'a [Day]),
    /// The last submission of the member for each day and subject, by day and then by commit,
    /// latest first.
    Latest {
        /// The member.
        member: &'a CommitteeMemberId,
        /// Only submissions of earlier days.
        before: Day,
        /// The maximum number of results.
        limit: usize,
    },
}

/// The outcome of a filing.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum CommitteeFiled {
    /// The filing is committed: this is the stored record.
    Filed(Arc<CommitteeTake>),
    /// The member or the day has changed since: load and judge again.
    Stale,
    /// The deadline passed before the commit.
    Late,
    /// The member has reached its quota of the day.
    Full,
}
