//! The formats that the log is proved with: tree, tiles, notes and proofs (API.md, 11.5 and 11.6),
//! against other implementations.
#![allow(clippy::unwrap_used, reason = "a test panics")]

mod notes;
mod sumdb;
mod tiles;
mod tree;

use std::convert::Infallible;

use swarm_core::proof::tree::{Node, TreeHash};

/// The exact text of an entry of the tests.
fn entry(index: u64) -> String {
    format!("{{\"seq\":{}}}", index + 1)
}

/// Leaves, and the reader of their complete subtrees.
struct Leaves(Vec<TreeHash>);

impl Leaves {
    fn new(size: u64) -> Self {
        Self((0..size).map(|index| TreeHash::leaf(entry(index).as_bytes())).collect())
    }

    fn read(&self) -> impl FnMut(Node) -> Result<TreeHash, Infallible> {
        |node| {
            let (first, count) = ((node.index << node.level) as usize, 1 << node.level);
            Ok(TreeHash::complete(&self.0[first..first + count]))
        }
    }
}
