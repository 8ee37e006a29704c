//! Takes, and the facts that they are judged on.

mod clock;
mod consistency;
mod guards;
mod latest;
mod marks;
mod races;
mod refused_writes;

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{Author, TestTenant, day, filed, judged, odd_texts, session_draft};
use swarm_core::domain::MemberState::{Applied, Approved, Claimed, Inactive, Rejected};
use swarm_core::domain::{
    Body, Bucket, Confidence, MemoUrl, Nonce, Revision, Session, SessionDraft, SessionId, Stance,
    TakeDraft, TakeId, TakeOnFile, Weight, Weights,
};
use swarm_core::proof::{canonical, verify};
use swarm_core::store::Store;

pub use clock::*;
pub use consistency::*;
pub use guards::*;
pub use latest::*;
pub use marks::*;
pub use races::*;
pub use refused_writes::*;

pub async fn basis_of_unknown_token_and_session_has_only_the_time(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let (author, stranger) = (tenant.author("ada").await, Author::named("grace"));
    let session = tenant.convened("subject").await;
    let elsewhere = session_draft("elsewhere").convened(session.id, session.convened_at);
    let before = tenant.now().await;

    let facts = tenant.facts(&stranger, &author.submission(&session, "nonce")).await;
    expect_eq!((facts.member, facts.latest, facts.spent), (None, None, None));
    expect_eq!(facts.session, tenant.terms(session.id).await);
    ensure!(
        (before..=tenant.now().await).contains(&facts.now),
        "a time by the store\'s clock, during the call",
        facts.now
    );

    let facts = tenant.facts(&author, &author.submission(&elsewhere, "nonce")).await;
    expect_eq!((facts.session, facts.latest, facts.spent), (None, None, None));
    expect_eq!(facts.member, tenant.member(&author.id).await.member);
    ensure!(
        (before..=tenant.now().await).contains(&facts.now),
        "a time by the store\'s clock, during the call",
        facts.now
    );
}

pub async fn basis_has_members_in_every_state(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let take = tenant.filed(&author, &session, "nonce").await;
    for state in [Applied, Approved, Claimed, Rejected, Inactive] {
        tenant.edit(&author.id, |ada| ada.state = state).await;
        let facts = tenant.facts(&author, &author.submission(&session, "nonce")).await;
        expect_eq!(facts.member, tenant.member(&author.id).await.member);
        expect_eq!(
            (facts.latest, facts.spent),
            (Some(Revision::FIRST), Some(Arc::clone(&take).into()))
        );
    }
}

pub async fn basis_has_the_newest_session_of_the_day(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    for number in 1..=11 {
        let session = tenant.convened("subject").await;
        let facts = tenant.facts(&author, &author.submission(&session, "nonce")).await;
        expect_eq!(facts.session.unwrap().record.id, SessionId(number));
        expect_eq!(facts.latest, None);
        let take = tenant.filed(&author, &session, &format!("nonce {number}")).await;
        expect_eq!((take.session_id, take.revision), (session.id, Revision::FIRST));
    }
}

pub async fn basis_has_the_session_of_the_requested_day(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let mut sessions = Vec::new();
    for date in ["2026-11-21", "2026-11-23", "2026-11-22"].map(day) {
        sessions.push(tenant.convene(&SessionDraft { date, ..session_draft("subject") }).await);
    }
    for session in sessions {
        let facts = tenant.facts(&author, &author.submission(&session, "nonce")).await;
        expect_eq!(*facts.session.unwrap().record, session.terms());
    }
}

pub async fn basis_distinguishes_odd_subjects(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let mut sessions = Vec::new();
    for subject in odd_texts() {
        sessions.push(tenant.convened(&subject).await);
    }
    for session in sessions {
        let take = tenant.filed(&author, &session, session.subject_id.as_str()).await;
        expect_eq!((take.session_id, take.revision), (session.id, Revision::FIRST));
        expect_eq!(tenant.takes(session.id).await, [take]);
    }
}

