//! The demonstration's tenant while it is filled: its client, its members, and the clock of its store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use swarm_client::{Client, OperatorClient};
use swarm_core::Timestamp;

use super::author::Author;

/// The demonstration's tenant, as its operator uses it.
pub(super) struct Desk {
    pub(super) client: Client,
    pub(super) server: SocketAddr,
    pub(super) admin_token: String,
    pub(super) clock: StoryClock,
    /// The end of the demonstrated period: the start of the program.
    pub(super) end: Timestamp,
    pub(super) members: Vec<Author>,
}

impl Desk {
    /// The operator of the tenant.
    pub(super) fn operator(&self) -> OperatorClient<'_> {
        self.client.operator(&self.admin_token)
    }

    /// Sets the clock to so many minutes before the end.
    pub(super) fn at(&self, minutes_before: i64) -> Timestamp {
        let moment = self.end.plus_millis(-minutes_before * 60_000);
        self.clock.set(moment);
        moment
    }
}

/// The clock of the demonstration's store: set to the past while sample data is filed, then the system's time.
#[derive(Clone)]
pub(super) struct StoryClock {
    /// Milliseconds behind the system's clock.
    behind: Arc<AtomicI64>,
}

impl StoryClock {
    pub(super) fn new() -> Self {
        Self { behind: Arc::default() }
    }

    pub(super) fn now(&self) -> Timestamp {
        system_time().plus_millis(-self.behind.load(Ordering::SeqCst))
    }

    /// Sets the clock to this moment, from which it runs on. It never goes back.
    pub(super) fn set(&self, moment: Timestamp) {
        let behind = system_time().millis() - moment.millis();
        if self.behind.load(Ordering::SeqCst) == 0 {
            self.behind.store(behind, Ordering::SeqCst);
        } else {
            self.behind.fetch_min(behind, Ordering::SeqCst);
        }
    }

    /// Sets the clock to the system's time.
    pub(super) fn resume(&self) {
        self.behind.store(0, Ordering::SeqCst);
    }
}

#[expect(clippy::disallowed_methods, reason = "the clock of a store, which all time comes from")]
fn system_time() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::EPOCH.plus_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
