//! A bounded thread pool for work whose cost depends on what is stored, so that it does not block the
//! threads that answer requests. Its threads have a lower priority: where processors are few, a take does not wait until
//! the time slices of several pages are over.

use std::panic::resume_unwind;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use crate::fairness::{ClientShare, processors};

/// Maximum number of concurrent jobs: two per processor, because some wait for the store.
fn max_jobs() -> usize {
    2 * processors()
}

/// Limits the concurrent jobs of one tenant, so that no tenant fills the pool.
#[derive(Debug)]
pub(crate) struct TenantJobs(Arc<Semaphore>);

impl Default for TenantJobs {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(max_jobs() * 3 / 4)))
    }
}

/// The pool. Jobs get threads in the order of their arrival.
pub(crate) struct WorkerPool {
    jobs: Arc<Semaphore>,
    /// The runtime that owns the threads; `None` if it could not be built: then jobs use the threads of the current runtime.
    threads: Option<Runtime>,
}

/// The right of one client and one tenant to run a job; each has a share of the pool.
pub(crate) struct JobPermit {
    _permits: Vec<OwnedSemaphorePermit>,
    /// Kept alive, so that its share is not reset when it reconnects.
    client: Option<Arc<ClientShare>>,
}

impl Default for WorkerPool {
    fn default() -> Self {
        let threads = Builder::new_current_thread()
            .thread_name("swarm-worker")
            .max_blocking_threads(max_jobs())
            .on_thread_start(lower_priority)
            .build();
        Self { jobs: Arc::new(Semaphore::new(max_jobs())), threads: threads.ok() }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            // Without waiting, which a thread of another runtime may not do.
            threads.shutdown_background();
        }
    }
}

/// Lowers the priority of this thread, unless that of the process is as low. Only on Linux does a thread have its own priority.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        const NICENESS: i32 = 10;
        if getpriority_process(None).is_ok_and(|current| current < NICENESS) {
            let _ = setpriority_process(None, NICENESS);
        }
    }
}

impl WorkerPool {
    /// Waits until both the client and the tenant may run another job.
    pub(crate) async fn permit(&self, of: &TenantJobs) -> JobPermit {
        let client = ClientShare::current();
        let mut permits = Vec::with_capacity(2);
        for from in client.iter().map(|client| client.jobs()).chain([&of.0]) {
            permits.extend(Arc::clone(from).acquire_owned().await.ok());
        }
        JobPermit { _permits: permits, client }
    }

    /// Like [`permit`](Self::permit), but `None` instead of waiting.
    pub(crate) fn permit_now(&self, of: &TenantJobs) -> Option<JobPermit> {
        let client = ClientShare::current();
        let from = client.iter().map(|client| client.jobs()).chain([&of.0]);
        let permits = from.map(|from| Arc::clone(from).try_acquire_owned().ok());
        let permits = permits.collect::<Option<_>>()?;
        Some(JobPermit { _permits: permits, client })
    }

    /// Runs a job once there is a permit and a thread. A started job runs to its end even if the caller is
    /// dropped. Propagates a panic of the job.
    ///
    /// Boxed: otherwise the future of each request would be as large as the largest job.
    pub(crate) fn run<'a, T: Send + 'static>(
        &'a self,
        of: &'a TenantJobs,
        work: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'a, T> {
        async move { self.start(self.permit(of).await, work).await }.boxed()
    }

    /// Like [`run`](Self::run), with a permit. The job has its client as the current one.
    pub(crate) fn run_with<'a, T: Send + 'static>(
        &'a self,
        permit: JobPermit,
        work: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'a, T> {
        self.start(permit, work).boxed()
    }

    async fn start<T: Send + 'static>(
        &self,
        permit: JobPermit,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let thread = Arc::clone(&self.jobs).acquire_owned().await;
        let work = ClientShare::scope(permit.client.clone(), work);
        let (runtime, work) = (Handle::current(), work.in_current_span());
        let threads = self.threads.as_ref().map_or(&runtime, Runtime::handle).clone();
        let done = threads.spawn_blocking(move || {
            let _held = (permit, thread);
            runtime.block_on(work)
        });
        match done.await.map_err(|ended| ended.try_into_panic()) {
            Ok(done) => done,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime is shutting down and will drop this future.
            Err(Err(_cancelled)) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::fairness::Scheduler;

    /// Blocks jobs until the sender is dropped.
    type Stuck = Arc<std::sync::Mutex<Receiver<()>>>;

    fn stuck() -> (Sender<()>, Stuck) {
        let (done, stuck) = channel();
        (done, Arc::new(std::sync::Mutex::new(stuck)))
    }

    /// Starts a hundred jobs of a client and a tenant.
    fn flood(
        pool: &Arc<WorkerPool>,
        tenant: &Arc<TenantJobs>,
        client: &Arc<ClientShare>,
        stuck: &Stuck,
    ) {
        for _ in 0..100 {
            let (pool, tenant) = (Arc::clone(pool), Arc::clone(tenant));
            let stuck = Arc::clone(stuck);
            tokio::spawn(Arc::clone(client).run(async move {
                let job = async move { stuck.lock().unwrap().recv() };
                pool.run(&tenant, job).await.unwrap_err();
            }));
        }
    }

    #[tokio::test]
    async fn client_with_many_jobs_leaves_threads_to_others() {
        let (pool, tenant) = (Arc::<WorkerPool>::default(), Arc::<TenantJobs>::default());
        let (done, stuck) = stuck();
        let scheduler = Scheduler::default();
        let client = |number| scheduler.client([192, 0, 2, number].into());
        flood(&pool, &tenant, &client(1), &stuck);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let other = client(2).run(pool.run(&tenant, async { "done" }));
        let other = timeout(Duration::from_secs(20), other).await;
        drop(done);
        // With one processor, a tenant and a client have one job at a time each.
        if processors() > 1 {
            assert_eq!(other, Ok("done"));
        }
    }

    #[tokio::test]
    async fn tenant_with_many_jobs_leaves_threads_to_others() {
        let (pool, tenant) = (Arc::<WorkerPool>::default(), Arc::<TenantJobs>::default());
        let (done, stuck) = stuck();
        let scheduler = Scheduler::default();
        let client = |number| scheduler.client([192, 0, 2, number].into());
        for number in 0..8 {
            flood(&pool, &tenant, &client(number), &stuck);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let other = TenantJobs::default();
        let other = client(9).run(pool.run(&other, async { "done" }));
        assert_eq!(timeout(Duration::from_secs(20), other).await, Ok("done"));
        drop(done);
    }
}
