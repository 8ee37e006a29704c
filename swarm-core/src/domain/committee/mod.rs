//! The types of interface B, the daily committee (API.md, 8).

mod body;
mod brief;
mod day;
mod member;
mod settings;
mod stance;
mod take;

pub use body::{BodyFault, CommitteeBody, TRAILER_PATTERN};
#[cfg(all(feature = "committee", feature = "schema"))]
pub(crate) use brief::BriefFile;
pub use brief::{
    BriefMember, BriefPosition, BriefRecentSession, BriefRecentTake, BriefSnapshot, BriefSubject,
    CommitteeBrief, CommitteeBriefContent, CommitteeRegime,
};
pub use day::{
    CommitteeDay, Generation, GenerationOrder, SubjectOrder, Synthesis, SynthesisOrder,
    WithdrawalOrder,
};
pub use member::{
    CommitteeMember, CommitteeMemberDraft, CommitteeMemberId, CommitteeMemberPatch,
    CommitteeStatus, StatusOrder, Voice,
};
pub use settings::{CommitteeSettings, KeyPrefix};
pub use stance::CommitteeStance;
pub use take::{CommitteeDraft, CommitteeTake, Model, UncommittedTake};
