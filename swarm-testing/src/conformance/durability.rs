//! Durability: records and guards after a store is reopened.

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::{Author, World, applicant, creation, filed, id, key, mail, seed, session_draft};
use swarm_core::domain::MemberState::{Approved, Claimed};
use swarm_core::domain::SessionState::{Collecting, Published};
use swarm_core::domain::{Member, MemberState, SessionId, TakeId, TenantId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::Collection::Subjects;
use swarm_core::store::{
    ChallengeSlot, DocumentDraft, MemberChange, MemberSaved, ProvenChallenge, Put, SessionQuery,
    Tenants,
};

/// Covers every record and every read.
pub async fn records_survive_reopening(
    tenants: Arc<dyn Tenants>,
    reopen: impl AsyncFnOnce() -> Arc<dyn Tenants>,
) {
    let (tenant, _) = filled(Arc::clone(&tenants)).await;
    let before = shown(&World::open(tenants, tenant.clone())).await;
    let after = shown(&World::open(reopen().await, tenant)).await;
    for (before, after) in before.into_iter().zip(after) {
        expect_eq!(after, before, "once the store was opened again");
    }
}

/// Used nonces and held keys survive, and no ids are reused.
pub async fn guards_survive_reopening(
    tenants: Arc<dyn Tenants>,
    reopen: impl AsyncFnOnce() -> Arc<dyn Tenants>,
) {
    let (tenant, filing) = filled(Arc::clone(&tenants)).await;
    drop(tenants);
    let world = World::open(reopen().await, tenant);
    let (ada, session) = (Author::named("ada"), world.session(SessionId(1)).await.unwrap().record);

    expect_eq!(filed(world.file(&filing).await).id, TakeId(2), "the same attempt, sent again");
    let spent = ada.submission(&session, "2");
    let replayed = world.facts(&ada, &spent).await;
    expect_eq!(replayed.spent.map(|take| take.id), Some(TakeId(2)), "a used nonce");
    let next = world.filed(&ada, &session, "3").await;
    expect_eq!((next.id, next.revision.get()), (TakeId(3), 3));
    expect_eq!(world.convened("subject").await.id, SessionId(3));

    let with_the_key = creation(&Member { public_key: Some(key("ada")), ..applicant("new") });
    expect_eq!(world.save_member(&with_the_key).await, MemberSaved::KeyHeld(id("ada")));
    let mut claim = world.edited(&id("grace"), |grace| grace.state = Claimed).await;
    claim.proven = Some(ProvenChallenge(seed("challenge")));
    claim.mail = Some(mail("second"));
    expect_eq!(world.save_member(&claim).await, MemberSaved::Saved, "proven by a live challenge");
    let queued = world.messages(None, None).await;
    let ids: Vec<_> = queued.iter().map(|message| message.record.id.0).collect();
    expect_eq!(ids, [1, 2]);
    expect_eq!(world.put_document(Subjects, &document("first")).await, Put::Exists);
    let second = world.put_document(Subjects, &document("second")).await;
    ensure!(matches!(&second, Put::Created(document) if document.id == 2), "number 2", second);
}

/// Stores one record of each kind. Returns the tenant, and the filing of take 2.
async fn filled(tenants: Arc<dyn Tenants>) -> (TenantId, Filing) {
    let world = World::fresh(tenants).await;
    let ada = world.author("ada").await;
    let grace = Member { state: Approved, ..applicant("grace") };
    let change = MemberChange { mail: Some(mail("first")), ..creation(&grace) };
    expect_eq!(world.save_member(&change).await, MemberSaved::Saved);
    let challenge = world.live_challenge("challenge").await;
    world.set_challenge(&ChallengeSlot::Member(grace.id), &challenge).await;
    let (session, published) = (world.convened("subject").await, world.convened("other").await);
    let now = world.now().await;
    world.amend(published.id, |it| (it.state, it.published_at) = (Published, Some(now))).await;
    world.filed(&ada, &session, "1").await;
    let filing = world.judged(&ada, &ada.submission(&session, "2")).await;
    let _ = filed(world.file(&filing).await);
    let _ = world.put_document(Subjects, &document("first")).await;
    (world.id.clone(), filing)
}

/// The results of all reads, as text.
async fn shown(world: &World) -> Vec<String> {
    let ada = Author::named("ada");
    let mut everybody = world.all_members().await;
    everybody.sort_by(|a, b| a.id.cmp(&b.id));
    let all = SessionQuery { limit: 9, ..SessionQuery::default() };
    let draft = session_draft("subject");
    let on = SessionQuery { on: Some((draft.date, draft.subject_id.clone())), ..all.clone() };
    let collecting = SessionQuery { state: Some(Collecting), ..all.clone() };
    let session = world.session(SessionId(1)).await;
    let asked = draft.convened(SessionId(1), Timestamp::EPOCH);
    let facts = world.facts(&ada, &ada.submission(&asked, "2")).await;
    vec![
        format!("{:?}", world.member(&id("ada")).await),
        format!("{:?}", world.member(&id("grace")).await),
        format!("{everybody:?}"),
        format!("{:?}", world.members(&[MemberState::Approved]).await),
        format!("{:?}", world.bearer(&ada.token).await),
        format!("{:?}", world.messages(None, None).await),
        format!("{session:?} {:?}", world.session(SessionId(2)).await),
        format!("{:?} {:?}", world.sessions(&all).await, world.sessions(&on).await),
        format!("{:?} {:?}", world.sessions(&collecting).await, world.published(9).await),
        format!("{:?} {:?} {:?} {:?}", facts.member, facts.session, facts.latest, facts.spent),
        format!("{:?} {:?}", world.take(TakeId(1)).await, world.take(TakeId(2)).await),
        format!("{:?}", world.takes(SessionId(1)).await),
        format!("{:?}", world.documents(Subjects, None).await),
        format!("{:?}", world.documents(Subjects, Some("group")).await),
        format!("{:?}", world.document(Subjects, "first").await),
    ]
}

fn document(key: &str) -> DocumentDraft {
    DocumentDraft {
        key: Some(key.to_owned()),
        group: "group".to_owned(),
        json: "{}".to_owned(),
        replace: false,
        guard: None,
        quota: None,
        act: None,
    }
}
