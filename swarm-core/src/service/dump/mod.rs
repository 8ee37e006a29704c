//! The format of dumps, and what makes a dump valid (`docs/dump.md`).
//!
//! A [`DumpWriter`] turns records into lines, and a [`DumpReader`] turns lines into records again,
//! checking everything on the way. Neither does I/O: a program moves the lines and the records, with
//! the store's [`Transfer`](crate::store::Transfer).

mod document;
mod fault;
mod index;
mod line;
mod log;
mod reader;
mod tenant;
mod totals;
mod writer;

pub use fault::Fault;
pub use index::{DumpIndex, IndexKey};
pub use line::longest_line;
pub use reader::{DumpReader, Restorable};
pub use totals::Totals;
pub use writer::DumpWriter;
