//! Cases of dump and restore.

mod filled_tenant;
mod reads;

use std::sync::Arc;

use crate::assertions::{ensure, expect_eq};
use crate::committee;
use crate::{TestTenant, act, applicant, creation, id, judged, key, mail};
use filled_tenant::{FilledTenant, document};
use swarm_core::TenantId;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{Member, MessageId, Seq, SessionId, TakeId};
use swarm_core::store::{
    Basis, Collection, CommitteeDayChange, CommitteeFiled, DocumentDraft, DocumentQuota, Dump,
    Filed, MemberChange, MemberSaved, Put, Restored, Store, Stored,
};

/// Challenges do not count: anybody may request one.
pub async fn unused_tenant_has_only_a_head(store: Store) {
    let tenant = TestTenant::fresh(store.clone()).await;
    let challenge = tenant.live_challenge("challenge").await;
    tenant.set_challenge(&swarm_core::store::ChallengeSlot::Decoy, &challenge).await;
    let dumped = dumped(&store, &tenant.id).await;
    let [Stored::Head(head)] = dumped.as_slice() else {
        return ensure!(false, "only a head", dumped);
    };
    expect_eq!((head.log, head.messages, head.sessions), (Seq(0), MessageId(0), SessionId(0)));
    ensure!(!store.tenants().await.unwrap().contains(&tenant.id), "not listed", tenant.id);
}

pub async fn used_tenants_are_listed_by_id(store: Store) {
    let applied = TestTenant::fresh(store.clone()).await;
    applied.create(&applicant("ada")).await;
    let convened = TestTenant::fresh(store.clone()).await;
    convened.convened("aurora").await;
    let seated = TestTenant::fresh(store.clone()).await;
    let committee = committee::TestCommittee::open(store.clone(), seated.id.clone());
    committee.seat("grace").await;
    let listed = store.tenants().await.unwrap();
    ensure!(listed.is_sorted(), "in the order of the ids", listed);
    for id in [applied.id, convened.id, seated.id] {
        expect_eq!(listed.iter().filter(|it| **it == id).count(), 1, "{id}");
    }
}

pub async fn restored_tenant_dumps_the_same(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let before = dumped(&store, &filled.tenant.id).await;
    for (place, record) in before.iter().enumerate() {
        ensure!(!before[..place].contains(record), "each record once", record);
    }
    let moved = moved(&store, &filled.tenant.id).await;
    expect_eq!(dumped(&store, &moved).await, before);
    ensure!(store.tenants().await.unwrap().contains(&moved), "listed", moved);
}

pub async fn restored_tenant_reads_the_same(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let moved = TestTenant::open(store.clone(), moved(&store, &filled.tenant.id).await);
    let before = reads::of(&store, &filled.tenant, &filled).await;
    let after = reads::of(&store, &moved, &filled).await;
    expect_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(&before) {
        expect_eq!(after, before);
    }
}

pub async fn restored_tenant_keeps_its_guards(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let moved = TestTenant::open(store.clone(), moved(&store, &filled.tenant.id).await);
    let FilledTenant { author, session, .. } = &filled;
    let spent = author.submission(session, "2");
    let facts = Basis { spent: None, ..moved.facts(author, &spent).await };
    expect_eq!(moved.file(&judged(&facts, &spent)).await, Filed::NonceUsed);
    let other = Member { public_key: Some(author.key()), ..applicant("other") };
    let held = moved.save_member(&creation(&other)).await;
    expect_eq!(held, MemberSaved::KeyHeld(author.id.clone()));
    let exists = moved.put_document(Collection::Signals, &document("odd", "group")).await;
    expect_eq!(exists, Put::Exists);
}

pub async fn restored_tenant_continues_its_ids(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let moved = moved(&store, &filled.tenant.id).await;
    let before = next(&store, &filled.tenant.id, &filled).await;
    let after = next(&store, &moved, &filled).await;
    expect_eq!(after, before);
}

