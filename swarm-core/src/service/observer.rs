//! Callbacks after commits.

use std::fmt;
use std::sync::Arc;

use crate::domain::committee::{CommitteeDay, CommitteeMember, CommitteeTake};
use crate::domain::{Member, Message, Session, Take, TenantId};
use crate::store::{Collection, Document};

/// Called after the store has acknowledged what this process committed: for counters, caches,
/// notifications. Neither refusals nor the commits of other servers are reported.
///
/// It is called in the task of the request, before its answer: it must not block, and hands over
/// what takes time. A commit whose acknowledgement was lost is not reported.
pub trait Observer: Send + Sync {
    /// `commit` is now stored for `tenant`.
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>);
}

impl<F: Fn(&TenantId, Commit<'_>) + Send + Sync> Observer for F {
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>) {
        self(tenant, commit);
    }
}

/// What was committed: the record as it is on file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Commit<'a> {
    /// A take was filed.
    Take(&'a Take),
    /// A session was convened or changed.
    Session(&'a Session),
    /// A member applied, was reviewed, claimed its token, or got another.
    Member(&'a Member),
    /// A document was written.
    Document(Collection, &'a Document),
    /// There was an attempt to send a message.
    Message(&'a Message),
    /// A committee take was filed.
    CommitteeTake(&'a CommitteeTake),
    /// A day of the committee was written: its subject, a generation of briefs, a synthesis.
    CommitteeDay(&'a CommitteeDay),
    /// A member of the committee was written.
    CommitteeMember(&'a CommitteeMember),
}

/// The observer of one tenant, where there is one.
#[derive(Clone)]
pub(super) struct TenantObserver {
    tenant: TenantId,
    observer: Option<Arc<dyn Observer>>,
}

impl TenantObserver {
    pub(super) fn new(tenant: &TenantId, observer: Option<&Arc<dyn Observer>>) -> Self {
        Self { tenant: tenant.clone(), observer: observer.cloned() }
    }

    pub(super) fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    pub(super) fn tell(&self, commit: Commit<'_>) {
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
