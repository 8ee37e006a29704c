//! The background work of Swarm: closes windows at their deadline, convenes scheduled sessions, generates briefs,
//! expires applications, signs logs, delivers mail.
//!
//! Without it a server answers requests, but does nothing on a schedule. Run it alongside every server: several servers on one
//! store share the work, and each piece is done once. It depends on `swarm-core` and not on HTTP, so that any front end
//! can run it. If the store reports which tenants have changed ([`Store::changes`]), a tenant is visited when something is
//! due or has changed, and idle tenants cost next to nothing.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use swarm_core::{Swarm, SystemEntropy, TenantId};
//! use swarm_maintenance::{ListedTenant, Maintenance, TenantList};
//! use swarm_store_memory::MemoryStore;
//!
//! # async fn beside_a_server() -> Result<(), Box<dyn std::error::Error>> {
//! let tenant = Swarm::new(MemoryStore::new(), SystemEntropy).tenant(&TenantId::parse("acme")?);
//! let served = Arc::new(TenantList::from_iter([ListedTenant::new(tenant)]));
//! tokio::spawn(Maintenance::new(&served, &Arc::default()).run());
//! # Ok(())
//! # }
//! ```
//!
//! The feature `committee` (default) adds [`GenerateBriefs`]. A host without committees can leave it out.
//!
//! [`Maintenance::run`] ends only when a job has panicked, for all tenants: keep its handle, and stop the server then,
//! as `swarm serve` does. [`Maintenance::run_until`] also ends when it is asked to, after the rounds in progress.
//!
//! In the repository, `docs/embedding.md` names the jobs that a program adds, and what each of them needs.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod acts;
mod applications;
#[cfg(feature = "committee")]
mod briefs;
mod clocks;
mod directory;
mod job;
mod log;
mod mail;
mod outage;
mod sessions;
mod tenant_tasks;
mod timestamps;
mod webhooks;
mod witnesses;

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

pub use acts::ForgetActs;
pub use applications::{EraseApplications, ExpireApplications};
#[cfg(feature = "committee")]
pub use briefs::GenerateBriefs;
pub use clocks::ClockCheck;
pub use directory::{Directory, ListedTenant, MaintainedTenant, TenantList};
pub use job::{Job, Next, PAUSE};
pub use log::{CheckEntries, SignLog};
pub use mail::{DeliverMail, LogQueuedMail, RemindMembers, Reminding};
pub use outage::StoreReadiness;
pub use sessions::{CloseWindows, FollowSchedule};
pub use timestamps::TimestampCheckpoints;
pub use webhooks::DeliverWebhooks;
pub use witnesses::OfferCheckpoints;

#[cfg(doc)]
use swarm_core::Store;

use clocks::Scheduled;
use tenant_tasks::TenantTasks;

/// Interval at which added, removed and changed tenants are noticed.
const TICK: Duration = Duration::from_secs(1);

type NewJob<T> = Box<dyn Fn() -> Box<dyn Job<T>> + Send + Sync>;

/// The background work for all tenants of a directory.
///
/// Each job of each tenant runs in a task of its own, so that none waits for another. The tasks of a new tenant start
/// within seconds; those of a removed tenant end with their current round.
pub struct Maintenance<D: Directory> {
    directory: Arc<D>,
    jobs: Vec<NewJob<D::Tenant>>,
    max_pause: Duration,
}

impl<D: Directory> Maintenance<D> {
    /// Signs logs and compares their entries with what was signed, closes windows, follows the schedule of sessions,
    /// generates the briefs of committees, removes and erases old applications, and removes old acts of operators. All but the work on logs pauses
    /// while the clocks of the store and of this server differ by more than an hour, which `clocks` records.
    ///
    /// Mail is further work: see [`DeliverMail`] and [`LogQueuedMail`].
    pub fn new(directory: &Arc<D>, clocks: &Arc<ClockCheck>) -> Self {
        let directory = Arc::clone(directory);
        let [windows, sessions, applications, retention, acts] = [clocks; 5].map(Arc::clone);
        let maintenance = Self { directory, jobs: Vec::new(), max_pause: PAUSE }
            .with(move || Scheduled::new(CloseWindows::default(), &windows))
            .with(move || Scheduled::new(FollowSchedule::default(), &sessions));
        #[cfg(feature = "committee")]
        let maintenance = {
            let clocks = Arc::clone(clocks);
            maintenance.with(move || Scheduled::new(GenerateBriefs::default(), &clocks))
        };
        maintenance
            .with(move || Scheduled::new(ExpireApplications::default(), &applications))
            .with(move || Scheduled::new(EraseApplications::default(), &retention))
            .with(move || Scheduled::new(ForgetActs::default(), &acts))
            .with(SignLog::default)
            .with(CheckEntries::default)
    }

    /// Adds a job. The function creates it for each tenant.
    #[must_use]
    pub fn with<J: Job<D::Tenant>>(mut self, job: impl Fn() -> J + Send + Sync + 'static) -> Self {
        self.jobs.push(Box::new(move || Box::new(job())));
        self
    }

    /// Shortens the pauses between two rounds of a job, and between two looks for changed tenants, to at most this time.
    /// Unless it is called, they are [`PAUSE`] and a second. Tests that wait for the work are then quick.
    #[must_use]
    pub fn pausing_at_most(self, max_pause: Duration) -> Self {
        Self { max_pause, ..self }
    }

    /// Runs all jobs until the future is dropped, which cancels the rounds in progress. What they had committed stands, and
    /// what they had leased is free again when the lease expires.
    ///
    /// # Errors
    /// Only when a job panicked, which is a defect; the others end with it.
    pub async fn run(self) -> Result<Infallible, JoinError> {
        self.run_until(pending()).await?;
        pending().await
    }

    /// Runs all jobs until `stop` resolves, and returns when the rounds in progress have ended. Dropping the future is as
    /// dropping that of [`run`](Self::run).
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), JoinError> {
        let mut stop = pin!(stop);
        let mut tasks = JoinSet::new();
        let mut running = TenantTasks::new(Arc::clone(&self.directory), self.max_pause);
        loop {
            for tenant in running.find_new() {
                for new_job in &self.jobs {
                    tasks.spawn(tenant.clone().repeat(new_job()));
                }
            }
            running.notice_changes().await;
            tokio::select! {
                () = &mut stop => break,
                () = sleep(TICK.min(self.max_pause)) => {}
                Some(ended) = tasks.join_next() => ended?,
            }
        }
        // Without it the tasks end.
        drop(running);
        while let Some(ended) = tasks.join_next().await {
            ended?;
        }
        Ok(())
    }
}

impl<D: Directory> std::fmt::Debug for Maintenance<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Maintenance").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}
