//! Members: queries, and outcomes.

use std::sync::Arc;

use crate::domain::{Member, MemberId, MemberState};

/// A filter for members.
#[derive(Clone, Debug)]
pub struct MemberQuery {
    /// Only members in these states. Each state is listed once.
    pub states: Vec<MemberState>,
    /// Only members with one of these ids. Each id is listed once.
    pub ids: Option<Vec<MemberId>>,
    /// Only members with a higher id, in the order of the UTF-8 bytes.
    pub after: Option<MemberId>,
    /// The maximum number of results.
    pub limit: usize,
}

impl MemberQuery {
    /// All members in these states.
    pub fn in_states(states: &[MemberState]) -> Self {
        Self { states: states.to_vec(), ids: None, after: None, limit: usize::MAX }
    }

    /// Returns the members that match, of these: those with the [`ids`](Self::ids) of the query, in
    /// any order.
    pub fn select(&self, mut members: Vec<Arc<Member>>) -> Vec<Arc<Member>> {
        members.retain(|member| {
            self.states.contains(&member.state)
                && self.after.as_ref().is_none_or(|after| member.id > *after)
        });
        members.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        members.truncate(self.limit);
        members
    }
}

/// The outcome of a write of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum MemberSaved {
    /// The change is committed.
    Saved,
    /// The facts have changed since they were judged: load and judge again.
    Stale,
    /// This other member holds the key.
    KeyHeld(MemberId),
    /// The quota of members in its state is reached.
    Full,
}
