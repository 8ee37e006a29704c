//! The submits that are under way, by member and session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{Day, SubjectId, TenantId, TokenHash};

/// The session of a tenant on a day and about a subject.
pub(super) type SessionKey = (TenantId, Day, SubjectId);

/// What the submits have in common that race with each other: the member, by its token, and the session.
type Race = (TokenHash, SessionKey);

#[derive(Clone, Default)]
pub(super) struct SubmitsUnderWay(Arc<Mutex<HashMap<Race, Submits>>>);

/// Those of one race, since there was none under way.
#[derive(Default)]
struct Submits {
    count: usize,
    /// How many of them were filed.
    filed: u64,
}

/// A submit that is under way until this is dropped.
pub(in crate::service) struct UnderWay {
    all: SubmitsUnderWay,
    race: Race,
    /// How many were filed before it began.
    filed_before: u64,
}

impl SubmitsUnderWay {
    pub(super) fn begin(self, race: Race) -> UnderWay {
        let mut all = self.lock();
        let submits = all.entry(race.clone()).or_default();
        submits.count += 1;
        let filed_before = submits.filed;
        drop(all);
        UnderWay { all: self, race, filed_before }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Race, Submits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// It was filed.
    pub(in crate::service) fn note_filed(&self) {
        if let Some(submits) = self.all.lock().get_mut(&self.race) {
            submits.filed += 1;
        }
    }

    /// Whether another one of the member in this session was filed since this one began.
    pub(in crate::service) fn another_was_filed(&self) -> bool {
        self.all.lock().get(&self.race).is_some_and(|submits| submits.filed > self.filed_before)
    }
}

impl Drop for UnderWay {
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
