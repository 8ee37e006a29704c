//! Watching a log: whether it continues what an earlier look saw of it, whether its entries are those that the rules allow, and
//! what operators did since (MANUAL.md, 13.3).

use serde::{Deserialize, Serialize};

use super::continuation::{Continuation, continuation};
use super::key::LogKey;
use super::replay::{Archive, Found, Remark, Replay, SessionAside};
use super::succession::Followed;
use crate::domain::json::printable;
use crate::domain::{Invalid, Seq, Timestamp};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::succession::Succession;
use crate::proof::tree::{GrowingTree, Node, TreeHash};

/// How much earlier than a look an entry may be dated that the look did not have, in milliseconds: a checkpoint is at most 2 s
/// behind the commits.
const MAX_BACK_DATED: i64 = 5_000;

/// The most faults of one look that are named.
const MAX_FAULTS: usize = 50;

/// What a watcher keeps of a log from one look to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchState {
    /// The last signed checkpoint; empty before the first look.
    pub checkpoint: String,
    /// The complete subtrees of the tree that was read, from which it is extended.
    #[serde(default)]
    parts: Vec<String>,
    /// When the last checkpoint was read, by the watcher's clock.
    #[serde(default)]
    looked_at: Option<Timestamp>,
    /// The state of the service after the entries that were read; `None` if they are to be read again.
    #[serde(default)]
    replay: Option<Replay>,
    /// The sessions that this look put aside.
    #[serde(skip)]
    aside: Vec<SessionAside>,
}

/// Why a look does not end with a log that continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchFault {
    /// The log signed two histories: the later checkpoint does not continue the earlier one.
    Fork {
        /// The signed checkpoint of an earlier look.
        earlier: String,
        /// The signed checkpoint of this look.
        later: String,
        /// For people.
        text: String,
    },
    /// The log is not the one that was watched, or its entries are not those that the rules allow: one line each.
    Broken(Vec<String>),
    /// The tiles or the entries are not those that the checkpoint signs, so they show nothing: they were damaged on the way, or
    /// are those of another checkpoint.
    OtherTiles(String),
}

impl WatchFault {
    fn broken(fault: impl Into<String>) -> Self {
        Self::Broken(vec![fault.into()])
    }
}

/// One look: from the checkpoint of the last look to the latest one, entry by entry.
#[derive(Debug)]
pub struct Watch {
    /// The number of entries that earlier looks have seen: the size of the last checkpoint, or what another log has kept of it.
    seen: u64,
    /// The log that was watched before, if this one goes on in its place.
    followed: Option<Followed>,
    looked_at: Option<Timestamp>,
    tree: GrowingTree,
    replay: Replay,
    archive: Archive,
    found: Found,
    now: Timestamp,
    note: SignedNote,
    checkpoint: Checkpoint,
}

impl WatchState {
    /// Returns the size of the last checkpoint; 0 before the first look.
    pub fn size(&self) -> u64 {
        self.last().map_or(0, |(_, last)| last.size)
    }

    /// Returns the sessions that the look put aside. They are to be kept before the state is.
    pub fn sessions_aside(&self) -> &[SessionAside] {
        &self.aside
    }

    /// Has the next look read all entries again. It still has to continue the last checkpoint.
    #[must_use]
    pub fn rewound(self) -> Self {
        Self { replay: None, ..self }
    }

    /// Returns the last checkpoint; `None` before the first look.
    pub fn last_checkpoint(&self) -> Option<Checkpoint> {
        self.last().map(|(_, last)| last)
    }

    fn last(&self) -> Option<(SignedNote, Checkpoint)> {
        let note = SignedNote::parse(&self.checkpoint).ok()?;
        let checkpoint = Checkpoint::parse(note.text()).ok()?;
        Some((note, checkpoint))
    }

    /// The tree of the last checkpoint, and what its entries lead to; both empty if they are to be read again.
    fn progress(&self) -> Result<(GrowingTree, Replay), WatchFault> {
        let (Some((_, last)), Some(replay)) = (self.last(), &self.replay) else {
            return Ok(Default::default());
        };
        let parts = self.parts.iter().map(|hash| TreeHash::parse(hash)).collect::<Result<_, _>>();
        let tree = parts.ok().and_then(|parts| GrowingTree::resume(last.size, parts));
        let tree = tree.filter(|tree| tree.root() == last.root);
        let tree = tree.ok_or_else(|| WatchFault::broken("what is kept of the log is damaged"))?;
        Ok((tree, replay.clone()))
    }
}

