//! Followers of a tenant's log: requests that wait for an entry, and streams of events (API.md, 11.10).
//!
//! One task per tenant reads the new entries, while anybody follows it, and keeps the last ones in memory. Followers wait for
//! that task, so that they cost the store nothing, however many they are.

mod events;

use std::sync::Arc;
use std::time::Duration;

use swarm_core::Error;
use swarm_core::service::{LogPage, LogQuery};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};

use crate::fairness::ClientShare;
use crate::tenants::ServedTenant;
use crate::workers::WorkerPool;

pub(crate) use events::EventStream;

/// Maximum number of followers of a server.
const PLACES: usize = 2_048;

/// The followers of all tenants.
pub(crate) struct Followers {
    places: Arc<Semaphore>,
    /// Whether the server is about to stop.
    stopping: watch::Sender<bool>,
}

/// The right of one follower to wait, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _permits: Vec<OwnedSemaphorePermit>,
    /// Kept alive, so that its share is not reset when it reconnects.
    _client: Option<Arc<ClientShare>>,
}

impl Default for Followers {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(PLACES)), stopping: watch::Sender::new(false) }
    }
}

impl Followers {
    /// Ends all waits and streams, now and from now on.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Becomes true when the server is about to stop.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// A place for a follower of the current client; `None` if all are taken.
    pub(crate) fn place(&self) -> Option<Place> {
        let client = ClientShare::current();
        let of_client = client.iter().map(|client| client.places());
        let permits = of_client
            .chain([&self.places])
            .map(|places| Arc::clone(places).try_acquire_owned().ok())
            .collect::<Option<_>>()?;
        Some(Place { _permits: permits, _client: client })
    }

    /// Waits until the log may have an entry that the query selects, for at most `time`. Returns at once if too many wait, or the
    /// server is about to stop.
    pub(crate) async fn wait(
        &self,
        served: &Arc<ServedTenant>,
        workers: &WorkerPool,
        query: &LogQuery,
        time: Duration,
    ) -> Result<(), Error> {
        let deadline = Instant::now() + time;
        let Some(_place) = self.place() else { return Ok(()) };
        let mut stopping = self.stopping.subscribe();
        // Before the log is read: later entries are noticed.
        let mut tail = served.tail().follow(served.tenant());
        let first = LogQuery { limit: 1, ..query.clone() };
        let mut page = search(served, workers, first.clone()).await?;
        while page.entries.is_empty() && page.more {
            page = search(served, workers, LogQuery { after: page.next, ..first.clone() }).await?;
        }
        if !page.entries.is_empty() {
            return Ok(());
        }
        let mut position = page.next;
        let found = async {
            loop {
                let recent = Arc::clone(&tail.borrow_and_update());
                match recent.after(page.log, position) {
                    Some(mut entries) => {
                        if entries.any(|entry| query.filter.fits(entry)) {
                            return;
                        }
                    }
                    // Another log has begun, or more was appended than is kept: the answer shows it.
                    None => return,
                }
                position = position.max(recent.end);
                if tail.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = found => {}
            () = sleep_until(deadline) => {}
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        }
        Ok(())
    }
}

/// Looks for entries that the query selects. With a filter, on the worker pool: other requests must not wait while it is applied to
/// many entries.
async fn search(
    served: &Arc<ServedTenant>,
    workers: &WorkerPool,
    query: LogQuery,
) -> Result<LogPage, Error> {
    let tenant = served.tenant().clone();
    if query.filter.is_empty() {
        return tenant.log(&query).await;
    }
    workers.run(served.jobs(), async move { tenant.log(&query).await }).await
}
