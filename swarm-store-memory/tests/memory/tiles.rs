//! Tiles of the log that are missing or damaged in the store: no proof is wrong or lost, and they are replaced
//! (API.md, 11.6).
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test panics")]

use swarm_core::domain::{Actor, Seq, Subject};
use swarm_core::json::Json;
use swarm_core::proof::checkpoint::Checkpoint;
use swarm_core::proof::log_key::ServerSecret;
use swarm_core::proof::log_line;
use swarm_core::proof::tile::{TileId, TilePath};
use swarm_core::proof::tlog_proof::TlogProof;
use swarm_core::proof::tree::{GrowingTree, TreeHash};
use swarm_core::service::signed_log::{EntryCheck, LogSigner, SignedLog, Signing};
use swarm_core::store::{Records, Saved, StoreErrorKind, TreeChange, TreeState};
use swarm_core::{Error, Swarm, SystemEntropy, Tenant, TenantId};
use swarm_store_memory::MemoryStore;

const SIZE: u64 = 600;
const FULL: TileId = TileId { level: 0, index: 1 };
const EDGE: TileId = TileId { level: 0, index: 2 };
const ABOVE: TileId = TileId { level: 1, index: 0 };

#[tokio::test]
async fn proofs_and_tiles_survive_each_damaged_tile() {
    let desk = Desk::new().await;
    let before = desk.reads().await;
    for id in [TileId { level: 0, index: 0 }, FULL, EDGE, ABOVE] {
        let tile = desk.tile(id).await;
        for damaged in damages(&tile) {
            desk.replace(id, damaged).await;
            assert_eq!(desk.reads().await, before, "{id:?}");
            assert_eq!(desk.log.sign().await.unwrap(), Signing::Current, "{id:?}");
        }
        desk.replace(id, tile).await;
    }
}

#[tokio::test]
async fn damaged_edge_is_never_signed() {
    for id in [EDGE, ABOVE] {
        let desk = Desk::new().await;
        let tile = desk.tile(id).await;
        for damaged in damages(&tile) {
            desk.replace(id, damaged).await;
            desk.write(1).await;
            let signed = desk.signed().await;
            let mut tree = GrowingTree::default();
            for row in desk.port().log(Seq(0), 1_000).await.unwrap() {
                tree.push(TreeHash::leaf(log_line(&row).text().as_bytes()));
            }
            assert_eq!((signed.size, signed.root), (tree.size(), tree.root()), "{id:?}");
        }
    }
}

#[tokio::test]
async fn damaged_tiles_are_named_and_replaced() {
    let desk = Desk::new().await;
    let before = desk.reads().await;
    assert_eq!(desk.checked().await.repaired_tiles().count(), 0);
    for (id, name) in [(FULL, "0/001"), (EDGE, "0/002"), (ABOVE, "1/000")] {
        let tile = desk.tile(id).await;
        for damaged in damages(&tile) {
            desk.replace(id, damaged).await;
            assert_eq!(names(&desk.checked().await), [name]);
            assert_eq!(desk.tile(id).await, tile);
        }
    }
    for id in [FULL, EDGE, ABOVE] {
        desk.replace(id, Vec::new()).await;
    }
    assert_eq!(names(&desk.checked().await), ["0/001", "0/002", "1/000"]);
    assert_eq!(desk.reads().await, before);
    assert_eq!(desk.log.damage(), None);
}

/// Where more tiles are lost than one read computes again, it fails; the next signature and the comparison of entries
/// go by all entries.
#[tokio::test]
async fn tiles_that_cannot_be_computed_from_others_are_computed_from_all_entries() {
    let desk = Desk::new().await;
    let before = desk.reads().await;
    for id in [FULL, ABOVE] {
        desk.replace(id, Vec::new()).await;
    }
    let Err(Error::Store(error)) = desk.log.proof(Seq(300)).await else { panic!("a proof") };
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert_eq!(desk.log.sign().await.unwrap(), Signing::Current);
    assert_eq!(names(&desk.checked().await), ["0/001", "1/000"]);
    assert_eq!(desk.reads().await, before);
}

#[tokio::test]
async fn comparison_replaces_no_tile_by_one_of_a_smaller_tree() {
    let desk = Desk::new().await;
    let mut check = desk.log.begin_entry_check().await.unwrap().unwrap();
    assert!(!desk.log.check_entries(&mut check).await.unwrap(), "two tiles are left");
    desk.write(1).await;
    assert_eq!(desk.signed().await.size, SIZE + 1);
    for id in [FULL, EDGE] {
        desk.replace(id, Vec::new()).await;
    }
    while !desk.log.check_entries(&mut check).await.unwrap() {}
    assert_eq!(names(&check), ["0/001"]);
    assert!(desk.tile(EDGE).await.is_empty());
    assert!(desk.log.proof(Seq(SIZE + 1)).await.unwrap().is_some());
}

