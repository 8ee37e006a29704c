//! Isolation of takes with the same id, author and nonce in two tenants.

use std::sync::Arc;

use super::{both, two_tenants};
use crate::assertions::expect_eq;
use crate::{Author, SALT, TestTenant, filed, id, session_draft};
use swarm_core::domain::{
    AttemptId, Body, Lens, Member, Revision, Session, SessionDraft, SessionId, StoredTake, Take,
    TakeDraft, TakeId, TakeOnFile,
};
use swarm_core::rules::judge;
use swarm_core::store::{MemberTakeQuery, Store, TakeQuery};

/// Each fact of a basis differs between the two tenants.
pub async fn basis_is_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let ada = filled(&pair).await;
    pair[1].edit(&id("ada"), |ada| ada.lens = Lens::parse("other").unwrap()).await;
    let sessions = [session(&pair[0], 1).await, session(&pair[1], 2).await];
    let mut takes = [vec![], vec![]];
    for (place, count) in [(0, 3), (1, 1)] {
        for nonce in ["a", "b", "c"].into_iter().take(count) {
            let take = pair[place].filed(&ada, &sessions[place], nonce).await;
            takes[place].push(take);
        }
    }
    for (((tenant, mark), session), takes) in both(&pair).into_iter().zip(&sessions).zip(&takes) {
        for (place, nonce) in ["a", "b", "c"].into_iter().enumerate() {
            let facts = tenant.facts(&ada, &ada.submission(session, nonce)).await;
            expect_eq!(facts.member, Some(tenant.stored(&ada.id).await), "of tenant {mark}");
            expect_eq!(facts.session, tenant.terms(session.id).await, "of tenant {mark}");
            let latest = Revision::new(u8::try_from(takes.len()).unwrap());
            expect_eq!(facts.latest, latest, "of tenant {mark}");
            let spent = takes.get(place).cloned().map(StoredTake::from);
            expect_eq!(facts.spent, spent, "nonce {nonce} of tenant {mark}");
        }
    }
}

/// Attempts, nonces, revisions, versions and newer sessions of the other tenant have no effect.
pub async fn filings_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let ada = filled(&pair).await;
    let [one, other] = &pair;
    for tenant in &pair {
        tenant.convened("subject").await;
    }
    let newest = [session(one, 2).await, session(other, 3).await];
    for (attempt, nonce) in [(1, "a"), (2, "b"), (3, "c")] {
        let take = land(one, &ada, &newest[0], nonce, attempt).await;
        expect_eq!((take.id, take.revision.get()), (TakeId(u64::from(attempt)), attempt));
    }
    one.edit(&ada.id, |_| {}).await;
    one.amend(SessionId(2), |_| {}).await;
    for (attempt, nonce) in [(1, "a"), (2, "c")] {
        let take = land(other, &ada, &newest[1], nonce, attempt).await;
        expect_eq!(take.session_id, SessionId(3), "the session of this tenant");
        expect_eq!((take.id, take.revision.get()), (TakeId(u64::from(attempt)), attempt));
        expect_eq!(other.takes(SessionId(3)).await.last(), Some(&take));
    }
    expect_eq!(one.takes(SessionId(2)).await.len(), 3);
    expect_eq!(one.takes(SessionId(3)).await, []);
}

pub async fn takes_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let mut own = [vec![], vec![]];
    for (((tenant, mark), own), nonces) in
        both(&pair).into_iter().zip(&mut own).zip([&["a"][..], &["a", "b"]])
    {
        let quorum = u32::try_from(nonces.len()).ok();
        let draft = SessionDraft { quorum, ..session_draft("subject") };
        let (ada, session) = (tenant.author("ada").await, tenant.convene(&draft).await);
        for nonce in nonces {
            let body = Body::parse(mark).unwrap();
            let submission = ada.sign(TakeDraft { body, ..ada.draft(&session, nonce) });
            own.push(filed(tenant.file(&tenant.judged(&ada, &submission).await).await));
        }
    }
    for ((tenant, mark), own) in both(&pair).into_iter().zip(&own) {
        expect_eq!(tenant.takes(SessionId(1)).await, *own, "of tenant {mark}");
        let latest = TakeQuery::latest(SessionId(1));
        let latest = tenant.session_takes(&latest).await.unwrap();
        let stored: Vec<_> = own.iter().cloned().map(StoredTake::from).collect();
        expect_eq!(latest.takes, stored[own.len() - 1..], "of tenant {mark}");
        expect_eq!(Some(latest.session), tenant.session(SessionId(1)).await, "of tenant {mark}");
        let found = tenant.session_authors(SessionId(1)).await.unwrap();
        expect_eq!(found.authors, [id("ada")], "of tenant {mark}");
        expect_eq!(Some(found.session), tenant.session(SessionId(1)).await, "of tenant {mark}");
        let context = tenant.take_context(TakeId(1)).await;
        expect_eq!(context.map(|it| it.revisions).as_ref(), Some(&stored), "of tenant {mark}");
        let by_ada = MemberTakeQuery { member: id("ada"), before: None, limit: 9 };
        let by_ada: Vec<_> =
            tenant.member_takes(&by_ada).await.into_iter().map(|it| it.take).collect();
        expect_eq!(by_ada, stored[own.len() - 1..], "of tenant {mark}");
        for (place, take) in own.iter().enumerate() {
            let superseded_by = own.get(place + 1).map(|next| next.id);
            let on_file = TakeOnFile { take: Arc::clone(take).into(), superseded_by };
            expect_eq!(tenant.take(take.id).await, Some(on_file), "of tenant {mark}");
        }
    }
    expect_eq!(pair[0].take(TakeId(2)).await, None);
}

/// Creates the member `ada` in both tenants, one session in the first and two in the other.
async fn filled(pair: &[TestTenant; 2]) -> Author {
    let ada = Author::named("ada");
    for ((tenant, mark), sessions) in both(pair).into_iter().zip([1, 2]) {
        tenant.create(&Member { lens: Lens::parse(mark).unwrap(), ..ada.member() }).await;
        for _ in 0..sessions {
            tenant.convened("subject").await;
        }
    }
    ada
}

async fn session(tenant: &TestTenant, id: u64) -> Arc<Session> {
    tenant.session(SessionId(id)).await.unwrap().record
}

async fn land(
    tenant: &TestTenant,
    ada: &Author,
    session: &Session,
    nonce: &str,
    attempt: u8,
) -> Arc<Take> {
    let submission = ada.submission(session, nonce);
    let facts = tenant.facts(ada, &submission).await;
    let filing = judge(&facts, &submission, AttemptId([attempt; 16]), SALT);
    match filing {
        Ok(filing) => filed(tenant.file(&filing).await),
        Err(rejection) => panic!("facts of another tenant: {:?} of {facts:?}", rejection.reason),
    }
}
