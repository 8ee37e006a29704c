//! The responses with the state of a desk, and with what its operators did (API.md, 7.9 and 7.11).

use serde::Serialize;

use super::Answer;
use crate::domain::committee::CommitteeMemberId;
use crate::domain::{Day, RecordedAct, Timestamp};
use crate::service::{ActPage, Agenda, DayFiling, DeskStatus, LogStatus, ServerStatus};

/// Returns the response with acts of operators.
pub fn operator_acts(page: &ActPage) -> Answer {
    Answer::ok(&OperatorActs { acts: &page.acts, next_before: page.next_before })
}

/// A page of what operators did.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct OperatorActs<'a> {
    /// What they did, the latest first.
    acts: &'a [RecordedAct],
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<Timestamp>,
}

/// Returns the response with the state of a desk.
pub fn status(
    server: &ServerStatus,
    desk: &DeskStatus,
    committee: Option<&DayFiling>,
    agenda: &Agenda,
) -> Answer {
    let ServerStatus { ready, warnings, certificate, export_fault, has_mail_server, log } = server;
    Answer::ok(&Status {
        ready: *ready,
        warnings,
        desk,
        certificate: *certificate,
        export: export_fault.as_deref(),
        mail_server: *has_mail_server,
        log,
        committee: committee.map(|day| Committee {
            date: day.date,
            deadline_utc: day.deadline_utc,
            filed: day.filed.len(),
            missing: &day.missing,
        }),
        agenda,
    })
}

/// The state of a desk, and of its server.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DeskStatus"))]
#[serde(rename_all = "camelCase")]
pub(super) struct Status<'a> {
    /// Whether the server is ready.
    ready: bool,
    /// Why it is not, or what it warns of.
    warnings: &'a [String],
    #[serde(flatten)]
    desk: &'a DeskStatus,
    /// When the certificate of the server expires, if it has one.
    certificate: Option<Timestamp>,
    /// Why the briefs of the committee could not be exported the last time.
    export: Option<&'a str>,
    /// Whether there is a mail server: without one, messages stay in the outbox.
    mail_server: bool,
    /// How far the log is signed.
    log: &'a LogStatus,
    /// The day of the committee, if there is one.
    committee: Option<Committee<'a>>,
    /// What needs an operator, what comes next, and what is fine.
    agenda: &'a Agenda,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct Committee<'a> {
    /// The day.
    date: Day,
    /// The deadline.
    deadline_utc: Timestamp,
    /// The number of members that filed.
    filed: usize,
    /// The active members that have not filed.
    missing: &'a [CommitteeMemberId],
}
