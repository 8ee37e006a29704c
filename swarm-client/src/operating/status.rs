//! The state of a service, as its operators see it (API.md, 7.9).

use serde::Deserialize;
use swarm_core::domain::committee::CommitteeMemberId;
use swarm_core::domain::{Day, Seq, SessionState, SubjectId};
use swarm_core::{MemberId, SessionId, Timestamp};

use super::WebhookStatusAnswer;

/// What waits for an operator, and how the server is.
///
/// What an answer does not have is empty or `None`: other versions of the service may leave it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StatusAnswer {
    /// Whether the server is ready.
    pub ready: bool,
    /// Why it is not, or what it warns of.
    pub warnings: Vec<String>,
    /// The number of applications that wait for a review.
    pub applications: u64,
    /// The number of active members.
    pub members: u64,
    /// The sessions that collect takes, and those that wait for an act, the soonest deadline first; at most 300.
    pub sessions: Vec<SessionStatusAnswer>,
    /// The mail.
    pub mail: MailStatusAnswer,
    /// The webhooks.
    pub webhooks: Vec<WebhookStatusAnswer>,
    /// The windows of the schedule that are open and have no session, and the next three of each entry.
    pub schedule: Vec<ScheduledWindowAnswer>,
    /// When the certificate of the server expires, if it has one.
    pub certificate: Option<Timestamp>,
    /// Why the briefs of the committee could not be exported the last time.
    pub export: Option<String>,
    /// Whether there is a mail server: without one, messages stay in the outbox.
    #[serde(default = "yes")]
    pub mail_server: bool,
    /// How far the log is signed.
    pub log: LogStatusAnswer,
    /// The day of the committee, if there is one.
    pub committee: Option<CommitteeDayAnswer>,
    /// What needs an operator, what comes next, and what is fine.
    pub agenda: AgendaAnswer,
}

fn yes() -> bool {
    true
}

/// The state of a session that is not published.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionStatusAnswer {
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
    pub filed: u64,
    /// The number of members that are expected, if it has a roster.
    pub expected: Option<u64>,
    /// Expected members that have not filed.
    pub missing: Vec<MissingMemberAnswer>,
    /// What comes next.
    pub next: Option<NextStepAnswer>,
}

/// A member that has not filed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingMemberAnswer {
    /// The member.
    pub member_id: MemberId,
    /// The name.
    pub name: String,
}

/// The next step of a session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct NextStepAnswer {
    /// What is done.
    pub act: String,
    /// When, if that is known.
    pub at: Option<Timestamp>,
    /// Who does it: `schedule` or `operator`.
    pub by: String,
}

/// The state of the mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MailStatusAnswer {
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScheduledWindowAnswer {
    /// The subject.
    pub subject_id: SubjectId,
    /// When it opens.
    pub at: Timestamp,
    /// The same, in the time zone of the entry, with its offset.
    pub local: String,
    /// The time zone of the entry.
    pub timezone: String,
    /// When the last session of the subject was convened.
    pub last: Option<Timestamp>,
    /// Why it gets no session, as things stand.
    pub skipped: Option<String>,
}

/// How far a log is signed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LogStatusAnswer {
    /// The number of entries.
    pub size: Seq,
    /// The number of entries of the last checkpoint, if the log is signed.
    pub signed: Option<Seq>,
    /// The same, of the last checkpoint that a witness cosigned.
    pub witnessed: Option<Seq>,
}

/// The day of the committee.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CommitteeDayAnswer {
    /// The day.
    pub date: Day,
    /// The deadline.
    pub deadline_utc: Timestamp,
    /// The number of members that filed.
    pub filed: u64,
    /// The active members that have not filed.
    pub missing: Vec<CommitteeMemberId>,
}

/// What an operator should know, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AgendaAnswer {
    /// What needs an operator: the store first, then what is due longest.
    pub needs: Vec<AgendaItemAnswer>,
    /// What comes next, the soonest first; what has no time comes last.
    pub next: Vec<AgendaItemAnswer>,
    /// What is fine.
    pub fine: Vec<FineItemAnswer>,
}

/// Something that needs an operator, or that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgendaItemAnswer {
    /// The topic of the item, such as `publish`. A later version of the service may have others.
    pub code: String,
    /// The time of the item, or the time since which it is due; `None` if that is unknown.
    pub at: Option<Timestamp>,
    /// Who carries the item out: `schedule` or `operator`.
    pub by: String,
    /// A sentence for people, on one line and without the time.
    pub message: String,
    /// The session, for an item about a session.
    pub session_id: Option<SessionId>,
    /// The subject, for an item about a subject.
    pub subject_id: Option<SubjectId>,
}

/// Something that is fine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct FineItemAnswer {
    /// The topic of the item.
    pub code: String,
    /// A sentence for people, on one line.
    pub message: String,
}
