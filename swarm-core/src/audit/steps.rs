//! The steps of a session: which act may follow, and what it may change. `history` asks for the acts in a bundle, `replay` for
//! those in a whole log.

use std::collections::BTreeSet;

use crate::domain::json::{Json, Object, printable};
use crate::domain::{Day, SessionState, Timestamp};
use crate::rules::may_move;

/// A session as an act leaves it.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    /// Its record, as the log has it.
    pub(super) record: &'a Object,
    pub(super) state: SessionState,
    pub(super) deadline: Option<Timestamp>,
}

impl Step<'_> {
    fn is(&self, field: &str) -> bool {
        value(self.record, field) == Some(&Json::Bool(true))
    }

    fn has(&self, field: &str) -> bool {
        value(self.record, field).is_some()
    }
}

/// The fields of a question.
pub(super) const QUESTION: [&str; 3] = ["question", "resolution", "resolvesAt"];

/// The fields of a session that this version knows, without [those that are set later](SET_LATER).
const FIELDS: [&str; 18] = [
    "id",
    "date",
    "subjectId",
    "state",
    "windowClosesAt",
    "convenedAt",
    "quorum",
    "bucketsDigest",
    "rosterDigest",
    "blind",
    "practice",
    "finish",
    "question",
    "resolution",
    "resolvesAt",
    "stances",
    "maxRevisions",
    "method",
];

/// The fields that later acts alone set.
const SET_LATER: [&str; 5] = ["openedAt", "publishedAt", "outcome", "voided", "snapshotDigest"];

/// Why a session cannot have been convened like this.
pub(super) fn convening_faults(convened: Step<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    if convened.state > SessionState::Collecting {
        faults.push(format!("convened as {}", convened.state));
    }
    // A take may name such a day (API.md, 5.1), and then has no session.
    if let Some(Json::Text(date)) = value(convened.record, "date")
        && Day::in_calendar("date", date).is_err()
    {
        faults.push(format!("convened on {}, which is no day of the calendar", printable(date)));
    }
    let early = SET_LATER.into_iter().filter(|field| convened.has(field));
    faults.extend(early.map(|field| format!("convened with {}", printable(field))));
    faults
}

/// Why an act is not a valid step from the session before it to the one after it.
pub(super) fn step_faults(
    before: Step<'_>,
    act: &str,
    at: Timestamp,
    after: Step<'_>,
) -> Vec<String> {
    let may_change = changes_of(before, act, after.state);
    let mut faults = Vec::new();
    if before.has("voided") {
        faults.push(format!("{} after it was voided", printable(act)));
    }
    faults.extend(state_fault(before, act, at, after.state));
    if let Some(field) = set_by(act, after.state).filter(|field| !after.has(field)) {
        faults.push(format!("{} does not set {}", printable(act), printable(field)));
    }
    let changed = changed_fields(before.record, after.record).into_iter();
    let changed = changed.filter(|field| match &may_change {
        Some(may_change) => !may_change.contains(field),
        // An act of a later version may change what that version has added.
        None => FIELDS.contains(field) || SET_LATER.contains(field),
    });
    let changed: Vec<_> = changed.map(printable).collect();
    if !changed.is_empty() {
        faults.push(format!("{} also changes {}", printable(act), changed.join(", ")));
    }
    faults
}

/// Why the state of the session before it does not allow the act.
fn state_fault(before: Step<'_>, act: &str, at: Timestamp, to: SessionState) -> Option<String> {
    use SessionState::{Aggregated, WindowClosed};
    let (from, is_opened) = (before.state, before.has("openedAt"));
    let is_over = from >= Aggregated
        || (from == WindowClosed && before.deadline.is_some_and(|deadline| at > deadline));
    match act {
        "state" if (from, to) == (Aggregated, Aggregated) => {
            Some("aggregated a second time".to_owned())
        }
        "state" if !may_move(from, to) => Some(format!("moved from {from} to {to}")),
        "opened" if !before.is("blind") || is_opened => {
            Some("opened, though it was not sealed".to_owned())
        }
        "opened" if !is_over => Some("opened before its window was over".to_owned()),
        "deadline" if is_opened => Some("moved the deadline after it was opened".to_owned()),
        "void" if from < Aggregated => Some(format!("voided, though it is {from}")),
        "void" if before.is("practice") => Some("voided, though it is for practice".to_owned()),
        "outcome" if from < Aggregated => Some(format!("outcome recorded though it is {from}")),
        _ => None,
    }
}

/// The field that a record has after the act.
fn set_by(act: &str, to: SessionState) -> Option<&'static str> {
    match (act, to) {
        ("state", SessionState::Aggregated) => Some("snapshotDigest"),
        ("state", SessionState::Published) => Some("publishedAt"),
        ("opened", _) => Some("openedAt"),
        ("roster", _) => Some("rosterDigest"),
        ("void", _) => Some("voided"),
        ("outcome", _) => Some("outcome"),
        _ => None,
    }
}

/// The fields that an act may change; `None` of an act that this version does not know.
fn changes_of(before: Step<'_>, act: &str, to: SessionState) -> Option<Vec<&'static str>> {
    use SessionState::{Aggregated, Collecting, Published, WindowClosed};
    let is_early = before.state < Aggregated;
    let quorum = is_early.then_some("quorum");
    let reopens = (before.state, to) == (WindowClosed, Collecting);
    let is_first_roster = is_early && !before.has("rosterDigest");
    Some(match act {
        "state" => match to {
            Aggregated => vec!["state", "snapshotDigest"],
            Published => vec!["state", "publishedAt"],
            _ => vec!["state"],
        },
        "deadline" => {
            let state = reopens.then_some("state");
            QUESTION.into_iter().chain(["windowClosesAt"]).chain(quorum).chain(state).collect()
        }
        "quorum" => quorum.into_iter().collect(),
        "question" => QUESTION.into_iter().chain(quorum).collect(),
        "roster" if is_first_roster => vec!["rosterDigest"],
        "excuse" if is_early => vec!["rosterDigest"],
        "opened" => vec!["openedAt"],
        "void" => vec!["voided"],
        "outcome" => vec!["outcome"],
        "convened" | "withdrawn" | "brief" | "roster" | "excuse" => Vec::new(),
        _ => return None,
    })
}

/// The fields in which two records differ. `null` counts as absent.
pub(super) fn changed_fields<'a>(before: &'a Object, after: &'a Object) -> Vec<&'a str> {
    let names: BTreeSet<_> =
        before.members().chain(after.members()).map(|(name, _)| name).collect();
    let changed = names.into_iter().filter(|name| value(before, name) != value(after, name));
    changed.collect()
}

fn value<'a>(record: &'a Object, field: &str) -> Option<&'a Json> {
    record.get(field).filter(|value| **value != Json::Null)
}