/// The ids, revisions and numbers that the next commits get.
async fn next(
    store: &Store,
    tenant: &TenantId,
    filled: &FilledTenant,
) -> (TakeId, u8, Vec<u64>, SessionId, MessageId, u64, Seq) {
    let tenant = TestTenant::open(store.clone(), tenant.clone());
    let (author, session) = (&filled.author, &filled.session);
    let take = tenant.filed(author, session, "next").await;
    let superseded = tenant.take(filled.last.id).await.and_then(|last| last.superseded_by);
    expect_eq!(superseded, Some(take.id));
    let change =
        MemberChange { mail: Some(mail("next")), ..creation(&applicant("next applicant")) };
    expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
    let messages = tenant.messages(None, None).await;
    let mut bytes = 2;
    for collection in [Collection::Subjects, Collection::SubjectSnapshots, Collection::Signals] {
        let documents = tenant.documents(collection, None).await;
        bytes += documents.iter().map(|document| document.json.len() as u64).sum::<u64>();
    }
    let large = |most| DocumentDraft {
        json: "{}".to_owned(),
        quota: Some(DocumentQuota::default().with_max_bytes(most)),
        ..document("large", "g")
    };
    let put = tenant.put_document(Collection::Subjects, &large(bytes - 1)).await;
    expect_eq!(put, Put::NoRoom, "beyond the size of before");
    let put = tenant.put_document(Collection::Subjects, &large(bytes)).await;
    ensure!(matches!(put, Put::Created(_)), "a document within the size", put);
    let mut made = Vec::new();
    for collection in Collection::ALL {
        match tenant.put_document(collection, &document("next", "g")).await {
            Put::Created(document) => made.push(document.id),
            other => panic!("no document was created: {other:?}"),
        }
    }
    let committee = committee::TestCommittee::open(store.clone(), tenant.id.clone());
    committee.filed(&filled.seat, filled.day, "next").await;
    let submitted = committee.takes_on(filled.day).await.len();
    (
        take.id,
        take.revision.get(),
        made,
        tenant.convened("next").await.id,
        messages.last().map_or(MessageId(0), |message| message.record.id),
        submitted as u64,
        tenant.log_size().await,
    )
}

/// The quota counts submissions of before the move.
pub async fn restored_committee_keeps_its_quotas(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let moved = moved(&store, &filled.tenant.id).await;
    let committee = committee::TestCommittee::open(store.clone(), moved);
    // The member has filed two on that day.
    let judged = async || committee.judged(&filled.seat, filled.day, "over").await;
    let over = judged().await.with_quota(2);
    expect_eq!(outcome(committee.file(&over).await), None);
    let within = judged().await.with_quota(3);
    ensure!(outcome(committee.file(&within).await).is_some(), "filed", within);
}

fn outcome(filed: CommitteeFiled) -> Option<Arc<CommitteeTake>> {
    match filed {
        CommitteeFiled::Filed(take) => Some(take),
        _ => None,
    }
}

/// Commits made after the dump began do not show, whatever they change.
pub async fn dump_shows_one_moment(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let FilledTenant { tenant, author, session, .. } = &filled;
    let before = dumped(&store, &tenant.id).await;
    let mut dump = store.dump(&tenant.id).await.unwrap();
    next(&store, &tenant.id, &filled).await;
    tenant.edit(&author.id, |member| member.token = None).await;
    tenant.edit(&id("applied"), |member| member.public_key = Some(key("another"))).await;
    tenant.amend(session.id, |session| session.quorum = Some(7)).await;
    let replaced = swarm_core::store::DocumentDraft {
        replace: true,
        json: "{\"replaced\":1}".to_owned(),
        act: Some(act("odd")),
        ..document("odd", "group")
    };
    let put = tenant.put_document(Collection::Signals, &replaced).await;
    ensure!(matches!(put, Put::Replaced(_)), "replaced", put);
    let committee = committee::TestCommittee::open(store.clone(), tenant.id.clone());
    committee.seat("later").await;
    let brief = committee::brief("seat", "later");
    let day = committee::first_save(&committee::open_day("2999-01-01", "aurora"));
    committee.put_day(&CommitteeDayChange { briefs: Some(vec![brief]), ..day }).await;
    expect_eq!(read_all(&mut dump).await, before);
}

