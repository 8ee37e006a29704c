//! Dry runs: a backend that judges a transaction as the one behind it would, and commits nothing.
//!
//! It has the checks of a transaction carried out with one more, which is never met. So the backend itself compares the
//! guards, and there is no second implementation of them.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::new_id;
use crate::domain::{TenantId, Timestamp};
use crate::store::backend::{
    Assigned, Backend, Check, Decision, Kind, Load, Operation, Outcome, Query, Reading, Snapshot,
    Table, Term, Transaction, Value, Write,
};
use crate::store::{Changes, Readiness, Result, StoreError, time_of_read};

/// A backend for dry runs of one tenant. The numbers that a commit would assign are 0.
pub(super) struct DryRun<B> {
    backend: Arc<B>,
    /// The records that earlier transactions would have replaced or removed: they are not as they are stored.
    replaced: Mutex<Vec<(&'static Table, Vec<Value>)>>,
}

impl<B: Backend> DryRun<B> {
    pub(super) fn new(backend: Arc<B>) -> Self {
        Self { backend, replaced: Mutex::default() }
    }

    fn is_replaced(&self, table: &'static Table, columns: &[Value]) -> bool {
        let replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.iter().any(|(of, key)| *of == table && columns.starts_with(key))
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
impl<B: Backend> Backend for DryRun<B> {
    async fn read(&self, tenant: &TenantId, op: Operation, queries: Vec<Query>) -> Result<Reading> {
        self.backend.read(tenant, op, queries).await
    }

    async fn commit(
        &self,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<Outcome> {
        let Transaction { kind, seen, mut checks, sequences, writes, .. } = transaction;
        // Another log begins whatever the records are.
        while kind != Kind::AcceptLog {
            let last = checks.len();
            let never = Check::NotAfter(Timestamp::EPOCH);
            let judged = Transaction {
                id: new_id(),
                kind,
                seen: seen.clone(),
                repetition: None,
                checks: checks.iter().cloned().chain([never]).collect(),
                sequences: Vec::new(),
                writes: Vec::new(),
                entries: Vec::new(),
                erases: false,
            };
            let outcome = self.backend.commit(tenant, op, judged).await?;
            let Decision::Failed { check, found } = &outcome.decision else {
                return Err(StoreError::corrupt(op, "the store committed a dry run"));
            };
            if *check == last {
                break;
            }
            match (checks.get(*check), found) {
                (Some(Check::None { range, .. }), Some(row))
                    if self.is_replaced(range.table, &row.columns) =>
                {
                    // One that is always met, so that the others keep their positions.
                    let (range, most) = (range.clone(), u32::MAX.into());
                    let met = Check::Count { range, except: Vec::new(), least: 0, most };
                    if let Some(slot) = checks.get_mut(*check) {
                        *slot = met;
                    }
                }
                _ => return Ok(outcome),
            }
        }
        self.replace(&writes);
        let Reading { clock, head, .. } = self.backend.read(tenant, op, Vec::new()).await?;
        let numbers = vec![0; sequences.len() + usize::from(kind == Kind::AcceptLog)];
        let assigned = Assigned { at: time_of_read(clock, head.at), numbers };
        Ok(Outcome { head, decision: Decision::Committed(assigned) })
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Box<dyn Snapshot>> {
        self.backend.snapshot(tenant).await
    }

    async fn load(&self) -> Result<Box<dyn Load>> {
        Err(StoreError::misconfigured("load", "a dry run loads nothing"))
    }

    async fn tenants(&self) -> Result<Vec<TenantId>> {
        self.backend.tenants().await
    }

    async fn changes(&self) -> Result<Changes> {
        self.backend.changes().await
    }

    async fn ready(&self) -> Result<Readiness> {
        self.backend.ready().await
    }
}
