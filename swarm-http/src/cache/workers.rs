//! A bounded pool of threads for work whose cost depends on what is stored, so that the threads that
//! answer requests are never held up by it.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tracing::Instrument as _;

use crate::share::{ClientPermit, processors};

/// The number of jobs that run at a time: two for each processor, as some wait for the store.
fn max_jobs() -> usize {
    2 * processors()
}

/// The jobs of one tenant that run at a time: fewer than all, so that no tenant fills the pool.
#[derive(Debug)]
pub(crate) struct TenantJobs(Arc<Semaphore>);

impl Default for TenantJobs {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(max_jobs() * 3 / 4)))
    }
}

/// The pool. Jobs wait for a thread in the order in which they came.
pub(crate) struct WorkerPool(Arc<Semaphore>);

/// Permission for a job of one client and one tenant, each of which has a part of the pool.
pub(crate) struct JobPermit(
    #[expect(dead_code, reason = "held")] ClientPermit,
    #[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>,
);

impl Default for WorkerPool {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(max_jobs())))
    }
}

impl WorkerPool {
    /// Waits until the client and the tenant may each run another job.
    pub(crate) async fn permit(&self, of: &TenantJobs) -> JobPermit {
        let of_client = ClientPermit::acquire().await;
        JobPermit(of_client, Arc::clone(&of.0).acquire_owned().await.ok())
    }

    /// The same, if there is nothing to wait for.
    pub(crate) fn permit_now(&self, of: &TenantJobs) -> Option<JobPermit> {
        let of_client = ClientPermit::try_acquire()?;
        Some(JobPermit(of_client, Some(Arc::clone(&of.0).try_acquire_owned().ok()?)))
    }

    /// Runs a job as soon as it may. A job that has started runs to its end, even if the caller is
    /// gone. Panics where the job panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        of: &TenantJobs,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let permit = self.permit(of).await;
        self.run_with(permit, work).await
    }

    /// The same, with a permit.
    pub(crate) async fn run_with<T: Send + 'static>(
        &self,
        permit: JobPermit,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let thread = Arc::clone(&self.0).acquire_owned().await;
        let (runtime, work) = (Handle::current(), work.in_current_span());
        let done = spawn_blocking(move || {
            let _held = (permit, thread);
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
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::share::ClientShare;

    /// Jobs wait for this until the sender is dropped.
    type Stuck = Arc<std::sync::Mutex<Receiver<()>>>;

    fn stuck() -> (Sender<()>, Stuck) {
        let (done, stuck) = channel();
        (done, Arc::new(std::sync::Mutex::new(stuck)))
    }

    /// Starts a hundred jobs of a client and a tenant.
    fn flood(pool: &Arc<WorkerPool>, tenant: &Arc<TenantJobs>, share: &ClientShare, stuck: &Stuck) {
        for _ in 0..100 {
            let (pool, tenant) = (Arc::clone(pool), Arc::clone(tenant));
            let stuck = Arc::clone(stuck);
            tokio::spawn(share.clone().scope(async move {
                let job = async move { stuck.lock().unwrap().recv() };
                pool.run(&tenant, job).await.unwrap_err();
            }));
        }
    }

    #[tokio::test]
    async fn a_client_with_many_jobs_leaves_threads_to_others() {
        let (pool, tenant) = (Arc::<WorkerPool>::default(), Arc::<TenantJobs>::default());
        let (done, stuck) = stuck();
        flood(&pool, &tenant, &ClientShare::default(), &stuck);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let other = ClientShare::default().scope(pool.run(&tenant, async { "done" }));
        let other = timeout(Duration::from_secs(20), other).await;
        drop(done);
        // With one processor, a tenant has one job at a time, and a client as many.
        if processors() > 1 {
            assert_eq!(other, Ok("done"));
        }
    }

    #[tokio::test]
    async fn a_tenant_with_many_readers_leaves_threads_to_other_tenants() {
        let (pool, tenant) = (Arc::<WorkerPool>::default(), Arc::<TenantJobs>::default());
        let (done, stuck) = stuck();
        for _ in 0..8 {
            flood(&pool, &tenant, &ClientShare::default(), &stuck);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let other = TenantJobs::default();
        let other = ClientShare::default().scope(pool.run(&other, async { "done" }));
        assert_eq!(timeout(Duration::from_secs(20), other).await, Ok("done"));
        drop(done);
    }
}
