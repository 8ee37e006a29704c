//! The service of the daily committee (interface B), the API for embedders.

mod generation;
mod members;
mod sessions;
mod takes;

use std::fmt;
use std::sync::Arc;

use super::entropy::Zeros;
use super::observer::TenantObserver;
use super::{CommitteeError, Entropy, Observer};
use crate::domain::committee::CommitteeSettings;
use crate::domain::{Quotas, TenantId, Timestamp};
use crate::store::{self, CommitteeStore, CommitteeTenants};

pub use generation::Generated;
pub use takes::Receipt;

/// The committees of all tenants, served by one store.
#[derive(Clone)]
pub struct Committees {
    tenants: Arc<dyn CommitteeTenants>,
    entropy: Arc<dyn Entropy>,
    observer: Option<Arc<dyn Observer>>,
}

impl Committees {
    /// A service on this store, with this source of randomness.
    pub fn new(tenants: impl CommitteeTenants + 'static, entropy: impl Entropy + 'static) -> Self {
        Self { tenants: Arc::new(tenants), entropy: Arc::new(entropy), observer: None }
    }

    /// Adds an observer, which is called after each commit.
    #[must_use]
    pub fn observed_by(self, observer: impl Observer + 'static) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    /// The committee of one tenant, with its settings. It is cheap and does no I/O.
    pub fn tenant(&self, tenant: &TenantId, settings: CommitteeSettings) -> CommitteeTenant {
        CommitteeTenant {
            store: self.tenants.open_committee(tenant),
            entropy: Arc::clone(&self.entropy),
            settings: Arc::new(settings),
            quotas: Quotas::default(),
            observer: TenantObserver::new(tenant, self.observer.as_ref()),
        }
    }
}

impl fmt::Debug for Committees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observed = self.observer.is_some();
        f.debug_struct("Committees").field("observed", &observed).finish_non_exhaustive()
    }
}

/// The committee of one tenant: its members, days, briefs and takes.
#[derive(Clone)]
pub struct CommitteeTenant {
    store: Arc<dyn CommitteeStore>,
    entropy: Arc<dyn Entropy>,
    settings: Arc<CommitteeSettings>,
    quotas: Quotas,
    observer: TenantObserver,
}

impl fmt::Debug for CommitteeTenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommitteeTenant").field("id", self.id()).finish_non_exhaustive()
    }
}

impl CommitteeTenant {
    /// Sets the quotas.
    #[must_use]
    pub fn with_quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    /// A handle for dry runs of operators' changes: see [`Tenant::dry_run`](crate::Tenant::dry_run).
    #[must_use]
    pub fn dry_run(&self) -> Self {
        Self {
            store: store::dry_run_of_committee(Arc::clone(&self.store)),
            entropy: Arc::new(Zeros),
            observer: self.observer.silent(),
            ..self.clone()
        }
    }

    /// The id of the tenant.
    pub fn id(&self) -> &TenantId {
        self.observer.tenant()
    }

    /// The settings of the committee.
    pub fn settings(&self) -> &CommitteeSettings {
        &self.settings
    }

    /// The time by the store's clock.
    ///
    /// # Errors
    /// [`CommitteeError::Store`].
    pub async fn now(&self) -> Result<Timestamp, CommitteeError> {
        Ok(self.store.now().await?)
    }
}
