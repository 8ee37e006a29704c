//! Building the tree, and signing it.

use std::sync::Arc;

use super::edge::Edge;
use super::reading::checkpoint_of;
use super::{LastSigned, SignedCheckpoint, SignedLog};
use crate::domain::{Actor, Invalid, LogBefore, LogEntry, LogRow, Logged, Operation, Seq};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::log_line;
use crate::proof::tile::read_hashes_tile;
use crate::proof::tree::TreeHash;
use crate::rules;
use crate::service::Error;
use crate::store::{Saved, StoreError, TreeChange, TreeState, Versioned};

/// Rows that are read at once.
const BATCH: usize = 500;

/// Rows after which a tree that is behind is saved.
const SAVED_EVERY: u64 = 8_192;

/// What a round of signing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signing {
    /// The last checkpoint has all entries.
    Current,
    /// A checkpoint was signed.
    Signed(Checkpoint),
    /// Another server saved the tree at the same time: try again.
    Contended,
    /// The last checkpoint was signed by another key, and no operator has accepted this one.
    ForeignKey,
    /// The log does not continue what was signed: commits are refused until an operator accepts it.
    WentBack,
}

type Stored = Option<Versioned<TreeState>>;

impl SignedLog {
    /// Signs the log as it is now, unless that was done, or would contradict what was signed before.
    ///
    /// # Errors
    /// [`Error::Store`], also when what was signed last cannot be read.
    pub async fn sign(&self) -> Result<Signing, Error> {
        let (stored, position) = (self.store.tree().await?, self.store.log_position().await?);
        let signed = checkpoint_of(stored.as_ref())?;
        let in_store = signed.as_ref().map(|signed| self.last_of(signed, stored.as_ref()));
        let remembered = self.remembered()?;
        for last in [&in_store, &remembered].into_iter().flatten() {
            if last.progress() > (position.log, position.size) {
                return self.went_back(last).await;
            }
        }
        let is_foreign = match &signed {
            Some(signed) => !self.is_own(signed, in_store.as_ref(), position.log).await?,
            None => false,
        };
        self.lock().is_foreign = is_foreign;
        if is_foreign {
            return Ok(Signing::ForeignKey);
        }

        let (mut stored, mut edge) =
            (stored.clone(), self.edge(stored.as_ref(), position.log).await?);
        let mut expected: Vec<_> = [in_store.clone(), remembered.clone()]
            .into_iter()
            .flatten()
            .filter(|last| last.log == position.log && !self.is_checked(last))
            .collect();
        for last in expected.extract_if(.., |last| last.size < edge.size()) {
            if self.root(last.log, last.size).await? != last.root {
                return self.went_back(&last).await;
            }
        }
        let mut saved = edge.size();
        loop {
            if let Some(last) = expected.iter().find(|last| last.size == edge.size())
                && last.root != edge.root()
            {
                return self.went_back(last).await;
            }
            if edge.size() >= position.size {
                break;
            }
            if edge.size().0 - saved.0 >= SAVED_EVERY {
                let checkpoint = stored.as_ref().and_then(|it| it.record.checkpoint.clone());
                let state = TreeState { log: position.log, size: edge.size(), checkpoint };
                if !self.save(&mut stored, state, &mut edge).await? {
                    return Ok(Signing::Contended);
                }
                saved = edge.size();
            }
            let next_check = expected.iter().map(|last| last.size).filter(|it| *it > edge.size());
            let end = next_check.min().unwrap_or(position.size).min(position.size);
            let rows = usize::try_from(end.0 - edge.size().0).unwrap_or(BATCH).min(BATCH);
            let rows = self.store.log(edge.size(), rows).await?;
            if rows.is_empty() {
                return Ok(Signing::Contended);
            }
            rows.iter().for_each(|row| edge.push(leaf(row)));
            yield_once().await;
        }
        self.finish(stored, edge, position.log, in_store.as_ref(), remembered.as_ref()).await
    }

    /// Compares the store with what is remembered outside of it, if anything is: for a server that starts.
    ///
    /// # Errors
    /// As [`sign`](Self::sign).
    pub async fn check(&self) -> Result<(), Error> {
        if self.remembered()?.is_some() {
            self.sign().await?;
        }
        Ok(())
    }

    /// Signs the tree, unless the last checkpoint has it already.
    async fn finish(
        &self,
        mut stored: Stored,
        mut edge: Edge,
        log: u64,
        in_store: Option<&LastSigned>,
        remembered: Option<&LastSigned>,
    ) -> Result<Signing, Error> {
        let last = LastSigned { log, size: edge.size(), root: edge.root() };
        let key = self.key(log).map_err(unsignable)?;
        let is_signed = in_store == Some(&last)
            && stored.as_ref().is_some_and(|stored| {
                stored.record.size == last.size
                    && stored
                        .record
                        .checkpoint
                        .as_ref()
                        .is_some_and(|text| text.starts_with(&format!("{}\n", key.verifier())))
            });
        let mut signing = Signing::Current;
        if !is_signed {
            let checkpoint =
                Checkpoint { origin: self.origin(log), size: last.size.0, root: last.root };
            let note = checkpoint.sign(&key);
            let signed = SignedCheckpoint::new(key.verifier().clone(), note).map_err(unsignable)?;
            let text = Some(Arc::from(signed.text()));
            let state = TreeState { log, size: last.size, checkpoint: text };
            if !self.save(&mut stored, state, &mut edge).await? {
                return Ok(Signing::Contended);
            }
            signing = Signing::Signed(checkpoint);
        }
        if remembered != Some(&last) {
            let remember = self.signer.memory.remember(&self.origin, &last);
            remember.map_err(|error| StoreError::unavailable("remember checkpoint", error))?;
        }
        self.lock().checked = Some(last);
        Ok(signing)
    }

