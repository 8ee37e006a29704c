//! A log that goes on in the place of another one, after an operator accepted a store that went back (API.md, 11.4).
//!
//! The key of the log that ended signs which log comes after it. Why, and by whom, the entry that began the new log says. What
//! became of the entries that were signed before is concluded from the new tree.

use super::finding::count;
use super::key::LogKey;
use super::replay::Remark;
use crate::domain::json::printable;
use crate::domain::{LogEntry, LogLine, Operation, Seq, Timestamp};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::SignedNote;
use crate::proof::succession::Succession;
use crate::proof::tree::GrowingTree;

/// Reads the note that names the log after the one of this origin, and verifies it with the key of that one.
///
/// # Errors
/// The reason why it is none, for people.
pub fn verified_succession(note: &str, origin: &str, key: &LogKey) -> Result<Succession, String> {
    let name = printable(origin);
    let unreadable = |error| format!("the succession of {name} cannot be read: {error}");
    let note = SignedNote::parse(note).map_err(unreadable)?;
    let succession = Succession::parse(note.text()).map_err(unreadable)?;
    let key = key.verifier(origin).map_err(unreadable)?;
    if succession.last.origin != origin {
        let other = printable(&succession.last.origin);
        return Err(format!("the succession of {name} is the one of {other}"));
    }
    if key.name() != origin || !note.is_signed_by(&key) {
        return Err(format!("the succession of {name} is not signed by the key {key}"));
    }
    Ok(succession)
}

/// The way from the log that was watched to the one that goes on in its place.
#[derive(Debug)]
pub(super) struct Followed {
    /// The last checkpoint that was seen of the log that was watched.
    seen: Checkpoint,
    steps: Vec<Step>,
    /// The number of entries that the new log has of the one that was watched, as far as was read.
    kept: u64,
    /// Whether the new tree has the root of that log at the size seen, and at its last one.
    has_root: [Option<bool>; 2],
    /// `None` if nothing is kept of the log that was watched, or not all that is needed.
    mirror: Option<Mirror>,
}

/// What is kept of the log that was watched, compared with the new one.
struct Mirror {
    /// Reads an entry that was seen, by its index; `None` if it is not kept.
    read: Box<dyn FnMut(u64) -> Option<String>>,
    /// The entries that the new log has in another form.
    changed: Vec<Seq>,
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mirror").field("changed", &self.changed).finish_non_exhaustive()
    }
}

/// From one log to the next.
#[derive(Debug)]
struct Step {
    succession: Succession,
    accepted: Option<Accepted>,
}

/// The entry that began a log.
#[derive(Debug)]
struct Accepted {
    seq: Seq,
    at: Timestamp,
    by: String,
}

impl Followed {
    pub(super) fn new(seen: Checkpoint, successions: Vec<Succession>) -> Self {
        let sizes = [Some(seen.size), successions.first().map(|first| first.last.size)];
        let has_root = sizes.map(|size| (size == Some(0)).then_some(true));
        let step = |succession| Step { succession, accepted: None };
        let steps = successions.into_iter().map(step).collect();
        Self { seen, steps, kept: u64::MAX, has_root, mirror: None }
    }

    /// Has each entry compared with the one that was seen, which `read` returns by its index; `None` if it is not kept.
    pub(super) fn compare(&mut self, read: impl FnMut(u64) -> Option<String> + 'static) {
        self.mirror = Some(Mirror { read: Box::new(read), changed: Vec::new() });
    }

    /// Reads an entry of the new log, which is the last one in the tree. Returns whether it is another one than was seen.
    pub(super) fn read(&mut self, seq: Seq, text: &str, tree: &GrowingTree) -> bool {
        if text.contains("\"store-accepted\"")
            && let Ok(line) = LogLine::read(text)
            && let LogEntry::Operation(Operation::StoreAccepted { by, before, .. }) = line.entry
        {
            // Entries after an acceptance are none of the log before it.
            self.kept = self.kept.min(seq.0.saturating_sub(1));
            let step = self.steps.iter_mut().find(|step| {
                let Checkpoint { origin, size, root } = &step.succession.last;
                before.origin.as_ref() == Some(origin)
                    && before.size.0 == *size
                    && before.root == Some(root.to_string())
            });
            if let Some(step) = step {
                let by = by.as_str().to_owned();
                step.accepted = Some(Accepted { seq, at: line.at, by });
            }
        }
        let last = self.steps.first().map(|step| &step.succession.last);
        for (place, checkpoint) in [Some(&self.seen), last].into_iter().enumerate() {
            if let Some(checkpoint) = checkpoint.filter(|it| it.size == tree.size())
                && let Some(has_root) = self.has_root.get_mut(place)
            {
                *has_root = Some(tree.root() == checkpoint.root);
            }
        }
        self.is_changed(seq, text)
    }

