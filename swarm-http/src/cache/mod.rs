//! The cache of answers to public reads, which are revalidated by the position of the log.
//!
//! Every commit that changes a public record appends to the tenant's log (API.md, 11). So an answer is
//! valid while the log is at the position at which the answer was made, and one cheap call revalidates
//! it. An answer about one session also stays valid while only takes of other sessions are appended, and
//! one that shows scores until an outcome or a name changes.
//! Concurrent readers of a large answer share the work: one makes it on the worker pool, the others
//! wait for the result.

mod key;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::StatusCode;
use quick_cache::sync::{Cache, DefaultLifecycle, EntryAction, EntryResult};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use swarm_core::Error;
use swarm_core::service::LogEnd;
use swarm_core::store::LogPosition;
use tokio::time::{Instant, timeout};

use crate::response::caching::prepared;
use crate::response::{Answer, Reply, Scope};
use crate::tenants::ServedTenant;
use crate::workers::WorkerPool;

pub(crate) use key::CacheKey;

/// Capacity, in bytes. The compressed form of an answer counts as half its size.
const CAPACITY: u64 = 64 << 20;

/// Overhead per cached answer, in bytes, for its headers.
const OVERHEAD: usize = 2 << 10;

/// Expected number of cached answers.
const EXPECTED_ANSWERS: usize = 10_000;

/// Maximum wait for another reader that makes the same answer.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Minimum size of an answer that is compressed on the worker pool, in bytes.
const LARGE: usize = 16 << 10;

/// A request for a cacheable answer.
pub(crate) struct CacheRequest {
    pub(crate) served: Arc<ServedTenant>,
    pub(crate) key: CacheKey,
    /// Whether the client accepts gzip.
    pub(crate) gzip: bool,
    /// Whether the size of the answer depends on what is stored, so that the worker pool makes it.
    pub(crate) is_large: bool,
}

/// Minimum size of an answer that is forgotten when it is idle, in bytes.
const HEAVY: usize = 64 << 10;

/// How long a heavy answer is kept after it was last asked for.
const MAX_IDLE: Duration = Duration::from_secs(4);

/// The cached answers.
pub(crate) struct AnswerCache {
    answers: Cache<CacheKey, Arc<CachedAnswer>, AnswerWeighter>,
    workers: Arc<WorkerPool>,
    /// The beginning of the times of [`CachedAnswer::used`].
    begun: Instant,
}

struct CachedAnswer {
    answer: Answer,
    /// The log position read before the answer was made, or at the last revalidation.
    log: LogPosition,
    /// The last entry at that position; only for an answer about one session.
    end: Option<LogEnd>,
    /// When the position was requested.
    asked: Instant,
    /// When it was last asked for, if that was later, in milliseconds.
    used: AtomicU64,
}

impl CachedAnswer {
    fn new(answer: Answer, log: LogPosition, end: Option<LogEnd>, asked: Instant) -> Arc<Self> {
        Arc::new(Self { answer, log, end, asked, used: AtomicU64::new(0) })
    }
}

#[derive(Clone)]
struct AnswerWeighter;

impl Weighter<CacheKey, Arc<CachedAnswer>> for AnswerWeighter {
    fn weight(&self, key: &CacheKey, cached: &Arc<CachedAnswer>) -> u64 {
        let body = cached.answer.body.len();
        (OVERHEAD + key.len() + body + body / 2) as u64
    }
}

impl AnswerCache {
    pub(crate) fn new(workers: Arc<WorkerPool>) -> Self {
        // A single shard: capacity is divided among shards, and each would have to hold the largest answer.
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(EXPECTED_ANSWERS)
            .weight_capacity(CAPACITY)
            .build();
        let answers = match options {
            Ok(options) => {
                let (hasher, lifecycle) =
                    (DefaultHashBuilder::default(), DefaultLifecycle::default());
                Cache::with_options(options, AnswerWeighter, hasher, lifecycle)
            }
            Err(_both_capacities_are_given) => {
                Cache::with_weighter(EXPECTED_ANSWERS, CAPACITY, AnswerWeighter)
            }
        };
        Self { answers, workers, begun: Instant::now() }
    }

    /// Forgets heavy answers that nobody asks for any more: those that slow readers made the server make take memory.
    pub(crate) fn forget_idle(&self) {
        let now = Instant::now();
        self.answers.retain(|_, cached| {
            let used = self.begun + Duration::from_millis(cached.used.load(Ordering::Relaxed));
            let idle = now.saturating_duration_since(used.max(cached.asked));
            cached.answer.body.len() < HEAVY || idle < MAX_IDLE
        });
    }

    /// The valid cached answer, or else the one that `make` makes.
    pub(crate) async fn answer(
        &self,
        reader: CacheRequest,
        make: impl FnOnce() -> BoxFuture<'static, Reply> + Send,
    ) -> Reply {
        let asked = Instant::now();
        let log = reader.served.tenant().log_position().await?;
        if let Some(answer) = self.valid(&reader, &log, asked).await? {
            return Ok(self.compressed(&reader, answer).await);
        }
        if reader.is_large {
            // Boxed, because few answers are made: otherwise the future of each request would have room for it.
            return Box::pin(self.made_once(reader, make, log, asked)).await;
        }
        let answer = prepared(make().await?, false);
        if answer.status == StatusCode::OK {
            let cached = CachedAnswer::new(answer.clone(), log, None, asked);
            self.answers.insert(reader.key, cached);
        }
        Ok(answer)
    }

