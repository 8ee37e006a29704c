//! A tenant directory by host and base path (API.md, 2.1 and 2.3).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use swarm_core::TenantId;

use super::{Host, TenantConfig, TenantDirectory, TenantRequest};

/// Two tenants have the same id, or the same host and base path; or a text is no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DuplicateTenant {
    /// Two tenants have this host, followed by this base path, or one has it twice.
    #[error("{}", duplicate_host(host, first, second))]
    Host {
        /// The host and the base path.
        host: String,
        /// The tenant that had it.
        first: TenantId,
        /// The tenant that was to have it, too.
        second: TenantId,
    },
    /// Two tenants have this id: the same records would be served to the operators of both.
    #[error("duplicate tenant {:?}", .0.as_str())]
    Id(TenantId),
    /// The text is not the name or the address of a host, without a scheme and a port: no request is to it.
    #[error("{0:?} is not a host without a port")]
    NotHost(String),
}

fn duplicate_host(host: &str, first: &TenantId, second: &TenantId) -> String {
    let (first, second) = (first.as_str(), second.as_str());
    match first == second {
        true => format!(
            "{first:?} has the host {host:?} twice: case and a dot at its end make no other"
        ),
        false => format!("duplicate host {host:?} of {first:?} and {second:?}"),
    }
}

/// Tenants by host and [base path](TenantConfig::base_path). Clones share one table, so that a clone can add and remove tenants while the site
/// serves.
#[derive(Clone, Debug, Default)]
pub struct HostTable(Arc<RwLock<Tenants>>);

#[derive(Debug, Default)]
struct Tenants {
    by_id: HashMap<TenantId, Arc<TenantConfig>>,
    /// By [`key`] of the host; of one host, those with the longest base paths first.
    by_host: HashMap<String, Vec<Arc<TenantConfig>>>,
}

impl HostTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tenant, or replaces the one with the same id.
    ///
    /// # Errors
    /// [`DuplicateTenant`] if one of its hosts is listed twice, belongs to another tenant with the same base path, or is not a
    /// host; the table is then unchanged.
    pub fn insert(&self, tenant: TenantConfig) -> Result<(), DuplicateTenant> {
        let (mut tenants, tenant) = (self.write(), Arc::new(tenant));
        let others = tenants.by_id.values().filter(|other| other.id != tenant.id);
        *tenants = Tenants::of(others.cloned().chain([Arc::clone(&tenant)]))?;
        Ok(())
    }

    /// Removes a tenant; returns whether it was there.
    pub fn remove(&self, id: &TenantId) -> bool {
        let mut tenants = self.write();
        tenants.by_host.retain(|_, sharing| {
            sharing.retain(|tenant| tenant.id != *id);
            !sharing.is_empty()
        });
        tenants.by_id.remove(id).is_some()
    }

    /// Replaces all tenants.
    ///
    /// # Errors
    /// [`DuplicateTenant`] if two of them share an id, or a host and a base path, or if a host is not one; the table is then
    /// unchanged.
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
                if !is_name(host) {
                    return Err(DuplicateTenant::NotHost(host.clone()));
                }
                let base = tenant.base_path();
                let sharing = all.by_host.entry(key(host)).or_default();
                if let Some(other) = sharing.iter().find(|other| other.base_path() == base) {
                    return Err(DuplicateTenant::Host {
                        host: format!("{host}{base}"),
                        first: other.id.clone(),
                        second: tenant.id.clone(),
                    });
                }
                sharing.push(Arc::clone(&tenant));
                sharing.sort_by_key(|it| std::cmp::Reverse(it.base_path().as_str().len()));
            }
            if let Some(same) = all.by_id.insert(tenant.id.clone(), tenant) {
                return Err(DuplicateTenant::Id(same.id.clone()));
            }
        }
        Ok(all)
    }
}

/// What is the same in all spellings of a host: case does not matter, nor does the dot at the end of a complete domain name.
fn key(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Whether the text is the name of a host, as requests have it: without a port.
fn is_name(text: &str) -> bool {
    Host::parse(text).is_some_and(|host| host.name().len() == text.len())
}

/// The tenant of this path among those of one host: the one whose log the path names, else the one with the longest base
/// path, else any, which answers that there is nothing.
fn among<'a>(sharing: &'a [Arc<TenantConfig>], path: &str) -> Option<&'a Arc<TenantConfig>> {
    if let [alone] = sharing {
        return Some(alone);
    }
    let log = named_log(path);
    let named = sharing.iter().find(|tenant| log == Some(tenant.id.as_str()));
    let below = || sharing.iter().find(|tenant| tenant.base_path().rest(path).is_some());
    named.or_else(below).or(sharing.last())
}

