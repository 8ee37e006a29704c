//! Tenants that may not commit, because the store's clock is behind their logs.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::{Result, StoreErrorKind};
use crate::domain::{TenantId, Timestamp};

/// The tenants whose commits met a clock that is too far behind their logs. A store keeps this for
/// [`ready`](super::Tenants::ready), which names the cause (contract, section 10).
#[derive(Debug, Default)]
pub struct HaltedTenants(Mutex<BTreeSet<TenantId>>);

impl HaltedTenants {
    /// Passes on the outcome of a commit, and remembers its tenant where the outcome is
    /// [`StoreErrorKind::ClockBehind`].
    pub fn note<T>(&self, tenant: &TenantId, outcome: Result<T>) -> Result<T> {
        if outcome.as_ref().is_err_and(|error| error.kind() == StoreErrorKind::ClockBehind) {
            self.edit(|tenants| tenants.insert(tenant.clone()));
        }
        outcome
    }

    /// Asks for the commit time of each tenant that is remembered, and removes it when there is
    /// one.
    ///
    /// # Errors
    /// What the first one ends with that has none.
    pub async fn check<F>(&self, time_of_commit: impl Fn(TenantId) -> F) -> Result<()>
    where
        F: Future<Output = Result<Timestamp>>,
    {
        for tenant in self.edit(|tenants| tenants.clone()) {
            time_of_commit(tenant.clone()).await?;
            self.edit(|tenants| tenants.remove(&tenant));
        }
        Ok(())
    }

    fn edit<T>(&self, edit: impl FnOnce(&mut BTreeSet<TenantId>) -> T) -> T {
        edit(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
