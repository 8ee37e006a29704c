//! Helpers for tests of a tenant through stores that may fail, where `swarm_testing` would panic.

#![allow(dead_code, reason = "not every test needs every helper")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

pub(crate) mod committee;
pub(crate) mod snapshots;

use std::time::Duration;

use swarm_core::domain::{Attribution, MemberState};
use swarm_core::rules::{Filing, convene};
use swarm_core::store::{
    Basis, Collection, Convocation, DocumentDraft, Filed, MemberChange, MemberQuery, MemberSaved,
    MessageQuery, Put, Records, Result, SessionQuery,
};
use swarm_core::{Session, TakeId, TenantId};
use swarm_store_redis::RedisStore;
use swarm_testing::{Author, mail, session_draft, takes_of};
use tokio::time::{sleep, timeout};

/// Longest time that any call may take, failures included.
pub(crate) const BOUND: Duration = Duration::from_secs(6);

/// All sessions, up to 1,000.
pub(crate) const ALL: SessionQuery =
    SessionQuery { on: None, state: None, before: None, limit: 1_000, without_snapshots: false };

/// The same tenant, through any store of the same server.
pub(crate) fn open(store: &RedisStore) -> Records {
    store.open(&TenantId::parse("acme").unwrap())
}

/// Saves a claimed member.
pub(crate) async fn joined(store: &Records, name: &str) -> Author {
    let author = Author::named(name);
    assert_eq!(store.save_member(&author.creation()).await.unwrap(), MemberSaved::Saved);
    author
}

/// The write of a new member, and of a message to it.
pub(crate) fn creation_with_mail(author: &Author) -> MemberChange {
    MemberChange { mail: Some(mail("Hello")), ..author.creation() }
}

/// The facts that a take for the session is judged by.
pub(crate) async fn facts(
    store: &Records,
    author: &Author,
    session: &Session,
    nonce: &str,
) -> Result<Basis> {
    author.basis(store, &author.submission(session, nonce)).await
}

/// A take for the session, judged by the current facts; an error if the store fails.
pub(crate) async fn try_judge(
    store: &Records,
    author: &Author,
    session: &Session,
    nonce: &str,
) -> Result<Filing> {
    let facts = facts(store, author, session, nonce).await?;
    Ok(swarm_testing::judged(&facts, &author.submission(session, nonce)))
}

/// A take for the session, judged by the current facts. Panics if the store fails.
pub(crate) async fn judged(
    store: &Records,
    author: &Author,
    session: &Session,
    nonce: &str,
) -> Filing {
    try_judge(store, author, session, nonce).await.unwrap()
}

/// The write of a new session, open to all.
pub(crate) fn draft(subject: &str) -> Convocation {
    convene(&session_draft(subject), &Attribution::SCHEDULE)
}

/// The nonces of the takes in a session, in the order of their filing.
pub(crate) async fn nonces(store: &Records, session: &Session) -> Vec<String> {
    let takes = takes_of(store, session.id).await.unwrap();
    takes.iter().map(|take| take.draft().nonce.as_str().to_owned()).collect()
}

/// The hash of the records of `acme`.
pub(crate) const RECORDS: &str = "swarm:{acme}:records";

/// What the field of each record of a table begins with: a hash of its name.
pub(crate) fn code(table: &str) -> [u8; 2] {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let [a, b, c, d] = table.bytes().fold(0x811c_9dc5, hash).to_be_bytes();
    [a ^ c, b ^ d]
}

/// The field of a record with these texts as its key.
pub(crate) fn field_of_texts(table: &str, key: &[&str]) -> Vec<u8> {
    let values = key.iter().map(|text| ["0", text, "\0"].concat());
    [&code(table)[..], values.collect::<String>().as_bytes()].concat()
}

/// The field of a record with a small number as its key.
pub(crate) fn field_of_number(table: &str, key: u8) -> Vec<u8> {
    [&code(table)[..], &[25, key]].concat()
}

/// Calls each method that runs a script, with a call of `forget` before each.
pub(crate) async fn walk(tenants: &RedisStore, forget: impl Fn()) {
    let store = &open(tenants);
    forget();
    let author = joined(store, "ada").await;
    forget();
    assert_eq!(store.messages(&MessageQuery::ALL).await.unwrap(), []);
    forget();
    assert_eq!(
        store.members(&MemberQuery::in_states(&[MemberState::Claimed])).await.unwrap().len(),
        1
    );
    forget();
    let session = store.convene(&draft("subject")).await.unwrap();
    forget();
    let filing = judged(store, &author, &session, "nonce").await;
    forget();
    let Filed::Filed(take, _) = store.file(&filing).await.unwrap() else { panic!("not filed") };
    forget();
    assert_eq!(store.take(TakeId(1)).await.unwrap().unwrap().take, take.clone().into());
    forget();
    assert_eq!(takes_of(store, session.id).await.unwrap(), [take]);
    forget();
    assert_eq!(store.sessions(&ALL).await.unwrap(), [session]);
    forget();
    assert_eq!(store.published(1).await.unwrap(), []);
    forget();
    assert!(matches!(put(store, None).await.unwrap(), Put::Created(_)));
    forget();
    assert!(store.document(Collection::Memos, "1").await.unwrap().is_some());
    forget();
    let _ = store.now().await.unwrap();
    committee::walk(&committee::open(tenants), forget).await;
}

pub(crate) async fn put(store: &Records, key: Option<&str>) -> Result<Put> {
    let (key, json) = (key.map(str::to_owned), "{}".to_owned());
    let draft = DocumentDraft { key, json, ..DocumentDraft::default() };
    store.put_document(Collection::Memos, &draft).await
}

/// Waits until the store answers again.
pub(crate) async fn recovered(store: &Records) {
    for _ in 0..100 {
        if timeout(BOUND, store.now()).await.unwrap().is_ok() {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the store did not recover");
}
