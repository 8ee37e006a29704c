//! The nouns. A value of these types is valid by construction: parse, don't validate.

pub mod json;

mod id;
mod invalid;
mod key;
mod member;
mod secret;
mod session;
mod snapshot;
mod subject;
mod take;
mod text;
mod time;

pub use id::{AttemptId, MessageId, Revision, SessionId, TakeId, TenantId, Version};
pub use invalid::Invalid;
pub use key::{PublicKey, Signature, Signed};
pub use member::{Application, Challenge, Mail, Member, MemberState, QueuedMail, TokenClaim};
pub use secret::SecretHash;
pub use session::{Roster, RosterEntry, Session, SessionDraft, SessionPatch, SessionState};
pub use snapshot::{BucketWeight, Consensus, Participation, Quorum, Quote, Snapshot, Stances};
pub use subject::Subject;
pub use take::{Confidence, Take, TakeDraft, TakeOnFile, Weight, Weights};
pub use text::{
    Body, Bucket, Contact, Lens, MemberId, MemoUrl, Name, Nonce, STANCES, Stance, SubjectId,
};
pub use time::{Day, Instant};
