//! Which revision of a member's takes counts.

use std::collections::HashMap;
use std::sync::Arc;

use super::PublicTake;
use crate::domain::{MemberId, Revision, StoredTake, Take, TakeId};

/// Returns the highest revision of each member, in the order of filing (API.md, 5.4).
pub fn resolve<T: Revised + Clone>(takes: &[T]) -> Vec<T> {
    let mut by_revision: Vec<_> = takes.iter().collect();
    by_revision.sort_unstable_by_key(|take| take.revision());
    // Later entries replace earlier ones, so the highest revision remains.
    let latest: HashMap<&MemberId, &T> =
        by_revision.into_iter().map(|take| (take.author(), take)).collect();
    let mut resolved: Vec<_> = latest.into_values().cloned().collect();
    resolved.sort_unstable_by_key(|take| take.id());
    resolved
}

/// A take, complete or in its public form.
pub trait Revised {
    /// The author.
    fn author(&self) -> &MemberId;

    /// The id of the take.
    fn id(&self) -> TakeId;

    /// The number of the take among the author's takes in the session.
    fn revision(&self) -> Revision;
}

impl Revised for Arc<Take> {
    fn author(&self) -> &MemberId {
        &self.draft().member_id
    }

    fn id(&self) -> TakeId {
        self.id
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}

impl Revised for StoredTake {
    fn author(&self) -> &MemberId {
        self.member_id()
    }

    fn id(&self) -> TakeId {
        Self::id(self)
    }

    fn revision(&self) -> Revision {
        Self::revision(self)
    }
}

impl Revised for PublicTake {
    fn author(&self) -> &MemberId {
        self.member_id()
    }

    fn id(&self) -> TakeId {
        Self::id(self)
    }

    fn revision(&self) -> Revision {
        Self::revision(self)
    }
}
