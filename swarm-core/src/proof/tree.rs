//! The Merkle tree of RFC 6962 over the entries of a log: hashes, roots and proofs (API.md, 11.6).
//!
//! A root and a proof are made of the hashes of *complete* subtrees, which never change once their
//! leaves are there. The caller passes a reader for them; nothing here knows where they are stored.
//! Verification needs no reader.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::domain::Invalid;

/// The hash of a leaf, of a subtree or of a whole tree. Its text is padded standard base64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeHash(pub [u8; 32]);

impl TreeHash {
    /// The root of the tree without leaves.
    pub fn empty() -> Self {
        Self(Sha256::digest([]).into())
    }

    /// The hash of a leaf: of the exact text of an entry.
    pub fn leaf(entry: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
    }

    /// The hash of the subtree with these halves.
    pub fn parent(left: &Self, right: &Self) -> Self {
        let halves = Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0);
        Self(halves.finalize().into())
    }

    /// The root of a complete subtree with these leaves or subtrees, the left one first. Their
    /// number is a power of two.
    pub fn complete(hashes: &[Self]) -> Self {
        match hashes {
            [] => Self::empty(),
            [hash] => *hash,
            _ => {
                let (left, right) = hashes.split_at(hashes.len() / 2);
                Self::parent(&Self::complete(left), &Self::complete(right))
            }
        }
    }

    /// Reads the base64 of 32 bytes.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Invalid::new("hash", "must be base64 of 32 bytes"))
    }
}

impl std::fmt::Display for TreeHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl std::fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TreeHash({self})")
    }
}

impl Serialize for TreeHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A complete subtree: the one over the leaves from `index` · 2^`level` on, 2^`level` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    /// The number of levels below it; 0 for a leaf.
    pub level: u32,
    /// Its number among the subtrees of its level, from 0.
    pub index: u64,
}

