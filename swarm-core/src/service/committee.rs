//! The daily committee (interface B): what embedders call.

mod generation;
mod members;
mod sessions;
mod takes;

use std::sync::Arc;

use super::{CommitteeError, Entropy};
use crate::domain::committee::CommitteeSettings;
use crate::domain::{TenantId, Timestamp};
use crate::store::{CommitteeStore, CommitteeTenants};

pub use generation::Generated;
pub use takes::Receipt;

/// The committees of all tenants, served by one store.
#[derive(Clone)]
pub struct Committees {
    tenants: Arc<dyn CommitteeTenants>,
    entropy: Arc<dyn Entropy>,
}

impl Committees {
    /// A service on this store, with this source of randomness.
    pub fn new(tenants: impl CommitteeTenants + 'static, entropy: impl Entropy + 'static) -> Self {
        Self { tenants: Arc::new(tenants), entropy: Arc::new(entropy) }
    }

    /// The committee of one tenant, under its settings. Cheap, no I/O.
    pub fn tenant(&self, tenant: &TenantId, settings: CommitteeSettings) -> CommitteeTenant {
        CommitteeTenant {
            store: self.tenants.open_committee(tenant),
            entropy: Arc::clone(&self.entropy),
            settings: Arc::new(settings),
        }
    }
}

/// The committee of one tenant, under the rules: its members, days, briefs and takes.
#[derive(Clone)]
pub struct CommitteeTenant {
    store: Arc<dyn CommitteeStore>,
    entropy: Arc<dyn Entropy>,
    settings: Arc<CommitteeSettings>,
}

impl CommitteeTenant {
    /// What is set for this committee.
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
