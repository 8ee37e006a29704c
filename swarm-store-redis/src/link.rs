//! The connection to the server, or to the servers of a cluster.

use std::future::Future;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, IntoConnectionInfo, ProtocolVersion, RedisError,
    RedisResult, ScriptInvocation, ServerErrorKind,
};
use swarm_core::StoreError;
use swarm_core::store::Result;

#[cfg(feature = "cluster")]
use crate::cluster::Cluster;

/// How long a server may take to answer.
pub(crate) const RESPONSE: Duration = Duration::from_secs(3);

/// How long it may take to get a connection.
pub(crate) const CONNECTION: Duration = Duration::from_secs(2);

/// How long a call may take, whatever happens to it.
const CALL: Duration = Duration::from_secs(5);

/// How many calls may be under way at once; others wait for their turn.
pub(crate) const IN_FLIGHT: usize = 512;

/// What calls go through: it finds its way back to a server that was away.
pub(crate) enum Link {
    Server(Box<Server>),
    #[cfg(feature = "cluster")]
    Cluster(Cluster),
}

impl Link {
    /// Connects to what the address names.
    pub(crate) async fn connect(url: &str) -> Result<Self> {
        #[cfg(feature = "tls")]
        trust();
        let connected = async {
            #[cfg(feature = "cluster")]
            if let Some(nodes) = crate::cluster::nodes(url) {
                return Cluster::connect(nodes).await.map(Self::Cluster);
            }
            Server::connect(url).await.map(|server| Self::Server(Box::new(server)))
        };
        in_time("connect", connected).await
    }

    /// Runs a script. Every script that writes knows its attempts, and every other may be run
    /// twice, so that what was lost on the way is sent once more.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        op: &'static str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T> {
        in_time(op, self.twice(Call::Script(script))).await
    }

    /// Sends a command that may be sent twice.
    pub(crate) async fn query<T: FromRedisValue>(&self, op: &'static str, cmd: &Cmd) -> Result<T> {
        in_time(op, self.twice(Call::Command(cmd))).await
    }

    /// The answers of all servers that take writes.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        op: &'static str,
        cmd: &Cmd,
    ) -> Result<Vec<T>> {
        match self {
            Self::Server(_) => self.query(op, cmd).await.map(|answer| vec![answer]),
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => in_time(op, cluster.ask_all(cmd)).await,
        }
    }

    /// Calls, and calls once more when the connection was lost, with or without the first call.
    async fn twice<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        match self.once(call).await {
            Err(error) if error.is_connection_dropped() => self.once(call).await,
            answer => answer,
        }
    }

    async fn once<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        match self {
            Self::Server(server) => server.send(call).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => call.over(&mut cluster.connection()).await,
        }
    }
}

/// What is sent.
#[derive(Clone, Copy)]
enum Call<'a> {
    Script(&'a ScriptInvocation<'a>),
    Command(&'a Cmd),
}

impl Call<'_> {
    async fn over<T: FromRedisValue>(self, connection: &mut impl ConnectionLike) -> RedisResult<T> {
        match self {
            // By its SHA-1; a server that does not know the script yet is taught.
            Self::Script(script) => script.invoke_async(connection).await,
            Self::Command(cmd) => cmd.query_async(connection).await,
        }
    }
}

/// One server, behind one connection that all calls share.
pub(crate) struct Server {
    client: Client,
    /// The connection, and how often it was given up for another.
    current: RwLock<(u64, ConnectionManager)>,
}

impl Server {
    async fn connect(url: &str) -> RedisResult<Self> {
        let info = url.into_connection_info()?;
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let tcp = TcpSettings::default().set_nodelay(true);
        let client = Client::open(info.set_redis_settings(settings).set_tcp_settings(tcp))?;
        let manager = ConnectionManager::new_with_config(client.clone(), config()).await?;
        Ok(Self { client, current: RwLock::new((0, manager)) })
    }

    async fn send<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
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
    error.is_timeout() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

async fn in_time<T>(op: &'static str, call: impl Future<Output = RedisResult<T>>) -> Result<T> {
    match tokio::time::timeout(CALL, call).await {
        Ok(answer) => answer.map_err(|error| StoreError::new(op, error)),
        Err(elapsed) => Err(StoreError::new(op, elapsed)),
    }
}

/// Chooses who does the arithmetic of TLS, unless the program has chosen already.
#[cfg(feature = "tls")]
fn trust() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
