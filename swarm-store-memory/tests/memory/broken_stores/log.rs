//! Faults of the log.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use swarm_core::domain::{AttemptId, LogRow, Logged, Seq, SessionId, Timestamp};
use swarm_core::rules::Filing;
use swarm_core::store::{Act, Filed, LogPosition, Result, Saved, SessionChange, async_trait};

use crate::broken_stores::broken::{Fault, TenantStores};
use crate::broken_stores::tenants::fault;

fault!(SizeOneTooMuch: log_position(stores) -> LogPosition {
    let position = stores.own.log_position().await?;
    Ok(LogPosition { size: Seq(position.size.0 + 1), ..position })
});

fault!(TakesUnlogged: log(stores, after: Seq, limit: usize) -> Vec<LogRow> {
    let mut rows = stores.own.log(after, limit).await?;
    rows.retain(|row| !matches!(row.logged, Logged::Take(_)));
    Ok(rows)
});

fault!(RowsOf1970: log(stores, after: Seq, limit: usize) -> Vec<LogRow> {
    let rows = stores.own.log(after, limit).await?.into_iter();
    Ok(rows.map(|row| LogRow { at: Timestamp::EPOCH, ..row }).collect())
});

fault!(LimitUnasked: log(stores, after: Seq, _limit: usize) -> Vec<LogRow> {
    stores.own.log(after, usize::MAX).await
});

fault!(ActsOnTheFirstSession: acts_on(stores, _session: SessionId) -> Vec<LogRow> {
    stores.own.acts_on(SessionId(1)).await
});

/// An acceptance is recorded as that of a store.
#[derive(Default)]
pub(crate) struct KeyTakenForTheStore;

#[async_trait]
impl Fault for KeyTakenForTheStore {
    async fn accept_key(&self, stores: &TenantStores, act: &Act) -> Result<()> {
        stores.own.accept_store(act).await
    }
}

/// A row even for refused filings and replays.
#[derive(Default)]
pub(crate) struct RowForEachAttempt {
    more: AtomicU64,
    attempts: Mutex<HashSet<AttemptId>>,
}

#[async_trait]
impl Fault for RowForEachAttempt {
    async fn file(&self, stores: &TenantStores, filing: &Filing) -> Result<Filed> {
        let again = !self.attempts.lock().unwrap().insert(filing.attempt());
        self.more.fetch_add(u64::from(again), Ordering::SeqCst);
        stores.own.file(filing).await
    }

    async fn save_session(&self, stores: &TenantStores, change: &SessionChange) -> Result<Saved> {
        let saved = stores.own.save_session(change).await?;
        self.more.fetch_add(u64::from(saved != Saved::Saved), Ordering::SeqCst);
        Ok(saved)
    }

    async fn log_position(&self, stores: &TenantStores) -> Result<LogPosition> {
        let position = stores.own.log_position().await?;
        let size = Seq(position.size.0 + self.more.load(Ordering::SeqCst));
        Ok(LogPosition { size, ..position })
    }
}
