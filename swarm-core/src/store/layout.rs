//! The refusal of a store with another layout.

use std::fmt::Display;

/// Why a store is not opened whose layout, its schema and the format of its records, is not the one that this program
/// expects. `found` names the layout of the store.
///
/// A program knows one layout: a dump has the same format whatever the layout, so it is how records move to another.
pub fn other_layout(found: impl Display, expected: impl Display) -> String {
    format!(
        "the store has layout {found}, and this program expects layout {expected}: dump it with the program that wrote it \
         (`swarm dump`), and restore that dump into a new store with this program (`swarm restore`)"
    )
}
