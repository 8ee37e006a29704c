//! The right edge of a growing tree: its partial tiles.

use crate::domain::Seq;
use crate::proof::tile::{TileId, WIDTH, hashes_tile};
use crate::proof::tree::TreeHash;

/// What is needed to append to a tree: for each level, the hashes of the partial tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Edge {
    size: u64,
    levels: Vec<Vec<TreeHash>>,
    /// The tiles that have become full since the last [`take_tiles`](Self::take_tiles).
    full: Vec<(TileId, Vec<u8>)>,
}

impl Edge {
    /// The partial tiles at the right edge of a tree of this size, from the lowest level up. A level whose last
    /// tile is full has none.
    pub(super) fn tiles(size: Seq) -> Vec<TileId> {
        let levels = (0_u8..8).map_while(|level| {
            let hashes = size.0 >> (8 * u32::from(level));
            (hashes > 0).then(|| TileId { level, index: hashes / u64::from(WIDTH) })
        });
        levels.collect()
    }

    /// The edge of a tree of this size, from its [tiles](Self::tiles); `None` if a tile has too few
    /// hashes.
    pub(super) fn of(size: Seq, tiles: Vec<Vec<TreeHash>>) -> Option<Self> {
        let mut levels = Vec::new();
        for (id, mut hashes) in Self::tiles(size).into_iter().zip(tiles) {
            let width = usize::from(id.width(size.0));
            if hashes.len() < width {
                return None;
            }
            // The stored tile may have grown since.
            hashes.truncate(width);
            levels.push(hashes);
        }
        Some(Self { size: size.0, levels, full: Vec::new() })
    }

    pub(super) fn size(&self) -> Seq {
        Seq(self.size)
    }

    /// Appends a leaf.
    pub(super) fn push(&mut self, leaf: TreeHash) {
        let (mut hash, mut before) = (leaf, self.size);
        self.size = self.size.saturating_add(1);
        for level in 0_u8..8 {
            if self.levels.len() <= level.into() {
                self.levels.push(Vec::new());
            }
            let Some(hashes) = self.levels.get_mut(usize::from(level)) else { return };
            hashes.push(hash);
            if hashes.len() < WIDTH.into() {
                return;
            }
            let index = before / u64::from(WIDTH);
            self.full.push((TileId { level, index }, hashes_tile(hashes)));
            hash = TreeHash::complete(hashes);
            hashes.clear();
            before = index;
        }
    }

    /// The root of the tree.
    pub(super) fn root(&self) -> TreeHash {
        let mut parts = Vec::new();
        for hashes in self.levels.iter().rev() {
            let mut rest = hashes.as_slice();
            while !rest.is_empty() {
                // The largest complete subtree comes first.
                let (part, after) = rest.split_at(1 << rest.len().ilog2());
                parts.push(TreeHash::complete(part));
                rest = after;
            }
        }
        let root = parts.into_iter().rev().reduce(|right, left| TreeHash::parent(&left, &right));
        root.unwrap_or_else(TreeHash::empty)
    }

    /// The tiles that have become full.
    pub(super) fn take_full_tiles(&mut self) -> Vec<(TileId, Vec<u8>)> {
        std::mem::take(&mut self.full)
    }

    /// The tiles to be stored: those that have become full, and those of the edge.
    pub(super) fn take_tiles(&mut self) -> Vec<(TileId, Vec<u8>)> {
        let mut tiles = self.take_full_tiles();
        for (level, hashes) in (0_u8..).zip(&self.levels) {
            if !hashes.is_empty() {
                let index = (self.size >> (8 * u32::from(level))) / u64::from(WIDTH);
                tiles.push((TileId { level, index }, hashes_tile(hashes)));
            }
        }
        tiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::tile::read_hashes_tile;
    use crate::proof::tree::GrowingTree;
    use std::collections::HashMap;

    #[test]
    fn edge_grows_as_the_tree_does_and_is_read_back_from_its_tiles() {
        let (mut edge, mut tree, mut stored) =
            (Edge::default(), GrowingTree::default(), HashMap::new());
        for index in 0..66_000_u64 {
            let leaf = TreeHash::leaf(&index.to_be_bytes());
            edge.push(leaf);
            tree.push(leaf);
            if index % 251 == 0 || index > 65_530 {
                assert_eq!((edge.root(), edge.size().0), (tree.root(), tree.size()));
                stored.extend(edge.take_tiles());
                let tiles = Edge::tiles(edge.size()).into_iter().map(|id| {
                    stored.get(&id).map_or_else(Vec::new, |tile| read_hashes_tile(tile).unwrap())
                });
                edge = Edge::of(edge.size(), tiles.collect()).unwrap();
            }
        }
    }

    #[test]
    fn edge_needs_all_its_hashes() {
        let hash = TreeHash::empty();
        assert!(Edge::of(Seq(2), vec![vec![hash]]).is_none());
        let edge = Edge::of(Seq(1), vec![vec![hash; 2]]).unwrap();
        assert_eq!((edge.root(), edge.size()), (hash, Seq(1)));
        assert_eq!(Edge::of(Seq(0), Vec::new()).unwrap().root(), TreeHash::empty());
    }
}
