//! Concurrent takes.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{TestTenant, count, filed, race};
use swarm_core::domain::TakeId;
use swarm_core::rules::Refusal;
use swarm_core::service::SubmitError;
use swarm_core::store::Filed::{NonceUsed, RevisionTaken};
use swarm_core::store::Store;

pub async fn concurrent_repeats_of_an_attempt_file_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let filing = Arc::new(tenant.judged(&author, &author.submission(&session, "nonce")).await);
    let send = |_| {
        let (tenant, filing) = (tenant.clone(), Arc::clone(&filing));
        async move { filed(tenant.file(&filing).await) }
    };
    let takes = race((0..16).map(send)).await;
    expect_eq!(count(&takes, &takes[0]), 16);
    expect_eq!(tenant.takes(session.id).await, takes[..1]);
}

pub async fn concurrent_filings_of_one_revision_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    for revision in 1..=5 {
        let nonce = |racer: usize| format!("{revision}.{racer}");
        let mut filings = Vec::new();
        for racer in 0..32 {
            filings.push(tenant.judged(&author, &author.submission(&session, &nonce(racer))).await);
        }
        let outcomes = tenant.race_to_file(filings).await;
        expect_eq!(count(&outcomes, &RevisionTaken), 31);
        let won =
            outcomes.into_iter().find(|outcome| *outcome != RevisionTaken).map(filed).unwrap();
        expect_eq!((won.revision.get(), won.id), (revision, TakeId(u64::from(revision))));
        expect_eq!(tenant.takes(session.id).await.last(), Some(&won));
    }
}

pub async fn concurrent_filings_with_one_nonce_commit_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let sessions = [tenant.convened("subject").await, tenant.convened("other").await];
    let mut filings = Vec::new();
    for racer in 0..32 {
        let submission = author.submission(&sessions[racer % 2], "nonce");
        filings.push(tenant.judged(&author, &submission).await);
    }
    let outcomes = tenant.race_to_file(filings).await;
    expect_eq!(count(&outcomes, &NonceUsed), 31);
    let [first, second] = [&sessions[0], &sessions[1]].map(|session| tenant.takes(session.id));
    expect_eq!(first.await.len() + second.await.len(), 1);
}

pub async fn concurrent_members_all_file(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let mut filings = Vec::new();
    for racer in 0..32 {
        let author = tenant.author(&format!("member {racer}")).await;
        filings.push(tenant.judged(&author, &author.submission(&session, "nonce")).await);
    }
    let mut takes: Vec<_> = tenant.race_to_file(filings).await.into_iter().map(filed).collect();
    takes.sort_by_key(|take| take.id);
    let ids: Vec<u64> = takes.iter().map(|take| take.id.0).collect();
    expect_eq!(ids, (1..=32).collect::<Vec<_>>());
    ensure!(takes.is_sorted_by_key(|take| take.filed_at), "times in the order of ids", takes);
    expect_eq!(tenant.takes(session.id).await, takes);
}

/// Through the service: some nonces are used twice, and a member may file five takes.
pub async fn concurrent_submissions_get_consecutive_revisions(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    for round in 0..4 {
        let session = tenant.convened("subject").await;
        let submit = |racer: usize| {
            let submission = author.submission(&session, &format!("{round}.{}", racer % 48));
            let (service, token) = (tenant.service(), author.token);
            async move { service.submit(&token, &submission).await }
        };
        let mut stand = Vec::new();
        for outcome in race((0..64).map(submit)).await {
            match outcome {
                Ok(take) => stand.push(take),
                Err(SubmitError::Refused(refused)) => ensure!(
                    matches!(
                        refused.reason,
                        Refusal::LostRace | Refusal::CapReached { .. } | Refusal::NonceUsed
                    ),
                    "a lost race, the cap, or a nonce used",
                    refused
                ),
                Err(error) => panic!("{error}"),
            }
        }
        stand.sort_by_key(|take| take.id);
        let revisions: Vec<u8> = stand.iter().map(|take| take.revision.get()).collect();
        ensure!((1..=5).contains(&stand.len()), "one take at least, five at most", stand);
        expect_eq!(revisions, (1..).take(stand.len()).collect::<Vec<_>>());
        expect_eq!(tenant.takes(session.id).await, stand);
    }
}

/// So a client that lost the response learns that its take was filed.
pub async fn replay_returns_the_original_take(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let submission = author.submission(&session, "nonce");
    let submit = |_| {
        let (service, token, submission) = (tenant.service(), author.token, submission.clone());
        async move { service.submit(&token, &submission).await }
    };
    let outcomes = race((0..16).map(submit)).await;
    let takes = tenant.takes(session.id).await;
    expect_eq!(takes.len(), 1);
    let mut accepted = 0;
    for outcome in outcomes {
        match outcome {
            Ok(take) => accepted += usize::from(take == takes[0]),
            Err(SubmitError::Refused(refused)) => {
                expect_eq!(
                    (refused.reason, refused.original),
                    (Refusal::NonceUsed, Some(TakeId(1)))
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
    expect_eq!(accepted, 1);
}
