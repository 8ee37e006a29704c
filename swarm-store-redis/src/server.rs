//! One server, behind one connection.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::{
    Client, ErrorKind, FromRedisValue, IntoConnectionInfo, ProtocolVersion, RedisError,
    RedisResult, ServerErrorKind,
};

use crate::line::Call;

/// How long a server may take to answer.
pub(crate) const RESPONSE: Duration = Duration::from_secs(3);

/// How long it may take to get a connection.
pub(crate) const CONNECTION: Duration = Duration::from_secs(2);

/// How many calls may be under way at once; others wait for their turn.
pub(crate) const IN_FLIGHT: usize = 512;

/// One server, behind one connection that all its callers share.
pub(crate) struct Server {
    client: Client,
    /// The connection, and how often it was given up for another.
    current: RwLock<(u64, ConnectionManager)>,
}

impl Server {
    pub(crate) async fn connect(url: &str) -> RedisResult<Self> {
        let info = url.into_connection_info()?;
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let tcp = TcpSettings::default().set_nodelay(true);
        let client = Client::open(info.set_redis_settings(settings).set_tcp_settings(tcp))?;
        let manager = ConnectionManager::new_with_config(client.clone(), config()).await?;
        Ok(Self { client, current: RwLock::new((0, manager)) })
    }

    pub(crate) async fn send<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        let (age, mut manager) =
            self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let answer = call.over(&mut manager).await;
        if answer.as_ref().is_err_and(is_stuck) {
            self.give_up(age);
        }
        answer
    }

    /// Gives a connection up; the next call opens another.
    fn give_up(&self, age: u64) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.0 == age
            && let Ok(fresh) =
                ConnectionManager::new_lazy_with_config(self.client.clone(), config())
        {
            *current = (age.wrapping_add(1), fresh);
        }
    }
}

fn config() -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_response_timeout(Some(RESPONSE))
        .set_connection_timeout(Some(CONNECTION))
        .set_number_of_retries(2)
        .set_min_delay(Duration::from_millis(50))
        .set_max_delay(Duration::from_millis(500))
        .set_pipeline_buffer_size(IN_FLIGHT)
        .set_concurrency_limit(IN_FLIGHT)
}

/// Whether a connection is good for nothing any more, though nobody has closed it: it leads to
/// where nothing answers, or to what has become a replica. The manager would keep it.
fn is_stuck(error: &RedisError) -> bool {
    error.is_timeout() || is_from_a_replica(error)
}

/// Whether it is the refusal of a replica, which has written nothing.
pub(crate) fn is_from_a_replica(error: &RedisError) -> bool {
    // Redis 6.2 says so within the error of the script.
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || error.to_string().contains("-READONLY ")
}
