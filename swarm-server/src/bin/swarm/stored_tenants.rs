//! The tenants that a store holds although they are not served.

use std::collections::BTreeSet;

use swarm_core::TenantId;
use swarm_core::store::Transfer;

use crate::config::Config;
use crate::failure::with_causes;

/// The ids of the tenants that a configuration serves.
pub(crate) struct Served(BTreeSet<String>);

impl Served {
    pub(crate) fn of(config: &Config) -> Self {
        let ids = config.tenants.iter().map(|table| table.id.clone());
        Self(if config.tenants.is_empty() { ["default".to_owned()].into() } else { ids.collect() })
    }

    /// A warning that names the tenants in the store that are not served, if there are any.
    pub(crate) async fn warning(&self, store: &dyn Transfer) -> Option<String> {
        let held = match store.tenants().await {
            Ok(held) => held,
            Err(error) => {
                return Some(with_causes("the tenants of the store are not listed", &error));
            }
        };
        let unserved: Vec<_> =
            held.iter().map(TenantId::as_str).filter(|id| !self.0.contains(*id)).collect();
        let ids = unserved.join(", ");
        let warning = || format!("the store holds tenants that are not served: {ids}");
        (!unserved.is_empty()).then(warning)
    }
}
