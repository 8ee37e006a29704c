//! The steps of a session: which act may follow, and what it may change. `history` asks for the acts in a bundle, `replay` for
//! those in a whole log.

use std::collections::BTreeSet;

use crate::domain::json::{Json, Object, printable};
use crate::domain::{SessionState, Timestamp};
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

/// Why an act is not a valid step from the session before it to the one after it.
pub(super) fn step_faults(
    before: Step<'_>,
    act: &str,
    at: Timestamp,
    after: Step<'_>,
) -> Vec<String> {
    let Some(may_change) = changes_of(before, act, after.state) else { return Vec::new() };
    let mut faults = Vec::new();
    if before.has("voided") {
        faults.push(format!("{} after it was voided", printable(act)));
    }
    faults.extend(state_fault(before, act, at, after.state));
    let changed = changed_fields(before.record, after.record).into_iter();
    let changed = changed.filter(|field| !may_change.contains(field));
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

/// The fields that an act may change; `None` of an act that this version does not know, which may change what it likes.
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
    let member = record.members().find(|(name, _)| *name == field);
    member.map(|(_, value)| value).filter(|value| **value != Json::Null)
}
