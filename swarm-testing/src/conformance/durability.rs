//! Durability: records and guards after a store is reopened.

use crate::assertions::{ensure, expect_eq};
use crate::{Author, TestTenant, applicant, creation, filed, id, key, mail, seed, session_draft};
use swarm_core::domain::MemberState::{Approved, Claimed};
use swarm_core::domain::SessionState::{Collecting, Published};
use swarm_core::domain::{Member, MemberState, SessionId, TakeId, TenantId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::Collection::Subjects;
use swarm_core::store::{
    ChallengeSlot, DocumentDraft, MemberChange, MemberSaved, ProvenChallenge, Put, SessionQuery,
    Store,
};

/// Covers every record and every read.
pub async fn records_survive_reopening(tenants: Store, reopen: impl AsyncFnOnce() -> Store) {
    let (tenant, _) = filled(tenants.clone()).await;
    let before = shown(&TestTenant::open(tenants, tenant.clone())).await;
    let after = shown(&TestTenant::open(reopen().await, tenant)).await;
    for (before, after) in before.into_iter().zip(after) {
        expect_eq!(after, before, "once the store was opened again");
    }
}

/// Used nonces and held keys survive, and no ids are reused.
pub async fn guards_survive_reopening(tenants: Store, reopen: impl AsyncFnOnce() -> Store) {
    let (tenant, filing) = filled(tenants.clone()).await;
    drop(tenants);
    let tenant = TestTenant::open(reopen().await, tenant);
    let (ada, session) = (Author::named("ada"), tenant.session(SessionId(1)).await.unwrap().record);

    expect_eq!(filed(tenant.file(&filing).await).id, TakeId(2), "the same attempt, sent again");
    let spent = ada.submission(&session, "2");
    let replayed = tenant.facts(&ada, &spent).await;
    expect_eq!(replayed.spent.map(|take| take.id()), Some(TakeId(2)), "a used nonce");
    let next = tenant.filed(&ada, &session, "3").await;
    expect_eq!((next.id, next.revision.get()), (TakeId(3), 3));
    expect_eq!(tenant.convened("subject").await.id, SessionId(3));

    let with_the_key = creation(&Member { public_key: Some(key("ada")), ..applicant("new") });
    expect_eq!(tenant.save_member(&with_the_key).await, MemberSaved::KeyHeld(id("ada")));
    let mut claim = tenant.edited(&id("grace"), |grace| grace.state = Claimed).await;
    claim.proven = Some(ProvenChallenge(seed("challenge")));
    claim.mail = Some(mail("second"));
    expect_eq!(tenant.save_member(&claim).await, MemberSaved::Saved, "proven by a live challenge");
    let queued = tenant.messages(None, None).await;
    let ids: Vec<_> = queued.iter().map(|message| message.record.id.0).collect();
    expect_eq!(ids, [1, 2]);
    expect_eq!(tenant.put_document(Subjects, &document("first")).await, Put::Exists);
    let second = tenant.put_document(Subjects, &document("second")).await;
    ensure!(matches!(&second, Put::Created(document) if document.id == 2), "number 2", second);
}

/// Stores one record of each kind. Returns the tenant, and the filing of take 2.
async fn filled(tenants: Store) -> (TenantId, Filing) {
    let tenant = TestTenant::fresh(tenants).await;
    let ada = tenant.author("ada").await;
    let grace = Member { state: Approved, ..applicant("grace") };
    let change = MemberChange { mail: Some(mail("first")), ..creation(&grace) };
    expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
    let challenge = tenant.live_challenge("challenge").await;
    tenant.set_challenge(&ChallengeSlot::Member(grace.id), &challenge).await;
    let (session, published) = (tenant.convened("subject").await, tenant.convened("other").await);
    let now = tenant.now().await;
    tenant.amend(published.id, |it| (it.state, it.published_at) = (Published, Some(now))).await;
    tenant.filed(&ada, &session, "1").await;
    let filing = tenant.judged(&ada, &ada.submission(&session, "2")).await;
    let _ = filed(tenant.file(&filing).await);
    let _ = tenant.put_document(Subjects, &document("first")).await;
    (tenant.id.clone(), filing)
}

/// The results of all reads, as text.
async fn shown(tenant: &TestTenant) -> Vec<String> {
    let ada = Author::named("ada");
    let mut everybody = tenant.all_members().await;
    everybody.sort_by(|a, b| a.id.cmp(&b.id));
    let all = SessionQuery { limit: 9, ..SessionQuery::default() };
    let draft = session_draft("subject");
    let on = SessionQuery { on: Some((draft.date, draft.subject_id.clone())), ..all.clone() };
    let collecting = SessionQuery { state: Some(Collecting), ..all.clone() };
    let session = tenant.session(SessionId(1)).await;
    let asked = draft.convened(SessionId(1), Timestamp::EPOCH);
    let facts = tenant.facts(&ada, &ada.submission(&asked, "2")).await;
    vec![
        format!("{:?}", tenant.member(&id("ada")).await),
        format!("{:?}", tenant.member(&id("grace")).await),
        format!("{everybody:?}"),
        format!("{:?}", tenant.members(&[MemberState::Approved]).await),
        format!("{:?}", tenant.bearer(&ada.token).await),
        format!("{:?}", tenant.messages(None, None).await),
        format!("{session:?} {:?}", tenant.session(SessionId(2)).await),
        format!("{:?} {:?}", tenant.sessions(&all).await, tenant.sessions(&on).await),
        format!("{:?} {:?}", tenant.sessions(&collecting).await, tenant.published(9).await),
        format!("{:?} {:?} {:?} {:?}", facts.member, facts.session, facts.latest, facts.spent),
        format!("{:?} {:?}", tenant.take(TakeId(1)).await, tenant.take(TakeId(2)).await),
        format!("{:?}", tenant.takes(SessionId(1)).await),
        format!("{:?}", tenant.documents(Subjects, None).await),
        format!("{:?}", tenant.documents(Subjects, Some("group")).await),
        format!("{:?}", tenant.document(Subjects, "first").await),
    ]
}

fn document(key: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: Some(key.to_owned()),
        group: "group".to_owned(),
        json: "{}".to_owned(),
        replace: false,
        guard: None,
        quota: None,
        act: None,
    }
}
