//! The responses with the state of a desk, and with what its operators did (API.md, 7.9 and 7.11).

use serde::Serialize;

use super::Answer;
use crate::domain::committee::CommitteeMemberId;
use crate::domain::{Day, RecordedAct, Seq, Timestamp};
use crate::service::{ActPage, DayFiling, DeskStatus};

/// What a front end knows besides the [`DeskStatus`].
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// Whether the server is ready.
    pub ready: bool,
    /// Why it is not, or what it warns of.
    pub warnings: Vec<String>,
    /// When the certificate expires, if the server has one.
    pub certificate: Option<Timestamp>,
    /// The log.
    pub log: LogStatus,
}

/// How far a log is signed.
#[derive(Clone, Debug, Serialize)]
pub struct LogStatus {
    /// The number of entries.
    pub size: Seq,
    /// The number of entries of the last checkpoint, if the log is signed.
    pub signed: Option<Seq>,
    /// The same, of the last checkpoint that a witness cosigned.
    pub witnessed: Option<Seq>,
}

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
pub fn status(server: &ServerStatus, desk: &DeskStatus, committee: Option<&DayFiling>) -> Answer {
    #[derive(Serialize)]
    struct Status<'a> {
        ready: bool,
        warnings: &'a [String],
        #[serde(flatten)]
        desk: &'a DeskStatus,
        certificate: Option<Timestamp>,
        log: &'a LogStatus,
        committee: Option<Committee<'a>>,
    }
    #[derive(Serialize)]
    struct Committee<'a> {
        date: Day,
        deadline_utc: Timestamp,
        filed: usize,
        missing: &'a [CommitteeMemberId],
    }
    let ServerStatus { ready, warnings, certificate, log } = server;
    Answer::ok(&Status {
        ready: *ready,
        warnings,
        desk,
        certificate: *certificate,
        log,
        committee: committee.map(|day| Committee {
            date: day.date,
            deadline_utc: day.deadline_utc,
            filed: day.filed.len(),
            missing: &day.missing,
        }),
    })
}
