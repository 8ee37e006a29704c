//! The responses with the state of a desk, and with what its operators did (API.md, 7.9 and 7.11).

use super::Answer;
use crate::answers::{Agenda, CommitteeDayStatus, DayFiling, DeskStatus, OperatorActs, Status};
use crate::service::ServerStatus;

/// Returns the response with acts of operators.
pub fn operator_acts(page: &OperatorActs) -> Answer {
    Answer::ok(page)
}

/// Returns the response with the state of a desk.
pub fn status(
    server: ServerStatus,
    desk: DeskStatus,
    committee: Option<DayFiling>,
    agenda: Agenda,
) -> Answer {
    let ServerStatus { ready, warnings, certificate, export_fault, has_mail_server, log } = server;
    Answer::ok(&Status {
        ready,
        warnings,
        desk,
        certificate,
        export: export_fault,
        mail_server: has_mail_server,
        log,
        committee: committee.map(|day| CommitteeDayStatus {
            date: day.date,
            deadline_utc: day.deadline_utc,
            filed: day.filed.len(),
            missing: day.missing,
        }),
        agenda,
    })
}
