//! Reads of a signed log: checkpoint, tiles, and the proofs made of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{LastSigned, SignedCheckpoint, SignedLog};
use crate::domain::{LogRow, Logged, Seq, TakeId};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::log_line;
use crate::proof::note::{NoteSigner, SignedNote, VerifierKey};
use crate::proof::tile::{TileId, TilePath, entries_tile, hashes_tile};
use crate::proof::tlog_proof::TlogProof;
use crate::proof::tree::{Node, TreeHash, consistency, inclusion, root};
use crate::service::{Error, log_rows};
use crate::store::{StoreError, TreeState, Versioned};

/// Maximum number of rows of the log read at a time to find the next take.
const MAX_ROWS: u64 = 64;

/// How many of the latest rows are searched for a take that was just filed, before all others are.
const LATEST_ROWS: u64 = 16;

impl SignedLog {
    /// Returns the last checkpoint that was signed, if any.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn checkpoint(&self) -> Result<Option<SignedCheckpoint>, Error> {
        checkpoint_of(self.store.tree().await?.as_ref())
    }

    /// Returns the key of the last checkpoint, or of the first that this server will sign.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn verifier(&self) -> Result<VerifierKey, Error> {
        if let Some(signed) = self.checkpoint().await? {
            return Ok(signed.key);
        }
        let log = self.store.log_position().await?.log;
        let key = self.key(log).map_err(|error| StoreError::misconfigured("sign", error))?;
        Ok(key.verifier().clone())
    }

    /// Returns the key that responses are signed with: that of the log, unless it is another server's. Once this
    /// server has signed the log, it is known without a call to the store; another key, or another log, is noticed
    /// when the log is [signed](Self::sign) the next time.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn answer_key(&self) -> Result<Option<Arc<NoteSigner>>, Error> {
        let known = self.lock().answer_key.clone();
        if known.is_some() {
            return Ok(known);
        }
        let verifier = self.verifier().await?;
        let Some(log) = self.number_of(verifier.name()) else { return Ok(None) };
        let key = self.key(log).map_err(|error| StoreError::misconfigured("sign", error))?;
        Ok((*key.verifier() == verifier).then_some(key))
    }

    /// Returns the bytes of a tile; `None` unless the last checkpoint has all of it, and each of its
    /// entries can be read.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn tile(&self, path: TilePath) -> Result<Option<Vec<u8>>, Error> {
        let Some((tree, _)) = self.signed().await? else { return Ok(None) };
        let id = TileId { level: path.level.unwrap_or(0), index: path.index };
        if id.width(tree.size.0) < path.width {
            return Ok(None);
        }
        if path.level.is_none() {
            return Ok(self.texts(path).await?.map(|texts| entries_tile(&texts)));
        }
        let tiles = self.tiles_of(&tree, [id]).await?;
        Ok(tiles.hashes(id).get(..usize::from(path.width)).map(hashes_tile))
    }

    /// Returns the bytes of a tile of the log with this number. Of a log that another one has replaced, it
    /// is `None` unless the store still has its hashes and, for a tile of entries, the very entries that
    /// these are of.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn tile_of(&self, log: u64, path: TilePath) -> Result<Option<Vec<u8>>, Error> {
        if self.signed().await?.is_some_and(|(tree, _)| tree.log == log) {
            return self.tile(path).await;
        }
        let is_replaced = log < self.store.log_position().await?.log;
        if !is_replaced || path.level.is_some() {
            return if is_replaced { self.replaced_hashes(log, path).await } else { Ok(None) };
        }
        let leaves = self.replaced_hashes(log, TilePath { level: Some(0), ..path }).await?;
        let texts = self.texts(path).await?.filter(|texts| {
            let hashes: Vec<_> = texts.iter().map(|it| TreeHash::leaf(it.as_bytes())).collect();
            leaves == Some(hashes_tile(&hashes))
        });
        Ok(texts.map(|texts| entries_tile(&texts)))
    }

    /// A tile of hashes of a replaced log, as wide as the path says, if the store has that much of it.
    async fn replaced_hashes(&self, log: u64, path: TilePath) -> Result<Option<Vec<u8>>, Error> {
        let id = TileId { level: path.level.unwrap_or(0), index: path.index };
        let tile = self.store.tiles(log, &[id]).await?.into_iter().next().flatten();
        Ok(tile.and_then(|mut hashes| {
            let bytes = usize::from(path.width) * 32;
            hashes.truncate(bytes);
            (hashes.len() == bytes).then_some(hashes)
        }))
    }

    /// The texts of the entries of a tile, if all of them can be read.
    async fn texts(&self, path: TilePath) -> Result<Option<Vec<String>>, Error> {
        let (first, width) = (Seq(path.index.saturating_mul(256)), usize::from(path.width));
        let rows = log_rows::rows(&*self.store, first, width).await?;
        let texts: Vec<_> = rows.iter().flatten().map(|row| log_line(row).text()).collect();
        Ok(Some(texts).filter(|texts| texts.len() == width))
    }

    /// Returns the proof that the entry of a take is in the log, with what its record does not have as extra data; `None` until a checkpoint has it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn proof_of_take(&self, take: TakeId) -> Result<Option<TlogProof>, Error> {
        let Some((tree, _)) = self.signed().await? else { return Ok(None) };
        let Some(seq) = self.seq_of(take, tree.size).await? else { return Ok(None) };
        let rows = log_rows::rows(&*self.store, Seq(seq.0.saturating_sub(1)), 1).await?;
        let Some(Logged::Take(logged)) = rows.iter().flatten().next().map(|row| &row.logged) else {
            return Ok(None);
        };
        let proof = self.proof(seq).await?;
        Ok(proof.map(|proof| proof.with_extra_of(logged)))
    }

    /// Returns the number of the entry of a take that was filed, probably just now; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn entry_of_take(&self, take: TakeId) -> Result<Option<Seq>, Error> {
        let size = self.store.log_position().await?.size;
        let before = size.0.saturating_sub(LATEST_ROWS);
        let rows = log_rows::rows(&*self.store, Seq(before), LATEST_ROWS as usize).await?;
        let is_of =
            |row: &&LogRow| matches!(&row.logged, Logged::Take(logged) if logged.id() == take);
        match rows.iter().flatten().find(is_of) {
            Some(row) => Ok(Some(row.seq)),
            None => self.seq_of(take, size).await,
        }
    }

    /// Returns the proof of an entry under the last checkpoint; `None` until that covers it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn proof(&self, seq: Seq) -> Result<Option<TlogProof>, Error> {
        Ok(self.proofs(&[seq]).await?.and_then(|mut proofs| proofs.pop()))
    }

    /// Returns the proofs of entries, all under one checkpoint: the last one that witnesses cosigned, if it covers all of
    /// them, else the last one. `None` unless that covers all of them.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn proofs(&self, seqs: &[Seq]) -> Result<Option<Vec<TlogProof>>, Error> {
        let Some((tree, signed)) = self.signed().await? else { return Ok(None) };
        if seqs.iter().any(|seq| *seq == Seq(0) || *seq > tree.size) {
            return Ok(None);
        }
        let cosigned = signed.last_cosigned().and_then(|note| {
            let checkpoint = Checkpoint::parse(note.text()).ok()?;
            let covers = seqs.iter().all(|seq| seq.0 <= checkpoint.size);
            let size = Seq(checkpoint.size);
            covers.then(|| (LastSigned { size, root: checkpoint.root, ..tree.clone() }, note))
        });
        match cosigned {
            Some((tree, note)) => self.proofs_under(&tree, note, seqs).await.map(Some),
            None => self.proofs_under(&tree, &signed.note, seqs).await.map(Some),
        }
    }

    /// The proofs of entries that this checkpoint covers, in the order of `seqs`.
    async fn proofs_under(
        &self,
        tree: &LastSigned,
        checkpoint: &SignedNote,
        seqs: &[Seq],
    ) -> Result<Vec<TlogProof>, Error> {
        let (size, mut wanted) = (tree.size.0, BTreeSet::new());
        let indexes = || seqs.iter().map(|seq| seq.0.saturating_sub(1));
        for index in indexes() {
            let Ok(_) = inclusion(index, size, noting(&mut wanted));
        }
        let tiles = self.tiles_of(tree, wanted).await?;
        let proofs = indexes().map(|index| {
            let hashes = inclusion(index, size, tiles.reader())?;
            Ok(TlogProof { extra: None, index, hashes, checkpoint: checkpoint.clone() })
        });
        proofs.collect()
    }

    /// Returns the proof that the tree of the last checkpoint, `new`, continues the one of its first `old`
    /// entries.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn consistency(&self, old: Seq, new: &Checkpoint) -> Result<Vec<TreeHash>, Error> {
        let tree = self.tree_of(new, 1);
        let mut wanted = BTreeSet::new();
        let Ok(_) = consistency(old.0, new.size, noting(&mut wanted));
        let tiles = self.tiles_of(&tree, wanted).await?;
        consistency(old.0, new.size, tiles.reader())
    }

    /// The root of the tree of the first `size` entries of a signed tree.
    pub(super) async fn root(&self, tree: &LastSigned, size: Seq) -> Result<TreeHash, Error> {
        let mut wanted = BTreeSet::new();
        let Ok(_) = root(size.0, noting(&mut wanted));
        root(size.0, self.tiles_of(tree, wanted).await?.reader())
    }

    /// The tree of the last checkpoint, with it; `None` while its tiles are not stored.
    pub(super) async fn signed(&self) -> Result<Option<(LastSigned, SignedCheckpoint)>, Error> {
        let stored = self.store.tree().await?;
        let signed = checkpoint_of(stored.as_ref())?;
        let (Some(stored), Some(signed)) = (stored, signed) else { return Ok(None) };
        let tree = self.tree_of(&signed.checkpoint, stored.record.log);
        let has_tiles = tree.log == stored.record.log && tree.size <= stored.record.size;
        Ok(has_tiles.then_some((tree, signed)))
    }

    /// The tree of a checkpoint. Its log has the number `otherwise` if it was called otherwise, after another host.
    pub(super) fn tree_of(&self, checkpoint: &Checkpoint, otherwise: u64) -> LastSigned {
        let Checkpoint { origin, size, root } = checkpoint;
        let log = self.number_of(origin).unwrap_or(otherwise);
        LastSigned { log, size: Seq(*size), root: *root }
    }

    /// The number of the entry of a take, up to `size`. Entries of takes are in the order of their ids,
    /// with others between them.
    async fn seq_of(&self, take: TakeId, size: Seq) -> Result<Option<Seq>, Error> {
        // All takes with lower ids have entries before it, so its number is at least its id.
        let (mut low, mut high) = (take.0, size.0);
        let mut middle = low;
        while low <= high {
            let Some((seq, found)) = self.next_take(middle, high).await? else {
                // There is no take from here on. If the take has an entry, that is before.
                let Some(before) = middle.checked_sub(1) else { return Ok(None) };
                high = before;
                middle = low.midpoint(high);
                continue;
            };
            match found.cmp(&take) {
                std::cmp::Ordering::Equal => return Ok(Some(seq)),
                std::cmp::Ordering::Less => low = seq.0 + (take.0 - found.0),
                std::cmp::Ordering::Greater => {
                    let Some(before) = middle.checked_sub(1) else { return Ok(None) };
                    high = before;
                }
            }
            // Usually there are few entries of other kinds, so the first guess is close.
            middle = if found < take { low } else { low.midpoint(high) };
        }
        Ok(None)
    }

    /// The first take from this entry on, up to `last`.
    async fn next_take(&self, from: u64, last: u64) -> Result<Option<(Seq, TakeId)>, Error> {
        let (mut after, mut count) = (from.saturating_sub(1), 1);
        while after < last {
            let limit = usize::try_from(count).unwrap_or(1);
            let rows = log_rows::rows(&*self.store, Seq(after), limit).await?;
            let take_of = |row: &LogRow| match &row.logged {
                Logged::Take(take) => Some((row.seq, take.id())),
                _ => None,
            };
            let Some(end) = rows.last() else { return Ok(None) };
            after = log_rows::seq(end).0;
            if let Some(found) = rows.iter().flatten().find_map(take_of) {
                return Ok(Some(found).filter(|(seq, _)| seq.0 <= last));
            }
            count = (count * 4).min(MAX_ROWS);
        }
        Ok(None)
    }
}

/// The checkpoint of a stored tree, if there is one.
pub(super) fn checkpoint_of(
    stored: Option<&Versioned<TreeState>>,
) -> Result<Option<SignedCheckpoint>, Error> {
    let text = stored.and_then(|stored| stored.record.checkpoint.as_deref());
    let parsed = text.map(SignedCheckpoint::parse).transpose();
    Ok(parsed.map_err(|error| StoreError::corrupt("tree", error))?)
}

/// Records which tiles are read.
fn noting(
    wanted: &mut BTreeSet<TileId>,
) -> impl FnMut(Node) -> Result<TreeHash, std::convert::Infallible> {
    |node| {
        wanted.insert(TileId::of(node));
        Ok(TreeHash::empty())
    }
}
