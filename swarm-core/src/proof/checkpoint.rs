//! A checkpoint: the size and the root of a log's tree, as C2SP `tlog-checkpoint` writes it
//! (API.md, 11.6).

use super::note::{NoteSigner, SignedNote};
use super::tree::TreeHash;
use crate::domain::Invalid;

/// The tree of a log at one size. Its text is what a [`SignedNote`] signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root of the tree over them.
    pub root: TreeHash,
}

impl Checkpoint {
    /// Reads the text of a checkpoint. Lines after the third are ignored.
    ///
    /// # Errors
    /// [`Invalid`] when it is none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("checkpoint", "must be three lines: origin, size and root");
        let mut lines = text.strip_suffix('\n').ok_or_else(invalid)?.split('\n');
        let mut line = || lines.next().filter(|line| !line.is_empty()).ok_or_else(invalid);
        let (origin, size, root) = (line()?, line()?, line()?);
        let parsed = size.parse::<u64>().ok().filter(|parsed| parsed.to_string() == size);
        let checkpoint = Self {
            origin: origin.to_owned(),
            size: parsed.ok_or_else(invalid)?,
            root: TreeHash::parse(root)?,
        };
        if lines.any(str::is_empty) { Err(invalid()) } else { Ok(checkpoint) }
    }

    /// Returns the checkpoint, signed by the key of its log.
    pub fn sign(&self, key: &NoteSigner) -> SignedNote {
        let mut note = SignedNote::new(self.to_string());
        let signature = key.sign(note.text(), 0);
        note.push(signature);
        note
    }
}

impl std::fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{}\n{}\n", self.origin, self.size, self.root)
    }
}
