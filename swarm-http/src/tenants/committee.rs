//! Interface B in the services of a site and of a tenant.

use swarm_core::{CommitteeTenant, Committees, Swarm};

use super::{ServedTenant, Services};
use crate::committee::SiteCommittees;

impl Services {
    /// Adds the daily committee.
    #[must_use]
    pub fn with_committees(self, committees: Committees) -> Self {
        Self { committees: SiteCommittees(Some(committees)), ..self }
    }
}

impl From<(Swarm, Committees)> for Services {
    fn from((swarm, committees): (Swarm, Committees)) -> Self {
        Self::from(swarm).with_committees(committees)
    }
}

impl ServedTenant {
    /// The tenant's committee, if the site has committees.
    pub fn committee(&self) -> Option<&CommitteeTenant> {
        self.committee.handle()
    }
}
