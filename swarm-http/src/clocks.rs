//! The clocks of the store and of this server, where they differ too much.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use swarm_core::TenantId;

const STANDS_STILL: &str = "the schedule stands still: \
                            the clocks of the store and of this server differ by more than an hour";

/// The tenants whose schedule stands still.
#[derive(Debug, Default)]
pub(crate) struct DifferingClocks(Mutex<BTreeSet<TenantId>>);

impl DifferingClocks {
    /// What `/readyz` warns of, if there is such a tenant.
    pub(crate) fn warning(&self) -> Option<String> {
        (!self.lock().is_empty()).then(|| STANDS_STILL.to_owned())
    }

    /// Logs a change, not every round.
    pub(crate) fn note(&self, tenant: &TenantId, differ: bool) {
        if !differ {
            self.lock().remove(tenant);
        } else if self.lock().insert(tenant.clone()) {
            tracing::error!(%tenant, "{STANDS_STILL}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<TenantId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
