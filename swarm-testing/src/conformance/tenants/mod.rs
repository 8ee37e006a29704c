//! Isolation of tenants.

mod members;
mod sessions;
mod takes;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swarm_core::domain::{
    MailState, Message, MessageId, Seq, SessionId, TakeId, TenantId, Version,
};
use swarm_core::store::Collection::Subjects;
use swarm_core::store::{
    ChallengeSlot, Document, DocumentDraft, DocumentGuard, DocumentQuery, DocumentQuota,
    MemberChange, MemberSaved, MessageChange, Put, Saved, SessionChange, SessionQuery, Store,
};
use tokio::task::spawn_blocking;

use crate::assertions::{ensure, expect_eq};
use crate::{TestTenant, applicant, creation, id, mail};

pub use members::*;
pub use sessions::*;
pub use takes::*;

pub async fn store_is_ready(tenants: Store) {
    let ready = tenants.ready().await;
    ensure!(ready.is_ok(), "a store that is ready", ready);
}

/// Both tenants can use the same names, keys, tokens and nonces, and their ids count from 1.
pub async fn tenants_share_nothing(tenants: Store) {
    for tenant in alike(tenants).await {
        let author = tenant.author("ada").await;
        let session = tenant.convened("subject").await;
        expect_eq!(session.id, SessionId(1));
        expect_eq!(tenant.filed(&author, &session, "nonce").await.id, TakeId(1));

        let mail = Some(mail("hello"));
        let change = MemberChange { mail, ..creation(&applicant("grace")) };
        expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
        expect_eq!(
            tenant.messages(None, None).await.iter().map(|it| it.record.id).collect::<Vec<_>>(),
            [MessageId(1)]
        );
        let created = tenant.put_document(Subjects, &document()).await;
        ensure!(
            matches!(created, Put::Created(Document { id: 1, .. })),
            "the first document",
            created
        );
    }
}

pub async fn records_are_invisible_to_other_tenants(tenants: Store) {
    let [tenant, others @ ..] = alike(tenants).await;
    let author = tenant.author("ada").await;
    let session = tenant.convened("subject").await;
    let take = tenant.filed(&author, &session, "nonce").await;
    let challenge = tenant.live_challenge("challenge").await;
    tenant.set_challenge(&ChallengeSlot::Member(author.id.clone()), &challenge).await;
    let put = tenant.put_document(Subjects, &document()).await;
    ensure!(matches!(put, Put::Created(_)), "a new document", put);

    for other in others {
        expect_eq!(other.all_members().await, []);
        expect_eq!(other.bearer(&author.token).await, None);
        expect_eq!(other.member(&author.id).await.challenge, None);
        expect_eq!(other.session(session.id).await, None);
        expect_eq!(other.sessions(&SessionQuery { limit: 9, ..SessionQuery::default() }).await, []);
        expect_eq!((other.take(take.id).await, other.takes(session.id).await), (None, vec![]));
        expect_eq!(other.messages(None, None).await, []);
        expect_eq!(other.documents(Subjects, None).await, []);
        let facts = other.facts(&author, &author.submission(&session, "nonce")).await;
        expect_eq!((facts.member, facts.session, facts.latest), (None, None, None));
        expect_eq!(facts.spent, None);
    }
}

pub async fn tenant_opened_twice_is_the_same(tenants: Store) {
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let author = tenant.author("ada").await;
    let again = TestTenant::open(tenants, tenant.id.clone());
    expect_eq!(again.all_members().await, tenant.all_members().await);
    let session = again.convened("subject").await;
    let take = again.filed(&author, &session, "nonce").await;
    expect_eq!(tenant.takes(session.id).await, [take]);
}

pub async fn dry_run_is_judged_and_writes_nothing(tenants: Store) {
    let tenant = TestTenant::fresh(tenants).await;
    let session = tenant.convened("subject").await;
    let (position, on_file) = (tenant.log_position().await, tenant.session(session.id).await);
    let dry = tenant.dry_run();
    expect_eq!(dry.convened("another").await.id, SessionId(0));
    let change = dry.amended(session.id, |session| session.quorum = Some(5)).await;
    let with_takes = SessionChange { takes: Some(1), ..change.clone() };
    expect_eq!(dry.save_session(&with_takes).await, Saved::Stale);
    expect_eq!(dry.save_session(&change).await, Saved::Saved);
    expect_eq!(tenant.session(session.id).await, on_file);
    expect_eq!(tenant.log_position().await, position);
    expect_eq!(tenant.convened("another").await.id, SessionId(2));
    expect_eq!(tenant.save_session(&change).await, Saved::Saved);
    expect_eq!(dry.save_session(&change).await, Saved::Stale, "of the version before");
}

