//! Takes whose texts operators withheld: what the log has in their place.
//!
//! The public record of such a take has neither the texts nor the digest of the take, which the log has. So its signature and
//! its seal cannot be checked. All else can: that the log marks it, and what the session's snapshot computes from it.

use std::collections::{HashMap, HashSet};

use super::entries::{BundledEntry, Content};
use super::finding::{Check, Report, count};
use super::history::ActOnSession;
use super::records::BundledTake;
use crate::domain::json::printable;
use crate::domain::{Digest, Note, Session, Snapshot, TakeMarkAct, Withheld};

/// Gives the snapshot the digest that it had when it was written, if write-ups were withheld since. It is that of the act
/// which aggregated the session.
pub(super) fn complete_snapshot(session: &mut Session, acts: &[ActOnSession<'_>]) {
    let logged = acts.iter().find_map(|act| act.after().snapshot_digest);
    let Some(snapshot) = &session.snapshot else { return };
    let is_partial = snapshot.quotes.iter().any(|quote| quote.body.is_none());
    let original = logged.filter(|logged| is_partial && Digest::of_json(&**snapshot) != *logged);
    session.snapshot = Some(Snapshot { original, ..Snapshot::clone(snapshot) }.into());
}

/// Returns the mark of a take as a line for people.
pub(super) fn told(mark: &Withheld) -> String {
    let (at, note) = (mark.at, printable(mark.note.as_str()));
    format!("body and memoUrl are withheld since {at}, note {note}")
}

/// Checks that each mark is that of the last entry about it, and reports the marks.
pub(super) fn check(takes: &[BundledTake], entries: &[BundledEntry], report: &mut Report) {
    let own: HashSet<_> = takes.iter().map(|it| it.take.id).collect();
    let (mut faults, mut last) = (Vec::new(), HashMap::new());
    for BundledEntry { seq, at, content, .. } in entries {
        let Content::TakeMark(mark) = content else { continue };
        if !own.contains(&mark.id) {
            continue;
        }
        let is_withheld = last.get(&mark.id).is_some_and(|(_, _, is_withheld)| *is_withheld);
        let withholds = mark.act == TakeMarkAct::Withheld;
        if is_withheld == withholds {
            let done = if withholds { "withholds" } else { "restores" };
            faults.push(format!("entry {seq} {done} the texts of take {} again", mark.id));
        }
        let withheld =
            Withheld { at: *at, note: mark.note.clone().unwrap_or_else(Note::none), removed: None };
        last.insert(mark.id, (*seq, withheld, withholds));
    }
    let mut notable = Vec::new();
    for it in takes {
        let id = it.take.id;
        let entry = last.get(&id).filter(|(_, _, is_withheld)| *is_withheld);
        match (&it.take.withheld, entry) {
            (None, None) => {}
            (Some(_), None) => {
                faults.push(format!("take {id} is withheld, and no entry withholds it"));
            }
            (None, Some((seq, ..))) => {
                faults.push(format!("take {id} is shown, and entry {seq} withholds it"));
            }
            (Some(mark), Some((seq, logged, _))) => {
                if (mark.at, &mark.note) != (logged.at, &logged.note) {
                    faults.push(format!("take {id} has another mark than entry {seq}"));
                }
                let member = printable(it.take.draft().member_id.as_str());
                notable.push(format!("take {id} of {member}: {}", told(mark)));
            }
        }
    }
    if faults.is_empty() && notable.is_empty() {
        return;
    }
    let holds = format!("{} as the log says", count(notable.len(), "mark is", "marks are"));
    report.conclude(Check::Withheld, faults, holds);
    report.notable(Check::Withheld, notable);
}
