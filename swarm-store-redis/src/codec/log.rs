//! The log: `t take time`, `c submission time`, or `a time minted text`, where `minted` is the id
//! that the commit assigned, or `-`. Where a row only refers to a record, a read returns that
//! record in place of its id and time.

use swarm_core::domain::{LogRow, Logged, Seq};
use swarm_core::store::LogPosition;

use super::{Corrupt, Decoded, Words, decode_committee_take, decode_take, number};

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
        "a" => {
            let at = words.timestamp()?;
            let minted = Some(words.next()?).filter(|minted| *minted != "-");
            let minted = minted.map(number).transpose()?;
            let text = words.rest().to_owned();
            Ok(LogRow { seq, at, logged: Logged::Act { text, minted } })
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
