//! Policies: rules of the program around the service, which refuse takes that the rules of the service accept
//! (API.md, 5.9).

use async_trait::async_trait;

use super::Tenant;
use crate::domain::{
    Day, Member, Revision, SessionTerms, SubjectId, TakeDraft, TenantId, Timestamp,
};
use crate::rules::{PolicyRefusal, Refusal};
use crate::store::Basis;

/// A rule of the program around the service. It is asked about each take that all rules of API.md, 5.2 accept, before the
/// take is committed. It can only refuse.
///
/// The request waits for the answer, and an amendment or a take that is sent again may be asked about more than once. Other
/// takes may be committed between the answer and the commit. A policy that cannot decide decides so: there is no third answer.
#[async_trait]
pub trait Policy: Send + Sync + 'static {
    /// Refuses the take, or lets the service file it.
    ///
    /// # Errors
    /// The [`PolicyRefusal`], which the member reads.
    async fn check(&self, question: &PolicyQuestion<'_>) -> Result<(), PolicyRefusal>;
}

/// What a policy is asked about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PolicyQuestion<'a> {
    /// The tenant.
    pub tenant: &'a TenantId,
    /// The author.
    pub member: &'a Member,
    /// The session.
    pub session: &'a SessionTerms,
    /// The date of the session.
    pub date: Day,
    /// The subject of the session.
    pub subject_id: &'a SubjectId,
    /// The revision that the take would become.
    pub revision: Revision,
    /// The take; `None` if the member asks where it may file, before there is one (API.md, 4.6).
    pub take: Option<&'a TakeDraft>,
    /// The time, by the store's clock.
    pub now: Timestamp,
}

impl Tenant {
    /// Asks the policy about a take in this session, or about any take there. The rules accept it on these facts.
    pub(super) async fn check_policy(
        &self,
        basis: &Basis,
        (date, subject_id): (Day, &SubjectId),
        take: Option<&TakeDraft>,
    ) -> Result<(), Refusal> {
        let Some(policy) = &self.policy else { return Ok(()) };
        let (Some(member), Some(session)) = (&basis.member, &basis.session) else { return Ok(()) };
        let Some(revision) = basis.next_revision() else { return Ok(()) };
        let question = PolicyQuestion {
            tenant: self.id(),
            member: &member.record,
            session: &session.record,
            date,
            subject_id,
            revision,
            take,
            now: basis.now,
        };
        policy.check(&question).await.map_err(Refusal::Policy)
    }
}
