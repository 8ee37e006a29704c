//! Watching a log: whether it continues what an earlier run saw of it, and what operators did since (API.md, 13.3).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::checkpoint;
use super::key::LogKey;
use crate::domain::json::{Json, printable, printable_json, write};
use crate::domain::{
    Invalid, LogEntry, LogLine, Operation, Seq, SessionAct, SessionEntry, SessionId, SessionState,
    Timestamp,
};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::Note;
use crate::proof::tree::{GrowingTree, Node, TreeHash};

/// What a watcher keeps of a log from one run to the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchState {
    /// The last signed checkpoint; empty before the first run.
    pub checkpoint: String,
    /// The complete subtrees of its tree, from which the tree is extended.
    parts: Vec<String>,
    /// The time of the last entry.
    last_at: Option<Timestamp>,
    /// The deadline of each session that has one, by its id.
    deadlines: BTreeMap<u64, Timestamp>,
    /// The sessions that are aggregated.
    aggregated: BTreeSet<u64>,
}

/// A line about the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Whether the act is unusual: the rules allow it, but a reader should ask why it was done.
    pub is_odd: bool,
    /// For people. Text of others is quoted, and safe to print on a terminal.
    pub text: String,
}

/// One run: from the checkpoint of the last run to the latest one, entry by entry.
#[derive(Debug)]
pub struct Watch {
    seen: WatchState,
    tree: GrowingTree,
    note: String,
    checkpoint: Checkpoint,
}

impl Watch {
    /// Begins a run: `note` is the latest checkpoint. `read` returns the hash of a complete subtree of its tree.
    /// Its answers are verified: false ones can only make the run fail.
    ///
    /// # Errors
    /// The error of `read`. The inner error says why the checkpoint is none, is signed by another key, or does not continue
    /// the last one.
    pub fn begin<E>(
        seen: WatchState,
        note: &str,
        key: &LogKey,
        read: impl FnMut(Node) -> Result<TreeHash, E>,
    ) -> Result<Result<Self, String>, E> {
        let last = seen.last();
        let (signed, checkpoint) = match signed(note, last.as_ref(), key) {
            Ok(signed) => signed,
            Err(fault) => return Ok(Err(fault)),
        };
        let tree = match seen.tree() {
            Ok(tree) => tree,
            Err(fault) => return Ok(Err(fault)),
        };
        if let Some(last) = last
            && let Some(fault) = checkpoint::consistency_fault(&last, &checkpoint, read)?
        {
            return Ok(Err(fault));
        }
        Ok(Ok(Self { seen, tree, note: signed.to_string(), checkpoint }))
    }

    /// Returns the index of the next entry to read; `None` after the last one.
    pub fn next(&self) -> Option<u64> {
        (self.tree.size() < self.checkpoint.size).then(|| self.tree.size())
    }

    /// Returns the latest checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Reads the next entry, and says what an operator did, or what is odd.
    ///
    /// # Errors
    /// Why the text cannot be the next entry of the log.
    pub fn read(&mut self, text: &str) -> Result<Vec<Remark>, String> {
        let seq = Seq(self.tree.size() + 1);
        let (number, at, entry) =
            parse(text).ok_or_else(|| format!("entry {seq} cannot be read"))?;
        if number != seq {
            return Err(format!("a gap: entry {number} is in the place of entry {seq}"));
        }
        let accepts_clock =
            matches!(entry, Some(LogEntry::Operation(Operation::ClockAccepted { .. })));
        if let Some(last) = self.seen.last_at.filter(|last| at < *last && !accepts_clock) {
            return Err(format!("entry {seq} is of {at}, the one before of {last}: time ran back"));
        }
        self.tree.push(TreeHash::leaf(text.as_bytes()));
        self.seen.last_at = Some(at);
        Ok(self.seen.remarks(seq, at, entry))
    }

    /// Ends the run, after the last entry, and returns what to keep.
    ///
    /// # Errors
    /// Why the entries are not those that the checkpoint signs.
    pub fn end(mut self) -> Result<WatchState, String> {
        let Checkpoint { size, root, .. } = &self.checkpoint;
        if self.tree.size() != *size || self.tree.root() != *root {
            return Err("the entries are not those of the tree that was signed".to_owned());
        }
        self.seen.parts = self.tree.parts().iter().map(ToString::to_string).collect();
        self.seen.checkpoint = self.note;
        Ok(self.seen)
    }
}

