//! Large answers of public reads, kept until the public may see something else.
//!
//! Whatever changes what the public may see adds to the tenant's log in the same commit (contract,
//! section 10). So an answer that was made at a certain size of the log is valid as long as the log
//! has that size, which is cheap to ask for. Concurrent readers of one answer share the work: one
//! of them asks for the size, and makes the answer where there is none; those that were already
//! waiting when it asked get the same result.

mod aside;
mod shelf;

use std::sync::{Arc, Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout};
use warp::http::StatusCode;

use crate::response::{Answer, Reply};
use crate::tenants::ServedTenant;

use shelf::{LogState, Shelf};

pub(crate) use aside::Aside;
pub(crate) use shelf::Question;

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

/// The answers that are kept.
pub(crate) struct KeptAnswers {
    shelf: SyncMutex<Shelf<Place>>,
    aside: Arc<Aside>,
}

/// Where an answer is kept, and where its readers wait for each other.
type Place = Arc<Mutex<Option<Kept>>>;

struct Kept {
    answer: Answer,
    /// The state of the log before the answer was made.
    log: LogState,
    /// When the size of the log was last asked for.
    asked: Instant,
}

impl KeptAnswers {
    pub(crate) fn new(aside: Arc<Aside>) -> Self {
        Self { shelf: SyncMutex::default(), aside }
    }

    /// The answer to a reader; `make` makes it when it is not cached.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        reader: Reader,
        make: BoxFuture<'static, Reply>,
    ) -> Reply {
        let Reader { served, question, gzip } = reader;
        let Some(place) = self.shelf().place(&question) else {
            let answer = make.await?;
            self.shelf().note(&question, answer.body.len());
            return Ok(answer);
        };
        let arrived = Instant::now();
        let Ok(mut kept) = timeout(PATIENCE, place.lock_owned()).await else {
            return self.aside.run(make).await;
        };
        if let Some(kept) = kept.as_ref().filter(|kept| kept.asked >= arrived) {
            let answer = kept.answer.clone();
            return Ok(self.encoded(answer, gzip).await);
        }
        let asked = Instant::now();
        let size = served.tenant().log_size().await?;
        let log = self.shelf().see(&question, size);
        if let Some(kept) = kept.as_mut().filter(|kept| kept.log == log) {
            kept.asked = asked;
            let answer = kept.answer.clone();
            return Ok(self.encoded(answer, gzip).await);
        }
        let making = Arc::clone(self).keep(question, kept, (log, asked), make);
        let answer = self.aside.run(making).await?;
        Ok(self.encoded(answer, gzip).await)
    }

    /// Makes an answer and keeps it. Waiting readers get it even if the one that asked has gone.
    async fn keep(
        self: Arc<Self>,
        question: Question,
        mut kept: OwnedMutexGuard<Option<Kept>>,
        (log, asked): (LogState, Instant),
        make: BoxFuture<'static, Reply>,
    ) -> Reply {
        *kept = None;
        let answer = make.await?;
        if answer.status != StatusCode::OK {
            return Ok(answer);
        }
        let answer = answer.with_encodings();
        self.shelf().settle(&question, answer.body.len());
        *kept = Some(Kept { answer: answer.clone(), log, asked });
        Ok(answer)
    }

    /// Compression is slow, so it is done once.
    async fn encoded(&self, answer: Answer, gzip: bool) -> Answer {
        if gzip && !answer.encodings().has_gzip() {
            let (encodings, body) = (answer.encodings(), answer.body.clone());
            let _ = self.aside.run(async move { encodings.gzip(&body) }).await;
        }
        answer
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf<Place>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
