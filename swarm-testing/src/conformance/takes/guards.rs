//! The guards of a filing, and their order.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{SALT, TestTenant, count, day, filed, judged, odd_texts, session_draft};
use swarm_core::domain::MemberState::{Claimed, Inactive};
use swarm_core::domain::{AttemptId, Revision, SessionDraft, SessionState, SessionTerms, TakeId};
use swarm_core::rules::judge;
use swarm_core::store::Filed::{Late, NonceUsed, RevisionTaken, Stale};
use swarm_core::store::{Basis, Store};

pub async fn repeated_attempt_gets_the_original_result(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;
    let take = filed(tenant.file(&filing).await);
    expect_eq!(filed(tenant.file(&filing).await), take);
    tenant.filed(&author, &session, "amendment").await;
    expect_eq!(filed(tenant.file(&filing).await), take);
    tenant.edit(&author.id, |ada| ada.state = Inactive).await;
    expect_eq!(filed(tenant.file(&filing).await), take);
    tenant.amend(session.id, |session| session.state = SessionState::Aggregated).await;
    expect_eq!(filed(tenant.file(&filing).await), take);
    expect_eq!(tenant.takes(session.id).await.len(), 2);
}

pub async fn repeated_attempt_after_the_deadline_gets_the_original_result(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let submission = author.submission(&session, "nonce");
    let attempt = AttemptId([7; 16]);
    let facts = tenant.facts(&author, &submission).await;
    let take = filed(tenant.file(&judge(&facts, &submission, attempt, SALT).unwrap()).await);
    let deadline = facts.now;
    tenant.amend(session.id, |session| session.window_closes_at = Some(deadline)).await;
    tenant.pass(deadline).await;
    // The same attempt, judged with a deadline that has passed.
    let session = tenant.terms(session.id).await;
    let again = judge(&Basis { session, ..facts }, &submission, attempt, SALT).unwrap();
    expect_eq!(filed(tenant.file(&again).await), take);
}

pub async fn filing_is_stale_when_the_member_changed(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;
    tenant.edit(&author.id, |_| {}).await;
    expect_eq!(tenant.file(&filing).await, Stale);
    tenant.assert_unfiled(&author, &session, "nonce").await;
    expect_eq!(tenant.filed(&author, &session, "nonce").await.id, TakeId(1));
}

pub async fn filing_is_stale_when_the_session_changed(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let filing = tenant.judged(&author, &author.submission(&session, "nonce")).await;
    tenant.amend(session.id, |_| {}).await;
    expect_eq!(tenant.file(&filing).await, Stale);
    tenant.assert_unfiled(&author, &session, "nonce").await;
    expect_eq!(tenant.filed(&author, &session, "nonce").await.id, TakeId(1));
}

/// Sessions of other days or subjects do not matter. Judged again, the take is filed in the newer
/// session.
pub async fn filing_is_stale_when_there_is_a_newer_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    for round in 0..11 {
        let session = tenant.convened("subject").await;
        let [first, next] = [0, 1].map(|take| format!("{round}.{take}"));
        let filing = tenant.judged(&author, &author.submission(&session, &first)).await;
        tenant.convened("subject:").await;
        tenant.convene(&SessionDraft { date: day("2026-11-22"), ..session_draft("subject") }).await;
        let take = filed(tenant.file(&filing).await);

        let submission = author.submission(&session, &next);
        let filing = tenant.judged(&author, &submission).await;
        let newer = tenant.convened("subject").await;
        expect_eq!(tenant.file(&filing).await, Stale, "{newer:?} is newer");
        expect_eq!(tenant.takes(session.id).await, [take]);
        expect_eq!(tenant.facts(&author, &submission).await.spent, None);
        let again = filed(tenant.file(&tenant.judged(&author, &submission).await).await);
        expect_eq!((again.session_id, again.revision), (newer.id, Revision::FIRST));
    }
}