    /// Makes a large answer on the worker pool, or takes that of another request that makes it at this time.
    async fn made_once(
        &self,
        reader: CacheRequest,
        make: impl FnOnce() -> BoxFuture<'static, Reply> + Send,
        mut log: LogPosition,
        mut asked: Instant,
    ) -> Reply {
        let CacheRequest { served, key, gzip, .. } = &reader;
        let (gzip, mut permit) = (*gzip, None);
        loop {
            let entry = self.answers.entry_async(key, |_, cached| {
                if cached.log == log || cached.asked >= asked {
                    EntryAction::Retain(cached.answer.clone())
                } else {
                    EntryAction::ReplaceWithGuard
                }
            });
            let guard = match timeout(MAX_WAIT, entry).await {
                Ok(EntryResult::Retained(answer)) => {
                    // Compressing needs a permit too; waiting for it while holding one could deadlock.
                    drop(permit);
                    return Ok(self.compressed(&reader, answer).await);
                }
                Ok(EntryResult::Replaced(guard, _) | EntryResult::Vacant(guard)) => Some(guard),
                Ok(EntryResult::Removed(..) | EntryResult::Timeout) | Err(_) => None,
            };
            let Some(guard) = guard else {
                let permit = match permit {
                    Some(permit) => permit,
                    None => self.workers.permit(served.jobs()).await,
                };
                let making = make();
                let alone = async move { making.await.map(|answer| prepared(answer, gzip)) };
                return self.workers.run_with(permit, alone).await;
            };
            permit = permit.or_else(|| self.workers.permit_now(served.jobs()));
            let Some(permit) = permit.take() else {
                // Release the entry while waiting, so that clients with free permits can make the answer.
                drop(guard);
                permit = Some(self.workers.permit(served.jobs()).await);
                asked = Instant::now();
                log = served.tenant().log_position().await?;
                if let Some(answer) = self.valid(&reader, &log, asked).await? {
                    drop(permit);
                    return Ok(self.compressed(&reader, answer).await);
                }
                continue;
            };
            let end = served.tenant().log_end(log.clone()).await?;
            let making = make();
            let work = async move { making.await.map(|answer| prepared(answer, gzip)) };
            let answer = self.workers.run_with(permit, work).await?;
            if answer.status == StatusCode::OK {
                // Fails if the entry was removed in the meantime.
                let _ = guard.insert(CachedAnswer::new(answer.clone(), log, end, asked));
            }
            return Ok(answer);
        }
    }

    /// The cached answer, if it is valid at this log position.
    async fn valid(
        &self,
        CacheRequest { served, key, .. }: &CacheRequest,
        log: &LogPosition,
        asked: Instant,
    ) -> Result<Option<Answer>, Error> {
        let Some(cached) = self.answers.get(key) else { return Ok(None) };
        if cached.log == *log {
            let used = asked.saturating_duration_since(self.begun).as_millis();
            cached.used.store(u64::try_from(used).unwrap_or(u64::MAX), Ordering::Relaxed);
            return Ok(Some(cached.answer.clone()));
        }
        // Boxed, because this happens only after a commit.
        Box::pin(self.revalidated(served, key, &cached, log, asked)).await
    }

    /// The answer, if the entries since then do not change it.
    async fn revalidated(
        &self,
        served: &ServedTenant,
        key: &CacheKey,
        cached: &CachedAnswer,
        log: &LogPosition,
        asked: Instant,
    ) -> Result<Option<Answer>, Error> {
        let tenant = served.tenant();
        let end = match (cached.answer.scope, &cached.end) {
            (Some(Scope::Session(session)), Some(end)) => {
                let Some(end) = tenant.revalidate(session, end, log).await? else {
                    return Ok(None);
                };
                Some(end)
            }
            (Some(Scope::Scores(state)), _)
                if served.scores().await.state(tenant).await? == state =>
            {
                None
            }
            _ => return Ok(None),
        };
        let answer = cached.answer.clone();
        let revalidated = CachedAnswer::new(answer.clone(), log.clone(), end, asked);
        self.answers.insert(key.clone(), revalidated);
        Ok(Some(answer))
    }

    /// Compresses a large answer on the worker pool, unless that was done before.
    async fn compressed(&self, reader: &CacheRequest, answer: Answer) -> Answer {
        if reader.gzip
            && answer.body.len() >= LARGE
            && let Some(encodings) = answer.encodings.clone().filter(|it| !it.has_gzip())
        {
            let body = answer.body.clone();
            let _ =
                self.workers.run(reader.served.jobs(), async move { encodings.gzip(&body) }).await;
        }
        answer
    }
}
