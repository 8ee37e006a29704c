//! Answers about the state of a desk, and about what its operators did (API.md, 7.9 and 7.11).

use serde::{Deserialize, Serialize};

use super::webhooks::WebhookStatus;
use crate::domain::committee::CommitteeMemberId;
use crate::domain::{
    Day, MemberId, RecordedAct, Seq, SessionId, SessionState, SubjectId, Timestamp,
};
use crate::rules::{NextStep, StepBy};

/// The state of a desk, and of its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "DeskStatus", !default)
)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Status {
    /// Whether the server is ready.
    pub ready: bool,
    /// Why it is not, or what it warns of.
    pub warnings: Vec<String>,
    /// The state of the desk. Its fields are those of the answer.
    #[serde(flatten)]
    pub desk: DeskStatus,
    /// When the certificate of the server expires, if it has one.
    pub certificate: Option<Timestamp>,
    /// Why the briefs of the committee could not be exported the last time.
    pub export: Option<String>,
    /// Whether there is a mail server: without one, messages stay in the outbox.
    #[serde(default = "yes")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub mail_server: bool,
    /// How far the log is signed.
    pub log: LogStatus,
    /// The day of the committee, if there is one.
    pub committee: Option<CommitteeDayStatus>,
    /// What needs an operator, what comes next, and what is fine.
    pub agenda: Agenda,
}

fn yes() -> bool {
    true
}

/// The state of a desk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!default))]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct DeskStatus {
    /// The number of applications that wait for a review.
    pub applications: u64,
    /// The number of active members.
    pub members: u64,
    /// The sessions that collect takes, and those that wait for an act, the soonest deadline first.
    #[cfg_attr(feature = "schema", schemars(length(max = 300)))]
    pub sessions: Vec<SessionStatus>,
    /// The mail.
    pub mail: MailStatus,
    /// The webhooks.
    pub webhooks: Vec<WebhookStatus>,
    /// The windows of the schedule that are open and have no session, and the next three of each entry.
    pub schedule: Vec<ScheduleStatus>,
}

/// The state of a session that is not published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionStatus {
    /// The id.
    pub id: SessionId,
    /// The day.
    pub date: Day,
    /// The subject.
    pub subject_id: SubjectId,
    /// The state.
    pub state: SessionState,
    /// The deadline.
    pub window_closes_at: Option<Timestamp>,
    /// The number of members that filed.
    pub filed: usize,
    /// The number of members that are expected, if it has a roster.
    pub expected: Option<usize>,
    /// Expected members that have not filed.
    pub missing: Vec<MissingMember>,
    /// What comes next.
    pub next: Option<NextStep>,
    /// Who computes its result. Not part of the answer.
    #[serde(skip)]
    pub(crate) result_by: StepBy,
}

/// A member that has not filed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingMember {
    /// The member.
    pub member_id: MemberId,
    /// The name.
    pub name: String,
}

/// The state of the mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, !default))]
#[serde(default)]
#[non_exhaustive]
pub struct MailStatus {
    /// The number of messages that are still to be sent.
    pub queued: u64,
    /// The number of messages that were given up.
    pub failed: u64,
    /// The number of messages to what is no address.
    pub undeliverable: u64,
    /// When the oldest message that is still to be sent was queued.
    pub oldest: Option<Timestamp>,
}

/// A window of the schedule: one that is open and has no session, or one of the next three of its entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScheduleStatus {
    /// The subject.
    pub subject_id: SubjectId,
    /// When it opens.
    pub at: Timestamp,
    /// The same, in the time zone of the entry, with its offset.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub local: String,
    /// The time zone of the entry.
    pub timezone: String,
    /// When the last session of the subject was convened.
    pub last: Option<Timestamp>,
    /// Why it gets no session, as things stand.
    pub skipped: Option<String>,
}

/// How far a log is signed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, !default))]
#[serde(default)]
#[non_exhaustive]
pub struct LogStatus {
    /// The number of entries.
    pub size: Seq,
    /// The number of entries of the last checkpoint, if the log is signed.
    pub signed: Option<Seq>,
    /// The same, of the last checkpoint that a witness cosigned.
    pub witnessed: Option<Seq>,
}

/// The day of the committee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, description = ""))]
#[non_exhaustive]
pub struct CommitteeDayStatus {
    /// The day.
    pub date: Day,
    /// The deadline.
    pub deadline_utc: Timestamp,
    /// The number of members that filed.
    pub filed: usize,
    /// The active members that have not filed.
    pub missing: Vec<CommitteeMemberId>,
}

/// What an operator of a desk should know, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, !default))]
#[serde(default)]
#[non_exhaustive]
pub struct Agenda {
    /// What needs an operator: the store first, then what is due longest.
    pub needs: Vec<AgendaItem>,
    /// What comes next, the soonest first; what has no time comes last.
    pub next: Vec<AgendaItem>,
    /// What is fine.
    pub fine: Vec<FineItem>,
}

/// Something that needs an operator, or that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgendaItem {
    /// The topic of the item.
    pub code: AgendaCode,
    /// The time of the item, or the time since which it is due; `None` if that is unknown.
    pub at: Option<Timestamp>,
    /// Who carries the item out.
    pub by: StepBy,
    /// A sentence for people, on one line and without the time.
    pub message: String,
    /// The name of the subject, if the message begins with it: pages set it apart from their own words.
    #[serde(skip)]
    pub subject_name: Option<String>,
    /// The session, for an item about a session.
    pub session_id: Option<SessionId>,
    /// The subject, for an item about a subject.
    pub subject_id: Option<SubjectId>,
}

/// Something that is fine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[non_exhaustive]
pub struct FineItem {
    /// The topic of the item.
    pub code: AgendaCode,
    /// A sentence for people, on one line.
    pub message: String,
}

/// What an item of an agenda is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AgendaCode {
    /// The store, or another part of the server.
    Store,
    /// The end of a session's window.
    Close,
    /// The result of a session.
    Aggregate,
    /// The publication of a session.
    Publish,
    /// The outcome of a session's question.
    Outcome,
    /// Applications.
    Applications,
    /// Mail.
    Mail,
    /// A webhook.
    Webhook,
    /// A session that the schedule convenes.
    Convene,
    /// The day of the committee.
    Committee,
    /// The certificate of the server.
    Certificate,
    /// The export of the committee's briefs.
    Export,
    /// One that a later version of the service has.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other,
}

/// A page of what operators did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OperatorActs {
    /// What they did, the latest first.
    pub acts: Vec<RecordedAct>,
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_before: Option<Timestamp>,
}
