//! Dry runs: an interceptor that has the backend judge a transaction, and commits nothing.
//!
//! It has the checks of a transaction carried out with one more, which is never met. So the backend itself compares the
//! guards, and there is no second implementation of them.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::commit_id::new_id;
use crate::domain::{TenantId, Timestamp};
use crate::store::backend::{
    Assigned, Backend, Check, CommitOutcome, Decision, Kind, Load, Operation, Reading, Table, Term,
    Transaction, Value, Write,
};
use crate::store::{Interceptor, Result, StoreError, time_of_read};

/// Makes the commits of one tenant dry runs. The numbers that a commit would assign are 0.
#[derive(Default)]
pub(super) struct DryRun {
    /// The records that earlier transactions would have replaced or removed: they are not as they are stored.
    replaced: Mutex<Vec<(&'static Table, Vec<Value>)>>,
}

impl DryRun {
    /// Returns the outcome of a transaction of which a check is not met; `None` if all are.
    async fn judged(
        &self,
        backend: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: &Transaction,
    ) -> Result<Option<CommitOutcome>> {
        let Transaction { kind, seen, checks, .. } = transaction;
        let (mut checks, last) = (checks.clone(), checks.len());
        loop {
            let never = Check::NotAfter(Timestamp::EPOCH);
            let judged = Transaction {
                id: new_id(),
                kind: *kind,
                seen: seen.clone(),
                repetition: None,
                checks: checks.iter().cloned().chain([never]).collect(),
                sequences: Vec::new(),
                writes: Vec::new(),
                entries: Vec::new(),
                erases: false,
            };
            let outcome = backend.commit(tenant, op, judged).await?;
            let Decision::Failed { check, found } = &outcome.decision else {
                return Err(StoreError::corrupt(op, "the store committed a dry run"));
            };
            if *check == last {
                return Ok(None);
            }
            let (Some(unmet), Some(row)) = (checks.get_mut(*check), found) else {
                return Ok(Some(outcome));
            };
            match unmet {
                Check::None { range, .. } if self.is_replaced(range.table, &row.columns) => {
                    // One that is always met, so that the others keep their positions.
                    let (range, except, most) = (range.clone(), Vec::new(), u32::MAX.into());
                    *unmet = Check::Count { range, except, least: 0, most };
                }
                _ => return Ok(Some(outcome)),
            }
        }
    }

    fn is_replaced(&self, table: &Table, columns: &[Value]) -> bool {
        let replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.iter().any(|(of, key)| **of == *table && columns.starts_with(key))
    }

    fn replace(&self, writes: &[Write]) {
        let key = |terms: &[Term]| {
            let values = terms.iter().map(|term| match term {
                Term::Value(value) => Some(value.clone()),
                _ => None,
            });
            values.collect::<Option<Vec<_>>>()
        };
        let mut replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.extend(writes.iter().filter_map(|write| match write {
            Write::Put { table, columns, .. } => Some((*table, key(columns.get(..table.key)?)?)),
            Write::Remove(range) if range.index.is_none() => {
                Some((range.table, key(&range.prefix)?))
            }
            _ => None,
        }));
    }
}

#[async_trait]
impl Interceptor for DryRun {
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        // Another log begins whatever the records are.
        let kind = transaction.kind;
        if kind != Kind::AcceptLog
            && let Some(failed) = self.judged(next, tenant, op, &transaction).await?
        {
            return Ok(failed);
        }
        self.replace(&transaction.writes);
        let Reading { clock, head, .. } = next.read(tenant, op, Vec::new()).await?;
        let numbers = vec![0; transaction.sequences.len() + usize::from(kind == Kind::AcceptLog)];
        let assigned = Assigned { at: time_of_read(clock, head.at), numbers };
        Ok(CommitOutcome { head, decision: Decision::Committed(assigned) })
    }

    async fn load(&self, _: &dyn Backend) -> Result<Box<dyn Load>> {
        Err(StoreError::misconfigured("load", "a dry run loads nothing"))
    }

    async fn remove(&self, _: &dyn Backend, _: &TenantId) -> Result<()> {
        Err(StoreError::misconfigured("remove", "a dry run removes nothing"))
    }
}
