//! Tenants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::spawn_blocking;

use crate::domain::{Challenge, MessageId, SessionId, TakeId, TenantId};
use crate::store::{
    Collection::Subjects, Document, DocumentDraft, MemberChange, MemberSaved, Put, SessionQuery,
    Slot, Tenants,
};
use crate::testing::{World, applicant, creation, mail, secret};

pub async fn the_store_gives_a_sign_of_life(tenants: Arc<dyn Tenants>) {
    tenants.ready().await.unwrap();
}

/// Members with one name, key, token and nonce live in both, and both count from 1.
pub async fn worlds_share_nothing(tenants: Arc<dyn Tenants>) {
    for world in alike(tenants).await {
        let author = world.author("ada").await;
        let session = world.convened("subject").await;
        assert_eq!(session.id, SessionId(1));
        assert_eq!(world.filed(&author, &session, "nonce").await.id, TakeId(1));

        let mail = Some(mail("hello"));
        let change = MemberChange { mail, ..creation(&applicant("grace")) };
        assert_eq!(world.save_member(&change).await, MemberSaved::Saved);
        assert_eq!(
            world.messages(None, None).await.iter().map(|it| it.record.id).collect::<Vec<_>>(),
            [MessageId(1)]
        );
        let created = world.put_document(Subjects, &document()).await;
        assert!(matches!(created, Put::Created(Document { id: 1, .. })));
    }
}

pub async fn nothing_is_seen_from_another_world(tenants: Arc<dyn Tenants>) {
    let [world, others @ ..] = alike(tenants).await;
    let author = world.author("ada").await;
    let session = world.convened("subject").await;
    let take = world.filed(&author, &session, "nonce").await;
    let challenge =
        Challenge { hash: secret("challenge"), expires_at: world.now().await.plus_millis(60_000) };
    world.set_challenge(&Slot::Member(author.id.clone()), &challenge).await;
    assert!(matches!(world.put_document(Subjects, &document()).await, Put::Created(_)));

    for other in others {
        assert_eq!(other.everybody().await, []);
        assert_eq!(other.bearer(&author.token).await, None);
        assert_eq!(other.member(&author.id).await.challenge, None);
        assert_eq!(other.session(session.id).await, None);
        assert_eq!(other.sessions(&SessionQuery { limit: 9, ..SessionQuery::default() }).await, []);
        assert_eq!((other.take(take.id).await, other.takes(session.id).await), (None, vec![]));
        assert_eq!(other.messages(None, None).await, []);
        assert_eq!(other.documents(Subjects, None).await, []);
        let facts = other.facts(&author, &author.submission(&session, "nonce")).await;
        assert_eq!((facts.member, facts.session, facts.latest), (None, None, None));
        assert_eq!(facts.spent, None);
    }
}

pub async fn a_world_opened_twice_is_the_same(tenants: Arc<dyn Tenants>) {
    let world = World::fresh(Arc::clone(&tenants)).await;
    let author = world.author("ada").await;
    let again = World::open(tenants, world.id.clone());
    assert_eq!(again.everybody().await, world.everybody().await);
    let session = again.convened("subject").await;
    let take = again.filed(&author, &session, "nonce").await;
    assert_eq!(world.takes(session.id).await, [take]);
}

pub async fn a_world_opened_by_racers_is_one(tenants: Arc<dyn Tenants>) {
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
        // To open is not `async`: on threads of their own, the racers do meet.
        spawn_blocking(|| (0..500).map(open).collect::<Vec<World>>())
    };
    let [one, other] = [(), ()].map(open_all);
    for (one, other) in one.await.unwrap().iter().zip(other.await.unwrap()) {
        one.create(&applicant("ada")).await;
        assert_eq!(other.everybody().await.len(), 1);
    }
}

fn document() -> DocumentDraft {
    let (key, json) = (Some("key".to_owned()), "{}".to_owned());
    DocumentDraft { key, group: String::new(), json, replace: false, guard: None }
}

/// Fresh worlds whose names begin alike.
async fn alike(tenants: Arc<dyn Tenants>) -> [World; 4] {
    let world = World::fresh(Arc::clone(&tenants)).await;
    let [dash, letter, word] = ["-", "x", "-members"].map(|more| {
        let name = TenantId::parse(format!("{}{more}", world.id)).unwrap();
        World::open(Arc::clone(&tenants), name)
    });
    [world, dash, letter, word]
}
