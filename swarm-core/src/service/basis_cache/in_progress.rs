//! The submissions in progress, by member and session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{Day, SubjectId, TenantId, TokenHash};

/// The key of a session: tenant, day and subject.
pub(super) type SessionKey = (TenantId, Day, SubjectId);

/// The key of submissions that may race with each other: the member's token, and the session.
type Race = (TokenHash, SessionKey);

#[derive(Clone, Default)]
pub(super) struct SubmitsInProgress(Arc<Mutex<HashMap<Race, Submits>>>);

/// The submissions of one key, since the last time that none was in progress.
#[derive(Default)]
struct Submits {
    count: usize,
    /// The number of those that were filed.
    filed: u64,
}

/// A guard for a submission in progress.
pub(in crate::service) struct SubmitInProgress {
    all: SubmitsInProgress,
    race: Race,
    /// The number of submissions that were filed before it began.
    filed_before: u64,
}

impl SubmitsInProgress {
    pub(super) fn begin(self, race: Race) -> SubmitInProgress {
        let mut all = self.lock();
        let submits = all.entry(race.clone()).or_default();
        submits.count += 1;
        let filed_before = submits.filed;
        drop(all);
        SubmitInProgress { all: self, race, filed_before }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Race, Submits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubmitInProgress {
    /// Records that this submission was filed.
    pub(in crate::service) fn note_filed(&self) {
        if let Some(submits) = self.all.lock().get_mut(&self.race) {
            submits.filed += 1;
        }
    }

    /// Whether another submission of the member in this session was filed since this one began.
    pub(in crate::service) fn another_was_filed(&self) -> bool {
        self.all.lock().get(&self.race).is_some_and(|submits| submits.filed > self.filed_before)
    }
}

impl Drop for SubmitInProgress {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(submits) = all.get_mut(&self.race) {
            submits.count -= 1;
            if submits.count == 0 {
                all.remove(&self.race);
            }
        }
    }
}
