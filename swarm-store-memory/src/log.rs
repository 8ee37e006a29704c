//! The log.

use async_trait::async_trait;
use swarm_core::domain::{Act, LogRow, Seq, SessionId};
use swarm_core::store::{Log, Result};

use crate::TenantStore;

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        self.at_any_time(|world, now| world.log.act(act, now, None));
        Ok(())
    }

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
