//! The commit of a change, with the acts of operators in it.

use std::sync::atomic::Ordering;

use super::commit_id::new_id;
use super::{Change, Made, Records, head_of, operator_acts, position_of};
use crate::store::Result;
use crate::store::backend::{Decision, Kind, Outcome, Transaction};

impl Records {
    /// Commits changes. After an error, they may be committed.
    pub(super) async fn commit(&self, op: &'static str, change: Change) -> Result<Made> {
        let kind = change.kind;
        let (id, entries) = (change.id.unwrap_or_else(new_id), change.entries.len());
        let seen = head_of(self.seen.position());
        let mut writes = change.writes;
        writes.extend(operator_acts::of_entries(&change.entries));
        let makes_something = !change.sequences.is_empty();
        let act = change.operator_act.as_ref();
        writes.extend(act.map(|act| operator_acts::unlogged(act, makes_something)));
        let transaction = Transaction {
            id,
            kind,
            seen,
            repetition: change.repetition,
            checks: change.checks,
            sequences: change.sequences,
            writes,
            entries: change.entries,
            erases: change.erases,
        };
        let changing = (kind != Kind::Aside || change.wakes).then(|| self.seen.changing());
        let outcome = self.backend.commit(&self.tenant, op, transaction).await;
        drop(changing);
        let Outcome { head, decision } = match self.seen.note(outcome) {
            Ok(outcome) => outcome,
            Err(error) => {
                if error.is_contended() {
                    // Another log may have begun.
                    self.position(op).await?;
                }
                return Err(error);
            }
        };
        if kind != Kind::Aside {
            self.seen.advance(position_of(&head));
        }
        Ok(match decision {
            Decision::Committed(assigned) => {
                let last = (head.commit == Some(id) && entries > 0).then_some(head.size);
                if let (Some(noted), Some(last)) = (&self.last_entry, last) {
                    noted.store(last.0, Ordering::Relaxed);
                }
                Made::Now(assigned, last.filter(|_| entries == 1))
            }
            Decision::Repeated(row) => Made::Before(row),
            Decision::Failed { check, found } => Made::Unmet(check, found),
        })
    }
}
