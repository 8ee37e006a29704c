//! Compares the entries in the store with those that were signed, to detect a store that was edited by hand
//! (API.md, 11.4).

use super::edge::Edge;
use super::signing::leaf;
use super::{LastSigned, SignedLog};
use crate::domain::Seq;
use crate::proof::tile::{TileId, TilePath, WIDTH, hashes_tile};
use crate::proof::tree::TreeHash;
use crate::service::Error;
use crate::service::log_rows::{self, UnreadableRow};
use crate::store::{Saved, TreeChange, TreeState};

/// Maximum number of tiles that one comparison replaces.
const MAX_REPAIRED: usize = 64;

/// A comparison of all entries with the last checkpoint, a tile at a time.
#[derive(Debug)]
pub struct EntryCheck {
    signed: LastSigned,
    /// The tree of the entries that were read.
    edge: Edge,
    /// The first entry whose hash differs from the one in the tiles.
    differs: Option<Seq>,
    /// The first that cannot be read. Its hash is taken from the tiles, so that those after it are compared.
    unreadable: Option<UnreadableRow>,
    /// Tiles that differ from those of the entries, as they should be.
    damaged: Vec<(TileId, Vec<u8>)>,
}

/// What is wrong with the entries in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// An entry differs from the one that was signed: this one; `None` if it cannot be determined which.
    Changed(Option<Seq>),
    /// This entry cannot be read, for this reason: its record is missing or invalid.
    Unreadable(Seq, String),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Changed(Some(seq)) => {
                write!(f, "entry {seq} of the log is not the one that was signed")
            }
            Self::Changed(None) => {
                f.write_str("the entries of the log are not those that were signed")
            }
            Self::Unreadable(seq, why) => write!(f, "entry {seq} of the log cannot be read: {why}"),
        }
    }
}

impl EntryCheck {
    /// After the last tile: those tiles that were missing or damaged, and were replaced; at most 64.
    pub fn repaired_tiles(&self) -> impl Iterator<Item = TilePath> {
        let paths = self.damaged.iter().map(|(id, _)| id);
        paths.map(|id| TilePath { level: Some(id.level), index: id.index, width: WIDTH })
    }
}

impl SignedLog {
    /// Returns a comparison of the entries with the last checkpoint that is yet to be made; `None` until one of the current log is signed.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn begin_entry_check(&self) -> Result<Option<EntryCheck>, Error> {
        let log = self.store.log_position().await?.log;
        let signed = self.signed().await?.map(|(signed, _)| signed);
        Ok(signed.filter(|signed| signed.log == log).map(|signed| EntryCheck {
            signed,
            edge: Edge::default(),
            differs: None,
            unreadable: None,
            damaged: Vec::new(),
        }))
    }

    /// Compares the entries of the next tile, and returns whether it was the last. If entries were changed, this
    /// process refuses commits from then on, until an operator accepts the store. If only tiles were, they are
    /// replaced.
    ///
    /// If the future is dropped, begin the comparison again.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn check_entries(&self, check: &mut EntryCheck) -> Result<bool, Error> {
        if !self.compare(check).await? {
            return Ok(false);
        }
        let is_signed = check.edge.root() == check.signed.root;
        let unreadable = check.unreadable.take().map(|row| Damage::Unreadable(row.seq, row.why));
        let damage = if is_signed { unreadable } else { Some(Damage::Changed(check.differs)) };
        if let Some(Damage::Changed(_)) = damage {
            self.store.mark_went_back(check.signed.log, check.signed.size);
        }
        self.lock().damage = damage;
        if is_signed {
            self.repair(check).await?;
        } else {
            check.damaged.clear();
        }
        Ok(true)
    }

    /// Returns the damage that the last comparison found.
    pub fn damage(&self) -> Option<Damage> {
        self.lock().damage.clone()
    }

    /// Reads the next tile. Returns whether it was the last, or the entries end early.
    async fn compare(&self, check: &mut EntryCheck) -> Result<bool, Error> {
        let (first, size) = (check.edge.size(), check.signed.size);
        let id = TileId { level: 0, index: first.0 / u64::from(WIDTH) };
        let width = usize::from(id.width(size.0));
        if width == 0 {
            return Ok(true);
        }
        let rows = log_rows::rows(&self.store, first, width).await?;
        let stored = self.stored_tiles(&check.signed, &[id]).await?;
        let hashes = stored.get(&id).map(Vec::as_slice).unwrap_or_default();
        for (place, row) in rows.iter().enumerate() {
            let (signed, seq) = (hashes.get(place), Seq(check.edge.size().0.saturating_add(1)));
            let leaf = match row {
                Ok(row) => Some(leaf(row)),
                Err(unreadable) => {
                    check.unreadable.get_or_insert_with(|| unreadable.clone());
                    signed.copied()
                }
            };
            if leaf.is_none() || leaf.as_ref() != signed || log_rows::seq(row) != seq {
                check.differs.get_or_insert(seq);
            }
            check.edge.push(leaf.unwrap_or_else(TreeHash::empty));
        }
        if rows.len() < width {
            check.differs.get_or_insert(Seq(check.edge.size().0.saturating_add(1)));
        }
        let is_last = rows.len() < width || check.edge.size() >= size;
        let tiles = if is_last { check.edge.take_tiles() } else { check.edge.take_full_tiles() };
        self.compare_tiles(check, tiles).await?;
        Ok(is_last)
    }

    /// Compares tiles of the entries with those in the store.
    async fn compare_tiles(
        &self,
        check: &mut EntryCheck,
        tiles: Vec<(TileId, Vec<u8>)>,
    ) -> Result<(), Error> {
        let ids: Vec<_> = tiles.iter().map(|(id, _)| *id).collect();
        let stored = self.stored_tiles(&check.signed, &ids).await?;
        let is_damaged = |(id, tile): &(TileId, Vec<u8>)| {
            stored.get(id).is_none_or(|stored| hashes_tile(stored) != *tile)
        };
        let differing = tiles.into_iter().filter(is_damaged);
        let places = MAX_REPAIRED.saturating_sub(check.damaged.len());
        check.damaged.extend(differing.take(places));
        Ok(())
    }

    /// Replaces the damaged tiles, except those at the edge if the tree has grown meanwhile.
    async fn repair(&self, check: &mut EntryCheck) -> Result<(), Error> {
        while !check.damaged.is_empty() {
            let Some(stored) = self.store.tree().await? else { break };
            let (log, size) = (stored.record.log, stored.record.size);
            let is_full = |tile: &[u8]| tile.len() == usize::from(WIDTH) * 32;
            check.damaged.retain(|(_, tile)| {
                log == check.signed.log && (size == check.signed.size || is_full(tile))
            });
            let mut change = TreeChange::to(TreeState::clone(&stored.record), Some(&stored));
            change.tiles = check.damaged.clone();
            if self.store.save_tree(&change).await? == Saved::Saved {
                break;
            }
        }
        Ok(())
    }
}
