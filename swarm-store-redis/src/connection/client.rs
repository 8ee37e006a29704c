//! The client that the store calls Redis through. Every call has a timeout.

use std::future::Future;
use std::time::Duration;

use futures_util::{FutureExt as _, TryFutureExt as _};
use redis::{Cmd, FromRedisValue, RedisResult};
use swarm_core::StoreError;
use swarm_core::store::Result;
use tokio::sync::OnceCell;

use super::command::Command;
use super::failure::store_error;
use super::replicated::ReplicatedCommits;
use super::{Address, Connection};
use crate::keys::Keys;
use crate::script_call::ScriptCall;

/// The timeout of a call, including any retry.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The client of a server, or of the servers of a cluster.
pub(crate) struct Client {
    address: Address,
    /// The connection of all other calls.
    connection: Connection,
    /// The connection for bulk reads and long calls, so that commits do not wait behind them; opened
    /// at the first use.
    bulk: OnceCell<Connection>,
    /// The connections for commits, if they wait for replicas.
    replicated: Option<ReplicatedCommits>,
}

impl Client {
    /// Connects to the address. A commit is acknowledged once `replicas` replicas have it.
    pub(crate) async fn connect(address: Address, replicas: u8) -> Result<Self> {
        let connection = in_time("connect", Connection::open(address.clone())).await?;
        let replicated = (replicas > 0).then(|| ReplicatedCommits::new(address.clone(), replicas));
        Ok(Self { address, connection, bulk: OnceCell::new(), replicated })
    }

    /// The number of replicas that must have a commit before it is acknowledged.
    pub(crate) fn replicas(&self) -> u8 {
        self.replicated.as_ref().map_or(0, ReplicatedCommits::replicas)
    }

    /// Runs a script that writes, for the tenant of these keys. When the connection is lost it is
    /// retried once: scripts recognize an attempt that is already committed. Where commits wait for
    /// replicas, these have everything that the script wrote or read when this returns.
    pub(crate) async fn commit<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptCall<'_>,
        keys: &Keys,
    ) -> Result<T> {
        if let Some(commits) = &self.replicated {
            return in_time(op, commits.commit(script, &keys.fence())).await;
        }
        self.run(op, script).await
    }

    /// Runs a script that may be sent twice: it only reads, or it recognizes a repeated attempt.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptCall<'_>,
    ) -> Result<T> {
        if script.is_long() {
            return self.run_bulk(op, script).await;
        }
        in_time(op, self.connection.send(Command::Script(script))).await
    }

    /// As [`run`](Self::run), over the connection for much data.
    pub(crate) async fn run_bulk<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptCall<'_>,
    ) -> Result<T> {
        in_time(op, self.send_bulk(Command::Script(script))).await
    }

    /// Sends an idempotent command over the same connection.
    pub(crate) async fn query_bulk<T: FromRedisValue>(
        &self,
        op: &'static str,
        cmd: &Cmd,
    ) -> Result<T> {
        in_time(op, self.send_bulk(Command::Plain(cmd))).await
    }

    async fn send_bulk<T: FromRedisValue>(&self, command: Command<'_>) -> RedisResult<T> {
        let bulk = self.bulk.get_or_try_init(|| Connection::open(self.address.clone())).await?;
        bulk.send(command).await
    }

    /// Sends an idempotent command.
    pub(crate) async fn query<T: FromRedisValue>(&self, op: &'static str, cmd: &Cmd) -> Result<T> {
        in_time(op, self.connection.send(Command::Plain(cmd))).await
    }

    /// Checks that the server has not become a replica; if it has, the next call opens another
    /// connection.
    pub(crate) async fn check_role(&self, op: &'static str) -> Result<()> {
        in_time(op, self.connection.check_role()).await
    }

    /// The answers of all servers that take writes.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        cmd: &Cmd,
    ) -> Result<Vec<T>> {
        in_time(op, self.connection.ask_all(cmd)).await
    }

    /// The keys that match a pattern, on all servers. The timeout is that of each page.
    pub(crate) async fn scan(&self, op: &'static str, pattern: &str) -> Result<Vec<String>> {
        self.connection.scan(pattern).await.map_err(|error| store_error(op, error))
    }
}

/// Applies the timeout of a single call to several calls together.
// Not an `async fn`, which would store `calls` twice: as its argument and as the future it awaits. These futures hold the
// encoded take.
pub(crate) fn bounded<T>(
    op: &'static str,
    calls: impl Future<Output = Result<T>>,
) -> impl Future<Output = Result<T>> {
    let late = move |elapsed| Err(StoreError::unavailable(op, elapsed));
    tokio::time::timeout(CALL_TIMEOUT, calls).map(move |outcome| outcome.unwrap_or_else(late))
}

fn in_time<T>(
    op: &'static str,
    call: impl Future<Output = RedisResult<T>>,
) -> impl Future<Output = Result<T>> {
    bounded(op, call.map_err(move |error| store_error(op, error)))
}
