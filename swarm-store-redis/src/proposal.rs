//! Log entries proposed to a script, which appends the one that fits.
//!
//! An entry may contain the id and the time that its commit assigns, and a digest over both, which scripts
//! cannot compute. The store therefore proposes an entry for the next id and each of the next milliseconds,
//! and the script appends the one for its time. If none fits, the script writes nothing and returns its id
//! and time, and the store proposes again.

use swarm_core::store::{Act, Result};
use swarm_core::{StoreError, Timestamp};

use crate::codec::{self, Context};
use crate::script_call::ScriptCall;

/// The milliseconds covered by the first proposal, and by the longest.
const MIN_ENTRIES: usize = 16;
const MAX_ENTRIES: usize = 1_024;

/// How many times other commits may take the proposed id before a call fails as contended.
const MAX_ATTEMPTS: usize = 1_000;

/// The entries that a script may choose from.
pub(crate) struct Proposal {
    /// The id and the time of the first entry; `None` if the entry contains neither.
    first: Option<(u64, Timestamp)>,
    entries: Vec<String>,
    length: usize,
    attempts: usize,
}

impl Proposal {
    /// The first proposal: the entry of this act, if it contains neither id nor time; otherwise empty.
    pub(crate) fn of(act: Option<&Act>) -> Self {
        let (length, attempts) = (MIN_ENTRIES, 0);
        let known = act.map(|act| act.known().map(|entry| entry.to_text()));
        let (first, entries) = match known {
            None => (None, vec![String::new()]),
            Some(Some(text)) => (None, vec![text]),
            Some(None) => (Some((0, Timestamp::EPOCH)), Vec::new()),
        };
        Self { first, entries, length, attempts }
    }

    /// Adds the arguments that `proposed` in `records.lua` reads.
    pub(crate) fn write(&self, script: &mut ScriptCall<'_>) {
        match self.first {
            Some((id, at)) => script.arg(id).arg(at.millis()),
            None => script.arg("").arg(""),
        };
        script.arg(self.entries.len());
        script.args(self.entries.iter().map(String::as_str));
    }

    /// The next proposal, if this outcome requests one.
    pub(crate) fn next(
        &self,
        op: &'static str,
        act: Option<&Act>,
        outcome: &str,
    ) -> Result<Option<Self>> {
        let Some(wanted) = outcome.strip_prefix("propose ") else { return Ok(None) };
        let (id, at) = codec::decode_wanted(wanted).context(op)?;
        let attempts = self.attempts + 1;
        if attempts > MAX_ATTEMPTS {
            return Err(StoreError::contended(op, "other commits took each id that was proposed"));
        }
        // Only the time did not fit: it takes longer from here to the server than was thought.
        let was_late = self.first.is_some_and(|(first, _)| first == id);
        let length = if was_late { (self.length * 4).min(MAX_ENTRIES) } else { self.length };
        let millis = (0..).take(length).map(|more| at.plus_millis(more));
        let entry = |at| act.map(|act| act.entry(id, at).to_text());
        let entries = millis.map(|at| entry(at).unwrap_or_default()).collect();
        Ok(Some(Self { first: Some((id, at)), entries, length, attempts }))
    }
}
