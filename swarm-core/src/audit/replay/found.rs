//! What a replay finds, and how it is said.

use crate::domain::json::{Json, Object, printable_json, write};
use crate::domain::{Seq, Timestamp};

/// A line about the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// Whether the act is unusual: the rules allow it, but a reader should ask why it was done.
    pub is_notable: bool,
    /// For people. Text of others is quoted, and safe to print on a terminal.
    pub text: String,
}

/// An entry: its number and its time.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(in crate::audit) struct Found {
    /// What no honest server commits.
    pub(in crate::audit) faults: Vec<String>,
    /// What operators did, and what is notable.
    pub(in crate::audit) remarks: Vec<Remark>,
}

impl Found {
    pub(super) fn fault(&mut self, place: Place, text: &str) {
        self.faults.push(format!("entry {}, {}: {text}", place.seq, place.at));
    }

    pub(super) fn remark(&mut self, is_notable: bool, place: Place, text: &str) {
        let text = format!("entry {}, {}: {text}", place.seq, place.at);
        self.remarks.push(Remark { is_notable, text });
    }
}

/// An entry without number and time, as a line shows it.
pub(super) fn shown(text: &str) -> String {
    let mut fields = Json::read(text.as_bytes()).unwrap_or(Json::Null).into_object();
    fields.take("seq");
    fields.take("at");
    printable_json(&write(&fields))
}

pub(super) fn is_text(fields: &Object, name: &str, expected: &str) -> bool {
    fields.members().any(|(field, value)| {
        field == name && matches!(value, Json::Text(text) if text == expected)
    })
}

/// A value, or `none`.
pub(super) fn or_none(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// A count with its noun.
pub(super) fn takes_on_file(count: u64) -> String {
    format!("{count} {} on file", if count == 1 { "take" } else { "takes" })
}
