//! Tenants that are removed, and others of their names that come later.
#![allow(clippy::unwrap_used, reason = "a test panics")]

use std::sync::Arc;

use swarm_core::domain::{
    Actor, Attribution, Contact, Day, Enrolment, Name, Session, SessionDraft, Subject,
};
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::service::signed_log::{LogSigner, Signing};
use swarm_core::store::{Caller, Store, StoreErrorKind};
use swarm_core::{Error, Refusal, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::Author;

use crate::signed_log::Memory;

fn id() -> TenantId {
    TenantId::parse("acme").unwrap()
}

/// Makes a member with the key of this author, and a session.
async fn set_up(desk: &Tenant, author: &Author) -> Result<Arc<Session>, Error> {
    let (name, contact) = (Name::parse("Ada").unwrap(), Contact::parse("ada").unwrap());
    let member = Enrolment::new("ada".parse().unwrap(), name, contact, author.key());
    desk.enrol(&member, &Actor::OPERATOR).await?;
    let subject = Subject::new("aurora".parse().unwrap(), "Aurora");
    let _ = desk.put_subject(&subject, &Actor::OPERATOR).await?;
    let draft = SessionDraft::new(Day::parse("2026-11-21").unwrap(), subject.id);
    desk.convene(&draft, &Attribution::from(Actor::OPERATOR)).await
}

#[tokio::test]
async fn tenant_of_a_removed_name_begins_another_log() {
    let store: Store = MemoryStore::new().into();
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    let (acme, ada) = (swarm.tenant(&id()), Author::named("ada"));
    set_up(&acme, &ada).await.unwrap();
    store.remove(&id()).await.unwrap();
    store.ready().await.unwrap();
    assert!(store.tenants().await.unwrap().is_empty());

    // A handle from before would mix both.
    let refused = set_up(&acme, &ada).await.unwrap_err();
    let Error::Store(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.kind(), StoreErrorKind::WentBack);
    store.ready().await.unwrap();
    let later = swarm.tenant(&id());
    set_up(&later, &ada).await.unwrap();
    store.ready().await.unwrap();
    assert_eq!(later.log_position().await.unwrap().log, 1);
}

#[tokio::test]
async fn other_process_is_not_ready_until_it_forgets_the_tenant() {
    let store: Store = MemoryStore::new().into();
    let other = store.opened_again();
    let ada = Author::named("ada");
    set_up(&Swarm::new(store.clone(), SystemEntropy).tenant(&id()), &ada).await.unwrap();
    let served = Swarm::new(other.clone(), SystemEntropy).tenant(&id());
    served.log_position().await.unwrap();
    store.remove(&id()).await.unwrap();
    assert_eq!(other.ready().await.unwrap_err().kind(), StoreErrorKind::WentBack);
    other.forget(&id());
    other.ready().await.unwrap();
    set_up(&Swarm::new(other.clone(), SystemEntropy).tenant(&id()), &ada).await.unwrap();
}

#[tokio::test]
async fn tenant_that_was_set_aside_counts_once_it_is_opened_again() {
    let memory = MemoryStore::new();
    let store: Store = memory.clone().into();
    let (swarm, ada) = (Swarm::new(store.clone(), SystemEntropy), Author::named("ada"));
    let acme = swarm.tenant(&id());
    let backup = memory.copy();
    set_up(&acme, &ada).await.unwrap();
    memory.go_back_to(&backup);
    assert_eq!(store.ready().await.unwrap_err().kind(), StoreErrorKind::WentBack);
    store.set_aside(&id());
    store.ready().await.unwrap();
    let refused = set_up(&swarm.tenant(&id()), &ada).await.unwrap_err();
    let Error::Store(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.kind(), StoreErrorKind::WentBack);
    assert_eq!(store.ready().await.unwrap_err().kind(), StoreErrorKind::WentBack);
}

/// The member of the later tenant has the same id and version, but another key.
#[tokio::test]
async fn cached_facts_of_a_removed_tenant_do_not_count() {
    let store: Store = MemoryStore::new().into();
    let swarm = Swarm::new(store.clone(), SystemEntropy).with_basis_cache();
    let (ada, other) = (Author::named("ada"), Author::named("other"));
    let acme = swarm.tenant(&id());
    let session = set_up(&acme, &ada).await.unwrap();
    let caller = Caller::Authenticated(&ada.id);
    acme.submit(caller, &ada.submission(&session, "1")).await.unwrap();
    store.remove(&id()).await.unwrap();
    let later = swarm.tenant(&id());
    let session = set_up(&later, &other).await.unwrap();
    let refused = later.submit(caller, &ada.submission(&session, "2")).await.unwrap_err();
    let Error::Refused(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.reason, Refusal::BadSignature);
}

#[tokio::test]
async fn checkpoint_of_a_removed_tenant_is_forgotten_on_demand() {
    let store: Store = MemoryStore::new().into();
    let swarm = Swarm::new(store.clone(), SystemEntropy);
    let signer = LogSigner::new(ServerSecret::new([1; 32]), Memory::default());
    let (acme, ada) = (swarm.tenant(&id()), Author::named("ada"));
    set_up(&acme, &ada).await.unwrap();
    let log = acme.signed_log("acme.example", &signer).unwrap();
    assert!(matches!(log.sign().await.unwrap(), Signing::Signed(_)));
    store.remove(&id()).await.unwrap();
    log.forget_checkpoint().unwrap();
    let later = swarm.tenant(&id());
    set_up(&later, &ada).await.unwrap();
    let log = later.signed_log("acme.example", &signer).unwrap();
    assert!(matches!(log.sign().await.unwrap(), Signing::Signed(_)));
    store.ready().await.unwrap();
}
