//! The rules of the service, replayed over all entries of a log: what no honest server commits, and what the rules allow but
//! a reader should know of.
//!
//! It reads the fields that the rules need, and ignores others, so that entries of a later version are judged by the rules
//! that this version knows. After a fault it goes on with what the entry says, so that one fault does not hide the next.

mod archive;
mod found;
mod members;
mod sessions;
mod takes;

use serde::{Deserialize, Serialize};

use crate::domain::json::{Json, Object, printable};
use crate::domain::{Invalid, LogEntry, LogLine, Operation, Seq, Timestamp};
pub(super) use archive::Archive;
pub use archive::SessionAside;
pub(super) use found::Found;
pub use found::Remark;
use found::{Place, is_text, shown};
use members::Members;
use sessions::Sessions;

/// The state of the service after the entries so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replay {
    last_at: Option<Timestamp>,
    sessions: Sessions,
    members: Members,
}

impl Replay {
    /// Reads the entry with this number, and returns its time; `None` if it has none.
    pub(super) fn read(
        &mut self,
        seq: Seq,
        text: &str,
        archive: &mut Archive,
        found: &mut Found,
    ) -> Option<Timestamp> {
        let unreadable = |found: &mut Found| {
            found.faults.push(format!("entry {seq} cannot be read"));
            None
        };
        let Ok(json) = Json::read(text.as_bytes()) else { return unreadable(found) };
        let mut fields = json.into_object();
        let number = fields.whole_if_any("seq").ok().flatten();
        let at = fields.text("at").ok().and_then(|at| Timestamp::parse("at", &at).ok());
        let kind = fields.text("kind").ok();
        let (Some(number), Some(at), Some(kind)) = (number, at, kind) else {
            return unreadable(found);
        };
        let place = Place { seq, at };
        if number != seq.0 {
            found.fault(place, &format!("a gap: entry {number} is in the place of entry {seq}"));
        }
        if self.last_at.is_none() {
            self.sessions.begin();
        }
        self.check_time(place, text, found);
        self.last_at = Some(at);
        if KNOWN.contains(&&*kind) && LogLine::read(text).is_err() {
            let text = format!("{} is not written as this version writes it", printable(&kind));
            found.remark(true, place, &text);
        }
        if kind != "opening" {
            self.sessions.check_opening(place, found);
        }
        if kind != "session" {
            self.sessions.check_to_open(place, None, found);
        }
        if let Err(error) = self.entry(place, &kind, (fields, text), archive, found) {
            let (kind, error) = (printable(&kind), printable(&error.to_string()));
            found.fault(place, &format!("is not an entry of the kind {kind}: {error}"));
        }
        Some(at)
    }

    /// Puts the sessions that are over aside, at this size of the log.
    pub(super) fn put_aside(&mut self, size: u64) -> Vec<SessionAside> {
        self.sessions.put_aside(size)
    }

    /// What the log should show at this time, and does not.
    pub(super) fn overdue(&self, now: Timestamp) -> Vec<Remark> {
        let left = self.sessions.left_sealed(now);
        left.map(|text| Remark { is_notable: true, text }).collect()
    }

    /// The time of the last entry.
    pub(super) fn last_at(&self) -> Option<Timestamp> {
        self.last_at
    }

    /// Checks that time runs back only at an entry that accepts a clock, to the letter as the service writes it.
    fn check_time(&self, place: Place, text: &str, found: &mut Found) {
        let Some(last) = self.last_at.filter(|last| place.at < *last) else { return };
        let entry = LogLine::read(text).map(|line| line.entry);
        if !matches!(entry, Ok(LogEntry::Operation(Operation::ClockAccepted { .. }))) {
            found.fault(place, &format!("time ran back: the entry before is of {last}"));
        }
    }

    fn entry(
        &mut self,
        place: Place,
        kind: &str,
        (fields, text): (Object, &str),
        archive: &mut Archive,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        match kind {
            "session" => self.sessions.act(place, fields, archive, found),
            "take" => self.sessions.take(place, fields, &self.members, archive, found),
            "opening" => self.sessions.opening(place, fields, archive, found),
            "member" => self.members.read(place, fields, &self.sessions, found),
            "operation" => {
                found.remark(true, place, &format!("an operator accepted: {}", shown(text)));
                Ok(())
            }
            "take-mark" => {
                let is_withheld = is_text(&fields, "act", "withheld");
                self.sessions.mark(place, fields, is_withheld, found)?;
                found.remark(is_withheld, place, &shown(text));
                Ok(())
            }
            "committee-take" => Ok(()),
            kind if KNOWN.contains(&kind) => {
                found.remark(false, place, &shown(text));
                Ok(())
            }
            kind => {
                let kind = printable(kind);
                let text = format!("is of the kind {kind}, which this version does not know");
                found.remark(true, place, &text);
                Ok(())
            }
        }
    }
}

/// The kinds whose exact text this version writes.
const KNOWN: [&str; 13] = [
    "take",
    "take-mark",
    "opening",
    "session",
    "member",
    "memo",
    "subject",
    "subject-snapshot",
    "regime",
    "signal",
    "operation",
    "committee-day",
    "committee-take",
];
