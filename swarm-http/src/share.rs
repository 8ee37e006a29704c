//! The share of one client in the threads that do slow work.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task_local;

task_local! {
    static SHARE: ClientShare;
}

/// How many processors there are for all.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// The share of a client in the threads that do slow work: at most as many at once as there are processors, which is
/// half of all. Clones belong to the same client.
///
/// A server runs what it does for a client within [`scope`](Self::scope); without one, no share applies.
#[derive(Clone, Debug)]
pub struct ClientShare(Arc<Semaphore>);

impl Default for ClientShare {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(processors())))
    }
}

impl ClientShare {
    /// Runs `work` on behalf of the client.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        SHARE.scope(self, work).await
    }

    /// Whether the client holds a thread at this moment.
    pub fn is_used(&self) -> bool {
        self.0.available_permits() < processors()
    }
}

/// A permit for one thread of a client's share, given back when dropped.
#[derive(Debug)]
pub struct ClientPermit(#[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

impl ClientPermit {
    /// Waits until the client in whose [scope](ClientShare::scope) this runs has a thread left.
    pub async fn acquire() -> Self {
        match SHARE.try_with(ClientShare::clone) {
            Ok(share) => Self(share.0.acquire_owned().await.ok()),
            Err(_of_nobody) => Self(None),
        }
    }

    /// The same, if there is one left now.
    pub(crate) fn try_acquire() -> Option<Self> {
        match SHARE.try_with(ClientShare::clone) {
            Ok(share) => share.0.try_acquire_owned().ok().map(|permit| Self(Some(permit))),
            Err(_of_nobody) => Some(Self(None)),
        }
    }
}
