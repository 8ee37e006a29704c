//! The commit of a change, with the acts of operators in it.
//!
//! Every change of a tenant is committed here, so each commit has a `tracing` span: `commit`, with the fields `op`, `tenant` and, where
//! they are known, `act`, `by` and `member`.

use std::sync::atomic::Ordering;

use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::commit_id::new_id;
use super::{Change, Made, Records, acts, head_of, operator_acts, position_of};
use crate::domain::{Actor, LogEntry, MemberId};
use crate::store::Result;
use crate::store::backend::{CommitOutcome, Decision, Kind, Transaction, Value};

impl Records {
    /// Commits changes. After an error, they may be committed.
    pub(super) async fn commit(&self, op: &'static str, change: Change) -> Result<Made> {
        let (kind, span) = (change.kind, self.span(op, &change));
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
        let outcome = self.backend.commit(&self.tenant, op, transaction).instrument(span).await;
        drop(changing);
        let CommitOutcome { head, decision } = match self.seen.note(outcome) {
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
    /// The span of a commit. A dry run commits nothing, so it has none.
    fn span(&self, op: &'static str, change: &Change) -> Span {
        if self.is_dry_run {
            return Span::none();
        }
        let tenant = self.tenant.as_str();
        let span =
            tracing::debug_span!("commit", op, tenant, act = Empty, by = Empty, member = Empty);
        if !span.is_disabled() {
            change.describe(&span);
        }
        span
    }
}

impl Change {
    /// Records in a span what is done, who does it, and which member it is about.
    fn describe(&self, span: &Span) {
        let entry = self.entries.iter().find_map(acts::logged);
        let operator_act = self.operator_act.as_ref();
        let (act, by) = match (self.filed, &entry, operator_act) {
            (Some(filed), ..) => (Some(filed.into()), Some(&Actor::MEMBER)),
            (None, Some(entry), _) => (Some(entry.event().into()), entry.by()),
            (None, None, Some(act)) => (Some(act.act.clone()), act.by.as_ref()),
            (None, None, None) => (None, None),
        };
        let of_entry = entry.as_deref().and_then(member_of).map(MemberId::as_str);
        let member = self.member.as_ref().and_then(Value::text).or(of_entry);
        span.record("act", act.as_deref());
        span.record("by", by.map(Actor::as_str));
        span.record("member", member);
    }
}

/// The member that an act is about.
fn member_of(entry: &LogEntry) -> Option<&MemberId> {
    match entry {
        LogEntry::Member(entry) => Some(&entry.id),
        LogEntry::Memo(entry) => Some(&entry.member_id),
        _ => None,
    }
}
