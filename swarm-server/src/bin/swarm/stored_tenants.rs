//! The tenants that a store holds although they are not served.

use std::collections::BTreeSet;
use std::path::PathBuf;

use swarm_core::TenantId;
use swarm_core::store::Transfer;
use swarm_store_sqlite::SqliteStore;
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::config::Config;

/// The ids of the tenants that a configuration serves.
pub(crate) struct Served(BTreeSet<String>);

impl Served {
    pub(crate) fn of(config: &Config) -> Self {
        let ids = config.tenants.iter().map(|table| table.id.clone());
        Self(if config.tenants.is_empty() { ["default".to_owned()].into() } else { ids.collect() })
    }

    /// A warning that names the tenants in the store that are not served, if there are any.
    pub(crate) async fn warning(&self, store: &str) -> Result<Option<String>, Failure> {
        let held = held(store).await?;
        let unserved: Vec<_> =
            held.iter().map(TenantId::as_str).filter(|id| !self.0.contains(*id)).collect();
        let ids = unserved.join(", ");
        let warning = || format!("the store holds tenants that are not served: {ids}");
        Ok((!unserved.is_empty()).then(warning))
    }
}

/// The tenants that a store holds. Those of a store without [`Transfer`] are not known.
async fn held(store: &str) -> Result<Vec<TenantId>, Failure> {
    let Some(path) = store.strip_prefix("sqlite:").map(PathBuf::from) else { return Ok(vec![]) };
    let store = spawn_blocking(|| SqliteStore::open(path)).await??;
    Ok(store.tenants().await?)
}
