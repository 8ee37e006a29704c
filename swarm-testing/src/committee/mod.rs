//! The same for the committee (interface B): a committee of their own, members in it, and takes
//! submitted by them.

mod records;
mod world;

pub use records::{
    attempt, brief, creation, draft, far, first_save, id, key, member, next_save, open_day, posted,
};
pub use world::{CommitteeWorld, answered, filed};
