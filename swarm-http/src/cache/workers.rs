//! Runs slow work on threads of its own, apart from those that answer requests.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tracing::Instrument as _;

/// A limited number of threads, which jobs wait for in turn.
pub(crate) struct WorkerPool(Arc<Semaphore>);

impl Default for WorkerPool {
    /// Two for each processor: some wait for the store.
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, |count| count.get());
        Self(Arc::new(Semaphore::new(2 * processors)))
    }
}

impl WorkerPool {
    /// Runs a job when a thread is free; once started it runs to its end, even if the caller is
    /// gone. Panics where the job panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        let (runtime, work) = (Handle::current(), work.in_current_span());
        let done = spawn_blocking(move || {
            let _turn = turn;
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
