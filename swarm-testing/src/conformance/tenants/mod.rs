//! Isolation of tenants.

mod documents;
mod log;
mod members;
mod outbox;
mod sessions;
mod takes;
mod two_tenants;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::spawn_blocking;

use crate::assertions::{ensure, expect_eq};
use crate::{World, applicant, creation, mail};
use swarm_core::domain::{MessageId, SessionId, TakeId, TenantId};
use swarm_core::store::{
    ChallengeSlot, Collection::Subjects, Document, DocumentDraft, MemberChange, MemberSaved, Put,
    SessionQuery, Tenants,
};

pub use documents::*;
pub use log::*;
pub use members::*;
pub use outbox::*;
pub use sessions::*;
pub use takes::*;

pub async fn store_is_ready(tenants: Arc<dyn Tenants>) {
    let ready = tenants.ready().await;
    ensure!(ready.is_ok(), "a store that is ready", ready);
}

/// Both tenants can use the same names, keys, tokens and nonces, and their ids count from 1.
pub async fn tenants_share_nothing(tenants: Arc<dyn Tenants>) {
    for world in alike(tenants).await {
        let author = world.author("ada").await;
        let session = world.convened("subject").await;
        expect_eq!(session.id, SessionId(1));
        expect_eq!(world.filed(&author, &session, "nonce").await.id, TakeId(1));

        let mail = Some(mail("hello"));
        let change = MemberChange { mail, ..creation(&applicant("grace")) };
        expect_eq!(world.save_member(&change).await, MemberSaved::Saved);
        expect_eq!(
            world.messages(None, None).await.iter().map(|it| it.record.id).collect::<Vec<_>>(),
            [MessageId(1)]
        );
        let created = world.put_document(Subjects, &document()).await;
        ensure!(
            matches!(created, Put::Created(Document { id: 1, .. })),
            "the first document",
            created
        );
    }
}

pub async fn records_are_invisible_to_other_tenants(tenants: Arc<dyn Tenants>) {
    let [world, others @ ..] = alike(tenants).await;
    let author = world.author("ada").await;
    let session = world.convened("subject").await;
    let take = world.filed(&author, &session, "nonce").await;
    let challenge = world.live_challenge("challenge").await;
    world.set_challenge(&ChallengeSlot::Member(author.id.clone()), &challenge).await;
    let put = world.put_document(Subjects, &document()).await;
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

pub async fn tenant_opened_twice_is_the_same(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(Arc::clone(&tenants)).await;
    let author = world.author("ada").await;
    let again = World::open(tenants, world.id.clone());
    expect_eq!(again.all_members().await, world.all_members().await);
    let session = again.convened("subject").await;
    let take = again.filed(&author, &session, "nonce").await;
    expect_eq!(world.takes(session.id).await, [take]);
}

pub async fn tenant_opened_concurrently_is_the_same(tenants: Arc<dyn Tenants>) {
    let fresh = World::fresh(Arc::clone(&tenants)).await.id;
    let arrived = Arc::new(AtomicUsize::new(0));
    let open_all = |_| {
        let (tenants, fresh, arrived) = (Arc::clone(&tenants), fresh.clone(), Arc::clone(&arrived));
        let open = move |number: usize| {
            let name = TenantId::parse(format!("{fresh}-raced-{number}")).unwrap();
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 * (number + 1) {
                std::thread::yield_now();
            }
            World::open(Arc::clone(&tenants), name)
        };
        // Opening is not `async`, so concurrency needs threads.
        spawn_blocking(|| (0..500).map(open).collect::<Vec<World>>())
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
async fn alike(tenants: Arc<dyn Tenants>) -> [World; 4] {
    let world = World::fresh(Arc::clone(&tenants)).await;
    let [dash, letter, word] = ["-", "x", "-members"].map(|more| {
        let name = TenantId::parse(format!("{}{more}", world.id)).unwrap();
        World::open(Arc::clone(&tenants), name)
    });
    [world, dash, letter, word]
}
