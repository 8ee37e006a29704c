//! A tenant directory by host (API.md, 2.1).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use swarm_core::TenantId;

use super::{TenantConfig, TenantDirectory, TenantRequest};

/// Two tenants have the same host or id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DuplicateTenant {
    /// Two tenants have this host.
    #[error("duplicate host {0:?}")]
    Host(String),
    /// Two tenants have this id: the same records would be served to the operators of both.
    #[error("duplicate tenant {:?}", .0.as_str())]
    Id(TenantId),
}

/// Tenants by host. Clones share one table, so that a clone can add and remove tenants while the site
/// serves.
#[derive(Clone, Debug, Default)]
pub struct HostTable(Arc<RwLock<Tenants>>);

#[derive(Debug, Default)]
struct Tenants {
    by_id: HashMap<TenantId, Arc<TenantConfig>>,
    /// By host, in lower case.
    by_host: HashMap<String, Arc<TenantConfig>>,
}

impl HostTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tenant, or replaces the one with the same id.
    ///
    /// # Errors
    /// [`DuplicateTenant`] if one of its hosts is listed twice or belongs to another tenant; the table is then
    /// unchanged.
    pub fn insert(&self, tenant: TenantConfig) -> Result<(), DuplicateTenant> {
        let (mut tenants, tenant) = (self.write(), Arc::new(tenant));
        let others = tenants.by_id.values().filter(|other| other.id != tenant.id);
        *tenants = Tenants::of(others.cloned().chain([Arc::clone(&tenant)]))?;
        Ok(())
    }

    /// Removes a tenant; returns whether it was there.
    pub fn remove(&self, id: &TenantId) -> bool {
        let mut tenants = self.write();
        tenants.by_host.retain(|_, tenant| tenant.id != *id);
        tenants.by_id.remove(id).is_some()
    }

    /// Replaces all tenants.
    ///
    /// # Errors
    /// [`DuplicateTenant`] if two of them share a host or an id; the table is then unchanged.
    pub fn replace(
        &self,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<(), DuplicateTenant> {
        let tenants = Tenants::of(tenants.into_iter().map(Arc::new))?;
        *self.write() = tenants;
        Ok(())
    }

    // Poisoning is ignored: nothing panics while the lock is held, and every write is one assignment.

    fn read(&self) -> RwLockReadGuard<'_, Tenants> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tenants> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tenants {
    fn of(tenants: impl Iterator<Item = Arc<TenantConfig>>) -> Result<Self, DuplicateTenant> {
        let mut all = Self::default();
        for tenant in tenants {
            for host in &tenant.hosts {
                let name = host.to_ascii_lowercase();
                if all.by_host.insert(name, Arc::clone(&tenant)).is_some() {
                    return Err(DuplicateTenant::Host(host.clone()));
                }
            }
            if let Some(same) = all.by_id.insert(tenant.id.clone(), tenant) {
                return Err(DuplicateTenant::Id(same.id.clone()));
            }
        }
        Ok(all)
    }
}

impl TenantDirectory for HostTable {
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
        self.read().by_host.get(request.host?.name()).map(Arc::clone)
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>> {
        self.read().by_id.get(id).map(Arc::clone)
    }

    fn tenants(&self) -> Vec<Arc<TenantConfig>> {
        self.read().by_id.values().map(Arc::clone).collect()
    }
}

/// One tenant on every host.
pub(crate) struct EveryHost(pub(crate) Arc<TenantConfig>);

impl TenantDirectory for EveryHost {
    fn find(&self, _: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
        Some(Arc::clone(&self.0))
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>> {
        (self.0.id == *id).then(|| Arc::clone(&self.0))
    }

    fn tenants(&self) -> Vec<Arc<TenantConfig>> {
        vec![Arc::clone(&self.0)]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;
    use crate::tenants::AdminTokens;

    use http::HeaderMap;

    fn tenant(id: &str, hosts: &[&str]) -> TenantConfig {
        TenantConfig::new(TenantId::parse(id).unwrap(), AdminTokens::new()).on_hosts(hosts.to_vec())
    }

    fn found(table: &HostTable, host: &str) -> Option<String> {
        let (host, headers) = (host.parse().unwrap(), HeaderMap::new());
        let found = table.find(&TenantRequest::new(Some(&host), "/", &headers));
        found.map(|tenant| tenant.id.as_str().to_owned())
    }

    #[test]
    fn tenants_are_added_replaced_and_removed() {
        let table = HostTable::new();
        table.insert(tenant("acme", &["acme.example", "WWW.acme.example"])).unwrap();
        table.insert(tenant("bolt", &["bolt.example"])).unwrap();
        assert_eq!(found(&table, "www.ACME.example:80").unwrap(), "acme");
        table.insert(tenant("acme", &["acme.example"])).unwrap();
        assert_eq!(found(&table, "www.acme.example"), None);
        let taken = table.insert(tenant("zenith", &["zenith.example", "Bolt.example"]));
        assert_eq!(taken, Err(DuplicateTenant::Host("Bolt.example".to_owned())));
        assert_eq!(found(&table, "zenith.example"), None);
        assert!(table.remove(&TenantId::parse("bolt").unwrap()));
        assert_eq!((found(&table, "bolt.example"), table.tenants().len()), (None, 1));
        assert!(table.replace([tenant("a", &["x"]), tenant("b", &["x"])]).is_err());
        let twice = table.replace([tenant("a", &["x"]), tenant("a", &["y"])]);
        assert_eq!(twice, Err(DuplicateTenant::Id(TenantId::parse("a").unwrap())));
        assert_eq!(found(&table, "acme.example").unwrap(), "acme");
        table.replace([tenant("b", &["x"])]).unwrap();
        assert_eq!(
            (found(&table, "acme.example"), found(&table, "x").unwrap()),
            (None, "b".into())
        );
    }
}
