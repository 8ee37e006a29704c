//! The proof that an entry is in a log, as a text of its own: C2SP `tlog-proof` (API.md, 11.6).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::checkpoint::Checkpoint;
use super::note::SignedNote;
use super::tree::{TreeHash, verify_inclusion};
use crate::domain::{Digest, Invalid, StoredTake};

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1\n";

/// The proof that the entry with an index is in the tree of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// What the maker of the proof says besides. It is not authenticated.
    pub extra: Option<Vec<u8>>,
    /// The index of the entry, from 0: its `seq` less one.
    pub index: u64,
    /// The proof, from the sibling of the leaf upwards.
    pub hashes: Vec<TreeHash>,
    /// The signed checkpoint, whose signatures are to be verified.
    pub checkpoint: SignedNote,
}

impl TlogProof {
    /// Reads the text of a proof.
    ///
    /// # Errors
    /// [`Invalid`] when it is none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || match text.contains('\r') {
            true => {
                Invalid::new("proof", "must be a C2SP tlog-proof, whose lines end with LF alone")
            }
            false => Invalid::new("proof", "must be a C2SP tlog-proof"),
        };
        let rest = text.strip_prefix(FIRST_LINE).ok_or_else(invalid)?;
        let (lines, note) = rest.split_once("\n\n").ok_or_else(invalid)?;
        let mut lines = lines.split('\n').peekable();
        let extra = lines.next_if(|line| line.starts_with("extra "));
        let extra = extra.and_then(|line| line.strip_prefix("extra "));
        let extra = extra.map(|data| STANDARD.decode(data).map_err(|_| invalid())).transpose()?;
        let index =
            lines.next().and_then(|line| line.strip_prefix("index ")).ok_or_else(invalid)?;
        let parsed = index.parse::<u64>().ok().filter(|parsed| parsed.to_string() == index);
        Ok(Self {
            extra,
            index: parsed.ok_or_else(invalid)?,
            hashes: lines.map(TreeHash::parse).collect::<Result<_, _>>()?,
            checkpoint: SignedNote::parse(note)?,
        })
    }

    /// Returns the proof of a take with what its public record does not have as extra data: the version of the session under
    /// which it was judged, and the digest of the canonical bytes if its texts are withheld.
    pub fn with_extra_of(self, take: &StoredTake) -> Self {
        let extra = match take {
            StoredTake::Whole(take) => {
                let digest = take.withheld.as_ref().map(|_| format!(" {}", take.digest()));
                format!("{}{}", take.session_version, digest.unwrap_or_default())
            }
            StoredTake::Sealed(take) => take.session_version.to_string(),
        };
        Self { extra: Some(extra.into_bytes()), ..self }
    }

    /// Returns the version of the session that the extra data says, if it says one.
    pub fn session_version(&self) -> Option<u64> {
        let digits = self.extra_words()?.0;
        digits.parse().ok().filter(|version: &u64| version.to_string() == digits)
    }

    /// Returns the digest of canonical bytes that the extra data says, if it says one.
    pub fn digest(&self) -> Option<Digest> {
        Digest::parse(self.extra_words()?.1?).ok()
    }

    /// Returns the proof with this digest of the canonical bytes, which somebody knows who has the texts.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Self {
        let version = self.extra_words().map(|(version, _)| version).unwrap_or_default();
        Self { extra: Some(format!("{version} {digest}").into_bytes()), ..self }
    }

    fn extra_words(&self) -> Option<(&str, Option<&str>)> {
        let text = std::str::from_utf8(self.extra.as_deref()?).ok()?;
        Some(match text.split_once(' ') {
            Some((version, digest)) => (version, Some(digest)),
            None => (text, None),
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
        f.write_str(FIRST_LINE)?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", STANDARD.encode(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))?;
        write!(f, "\n{}", self.checkpoint)
    }
}
