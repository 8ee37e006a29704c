//! Reads the tiles of a signed tree. Each is verified against the root that was signed, and computed again where it
//! is missing or damaged: tiles are a pure function of the entries.

use std::collections::{BTreeSet, HashMap};

use super::edge::Edge;
use super::signing::leaf;
use super::{LastSigned, SignedLog};
use crate::domain::Seq;
use crate::proof::tile::{TileId, TilePath, WIDTH, hash_in, read_hashes_tile};
use crate::proof::tree::{Node, TreeHash};
use crate::service::{Error, log_rows};
use crate::store::StoreError;

/// Tiles that lead to the root of a tree, as wide as they are in it.
pub(super) struct Tiles(HashMap<TileId, Vec<TreeHash>>);

impl Tiles {
    /// The hashes of a tile; empty unless it was read.
    pub(super) fn hashes(&self, id: TileId) -> &[TreeHash] {
        self.0.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    /// The edge of the tree of this size, if its tiles were read.
    pub(super) fn edge(&self, size: Seq) -> Option<Edge> {
        let tiles = Edge::tiles(size).into_iter().map(|id| self.hashes(id).to_vec());
        Edge::of(size, tiles.collect())
    }

    /// Reads hashes of the tree.
    pub(super) fn reader(&self) -> impl FnMut(Node) -> Result<TreeHash, Error> {
        |node| {
            Ok(hash_in(self.hashes(TileId::of(node)), node)
                .ok_or_else(|| lost(TileId::of(node)))?)
        }
    }
}

impl SignedLog {
    /// These tiles of a signed tree. They are verified together with the tiles above them, of which each has the hash
    /// of the one below. To compute one that is missing or damaged, at most 256 entries or tiles are read.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`](crate::store::StoreErrorKind::Corrupt) if the entries, or the tiles below a tile,
    /// are not those of the tree either.
    pub(super) async fn tiles_of(
        &self,
        tree: &LastSigned,
        ids: impl IntoIterator<Item = TileId>,
    ) -> Result<Tiles, Error> {
        let mut needed = BTreeSet::from_iter(Edge::tiles(tree.size));
        for mut id in ids {
            while id.width(tree.size.0) == WIDTH && needed.insert(id) {
                id = id.above().0;
            }
        }
        let needed = Vec::from_iter(needed);
        let mut tiles = Tiles(self.stored_tiles(tree, &needed).await?);
        self.restore_edge(tree, &mut tiles).await?;
        // From the top down, so that each tile is compared with a verified one.
        for id in needed.into_iter().rev().filter(|id| id.width(tree.size.0) == WIDTH) {
            let (above, place) = id.above();
            let root = tiles.hashes(above).get(place).copied();
            let is_root = |hashes: &[TreeHash]| {
                hashes.len() == usize::from(WIDTH) && Some(TreeHash::complete(hashes)) == root
            };
            if !is_root(tiles.hashes(id)) {
                let computed = self.computed_tile(tree, id).await?;
                if !is_root(&computed) {
                    return Err(lost(id).into());
                }
                tiles.0.insert(id, computed);
            }
        }
        Ok(tiles)
    }

    /// Computes the tiles of the right edge, unless their root is the one that was signed.
    async fn restore_edge(&self, tree: &LastSigned, tiles: &mut Tiles) -> Result<(), Error> {
        let is_edge =
            |tiles: &Tiles| tiles.edge(tree.size).is_some_and(|it| it.root() == tree.root);
        if is_edge(tiles) {
            return Ok(());
        }
        let edge = Edge::tiles(tree.size).into_iter().filter(|id| id.width(tree.size.0) > 0);
        for id in edge {
            tiles.0.insert(id, self.computed_tile(tree, id).await?);
        }
        if is_edge(tiles) {
            return Ok(());
        }
        Err(StoreError::corrupt("tiles", "tiles of the log are missing or damaged").into())
    }

    /// A tile of the tree, computed from the tiles below it, or from the entries.
    async fn computed_tile(&self, tree: &LastSigned, id: TileId) -> Result<Vec<TreeHash>, Error> {
        let first = id.index.saturating_mul(WIDTH.into());
        let width = id.width(tree.size.0);
        let Some(below) = id.level.checked_sub(1) else {
            let rows = log_rows::rows(&self.store, Seq(first), width.into()).await?;
            return Ok(rows.iter().flatten().map(leaf).collect());
        };
        let below = (first..first + u64::from(width)).map(|index| TileId { level: below, index });
        let below = Vec::from_iter(below);
        let tiles = self.stored_tiles(tree, &below).await?;
        let hashes = below.iter().filter_map(|id| tiles.get(id));
        Ok(hashes.map(|hashes| TreeHash::complete(hashes)).collect())
    }

    /// The tiles that the store has, as wide as they are in the tree. Nothing is verified.
    pub(super) async fn stored_tiles(
        &self,
        tree: &LastSigned,
        ids: &[TileId],
    ) -> Result<HashMap<TileId, Vec<TreeHash>>, Error> {
        let found = self.store.tiles(tree.log, ids).await?;
        let tiles = ids.iter().zip(found).filter_map(|(id, tile)| {
            let mut hashes = read_hashes_tile(&tile?)?;
            // It may have grown since.
            hashes.truncate(id.width(tree.size.0).into());
            Some((*id, hashes))
        });
        Ok(tiles.collect())
    }
}

/// The error of a tile that cannot be computed either.
fn lost(id: TileId) -> StoreError {
    let path = TilePath { level: Some(id.level), index: id.index, width: WIDTH };
    StoreError::corrupt("tiles", format!("tile {path} of the log is missing or damaged"))
}
