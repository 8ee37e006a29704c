//! The last entries of a tenant's log, read by one task for all followers.

use std::array;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use swarm_core::domain::Seq;
use swarm_core::service::{Followed, LogFilter};
use swarm_core::{Error, Tenant};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Maximum number of entries that are kept.
const MAX_KEPT: usize = 1_024;

/// How often the log is looked at for commits of other processes.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time for which commits are gathered before the followers are woken.
const GATHERING: Duration = Duration::from_millis(50);

/// The followers are woken in this many groups, which share the time of [`GATHERING`]: if a thousand were woken at once, the next
/// request would wait for all of them.
const GROUPS: usize = 25;

/// Maximum number of texts of streams that are kept for other streams.
const MAX_TEXTS: usize = 16;

/// The longest of these texts, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// How often the log is looked at while the store fails.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The tail of one tenant's log. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Shared>);

struct Shared {
    /// What each group of followers knows.
    groups: [watch::Sender<Arc<Recent>>; GROUPS],
    /// The number of followers so far, which says the group of the next one.
    followers: AtomicUsize,
    has_commits: Notify,
    /// Whether a task reads the log.
    is_read: Mutex<bool>,
}

/// The last entries of a log.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The number of the log; 0 until it was read.
    log: u64,
    /// The number after which all entries up to `end` are kept.
    start: Seq,
    /// The number of the last entry.
    pub(crate) end: Seq,
    entries: VecDeque<Arc<Followed>>,
    /// What streams have been sent of these entries.
    texts: Mutex<Vec<StreamText>>,
}

/// The events of the entries after a number that a filter selects.
#[derive(Debug)]
struct StreamText {
    after: Seq,
    filter: LogFilter,
    text: Bytes,
}

impl Recent {
    /// The same entries, without texts.
    fn copy(&self) -> Self {
        Self {
            log: self.log,
            start: self.start,
            end: self.end,
            entries: self.entries.clone(),
            texts: Mutex::default(),
        }
    }

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

    /// The events of the entries with a higher number than `seq` that the filter selects, in the log with this number. `None` if
    /// there are more than `most` such entries, they are not kept, or another log has begun.
    pub(crate) fn text_near(
        &self,
        log: u64,
        seq: Seq,
        filter: &LogFilter,
        most: u64,
    ) -> Option<Bytes> {
        let entries = self.after(log, seq)?;
        if self.end.0.saturating_sub(seq.0) > most {
            return None;
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |text: &&StreamText| text.after == seq && text.filter == *filter;
        if let Some(found) = texts.iter().find(is_it) {
            return Some(found.text.clone());
        }
        let text = Bytes::from(event_text(entries.map(|entry| &**entry), filter));
        if texts.len() < MAX_TEXTS && text.len() <= MAX_TEXT {
            texts.push(StreamText { after: seq, filter: filter.clone(), text: text.clone() });
        }
        Some(text)
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

/// The server-sent events of the entries that the filter selects.
pub(crate) fn event_text<'a>(
    entries: impl Iterator<Item = &'a Followed>,
    filter: &LogFilter,
) -> String {
    let mut text = String::new();
    for Followed { line, .. } in entries.filter(|entry| filter.fits(entry)) {
        let (seq, event, data) = (line.seq, line.entry.event(), line.text());
        let _ = write!(text, "id: {seq}\nevent: {event}\ndata: {data}\n\n");
    }
    text
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            groups: array::from_fn(|_| watch::Sender::default()),
            followers: AtomicUsize::default(),
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
        let group = shared.followers.fetch_add(1, Ordering::Relaxed) % GROUPS;
        let [first, ..] = &shared.groups;
        let receiver = shared.groups.get(group).unwrap_or(first).subscribe();
        if !std::mem::replace(&mut is_read, true) {
            let unread = Arc::<Recent>::default();
            for group in &shared.groups {
                group.send_replace(Arc::clone(&unread));
            }
            let (shared, tenant) = (Arc::clone(shared), tenant.clone());
            tokio::spawn(async move { shared.read(&tenant).await });
        }
        receiver
    }

    /// Tells the followers of a commit of this process, which they would notice later.
    pub(crate) fn notice(&self) {
        let Self(shared) = self;
        if shared.is_followed() {
            shared.has_commits.notify_one();
        }
    }
}

impl Shared {
    /// Reads the log until nobody follows it.
    async fn read(&self, tenant: &Tenant) {
        let mut recent = Arc::<Recent>::default();
        while !self.ends() {
            match self.newer(tenant, &recent).await {
                Ok(Some(newer)) => {
                    recent = Arc::new(newer);
                    self.wake_followers(&recent).await;
                }
                Ok(None) => {}
                // Whoever asks the store is told of its failure.
                Err(_) => sleep(AFTER_FAILURE).await,
            }
            let _ = timeout(INTERVAL, self.has_commits.notified()).await;
        }
    }

    /// Tells one group of followers after another. Takes the time in which the next commits are gathered.
    async fn wake_followers(&self, recent: &Arc<Recent>) {
        let begin = Instant::now();
        let followed = self.groups.iter().filter(|group| group.receiver_count() > 0).count();
        let step = GATHERING / u32::try_from(followed.max(1)).unwrap_or(u32::MAX);
        let mut next = begin;
        for group in &self.groups {
            // Also to a group without followers: the next follower of the group begins with this.
            group.send_replace(Arc::clone(recent));
            if group.receiver_count() > 0 {
                next += step;
                sleep_until(next).await;
            }
        }
        sleep_until(begin + GATHERING).await;
    }

    fn is_followed(&self) -> bool {
        self.groups.iter().any(|group| group.receiver_count() > 0)
    }

    /// Returns whether nobody follows the log. Then the next follower starts another task.
    fn ends(&self) -> bool {
        let mut is_read = self.is_read.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = !self.is_followed();
        *is_read = !ends;
        ends
    }

    /// The end of the log, with the entries that were appended since; `None` if there are none.
    async fn newer(&self, tenant: &Tenant, recent: &Recent) -> Result<Option<Recent>, Error> {
        const ROWS: usize = 1_000;
        let position = tenant.log_position().await?;
        if recent.log != position.log || recent.end > position.size {
            // The log before ends here.
            let (log, end) = (position.log, position.size);
            return Ok(Some(Recent { log, start: end, end, ..Recent::default() }));
        }
        if recent.end == position.size {
            return Ok(None);
        }
        let mut newer = recent.copy();
        let missed = position.size.0.saturating_sub(recent.end.0);
        if missed > MAX_KEPT as u64 {
            let start = Seq(position.size.0.saturating_sub(MAX_KEPT as u64));
            newer = Recent { log: recent.log, start, end: start, ..Recent::default() };
        }
        while newer.end < position.size {
            let left = position.size.0.saturating_sub(newer.end.0);
            let count = usize::try_from(left).unwrap_or(ROWS).min(ROWS);
            let end = Seq(newer.end.0.saturating_add(count as u64));
            newer.append(tenant.entries_after(newer.end, count).await?, end);
        }
        Ok(Some(newer))
    }
}
