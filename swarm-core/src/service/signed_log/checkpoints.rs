//! The last checkpoint of a log, in the store and in the memory outside of the store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::{Invalid, Seq};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::{Note, VerifierKey};
use crate::proof::tree::TreeHash;

/// A checkpoint that was signed, with the key that signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// The key.
    pub key: VerifierKey,
    /// The note, with its signature and those of witnesses.
    pub note: Note,
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// The last checkpoint before it, of the same log and key, that witnesses cosigned.
    pub cosigned: Option<Note>,
}

/// What the line of a cosigned checkpoint before the last one begins with. The line has its note in base64.
const COSIGNED: &str = "cosigned ";

impl SignedCheckpoint {
    /// Reads what [`text`](Self::text) wrote.
    ///
    /// # Errors
    /// [`Invalid`] when it is something else.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("checkpoint", "must be a key and a note");
        let (key, mut note) = text.split_once('\n').ok_or_else(invalid)?;
        let mut cosigned = None;
        if let Some(rest) = note.strip_prefix(COSIGNED) {
            let (line, rest) = rest.split_once('\n').ok_or_else(invalid)?;
            let bytes = STANDARD.decode(line).map_err(|_| invalid())?;
            let before = String::from_utf8(bytes).map_err(|_| invalid())?;
            (cosigned, note) = (Some(Note::parse(&before)?), rest);
        }
        Ok(Self { cosigned, ..Self::new(VerifierKey::parse(key)?, Note::parse(note)?)? })
    }

    pub(super) fn new(key: VerifierKey, note: Note) -> Result<Self, Invalid> {
        let checkpoint = Checkpoint::parse(note.text())?;
        Ok(Self { key, note, checkpoint, cosigned: None })
    }

    /// The checkpoint that was signed after this one.
    pub(super) fn followed_by(&self, next: Self) -> Self {
        let is_same_log = self.key == next.key && self.checkpoint.origin == next.checkpoint.origin;
        let cosigned = self.last_cosigned().filter(|_| is_same_log).cloned();
        Self { cosigned, ..next }
    }

    /// Returns the last checkpoint that witnesses cosigned: this one, or one before it.
    pub fn last_cosigned(&self) -> Option<&Note> {
        let is_cosigned = self.note.signatures().iter().any(|line| !line.is_of(&self.key));
        if is_cosigned { Some(&self.note) } else { self.cosigned.as_ref() }
    }

    /// The stored form: the key on a line, a line with the cosigned checkpoint before it, if there is one, then the note.
    pub(super) fn text(&self) -> String {
        let cosigned = self
            .cosigned
            .as_ref()
            .map(|note| format!("{COSIGNED}{}\n", STANDARD.encode(note.to_string())));
        format!("{}\n{}{}", self.key, cosigned.unwrap_or_default(), self.note)
    }
}

/// The last checkpoint of a tenant's log, as it is remembered outside of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSigned {
    /// The number of the log.
    pub log: u64,
    /// The number of entries.
    pub size: Seq,
    /// The root of the tree over them.
    pub root: TreeHash,
}

impl LastSigned {
    /// Its progress: the number of the log, then the size.
    pub(super) fn progress(&self) -> (u64, Seq) {
        (self.log, self.size)
    }
}

/// Remembers the last checkpoint of each log outside of the store, so that a server that was just
/// started notices a store that went back. Logs are distinguished by the origin of the tenant's first
/// log.
pub trait CheckpointMemory: Send + Sync + 'static {
    /// The last checkpoint, if any.
    ///
    /// # Errors
    /// An I/O error when the checkpoint cannot be read: nothing is signed then.
    fn last(&self, origin: &str) -> std::io::Result<Option<LastSigned>>;

    /// Remembers a checkpoint in place of the one before. It may block on a disk for a moment.
    ///
    /// # Errors
    /// An I/O error when the checkpoint cannot be written. The next checkpoint is written again.
    fn remember(&self, origin: &str, last: &LastSigned) -> std::io::Result<()>;
}

/// Remembers nothing: for a store that does not outlive the process.
impl CheckpointMemory for () {
    fn last(&self, _: &str) -> std::io::Result<Option<LastSigned>> {
        Ok(None)
    }

    fn remember(&self, _: &str, _: &LastSigned) -> std::io::Result<()> {
        Ok(())
    }
}
