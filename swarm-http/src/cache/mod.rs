//! Answers of public reads, cached until the public may see something else.
//!
//! Whatever changes what the public may see adds to the tenant's log in the same commit (API.md, 11). So an
//! answer is valid as long as the log stands where it stood when the answer was made, which is cheap to ask
//! for; a large one of a session also while only takes of other sessions are added. Concurrent readers of
//! one answer share the work: one of them asks for the position, and makes the answer where there is none;
//! those that were already waiting when it asked get the same result.

mod lru;
mod workers;

use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::StatusCode;
use swarm_core::service::LogEnd;
use swarm_core::store::LogPosition;
use swarm_core::{Error, Tenant};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout};

use crate::response::caching::shared;
use crate::response::{Answer, Reply};
use crate::share::ClientPermit;
use crate::tenants::ServedTenant;

use lru::{LARGE, Lru, Place};

pub(crate) use lru::Question;
pub(crate) use workers::WorkerPool;

/// How long a reader waits for another reader of the same answer before it goes on alone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who asks.
pub(crate) struct Reader {
    /// Whom.
    pub(crate) served: Arc<ServedTenant>,
    pub(crate) question: Question,
    /// Whether the answer may be compressed.
    pub(crate) gzip: bool,
}

/// The cached answers.
pub(crate) struct AnswerCache {
    lru: SyncMutex<Lru<AnswerSlot>>,
    workers: Arc<WorkerPool>,
}

/// Where an answer is cached, and where its readers wait for each other.
type AnswerSlot = Arc<Mutex<Option<CachedAnswer>>>;

struct CachedAnswer {
    answer: Answer,
    /// Where the log stood before the answer was made, or when it was seen to be unchanged.
    log: LogPosition,
    /// The same with the last row, of a large answer.
    end: Option<LogEnd>,
    /// When that was last asked for.
    asked: Instant,
}

impl CachedAnswer {
    /// Whether it is right still, now that the log stands here: either it stands where it stood, or
    /// what was added says nothing of the one session that is shown.
    async fn is_valid(&mut self, tenant: &Tenant, log: &LogPosition) -> Result<bool, Error> {
        if self.log == *log {
            return Ok(true);
        }
        let (Some(session), Some(end)) = (self.answer.session, &self.end) else { return Ok(false) };
        let Some(end) = tenant.unchanged(session, end, log).await? else { return Ok(false) };
        (self.log, self.end) = (log.clone(), Some(end));
        Ok(true)
    }
}

/// What a reader does at a slot.
enum Turn {
    /// Take what is there.
    Read(Answer),
    /// Make the answer: the log stands here, and was asked for at this time.
    Make(OwnedMutexGuard<Option<CachedAnswer>>, LogPosition, Instant),
    /// Go on without the others, who take too long.
    Alone,
}

/// Waits for the slot, and finds out whether what is there is right still.
async fn turn(slot: &AnswerSlot, tenant: &Tenant) -> Result<Turn, Error> {
    let mut asked = Instant::now();
    let mut cached = match Arc::clone(slot).try_lock_owned() {
        Ok(cached) => cached,
        Err(_) => {
            let Ok(cached) = timeout(PATIENCE, Arc::clone(slot).lock_owned()).await else {
                return Ok(Turn::Alone);
            };
            if let Some(cached) = cached.as_ref().filter(|cached| cached.asked >= asked) {
                return Ok(Turn::Read(cached.answer.clone()));
            }
            asked = Instant::now();
            cached
        }
    };
    let log = tenant.log_position().await?;
    if let Some(cached) = cached.as_mut()
        && cached.is_valid(tenant, &log).await?
    {
        cached.asked = asked;
        return Ok(Turn::Read(cached.answer.clone()));
    }
    Ok(Turn::Make(cached, log, asked))
}

impl AnswerCache {
    pub(crate) fn new(workers: Arc<WorkerPool>) -> Self {
        Self { lru: SyncMutex::default(), workers }
    }

    /// The answer to a reader; `make` makes it when it is not cached.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        reader: Reader,
        make: impl FnOnce() -> BoxFuture<'static, Reply> + Send,
    ) -> Reply {
        let Reader { served, question, gzip } = reader;
        let Some(Place { slot, is_large }) = self.lru().place(&question) else {
            let answer = make().await?;
            self.lru().set_size(&question, answer.body.len());
            return Ok(answer);
        };
        let mut share = None;
        loop {
            let (cached, log, asked) = match turn(&slot, served.tenant()).await? {
                Turn::Read(answer) => {
                    drop(share);
                    return Ok(self.encoded(answer, gzip).await);
                }
                Turn::Make(cached, log, asked) => (cached, log, asked),
                Turn::Alone => {
                    let share = match share {
                        Some(share) => share,
                        None => ClientPermit::acquire().await,
                    };
                    return self.workers.run_with(share, make()).await;
                }
            };
            if is_large && share.is_none() {
                share = ClientPermit::try_acquire();
                if share.is_none() {
                    // Clients that have threads left do not wait for this one, but take the turn.
                    drop(cached);
                    share = Some(ClientPermit::acquire().await);
                    continue;
                }
            }
            let end = if is_large { served.tenant().log_end(log.clone()).await? } else { None };
            let making = Arc::clone(self).make(question, cached, (log, end, asked), make());
            let answer = match share {
                Some(share) => self.workers.run_with(share, making).await,
                None => making.await,
            };
            return Ok(self.encoded(answer?, gzip).await);
        }
    }

    /// Makes an answer and keeps it. Waiting readers get a large one even if the one that asked has
    /// gone.
    async fn make(
        self: Arc<Self>,
        question: Question,
        mut cached: OwnedMutexGuard<Option<CachedAnswer>>,
        (log, end, asked): (LogPosition, Option<LogEnd>, Instant),
        make: BoxFuture<'static, Reply>,
    ) -> Reply {
        *cached = None;
        let answer = make.await?;
        if answer.status != StatusCode::OK {
            return Ok(answer);
        }
        let answer = shared(answer);
        self.lru().set_size(&question, answer.body.len());
        *cached = Some(CachedAnswer { answer: answer.clone(), log, end, asked });
        Ok(answer)
    }

    /// Compressing a large answer is slow, so it is done apart from other requests, as making it is.
    async fn encoded(&self, answer: Answer, gzip: bool) -> Answer {
        if gzip
            && answer.body.len() >= LARGE
            && let Some(encodings) = answer.encodings.clone().filter(|it| !it.has_gzip())
        {
            let body = answer.body.clone();
            let _ = self.workers.run(async move { encodings.gzip(&body) }).await;
        }
        answer
    }

    fn lru(&self) -> MutexGuard<'_, Lru<AnswerSlot>> {
        self.lru.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
