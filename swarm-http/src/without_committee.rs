//! In place of `committee`, if the feature is off: no tenant has a committee.

use std::convert::Infallible;

use swarm_core::answers::DayFiling;
use swarm_core::domain::Quotas;
use swarm_core::{CommitteeSettings, Error, TenantId, wire};

/// The committees of a site: none.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteCommittees(());

impl SiteCommittees {
    pub(crate) fn are_served(&self) -> bool {
        false
    }
}

/// The committee of a tenant: none.
pub(crate) struct TenantCommittee;

impl TenantCommittee {
    pub(crate) fn open(_: &SiteCommittees, _: &TenantId, _: &CommitteeSettings, _: Quotas) -> Self {
        Self
    }

    #[cfg(feature = "pages")]
    pub(crate) fn is_served(&self) -> bool {
        false
    }

    pub(crate) fn dry_run(&self) -> Self {
        Self
    }

    pub(crate) async fn current_filing(&self) -> Result<Option<DayFiling>, Error> {
        Ok(None)
    }

    #[cfg(feature = "pages")]
    pub(crate) async fn days_about(
        &self,
        _: &swarm_core::domain::SubjectId,
        _: usize,
    ) -> Result<Vec<swarm_core::domain::Day>, Failure> {
        Ok(Vec::new())
    }
}

/// A failed call of interface B: there is none.
#[derive(Debug)]
pub(crate) enum Failure {}

impl Failure {
    pub(crate) fn on_the_wire(&self) -> wire::Answer {
        match *self {}
    }

    pub(crate) fn hint(&self, _: &[u8]) -> Option<String> {
        match *self {}
    }

    pub(crate) fn fault(&self) -> Option<&Infallible> {
        match *self {}
    }
}
