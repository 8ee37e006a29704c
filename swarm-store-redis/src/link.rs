//! What calls go through: it finds its way back to a server that was away.

use std::future::Future;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, RedisResult, ScriptInvocation};
use swarm_core::StoreError;
use swarm_core::store::Result;

use crate::address::Address;
use crate::keys::Keys;
use crate::line::{Call, Line};
use crate::replicas::Replicas;

/// How long a call may take, whatever happens to it.
const CALL: Duration = Duration::from_secs(5);

/// The way to the server, or to the servers of a cluster.
pub(crate) struct Link {
    /// What all calls share.
    line: Line,
    /// What commits take instead, where they wait for replicas.
    replicas: Option<Replicas>,
}

impl Link {
    /// Connects to what the address names.
    pub(crate) async fn connect(address: &Address) -> Result<Self> {
        let line = in_time("connect", Line::open(&address.url)).await?;
        let replicas = (address.replicas > 0).then(|| Replicas::new(address));
        Ok(Self { line, replicas })
    }

    /// How many replicas have a commit before it is acknowledged.
    pub(crate) fn replicas(&self) -> u8 {
        self.replicas.as_ref().map_or(0, Replicas::count)
    }

    /// Runs a script that writes for the tenant of these keys. It knows its attempts, so that what
    /// was lost on the way is sent once more. Where commits wait for replicas, these have by then
    /// all that the script has written, or has read.
    pub(crate) async fn commit<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
        keys: &Keys,
    ) -> Result<T> {
        match &self.replicas {
            Some(replicas) => in_time(op, replicas.commit(script, &keys.fence())).await,
            None => self.run(op, script).await,
        }
    }

    /// Runs a script that only reads.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        in_time(op, self.line.send(Call::Script(script))).await
    }

    /// Sends a command that may be sent twice.
    pub(crate) async fn query<T: FromRedisValue>(&self, op: &'static str, cmd: &Cmd) -> Result<T> {
        in_time(op, self.line.send(Call::Command(cmd))).await
    }

    /// Sees that the server has not become a replica; if it has, the next call opens another
    /// connection.
    pub(crate) async fn check_role(&self, op: &'static str) -> Result<()> {
        in_time(op, self.line.check_role()).await
    }

    /// The answers of all servers that take writes.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        cmd: &Cmd,
    ) -> Result<Vec<T>> {
        in_time(op, self.line.ask_all(cmd)).await
    }
}

/// Bounds what is made of several calls as one of them is.
pub(crate) async fn bounded<T>(
    op: &'static str,
    calls: impl Future<Output = Result<T>>,
) -> Result<T> {
    match tokio::time::timeout(CALL, calls).await {
        Ok(outcome) => outcome,
        Err(elapsed) => Err(StoreError::unavailable(op, elapsed)),
    }
}

async fn in_time<T>(op: &'static str, call: impl Future<Output = RedisResult<T>>) -> Result<T> {
    bounded(op, async { call.await.map_err(|error| StoreError::unavailable(op, error)) }).await
}