impl Watch {
    /// Begins a look: `note` is the latest checkpoint, read at `now` by the watcher's clock. `read` returns the hash of a
    /// complete subtree of its tree. Its answers are authenticated before anything is concluded from them.
    ///
    /// # Errors
    /// The error of `read`. The inner error says why the checkpoint is none, is signed by another key, or does not continue
    /// the last one.
    pub fn begin<E>(
        seen: &WatchState,
        note: &str,
        key: &LogKey,
        now: Timestamp,
        read: impl FnMut(Node) -> Result<TreeHash, E>,
    ) -> Result<Result<Self, WatchFault>, E> {
        let last = seen.last();
        let (note, checkpoint) = match signed(note, last.as_ref().map(|(_, last)| last), key) {
            Ok(signed) => signed,
            Err(fault) => return Ok(Err(WatchFault::broken(fault))),
        };
        let (tree, replay) = match seen.progress() {
            Ok(progress) => progress,
            Err(fault) => return Ok(Err(fault)),
        };
        if let Some((earlier, last)) = &last
            && let Some(fault) = continuation_fault((earlier, last), (&note, &checkpoint), read)?
        {
            return Ok(Err(fault));
        }
        let (seen, looked_at) = (seen.size(), seen.looked_at);
        let found = Found::default();
        let (followed, archive) = (None, Archive::none());
        Ok(Ok(Self {
            seen,
            followed,
            looked_at,
            tree,
            replay,
            archive,
            found,
            now,
            note,
            checkpoint,
        }))
    }

    /// Begins a look at another log, which goes on in the place of the one that was watched: all of its entries are read.
    /// `successions` lead from that one to this one, and are [verified](super::verified_succession). That the log which was watched
    /// continued to its end is for the caller to check.
    ///
    /// # Errors
    /// [`WatchFault`]: the checkpoint is none, or is not signed by the key that the last succession names.
    pub fn follow(
        seen: &WatchState,
        successions: Vec<Succession>,
        note: &str,
        now: Timestamp,
    ) -> Result<Self, WatchFault> {
        let (Some(last), Some(end)) = (seen.last_checkpoint(), successions.last()) else {
            return Err(WatchFault::broken("no log was watched before"));
        };
        let key = LogKey::given(&end.successor);
        let (note, checkpoint) = signed(note, None, &key).map_err(WatchFault::broken)?;
        Ok(Self {
            seen: last.size,
            followed: Some(Followed::new(last, successions)),
            looked_at: seen.looked_at,
            tree: GrowingTree::default(),
            replay: Replay::default(),
            archive: Archive::none(),
            found: Found::default(),
            now,
            note,
            checkpoint,
        })
    }

    /// Has the look put sessions aside that are over: [`WatchState::sessions_aside`] returns them after it. `read` returns the
    /// text of one that an earlier look put aside, given its id and the size of the log then; `None` if it cannot be read.
    #[must_use]
    pub fn with_archive(self, read: impl FnMut(u64, u64) -> Option<String> + 'static) -> Self {
        Self { archive: Archive::of(read), ..self }
    }

    /// Has a look at a log that goes on in the place of another one compare each entry with the one that was seen. `read` returns
    /// the text of the entry with an index; `None` if it is not kept.
    #[must_use]
    pub fn with_mirror(mut self, read: impl FnMut(u64) -> Option<String> + 'static) -> Self {
        if let Some(followed) = &mut self.followed {
            followed.compare(read);
        }
        self
    }

    /// Returns the index of the next entry to read; `None` after the last one.
    pub fn next(&self) -> Option<u64> {
        (self.tree.size() < self.checkpoint.size).then(|| self.tree.size())
    }

    /// Returns the latest checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Returns the latest checkpoint with its signatures.
    pub fn note(&self) -> &SignedNote {
        &self.note
    }