    fn is_changed(&mut self, seq: Seq, text: &str) -> bool {
        let is_kept = seq.0 <= self.kept && seq.0 <= self.seen.size;
        let Some(mirror) = self.mirror.as_mut().filter(|_| is_kept) else { return false };
        let Some(seen) = (mirror.read)(seq.0.saturating_sub(1)) else {
            self.mirror = None;
            return false;
        };
        let is_changed = seen != text;
        mirror.changed.extend(is_changed.then_some(seq));
        is_changed
    }

    /// The number of entries that the new log has of the one that was watched, as far as was read.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    /// What happened, one notable remark for each log that began.
    ///
    /// # Errors
    /// The log that ended signed two histories; or no entry of the new log says that a store was accepted after the last checkpoint
    /// of the log before it.
    pub(super) fn end(self) -> Result<Vec<Remark>, String> {
        self.check_end()?;
        let effect = self.effect();
        let last = self.steps.len().saturating_sub(1);
        let mut remarks = Vec::new();
        for (place, Step { succession, accepted }) in self.steps.into_iter().enumerate() {
            let Succession { last: Checkpoint { origin, size, .. }, successor } = &succession;
            let (from, to) = (printable(origin), printable(successor.name()));
            let entries = count(usize::try_from(*size).unwrap_or(usize::MAX), "entry", "entries");
            let began = match accepted {
                Some(Accepted { seq, at, by }) => format!(
                    "operator {} accepted a store that went back, by entry {seq} of {at}",
                    printable(&by)
                ),
                None if place == last => {
                    return Err(format!(
                        "no entry of {to} says that a store was accepted after the {entries} of {from}"
                    ));
                }
                None => "the entry that says why is not in the log any more".to_owned(),
            };
            let effect = if place == 0 { format!("; {effect}") } else { String::new() };
            let text =
                format!("{from} ended with {entries}, and {successor} goes on: {began}{effect}");
            remarks.push(Remark { is_notable: true, text });
        }
        Ok(remarks)
    }

    /// Checks that the last entries of the log that was watched, where the new log has them, begin with those that were seen.
    fn check_end(&self) -> Result<(), String> {
        let Some(Checkpoint { origin, size, .. }) =
            self.steps.first().map(|it| &it.succession.last)
        else {
            return Ok(());
        };
        let is_whole = self.kept >= *size && self.seen.size <= *size;
        if is_whole && self.has_root == [Some(false), Some(true)] {
            let (origin, seen) = (printable(origin), self.seen.size);
            return Err(format!(
                "a fork: the {size} entries with which {origin} ended do not begin with the {seen} that were seen of it"
            ));
        }
        Ok(())
    }

    /// What became of the entries of the log that was watched.
    fn effect(&self) -> String {
        let signed = self.steps.first().map_or(0, |step| step.succession.last.size);
        let lost = signed.saturating_sub(self.kept);
        let [seen, all] = self.has_root;
        let changed = self.mirror.as_ref().map(|mirror| &*mirror.changed);
        match (lost, all, changed) {
            (0, Some(true), _) => "all that was signed of it is in the new log".to_owned(),
            (0, _, Some(changed @ [_, ..])) => listed(changed),
            (0, _, _) => format!("the first {signed} entries of the new log are others"),
            (lost, _, changed) => {
                let verb = if lost == 1 { "is" } else { "are" };
                let lost = format!("{lost} of them {verb} lost");
                let kept = self.kept.min(self.seen.size);
                match (seen.filter(|_| self.kept >= self.seen.size), changed) {
                    (Some(true), _) => format!("{lost}, none of those that were seen"),
                    (_, Some([])) => {
                        format!(
                            "{lost}; the first {kept} entries of the new log are those that were seen"
                        )
                    }
                    (_, Some(changed)) => format!("{lost}, and {}", listed(changed)),
                    (Some(false), None) => format!("{lost}, and those that were seen were changed"),
                    (None, None) => format!(
                        "{lost}; that the first {kept} entries of the new log are those that were seen was not checked"
                    ),
                }
            }
        }
    }
}

/// The most entries that are named.
const MAX_LISTED: usize = 20;

/// The entries that were changed, for people.
fn listed(changed: &[Seq]) -> String {
    let named: Vec<_> = changed.iter().take(MAX_LISTED).map(ToString::to_string).collect();
    let more = match changed.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (number, named) = (count(changed.len(), "entry", "entries"), named.join(", "));
    let were = if changed.len() == 1 { "was" } else { "were" };
    format!("{number} of those that were seen {were} changed: {named}{more}")
}