/// All fields are unchanged byte for byte, so that the signature still verifies.
pub async fn take_round_trips(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("a:{b}*\0").await;
    let session = tenant.convened("\u{1f680}\0\n{a}").await;
    for draft in full_drafts(&author, &session) {
        let submission = author.sign(draft.clone());
        let (facts, before) = (tenant.facts(&author, &submission).await, tenant.now().await);
        let filing = judged(&facts, &submission);
        let take = filed(tenant.file(&filing).await);
        ensure!(
            (before..=tenant.now().await).contains(&take.filed_at),
            "a time by the store\'s clock, during the call",
            take.filed_at
        );
        expect_eq!(*take, filing.take(take.id, take.filed_at));
        expect_eq!(canonical(take.draft()), canonical(&draft));
        ensure!(
            verify(&take.signed, &take.public_key).is_some(),
            "a take that its key verifies",
            take
        );

        let on_file = TakeOnFile { take: Arc::clone(&take).into(), superseded_by: None };
        expect_eq!(tenant.take(take.id).await, Some(on_file));
        expect_eq!(tenant.takes(session.id).await.last(), Some(&take));
        expect_eq!(tenant.facts(&author, &submission).await.spent, Some(take.into()));
    }
}

/// Each take names the revision that superseded it.
pub async fn take_ids_count_from_one_and_revisions_are_linked(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = [tenant.author("ada").await, tenant.author("grace").await];
    let sessions = [tenant.convened("subject").await, tenant.convened("other").await];
    let mut takes = Vec::new();
    expect_eq!(tenant.last_take().await, TakeId(0));
    for revision in 1..=5 {
        for author in &authors {
            for session in &sessions {
                let nonce = format!("{}-{revision}", session.id);
                let take = tenant.filed(author, session, &nonce).await;
                let facts = tenant.facts(author, &author.submission(session, &nonce)).await;
                expect_eq!((take.revision.get(), facts.latest), (revision, Some(take.revision)));
                expect_eq!(tenant.last_take().await, take.id);
                takes.push(take);
            }
        }
    }
    let mut all = Vec::new();
    for (place, take) in takes.iter().enumerate() {
        expect_eq!(take.id, TakeId(place as u64 + 1));
        let superseded_by = takes.get(place + 4).map(|next| next.id);
        let on_file = TakeOnFile { take: Arc::clone(take).into(), superseded_by };
        expect_eq!(tenant.take(take.id).await, Some(on_file.clone()));
        all.insert(0, on_file);
    }
    // From one that does not exist to another.
    expect_eq!(tenant.takes_by_id((0..=21).rev().map(TakeId).collect()).await, all);
    for session in sessions {
        let in_session = takes.iter().filter(|take| take.session_id == session.id).cloned();
        expect_eq!(tenant.takes(session.id).await, in_session.collect::<Vec<_>>());
    }
}

pub async fn unknown_take_is_none(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    tenant.filed(&author, &session, "nonce").await;
    for unknown in [0, 2, u64::MAX] {
        expect_eq!(tenant.take(TakeId(unknown)).await, None);
        expect_eq!(tenant.takes(SessionId(unknown)).await, []);
    }
}

pub async fn filing_does_not_change_member_or_session(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let before = (tenant.stored(&author.id).await, tenant.session(session.id).await);
    tenant.filed(&author, &session, "nonce").await;
    expect_eq!((tenant.stored(&author.id).await, tenant.session(session.id).await), before);
}

/// Fields with the maximum length, or with unusual characters.
fn full_drafts(author: &Author, session: &Session) -> [TakeDraft; 3] {
    let weight =
        |(name, weight): (String, f64)| Weight { bucket: Bucket::parse(name).unwrap(), weight };
    let odd = odd_texts()
        .into_iter()
        .zip([5e-324, 0.1 + 0.2, 1e300, 0.0, 1.0, 123.0].into_iter().cycle());
    let controls: String = (0..=0x9f).filter_map(char::from_u32).collect();
    let plain = author.draft(session, "plain");
    let odd = TakeDraft {
        nonce: Nonce::parse("\0\r\n\"\\ ").unwrap(),
        stance: Stance::parse("\u{202e}e\u{301}\u{ffff}").unwrap(),
        confidence: Confidence::parse(-0.0).unwrap(),
        body: Body::parse(controls + "\u{2028}\u{2029}\u{feff}\u{10ffff}").unwrap(),
        memo_url: MemoUrl::parse(" javascript:\0").unwrap(),
        weights: Some(Weights::parse(odd.map(weight).collect()).unwrap()),
        ..plain.clone()
    };
    let long = TakeDraft {
        nonce: Nonce::parse("\u{1f680}".repeat(200)).unwrap(),
        stance: Stance::parse("\u{1f680}".repeat(100)).unwrap(),
        confidence: Confidence::parse(5e-324).unwrap(),
        body: Body::parse("\u{1f680}".repeat(10_000)).unwrap(),
        memo_url: MemoUrl::parse("\u{1f680}".repeat(2_000)).unwrap(),
        ..plain.clone()
    };
    [plain, odd, long]
}
