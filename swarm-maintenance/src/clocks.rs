//! Detects that the clocks of the store and of this server disagree.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use swarm_core::TenantId;

const PAUSED: &str = "scheduled work is paused: \
                      the clocks of the store and of this server differ by more than an hour";

/// The tenants whose scheduled work is paused, because the clock of their store and that of this server differ by more
/// than an hour.
#[derive(Debug, Default)]
pub struct ClockCheck(Mutex<BTreeSet<TenantId>>);

impl ClockCheck {
    /// The warning for health checks, if there is such a tenant.
    pub fn warning(&self) -> Option<String> {
        (!self.lock().is_empty()).then(|| PAUSED.to_owned())
    }

    /// Records the result of one comparison, and logs it when it begins.
    pub(crate) fn note(&self, tenant: &TenantId, differ: bool) {
        if !differ {
            self.lock().remove(tenant);
        } else if self.lock().insert(tenant.clone()) {
            tracing::error!(%tenant, "{PAUSED}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<TenantId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
