//! The format of dumps, and what makes a dump valid (`docs/dump.md`).
//!
//! A [`DumpWriter`] turns records into lines, and a [`DumpReader`] turns lines into records again,
//! checking everything on the way. Neither does I/O: a program moves the lines and the records, with
//! a [`Store`](crate::store::Store).

mod index;
mod line;
mod log;
mod reader;
mod tenant;
mod writer;

pub use index::{DumpIndex, IndexKey};
pub use line::{Totals, longest_line};
pub use reader::{DumpReader, Restorable};
pub use writer::DumpWriter;

/// The first fault of a dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Fault {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
}

/// What is wrong, without the line.
type Checked<T> = Result<T, String>;

/// Fails with this text unless the condition holds.
fn check(holds: bool, what: impl FnOnce() -> String) -> Checked<()> {
    if holds { Ok(()) } else { Err(what()) }
}
