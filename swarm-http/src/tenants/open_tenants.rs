//! The services of tenants in use, kept until their settings change.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

#[cfg(feature = "pages")]
use swarm_core::service::Overview;
use swarm_core::service::Scores;
use swarm_core::service::signed_log::SignedLog;
use swarm_core::{Tenant, TenantId};
use tokio::sync::{Mutex, MutexGuard};

use super::{Services, TenantConfig};
use crate::committee::TenantCommittee;
use crate::log_tail::Tail;
use crate::workers::TenantJobs;

/// A served tenant: its settings and its services.
pub struct ServedTenant {
    config: Arc<TenantConfig>,
    tenant: Tenant,
    pub(crate) committee: TenantCommittee,
    signed_log: Option<SignedLog>,
    /// The tenant's share of the worker pool.
    jobs: TenantJobs,
    /// The end of the log, for its followers.
    tail: Tail,
    /// The scored sessions, kept for the ranking.
    scores: Mutex<Scores>,
    /// Its subjects, members and newest entries, kept for pages.
    #[cfg(feature = "pages")]
    overview: Mutex<Overview>,
}

impl ServedTenant {
    pub(crate) fn open(services: &Services, config: Arc<TenantConfig>) -> Self {
        let tenant = services.swarm.tenant(&config.id).with_quotas(config.quotas);
        let tenant = tenant.with_application_retention(config.retention_days);
        let tenant = tenant.with_public_url(config.public_url());
        let tenant = tenant.with_webhooks(Arc::clone(&config.webhooks));
        let tenant = tenant.with_policy(config.policy.clone());
        // A host has no character that a log's name may not have.
        let signed_log = services.signer.as_ref();
        let signed_log =
            signed_log.and_then(|signer| tenant.signed_log(config.log_host(), signer).ok());
        Self {
            tenant,
            signed_log,
            committee: TenantCommittee::open(
                &services.committees,
                &config.id,
                &config.committee,
                config.quotas,
            ),
            config,
            jobs: TenantJobs::default(),
            tail: Tail::default(),
            scores: Mutex::default(),
            #[cfg(feature = "pages")]
            overview: Mutex::default(),
        }
    }

    /// The settings.
    pub fn config(&self) -> &TenantConfig {
        &self.config
    }

    /// The tenant's handle on interface A.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    pub(crate) fn jobs(&self) -> &TenantJobs {
        &self.jobs
    }

    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// The scored sessions. While one request reads what is new, others wait.
    pub(crate) async fn scores(&self) -> MutexGuard<'_, Scores> {
        self.scores.lock().await
    }

    /// Its subjects, members and newest entries. While one request reads what is new, others wait.
    #[cfg(feature = "pages")]
    pub(crate) async fn overview(&self) -> MutexGuard<'_, Overview> {
        self.overview.lock().await
    }

    /// The tenant's log, if the site signs logs.
    pub fn signed_log(&self) -> Option<&SignedLog> {
        self.signed_log.as_ref()
    }
}

impl std::fmt::Debug for ServedTenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ServedTenant").field(&self.config).finish()
    }
}

/// The tenants opened so far.
pub(crate) struct OpenTenants {
    services: Services,
    opened: RwLock<HashMap<TenantId, Arc<ServedTenant>>>,
}

impl OpenTenants {
    pub(crate) fn new(services: Services) -> Self {
        Self { services, opened: RwLock::default() }
    }

    pub(crate) fn services(&self) -> &Services {
        &self.services
    }

    /// The tenant with these settings; opens it if necessary.
    pub(crate) fn get(&self, config: Arc<TenantConfig>) -> Arc<ServedTenant> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(served) = opened.get(&config.id)
            && Arc::ptr_eq(&served.config, &config)
        {
            return Arc::clone(served);
        }
        drop(opened);
        let served = Arc::new(ServedTenant::open(&self.services, config));
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        opened.insert(served.config.id.clone(), Arc::clone(&served));
        served
    }

    /// Opens each of these tenants, and drops all others.
    pub(crate) fn retain(&self, configs: Vec<Arc<TenantConfig>>) -> Vec<Arc<ServedTenant>> {
        let kept: Vec<_> = configs.into_iter().map(|config| self.get(config)).collect();
        let ids: HashSet<_> = kept.iter().map(|served| &served.config.id).collect();
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|id, _| ids.contains(id));
        kept
    }
}
