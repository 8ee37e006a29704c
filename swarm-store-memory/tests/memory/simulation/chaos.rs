//! Faults of calls on their way to a backend and back, by a seed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use swarm_core::store::backend::{Backend, CommitOutcome, Operation, Query, Reading, Transaction};
use swarm_core::store::{Interceptor, Result, async_trait};
use swarm_core::{StoreError, TenantId};
use swarm_testing::{ManualClock, moment};

/// Delays, losses, duplicated calls, and a clock that jumps; deterministic per seed.
pub(super) struct Chaos {
    dice: Mutex<fastrand::Rng>,
    clock: ManualClock,
    is_bad: AtomicBool,
}

#[async_trait]
impl Interceptor for Chaos {
    async fn read(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        queries: Vec<Query>,
    ) -> Result<Reading> {
        self.carry(op, true, || next.read(tenant, op, queries.clone())).await
    }

    /// A commit that has no [`Repetition`](swarm_core::store::backend::Repetition) is never sent twice.
    async fn commit(
        &self,
        next: &dyn Backend,
        tenant: &TenantId,
        op: Operation,
        transaction: Transaction,
    ) -> Result<CommitOutcome> {
        let repeats = transaction.repetition.is_some();
        self.carry(op, repeats, || next.commit(tenant, op, transaction.clone())).await
    }
}

impl Chaos {
    /// Without faults, until it [begins](Self::begin).
    pub(super) fn of(seed: u64) -> Self {
        Self {
            dice: Mutex::new(fastrand::Rng::with_seed(seed)),
            clock: ManualClock::at(moment("2026-11-21T12:00:00Z")),
            is_bad: AtomicBool::new(false),
        }
    }

    /// The clock that it moves.
    pub(super) fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// Starts the faults.
    pub(super) fn begin(&self) {
        self.is_bad.store(true, Ordering::Relaxed);
    }

    /// Stops the faults.
    pub(super) fn end(&self) {
        self.is_bad.store(false, Ordering::Relaxed);
    }

    /// A number below `sides`.
    pub(super) fn roll(&self, sides: usize) -> usize {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).usize(..sides)
    }

    /// Runs a call, with faults. `repeats`: a connection may resend the call when it got no answer.
    async fn carry<T, F>(&self, op: Operation, repeats: bool, call: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        if !self.is_bad.load(Ordering::Relaxed) {
            return call().await;
        }
        self.delay().await;
        self.move_clock();
        match self.roll(24) {
            0 => return Err(StoreError::unavailable(op, "lost on its way")),
            1 => {
                call().await?;
                return Err(StoreError::unavailable(op, "its answer was lost"));
            }
            2 | 3 if repeats => {
                call().await?;
                self.delay().await;
            }
            _ => {}
        }
        let answer = call().await;
        self.delay().await;
        answer
    }

    /// Yields to other tasks for some turns.
    async fn delay(&self) {
        for _ in 0..self.roll(6) {
            tokio::task::yield_now().await;
        }
    }

    /// Mostly forward, sometimes back, but never by the hour at which a store refuses.
    fn move_clock(&self) {
        let by = match self.roll(40) {
            0 => -3_000,
            1 => 2_000,
            other => i64::try_from(other).unwrap_or_default(),
        };
        self.clock.advance(by);
    }
}
