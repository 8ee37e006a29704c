//! How much of what all clients use one client may have at a time.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task_local;

task_local! {
    static SHARE: Share;
}

/// How many processors there are for all.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// The share of a client in the threads that do slow work. Clones are of the same client.
#[derive(Clone, Debug)]
pub(crate) struct Share(Arc<Semaphore>);

impl Default for Share {
    /// As many threads as there are processors: half of all.
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(processors())))
    }
}

impl Share {
    /// Does the work of a connection for the client.
    pub(crate) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        SHARE.scope(self, work).await
    }

    /// Whether the client has threads at this moment.
    pub(crate) fn is_used(&self) -> bool {
        self.0.available_permits() < processors()
    }
}

/// A thread of a client's share. Nobody has it where the work is no client's.
#[derive(Debug)]
pub(crate) struct ShareOfThreads(
    #[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>,
);

impl ShareOfThreads {
    /// Waits until the client whose work this is has a thread left.
    pub(crate) async fn of_this_client() -> Self {
        match SHARE.try_with(Share::clone) {
            Ok(share) => Self(share.0.acquire_owned().await.ok()),
            Err(_of_nobody) => Self(None),
        }
    }

    /// The same, if there is one left now.
    pub(crate) fn now() -> Option<Self> {
        match SHARE.try_with(Share::clone) {
            Ok(share) => share.0.try_acquire_owned().ok().map(|permit| Self(Some(permit))),
            Err(_of_nobody) => Some(Self(None)),
        }
    }
}
