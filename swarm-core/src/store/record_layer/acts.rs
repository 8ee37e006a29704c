//! The entries of acts, as they are kept: with zeros for the number and the time that their commit assigns.

use std::borrow::Cow;
use std::sync::Arc;

use super::rows::Outcome;
use crate::domain::{LogEntry, Operation, OperatorAct, SessionId, Timestamp};
use crate::records::Unreadable;
use crate::store::Act;
use crate::store::backend::{Append, Body, Entry, Parts, Value};

/// The topic of the entries that accept a clock, which is no session's.
pub(super) const CLOCKS: i64 = 0;

/// The topic of the entry of an act.
pub(super) fn topic(entry: &LogEntry) -> Option<i64> {
    match entry {
        LogEntry::Operation(Operation::ClockAccepted { .. }) => Some(CLOCKS),
        other => other.session().and_then(|session| Value::from(session.0).integer()),
    }
}

/// Appends the entry of an act, with the number from this sequence if it has one that the commit assigns.
pub(super) fn entry(act: &Act, assigned: Option<usize>) -> Append {
    let topic =
        act.known().and_then(|entry| topic(entry)).map(|topic| Value::Integer(topic).into());
    Append::Entry { topic, assigned, reference: None, body: body(act) }
}

/// Appends the entry of an act on takes of this session.
pub(super) fn entry_on(act: &Act, session: SessionId) -> Append {
    let topic = Some(session.0.into());
    Append::Entry { topic, assigned: None, reference: None, body: body(act) }
}

/// The act of an operator that an entry records, and the sequence from which it gets the id of what it is about.
pub(super) fn operator_act(entry: &Append) -> Option<(OperatorAct, Option<usize>)> {
    let Append::Entry { assigned, .. } = entry else { return None };
    Some((OperatorAct::of_entry(&*logged(entry)?)?, *assigned))
}

/// The entry of an act, with zeros for what its commit assigns. `None` for entries that refer to records.
pub(super) fn logged(entry: &Append) -> Option<Arc<LogEntry>> {
    let Append::Entry { reference: None, body, .. } = entry else { return None };
    let ActText(act) = body.source()?;
    Some(act.entry(0, Timestamp::EPOCH))
}

/// The text of an act: of its entry, with zeros for what the commit assigns.
struct ActText(Act);

impl Parts for ActText {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        (position == 0).then(|| self.0.entry(0, Timestamp::EPOCH).to_text().into())
    }
}

pub(super) fn body(act: &Act) -> Body {
    Body::of(ActText(act.clone()))
}

/// The text of an entry that opens the take which it refers to.
const OPENING: &str = "opening";

struct Opening;

impl Parts for Opening {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        (position == 0).then_some(Cow::Borrowed(OPENING))
    }
}

/// The body of an entry that opens the take which it refers to. The digest in the entry is computed when it is read.
pub(super) fn opening() -> Body {
    Body::of(Opening)
}

/// Reads the entry of an act.
pub(super) fn read(entry: &Entry) -> Outcome<Arc<LogEntry>> {
    if let Some(ActText(act)) = entry.body.source() {
        return Ok(act.entry(entry.assigned.unwrap_or(0), entry.at));
    }
    let text = entry.body.part(0).ok_or_else(|| Unreadable::new("an entry without a text"))?;
    let act = LogEntry::from_text(&text)?;
    Ok(Arc::new(match entry.assigned {
        Some(number) => act.assigned(number, entry.at),
        None => act,
    }))
}