/// The tenant that the path of a file of a log names at the root of a host: `/swarm/log/<tenant>/checkpoint`.
fn named_log(path: &str) -> Option<&str> {
    let (tenant, _) = path.strip_prefix("/swarm/log/")?.split_once('/')?;
    (tenant != "tile").then_some(tenant)
}

impl TenantDirectory for HostTable {
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
        let tenants = self.read();
        among(tenants.by_host.get(&key(request.host?.name()))?, request.path).map(Arc::clone)
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

    use http::{Extensions, HeaderMap};

    fn tenant(id: &str, hosts: &[&str]) -> TenantConfig {
        TenantConfig::new(TenantId::parse(id).unwrap(), AdminTokens::new()).on_hosts(hosts.to_vec())
    }

    fn duplicate(host: &str, tenants: [&str; 2]) -> Result<(), DuplicateTenant> {
        let [first, second] = tenants.map(|id| TenantId::parse(id).unwrap());
        Err(DuplicateTenant::Host { host: host.to_owned(), first, second })
    }

    fn found(table: &HostTable, host: &str) -> Option<String> {
        found_at(table, host, "/")
    }

    fn found_at(table: &HostTable, host: &str, path: &str) -> Option<String> {
        let (host, headers, extensions) =
            (host.parse().unwrap(), HeaderMap::new(), Extensions::new());
        let found = table.find(&TenantRequest::new(Some(&host), path, &headers, &extensions));
        found.map(|tenant| tenant.id.as_str().to_owned())
    }

    #[test]
    fn tenants_are_added_replaced_and_removed() {
        let table = HostTable::new();
        table.insert(tenant("acme", &["acme.example", "WWW.acme.example"])).unwrap();
        table.insert(tenant("bolt", &["bolt.example"])).unwrap();
        assert_eq!(found(&table, "www.ACME.example:80").unwrap(), "acme");
        // With the dot of a complete domain name it is the same host.
        assert_eq!(found(&table, "acme.example.").unwrap(), "acme");
        assert_eq!(found(&table, "acme.example.:80").unwrap(), "acme");
        let taken = table.insert(tenant("zenith", &["bolt.example."]));
        assert_eq!(taken, duplicate("bolt.example.", ["bolt", "zenith"]));
        let twice = table.insert(tenant("twice", &["a.example", "a.example"]));
        assert_eq!(twice, duplicate("a.example", ["twice", "twice"]));
        table.insert(tenant("dotted", &["dotted.example."])).unwrap();
        assert_eq!(found(&table, "dotted.example").unwrap(), "dotted");
        assert!(table.remove(&TenantId::parse("dotted").unwrap()));
        table.insert(tenant("acme", &["acme.example"])).unwrap();
        assert_eq!(found(&table, "www.acme.example"), None);
        let taken = table.insert(tenant("zenith", &["zenith.example", "Bolt.example"]));
        assert_eq!(taken, duplicate("Bolt.example", ["bolt", "zenith"]));
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

    #[test]
    fn what_no_request_can_be_to_is_refused() {
        let table = HostTable::new();
        for bad in ["", " a.example", "a.example:8080", "a.example:", "https://a.example", "a/b"] {
            let refused = table.insert(tenant("acme", &["good.example", bad]));
            assert_eq!(refused, Err(DuplicateTenant::NotHost(bad.to_owned())));
        }
        assert_eq!(table.tenants().len(), 0);
        table.insert(tenant("acme", &["[::1]", "127.0.0.1", "A.example", "localhost"])).unwrap();
    }

    #[test]
    fn tenants_of_one_host_are_found_by_path() {
        let below = |id, path: &str| tenant(id, &["a.example"]).below(path.parse().unwrap());
        let table = HostTable::new();
        table
            .replace([below("short", "/x"), below("long", "/x/y"), tenant("root", &["a.example"])])
            .unwrap();
        for (path, id) in [
            ("/", "root"),
            ("/xy", "root"),
            ("/x", "short"),
            ("/x/", "short"),
            ("/x/yz", "short"),
            ("/x/y/z", "long"),
            ("/swarm/log/checkpoint", "root"),
            ("/swarm/log/tile/0/000", "root"),
            ("/swarm/log/long/checkpoint", "long"),
            ("/swarm/log/other/checkpoint", "root"),
        ] {
            assert_eq!(found_at(&table, "a.example", path).unwrap(), id, "{path}");
        }
        let same = table.insert(below("other", "/x"));
        assert_eq!(same, duplicate("a.example/x", ["short", "other"]));
        assert!(table.remove(&TenantId::parse("long").unwrap()));
        assert_eq!(found_at(&table, "a.example", "/x/y").unwrap(), "short");
    }
}
