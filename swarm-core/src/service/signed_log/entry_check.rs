//! Compares the entries in the store with those that were signed, to detect a store that was edited by hand
//! (API.md, 11.4).

use super::SignedLog;
use super::edge::Edge;
use super::signing::leaf;
use crate::domain::Seq;
use crate::proof::tile::{TileId, WIDTH, read_hashes_tile};
use crate::proof::tree::TreeHash;
use crate::service::Error;
use crate::service::log_rows::{self, UnreadableRow};

/// A comparison of all entries with the last checkpoint, a tile at a time.
#[derive(Debug)]
pub struct EntryCheck {
    log: u64,
    size: Seq,
    root: TreeHash,
    /// The tree of the entries that were read.
    edge: Edge,
    /// The first entry whose hash differs from the one in the tiles.
    differs: Option<Seq>,
    /// The first that cannot be read. Its hash is taken from the tiles, so that those after it are compared.
    unreadable: Option<UnreadableRow>,
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

impl SignedLog {
    /// Begins to compare the entries with the last checkpoint; `None` until one of the current log is signed.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn begin_entry_check(&self) -> Result<Option<EntryCheck>, Error> {
        let log = self.store.log_position().await?.log;
        let Some((tree, signed)) = self.signed().await? else { return Ok(None) };
        let root = signed.checkpoint.root;
        let (size, edge) = (tree.size, Edge::default());
        let check = EntryCheck { log, size, root, edge, differs: None, unreadable: None };
        Ok((tree.log == log).then_some(check))
    }

    /// Compares the entries of the next tile, and returns whether it was the last. If entries were changed, this
    /// process refuses commits from then on, until an operator accepts the store.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn check_entries(&self, check: &mut EntryCheck) -> Result<bool, Error> {
        if !self.compare(check).await? {
            return Ok(false);
        }
        let damage = if check.edge.root() == check.root {
            let unreadable = check.unreadable.take();
            unreadable.map(|row| Damage::Unreadable(row.seq, row.why))
        } else {
            Some(Damage::Changed(check.differs))
        };
        if let Some(Damage::Changed(_)) = damage {
            self.store.mark_went_back(check.log, check.size).await?;
        }
        self.lock().damage = damage;
        Ok(true)
    }

    /// The damage that the last comparison found.
    pub fn damage(&self) -> Option<Damage> {
        self.lock().damage.clone()
    }

    /// Reads the next tile. Returns whether it was the last, or the entries end early.
    async fn compare(&self, check: &mut EntryCheck) -> Result<bool, Error> {
        let first = check.edge.size();
        let id = TileId { level: 0, index: first.0 / u64::from(WIDTH) };
        let width = usize::from(id.width(check.size.0));
        if width == 0 {
            return Ok(true);
        }
        let rows = log_rows::rows(&*self.store, first, width).await?;
        let tile = self.store.tiles(check.log, &[id]).await?.into_iter().next().flatten();
        let hashes = read_hashes_tile(tile.as_deref().unwrap_or_default()).unwrap_or_default();
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
        // These tiles are stored already.
        check.edge.take_tiles();
        if rows.len() < width {
            check.differs.get_or_insert(Seq(check.edge.size().0.saturating_add(1)));
        }
        Ok(rows.len() < width || check.edge.size() >= check.size)
    }
}
