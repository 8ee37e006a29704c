//! The verbs, pure: facts in, a judgement out. No I/O, no clock, no `async`.

mod aggregate;
mod judge;
mod membership;
mod refusal;
mod resolve;
mod sessions;

pub use aggregate::aggregate;
pub(crate) use judge::refused;
pub use judge::{Filing, Submission, judge};
pub use membership::{
    CHALLENGE_MILLIS, activate, admit, challenge_slot, claim, deactivate, may_be_read, reject,
};
pub use refusal::{Refusal, Refused};
pub use resolve::resolve;
pub use sessions::{advance, amend, excuse, freeze_roster};
