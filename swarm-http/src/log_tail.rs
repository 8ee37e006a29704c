//! The last entries of a tenant's log, read by one task for all followers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use swarm_core::domain::Seq;
use swarm_core::service::Followed;
use swarm_core::{Error, Tenant};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

/// Maximum number of entries that are kept.
const MAX_KEPT: usize = 1_024;

/// How often the log is looked at for commits of other processes.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time for which commits are gathered before the followers are woken.
const GATHERING: Duration = Duration::from_millis(50);

/// How often the log is looked at while the store fails.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The tail of one tenant's log. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Shared>);

struct Shared {
    recent: watch::Sender<Arc<Recent>>,
    has_commits: Notify,
    /// Whether a task reads the log.
    is_read: Mutex<bool>,
}

/// The last entries of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// The number of the log; 0 until it was read.
    log: u64,
    /// The number after which all entries up to `end` are kept.
    start: Seq,
    /// The number of the last entry.
    pub(crate) end: Seq,
    entries: VecDeque<Arc<Followed>>,
}

impl Recent {
    /// The entries with a higher number than `seq`, in the log with this number. `None` if they are not kept, or another
    /// log has begun.
    pub(crate) fn after(
        &self,
        log: u64,
        seq: Seq,
    ) -> Option<impl Iterator<Item = &Arc<Followed>> + use<'_>> {
        if self.log != 0 && (self.log != log || self.start > seq) {
            return None;
        }
        let first = self.entries.partition_point(|entry| entry.line.seq <= seq);
        Some(self.entries.range(first..))
    }

    /// Appends entries up to the one with the number `end`.
    fn append(&mut self, entries: Vec<Followed>, end: Seq) {
        self.entries.extend(entries.into_iter().map(Arc::new));
        while self.entries.len() > MAX_KEPT {
            self.start = self.entries.pop_front().map_or(self.start, |entry| entry.line.seq);
        }
        self.end = end;
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            recent: watch::Sender::default(),
            has_commits: Notify::new(),
            is_read: Mutex::default(),
        }
    }
}

impl Tail {
    /// Follows the log of the tenant. Entries that are appended from now on are noticed.
    pub(crate) fn follow(&self, tenant: &Tenant) -> watch::Receiver<Arc<Recent>> {
        let Self(shared) = self;
        let mut is_read = shared.is_read.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = shared.recent.subscribe();
        if !std::mem::replace(&mut is_read, true) {
            shared.recent.send_replace(Arc::default());
            let (shared, tenant) = (Arc::clone(shared), tenant.clone());
            tokio::spawn(async move { shared.read(&tenant).await });
        }
        receiver
    }

    /// Tells the followers of a commit of this process, which they would notice later.
    pub(crate) fn notice(&self) {
        let Self(shared) = self;
        if shared.recent.receiver_count() > 0 {
            shared.has_commits.notify_one();
        }
    }
}

impl Shared {
    /// Reads the log until nobody follows it.
    async fn read(&self, tenant: &Tenant) {
        while !self.ends() {
            let pause = match self.refresh(tenant).await {
                Ok(true) => GATHERING,
                Ok(false) => Duration::ZERO,
                // Whoever asks the store is told of its failure.
                Err(_) => AFTER_FAILURE,
            };
            sleep(pause).await;
            let _ = timeout(INTERVAL, self.has_commits.notified()).await;
        }
    }

    /// Returns whether nobody follows the log. Then the next follower starts another task.
    fn ends(&self) -> bool {
        let mut is_read = self.is_read.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = self.recent.receiver_count() == 0;
        *is_read = !ends;
        ends
    }

    /// Reads the entries that were appended. Returns whether there are any.
    async fn refresh(&self, tenant: &Tenant) -> Result<bool, Error> {
        const ROWS: usize = 1_000;
        let position = tenant.log_position().await?;
        let mut recent = Recent::clone(&self.recent.borrow());
        if recent.log != position.log || recent.end > position.size {
            // The log before ends here.
            let (log, end) = (position.log, position.size);
            recent = Recent { log, start: end, end, entries: VecDeque::new() };
            self.recent.send_replace(Arc::new(recent));
            return Ok(true);
        }
        if recent.end == position.size {
            return Ok(false);
        }
        let missed = position.size.0.saturating_sub(recent.end.0);
        if missed > MAX_KEPT as u64 {
            let start = Seq(position.size.0.saturating_sub(MAX_KEPT as u64));
            recent = Recent { start, end: start, entries: VecDeque::new(), ..recent };
        }
        while recent.end < position.size {
            let left = position.size.0.saturating_sub(recent.end.0);
            let count = usize::try_from(left).unwrap_or(ROWS).min(ROWS);
            let end = Seq(recent.end.0.saturating_add(count as u64));
            recent.append(tenant.entries_after(recent.end, count).await?, end);
        }
        self.recent.send_replace(Arc::new(recent));
        Ok(true)
    }
}
