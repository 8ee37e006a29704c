//! The succession of a log: a signed note by which a log that ended names the log after it (API.md, 11.6).

use super::checkpoint::Checkpoint;
use super::note::{KeyKind, NoteSigner, SignedNote, VerifierKey};
use crate::domain::Invalid;

/// The first line of the note. It has spaces, as no origin does, so the note cannot pass for a checkpoint.
const TITLE: &str = "swarm log succession v1";

/// A log that ended, and the log after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Succession {
    /// The last checkpoint of the log that ended.
    pub last: Checkpoint,
    /// The key of the log after it. Its name is the origin of that log.
    pub successor: VerifierKey,
}

impl Succession {
    /// Reads the text of a note: five lines.
    ///
    /// # Errors
    /// [`Invalid`] if it is none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("succession", "must be the note of a log's succession");
        let rest = text.strip_prefix(TITLE).and_then(|rest| rest.strip_prefix('\n'));
        let rest = rest.and_then(|rest| rest.strip_suffix('\n')).ok_or_else(invalid)?;
        let (last, key) = rest.rsplit_once('\n').ok_or_else(invalid)?;
        let last = Checkpoint::parse(&format!("{last}\n"))?;
        let successor = VerifierKey::parse(key)?;
        let read = Self { last, successor };
        let is_log = read.successor.kind() == KeyKind::Ed25519;
        Some(read).filter(|read| is_log && read.to_string() == text).ok_or_else(invalid)
    }

    /// Returns the note, signed by the key of the log that ended.
    pub fn sign(&self, key: &NoteSigner) -> SignedNote {
        let mut note = SignedNote::new(self.to_string());
        let signature = key.sign(note.text(), 0);
        note.push(signature);
        note
    }
}

impl std::fmt::Display for Succession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{TITLE}\n{}{}", self.last, self.successor)
    }
}
