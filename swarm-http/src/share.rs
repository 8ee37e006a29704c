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

    /// Waits until the client whose work this is has a thread left of its share; there is nothing to wait for
    /// where it is nobody's.
    pub(crate) async fn of_this_client() -> Option<OwnedSemaphorePermit> {
        let share = SHARE.try_with(Self::clone).ok()?;
        share.0.acquire_owned().await.ok()
    }
}
