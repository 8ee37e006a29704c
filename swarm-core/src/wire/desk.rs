//! The responses with the state of a desk, and with what its operators did (API.md, 7.9 and 7.11).

use serde::Serialize;

use super::Answer;
use crate::domain::committee::CommitteeMemberId;
use crate::domain::{Day, RecordedAct, Timestamp};
use crate::service::{ActPage, Agenda, DayFiling, DeskStatus, LogStatus, ServerStatus};

/// Returns the response with acts of operators.
pub fn operator_acts(page: &ActPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Acts<'a> {
        acts: &'a [RecordedAct],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<Timestamp>,
    }
    Answer::ok(&Acts { acts: &page.acts, next_before: page.next_before })
}

/// Returns the response with the state of a desk.
pub fn status(
    server: &ServerStatus,
    desk: &DeskStatus,
    committee: Option<&DayFiling>,
    agenda: &Agenda,
) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Status<'a> {
        ready: bool,
        warnings: &'a [String],
        #[serde(flatten)]
        desk: &'a DeskStatus,
        certificate: Option<Timestamp>,
        export: Option<&'a str>,
        mail_server: bool,
        log: &'a LogStatus,
        committee: Option<Committee<'a>>,
        agenda: &'a Agenda,
    }
    #[derive(Serialize)]
    struct Committee<'a> {
        date: Day,
        deadline_utc: Timestamp,
        filed: usize,
        missing: &'a [CommitteeMemberId],
    }
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
