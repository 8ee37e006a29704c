//! The log entry of a commit, as a script is told of it.
//!
//! An entry may hold the id and the time that its commit assigns, and a digest over both, which no
//! script can compute. So the store proposes the entry for the next id and each of the milliseconds
//! to come, and the script appends the one of its time. Where none fits it writes nothing and asks
//! for others, by the id and the time that it has.

use swarm_core::store::{Act, Result};
use swarm_core::{StoreError, Timestamp};

use crate::codec::{self, Context};
use crate::script_call::ScriptCall;

/// How many milliseconds the first proposal covers, and the longest one.
const SHORTEST: usize = 16;
const LONGEST: usize = 1_024;

/// How often other commits may take the id that was proposed before a call fails as contended.
const ATTEMPTS: usize = 1_000;

/// The entries that a script may choose from.
pub(crate) struct Proposal {
    /// The id and the time of the first entry; `None`: the entry is the same for any.
    first: Option<(u64, Timestamp)>,
    entries: Vec<String>,
    length: usize,
    attempts: usize,
}

impl Proposal {
    /// The entry of this act, where it is known; else none, for a script to ask for others.
    pub(crate) fn of(act: Option<&Act>) -> Self {
        let (length, attempts) = (SHORTEST, 0);
        let known = act.map(|act| act.known().map(|entry| entry.to_text()));
        let (first, entries) = match known {
            None => (None, vec![String::new()]),
            Some(Some(text)) => (None, vec![text]),
            Some(None) => (Some((0, Timestamp::EPOCH)), Vec::new()),
        };
        Self { first, entries, length, attempts }
    }

    /// Writes it as the arguments that `proposed` of the scripts reads.
    pub(crate) fn write(&self, script: &mut ScriptCall<'_>) {
        match self.first {
            Some((id, at)) => script.arg(id).arg(at.millis()),
            None => script.arg("").arg(""),
        };
        script.arg(self.entries.len());
        script.args(self.entries.iter().map(String::as_str));
    }

    /// The proposal that a script asks for with this outcome, if it does.
    pub(crate) fn next(
        &self,
        op: &'static str,
        act: Option<&Act>,
        outcome: &str,
    ) -> Result<Option<Self>> {
        let Some(wanted) = outcome.strip_prefix("propose ") else { return Ok(None) };
        let (id, at) = codec::decode_wanted(wanted).context(op)?;
        let attempts = self.attempts + 1;
        if attempts > ATTEMPTS {
            return Err(StoreError::contended(op, "other commits took each id that was proposed"));
        }
        // Only the time did not fit: it takes longer from here to the server than was thought.
        let was_late = self.first.is_some_and(|(first, _)| first == id);
        let length = if was_late { (self.length * 4).min(LONGEST) } else { self.length };
        let millis = (0..).take(length).map(|more| at.plus_millis(more));
        let entry = |at| act.map(|act| act.entry(id, at).to_text()).unwrap_or_default();
        let entries = millis.map(entry).collect();
        Ok(Some(Self { first: Some((id, at)), entries, length, attempts }))
    }
}