/// A filing is committed to the newest session, or not at all.
pub async fn no_take_is_filed_after_a_newer_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(16).await;
    for round in 0..16 {
        let session = tenant.convened("subject").await;
        let filings = tenant.judged_of_each(&authors, &session, &round.to_string()).await;
        let convening = tokio::spawn({
            let tenant = tenant.clone();
            async move { tenant.convened("subject").await }
        });
        let outcomes = tenant.race_to_file(filings).await;
        let newer = convening.await.unwrap();
        let landed = tenant.takes(session.id).await;
        expect_eq!(count(&outcomes, &Stale), 16 - landed.len());
        ensure!(
            landed.iter().all(|take| take.filed_at <= newer.convened_at),
            "no take is filed in a session once there is a newer one",
            (newer, landed)
        );
    }
}

pub async fn filing_commits_before_its_deadline(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let deadline = tenant.now().await.plus_millis(600_000);
    tenant.amend(session.id, |session| session.window_closes_at = Some(deadline)).await;
    tenant.filed(&author, &session, "nonce").await;
}

pub async fn filing_is_late_after_its_deadline(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.closed("subject").await;
    let facts = tenant.facts(&author, &author.submission(&session, "nonce")).await;
    let filing = judged(&in_time(facts), &author.submission(&session, "nonce"));
    expect_eq!(tenant.file(&filing).await, Late);
    tenant.assert_unfiled(&author, &session, "nonce").await;
    // If there is a newer session, the filing is stale, not late.
    tenant.convened("subject").await;
    expect_eq!(tenant.file(&filing).await, Stale);
    expect_eq!(tenant.filed(&author, &session, "nonce").await.id, TakeId(1));
}

/// The store compares with the guard of the filing, not with the session's record.
pub async fn deadline_guard_is_that_of_the_filing(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let (open, closed) = (tenant.convened("open").await, tenant.closed("closed").await);
    for (session, deadline) in [(&open, closed.window_closes_at), (&closed, None)] {
        let submission = author.submission(session, "nonce");
        let mut facts = tenant.facts(&author, &submission).await;
        let judged_by = facts.session.as_mut().unwrap();
        judged_by.record = Arc::new(SessionTerms { window_closes_at: deadline, ..session.terms() });
        let outcome = tenant.file(&judged(&in_time(facts), &submission)).await;
        expect_eq!(outcome == Late, deadline.is_some());
    }
    expect_eq!(tenant.takes(closed.id).await.len(), 1);
}

/// A nonce also counts in other sessions.
pub async fn nonce_is_used_once_per_member(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let sessions = [tenant.convened("subject").await, tenant.convened("other").await];
    let mut filings = Vec::new();
    for session in &sessions {
        filings.push(tenant.judged(&author, &author.submission(session, "nonce")).await);
    }
    let take = tenant.filed(&author, &sessions[0], "nonce").await;
    for filing in filings {
        expect_eq!(tenant.file(&filing).await, NonceUsed);
    }
    for session in &sessions {
        let facts = tenant.facts(&author, &author.submission(session, "nonce")).await;
        expect_eq!(facts.spent, Some(Arc::clone(&take).into()));
    }
    expect_eq!(tenant.takes(sessions[1].id).await, []);
    expect_eq!(tenant.filed(&author, &sessions[1], "fresh").await.id, TakeId(2));
}

pub async fn nonce_stays_used_in_every_member_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let submission = author.submission(&session, "nonce");
    let take = tenant.filed(&author, &session, "nonce").await;
    for state in [Inactive, Claimed] {
        tenant.edit(&author.id, |ada| ada.state = state).await;
    }
    let facts = tenant.facts(&author, &submission).await;
    let spent = (facts.spent.as_ref(), facts.latest);
    expect_eq!(spent, (Some(&take.into()), Some(Revision::FIRST)));
    let filing = judged(&Basis { spent: None, ..facts }, &submission);
    expect_eq!(tenant.file(&filing).await, NonceUsed);
}

/// Some ids and nonces give the same text when concatenated.
pub async fn nonces_of_members_are_independent(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let members = ["a", "a:b", "ab", "a\0b", "{a}", "1", "11"];
    let nonces = ["b:c", "c", "bc", "b\0c", ":b:c"];
    for member in members {
        let author = tenant.author(member).await;
        for (revision, nonce) in (1..).zip(nonces) {
            let take = tenant.filed(&author, &session, nonce).await;
            expect_eq!(take.revision.get(), revision, "{member:?} {nonce:?}");
        }
    }
}

