//! The log as a tree that is signed (API.md, 11.6).
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test panics")]

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use swarm_core::domain::{Actor, LogEntry, Logged, Operation, Seq, Subject};
use swarm_core::json::{Json, Object};
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::log_line;
use swarm_core::proof::succession::Succession;
use swarm_core::proof::tile::{TilePath, read_entries_tile, read_hashes_tile};
use swarm_core::proof::tree::{GrowingTree, TreeHash, verify_consistency};
use swarm_core::service::signed_log::{
    CheckpointMemory, LastSigned, LogSigner, SignedLog, Signing,
};
use swarm_core::store::backend::{Backend, Operation as StoreOperation, Query, Reading};
use swarm_core::store::{Interceptor, Result};
use swarm_core::{Error, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;
use swarm_testing::TestTenant;

use crate::backend::time;

const ORIGIN: &str = "acme.example/swarm/log/acme";

#[tokio::test]
async fn checkpoints_cover_all_entries_and_continue_each_other() {
    let store = MemoryStore::new();
    let (tenant, log) = (tenant(&store), log(&store, 1));
    let empty = signed(&log).await;
    assert_eq!((empty.size, empty.root), (0, TreeHash::empty()));
    let (mut tree, mut before) = (GrowingTree::default(), empty);
    for size in [1, 2, 255, 256, 257, 520] {
        write(&tenant, size - before.size).await;
        let checkpoint = signed(&log).await;
        for row in store.open(&id()).log(Seq(before.size), 1_000).await.unwrap() {
            tree.push(TreeHash::leaf(log_line(&row).text().as_bytes()));
        }
        assert_eq!((checkpoint.size, checkpoint.root), (tree.size(), tree.root()));
        let proof = log.consistency(Seq(before.size), &checkpoint).await.unwrap();
        let (old, new) = (&before, &checkpoint);
        assert!(verify_consistency(old.size, &old.root, new.size, &new.root, &proof));
        assert_eq!(log.sign().await.unwrap(), Signing::Current);
        before = checkpoint;
    }
    let stored = log.checkpoint().await.unwrap().unwrap();
    assert_eq!(stored.checkpoint, before);
    assert!(stored.note.is_signed_by(&stored.key));
    assert_eq!(stored.key, log.verifier().await.unwrap());
    assert_eq!(stored.key.name(), ORIGIN);
}

#[tokio::test]
async fn entries_are_proved_and_tiles_of_each_size_are_served() {
    let store = MemoryStore::new();
    let (tenant, log) = (tenant(&store), log(&store, 1));
    assert_eq!(log.proof(Seq(1)).await.unwrap(), None);
    write(&tenant, 600).await;
    assert_eq!(log.proof(Seq(1)).await.unwrap(), None, "not signed yet");
    signed(&log).await;
    let rows = store.open(&id()).log(Seq(0), 1_000).await.unwrap();
    for row in [&rows[0], &rows[255], &rows[256], &rows[599]] {
        let proof = log.proof(row.seq).await.unwrap().unwrap();
        assert!(proof.proves(&log_line(row).text()), "{}", row.seq);
    }
    assert_eq!(log.proof(Seq(601)).await.unwrap(), None);
    let proofs = log.proofs(&[Seq(7), Seq(300)]).await.unwrap().unwrap();
    assert!(proofs[1].proves(&log_line(&rows[299]).text()));

    let tile = async |path: &str| log.tile(TilePath::parse(path).unwrap()).await.unwrap();
    assert_eq!(read_hashes_tile(&tile("0/001").await.unwrap()).unwrap().len(), 256);
    let entries = tile("entries/002.p/88").await.unwrap();
    assert_eq!(read_entries_tile(&entries).unwrap()[87], log_line(&rows[599]).text());
    let partial = tile("0/002.p/7").await.unwrap();
    assert_eq!(tile("0/002.p/88").await.unwrap()[..7 * 32], partial);
    assert_eq!(tile("1/000.p/2").await.unwrap().len(), 64);
    for absent in ["0/002", "0/002.p/89", "1/000.p/3", "1/000", "2/000.p/1", "entries/003"] {
        assert_eq!(tile(absent).await, None, "{absent}");
    }
}

#[tokio::test]
async fn takes_are_found_between_other_entries() {
    let store = MemoryStore::new();
    let fixture = TestTenant::open(store.clone(), id());
    let (tenant, log) = (tenant(&store), log(&store, 1));
    let mut takes = Vec::new();
    for round in 0..40_u64 {
        let session = fixture.convened(&format!("subject {round}")).await;
        if round % 3 == 0 {
            write(&tenant, 9 * (round % 5)).await;
        }
        let author = fixture.author(&format!("member {round}")).await;
        takes.push(fixture.filed(&author, &session, "nonce").await);
    }
    assert_eq!(log.proof_of_take(takes[0].id).await.unwrap(), None);
    signed(&log).await;
    let rows = store.open(&id()).log(Seq(0), 1_000).await.unwrap();
    for take in &takes {
        let proof = log.proof_of_take(take.id).await.unwrap().unwrap();
        assert_eq!(proof.session_version(), Some(take.session_version));
        let row = &rows[proof.index as usize];
        assert_eq!(row.logged, Logged::Take(Arc::clone(take).into()));
        assert!(proof.proves(&log_line(row).text()));
    }
    let session = fixture.convened("later").await;
    let late = fixture.filed(&fixture.author("late").await, &session, "nonce").await;
    assert_eq!(log.proof_of_take(late.id).await.unwrap(), None, "no checkpoint has it");
}

#[tokio::test]
async fn servers_sign_in_turn_and_at_once() {
    let store = MemoryStore::new();
    let (tenant, one, other) = (tenant(&store), log(&store, 1), log(&store, 1));
    for _ in 0..20 {
        write(&tenant, 40).await;
        let (first, second) = tokio::join!(one.sign(), other.sign());
        for signing in [first.unwrap(), second.unwrap()] {
            let is_fine =
                matches!(signing, Signing::Signed(_) | Signing::Current | Signing::Contended);
            assert!(is_fine, "{signing:?}");
        }
    }
    let checkpoint = one.checkpoint().await.unwrap().unwrap().checkpoint;
    assert_eq!(checkpoint.size, 800);
}

#[tokio::test]
async fn tiles_that_are_lost_are_computed_again() {
    let store = MemoryStore::new();
    let (tenant, log) = (tenant(&store), log(&store, 1));
    write(&tenant, 300).await;
    let before = signed(&log).await;
    let port = store.open(&id());
    let stored = port.tree().await.unwrap().unwrap();
    let mut state = (*stored.record).clone();
    state.size = Seq(0);
    let _ = port.save_tree(&swarm_core::store::TreeChange::to(state, Some(&stored))).await.unwrap();
    write(&tenant, 1).await;
    let after = signed(&log).await;
    let proof = log.consistency(Seq(300), &after).await.unwrap();
    assert!(verify_consistency(300, &before.root, 301, &after.root, &proof));
}

#[tokio::test]
async fn another_key_signs_nothing_and_the_checkpoint_stays() {
    let store = MemoryStore::new();
    let (tenant, own, foreign) = (tenant(&store), log(&store, 1), log(&store, 2));
    let checkpoint = signed(&own).await;
    write(&tenant, 3).await;
    assert_eq!(foreign.sign().await.unwrap(), Signing::ForeignKey);
    assert!(foreign.is_foreign());
    let stored = foreign.checkpoint().await.unwrap().unwrap();
    assert_eq!(stored.checkpoint, checkpoint);
    assert_eq!(foreign.verifier().await.unwrap(), own.verifier().await.unwrap());
    assert_eq!(signed(&own).await.size, 3);
}

#[tokio::test]
async fn only_the_accepted_key_signs() {
    let store = MemoryStore::new();
    let (tenant, own, other) = (tenant(&store), log(&store, 1), log(&store, 2));
    let before = signed(&own).await;
    assert_eq!(other.sign().await.unwrap(), Signing::ForeignKey);
    write(&tenant, 600).await;
    other.accept_key(&Actor::OPERATOR).await.unwrap();
    write(&tenant, 1).await;
    assert_eq!(own.sign().await.unwrap(), Signing::ForeignKey, "another is accepted");
    assert!(own.is_foreign() && own.answer_key().await.unwrap().is_some(), "nothing is signed yet");

    let checkpoint = signed(&other).await;
    assert!(!other.is_foreign());
    assert_eq!((checkpoint.size, &checkpoint.origin), (602, &before.origin));
    assert_eq!(other.verifier().await.unwrap(), *other.key(1).unwrap().verifier());
    assert_eq!(own.answer_key().await.unwrap().map(drop), None);
    write(&tenant, 1).await;
    assert_eq!(own.sign().await.unwrap(), Signing::ForeignKey);
    assert_eq!(signed(&other).await.size, 603);

    own.accept_key(&Actor::OPERATOR).await.unwrap();
    assert_eq!(other.sign().await.unwrap(), Signing::ForeignKey);
    assert_eq!(signed(&own).await.size, 604);
}

#[tokio::test]
async fn fresh_server_notices_a_store_that_went_back() {
    let (store, memory) = (MemoryStore::new(), Memory::default());
    write(&tenant(&store), 5).await;
    let backup = store.copy();
    let first = remembering(&store, &memory);
    write(&tenant(&store), 5).await;
    let lost = signed(&first).await;

    store.go_back_to(&backup);
    let store = store.opened_again();
    let log = remembering(&store, &memory);
    log.check().await.unwrap();
    let refused = tenant(&store).put_subject(&subject(99), &Actor::OPERATOR).await;
    assert!(matches!(refused, Err(Error::Store(_))), "{refused:?}");
    assert_eq!(log.sign().await.unwrap(), Signing::WentBack);
    assert!(store.ready().await.is_err());

    log.accept_store(&Actor::OPERATOR).await.unwrap();
    let checkpoint = signed(&log).await;
    assert_eq!((checkpoint.origin, checkpoint.size), (format!("{ORIGIN}/2"), 6));
    let rows = store.open(&id()).log(Seq(5), 1).await.unwrap();
    let Logged::Entry(entry) = &rows[0].logged else { panic!("{rows:?}") };
    let LogEntry::Operation(Operation::StoreAccepted { log, before, .. }) = &**entry else {
        panic!("{entry:?}")
    };
    assert_eq!((*log, before.size.0), (2, lost.size));
    assert_eq!(before.origin.as_deref(), Some(ORIGIN));
    assert_eq!(before.root, Some(lost.root.to_string()));
    write(&tenant(&store), 1).await;
}

/// The key of a log signs which log comes after it, if that key signed its last checkpoint: whoever edits the store has
/// nothing signed that the server did not sign before.
#[tokio::test]
async fn log_that_ended_names_the_one_after_it() {
    for is_forged in [false, true] {
        let (store, memory) = (MemoryStore::new(), Memory::default());
        write(&tenant(&store), 5).await;
        let backup = store.copy();
        write(&tenant(&store), 5).await;
        let first = remembering(&store, &memory);
        let lost = signed(&first).await;
        let note = first.checkpoint().await.unwrap().unwrap().note;
        store.go_back_to(&backup);
        let store = store.opened_again();
        let log = remembering(&store, &memory);
        assert_eq!(log.sign().await.unwrap(), Signing::WentBack);
        log.accept_store(&Actor::OPERATOR).await.unwrap();
        if is_forged {
            let root = TreeHash::leaf(b"another");
            let last = LastSigned { log: 1, size: Seq(lost.size), root };
            memory.remember(ORIGIN, &last).unwrap();
        }
        signed(&log).await;
        write(&tenant(&store), 1).await;
        signed(&log).await;
        let served = log.checkpoint().await.unwrap().unwrap();
        let ended = log.ended(ORIGIN).await.unwrap();
        if is_forged {
            assert_eq!(ended, None);
            continue;
        }
        let ended = ended.unwrap();
        assert_eq!(ended.last, note);
        let succession = Succession::parse(ended.succession.text()).unwrap();
        assert_eq!(succession, Succession { last: lost, successor: served.key.clone() });
        assert!(ended.succession.is_signed_by(first.key(1).unwrap().verifier()));
        assert!(Checkpoint::parse(ended.succession.text()).is_err(), "it is no checkpoint");
        assert_eq!(log.ended(&served.checkpoint.origin).await.unwrap(), None);
    }
}

#[tokio::test]
async fn fresh_server_notices_other_entries() {
    let (store, memory) = (MemoryStore::new(), Memory::default());
    let backup = store.copy();
    write(&tenant(&store), 5).await;
    signed(&remembering(&store, &memory)).await;

    store.go_back_to(&backup);
    let store = store.opened_again();
    for number in 50..60 {
        let _ = tenant(&store).put_subject(&subject(number), &Actor::OPERATOR).await.unwrap();
    }
    let log = remembering(&store, &memory);
    assert_eq!(log.sign().await.unwrap(), Signing::WentBack);
    assert_eq!(log.checkpoint().await.unwrap(), None, "nothing was signed");
}

/// Another server, which remembers nothing, has signed as many other entries.
#[tokio::test]
async fn fork_of_the_same_size_is_noticed() {
    let (store, memory) = (MemoryStore::new(), Memory::default());
    let backup = store.copy();
    write(&tenant(&store), 5).await;
    let own = signed(&remembering(&store, &memory)).await;

    store.go_back_to(&backup);
    let store = store.opened_again();
    for number in 50..55 {
        let _ = tenant(&store).put_subject(&subject(number), &Actor::OPERATOR).await.unwrap();
    }
    assert_eq!(signed(&log(&store, 1)).await.size, own.size);
    assert_eq!(remembering(&store, &memory).sign().await.unwrap(), Signing::WentBack);
}

#[tokio::test]
async fn key_of_answers_is_known_without_a_read_once_the_log_is_signed() {
    let (store, trees) = (MemoryStore::with_clock(time), Arc::new(TreeReads::default()));
    let counted = store.opened_again().intercepted(Arc::clone(&trees));
    let signed_by = |swarm: Swarm, key| {
        let signer = LogSigner::without_memory(ServerSecret::new([key; 32]));
        swarm.tenant(&id()).signed_log("acme.example", &signer).unwrap()
    };
    let own = signed_by(Swarm::new(counted, SystemEntropy), 1);
    let _ = signed(&own).await;
    let (before, key) = (trees.0.load(Relaxed), own.answer_key().await.unwrap().unwrap());
    assert_eq!((trees.0.load(Relaxed), key.verifier()), (before, &own.verifier().await.unwrap()));

    // Another key is noticed when the log is signed the next time.
    let other = signed_by(Swarm::new(store, SystemEntropy), 2);
    other.accept_key(&Actor::OPERATOR).await.unwrap();
    let _ = signed(&other).await;
    assert_eq!(own.sign().await.unwrap(), Signing::ForeignKey);
    assert_eq!(own.answer_key().await.unwrap().map(drop), None);
    own.accept_key(&Actor::OPERATOR).await.unwrap();
    assert_eq!(own.answer_key().await.unwrap().map(drop), None, "the other has signed last");
    let _ = signed(&own).await;
    assert!(own.answer_key().await.unwrap().is_some());

    own.accept_store(&Actor::OPERATOR).await.unwrap();
    let _ = signed(&own).await;
    let key = own.answer_key().await.unwrap().unwrap();
    assert_eq!(key.verifier().name(), format!("{ORIGIN}/2"));
}

/// Counts how often the state of the tree is read.
#[derive(Default)]
struct TreeReads(AtomicUsize);

#[async_trait]
impl Interceptor for TreeReads {
    async fn read(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: StoreOperation,
        queries: Vec<Query>,
    ) -> Result<Reading> {
        self.0.fetch_add(usize::from(op == "tree"), Relaxed);
        next.read(tenant, op, queries).await
    }
}

/// Two servers have the same key and the same file beside it. One commits and signs while the other asks what was
/// signed last.
#[tokio::test]
async fn log_that_another_server_signs_meanwhile_did_not_go_back() {
    let (store, memory) = (MemoryStore::new(), Memory::default());
    let (tenant, other) = (tenant(&store), remembering(&store, &memory));
    write(&tenant, 3).await;
    let meanwhile = async move {
        write(&tenant, 1).await;
        signed(&other).await;
    };
    let late = LateMemory(memory, Mutex::new(Some(meanwhile.boxed())));
    let signer = LogSigner::new(ServerSecret::new([1; 32]), late);
    let tenant = self::tenant(&store);
    let log = tenant.signed_log("acme.example", &signer).unwrap();
    assert_eq!(log.sign().await.unwrap(), Signing::Current);
    write(&tenant, 1).await;
    assert_eq!(signed(&log).await.size, 5);
}

/// Answers after something else has happened.
struct LateMemory(Memory, Mutex<Option<BoxFuture<'static, ()>>>);

impl CheckpointMemory for LateMemory {
    fn last(&self, origin: &str) -> io::Result<Option<LastSigned>> {
        if let Some(meanwhile) = self.1.lock().unwrap().take() {
            let run = || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(meanwhile);
            };
            std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        }
        self.0.last(origin)
    }

    fn remember(&self, origin: &str, last: &LastSigned) -> io::Result<()> {
        self.0.remember(origin, last)
    }
}

/// What a test remembers of checkpoints.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<HashMap<String, LastSigned>>>);

impl CheckpointMemory for Memory {
    fn last(&self, origin: &str) -> io::Result<Option<LastSigned>> {
        Ok(self.0.lock().unwrap().get(origin).cloned())
    }

    fn remember(&self, origin: &str, last: &LastSigned) -> io::Result<()> {
        self.0.lock().unwrap().insert(origin.to_owned(), last.clone());
        Ok(())
    }

    fn forget(&self, origin: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(origin);
        Ok(())
    }
}

fn id() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn tenant(store: &MemoryStore) -> Tenant {
    Swarm::new(store.clone(), SystemEntropy).tenant(&id())
}

/// The log, signed with the key of this number.
fn log(store: &MemoryStore, key: u8) -> SignedLog {
    let signer = LogSigner::without_memory(ServerSecret::new([key; 32]));
    tenant(store).signed_log("acme.example", &signer).unwrap()
}

fn remembering(store: &MemoryStore, memory: &Memory) -> SignedLog {
    let signer = LogSigner::new(ServerSecret::new([1; 32]), memory.clone());
    tenant(store).signed_log("acme.example", &signer).unwrap()
}

/// Signs the new entries, of which there must be some.
async fn signed(log: &SignedLog) -> Checkpoint {
    match log.sign().await.unwrap() {
        Signing::Signed(checkpoint) => checkpoint,
        other => panic!("nothing was signed: {other:?}"),
    }
}

/// Appends entries.
async fn write(tenant: &Tenant, entries: u64) {
    for number in 0..entries {
        let _ = tenant.put_subject(&subject(number), &Actor::OPERATOR).await.unwrap();
    }
}

fn subject(number: u64) -> Subject {
    let text = format!(r#"{{"id":"s{number}","name":"S"}}"#);
    Subject::read(&mut object(&text)).unwrap()
}

fn object(text: &str) -> Object {
    Json::read(text.as_bytes()).unwrap().into_object()
}
