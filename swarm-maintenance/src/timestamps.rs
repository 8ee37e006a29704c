//! Requests timestamps of checkpoints.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::Error;
use swarm_core::domain::Seq;
use swarm_core::service::signed_log::{
    SignedCheckpoint, SignedLog, StampOutcome, TimestampAuthority,
};
use swarm_core::service::with_causes;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::directory::MaintainedTenant;
use crate::job::{Job, Next};

/// The time until an authority that gave no timestamp is asked again.
const RETRY: Duration = Duration::from_secs(60);

/// How long a round waits for an answer. One that comes later is noted by the next rounds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Requests a timestamp of the last checkpoint from the authority that the function returns for a tenant: when a session has
/// closed, is aggregated or published, and at the start for what happened before (API.md, 11.6). The server that signed such an entry
/// asks at once, any other one a minute later if there is no timestamp by then. Nothing else waits for the answer.
#[derive(Debug)]
pub struct TimestampCheckpoints<F> {
    authority: F,
    /// The request that is under way, if there is one.
    request: JoinSet<Requested>,
    /// The log, and its last entry for which a timestamp is stored or was found not to be needed.
    done: Option<(String, Seq)>,
    /// The entry to which the log was searched for sessions that another server closed.
    searched: Seq,
    /// The last such entry that was found, and the time when this server asks in the place of the other.
    found: Option<(Seq, Instant)>,
    /// The time of the next request, after one that failed.
    retry: Option<Instant>,
    /// Why the last request failed.
    failure: Option<String>,
}

/// A request that has ended: of which log and how many of its entries, and how.
type Requested = (String, Seq, Result<StampOutcome, Error>);

impl<F> TimestampCheckpoints<F> {
    /// A job for the authority that the function returns.
    pub fn new(authority: F) -> Self {
        let (request, searched) = (JoinSet::new(), Seq(0));
        Self { authority, request, done: None, searched, found: None, retry: None, failure: None }
    }

    async fn timestamp<T: MaintainedTenant>(
        &mut self,
        tenant: &T,
        log: &SignedLog,
        authority: Arc<dyn TimestampAuthority>,
    ) -> Result<Next, Error> {
        if self.request.is_empty() {
            let signed = match self.next_checkpoint(tenant, log).await? {
                Ok(signed) => signed,
                Err(next) => return Ok(next),
            };
            let log = log.clone();
            self.request.spawn(async move {
                let outcome = log.timestamp(&signed, &*authority).await;
                (signed.checkpoint.origin, Seq(signed.checkpoint.size), outcome)
            });
        }
        self.note_answer(tenant).await
    }

    /// The checkpoint that needs a timestamp now, or else when to look again.
    async fn next_checkpoint<T: MaintainedTenant>(
        &mut self,
        tenant: &T,
        log: &SignedLog,
    ) -> Result<Result<SignedCheckpoint, Next>, Error> {
        let Some(signed) = log.checkpoint().await? else { return Ok(Err(Next::Soon)) };
        let (origin, size) = (&signed.checkpoint.origin, Seq(signed.checkpoint.size));
        let is_behind = size < tenant.tenant().log_size().await?;
        let done = self.done.as_ref().filter(|(log, _)| log == origin).map(|(_, seq)| *seq);
        // What closed before the start is not known.
        let wanted = match done {
            None => {
                (self.searched, self.found) = (size, None);
                size
            }
            Some(_) => {
                self.search(log, size).await?;
                let due = self.found.filter(|(_, due)| Instant::now() >= *due);
                let due = due.map(|(closing, _)| closing);
                due.max(log.last_closing()).max(done).unwrap_or_default()
            }
        };
        if done.unwrap_or_default() >= wanted {
            self.done = Some((origin.clone(), wanted));
            let later = self.found.filter(|(closing, _)| *closing > wanted);
            let later = later.map(|(_, due)| due.saturating_duration_since(Instant::now()));
            let next = later.map_or(Next::Changed, Next::In);
            return Ok(Err(if is_behind { Next::Soon } else { next }));
        }
        if wanted > size {
            return Ok(Err(Next::Soon));
        }
        if let Some(wait) = self.retry.map(|retry| retry.saturating_duration_since(Instant::now()))
            && !wait.is_zero()
        {
            return Ok(Err(Next::In(wait)));
        }
        // Another server may have asked already.
        if log.has_timestamp(origin, wanted).await? {
            log.needs_no_timestamp();
            self.done = Some((origin.clone(), wanted));
            return Ok(Err(Next::Soon));
        }
        Ok(Ok(signed))
    }

    /// Searches the entries since the last search for sessions that were closed, perhaps by another server.
    async fn search(&mut self, log: &SignedLog, size: Seq) -> Result<(), Error> {
        if let Some(closing) = log.closing_between(self.searched, size).await? {
            self.found = Some((closing, Instant::now() + RETRY));
        }
        self.searched = size;
        Ok(())
    }

    /// Waits for the answer, but no longer than [`PATIENCE`], and records it.
    async fn note_answer<T: MaintainedTenant>(&mut self, tenant: &T) -> Result<Next, Error> {
        let (origin, size, outcome) = match timeout(PATIENCE, self.request.join_next()).await {
            Ok(Some(Ok(requested))) => requested,
            // A request whose task panicked is sent again.
            Ok(Some(Err(_)) | None) | Err(_) => return Ok(Next::Soon),
        };
        match outcome? {
            StampOutcome::Stored => {
                tracing::info!(tenant = %tenant.id(), %size, "checkpoint timestamped");
                (self.retry, self.failure) = (None, None);
                self.done = Some((origin, size));
                Ok(Next::Soon)
            }
            StampOutcome::Missed(why) => {
                if self.failure.as_ref() != Some(&why) {
                    tracing::warn!(tenant = %tenant.id(), %size, why, "checkpoint not timestamped");
                }
                (self.retry, self.failure) = (Some(Instant::now() + RETRY), Some(why));
                Ok(Next::In(RETRY))
            }
        }
    }
}

#[async_trait]
impl<T, F> Job<T> for TimestampCheckpoints<F>
where
    T: MaintainedTenant,
    F: Fn(&T) -> Option<Arc<dyn TimestampAuthority>> + Send + 'static,
{
    async fn round(&mut self, tenant: &T) -> Next {
        let Some(log) = tenant.signed_log().cloned() else { return Next::Changed };
        let Some(authority) = (self.authority)(tenant) else {
            log.needs_no_timestamp();
            return Next::Changed;
        };
        match self.timestamp(tenant, &log, authority).await {
            Ok(next) => next,
            Err(error) => {
                let tenant = tenant.id();
                tracing::error!(%tenant, error = with_causes(&error), "checkpoint not timestamped");
                // A store that refuses commits must not lead to a request every few seconds.
                self.retry = Some(Instant::now() + RETRY);
                Next::In(RETRY)
            }
        }
    }
}