pub async fn tenant_with_records_is_not_restored_into(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let records = dumped(&store, &filled.tenant.id).await;
    for kind in ["member", "session", "committee"] {
        let occupied = TestTenant::fresh(store.clone()).await;
        match kind {
            "member" => occupied.create(&applicant("ada")).await,
            "session" => drop(occupied.convened("aurora").await),
            _ => {
                let committee = committee::TestCommittee::open(store.clone(), occupied.id.clone());
                committee.seat("grace").await;
            }
        }
        let before = dumped(&store, &occupied.id).await;
        let free = fresh(&store).await;
        let mut restore = store.restore().await.unwrap();
        for tenant in [&free, &occupied.id] {
            restore.write(tenant, records.clone()).await.unwrap();
        }
        let refused = Restored::Occupied(occupied.id.clone());
        expect_eq!(restore.commit().await.unwrap(), refused, "{kind}");
        expect_eq!(dumped(&store, &occupied.id).await, before, "{kind}");
        ensure!(!store.tenants().await.unwrap().contains(&free), "untouched", free);
    }
}

/// A store may block other commits for the duration instead: then they fail.
pub async fn tenant_used_meanwhile_is_not_restored_into(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let records = dumped(&store, &filled.tenant.id).await;
    let tenant = fresh(&store).await;
    let mut restore = store.restore().await.unwrap();
    restore.write(&tenant, records.clone()).await.unwrap();
    let change = creation(&applicant("meanwhile"));
    let committed = store.open(&tenant).save_member(&change).await.is_ok();
    let outcome = restore.commit().await.unwrap();
    if committed {
        expect_eq!(outcome, Restored::Occupied(tenant.clone()));
        expect_eq!(TestTenant::open(store, tenant).all_members().await.len(), 1);
    } else {
        expect_eq!(outcome, Restored::Complete);
        expect_eq!(dumped(&store, &tenant).await, records);
    }
}

/// Neither before the commit, nor after it is discarded or dropped.
pub async fn restore_without_commit_leaves_nothing(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let records = dumped(&store, &filled.tenant.id).await;
    let tenant = TestTenant::open(store.clone(), fresh(&store).await);
    for discard in [true, false] {
        let mut restore = store.restore().await.unwrap();
        restore.write(&tenant.id, records.clone()).await.unwrap();
        expect_eq!(tenant.all_members().await.len(), 0);
        expect_eq!(tenant.log_size().await, Seq(0));
        expect_eq!(tenant.session(SessionId(1)).await, None);
        if discard {
            restore.discard().await.unwrap();
        } else {
            drop(restore);
        }
        expect_eq!(dumped(&store, &tenant.id).await.len(), 1, "discarded: {discard}");
    }
    let mut restore = store.restore().await.unwrap();
    restore.write(&tenant.id, records.clone()).await.unwrap();
    expect_eq!(restore.commit().await.unwrap(), Restored::Complete);
    expect_eq!(dumped(&store, &tenant.id).await, records);
}

pub async fn tenants_restored_together_are_separate(store: Store) {
    let filled = FilledTenant::of(&store).await;
    let other = TestTenant::fresh(store.clone()).await;
    other.author("other").await;
    let sources = [filled.tenant.id.clone(), other.id];
    let targets = [fresh(&store).await, fresh(&store).await];
    let mut restore = store.restore().await.unwrap();
    for (source, target) in sources.iter().zip(&targets) {
        for batch in dumped(&store, source).await.chunks(7) {
            restore.write(target, batch.to_vec()).await.unwrap();
        }
    }
    expect_eq!(restore.commit().await.unwrap(), Restored::Complete);
    for (source, target) in sources.iter().zip(&targets) {
        expect_eq!(dumped(&store, target).await, dumped(&store, source).await);
    }
}

/// Moves a tenant to a new one of the same store, in small batches.
async fn moved(store: &Store, from: &TenantId) -> TenantId {
    let to = fresh(store).await;
    let mut restore = store.restore().await.unwrap();
    for batch in dumped(store, from).await.chunks(7) {
        restore.write(&to, batch.to_vec()).await.unwrap();
    }
    expect_eq!(restore.commit().await.unwrap(), Restored::Complete);
    to
}

/// The id of a tenant that is not used.
async fn fresh(store: &Store) -> TenantId {
    TestTenant::fresh(store.clone()).await.id
}

/// All records of a tenant.
async fn dumped(store: &Store, tenant: &TenantId) -> Vec<Stored> {
    read_all(&mut store.dump(tenant).await.unwrap()).await
}

async fn read_all(dump: &mut Dump) -> Vec<Stored> {
    let mut records = Vec::new();
    loop {
        let batch = dump.next().await.unwrap();
        if batch.is_empty() {
            return records;
        }
        records.extend(batch);
    }
}
