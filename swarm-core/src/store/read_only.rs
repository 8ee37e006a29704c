//! An [`Interceptor`] that refuses every commit.

use super::backend::{Backend, CommitOutcome, Load, Operation, Transaction};
use super::{Interceptor, Result, StoreError, StoreErrorKind, async_trait};
use crate::domain::TenantId;

/// Refuses every commit, load and removal with [`StoreErrorKind::ReadOnly`] and passes reads on, for example to inspect a restored copy:
/// see [`Store::intercepted`](super::Store::intercepted).
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

fn refused<T>(op: Operation) -> Result<T> {
    Err(StoreError::new(StoreErrorKind::ReadOnly, op, "opened for reading alone"))
}

#[async_trait]
impl Interceptor for ReadOnly {
    async fn commit(
        &self,
        _: &dyn Backend,
        _: &TenantId,
        op: Operation,
        _: Transaction,
    ) -> Result<CommitOutcome> {
        refused(op)
    }

    async fn load(&self, _: &dyn Backend) -> Result<Box<dyn Load>> {
        refused("load")
    }

    async fn remove(&self, _: &dyn Backend, _: &TenantId) -> Result<()> {
        refused("remove")
    }
}