pub async fn tenant_opened_concurrently_is_the_same(tenants: Store) {
    let fresh = TestTenant::fresh(tenants.clone()).await.id;
    let arrived = Arc::new(AtomicUsize::new(0));
    let open_all = |_| {
        let (tenants, fresh, arrived) = (tenants.clone(), fresh.clone(), Arc::clone(&arrived));
        let open = move |number: usize| {
            let name = TenantId::parse(format!("{fresh}-raced-{number}")).unwrap();
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 * (number + 1) {
                std::thread::yield_now();
            }
            TestTenant::open(tenants.clone(), name)
        };
        // Opening is not `async`, so concurrency needs threads.
        spawn_blocking(|| (0..500).map(open).collect::<Vec<TestTenant>>())
    };
    let [one, other] = [(), ()].map(open_all);
    for (one, other) in one.await.unwrap().iter().zip(other.await.unwrap()) {
        one.create(&applicant("ada")).await;
        expect_eq!(other.all_members().await.len(), 1);
    }
}

fn document() -> DocumentDraft {
    let (key, json) = (Some("key".to_owned()), "{}".to_owned());
    DocumentDraft {
        held_until: None,
        key,
        group: String::new(),
        json,
        replace: false,
        guard: None,
        quota: None,
        act: None,
    }
}

/// New tenants whose names have a common prefix.
async fn alike(tenants: Store) -> [TestTenant; 4] {
    let tenant = TestTenant::fresh(tenants.clone()).await;
    let [dash, letter, word] = ["-", "x", "-members"].map(|more| {
        let name = TenantId::parse(format!("{}{more}", tenant.id)).unwrap();
        TestTenant::open(tenants.clone(), name)
    });
    [tenant, dash, letter, word]
}

/// Two new tenants. A case stores records with the same ids, keys, tokens and nonces in both and
/// reads both, so a method that ignores its tenant fails in one of them.
async fn two_tenants(tenants: Store) -> [TestTenant; 2] {
    let one = TestTenant::fresh(tenants.clone()).await;
    let other = TenantId::parse(format!("{}-x", one.id)).unwrap();
    let other = TestTenant::open(tenants, other);
    [one, other]
}

/// Both tenants, each with a distinct text to put into its records.
fn both(pair: &[TestTenant; 2]) -> [(&TestTenant, &'static str); 2] {
    [(&pair[0], "one"), (&pair[1], "other")]
}

pub async fn documents_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let mut own = [vec![], vec![]];
    for key in ["a", "b"] {
        for ((tenant, mark), own) in both(&pair).into_iter().zip(&mut own) {
            own.push(written(tenant.put_document(Subjects, &draft(key, mark)).await));
        }
    }
    // Replace it only in the other tenant.
    own[1][0] = written(pair[1].put_document(Subjects, &draft("a", "replaced")).await);
    for ((tenant, mark), own) in both(&pair).into_iter().zip(&own) {
        expect_eq!(tenant.documents(Subjects, None).await, *own, "of tenant {mark}");
        expect_eq!(tenant.documents(Subjects, Some("group")).await, *own, "of tenant {mark}");
        for document in own {
            let read = tenant.document(Subjects, &document.key).await;
            expect_eq!(read.as_ref(), Some(document), "of tenant {mark}");
        }
    }
}

/// Keys, ids and versions of members of the other tenant have no effect.
pub async fn document_writes_are_isolated_by_tenant(tenants: Store) {
    let [one, other] = two_tenants(tenants).await;
    for tenant in [&one, &other] {
        tenant.create(&applicant("ada")).await;
    }
    one.edit(&id("ada"), |_| {}).await;
    let once = |key, version| DocumentDraft {
        replace: false,
        guard: Some(DocumentGuard::Member(id("ada"), Version(version))),
        ..draft(key, "once")
    };
    expect_eq!(one.put_document(Subjects, &once("a", 1)).await, Put::Stale);
    expect_eq!(other.put_document(Subjects, &once("a", 2)).await, Put::Stale);
    for (tenant, version) in [(&one, 2), (&other, 1)] {
        let first = written(tenant.put_document(Subjects, &once("a", version)).await);
        expect_eq!((first.id, first.key.as_str()), (1, "a"));
        expect_eq!(tenant.put_document(Subjects, &once("a", version)).await, Put::Exists);
    }
}

