//! Interface B, the daily committee, as the lower layers of this crate see it. Its routes, its pages and its credentials are modules
//! of these layers. Without the feature `committee`, `without_committee` is in its place.

use swarm_core::answers::DayFiling;
use swarm_core::domain::Quotas;
use swarm_core::{
    CommitteeError, CommitteeSettings, CommitteeTenant, Committees, Error, Refusal, Resource,
    TenantId, wire,
};

/// The committees of a site, if it has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteCommittees(pub(crate) Option<Committees>);

impl SiteCommittees {
    /// Whether there are any.
    pub(crate) fn are_served(&self) -> bool {
        self.0.is_some()
    }
}

/// The committee of a tenant, if the site has committees.
pub(crate) struct TenantCommittee(Option<CommitteeTenant>);

impl TenantCommittee {
    /// The committee of this tenant.
    pub(crate) fn open(
        committees: &SiteCommittees,
        tenant: &TenantId,
        settings: &CommitteeSettings,
        quotas: Quotas,
    ) -> Self {
        let committee = committees.0.as_ref().map(|it| it.tenant(tenant, settings.clone()));
        Self(committee.map(|it| it.with_quotas(quotas)))
    }

    /// Whether there is one.
    #[cfg(feature = "pages")]
    pub(crate) fn is_served(&self) -> bool {
        self.0.is_some()
    }

    /// The handle.
    pub(crate) fn handle(&self) -> Option<&CommitteeTenant> {
        self.0.as_ref()
    }

    /// The committee for a dry run.
    pub(crate) fn dry_run(&self) -> Self {
        Self(self.0.as_ref().map(CommitteeTenant::dry_run))
    }

    /// Who filed on its day, if it has one.
    pub(crate) async fn current_filing(&self) -> Result<Option<DayFiling>, Error> {
        let Some(committee) = &self.0 else { return Ok(None) };
        let filing = committee.current_filing().await;
        filing.map_err(|error| error.map_refused(|_| Refusal::NotFound(Resource::Session)))
    }

    /// The days about a subject, of this many latest ones.
    #[cfg(feature = "pages")]
    pub(crate) async fn days_about(
        &self,
        subject: &swarm_core::domain::SubjectId,
        latest: usize,
    ) -> Result<Vec<swarm_core::domain::Day>, Failure> {
        let Some(committee) = &self.0 else { return Ok(Vec::new()) };
        let days = committee.sessions(None, latest).await.map_err(Failure::Call)?;
        Ok(days.iter().filter(|day| day.subject_id == *subject).map(|day| day.date).collect())
    }
}

/// A call of interface B failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A submission.
    Submission(CommitteeError),
    /// Another call.
    Call(CommitteeError),
}

impl Failure {
    fn error(&self) -> &CommitteeError {
        match self {
            Self::Submission(error) | Self::Call(error) => error,
        }
    }

    /// The answer.
    pub(crate) fn on_the_wire(&self) -> wire::Answer {
        match self {
            Self::Submission(error) => wire::Answer::of_submission(error),
            Self::Call(error) => error.into(),
        }
    }

    /// The hint on a request with this body.
    pub(crate) fn hint(&self, body: &[u8]) -> Option<String> {
        match self.error() {
            Error::Refused(refusal) => wire::committee_hint_quoting(refusal, body),
            _ => None,
        }
    }

    /// The error, unless it is a refusal.
    pub(crate) fn fault(&self) -> Option<&CommitteeError> {
        Some(self.error()).filter(|error| !matches!(error, Error::Refused(_)))
    }
}
