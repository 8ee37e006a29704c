//! Callbacks after commits.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::domain::committee::{CommitteeDay, CommitteeMember, CommitteeTake};
use crate::domain::{Member, MemberId, Message, Session, Take, TenantId};
use crate::store::{self, Collection, Document, StoreError, reply};

/// A callback after commits of this process that the store has acknowledged, for counters and
/// caches. Refusals and the commits of other servers are not reported.
///
/// Each commit is reported at most once, before the call that made it returns. It is also reported when the future of
/// that call was dropped meanwhile, for example because a client hung up: commit and report run in a task of their own
/// (see [`Swarm::observed_by`](super::Swarm::observed_by)). A commit is not reported if its acknowledgement was lost, or if
/// the process ended before the report. It may be in the store nevertheless. Code that must see every change uses
/// [`Tenant::follow_log`](super::Tenant::follow_log).
///
/// It must not block: the answer waits for it.
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

/// The task of a commit and of its report to the [`Observer`], which the host spawns on its runtime.
pub type CommitTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An observer, and the function that runs its tasks.
#[derive(Clone)]
pub(super) struct Observation {
    observer: Arc<dyn Observer>,
    spawn: Arc<dyn Fn(CommitTask) + Send + Sync>,
}

impl Observation {
    pub(super) fn new(
        observer: impl Observer + 'static,
        spawn: impl Fn(CommitTask) + Send + Sync + 'static,
    ) -> Self {
        Self { observer: Arc::new(observer), spawn: Arc::new(spawn) }
    }
}

/// The observer of one tenant, if any.
#[derive(Clone)]
pub(super) struct TenantObserver {
    tenant: TenantId,
    observer: Option<Observation>,
}

impl TenantObserver {
    pub(super) fn new(tenant: &TenantId, observer: Option<&Observation>) -> Self {
        Self { tenant: tenant.clone(), observer: observer.cloned() }
    }

    /// For the same tenant, without an observer.
    pub(super) fn silent(&self) -> Self {
        Self { tenant: self.tenant.clone(), observer: None }
    }

    pub(super) fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Runs a commit, and reports what `reported` returns of its outcome. With an observer, both run in a task, so that
    /// dropping this future prevents neither.
    ///
    /// # Errors
    /// The error of the commit; [`StoreErrorKind::Unavailable`](store::StoreErrorKind::Unavailable) when the task was cancelled.
    pub(super) async fn commit<T: Send + 'static>(
        &self,
        commit: impl Future<Output = store::Result<T>> + Send + 'static,
        reported: impl for<'a> FnOnce(&'a T) -> Option<Commit<'a>> + Send + 'static,
    ) -> store::Result<T> {
        let Some(Observation { observer, spawn }) = self.observer.clone() else {
            return commit.await;
        };
        let (reply, answer) = reply();
        let tenant = self.tenant.clone();
        spawn(Box::pin(async move {
            let outcome = commit.await;
            if let Some(commit) = outcome.as_ref().ok().and_then(reported) {
                observer.committed(&tenant, commit);
            }
            reply.send(outcome);
        }));
        let cancelled =
            || StoreError::unavailable("commit", "the task of the commit was cancelled");
        answer.await.unwrap_or_else(|| Err(cancelled()))
    }
}

impl fmt::Debug for TenantObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TenantObserver").field(&self.tenant).finish()
    }
}
