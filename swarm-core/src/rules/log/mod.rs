//! The log: the entry that each change carries (API.md, 11.2).

mod act;
mod entries;

pub use act::{Act, logged};
pub use entries::{
    brief_published, clock_accepted, key_accepted, memo_published, memo_retracted, memo_shown,
    regime_put, signal_put, snapshot_added, store_accepted, subject_put,
};
pub(super) use entries::{committee_day, convened, excused, member_changed, session_changed};
