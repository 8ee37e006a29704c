//! The service: load → judge → commit what was judged. This is what embedders call.

mod attempts;
mod committee;
mod documents;
mod entropy;
mod error;
mod log;
mod members;
mod outbox;
mod sessions;
mod takes;

use std::sync::Arc;

use crate::domain::TenantId;
use crate::store::{Readiness, Store, Tenants};

pub use committee::{CommitteeTenant, Committees, Generated, Receipt};
pub use documents::Written;
#[cfg(feature = "system-entropy")]
pub use entropy::SystemEntropy;
pub use entropy::{Entropy, NoEntropy};
pub use error::{CommitteeError, Error, SubmitError};
pub use log::LogPage;
pub use members::Challenged;
pub use outbox::Mailer;
pub use sessions::SessionPage;

/// All tenants, served by one store.
#[derive(Clone)]
pub struct Swarm {
    tenants: Arc<dyn Tenants>,
    entropy: Arc<dyn Entropy>,
}

impl Swarm {
    /// A service on this store, with this source of randomness.
    pub fn new(tenants: impl Tenants + 'static, entropy: impl Entropy + 'static) -> Self {
        Self { tenants: Arc::new(tenants), entropy: Arc::new(entropy) }
    }

    /// One tenant's world. Cheap, no I/O.
    pub fn tenant(&self, id: &TenantId) -> Tenant {
        Tenant { store: self.tenants.open(id), entropy: Arc::clone(&self.entropy) }
    }

    /// Asks the store for a sign of life, and how far it can be trusted.
    ///
    /// # Errors
    /// [`Error::Store`] when it gives none, or must not be relied on.
    pub async fn ready(&self) -> Result<Readiness, Error> {
        Ok(self.tenants.ready().await?)
    }
}

/// One tenant's world, under the rules: its members, sessions, takes and subjects.
#[derive(Clone)]
pub struct Tenant {
    store: Arc<dyn Store>,
    entropy: Arc<dyn Entropy>,
}
