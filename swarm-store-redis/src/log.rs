//! The log.

use async_trait::async_trait;
use swarm_core::SessionId;
use swarm_core::domain::{Act, LogRow, Seq};
use swarm_core::store::{Log, Result};

use crate::codec::{self, Context};
use crate::scripts;
use crate::tenant::TenantStore;

#[async_trait]
impl Log for TenantStore {
    async fn accept_clock(&self, act: &Act) -> Result<()> {
        const OP: &str = "accept clock";
        let mut script = scripts::ACCEPT_CLOCK.prepare_invoke();
        script.key(self.attempt(OP)?).key(self.keys.log()).arg(act.as_str());
        self.commit::<String>(OP, &script).await.map(drop)
    }

    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>> {
        const OP: &str = "log";
        // Redis numbers the rows from 0, and takes its last number for one that is asked for.
        let Ok(first) = i64::try_from(after.0) else { return Ok(Vec::new()) };
        let Some(more) = i64::try_from(limit).unwrap_or(i64::MAX).checked_sub(1) else {
            return Ok(Vec::new());
        };
        if more < 0 {
            return Ok(Vec::new());
        }
        let mut script = scripts::LOG.prepare_invoke();
        script.key(self.keys.log()).key(self.keys.takes()).key(self.keys.committee_takes());
        script.arg(first).arg(first.saturating_add(more));
        let rows: Vec<String> = self.read(OP, &script).await?;
        let numbered = (after.0.saturating_add(1)..).zip(&rows);
        numbered.map(|(seq, row)| codec::decode_log_row(Seq(seq), row).context(OP)).collect()
    }

    async fn log_size(&self) -> Result<Seq> {
        let length = redis::cmd("LLEN").arg(self.keys.log()).to_owned();
        Ok(Seq(self.query("log size", &length).await?))
    }

    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>> {
        const OP: &str = "acts";
        let get = redis::cmd("HGET").arg(self.keys.acts()).arg(session.0).to_owned();
        let acts: Option<String> = self.query(OP, &get).await?;
        let acts = acts.unwrap_or_default();
        acts.lines().map(|line| codec::decode_act(line).context(OP)).collect()
    }
}
