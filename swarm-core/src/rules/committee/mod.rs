//! The rules of interface B, the daily committee.

mod compose;
mod generate;
mod judge;
mod members;
mod prompt;
mod refusal;
mod sessions;

pub use compose::{BriefSource, MemberSource};
pub use generate::{CommitteeDayChange, KnownDay, NewBriefs, withdrawn_day};
pub use judge::{CommitteeBasis, CommitteeFiling};
pub use members::CommitteeMemberChange;
pub use refusal::CommitteeRefusal;
pub use sessions::{CommitteeSession, PublicCommitteeTake, SessionLine};

// Public only for the tests of this crate and of stores; no part of the API.
#[doc(hidden)]
pub use self::{
    compose::compose,
    generate::{
        day_to_generate, deadline, generate, is_due, scheduled, set_subject, set_synthesis,
        subject_for, until_due, withdraw,
    },
    judge::{is_current, judge, read, stays_current},
    sessions::{line, session},
};

pub(crate) use self::{
    generate::has_readers,
    generate::new_deadline,
    members::{create_member, has_briefs, rotate_member_key, set_status, update_member},
    sessions::{counted, is_over, standing},
};
