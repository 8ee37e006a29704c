//! Fixtures for the committee (interface B).

mod records;
mod world;

pub use records::{
    attempt, brief, creation, draft, far, first_save, id, key, member, next_save, open_day, posted,
};
pub use world::{CommitteeWorld, answered, filed};
