//! Callbacks after commits.

use std::fmt;
use std::sync::Arc;

use crate::domain::committee::{CommitteeDay, CommitteeMember, CommitteeTake};
use crate::domain::{Member, MemberId, Message, Session, Take, TenantId};
use crate::store::{Collection, Document};

/// A callback after commits of this process that the store has acknowledged, for counters and
/// caches. Refusals and the commits of other servers are not reported.
///
/// Each commit is reported at most once. One whose acknowledgement was lost is not reported, nor one whose future was
/// dropped before it was acknowledged, although it may stand. Whoever has to hear of every change uses
/// [`Tenant::follow_log`](super::Tenant::follow_log).
///
/// It is called in the task of the request, before the response, so it must not block.
pub trait Observer: Send + Sync {
    /// `commit` was committed for `tenant`.
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>);
}

impl<F: Fn(&TenantId, Commit<'_>) + Send + Sync> Observer for F {
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>) {
        self(tenant, commit);
    }
}

/// A commit, with the stored record.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Commit<'a> {
    /// A take was filed.
    Take(&'a Take),
    /// A session was convened or changed.
    Session(&'a Session),
    /// A member applied, was reviewed, claimed its token, or got a new one.
    Member(&'a Member),
    /// An application was removed, because no operator reviewed it in time.
    ApplicationExpired(&'a MemberId),
    /// A document was written.
    Document(Collection, &'a Document),
    /// A message was leased for an attempt, or its outcome was recorded.
    Message(&'a Message),
    /// A committee take was filed.
    CommitteeTake(&'a CommitteeTake),
    /// A day of the committee was written: its subject, its briefs or its synthesis.
    CommitteeDay(&'a CommitteeDay),
    /// A member of the committee was written.
    CommitteeMember(&'a CommitteeMember),
}

/// The observer of one tenant, if any.
#[derive(Clone)]
pub(super) struct TenantObserver {
    tenant: TenantId,
    observer: Option<Arc<dyn Observer>>,
}

impl TenantObserver {
    pub(super) fn new(tenant: &TenantId, observer: Option<&Arc<dyn Observer>>) -> Self {
        Self { tenant: tenant.clone(), observer: observer.cloned() }
    }

    /// For the same tenant, without an observer.
    pub(super) fn silent(&self) -> Self {
        Self { tenant: self.tenant.clone(), observer: None }
    }

    pub(super) fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    pub(super) fn notify(&self, commit: Commit<'_>) {
        if let Some(observer) = &self.observer {
            observer.committed(&self.tenant, commit);
        }
    }
}

impl fmt::Debug for TenantObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TenantObserver").field(&self.tenant).finish()
    }
}
