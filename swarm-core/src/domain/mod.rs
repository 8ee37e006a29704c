//! The types of the domain: members, sessions, takes, and the values they are made of. A value of
//! one of these types is valid by construction: parse, don't validate.

pub mod committee;
pub mod json;

mod brief;
mod challenge;
mod context;
mod declaration;
mod digest;
mod distinct;
mod form;
mod hex;
mod id;
mod invalid;
mod key;
mod links;
mod log;
mod mail;
mod member;
mod memo;
mod names;
mod operator_act;
mod outcome;
mod parsed;
mod quotas;
mod schedule;
#[cfg(feature = "schema")]
pub(crate) mod schema;
mod seal;
mod secret;
mod session;
mod session_summary;
mod snapshot;
mod stored_take;
mod subject;
mod take;
mod text;
mod time;
mod time_zone;
mod webhook;
mod withheld;

pub use brief::{Brief, BriefBody, BriefOrder, BriefRegime, Prompt, RecentSession};
pub use challenge::{Challenge, ChallengeSeed};
pub use context::{Position, Regime, Signal, SubjectSnapshot, SubjectSnapshotDraft};
pub use declaration::{Declaration, Method, RankedStance, StanceScale};
pub use digest::{Digest, RunningDigest};
pub use form::{Described, Form, FormSchema, NamedSchema};
pub use hex::hex;
pub(crate) use hex::parse_any_hex;
pub use id::{
    AttemptId, BriefId, DeliveryId, MemoId, MessageId, NoticeId, Revision, SessionId,
    SubjectSnapshotId, TakeId, TenantId, Version,
};
pub use invalid::Invalid;
pub use key::{PublicKey, Signature, Signed};
pub use links::Links;
pub use log::{
    Actor, Attribution, CommitteeDayEntry, CommitteeTakeEntry, DayAct, EndorsedKey, Excuse,
    LogBefore, LogEntry, LogLine, LogRow, Logged, LoggedSession, MemberAct, MemberEntry,
    MemberStatus, MemoAct, MemoEntry, NoteAlone, Noted, OpeningEntry, Operation, Seq, SessionAct,
    SessionEntry, TakeContent, TakeEntry, TakeMarkAct, TakeMarkEntry,
};
pub use mail::{Mail, MailAddress, MailState, Message};
pub use member::{
    Application, Enrolment, Erasure, KeyReplacement, KeyReplacementRequest, KeyRotation, Member,
    MemberName, MemberPatch, MemberState, MemberUpdate, TokenClaim,
};
pub use memo::{Memo, MemoDraft};
pub use operator_act::{Acceptance, Accepted, OperatorAct, RecordedAct};
pub use outcome::{
    Outcome, OutcomeDraft, OutcomeSource, OutcomeValue, Question, QuestionPatch, QuestionText,
    Resolution, Voided,
};
pub use quotas::Quotas;
pub use schedule::{
    Closes, MAX_WINDOW_MILLIS, Schedule, ScheduleEntry, ScheduledRoster, Weekdays, span_millis,
};
pub use seal::Salt;
pub use secret::{
    AdminSecret, AdminTokenHash, ApiKeyHash, ApiKeySecret, BearerSecret, SecretHash, TokenHash,
};
pub use session::{
    ExcuseOrder, Roster, RosterEntry, RosterFreeze, Session, SessionDraft, SessionPatch,
    SessionState, SessionTerms, StateChange,
};
pub use session_summary::SessionSummary;
pub use snapshot::{
    BucketWeight, Consensus, Figures, Participation, Quorum, Quote, Snapshot, Stances,
};
pub use stored_take::{SealedTake, StoredSealedTake, StoredTake};
pub use subject::Subject;
pub(crate) use take::ascending_sum;
pub use take::{Confidence, Take, TakeDraft, TakeOnFile, Weight, Weights};
pub use text::{
    Body, Bucket, Contact, Lens, MemberId, MemoUrl, Name, Nonce, Note, STANCES, Stance, SubjectId,
};
pub use time::{Day, TimeOfDay, Timestamp};
pub use time_zone::TimeZone;
pub use webhook::{
    Delivery, DeliveryDraft, DeliveryState, EventPattern, MAX_WEBHOOK_URL, Notice, NoticeDraft,
    ToldClosing, Webhook, WebhookName, WebhookSecret, WebhookSettings, may_be_host, shown_url,
};
pub use withheld::{TextDigests, Withheld, Withholding};
