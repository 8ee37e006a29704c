//! The rules of interface B, the daily committee.

mod compose;
mod generate;
mod judge;
mod members;
mod prompt;
mod refusal;
mod sessions;

pub use compose::{BriefSource, MAX_PREVIEW_CHARACTERS, MemberSource, compose};
pub use generate::{
    CommitteeDayChange, KnownDay, NewBriefs, day_to_generate, deadline, generate, has_readers,
    is_due, scheduled, set_subject, set_synthesis, subject_for, until_due, withdraw,
};
pub use judge::{CommitteeBasis, CommitteeFiling, is_current, judge, read, stays_current};
pub use members::{
    CommitteeMemberChange, create_member, has_briefs, rotate_member_key, set_status, update_member,
};
pub use refusal::CommitteeRefusal;
pub use sessions::{
    CommitteeSession, PublicTake, SessionLine, counted, is_over, line, session, standing,
};
