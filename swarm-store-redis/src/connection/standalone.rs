//! One server, with one connection that all callers share.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, FromRedisValue, IntoConnectionInfo, RedisResult, Role,
};
use tokio::sync::OnceCell;

use super::command::Command;
use super::failure::{is_lost, is_refused};
use super::options::{MAX_IN_FLIGHT, RESPONSE_TIMEOUT, tuned};
use super::sentinel::MonitoredPrimary;

/// The timeout for opening a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// One server, with one connection that all callers share.
pub(super) struct Standalone {
    target: Target,
    /// The connection, opened at the first use, and replaced when it is lost.
    current: RwLock<Arc<OnceCell<MultiplexedConnection>>>,
}

impl Standalone {
    pub(super) async fn connect(target: Target) -> RedisResult<Self> {
        let server = Self { target, current: RwLock::default() };
        server.connection(&server.current()).await?;
        Ok(server)
    }

    pub(super) async fn send<T: FromRedisValue>(&self, command: Command<'_>) -> RedisResult<T> {
        let current = self.current();
        let answer = command.execute(&mut self.connection(&current).await?).await;
        if answer.as_ref().is_err_and(is_lost) {
            self.discard(&current);
        }
        answer
    }

    /// Checks that the server has not become a replica; if it has, drops the connection.
    pub(super) async fn check_role(&self) -> RedisResult<()> {
        let current = self.current();
        let answer = refuse_replica(&mut self.connection(&current).await?).await;
        if answer.is_err() {
            self.discard(&current);
        }
        answer
    }

    fn current(&self) -> Arc<OnceCell<MultiplexedConnection>> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn connection(
        &self,
        current: &OnceCell<MultiplexedConnection>,
    ) -> RedisResult<MultiplexedConnection> {
        current.get_or_try_init(|| self.open().boxed()).await.cloned()
    }

    /// Opens a connection, resolving the host name again. A replica is an error.
    async fn open(&self) -> RedisResult<MultiplexedConnection> {
        let client = match &self.target {
            Target::Fixed(client) => client.clone(),
            Target::Monitored(primary) => primary.locate().await?,
        };
        let mut connection = client.get_multiplexed_async_connection_with_config(&config()).await?;
        refuse_replica(&mut connection).await?;
        Ok(connection)
    }

    /// Drops a connection; the next call opens another.
    fn discard(&self, lost: &Arc<OnceCell<MultiplexedConnection>>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, lost) {
            *current = Arc::default();
        }
    }
}

/// A server at an address, or the one that sentinels return.
#[derive(Clone)]
pub(super) enum Target {
    Fixed(Client),
    Monitored(MonitoredPrimary),
}

impl Target {
    pub(super) fn parse(url: &str) -> RedisResult<Self> {
        Ok(match MonitoredPrimary::parse(url)? {
            Some(primary) => Self::Monitored(primary),
            None => Self::Fixed(Client::open(tuned(url.into_connection_info()?))?),
        })
    }
}

fn config() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECTION_TIMEOUT))
        .set_pipeline_buffer_size(MAX_IN_FLIGHT)
        .set_concurrency_limit(MAX_IN_FLIGHT)
}

/// Returns an error for a server that reports being a replica. If the user may not run `ROLE`, the
/// server is used anyway.
async fn refuse_replica(connection: &mut MultiplexedConnection) -> RedisResult<()> {
    let other = match redis::cmd("ROLE").query_async(connection).await {
        Ok(Role::Primary { .. }) => return Ok(()),
        Ok(Role::Replica { .. }) => "the server is a replica",
        Ok(_) => "the server is no primary",
        Err(error) if is_refused(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    Err((ErrorKind::Client, other).into())
}
