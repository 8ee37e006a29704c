//! Builds the tree and signs it; and what operators accept: another key, or a store that went back (API.md, 7.6).

use std::sync::Arc;

use super::edge::Edge;
use super::reading::checkpoint_of;
use super::{LastSigned, SignedCheckpoint, SignedLog};
use crate::domain::{Actor, Invalid, LogBefore, LogEntry, LogRow, Logged, Operation, Seq};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::log_line;
use crate::proof::tile::{TileId, hash_in, read_hashes_tile};
use crate::proof::tree::{Node, TreeHash};
use crate::rules;
use crate::service::Error;
use crate::service::log_rows::{self, UnreadableRow};
use crate::store::{Saved, StoreError, StoreErrorKind, TreeChange, TreeState, Versioned};

/// Number of rows read at once.
pub(super) const BATCH: usize = 500;

/// Number of rows after which a tree that is catching up is saved.
const ROWS_PER_SAVE: u64 = 8_192;

/// The outcome of a round of signing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signing {
    /// The last checkpoint covers all entries.
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
    /// Signs the log as it is now, unless that is done already, or would contradict what was signed before.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// [`Error::Store`], also when what was signed last cannot be read.
    pub async fn sign(&self) -> Result<Signing, Error> {
        let signing = self.round().await;
        if !matches!(signing, Ok(Signing::Current | Signing::Signed(_))) {
            self.lock().answer_key = None;
        }
        signing
    }

    async fn round(&self) -> Result<Signing, Error> {
        // The position is read last: another server may commit and sign meanwhile, and what it signed must not look like
        // entries that the store has lost.
        let remembered = self.remembered()?;
        let (mut stored, position) = (self.store.tree().await?, self.store.log_position().await?);
        let signed = checkpoint_of(stored.as_ref())?;
        let in_store = signed.as_ref().map(|signed| self.last_of(signed, stored.as_ref()));
        for last in [&in_store, &remembered].into_iter().flatten() {
            if last.progress() > (position.log, position.size) {
                return self.went_back(last).await;
            }
        }
        let mut key = self.key_in_force(signed.as_ref(), in_store.as_ref(), position.log).await?;
        if key.is_foreign {
            return Ok(self.foreign(true));
        }

        let expected: Vec<_> = [in_store.clone(), remembered.clone()]
            .into_iter()
            .flatten()
            .filter(|last| last.log == position.log)
            .collect();
        let mut edge = self.edge(stored.as_ref(), in_store.as_ref(), position.log).await?;
        let covered = edge.size();
        for last in expected.iter().filter(|last| last.size < covered) {
            match self.root_below(in_store.as_ref(), last).await? {
                Some(root) if root == last.root => {}
                Some(_) => return self.went_back(last).await,
                None => edge = Edge::default(),
            }
        }
        let mut saved = edge.size();
        loop {
            let is_other =
                |last: &&LastSigned| last.size == edge.size() && last.root != edge.root();
            if let Some(last) = expected.iter().find(is_other) {
                return self.went_back(last).await;
            }
            if edge.size() >= position.size {
                break;
            }
            if edge.size().0 - saved.0 >= ROWS_PER_SAVE {
                if !self.save_unsigned(&mut stored, position.log, &mut edge).await? {
                    return Ok(Signing::Contended);
                }
                saved = edge.size();
            }
            let next_check = expected.iter().map(|last| last.size).filter(|it| *it > edge.size());
            let end = next_check.min().unwrap_or(position.size).min(position.size);
            if !self.push_rows(&mut edge, &mut key, end, position.log).await? {
                return Ok(Signing::Contended);
            }
            yield_once().await;
        }
        if key.is_foreign {
            return Ok(self.foreign(true));
        }
        self.foreign(false);
        self.finish(stored, edge, position.log, in_store.as_ref(), remembered.as_ref()).await
    }

    /// Reads the next batch of rows, at most to this size of the log, and appends their leaves. False if there are none:
    /// another server has changed the log.
    async fn push_rows(
        &self,
        edge: &mut Edge,
        key: &mut KeyInForce,
        end: Seq,
        log: u64,
    ) -> Result<bool, Error> {
        let rows = usize::try_from(end.0 - edge.size().0).unwrap_or(BATCH).min(BATCH);
        let rows = log_rows::rows(&self.store, edge.size(), rows).await?;
        for row in &rows {
            match row {
                Ok(row) => {
                    key.pass(row);
                    self.note_closing(row);
                    self.note_published(row);
                    edge.push(leaf(row));
                }
                Err(row) => edge.push(self.signed_leaf(log, row).await?),
            }
        }
        Ok(!rows.is_empty())
    }

    /// Compares the store with the checkpoint that is remembered outside of it, if any. For the start of a server.
    ///
    /// If the future is dropped, [some of the changes](crate::service#dropping-a-future) may be made. The next call
    /// makes the others.
    ///
    /// # Errors
    /// The errors of [`sign`](Self::sign).
    pub async fn check(&self) -> Result<(), Error> {
        if self.remembered()?.is_some() {
            self.sign().await?;
        }
        Ok(())
    }

    /// Signs the tree, unless the last checkpoint covers it already.
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
        let before = checkpoint_of(stored.as_ref())?;
        let ended = self.log_before(log, before.as_ref(), in_store, remembered).await?;
        if let Some(ended) = &ended {
            self.keep_ended(ended, log).await?;
        }
        let mut signing = Signing::Current;
        if !is_signed {
            let checkpoint =
                Checkpoint { origin: self.origin(log), size: last.size.0, root: last.root };
            let note = checkpoint.sign(&key);
            let signed = SignedCheckpoint::new(key.verifier().clone(), note).map_err(unsignable)?;
            let mut signed = match before {
                // What witnesses have cosigned stays.
                Some(before) => before.followed_by(signed),
                None => signed,
            };
            if let Some(entry) = self.lock().published.filter(|entry| *entry <= last.size) {
                signed = signed.with_published(entry);
            }
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
        self.lock().answer_key = Some(key);
        Ok(signing)
    }

    /// Saves a tree that is catching up, beside the last checkpoint. False if another server saved it meanwhile.
    async fn save_unsigned(
        &self,
        stored: &mut Stored,
        log: u64,
        edge: &mut Edge,
    ) -> Result<bool, Error> {
        let checkpoint = stored.as_ref().and_then(|stored| stored.record.checkpoint.clone());
        self.save(stored, TreeState { log, size: edge.size(), checkpoint }, edge).await
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

    /// The edge of the stored tree, whose last checkpoint is `signed`. If no tree of this log is stored, or its tiles
    /// are lost, the edge of an empty tree, from which it is built again.
    async fn edge(
        &self,
        stored: Option<&Versioned<TreeState>>,
        signed: Option<&LastSigned>,
        log: u64,
    ) -> Result<Edge, Error> {
        let Some(stored) = stored.filter(|stored| stored.record.log == log) else {
            return Ok(Edge::default());
        };
        let size = stored.record.size;
        if let Some(tree) = signed.filter(|tree| (tree.log, tree.size) == (log, size)) {
            let tiles = if_not_lost(self.tiles_of(tree, []).await)?;
            return Ok(tiles.and_then(|tiles| tiles.edge(size)).unwrap_or_default());
        }
        // The tree is still catching up, and no checkpoint has its root.
        let tiles = self.store.tiles(log, &Edge::tiles(size)).await?;
        let hashes = tiles.iter().map(|tile| read_hashes_tile(tile.as_deref().unwrap_or_default()));
        let edge = hashes.collect::<Option<Vec<_>>>().and_then(|tiles| Edge::of(size, tiles));
        Ok(edge.unwrap_or_default())
    }

    /// The root that the last checkpoint's tree had at the size of an earlier one; `None` if its tiles are lost.
    async fn root_below(
        &self,
        signed: Option<&LastSigned>,
        earlier: &LastSigned,
    ) -> Result<Option<TreeHash>, Error> {
        let covers = |tree: &&LastSigned| tree.log == earlier.log && tree.size >= earlier.size;
        let Some(tree) = signed.filter(covers) else { return Ok(None) };
        if_not_lost(self.root(tree, earlier.size).await)
    }

    /// The leaf of an entry that cannot be read any more, from the tiles of this log or of one before it.
    async fn signed_leaf(&self, log: u64, row: &UnreadableRow) -> Result<TreeHash, Error> {
        let node = Node { level: 0, index: row.seq.0.saturating_sub(1) };
        for log in (1..=log).rev() {
            let tiles = self.store.tiles(log, &[TileId::of(node)]).await?;
            let hashes = tiles.first().and_then(|tile| read_hashes_tile(tile.as_deref()?));
            if let Some(hash) = hashes.and_then(|hashes| hash_in(&hashes, node)) {
                return Ok(hash);
            }
        }
        Err(StoreError::corrupt("sign", row.why.clone()).into())
    }

    fn last_of(
        &self,
        signed: &SignedCheckpoint,
        stored: Option<&Versioned<TreeState>>,
    ) -> LastSigned {
        self.tree_of(&signed.checkpoint, stored.map_or(1, |stored| stored.record.log))
    }

    fn remembered(&self) -> Result<Option<LastSigned>, Error> {
        let last = self.signer.memory.last(&self.origin);
        Ok(last.map_err(|error| StoreError::unavailable("last checkpoint", error))?)
    }

    fn foreign(&self, is_foreign: bool) -> Signing {
        self.lock().is_foreign = is_foreign;
        Signing::ForeignKey
    }

    async fn went_back(&self, last: &LastSigned) -> Result<Signing, Error> {
        self.store.mark_went_back(last.log, last.size);
        Ok(Signing::WentBack)
    }
}

