//! Runs slow work on threads of its own, apart from those that answer requests.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tracing::Instrument as _;

use crate::share::{ClientPermit, processors};

/// A limited number of threads, which jobs wait for in turn.
pub(crate) struct WorkerPool(Arc<Semaphore>);

impl Default for WorkerPool {
    /// Two for each processor: some wait for the store.
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(2 * processors())))
    }
}

impl WorkerPool {
    /// Runs a job when a thread is free, and its client has one left of its share; once started it runs to its
    /// end, even if the caller is gone. Panics where the job panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        // First, so that no client fills the queue for the threads.
        let share = ClientPermit::acquire().await;
        self.run_with(share, work).await
    }

    /// The same, for whoever has a thread of the client's share.
    pub(crate) async fn run_with<T: Send + 'static>(
        &self,
        share: ClientPermit,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let (runtime, work) = (Handle::current(), work.in_current_span());
        let done = spawn_blocking(move || {
            let _turns = (turn, share);
            runtime.block_on(work)
        });
        match done.await.map_err(|ended| ended.try_into_panic()) {
            Ok(done) => done,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime is shutting down, and this future with it.
            Err(Err(_cancelled)) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::share::ClientShare;

    /// Does many jobs for a client, each of which waits until the sender is dropped.
    fn flood(pool: &Arc<WorkerPool>, stuck: Receiver<()>) {
        let (share, stuck) = (ClientShare::default(), Arc::new(std::sync::Mutex::new(stuck)));
        for _ in 0..100 {
            let (pool, share, stuck) = (Arc::clone(pool), share.clone(), Arc::clone(&stuck));
            tokio::spawn(share.scope(async move {
                pool.run(async move { stuck.lock().unwrap().recv() }).await.unwrap_err();
            }));
        }
    }

    #[tokio::test]
    async fn a_client_with_much_to_do_leaves_threads_to_others() {
        let pool = Arc::<WorkerPool>::default();
        let (done, stuck) = channel();
        flood(&pool, stuck);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let other = ClientShare::default().scope(pool.run(async { "done" }));
        assert_eq!(timeout(Duration::from_secs(20), other).await, Ok("done"));
        drop(done);
    }
}
