//! Tiles: the form in which a log serves its tree and its entries to verifiers, according to C2SP
//! `tlog-tiles` (API.md, 11.6).
//!
//! A tile of level `L` has up to 256 hashes of subtrees over 256^`L` leaves each. Tiles of the
//! entries have the texts of 256 entries. A tile that is not full yet is a *partial* one; it is
//! named with its width and never changes.

use super::tree::{Node, TreeHash};
use crate::domain::Invalid;

/// The number of hashes, or of entries, in a full tile.
pub const WIDTH: u16 = 256;

/// The number of levels of the tree that one level of tiles covers.
const HEIGHT: u32 = 8;

/// The highest level of tiles: a tree has fewer than 2^63 leaves.
const MAX_LEVEL: u8 = 7;

/// The place of a tile of hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileId {
    /// Its level: 0 for the hashes of leaves; at most 7.
    pub level: u8,
    /// Its number in the level, from 0.
    pub index: u64,
}

impl TileId {
    /// The tile from which the hash of a complete subtree can be computed.
    pub fn of(node: Node) -> Self {
        let level = node.level / HEIGHT;
        let first = node.index << (node.level % HEIGHT);
        // A level of the tree is below 64.
        Self { level: level as u8, index: first / u64::from(WIDTH) }
    }

    /// Returns the number of hashes that the tile has in the tree of this size: 0 where there is
    /// none.
    pub fn width(self, size: u64) -> u16 {
        let hashes = size.checked_shr(HEIGHT * u32::from(self.level)).unwrap_or(0);
        let first = self.index.saturating_mul(u64::from(WIDTH));
        let width = hashes.saturating_sub(first).min(u64::from(WIDTH));
        width as u16
    }

    /// Returns the tile that contains the root of this one when it is full, and its place there.
    pub fn above(self) -> (Self, usize) {
        let width = u64::from(WIDTH);
        let place = self.index % width;
        (Self { level: self.level + 1, index: self.index / width }, place as usize)
    }
}

/// Returns the hash of a complete subtree, from the hashes of its [tile](TileId::of); `None` where
/// the tile has too few.
pub fn hash_in(tile: &[TreeHash], node: Node) -> Option<TreeHash> {
    let count = 1_usize << (node.level % HEIGHT);
    let place = (node.index % (u64::from(WIDTH) >> (node.level % HEIGHT))) as usize;
    let first = place * count;
    tile.get(first..first + count).map(TreeHash::complete)
}

/// The path of a tile below the address of a log: what it is of, its number, and its width where it
/// is partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePath {
    /// The level of the hashes; `None` for a tile of entries.
    pub level: Option<u8>,
    /// Its number, from 0.
    pub index: u64,
    /// The number of hashes or entries in the tile: from 1 to 256.
    pub width: u16,
}

impl TilePath {
    /// Reads what follows `tile/`: `<L>/<N>` or `entries/<N>`, and `.p/<W>` where it is partial.
    /// Numbers have no leading zeros; `<N>` is in groups of three digits, each but the last after
    /// an `x`.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(path: &str) -> Result<Self, Invalid> {
        read(path)
            .ok_or_else(|| Invalid::new("tile", "must be <level>/<number>, or with .p/<width>"))
    }
}

fn read(path: &str) -> Option<TilePath> {
    let (kind, rest) = path.split_once('/')?;
    let level = match kind {
        "entries" => None,
        level => Some(number(level)?.try_into().ok().filter(|level| *level <= MAX_LEVEL)?),
    };
    let (digits, width) = match rest.split_once(".p/") {
        Some((digits, width)) => (digits, number(width)?.try_into().ok()?),
        None => (rest, WIDTH),
    };
    let is_partial = rest.len() > digits.len();
    if width == 0 || (is_partial && width >= WIDTH) {
        return None;
    }
    let mut index: u64 = 0;
    for group in digits.split('/') {
        let group = group.strip_prefix('x').unwrap_or(group);
        if group.len() != 3 || !group.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        index = index.checked_mul(1_000)?.checked_add(group.parse().ok()?)?;
    }
    // There is one way to write each path.
    let tile = TilePath { level, index, width };
    (tile.to_string() == path).then_some(tile)
}

/// A decimal number without leading zeros.
fn number(text: &str) -> Option<u64> {
    let is_exact =
        text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_exact.then(|| text.parse().ok())?
}

impl std::fmt::Display for TilePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.level {
            Some(level) => write!(f, "{level}/")?,
            None => f.write_str("entries/")?,
        }
        let mut groups = vec![self.index % 1_000];
        let mut rest = self.index / 1_000;
        while rest > 0 {
            groups.push(rest % 1_000);
            rest /= 1_000;
        }
        while let Some(group) = groups.pop() {
            if groups.is_empty() {
                write!(f, "{group:03}")?;
            } else {
                write!(f, "x{group:03}/")?;
            }
        }
        if self.width < WIDTH { write!(f, ".p/{}", self.width) } else { Ok(()) }
    }
}

/// Returns the bytes of a tile of entries: each text with its length before it, two bytes, the high
/// one first. An entry is always shorter than 64 KiB; a longer one is left out, and so are all
/// after it, so that no entry moves to the index of another.
pub fn entries_tile<T: AsRef<str>>(texts: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(texts.iter().map(|text| text.as_ref().len() + 2).sum());
    for text in texts {
        let text = text.as_ref().as_bytes();
        let Ok(length) = u16::try_from(text.len()) else { break };
        bytes.extend(length.to_be_bytes());
        bytes.extend(text);
    }
    bytes
}

/// Returns the texts in a tile of entries; `None` where the bytes are none.
pub fn read_entries_tile(mut bytes: &[u8]) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (text, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        texts.push(str::from_utf8(text).ok()?);
        bytes = rest;
    }
    bytes.is_empty().then_some(texts)
}

/// Returns the bytes of a tile of hashes.
pub fn hashes_tile(hashes: &[TreeHash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

/// Returns the hashes in a tile; `None` where the bytes are none.
pub fn read_hashes_tile(bytes: &[u8]) -> Option<Vec<TreeHash>> {
    let (hashes, rest) = bytes.as_chunks();
    let fits = rest.is_empty() && hashes.len() <= WIDTH.into();
    fits.then(|| hashes.iter().copied().map(TreeHash).collect())
}
