//! Whether a log's checkpoint continues an earlier one, concluded from tiles that the later one signs.

use crate::proof::checkpoint::Checkpoint;
use crate::proof::tree::{Node, TreeHash, prefix_and_root};

/// How two checkpoints of one log, both signed by its key, relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// The later tree begins with the earlier one.
    Continues,
    /// The later tree does not begin with the earlier one: the log signed two histories.
    Fork,
    /// The hashes that were read are not those of the later tree, so they show nothing.
    OtherTiles,
}

/// Compares two checkpoints of one log. `read` returns the hash of a complete subtree of the later tree, which has at least as
/// many entries. What it returns is authenticated against the root of the later checkpoint before anything is concluded.
///
/// # Errors
/// The error of `read`.
pub fn continuation<E>(
    earlier: &Checkpoint,
    later: &Checkpoint,
    read: impl FnMut(Node) -> Result<TreeHash, E>,
) -> Result<Continuation, E> {
    if earlier.size == later.size {
        let is_same = earlier.root == later.root;
        return Ok(if is_same { Continuation::Continues } else { Continuation::Fork });
    }
    if earlier.size == 0 {
        let is_empty = earlier.root == TreeHash::empty();
        return Ok(if is_empty { Continuation::Continues } else { Continuation::Fork });
    }
    let (prefix, root) = prefix_and_root(earlier.size, later.size, read)?;
    Ok(match (root == later.root, prefix == earlier.root) {
        (false, _) => Continuation::OtherTiles,
        (true, true) => Continuation::Continues,
        (true, false) => Continuation::Fork,
    })
}
