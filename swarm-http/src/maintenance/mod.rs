//! The work that no request asks for: windows close at their deadline, briefs are generated at their
//! time, mail is sent. Without it a site answers, but nothing happens by itself.
//!
//! Run it beside the server, on every server: several on one store share the work.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use swarm_http::{Site, maintenance::Maintenance};
//! # async fn beside_the_server(site: Arc<Site>) {
//! tokio::spawn(Maintenance::new(&site).run());
//! # }
//! ```

mod briefs;
mod figures;
mod job;
mod mail;
mod schedule;
mod windows;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use swarm_core::TenantId;
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::Site;

pub use briefs::GenerateBriefs;
pub use figures::CountRecords;
pub use job::Job;
pub use mail::{DeliverMail, LogQueuedMail};
pub use windows::CloseWindows;

use schedule::Scheduled;

/// How long after a round the next one begins: windows close within 15 s of their deadline.
pub const PAUSE: Duration = Duration::from_secs(5);

type NewJob = Box<dyn Fn() -> Box<dyn Job> + Send + Sync>;

/// The work for all tenants of a site, each kind for each tenant in a task of its own: none waits
/// for another. A tenant that is new gets its tasks within [`PAUSE`]; those of one that is gone end
/// with the round that they are in.
pub struct Maintenance {
    site: Arc<Site>,
    jobs: Vec<NewJob>,
}

impl Maintenance {
    /// Closes windows and generates the briefs of committees, both not while the clocks of the store
    /// and of the server differ by more than an hour, which `/readyz` then says; and counts. Mail is further work: see
    /// [`DeliverMail`] and [`LogQueuedMail`].
    pub fn new(site: &Arc<Site>) -> Self {
        let maintenance = Self { site: Arc::clone(site), jobs: Vec::new() };
        let (windows, briefs) = (Arc::clone(&site.clocks), Arc::clone(&site.clocks));
        let metrics = Arc::clone(site);
        maintenance
            .with(move || Scheduled::new(CloseWindows, &windows))
            .with(move || Scheduled::new(GenerateBriefs::default(), &briefs))
            .with(move || CountRecords::new(metrics.metrics.figures_of_tenant()))
    }

    /// With further work: `job` makes the one of a tenant.
    #[must_use]
    pub fn with<J: Job>(mut self, job: impl Fn() -> J + Send + Sync + 'static) -> Self {
        self.jobs.push(Box::new(move || Box::new(job())));
        self
    }

    /// Does it until the future is dropped.
    ///
    /// # Errors
    /// Only when a job panicked, which is a defect; the others end with it.
    pub async fn run(self) -> Result<Infallible, JoinError> {
        let (mut tasks, mut running) = (JoinSet::new(), HashSet::new());
        loop {
            for tenant in self.site.tenants() {
                for (kind, new_job) in self.jobs.iter().enumerate() {
                    let task = (tenant.config().id.clone(), kind);
                    if running.insert(task.clone()) {
                        tasks.spawn(repeat(Arc::clone(&self.site), task, new_job()));
                    }
                }
            }
            tokio::select! {
                () = sleep(PAUSE) => {}
                Some(ended) = tasks.join_next() => { running.remove(&ended?); }
            }
        }
    }
}

/// A tenant, and which of the jobs.
type Task = (TenantId, usize);

/// Round after round while there is such a tenant, each with its settings of that moment.
async fn repeat(site: Arc<Site>, task: Task, mut job: Box<dyn Job>) -> Task {
    while let Some(tenant) = site.tenant(&task.0) {
        job.round(&tenant).await;
        sleep(PAUSE).await;
    }
    task
}

impl std::fmt::Debug for Maintenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maintenance").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}
