//! A background job that counts a tenant's records for the gauges of `/metrics`.

use async_trait::async_trait;
use swarm_core::domain::{MailState, MemberState, SessionState};
use swarm_core::store::Countable;
use swarm_core::{Error, Tenant};
use swarm_maintenance::{Job, Next};

use super::{Figures, TenantFigures};
use crate::tenants::ServedTenant;

/// Counts in the background, so that reading `/metrics` costs the store nothing.
#[derive(Debug)]
pub(crate) struct CountRecords(TenantFigures);

impl CountRecords {
    pub(crate) fn new(figures: TenantFigures) -> Self {
        Self(figures)
    }
}

#[async_trait]
impl Job<ServedTenant> for CountRecords {
    async fn round(&mut self, served: &ServedTenant) -> Next {
        // Not logged here: the job that closes windows logs the same store failure.
        let Ok(figures) = figures(served.tenant()).await else { return Next::Soon };
        self.0.set(&served.config().id, figures);
        Next::Changed
    }
}

async fn figures(tenant: &Tenant) -> Result<Figures, Error> {
    let mut messages = Vec::with_capacity(MailState::ALL.len());
    for state in MailState::ALL {
        messages.push((state, tenant.count(Countable::Messages(state)).await?));
    }
    Ok(Figures {
        open_sessions: tenant.count(Countable::Sessions(SessionState::Collecting)).await?,
        pending_applications: tenant.count(Countable::Members(MemberState::Applied)).await?,
        messages,
        log_size: tenant.log_size().await?.0,
    })
}