/// What operators accept.
impl SignedLog {
    /// Accepts this server's key: the next checkpoint is signed with it, and no other key signs from
    /// then on. This is logged.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn accept_key(&self, by: &Actor) -> Result<(), Error> {
        let log = self.store.log_position().await?.log;
        let key = self.key(log).map_err(unsignable)?;
        Ok(self.store.accept_key(&rules::key_accepted(key.verifier(), by)).await?)
    }

    /// Accepts the store as [`Tenant::accept_store`](crate::service::Tenant::accept_store) does; the entry
    /// names the last checkpoint.
    ///
    /// If the future is dropped, the change is made [whole or not at all](crate::service#dropping-a-future).
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
            None => LogBefore::seen(self.store.seen_log().size),
        };
        // The number of the log that begins is higher than any that is known here.
        if let Some(last) = self.remembered()? {
            let seen = self.store.seen_log();
            if last.log > seen.log {
                self.store.mark_went_back(last.log, last.size);
            }
        }
        Ok(self.store.accept_store(&rules::store_accepted(before, by)).await?)
    }

    /// Which key may sign the log with this number: that of the last checkpoint, or the one accepted
    /// since.
    async fn key_in_force(
        &self,
        signed: Option<&SignedCheckpoint>,
        last: Option<&LastSigned>,
        log: u64,
    ) -> Result<KeyInForce, Error> {
        let mut own = vec![self.key(log).map_err(unsignable)?.verifier().to_string()];
        let after = last.filter(|last| last.log == log).map_or(Seq(0), |last| last.size);
        let Some(signed) = signed else { return Ok(KeyInForce { own, after, is_foreign: false }) };
        let signer = self.signer.secret.log_key(&signed.checkpoint.origin).map_err(unsignable)?;
        own.push(signer.verifier().to_string());
        if signed.note.is_signed_by(signer.verifier()) {
            return Ok(KeyInForce { own, after, is_foreign: false });
        }
        let known = self.lock().searched.filter(|(of, to, _)| *of == log && *to >= after.0);
        let (mut to, is_accepted) = known.map_or((after.0, false), |(_, to, found)| (to, found));
        let mut key = KeyInForce { own, after, is_foreign: !is_accepted };
        loop {
            let rows = log_rows::rows(&self.store, Seq(to), BATCH).await?;
            let Some(end) = rows.last() else { break };
            to = log_rows::seq(end).0;
            rows.iter().flatten().for_each(|row| key.pass(row));
        }
        self.lock().searched = Some((log, to, !key.is_foreign));
        Ok(key)
    }
}

