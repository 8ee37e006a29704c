//! Holds: takes of a session wait while it is aggregated.
//!
//! A snapshot is computed outside of the commit that writes it, and the commit is refused if a take was filed meanwhile. While takes
//! arrive faster than a snapshot is computed, this process holds its own back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use crate::domain::{SessionId, TenantId};

/// The sessions whose takes wait.
#[derive(Default)]
pub(super) struct Holds(Mutex<HashMap<(TenantId, SessionId), Waiting>>);

/// The takes that wait for a session, and the number of holds on it.
#[derive(Default)]
struct Waiting {
    holds: usize,
    takes: Vec<oneshot::Sender<()>>,
}

/// Takes of a session wait until this is dropped.
pub(super) struct Hold {
    holds: Arc<Holds>,
    session: (TenantId, SessionId),
}

impl Holds {
    /// Returns once no hold is on the session.
    pub(super) async fn pass(&self, tenant: &TenantId, session: SessionId) {
        while let Some(released) = self.waiting(tenant, session) {
            let _ = released.await;
        }
    }

    fn waiting(&self, tenant: &TenantId, session: SessionId) -> Option<oneshot::Receiver<()>> {
        let mut held = self.lock();
        if held.is_empty() {
            return None;
        }
        let waiting = held.get_mut(&(tenant.clone(), session))?;
        let (reply, released) = oneshot::channel();
        waiting.takes.push(reply);
        Some(released)
    }

    /// Holds back takes that are not yet being committed.
    pub(super) fn hold(self: &Arc<Self>, tenant: &TenantId, session: SessionId) -> Hold {
        let session = (tenant.clone(), session);
        self.lock().entry(session.clone()).or_default().holds += 1;
        Hold { holds: Arc::clone(self), session }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TenantId, SessionId), Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.holds.lock();
        let Some(waiting) = held.get_mut(&self.session) else { return };
        waiting.holds -= 1;
        if waiting.holds == 0 {
            // The senders are dropped outside of the lock, which wakes the takes.
            let released = held.remove(&self.session);
            drop(held);
            drop(released);
        }
    }
}