/// Changed entries are no reason to replace tiles: these are what was signed.
#[tokio::test]
async fn tiles_are_kept_where_the_entries_were_changed() {
    let (desk, other) = (Desk::new().await, Desk::written("Another").await);
    let tile = desk.tile(FULL).await;
    let tree = desk.port().tree().await.unwrap().unwrap();
    let stored = other.port().tree().await.unwrap().unwrap();
    let mut change = TreeChange::to(TreeState::clone(&tree.record), Some(&stored));
    change.tiles = vec![(FULL, tile.clone())];
    assert_eq!(other.port().save_tree(&change).await.unwrap(), Saved::Saved);
    assert_eq!(other.checked().await.repaired_tiles().count(), 0);
    assert!(other.log.damage().is_some());
    assert_eq!(other.tile(FULL).await, tile);
}

/// What a tile may have become: nothing, a hash that differs, too few hashes, and no hashes at all.
fn damages(tile: &[u8]) -> Vec<Vec<u8>> {
    let mut changed = tile.to_vec();
    changed[tile.len() - 1] ^= 1;
    let longer = [tile, b"?"].concat();
    vec![Vec::new(), changed, tile[..tile.len() - 32].to_vec(), longer]
}

fn names(check: &EntryCheck) -> Vec<String> {
    let mut names: Vec<_> = check.repaired_tiles().map(|tile| tile.to_string()).collect();
    names.sort();
    names
}

/// A log of 600 entries, which is signed.
struct Desk {
    store: MemoryStore,
    tenant: Tenant,
    log: SignedLog,
    name: &'static str,
}

impl Desk {
    async fn new() -> Self {
        Self::written("Subject").await
    }

    async fn written(name: &'static str) -> Self {
        let store = MemoryStore::new();
        let tenant = Swarm::new(store.clone(), SystemEntropy).tenant(&id());
        let signer = LogSigner::without_memory(ServerSecret::new([1; 32]));
        let log = tenant.signed_log("acme.example", &signer).unwrap();
        let desk = Self { store, tenant, log, name };
        desk.write(SIZE).await;
        let _ = desk.signed().await;
        desk
    }

    fn port(&self) -> Records {
        self.store.open(&id())
    }

    /// Appends entries.
    async fn write(&self, entries: u64) {
        for number in 0..entries {
            let text = format!(r#"{{"id":"s{number}","name":"{}"}}"#, self.name);
            let mut fields = Json::read(text.as_bytes()).unwrap().into_object();
            let subject = Subject::read(&mut fields).unwrap();
            let _ = self.tenant.put_subject(&subject, &Actor::OPERATOR).await.unwrap();
        }
    }

    /// Signs the new entries, of which there must be some.
    async fn signed(&self) -> Checkpoint {
        match self.log.sign().await.unwrap() {
            Signing::Signed(checkpoint) => checkpoint,
            other => panic!("nothing was signed: {other:?}"),
        }
    }

    /// What the store has of a tile.
    async fn tile(&self, id: TileId) -> Vec<u8> {
        self.port().tiles(1, &[id]).await.unwrap().remove(0).unwrap()
    }

    async fn replace(&self, id: TileId, tile: Vec<u8>) {
        let stored = self.port().tree().await.unwrap().unwrap();
        let mut change = TreeChange::to(TreeState::clone(&stored.record), Some(&stored));
        change.tiles = vec![(id, tile)];
        assert_eq!(self.port().save_tree(&change).await.unwrap(), Saved::Saved);
    }

    /// Proofs of entries, of consistency, and tiles of all levels.
    async fn reads(&self) -> (Vec<TlogProof>, Vec<TreeHash>, Vec<Option<Vec<u8>>>) {
        let last = self.log.checkpoint().await.unwrap().unwrap().checkpoint;
        let seqs = [1, 256, 257, 300, 513, 600].map(Seq);
        let proofs = self.log.proofs(&seqs).await.unwrap().unwrap();
        let mut consistency = Vec::new();
        for old in [1, 255, 300, 512, 599] {
            consistency.extend(self.log.consistency(Seq(old), &last).await.unwrap());
        }
        let mut tiles = Vec::new();
        for path in ["0/000", "0/001", "0/001.p/7", "0/002.p/88", "1/000.p/2", "1/000.p/1"] {
            tiles.push(self.log.tile(TilePath::parse(path).unwrap()).await.unwrap());
        }
        (proofs, consistency, tiles)
    }

    /// Compares all entries with the checkpoint.
    async fn checked(&self) -> EntryCheck {
        let mut check = self.log.begin_entry_check().await.unwrap().unwrap();
        while !self.log.check_entries(&mut check).await.unwrap() {}
        check
    }
}

fn id() -> TenantId {
    TenantId::parse("acme").unwrap()
}
