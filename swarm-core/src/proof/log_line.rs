//! The log entry of a record.

use crate::domain::committee::CommitteeTake;
use crate::domain::{
    CommitteeTakeEntry, Digest, LogEntry, LogLine, LogRow, Logged, OpeningEntry, StoredSealedTake,
    StoredTake, Take, TakeContent, TakeEntry,
};

/// Returns the line of the log that a row of the store stands for. It is a pure function of the
/// row: takes are kept by reference, and their entries are computed from the record.
pub fn log_line(row: &LogRow) -> LogLine {
    LogLine { seq: row.seq, at: row.at, entry: log_entry(&row.logged) }
}

fn log_entry(logged: &Logged) -> LogEntry {
    match logged {
        Logged::Take(StoredTake::Whole(take)) => LogEntry::Take(take_entry(take)),
        Logged::Take(StoredTake::Sealed(take)) => LogEntry::Take(sealed_entry(take)),
        Logged::CommitteeTake(take) => committee_take_entry(take),
        Logged::TakeMark(_, entry) | Logged::Entry(entry) => LogEntry::clone(entry),
    }
}

/// Returns the log entry of a take.
pub fn take_entry(take: &Take) -> TakeEntry {
    TakeEntry {
        id: take.id,
        session_id: take.session_id,
        session_version: take.session_version,
        member_id: take.draft().member_id.clone(),
        revision: take.revision,
        content: match take.seal() {
            Some(sealed) => TakeContent::Sealed { sealed },
            None => TakeContent::Open {
                digest: take.digest(),
                signature: take.signed.signature.clone(),
            },
        },
        public_key: take.public_key.clone(),
    }
}

fn sealed_entry(take: &StoredSealedTake) -> TakeEntry {
    let StoredSealedTake { shown, session_version, public_key, .. } = take;
    TakeEntry {
        id: shown.id,
        session_id: shown.session_id,
        session_version: *session_version,
        member_id: shown.member_id.clone(),
        revision: shown.revision,
        content: TakeContent::Sealed { sealed: shown.sealed },
        public_key: public_key.clone(),
    }
}

/// Returns the log entry by which a sealed take is opened; `None` of one that was not sealed.
/// Stores keep a reference to the take, and compute the entry when it is read.
pub fn opening_entry(take: &Take) -> Option<OpeningEntry> {
    Some(OpeningEntry {
        id: take.id,
        salt: take.salt?,
        digest: take.digest(),
        signature: take.signed.signature.clone(),
    })
}

fn committee_take_entry(take: &CommitteeTake) -> LogEntry {
    LogEntry::CommitteeTake(CommitteeTakeEntry {
        member_id: take.member_id.clone(),
        date: take.date,
        subject_id: take.subject_id.clone(),
        commit: Digest::of_json(take),
    })
}