/// The decision whether this server's key may sign. The last acceptance after the last checkpoint decides.
struct KeyInForce {
    /// The keys of this server.
    own: Vec<String>,
    /// The size of the last checkpoint.
    after: Seq,
    /// Whether none of them may sign.
    is_foreign: bool,
}

impl KeyInForce {
    /// Reads a row of the log, which may be the acceptance of a key.
    fn pass(&mut self, row: &LogRow) {
        if row.seq > self.after
            && let Logged::Entry(entry) = &row.logged
            && let LogEntry::Operation(Operation::KeyAccepted { log_key, .. }) = &**entry
        {
            self.is_foreign = !self.own.contains(log_key);
        }
    }
}

/// The leaf of an entry.
pub(super) fn leaf(row: &LogRow) -> TreeHash {
    TreeHash::leaf(log_line(row).text().as_bytes())
}

/// What was read of a tree; `None` if its tiles are lost, and have to be computed from all entries.
fn if_not_lost<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Err(Error::Store(error)) if error.kind() == StoreErrorKind::Corrupt => Ok(None),
        read => read.map(Some),
    }
}

pub(super) fn unsignable(error: Invalid) -> StoreError {
    StoreError::misconfigured("sign", error)
}

/// Lets other tasks run, even if the store answers at once.
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