/// Returns the root of the tree of the first `size` leaves.
///
/// # Errors
/// The error of `read`, which returns the hash of a complete subtree of these leaves.
pub fn root<E>(
    size: u64,
    mut read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<TreeHash, E> {
    if size == 0 { Ok(TreeHash::empty()) } else { range(0, size, &mut read) }
}

/// Returns the proof that the leaf with this index, counted from 0, is in the tree of the first
/// `size` leaves. Empty unless `index < size`.
///
/// # Errors
/// The error of `read`, which returns the hash of a complete subtree of these leaves.
pub fn inclusion<E>(
    index: u64,
    size: u64,
    mut read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Vec<TreeHash>, E> {
    let (mut begin, mut count, mut siblings) = (0, size, Vec::new());
    while index < size && count > 1 {
        let left = left_half(count);
        if index - begin < left {
            siblings.push((begin + left, count - left));
            count = left;
        } else {
            siblings.push((begin, left));
            (begin, count) = (begin + left, count - left);
        }
    }
    siblings.iter().rev().map(|(begin, count)| range(*begin, *count, &mut read)).collect()
}

/// Returns the proof that the tree of the first `size` leaves continues the one of the first `old`.
/// Empty where there is nothing to prove: `old` is 0 or not less than `size`.
///
/// # Errors
/// The error of `read`, which returns the hash of a complete subtree of these leaves.
pub fn consistency<E>(
    old: u64,
    size: u64,
    mut read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Vec<TreeHash>, E> {
    if old == 0 || old >= size {
        return Ok(Vec::new());
    }
    // The path to the last leaf of the old tree ends at the largest subtree that is its right edge.
    let (mut begin, mut count, mut parts) = (0, size, Vec::new());
    while old - begin < count {
        let left = left_half(count);
        if old - begin <= left {
            parts.push((begin + left, count - left));
            count = left;
        } else {
            parts.push((begin, left));
            (begin, count) = (begin + left, count - left);
        }
    }
    // Where that subtree is the old tree, its verifier knows the root.
    if begin > 0 {
        parts.push((begin, count));
    }
    parts.iter().rev().map(|(begin, count)| range(*begin, *count, &mut read)).collect()
}

/// Returns the root of the tree of the first `old` leaves, and that of the first `size`, both from the same hashes. So if
/// the second root is the expected one, the hashes are, and the first root is that of its beginning.
///
/// # Errors
/// The error of `read`, which returns the hash of a complete subtree of these leaves.
pub fn prefix_and_root<E>(
    old: u64,
    size: u64,
    mut read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<(TreeHash, TreeHash), E> {
    if old == 0 || old >= size {
        let root = root(size, read)?;
        return Ok((if old == 0 { TreeHash::empty() } else { root }, root));
    }
    let (prefix, root) = prefix_and_range(old, 0, size, &mut read)?;
    Ok((prefix, root))
}

/// The hash of the first `old` leaves from `begin` on, and of all `count` of them; `old` is from 1 to `count`.
fn prefix_and_range<E>(
    old: u64,
    begin: u64,
    count: u64,
    read: &mut impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<(TreeHash, TreeHash), E> {
    if old == count {
        let hash = range(begin, count, read)?;
        return Ok((hash, hash));
    }
    let left = left_half(count);
    if old <= left {
        let (prefix, whole) = prefix_and_range(old, begin, left, read)?;
        let right = range(begin + left, count - left, read)?;
        return Ok((prefix, TreeHash::parent(&whole, &right)));
    }
    let first = range(begin, left, read)?;
    let (prefix, rest) = prefix_and_range(old - left, begin + left, count - left, read)?;
    Ok((TreeHash::parent(&first, &prefix), TreeHash::parent(&first, &rest)))
}

/// The hash of the tree over `count` leaves from `begin` on, as it stands within a larger tree.
fn range<E>(
    begin: u64,
    count: u64,
    read: &mut impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<TreeHash, E> {
    if count.is_power_of_two() {
        return read(Node { level: count.trailing_zeros(), index: begin / count });
    }
    let left = left_half(count);
    let halves = (range(begin, left, read)?, range(begin + left, count - left, read)?);
    Ok(TreeHash::parent(&halves.0, &halves.1))
}

/// The largest power of two below `count`, which is above 1.
fn left_half(count: u64) -> u64 {
    1 << (count - 1).ilog2()
}

/// Returns whether `proof` proves that the leaf with this index and hash is in the tree of this
/// size and root (RFC 9162, 2.1.3.2).
pub fn verify_inclusion(
    leaf: &TreeHash,
    index: u64,
    size: u64,
    proof: &[TreeHash],
    root: &TreeHash,
) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last, mut hash) = (index, size - 1, *leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            hash = TreeHash::parent(sibling, &hash);
            // The last node of a level without a sibling moves up unchanged.
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            hash = TreeHash::parent(&hash, sibling);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && hash == *root
}

/// Returns whether `proof` proves that the tree of this size and root continues the old one (RFC
/// 9162, 2.1.4.2). A tree continues the empty one, and itself, without a proof.
pub fn verify_consistency(
    old: u64,
    old_root: &TreeHash,
    size: u64,
    root: &TreeHash,
    proof: &[TreeHash],
) -> bool {
    if old == 0 || old >= size {
        let same = if old == 0 { *old_root == TreeHash::empty() } else { old_root == root };
        return old <= size && same && proof.is_empty();
    }
    // An old tree that is complete is a subtree itself, and left out of the proof.
    let mut hashes = old.is_power_of_two().then_some(old_root).into_iter().chain(proof);
    let Some(first) = hashes.next() else { return false };
    let (mut node, mut last) = (old - 1, size - 1);
    while node & 1 == 1 {
        (node, last) = (node >> 1, last >> 1);
    }
    let (mut before, mut after) = (*first, *first);
    for hash in hashes {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            before = TreeHash::parent(hash, &before);
            after = TreeHash::parent(hash, &after);
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            after = TreeHash::parent(&after, hash);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && before == *old_root && after == *root
}

/// The root of a tree that grows leaf by leaf. It keeps one hash for each bit of the size.
#[derive(Clone, Debug, Default)]
pub struct GrowingTree {
    size: u64,
    /// The complete subtrees from the left, each smaller than the one before.
    parts: Vec<TreeHash>,
}

impl GrowingTree {
    /// Restores a tree of this size from its [parts](Self::parts); `None` if their number does not fit
    /// the size.
    pub fn resume(size: u64, parts: Vec<TreeHash>) -> Option<Self> {
        (size.count_ones() as usize == parts.len()).then_some(Self { size, parts })
    }

    /// Returns the complete subtrees from the left, each smaller than the one before: the complete
    /// state, from which [`resume`](Self::resume) continues.
    pub fn parts(&self) -> &[TreeHash] {
        &self.parts
    }

    /// Appends a leaf.
    pub fn push(&mut self, leaf: TreeHash) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.parts.pop() {
                hash = TreeHash::parent(&left, &hash);
            }
        }
        self.parts.push(hash);
        self.size += 1;
    }

    /// Returns the number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root.
    pub fn root(&self) -> TreeHash {
        let right_to_left = self.parts.iter().rev().copied();
        let root = right_to_left.reduce(|right, left| TreeHash::parent(&left, &right));
        root.unwrap_or_else(TreeHash::empty)
    }
}
