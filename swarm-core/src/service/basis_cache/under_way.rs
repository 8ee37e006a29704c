//! The submits that are under way, by member.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{TenantId, TokenHash};

/// A member of a tenant, by its token.
pub(super) type MemberKey = (TenantId, TokenHash);

#[derive(Clone, Default)]
pub(super) struct SubmitsUnderWay(Arc<Mutex<HashMap<MemberKey, Submits>>>);

/// Those of one member, since it had none.
#[derive(Default)]
struct Submits {
    count: usize,
    /// Whether there have been two at once.
    met: bool,
}

/// A submit that is under way until this is dropped.
pub(in crate::service) struct UnderWay {
    all: SubmitsUnderWay,
    member: MemberKey,
}

impl SubmitsUnderWay {
    pub(super) fn begin(self, member: MemberKey) -> UnderWay {
        let mut all = self.lock();
        let submits = all.entry(member.clone()).or_default();
        submits.count += 1;
        submits.met |= submits.count > 1;
        drop(all);
        UnderWay { all: self, member }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MemberKey, Submits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// Whether another submit of the same member was under way at the same time, or may have been.
    pub(in crate::service) fn met_another(&self) -> bool {
        self.all.lock().get(&self.member).is_some_and(|submits| submits.met)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(of_member) = all.get_mut(&self.member) {
            of_member.count -= 1;
            if of_member.count == 0 {
                all.remove(&self.member);
            }
        }
    }
}
