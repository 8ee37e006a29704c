//! One server, behind one connection.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, FromRedisValue, IntoConnectionInfo,
    ProtocolVersion, RedisError, RedisResult, Role, ServerErrorKind,
};
use tokio::sync::OnceCell;

use crate::line::Call;
use crate::sentinel::Watched;

/// How long a server may take to answer.
pub(crate) const RESPONSE: Duration = Duration::from_secs(3);

/// How long it may take to get a connection.
pub(crate) const CONNECTION: Duration = Duration::from_secs(2);

/// How many calls may be under way at once; others wait for their turn.
pub(crate) const IN_FLIGHT: usize = 512;

/// One server, behind one connection that all its callers share.
pub(crate) struct Server {
    place: Place,
    /// The connection, opened when it is first needed. Given up, it makes room for another.
    current: RwLock<Arc<OnceCell<MultiplexedConnection>>>,
}

impl Server {
    pub(crate) async fn connect(url: &str) -> RedisResult<Self> {
        let place = match Watched::parse(url)? {
            Some(watched) => Place::Watched(watched),
            None => Place::Fixed(Client::open(tuned(url.into_connection_info()?))?),
        };
        let server = Self { place, current: RwLock::default() };
        server.connection(&server.current()).await?;
        Ok(server)
    }

    pub(crate) async fn send<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        let current = self.current();
        let answer = call.over(&mut self.connection(&current).await?).await;
        if answer.as_ref().is_err_and(is_lost) {
            self.give_up(&current);
        }
        answer
    }

    /// Sees that the connection does not lead to what has become a replica, or gives it up.
    pub(crate) async fn check_role(&self) -> RedisResult<()> {
        let current = self.current();
        let answer = refuse_replica(&mut self.connection(&current).await?).await;
        if answer.is_err() {
            self.give_up(&current);
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
        current.get_or_try_init(|| self.open()).await.cloned()
    }

    /// Opens a connection, by name, to what is no replica.
    async fn open(&self) -> RedisResult<MultiplexedConnection> {
        let client = match &self.place {
            Place::Fixed(client) => client.clone(),
            Place::Watched(watched) => watched.primary().await?,
        };
        let mut connection = client.get_multiplexed_async_connection_with_config(&config()).await?;
        refuse_replica(&mut connection).await?;
        Ok(connection)
    }

    /// Gives a connection up; the next call opens another.
    fn give_up(&self, lost: &Arc<OnceCell<MultiplexedConnection>>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, lost) {
            *current = Arc::default();
        }
    }
}

/// Where a server is, or who knows.
enum Place {
    Fixed(Client),
    Watched(Watched),
}

/// How all servers are spoken to.
pub(crate) fn tuned(info: ConnectionInfo) -> ConnectionInfo {
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    info.set_redis_settings(settings).set_tcp_settings(TcpSettings::default().set_nodelay(true))
}

fn config() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_response_timeout(Some(RESPONSE))
        .set_connection_timeout(Some(CONNECTION))
        .set_pipeline_buffer_size(IN_FLIGHT)
        .set_concurrency_limit(IN_FLIGHT)
}

/// Asks who is there. Who will not say is trusted.
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

/// Whether a connection is good for nothing any more: it is closed, or leads to where nothing
/// answers, or to what has become a replica.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error() || is_from_a_replica(error)
}

/// Whether it is the refusal of a replica, which has written nothing.
pub(crate) fn is_from_a_replica(error: &RedisError) -> bool {
    // Redis 6.2 says so within the error of the script.
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || error.to_string().contains("-READONLY ")
}

/// Whether the server is there, but will not say.
pub(crate) fn is_refused(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_)) || error.code().is_some()
}