    async fn save(
        &self,
        stored: &mut Stored,
        state: TreeState,
        edge: &mut Edge,
    ) -> Result<bool, Error> {
        let mut change = TreeChange::to(state, stored.as_ref());
        change.tiles = edge.take_tiles();
        if self.store.save_tree(&change).await? == Saved::Stale {
            return Ok(false);
        }
        *stored = self.store.tree().await?;
        Ok(stored.as_ref().is_some_and(|stored| *stored.record == change.state))
    }

    /// The edge of the stored tree; that of an empty one where none of this log is stored, or tiles are
    /// missing: it is built again then.
    async fn edge(&self, stored: Option<&Versioned<TreeState>>, log: u64) -> Result<Edge, Error> {
        let Some(stored) = stored.filter(|stored| stored.record.log == log) else {
            return Ok(Edge::default());
        };
        let size = stored.record.size;
        let tiles = self.store.tiles(log, &Edge::tiles(size)).await?;
        let hashes = tiles.iter().map(|tile| read_hashes_tile(tile.as_deref().unwrap_or_default()));
        let edge = hashes.collect::<Option<Vec<_>>>().and_then(|tiles| Edge::of(size, tiles));
        Ok(edge.unwrap_or_default())
    }

    fn last_of(
        &self,
        signed: &SignedCheckpoint,
        stored: Option<&Versioned<TreeState>>,
    ) -> LastSigned {
        let Checkpoint { origin, size, root } = &signed.checkpoint;
        let stored_log = stored.map_or(1, |stored| stored.record.log);
        let log = self.number_of(origin).unwrap_or(stored_log);
        LastSigned { log, size: Seq(*size), root: *root }
    }

    fn remembered(&self) -> Result<Option<LastSigned>, Error> {
        let last = self.signer.memory.last(&self.origin);
        Ok(last.map_err(|error| StoreError::unavailable("last checkpoint", error))?)
    }

    fn is_checked(&self, last: &LastSigned) -> bool {
        self.lock().checked.as_ref() == Some(last)
    }

    async fn went_back(&self, last: &LastSigned) -> Result<Signing, Error> {
        self.store.mistrust(last.log, last.size).await?;
        Ok(Signing::WentBack)
    }

    /// Whether this server's key signed the checkpoint, or was accepted since.
    async fn is_own(
        &self,
        signed: &SignedCheckpoint,
        last: Option<&LastSigned>,
        log: u64,
    ) -> Result<bool, Error> {
        let own = self.signer.secret.log_key(&signed.checkpoint.origin).map_err(unsignable)?;
        if signed.note.is_signed_by(own.verifier()) {
            return Ok(true);
        }
        let key = self.key(log).map_err(unsignable)?.verifier().to_string();
        let begin = last.filter(|last| last.log == log).map_or(0, |last| last.size.0);
        let known = self.lock().searched.filter(|(of, to, _)| *of == log && *to >= begin);
        let (mut to, mut is_accepted) = known.map_or((begin, false), |(_, to, found)| (to, found));
        loop {
            let rows = self.store.log(Seq(to), BATCH).await?;
            let Some(end) = rows.last() else { break };
            to = end.seq.0;
            is_accepted |= rows.iter().any(|row| accepts(row, &key));
        }
        self.lock().searched = Some((log, to, is_accepted));
        Ok(is_accepted)
    }

    /// Accepts the store as [`Tenant::accept_store`](crate::service::Tenant::accept_store) does; the entry
    /// names the last checkpoint.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_store(&self, by: &Actor) -> Result<(), Error> {
        let stored = self.store.tree().await?;
        let signed = checkpoint_of(stored.as_ref())?;
        let in_store = signed.as_ref().map(|signed| self.last_of(signed, stored.as_ref()));
        let last = [in_store, self.remembered()?].into_iter().flatten();
        let before = match last.max_by_key(LastSigned::progress) {
            Some(last) => LogBefore {
                origin: Some(self.origin(last.log)),
                size: last.size,
                root: Some(last.root.to_string()),
            },
            None => LogBefore::seen(self.store.seen_log().await?.size),
        };
        // The number of the log that begins is higher than any that is known here.
        if let Some(last) = self.remembered()? {
            let seen = self.store.seen_log().await?;
            if last.log > seen.log {
                self.store.mistrust(last.log, last.size).await?;
            }
        }
        Ok(self.store.accept_store(&rules::store_accepted(before, by)).await?)
    }
}

/// The leaf of an entry.
fn leaf(row: &LogRow) -> TreeHash {
    TreeHash::leaf(log_line(row).text().as_bytes())
}

/// Whether an operator accepts this key with a row.
fn accepts(row: &LogRow, key: &str) -> bool {
    let Logged::Entry(entry) = &row.logged else { return false };
    matches!(&**entry, LogEntry::Operation(Operation::KeyAccepted { log_key, .. }) if log_key == key)
}

fn unsignable(error: Invalid) -> StoreError {
    StoreError::misconfigured("sign", error)
}

/// Lets other tasks run, also where the store answers at once.
async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
