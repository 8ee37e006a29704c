//! The log.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::committee::CommitteeTake;
use swarm_core::domain::{Act, LogRow, Logged, Seq, SessionId, Take};
use swarm_core::store::{Log, Result};

use crate::TenantStore;
use crate::world::next_id;

/// The rows of a tenant's log.
#[derive(Default)]
pub(crate) struct Rows {
    /// Row `n` stands at `n - 1`.
    rows: Vec<LogRow>,
    /// Where the acts on a session stand.
    acts: HashMap<SessionId, Vec<usize>>,
}

impl Rows {
    /// The time of the last row.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        self.rows.last().map(|row| row.at)
    }

    pub(crate) fn take(&mut self, take: &Arc<Take>) {
        self.append(take.filed_at, Logged::Take(Arc::clone(take)));
    }

    pub(crate) fn committee_take(&mut self, take: &Arc<CommitteeTake>) {
        self.append(take.received_at, Logged::CommitteeTake(Arc::clone(take)));
    }

    /// An act, and the id that its commit gave out, where it gave out one.
    pub(crate) fn act(&mut self, act: &Act, at: Timestamp, minted: Option<u64>) {
        self.acted(act, at, act.session(), minted);
    }

    /// The act that convened this session.
    pub(crate) fn convened(&mut self, act: &Act, at: Timestamp, id: SessionId) {
        self.acted(act, at, Some(id), Some(id.0));
    }

    fn acted(&mut self, act: &Act, at: Timestamp, on: Option<SessionId>, minted: Option<u64>) {
        if let Some(session) = on {
            self.acts.entry(session).or_default().push(self.rows.len());
        }
        self.append(at, Logged::Act { text: act.as_str().to_owned(), minted });
    }

    fn append(&mut self, at: Timestamp, logged: Logged) {
        self.rows.push(LogRow { seq: Seq(next_id(self.rows.len())), at, logged });
    }
}

#[async_trait]
impl Log for TenantStore {
    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(self.read(|world| world.log.rows.iter().skip(skipped).take(limit).cloned().collect()))
    }

    async fn log_size(&self) -> Result<Seq> {
        Ok(self.read(|world| world.log.rows.last().map(|row| row.seq).unwrap_or_default()))
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        Ok(self.read(|world| {
            let places = world.log.acts.get(&session).into_iter().flatten();
            places.filter_map(|place| world.log.rows.get(*place).cloned()).collect()
        }))
    }
}
