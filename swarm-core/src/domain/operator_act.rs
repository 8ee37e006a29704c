//! What operators did: their changes, also those that the public log does not have, and their sign-ins (API.md, 7.11).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::form::{form, one_of, parsed, value};
use super::{Actor, Invalid, LogEntry, Note, Timestamp};

form! {
    /// The request of an operator to accept what the server refuses to go on with (API.md, 7.6).
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Acceptance "Acceptance" in "log" {
        pub what: Accepted = "what": "What to accept.",
        pub force: bool = "force" default(false):
            "Accepts a store or a key with which nothing is wrong.",
    }
    example r#"{"what": "clock"}"#;
}

/// What an operator can accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accepted {
    /// A clock that is behind the log.
    Clock,
    /// A store that went back.
    Store,
    /// This server's key, where another signed the log.
    Key,
}

value!(
    Accepted,
    |fields, name| parsed(fields, name, |text| match text.as_str() {
        "clock" => Ok(Self::Clock),
        "store" => Ok(Self::Store),
        "key" => Ok(Self::Key),
        _ => Err(Invalid::new(name, "must be clock, store or key")),
    }),
    one_of(["clock", "store", "key"])
);

/// What an operator did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperatorAct {
    /// The name of the operator's token; `None` for a sign-in with a wrong token, and for a reload by the operator of the machine.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub by: Option<Actor>,
    /// What was done: the event of an entry of the log, or one of those that API.md, 7.11 lists.
    #[cfg_attr(feature = "schema", schemars(extend("examples" = ["application.rejected"])))]
    pub act: Cow<'static, str>,
    /// The id of what was changed.
    pub target: Option<String>,
    /// The note of the operator.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub note: Option<Note>,
}

impl OperatorAct {
    /// Returns an act on the thing with this id; `None` unless an operator did it.
    pub fn new(by: &Actor, act: &'static str, target: impl ToString) -> Option<Self> {
        let (act, target) = (Cow::Borrowed(act), Some(target.to_string()));
        is_operator(by).then(|| Self { by: Some(by.clone()), act, target, note: None })
    }

    /// Returns an act on the thing that its commit makes, whose id the store assigns; `None` unless an operator did it.
    pub fn of_new(by: &Actor, act: &'static str) -> Option<Self> {
        let act = Cow::Borrowed(act);
        is_operator(by).then(|| Self { by: Some(by.clone()), act, target: None, note: None })
    }

    /// Returns the sign-in of an operator in the console.
    pub fn signed_in(by: &Actor) -> Self {
        Self {
            by: Some(by.clone()),
            act: Cow::Borrowed("console.signed-in"),
            target: None,
            note: None,
        }
    }

    /// Returns an act without an operator that is known.
    pub fn unnamed(act: &'static str) -> Self {
        Self { by: None, act: Cow::Borrowed(act), target: None, note: None }
    }

    /// Returns the act that an entry of the log records; `None` for an entry of members or of the schedule.
    pub fn of_entry(entry: &LogEntry) -> Option<Self> {
        let by = entry.by()?;
        let (target, note) = match entry {
            LogEntry::Take(_)
            | LogEntry::Opening(_)
            | LogEntry::CommitteeTake(_)
            | LogEntry::Operation(_) => (String::new(), None),
            LogEntry::TakeMark(entry) => (entry.id.to_string(), entry.note.clone()),
            LogEntry::Session(entry) => (entry.session.id.to_string(), entry.note.clone()),
            LogEntry::Member(entry) => (entry.id.to_string(), None),
            LogEntry::Memo(entry) => (entry.id.to_string(), None),
            LogEntry::Subject { id, .. } => (id.to_string(), None),
            LogEntry::SubjectSnapshot { id, .. } => (id.to_string(), None),
            LogEntry::Regime { date, .. } => (date.to_string(), None),
            LogEntry::Signal { signal_key, .. } => (signal_key.clone(), None),
            LogEntry::CommitteeDay(entry) => (entry.date.to_string(), None),
        };
        let target = Some(target).filter(|target| !target.is_empty());
        let act = Cow::Owned(entry.event());
        is_operator(by).then(|| Self { by: Some(by.clone()), act, target, note })
    }
}

fn is_operator(by: &Actor) -> bool {
    ![Actor::SCHEDULE, Actor::MEMBER].contains(by)
}

/// What an operator did, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct RecordedAct {
    /// When it was committed, by the store's clock.
    pub at: Timestamp,
    /// What was done.
    #[serde(flatten)]
    pub act: OperatorAct,
}
