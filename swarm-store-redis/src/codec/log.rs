//! The log: `t take time`, `c submission time`, `o time take` (the take was opened), or `a time text`, where
//! `text` is the entry. Where a row only refers to a record, a read returns that record in place of its id.

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{LogEntry, LogRow, Logged, Seq};
use swarm_core::proof::opening_entry;
use swarm_core::store::LogPosition;

use super::{Corrupt, Decoded, Words, decode_committee_take, decode_take, decode_timestamp};

/// A row as it is read.
pub(crate) fn decode_log_row(seq: Seq, row: &str) -> Decoded<LogRow> {
    let mut words = Words(row);
    match words.next()? {
        "t" => {
            let take = decode_take(words.rest())?;
            Ok(LogRow { seq, at: take.filed_at, logged: Logged::Take(take) })
        }
        "c" => {
            let take = decode_committee_take(words.rest())?;
            Ok(LogRow { seq, at: take.received_at, logged: Logged::CommitteeTake(take) })
        }
        "o" => {
            let (at, take) = (words.timestamp()?, decode_take(words.rest())?);
            let opening = opening_entry(&take).ok_or_else(|| Corrupt::new("no sealed take"))?;
            let entry = Arc::new(LogEntry::Opening(opening));
            Ok(LogRow { seq, at, logged: Logged::Entry(entry) })
        }
        "a" => {
            let at = words.timestamp()?;
            let entry = Arc::new(LogEntry::from_text(words.rest())?);
            Ok(LogRow { seq, at, logged: Logged::Entry(entry) })
        }
        _ => Err(Corrupt::new("no row of a log")),
    }
}

/// Decodes what a commit returns: a line with the log position (size 0 if nothing was appended), then
/// the outcome.
pub(crate) fn decode_committed(text: &str) -> Decoded<(LogPosition, &str)> {
    let (line, outcome) = text.split_once('\n').ok_or_else(|| Corrupt::new("too few lines"))?;
    let mut words = Words(line);
    let (log, size) = (words.number()?, Seq(words.number()?));
    Ok((LogPosition { log, size, last: words.rest().into() }, outcome))
}

/// Decodes a row that its number precedes.
pub(crate) fn decode_act(line: &str) -> Decoded<LogRow> {
    let mut words = Words(line);
    let seq = Seq(words.number()?);
    decode_log_row(seq, words.rest())
}

/// The id and the time of the entry that a script asks for.
pub(crate) fn decode_wanted(text: &str) -> Decoded<(u64, Timestamp)> {
    let mut words = Words(text);
    Ok((words.number()?, decode_timestamp(words.rest())?))
}
