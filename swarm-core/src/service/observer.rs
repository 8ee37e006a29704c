//! Callbacks after commits.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use futures_channel::oneshot;
use tracing::Instrument as _;

use crate::domain::committee::{CommitteeDay, CommitteeMember, CommitteeTake};
use crate::domain::{
    Actor, LogEntry, Member, MemberId, Message, OperatorAct, Seq, Session, Take, TenantId,
};
use crate::rules::{Act, Convocation};
use crate::store::{self, Collection, Document, MemberChange, Records, StoreError};

/// A callback after commits of this process that the store has acknowledged, for counters and
/// caches. Refusals and the commits of other servers are not reported.
///
/// Each commit is reported at most once, before the call that made it returns. It is also reported when the future of
/// that call was dropped meanwhile, for example because a client hung up: commit and report run in a task of their own
/// (see [`Swarm::observed_by`](super::Swarm::observed_by)). A commit is not reported if its acknowledgement was lost, or if
/// the process ended before the report. It may be in the store nevertheless. Code that must see every change uses
/// [`Tenant::follow_log`](super::Tenant::follow_log).
///
/// It must not block: the answer waits for it. Where it panics, that is logged, and the commit stands.
pub trait Observer: Send + Sync {
    /// `commit` was committed for `tenant`.
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>);
}

impl<F: Fn(&TenantId, Commit<'_>) + Send + Sync> Observer for F {
    fn committed(&self, tenant: &TenantId, commit: Commit<'_>) {
        self(tenant, commit);
    }
}

/// A commit that the store has acknowledged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Commit<'a> {
    /// The record that was written, as it is stored.
    pub record: CommittedRecord<'a>,
    /// What was done, as the log or the list of operators' acts names it, such as `session.state` (API.md, 7.11 and 11.2).
    /// `None` for a change that neither of them has.
    pub act: Option<Cow<'static, str>>,
    /// The number of the last entry that the commit appended to the log. `None` if it appended none, or if the store committed it
    /// together with others and reports only the last entry of all of them; [`Tenant::follow_log`](super::Tenant::follow_log) has every number.
    pub entry: Option<Seq>,
    /// The operator who did it, [`Actor::SCHEDULE`] or [`Actor::MEMBER`]. `None` where neither of them names anybody.
    pub by: Option<Actor>,
}

impl<'a> Commit<'a> {
    /// A commit of a change that no list of acts has.
    pub(super) fn unlisted(record: CommittedRecord<'a>) -> Self {
        Self { record, act: None, entry: None, by: None }
    }

    /// A commit of something that a member filed.
    pub(super) fn filed(record: CommittedRecord<'a>, event: &'static str) -> Self {
        Self { record, act: Some(Cow::Borrowed(event)), entry: None, by: Some(Actor::MEMBER) }
    }

    pub(super) fn take(take: &'a Take) -> Self {
        Self::filed(CommittedRecord::Take(take), LogEntry::TAKE_FILED)
    }

    pub(super) fn convened(session: &'a Session, convocation: &Convocation) -> Self {
        let entry = convocation.act.entry(session.id.0, session.convened_at);
        Self::logged(CommittedRecord::Session(session), Some(&entry))
    }

    pub(super) fn session(session: &'a Session, acts: &[Act]) -> Self {
        let entry = acts.first().and_then(Act::known);
        Self::logged(CommittedRecord::Session(session), entry.map(|entry| &**entry))
    }

    /// A commit that computed the result of a session. Its entry in the log says that the session has another state.
    pub(super) fn aggregated(session: &'a Session, by: Actor) -> Self {
        let act = Some(Cow::Borrowed("session.state"));
        Self { record: CommittedRecord::Session(session), act, entry: None, by: Some(by) }
    }

    pub(super) fn member(change: &'a MemberChange) -> Self {
        let MemberChange { member, act, operator_act, .. } = change;
        let entry = act.as_ref().and_then(Act::known).map(|entry| &**entry);
        Self::acted(CommittedRecord::Member(member), entry, operator_act.as_ref())
    }

    pub(super) fn document(
        collection: Collection,
        document: &'a Document,
        act: Option<&Act>,
    ) -> Self {
        let entry = act.map(|act| act.entry(document.id, document.created_at));
        Self::logged(CommittedRecord::Document(collection, document), entry.as_deref())
    }

    /// A commit with its entry in the log.
    pub(super) fn logged(record: CommittedRecord<'a>, entry: Option<&LogEntry>) -> Self {
        let act = entry.map(|entry| Cow::Owned(entry.event()));
        Self { record, act, entry: None, by: entry.and_then(LogEntry::by).cloned() }
    }

    /// A commit with its entry in the log, or else the act of the operator who made it.
    pub(super) fn acted(
        record: CommittedRecord<'a>,
        entry: Option<&LogEntry>,
        operator_act: Option<&OperatorAct>,
    ) -> Self {
        match (entry, operator_act) {
            (None, Some(OperatorAct { by, act, .. })) => {
                Self { record, act: Some(act.clone()), entry: None, by: by.clone() }
            }
            _ => Self::logged(record, entry),
        }
    }
}

/// What a [`Commit`] wrote.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CommittedRecord<'a> {
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

    /// Runs a commit on these records, and reports what `reported` returns of its outcome. With an observer, both run in a task, so that
    /// dropping this future prevents neither.
    ///
    /// # Errors
    /// The error of the commit; [`StoreErrorKind::Unavailable`](store::StoreErrorKind::Unavailable) when the task was cancelled.
    pub(super) async fn commit<T: Send + 'static, F>(
        &self,
        records: &Records,
        commit: impl FnOnce(Records) -> F,
        reported: impl for<'a> FnOnce(&'a T) -> Option<Commit<'a>> + Send + 'static,
    ) -> store::Result<T>
    where
        F: Future<Output = store::Result<T>> + Send + 'static,
    {
        let Some(Observation { observer, spawn }) = self.observer.clone() else {
            return commit(records.clone()).await;
        };
        let (reply, answer) = oneshot::channel();
        let tenant = self.tenant.clone();
        let records = records.noting_entries();
        let commit = commit(records.clone());
        let task = async move {
            let outcome = commit.await;
            if let Some(commit) = outcome.as_ref().ok().and_then(reported) {
                let commit = Commit { entry: records.last_entry(), ..commit };
                let call = AssertUnwindSafe(|| observer.committed(&tenant, commit));
                if catch_unwind(call).is_err() {
                    tracing::error!(%tenant, "the observer of a commit panicked");
                }
            }
            // The caller may be gone; the change is committed anyway.
            let _ = reply.send(outcome);
        };
        spawn(Box::pin(task.in_current_span()));
        let cancelled =
            || StoreError::unavailable("commit", "the task of the commit was cancelled");
        answer.await.unwrap_or_else(|_| Err(cancelled()))
    }
}

impl fmt::Debug for TenantObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TenantObserver").field(&self.tenant).finish()
    }
}