pub async fn document_sizes_are_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    let quota = Some(DocumentQuota::default().with_max_bytes(8));
    for (tenant, _) in both(&pair) {
        let draft = DocumentDraft { quota, ..draft("a", "mark") };
        written(tenant.put_document(Subjects, &draft).await);
        expect_eq!(tenant.document_page(Subjects, &all()).await.documents.len(), 1);
        expect_eq!(tenant.documents(Subjects, None).await.len(), 1);
    }
}

fn all() -> DocumentQuery {
    DocumentQuery { after: None, limit: 9, bytes: usize::MAX, without_texts: false }
}

fn draft(key: &str, mark: &str) -> DocumentDraft {
    DocumentDraft {
        held_until: None,
        key: Some(key.to_owned()),
        group: "group".to_owned(),
        json: format!("{mark:?}"),
        replace: true,
        guard: None,
        quota: None,
        act: None,
    }
}

fn written(outcome: Put) -> Document {
    match outcome {
        Put::Created(document) | Put::Replaced(document) => document,
        other => panic!(
            "a document of this tenant only\n  expected: Created or Replaced\n  actual: {other:?}"
        ),
    }
}

pub async fn mail_is_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for (tenant, mark) in both(&pair) {
        for name in ["ada", "grace"] {
            let change = MemberChange { mail: Some(mail(mark)), ..creation(&applicant(name)) };
            expect_eq!(tenant.save_member(&change).await, MemberSaved::Saved);
        }
    }
    let [one, other] = &pair;
    let first = one.messages(None, None).await.swap_remove(0);
    let message = Message { state: MailState::Sent, ..Message::clone(&first.record) };
    let sent = MessageChange::new(message, first.version);
    expect_eq!(one.save_message(&sent).await, Saved::Saved);
    expect_eq!(one.save_message(&sent).await, Saved::Stale);
    let states = |sent| [sent, MailState::Queued];
    for (tenant, mark, states) in
        [(one, "one", states(MailState::Sent)), (other, "other", states(MailState::Queued))]
    {
        let all = tenant.messages(None, None).await;
        let seen: Vec<_> = all.iter().map(|it| (it.record.id.0, it.record.state)).collect();
        expect_eq!(seen, [(1, states[0]), (2, states[1])], "of tenant {mark}");
        let marks: Vec<_> = all.iter().map(|it| it.record.mail.subject.as_str()).collect();
        expect_eq!(marks, [mark; 2], "of tenant {mark}");
        let queued = states.iter().filter(|state| **state == MailState::Queued).count();
        let found = tenant.messages(Some(MailState::Queued), None).await;
        expect_eq!(found, all[2 - queued..], "queued of tenant {mark}");
        expect_eq!(tenant.messages(None, Some(MessageId(1))).await, all[1..], "after the first");
    }
    let other_first = other.messages(None, None).await.swap_remove(0);
    let message = Message { attempts: 1, ..Message::clone(&other_first.record) };
    let change = MessageChange::new(message, other_first.version);
    expect_eq!(other.save_message(&change).await, Saved::Saved, "whatever became of the other's");
}

pub async fn log_is_isolated_by_tenant(tenants: Store) {
    let pair = two_tenants(tenants).await;
    for ((tenant, _), saves) in both(&pair).into_iter().zip([1, 2]) {
        let session = tenant.convened("subject").await;
        for _ in 0..saves {
            tenant.amend(session.id, |session| session.quorum = Some(saves)).await;
        }
    }
    for ((tenant, mark), rows) in both(&pair).into_iter().zip([2, 3]) {
        let log = tenant.log(Seq(0), 9).await;
        let numbers: Vec<_> = log.iter().map(|row| row.seq.0).collect();
        expect_eq!(numbers, (1..=rows).collect::<Vec<_>>(), "of tenant {mark}");
        expect_eq!(tenant.log_size().await, Seq(rows), "of tenant {mark}");
        expect_eq!(tenant.log(Seq(1), 9).await, log[1..], "of tenant {mark}");
        let session = tenant.session(SessionId(1)).await.map(|it| it.record.convened_at);
        expect_eq!(log.first().map(|row| row.at), session, "of tenant {mark}");
        expect_eq!(tenant.acts_on(SessionId(1)).await, log, "of tenant {mark}");
    }
}