    /// Returns the number of entries that earlier looks have seen. It is final after the last entry.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the time of the last entry that was read.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.replay.last_at()
    }

    /// Reads the next entry. What it shows is concluded by [`end`](Self::end).
    pub fn read(&mut self, text: &str) {
        let seq = Seq(self.tree.size() + 1);
        self.tree.push(TreeHash::leaf(text.as_bytes()));
        let mut is_changed = false;
        if let Some(followed) = &mut self.followed {
            is_changed = followed.read(seq, text, &self.tree);
            self.seen = self.seen.min(followed.kept());
        }
        let (is_new, shown) = (seq.0 > self.seen || is_changed, self.found.remarks.len());
        let at = self.replay.read(seq, text, &mut self.archive, &mut self.found);
        if !is_new {
            // An earlier look has shown what it says of the entry.
            self.found.remarks.truncate(shown);
        }
        if let Some(at) = at.filter(|at| is_new && is_before(self.now, *at)) {
            let text = format!(
                "entry {seq} is dated {at}, after this look at {}, by this watcher's clock",
                self.now
            );
            self.found.remarks.push(Remark { is_notable: true, text });
        }
        // An entry that an accepted store changed keeps its old date. `followed` reports the change.
        let dated = at.zip(self.looked_at.filter(|_| seq.0 > self.seen));
        if let Some((at, looked_at)) = dated.filter(|(at, looked_at)| is_before(*at, *looked_at)) {
            self.found.faults.push(format!(
                "entry {seq} is dated {at}, and a look at {looked_at}, by this watcher's clock, did not have it"
            ));
        }
    }

    /// Ends the look, after the last entry. Returns what to keep, and what operators did since the last look.
    ///
    /// # Errors
    /// [`WatchFault`]: the entries are not those that the checkpoint signs, or not those that the rules allow.
    pub fn end(self) -> Result<(WatchState, Vec<Remark>), WatchFault> {
        let Checkpoint { size, root, .. } = &self.checkpoint;
        if self.tree.size() != *size || self.tree.root() != *root {
            let text = "the entries are not those of the tree that was signed";
            return Err(WatchFault::OtherTiles(text.to_owned()));
        }
        let Found { mut faults, mut remarks } = self.found;
        if let Some(followed) = self.followed {
            match followed.end() {
                Ok(said) => drop(remarks.splice(..0, said)),
                Err(fault) => faults.insert(0, fault),
            }
        }
        if !faults.is_empty() {
            let unnamed = faults.len().saturating_sub(MAX_FAULTS);
            faults.truncate(MAX_FAULTS);
            faults.extend((unnamed > 0).then(|| format!("and {unnamed} more")));
            return Err(WatchFault::Broken(faults));
        }
        let mut replay = self.replay;
        remarks.extend(replay.overdue(self.now));
        let aside = if self.archive.is_used() { replay.put_aside(*size) } else { Vec::new() };
        let state = WatchState {
            checkpoint: self.note.to_string(),
            parts: self.tree.parts().iter().map(ToString::to_string).collect(),
            looked_at: Some(self.now),
            replay: Some(replay),
            aside,
        };
        Ok((state, remarks))
    }
}

/// Whether one time is before another by more than the clocks of a server and a watcher differ.
fn is_before(one: Timestamp, other: Timestamp) -> bool {
    one.millis().saturating_add(MAX_BACK_DATED) < other.millis()
}

/// Why a checkpoint does not continue the one of an earlier look; `None` if it does.
fn continuation_fault<E>(
    (earlier, last): (&SignedNote, &Checkpoint),
    (later, latest): (&SignedNote, &Checkpoint),
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Option<WatchFault>, E> {
    let (old, new) = (last.size, latest.size);
    if old > new {
        let text = format!("the log went back: it had {old} entries, then {new}");
        return Ok(Some(WatchFault::broken(text)));
    }
    Ok(match continuation(last, latest, read)? {
        Continuation::Continues => None,
        Continuation::OtherTiles => Some(WatchFault::OtherTiles(
            "the tiles are not those of the tree that was signed".to_owned(),
        )),
        Continuation::Fork => Some(WatchFault::Fork {
            earlier: earlier.to_string(),
            later: later.to_string(),
            text: format!("a fork: the log of {new} entries does not begin with the one of {old}"),
        }),
    })
}

/// Reads a checkpoint of the log that was watched before, which this key signed.
fn signed(
    note: &str,
    last: Option<&Checkpoint>,
    key: &LogKey,
) -> Result<(SignedNote, Checkpoint), String> {
    let unreadable = |error: Invalid| format!("the checkpoint cannot be read: {error}");
    let note = SignedNote::parse(note).map_err(unreadable)?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(unreadable)?;
    if let Some(last) = last.filter(|last| last.origin != checkpoint.origin) {
        let (before, now) = (printable(&last.origin), printable(&checkpoint.origin));
        return Err(format!("another log: it is called {now}, the one before {before}"));
    }
    let key = key.verifier(&checkpoint.origin).map_err(unreadable)?;
    if key.name() != checkpoint.origin {
        let (name, origin) = (printable(key.name()), printable(&checkpoint.origin));
        return Err(format!("another log: it is called {origin}, the key is of {name}"));
    }
    if !note.is_signed_by(&key) {
        return Err(format!("the checkpoint is not signed by the key {key}"));
    }
    Ok((note, checkpoint))
}

/// Checks that two signed checkpoints of one log, kept as the evidence of a fork, are one: both signed by the key, and the
/// later one does not continue the earlier one. `read` returns the hash of a complete subtree of the later tree.
///
/// # Errors
/// The error of `read`.
pub fn is_fork<E>(
    [earlier, later]: [&str; 2],
    key: &LogKey,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<bool, E> {
    let (Ok((_, earlier)), Ok((_, later))) = (signed(earlier, None, key), signed(later, None, key))
    else {
        return Ok(false);
    };
    let is_comparable = earlier.origin == later.origin && earlier.size <= later.size;
    Ok(is_comparable && continuation(&earlier, &later, read)? == Continuation::Fork)
}