/// Reads a checkpoint of the log that was watched before, which this key signed.
fn signed(
    note: &str,
    last: Option<&Checkpoint>,
    key: &LogKey,
) -> Result<(Note, Checkpoint), String> {
    let unreadable = |error: Invalid| format!("the checkpoint cannot be read: {error}");
    let note = Note::parse(note).map_err(unreadable)?;
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

/// The number, the time and the content of an entry, which is `None` for a kind that this version does not know.
fn parse(text: &str) -> Option<(Seq, Timestamp, Option<LogEntry>)> {
    if let Ok(LogLine { seq, at, entry }) = LogLine::read(text) {
        return Some((seq, at, Some(entry)));
    }
    let mut fields = Json::read(text.as_bytes()).ok()?.into_object();
    let seq = fields.whole_if_any("seq").ok()??;
    let at = Timestamp::parse("at", &fields.text("at").ok()?).ok()?;
    Some((Seq(seq), at, None))
}

impl WatchState {
    fn last(&self) -> Option<Checkpoint> {
        let note = Note::parse(&self.checkpoint).ok()?;
        Checkpoint::parse(note.text()).ok()
    }

    /// The tree of the last checkpoint.
    fn tree(&self) -> Result<GrowingTree, String> {
        let Some(last) = self.last() else { return Ok(GrowingTree::default()) };
        let parts = self.parts.iter().map(|hash| TreeHash::parse(hash)).collect::<Result<_, _>>();
        let tree = parts.ok().and_then(|parts| GrowingTree::resume(last.size, parts));
        let tree = tree.filter(|tree| tree.root() == last.root);
        tree.ok_or_else(|| "what is kept of the log is damaged".to_owned())
    }

    fn remarks(&mut self, seq: Seq, at: Timestamp, entry: Option<LogEntry>) -> Vec<Remark> {
        let Some(entry) = entry else {
            return vec![remark(true, seq, at, "is of a kind that this version does not know")];
        };
        match entry {
            LogEntry::Session(act) => self.act(seq, at, &act),
            LogEntry::Take(take) => {
                let late =
                    self.deadlines.get(&take.session_id.0).filter(|deadline| at > **deadline);
                let late = late.map(|deadline| {
                    let (take, session) = (take.id, take.session_id);
                    let text =
                        format!("take {take} of session {session} after its deadline {deadline}");
                    remark(true, seq, at, &text)
                });
                let amends =
                    take.revision.get() > 1 && self.aggregated.contains(&take.session_id.0);
                let amends = amends.then(|| {
                    let (take, session) = (take.id, take.session_id);
                    let text = format!("take {take} amends after session {session} was aggregated");
                    remark(true, seq, at, &text)
                });
                late.into_iter().chain(amends).collect()
            }
            LogEntry::Operation(operation) => {
                let text = printable_json(&write(&operation));
                vec![remark(true, seq, at, &format!("an operator accepted: {text}"))]
            }
            LogEntry::CommitteeTake(_) | LogEntry::Opening(_) => Vec::new(),
            other => vec![remark(false, seq, at, &printable_json(&other.to_text()))],
        }
    }

    fn act(&mut self, seq: Seq, at: Timestamp, entry: &SessionEntry) -> Vec<Remark> {
        let SessionId(id) = entry.session.id;
        let (before, deadline) = (self.deadlines.get(&id).copied(), entry.session.window_closes_at);
        let shown =
            |time: Option<Timestamp>| time.map_or("none".to_owned(), |time| time.to_string());
        let mut odd = false;
        let what = match entry.act {
            SessionAct::Deadline => {
                let why = if before.is_some_and(|before| at > before) {
                    ", after it had passed"
                } else if deadline.is_some_and(|deadline| deadline < at) {
                    ", to a time that had passed"
                } else if self.aggregated.contains(&id) {
                    ", after aggregation"
                } else {
                    ""
                };
                odd = !why.is_empty();
                format!("deadline moved from {} to {}{why}", shown(before), shown(deadline))
            }
            SessionAct::State => {
                odd = entry.session.state == SessionState::Aggregated
                    && deadline.is_some_and(|deadline| at <= deadline);
                let early = if odd { ", before its deadline" } else { "" };
                format!("state {}{early}", entry.session.state)
            }
            act => printable_json(&write(&act)).trim_matches('"').to_owned(),
        };
        match deadline {
            Some(deadline) => self.deadlines.insert(id, deadline),
            None => self.deadlines.remove(&id),
        };
        if entry.session.state >= SessionState::Aggregated {
            self.aggregated.insert(id);
        }
        let by = printable(entry.by.as_str());
        let note = entry.note.as_ref().map(|note| format!(", note {}", printable(note.as_str())));
        let text = format!("session {id}: {what}, by {by}{}", note.unwrap_or_default());
        vec![remark(odd, seq, at, &text)]
    }
}

fn remark(is_odd: bool, seq: Seq, at: Timestamp, text: &str) -> Remark {
    Remark { is_odd, text: format!("entry {seq}, {at}: {text}") }
}
