//! The last checkpoint of a log, in the store and in the memory outside of the store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::{Invalid, Seq};
use crate::proof::checkpoint::Checkpoint;
use crate::proof::note::{SignedNote, VerifierKey};
use crate::proof::tree::TreeHash;

/// A checkpoint that was signed, with the key that signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// The key.
    pub key: VerifierKey,
    /// The note, with its signature and those of witnesses.
    pub note: SignedNote,
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// The last checkpoint before it, of the same log and key, that witnesses cosigned.
    pub cosigned: Option<SignedNote>,
    /// The first checkpoint of the same log and key that has the last entry which changed what is published.
    pub published: Option<SignedNote>,
}

/// What the line of a cosigned checkpoint before the last one begins with. The line has its note in base64.
const COSIGNED: &str = "cosigned ";

/// What the line of the checkpoint of what is published begins with. The line has its note in base64.
const PUBLISHED: &str = "published ";

impl SignedCheckpoint {
    /// Reads what [`text`](Self::text) wrote.
    ///
    /// # Errors
    /// [`Invalid`] when it is something else.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let (key, mut note) = text.split_once('\n').ok_or_else(invalid)?;
        let (mut cosigned, mut published) = (None, None);
        loop {
            if let Some(rest) = note.strip_prefix(COSIGNED) {
                let (line, rest) = rest.split_once('\n').ok_or_else(invalid)?;
                (cosigned, note) = (Some(read_note(line)?), rest);
            } else if let Some(rest) = note.strip_prefix(PUBLISHED) {
                let (line, rest) = rest.split_once('\n').ok_or_else(invalid)?;
                (published, note) = (Some(read_note(line)?), rest);
            } else {
                let read = Self::new(VerifierKey::parse(key)?, SignedNote::parse(note)?)?;
                return Ok(Self { cosigned, published, ..read });
            }
        }
    }

    pub(super) fn new(key: VerifierKey, note: SignedNote) -> Result<Self, Invalid> {
        let checkpoint = Checkpoint::parse(note.text())?;
        Ok(Self { key, note, checkpoint, cosigned: None, published: None })
    }

    /// The checkpoint that was signed after this one.
    pub(super) fn followed_by(&self, next: Self) -> Self {
        let is_same_log = self.key == next.key && self.checkpoint.origin == next.checkpoint.origin;
        let cosigned = self.last_cosigned().filter(|_| is_same_log).cloned();
        let published = self.published.clone().filter(|_| is_same_log);
        Self { cosigned, published, ..next }
    }

    /// Returns the last checkpoint that witnesses cosigned: this one, or one before it.
    pub fn last_cosigned(&self) -> Option<&SignedNote> {
        let is_cosigned = self.note.signatures().iter().any(|line| !line.is_of(&self.key));
        if is_cosigned { Some(&self.note) } else { self.cosigned.as_ref() }
    }

    /// The checkpoint with itself as the one of what is published, unless that one has this entry already.
    pub(super) fn with_published(self, entry: Seq) -> Self {
        let known = self.published.as_ref().and_then(|note| Checkpoint::parse(note.text()).ok());
        if known.is_some_and(|known| known.size >= entry.0) {
            return self;
        }
        // Signatures of witnesses come later.
        Self { published: Some(self.own_note()), ..self }
    }

    /// The note without the signatures of witnesses.
    pub(super) fn own_note(&self) -> SignedNote {
        let mut note = self.note.clone();
        note.remove(|line| !line.is_of(&self.key));
        note
    }

    /// The stored form: the key on a line, a line each with the cosigned checkpoint before it and with the one of what is
    /// published, if there are such, then the note.
    pub(super) fn text(&self) -> String {
        let line = |note: &SignedNote| STANDARD.encode(note.to_string());
        let cosigned = self.cosigned.as_ref().map(|note| format!("{COSIGNED}{}\n", line(note)));
        let published = self.published.as_ref();
        let published = published.map(|note| format!("{PUBLISHED}{}\n", line(note)));
        let lines = [cosigned, published].into_iter().flatten().collect::<String>();
        format!("{}\n{lines}{}", self.key, self.note)
    }
}

/// Reads a note in base64.
fn read_note(line: &str) -> Result<SignedNote, Invalid> {
    let bytes = STANDARD.decode(line).map_err(|_| invalid())?;
    SignedNote::parse(&String::from_utf8(bytes).map_err(|_| invalid())?)
}

fn invalid() -> Invalid {
    Invalid::new("checkpoint", "must be a key and a note")
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

    /// Forgets the checkpoint, for [`SignedLog::forget_checkpoint`](super::SignedLog::forget_checkpoint). The default is for a memory
    /// that cannot: it is an error of the kind [`Unsupported`](std::io::ErrorKind::Unsupported).
    ///
    /// # Errors
    /// An I/O error when the checkpoint stays.
    fn forget(&self, _origin: &str) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// Remembers nothing: for a store that does not outlive the process.
impl CheckpointMemory for () {
    fn last(&self, _: &str) -> std::io::Result<Option<LastSigned>> {
        Ok(None)
    }

    fn remember(&self, _: &str, _: &LastSigned) -> std::io::Result<()> {
        Ok(())
    }

    fn forget(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}
