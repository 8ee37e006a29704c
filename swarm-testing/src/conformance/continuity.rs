//! Cases for a store that lost data: it was wiped, restored from a backup, or failed over (API.md,
//! 11.4).

use std::fmt::Debug;
use std::sync::Arc;

use super::log::document;
use crate::assertions::{ensure, expect_eq};
use crate::{Author, TestTenant, act, applicant, creation, filed, session_draft};
use swarm_core::domain::{Actor, Attribution, LogBefore, LogRow, Logged, Seq, Session};
use swarm_core::rules::{Filing, convene, store_accepted};
use swarm_core::store::{Collection, MemberChange, Result, SessionChange, Store, StoreErrorKind};

/// As after a failover to a replica without the last commits.
pub async fn store_with_lost_rows_refuses_commits(
    tenants: Store,
    back_up: impl AsyncFn(),
    restore: impl AsyncFn(),
    _again: impl AsyncFn() -> Store,
) {
    let (tenant, session, ada) = tenant(&tenants).await;
    back_up().await;
    tenant.filed(&ada, &session, "1").await;
    let refused = Commits::judged(&tenant, &session, &ada).await;
    let seen = tenant.log_position().await;

    restore().await;
    refused.are_refused(&tenant, &tenants).await;
    expect_eq!(tenant.takes(session.id).await.len(), 0, "reads go on");
    expect_eq!(tenant.log_position().await.size, Seq(1), "reads go on");
    expect_eq!(tenant.store().seen_log(), seen);
}

/// Decisions made before are not committed, and no facts are returned for new ones.
pub async fn wiped_store_refuses_commits(
    tenants: Store,
    back_up: impl AsyncFn(),
    restore: impl AsyncFn(),
    _again: impl AsyncFn() -> Store,
) {
    back_up().await;
    let (tenant, session, ada) = tenant(&tenants).await;
    let refused = Commits::judged(&tenant, &session, &ada).await;
    restore().await;
    refused.are_refused(&tenant, &tenants).await;
    expect_eq!(tenant.log_size().await, Seq(0));
}

/// Another process, which has not seen the lost rows, commits more rows than were lost.
pub async fn store_with_other_rows_refuses_commits(
    tenants: Store,
    back_up: impl AsyncFn(),
    restore: impl AsyncFn(),
    again: impl AsyncFn() -> Store,
) {
    let (tenant, session, ada) = tenant(&tenants).await;
    back_up().await;
    tenant.filed(&ada, &session, "1").await;
    let refused = Commits::judged(&tenant, &session, &ada).await;

    restore().await;
    let other = TestTenant::open(again().await, tenant.id.clone());
    for subject in ["others", "more"] {
        other.convened(subject).await;
    }
    expect_eq!(tenant.log_size().await, Seq(3));
    refused.are_refused(&tenant, &tenants).await;
}

/// The accepting process commits at once. The next commit of each other process notices the new
/// log.
pub async fn accepted_store_commits_again(
    tenants: Store,
    back_up: impl AsyncFn(),
    restore: impl AsyncFn(),
    again: impl AsyncFn() -> Store,
) {
    let (tenant, session, ada) = tenant(&tenants).await;
    back_up().await;
    let tenants_elsewhere = again().await;
    let elsewhere = TestTenant::open(tenants_elsewhere.clone(), tenant.id.clone());
    elsewhere.filed(&ada, &session, "1").await;
    elsewhere.filed(&ada, &session, "2").await;
    tenant.log_position().await;
    restore().await;
    let fresh = TestTenant::open(again().await, tenant.id.clone());
    let waiting = Commits::judged(&fresh, &session, &ada).await;
    waiting.are_refused(&tenant, &tenants).await;
    waiting.are_refused(&elsewhere, &tenants_elsewhere).await;

    for log in [2, 3] {
        tenant.accept_store(&store_accepted(LogBefore::seen(Seq(4)), &Actor::OPERATOR)).await;
        expect_eq!(tenants.ready().await.is_ok(), true, "once the store was accepted");
        let position = tenant.log_position().await;
        expect_eq!((position.log, position.size), (log, Seq(log)));
    }
    let rows = tenant.log(Seq(1), 9).await;
    let accepted = |log, row: &LogRow| {
        let entry = store_accepted(LogBefore::seen(Seq(4)), &Actor::OPERATOR).entry(log, row.at);
        row.logged == Logged::Entry(entry)
    };
    expect_eq!(accepted(2, &rows[0]) && accepted(3, &rows[1]), true, "the numbers of the logs");

    // Decisions made before the new log are made again.
    let kind = elsewhere.store().file(&waiting.filing).await.map_err(|error| error.kind());
    expect_eq!(kind, Err(StoreErrorKind::Contended));
    expect_eq!(filed(elsewhere.file(&waiting.filing).await).revision.get(), 1);
    expect_eq!(tenants_elsewhere.ready().await.is_ok(), true, "in another process");
    tenant.filed(&ada, &session, "4").await;
}

/// A tenant with a session, which is the only row of its log, and a member.
async fn tenant(tenants: &Store) -> (TestTenant, Arc<Session>, Author) {
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let (session, ada) = (tenant.convened("subject").await, tenant.author("ada").await);
    (tenant, session, ada)
}

/// Judged writes to be committed.
struct Commits<'a> {
    filing: Filing,
    amended: SessionChange,
    joined: MemberChange,
    ada: &'a Author,
    session: &'a Session,
}

impl<'a> Commits<'a> {
    async fn judged(tenant: &TestTenant, session: &'a Session, ada: &'a Author) -> Self {
        let mut joined = creation(&applicant("grace"));
        joined.act = Some(act("member"));
        Self {
            filing: tenant.judged(ada, &ada.submission(session, "3")).await,
            amended: tenant.amended(session.id, |_| {}).await,
            joined,
            ada,
            session,
        }
    }

    async fn are_refused(&self, tenant: &TestTenant, tenants: &Store) {
        let (store, size) = (tenant.store(), tenant.log_size().await);
        let submission = self.ada.submission(self.session, "4");
        refused(store.file(&self.filing).await);
        refused(self.ada.basis(store, &submission).await);
        refused(store.save_session(&self.amended).await);
        refused(store.save_member(&self.joined).await);
        let convocation = convene(&session_draft("other"), &Attribution::SCHEDULE);
        refused(store.convene(&convocation).await);
        refused(store.put_document(Collection::Memos, &document(None, "memo")).await);
        refused(store.accept_key(&act("accepted")).await);
        refused(store.accept_clock(&act("accepted")).await);
        refused(tenants.ready().await);
        expect_eq!(tenant.log_size().await, size, "nothing is committed");
    }
}

fn refused<T: Debug>(outcome: Result<T>) {
    let kind = outcome.as_ref().map_err(|error| error.kind());
    ensure!(matches!(kind, Err(StoreErrorKind::WentBack)), "that the store went back", outcome);
}
