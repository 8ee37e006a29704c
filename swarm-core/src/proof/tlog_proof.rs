//! The proof that an entry is in a log, as a text of its own: C2SP `tlog-proof` (API.md, 11.6).

use super::checkpoint::Checkpoint;
use super::note::Note;
use super::tree::{TreeHash, verify_inclusion};
use crate::domain::Invalid;

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1\n";

/// The proof that the entry with an index is in the tree of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// The index of the entry, from 0: its `seq` less one.
    pub index: u64,
    /// The proof, from the sibling of the leaf upwards.
    pub hashes: Vec<TreeHash>,
    /// The signed checkpoint, whose signatures are to be verified.
    pub checkpoint: Note,
}

impl TlogProof {
    /// Reads the text of a proof. Data of the line `extra` is ignored.
    ///
    /// # Errors
    /// [`Invalid`] when it is none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("proof", "must be a C2SP tlog-proof");
        let rest = text.strip_prefix(FIRST_LINE).ok_or_else(invalid)?;
        let (lines, note) = rest.split_once("\n\n").ok_or_else(invalid)?;
        let mut lines = lines.split('\n').peekable();
        lines.next_if(|line| line.starts_with("extra "));
        let index =
            lines.next().and_then(|line| line.strip_prefix("index ")).ok_or_else(invalid)?;
        let parsed = index.parse::<u64>().ok().filter(|parsed| parsed.to_string() == index);
        Ok(Self {
            index: parsed.ok_or_else(invalid)?,
            hashes: lines.map(TreeHash::parse).collect::<Result<_, _>>()?,
            checkpoint: Note::parse(note)?,
        })
    }

    /// Returns whether the entry with this exact text has the proof's index in the checkpoint's
    /// tree. The signatures under the checkpoint are verified apart.
    pub fn proves(&self, entry: &str) -> bool {
        Checkpoint::parse(self.checkpoint.text()).is_ok_and(|checkpoint| {
            let leaf = TreeHash::leaf(entry.as_bytes());
            verify_inclusion(&leaf, self.index, checkpoint.size, &self.hashes, &checkpoint.root)
        })
    }
}

impl std::fmt::Display for TlogProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{FIRST_LINE}index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))?;
        write!(f, "\n{}", self.checkpoint)
    }
}
