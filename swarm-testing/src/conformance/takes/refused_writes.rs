//! Refused writes that run concurrently with accepted ones.

use std::pin::Pin;
use std::sync::Arc;

use crate::assertions::expect_eq;
use crate::{
    Author, TestTenant, act, applicant, creation, filed, id, judged, key, mail, race, session_draft,
};
use swarm_core::domain::{Member, MessageId, Session, SessionId, SessionTerms, Timestamp, Version};
use swarm_core::rules::{Filing, Refusal};
use swarm_core::store::Collection::Subjects;
use swarm_core::store::{
    Basis, DocumentDraft, Filed, MemberSaved, MessageChange, Put, Saved, SessionChange, Store,
};

/// This must hold even if a store commits writes in batches, for every kind of refusal.
pub async fn refused_write_does_not_affect_others(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let authors = tenant.authors(8).await;
    let _ = tenant.put_document(Subjects, &document("there")).await;
    for round in 0..8 {
        let session = tenant.convened("subject").await;
        let mut racers: Vec<Racer> = Vec::new();
        for author in &authors {
            let submission = author.submission(&session, &session.id.to_string());
            let facts = tenant.facts(author, &submission).await;
            racers.extend(refusals(&tenant, late(author, facts.clone(), &session)));
            racers.push(good(&tenant, judged(&facts, &submission)));
        }
        race(racers).await;
        let takes = tenant.takes(session.id).await;
        expect_eq!(takes.len(), authors.len(), "all takes of round {round} stored");
    }
}

type Racer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A filing that must be committed, and then be found.
fn good(tenant: &TestTenant, filing: Filing) -> Racer {
    let tenant = tenant.clone();
    Box::pin(async move {
        let take = filed(tenant.file(&filing).await);
        let found = tenant.take(take.id).await.map(|found| found.take);
        expect_eq!(found, Some(take.into()), "a take that was acknowledged");
    })
}

/// Writes that must be refused, some with ids beyond the range of most stores.
fn refusals(tenant: &TestTenant, late: Filing) -> Vec<Racer> {
    let [one, two, three, four, five] = [(); 5].map(|()| tenant.clone());
    vec![
        Box::pin(async move { expect_eq!(one.file(&late).await, Filed::Late) }),
        Box::pin(async move {
            let taken = creation(&Member { public_key: Some(key("0")), ..applicant("new") });
            expect_eq!(two.save_member(&taken).await, MemberSaved::KeyHeld(id("0")));
        }),
        Box::pin(async move {
            let session = session_draft("s").convened(SessionId(u64::MAX), Timestamp::EPOCH);
            let change = SessionChange {
                session,
                expected: Version(u64::MAX),
                takes: None,
                takes_refusal: Refusal::TakesSealed,
                none_filed_after: None,
                withdrawn: false,
                acts: vec![act("stale")],
                opens: false,
            };
            expect_eq!(three.save_session(&change).await, Saved::Stale);
        }),
        Box::pin(async move {
            let message = mail("x").queued(MessageId(u64::MAX), Timestamp::EPOCH);
            let change = MessageChange::new(message, Version(u64::MAX));
            expect_eq!(four.save_message(&change).await, Saved::Stale);
        }),
        Box::pin(async move {
            expect_eq!(five.put_document(Subjects, &document("there")).await, Put::Exists);
        }),
    ]
}

/// A filing with another nonce that was judged in time, but whose deadline has passed.
fn late(author: &Author, mut facts: Basis, session: &Session) -> Filing {
    let deadline = facts.now.plus_millis(-1_000);
    if let Some(session) = &mut facts.session {
        let terms = SessionTerms::clone(&session.record);
        session.record = Arc::new(SessionTerms { window_closes_at: Some(deadline), ..terms });
    }
    let submission = author.submission(session, &format!("late {}", session.id));
    judged(&Basis { now: deadline, ..facts }, &submission)
}

fn document(key: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: Some(key.to_owned()),
        group: String::new(),
        json: "{}".to_owned(),
        replace: false,
        guard: None,
        quota: None,
        act: None,
    }
}
