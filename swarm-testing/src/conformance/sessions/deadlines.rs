//! Changes of deadlines concurrent with takes.

use tokio::task::JoinHandle;

use crate::TestTenant;
use crate::assertions::{ensure, expect_eq};
use swarm_core::domain::{Attribution, SessionPatch, Timestamp, Version};
use swarm_core::rules::Refusal;
use swarm_core::service::Error;
use swarm_core::store::Saved::{Saved, Stale};
use swarm_core::store::{SessionChange, Store};

/// A take at exactly that time is not after it, and takes in other sessions do not count.
pub async fn session_save_can_guard_the_time_of_the_last_take(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let (session, other) = (tenant.convened("subject").await, tenant.convened("other").await);
    let save = async |end: Timestamp| {
        let change = tenant.amended(session.id, |_| {}).await;
        let change = SessionChange { none_filed_after: Some(end), ..change };
        tenant.save_session(&change).await
    };
    let first = tenant.filed(&author, &session, "1").await.filed_at;
    expect_eq!(save(first.plus_millis(-1)).await, Stale);
    expect_eq!(save(first).await, Saved);
    tenant.pass(first).await;
    let last = tenant.filed(&author, &session, "2").await.filed_at;
    tenant.pass(last).await;
    tenant.filed(&author, &other, "3").await;
    for end in [Timestamp::EPOCH, first, last.plus_millis(-1)] {
        expect_eq!(save(end).await, Stale);
    }
    for end in [last, last.plus_millis(1), last.plus_millis(1_000_000_000_000)] {
        expect_eq!(save(end).await, Saved);
    }
    expect_eq!(tenant.session(session.id).await.unwrap().version, Version(5));

    let untouched = tenant.convened("untouched").await;
    let change = tenant.amended(untouched.id, |_| {}).await;
    let change = SessionChange { none_filed_after: Some(Timestamp::EPOCH), ..change };
    expect_eq!(tenant.save_session(&change).await, Saved);
}

/// While deadlines change and takes are filed concurrently, no stored take is late.
pub async fn moving_deadline_leaves_no_late_takes(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut filing = Vec::new();
    for name in 0..8 {
        let (tenant, session) = (tenant.clone(), session.clone());
        let author = tenant.author(&name.to_string()).await;
        filing.push(tokio::spawn(async move {
            for nonce in 0..5 {
                let submission = author.submission(&session, &nonce.to_string());
                // Ignore whether it was in time, late, or refused: only the stored takes matter.
                let _ = tenant.service().submit(&author.token, &submission).await;
            }
        }));
    }
    while !filing.iter().all(JoinHandle::is_finished) {
        let window_closes_at = Some(Some(tenant.now().await));
        let patch = SessionPatch { window_closes_at, ..SessionPatch::default() };
        if let Err(error) =
            tenant.service().amend_session(session.id, &patch, &Attribution::SCHEDULE).await
        {
            let filed_later = matches!(error, Error::Refused(Refusal::FiledLater));
            ensure!(filed_later, "a refusal only because of a stored take", error);
        }
        let Some(end) = tenant.session(session.id).await.unwrap().record.window_closes_at else {
            continue;
        };
        for take in tenant.takes(session.id).await {
            ensure!(take.filed_at <= end, "no take later than its deadline", (take, end));
        }
    }
}