/// Also the longest ones, of the member with the longest id.
pub async fn odd_nonces_are_distinct(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author(&"\u{1f680}".repeat(100)).await;
    let longest = ["a", "b"].map(|last| "\u{1f680}".repeat(199) + last);
    for nonces in [odd_texts(), longest.to_vec()].concat().chunks(5) {
        let session = tenant.convened("subject").await;
        for nonce in nonces {
            let facts = tenant.facts(&author, &author.submission(&session, nonce)).await;
            expect_eq!(facts.spent, None, "{nonce:?}");
            let take = tenant.filed(&author, &session, nonce).await;
            let facts = tenant.facts(&author, &author.submission(&session, nonce)).await;
            expect_eq!(facts.spent, Some(take.into()));
        }
    }
}

/// Some session numbers and member ids give the same text when concatenated.
pub async fn revisions_count_per_member_and_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let mut sessions = Vec::new();
    for subject in 1..=12 {
        sessions.push(tenant.convened(&subject.to_string()).await);
    }
    for member in ["1", "11", ":1", "1:1"] {
        let author = tenant.author(member).await;
        for session in &sessions {
            for revision in 1..=2 {
                let nonce = format!("{}.{revision}", session.id);
                let take = tenant.filed(&author, session, &nonce).await;
                expect_eq!(take.revision.get(), revision);
            }
        }
    }
}

pub async fn revision_is_taken_once(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    for revision in 1..=5 {
        let [won, lost] = [format!("won {revision}"), format!("lost {revision}")];
        let filing = tenant.judged(&author, &author.submission(&session, &lost)).await;
        expect_eq!(tenant.filed(&author, &session, &won).await.revision.get(), revision);
        expect_eq!(tenant.file(&filing).await, RevisionTaken);
        expect_eq!(tenant.facts(&author, &author.submission(&session, &lost)).await.spent, None);
    }
    expect_eq!(tenant.takes(session.id).await.len(), 5);
    let next = tenant.convened("next").await;
    expect_eq!(tenant.filed(&author, &next, "lost 1").await.id, TakeId(6));
}

pub async fn revision_cannot_be_skipped(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let submission = author.submission(&session, "nonce");
    for ahead in 1..=4 {
        let facts = tenant.facts(&author, &submission).await;
        let filing = judged(&Basis { latest: Revision::new(ahead), ..facts }, &submission);
        expect_eq!(tenant.file(&filing).await, RevisionTaken);
    }
    tenant.assert_unfiled(&author, &session, "nonce").await;
}

/// A filing that violates every guard is corrected step by step.
pub async fn filing_guards_are_checked_in_order(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let (session, other) = (tenant.closed("subject").await, tenant.convened("other").await);
    tenant.filed(&author, &other, "spent").await;
    let (spent, fresh) =
        (author.submission(&session, "spent"), author.submission(&session, "fresh"));
    let ahead = |facts: Basis| Basis { latest: Revision::new(3), ..unspent(in_time(facts)) };

    let stale = judged(&ahead(tenant.facts(&author, &spent).await), &spent);
    tenant.edit(&author.id, |_| {}).await;
    expect_eq!(tenant.file(&stale).await, Stale);

    let late = judged(&ahead(tenant.facts(&author, &spent).await), &spent);
    expect_eq!(tenant.file(&late).await, Late);
    tenant.amend(session.id, |session| session.window_closes_at = None).await;
    expect_eq!(tenant.file(&late).await, Stale);

    let replayed = judged(&ahead(tenant.facts(&author, &spent).await), &spent);
    expect_eq!(tenant.file(&replayed).await, NonceUsed);
    let early = judged(&ahead(tenant.facts(&author, &fresh).await), &fresh);
    expect_eq!(tenant.file(&early).await, RevisionTaken);
    tenant.assert_unfiled(&author, &session, "fresh").await;
    let _ = filed(tenant.file(&tenant.judged(&author, &fresh).await).await);
}

/// The facts with the time set to the deadline.
fn in_time(facts: Basis) -> Basis {
    let deadline = facts.session.as_ref().and_then(|session| session.record.window_closes_at);
    Basis { now: deadline.unwrap_or(facts.now), ..facts }
}

/// The facts before the nonce was used.
fn unspent(facts: Basis) -> Basis {
    Basis { spent: None, ..facts }
}
