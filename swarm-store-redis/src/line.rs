//! A connection to a server, or one to each server of a cluster, and what is sent over it.

use redis::aio::ConnectionLike;
use redis::{Cmd, FromRedisValue, RedisResult, ScriptInvocation};

#[cfg(feature = "cluster")]
use crate::cluster::Cluster;
use crate::replicas::Replicated;
use crate::server::{Server, is_from_a_replica};

pub(crate) enum Line {
    Server(Box<Server>),
    #[cfg(feature = "cluster")]
    Cluster(Box<Cluster>),
}

impl Line {
    pub(crate) async fn open(url: &str) -> RedisResult<Self> {
        #[cfg(feature = "tls")]
        trust();
        #[cfg(feature = "cluster")]
        if let Some(nodes) = crate::cluster::nodes(url) {
            return Cluster::connect(nodes).await.map(|cluster| Self::Cluster(Box::new(cluster)));
        }
        Server::connect(url).await.map(|server| Self::Server(Box::new(server)))
    }

    /// Calls, and calls once more when the connection was lost, with or without the first call, or
    /// led to what has become a replica.
    pub(crate) async fn send<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        match self.once(call).await {
            Err(error) if error.is_connection_dropped() || is_from_a_replica(&error) => {
                self.once(call).await
            }
            answer => answer,
        }
    }

    /// The answers of all servers that take writes.
    pub(crate) async fn ask_all<T: FromRedisValue>(&self, cmd: &Cmd) -> RedisResult<Vec<T>> {
        match self {
            Self::Server(_) => Ok(vec![self.send(Call::Command(cmd)).await?]),
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => cluster.ask_all(cmd).await,
        }
    }

    /// Sees that the server has not become a replica. Those of a cluster send readers away by
    /// themselves.
    pub(crate) async fn check_role(&self) -> RedisResult<()> {
        match self {
            Self::Server(server) => server.check_role().await,
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => Ok(()),
        }
    }

    async fn once<T: FromRedisValue>(&self, call: Call<'_>) -> RedisResult<T> {
        match self {
            Self::Server(server) => server.send(call).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => cluster.send(call).await,
        }
    }
}

/// What is sent.
#[derive(Clone, Copy)]
pub(crate) enum Call<'a> {
    Command(&'a Cmd),
    Script(&'a ScriptInvocation<'a>),
    Replicated(&'a Replicated<'a>),
}

impl Call<'_> {
    pub(crate) async fn over<T: FromRedisValue>(
        self,
        connection: &mut impl ConnectionLike,
    ) -> RedisResult<T> {
        match self {
            Self::Command(cmd) => cmd.query_async(connection).await,
            // By its SHA-1; a server that does not know the script yet is taught.
            Self::Script(script) => script.invoke_async(connection).await,
            Self::Replicated(commit) => commit.over(connection).await,
        }
    }
}

/// Chooses who does the arithmetic of TLS, unless the program has chosen already.
#[cfg(feature = "tls")]
fn trust() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
