//! The work that no request asks for: windows close at their deadline, briefs are generated at their
//! time, mail is sent. Without it a site answers, but nothing happens by itself.
//!
//! Run it beside the server, on every server: several on one store share the work. Where the store
//! tells which tenants have changed ([`Services::changes`](crate::Services)), a tenant is asked for when
//! something is due or has changed, and idle tenants cost next to nothing.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use swarm_http::{Site, maintenance::Maintenance};
//! # async fn beside_the_server(site: Arc<Site>) {
//! tokio::spawn(Maintenance::new(&site).run());
//! # }
//! ```
//!
//! It ends only when a job has panicked, for all tenants: keep its handle, and stop the server then, as
//! `swarm serve` does.

mod attended;
mod briefs;
mod figures;
mod job;
mod mail;
mod schedule;
mod windows;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::Site;

pub use briefs::GenerateBriefs;
pub use figures::CountRecords;
pub use job::{Job, Next, PAUSE};
pub use mail::{DeliverMail, LogQueuedMail};
pub use windows::CloseWindows;

use attended::Attended;
use schedule::Scheduled;

/// How often it is looked which tenants there are, and which have changed.
const TICK: Duration = Duration::from_secs(1);

type NewJob = Box<dyn Fn() -> Box<dyn Job> + Send + Sync>;

/// The work for all tenants of a site, each kind for each tenant in a task of its own: none waits
/// for another. A tenant that is new gets its tasks within seconds; those of one that is gone end
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
        let (mut tasks, mut attended) = (JoinSet::new(), Attended::new(Arc::clone(&self.site)));
        loop {
            for tenant in attended.find_new() {
                for new_job in &self.jobs {
                    tasks.spawn(tenant.clone().repeat(new_job()));
                }
            }
            attended.notice_changes().await;
            tokio::select! {
                () = sleep(TICK) => {}
                Some(ended) = tasks.join_next() => ended?,
            }
        }
    }
}

impl std::fmt::Debug for Maintenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maintenance").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}
