//! Connections to one server, or to each server of a cluster.
//!
//! Imports run one way: `options` and `failure` import none of the others, `command` comes next, then
//! `standalone` (with `sentinel`) and `cluster`, then [`Connection`], `replicated` and `client`.

pub(crate) mod client;
#[cfg(feature = "cluster")]
mod cluster;
mod command;
pub(crate) mod failure;
pub(crate) mod options;
mod replicated;
mod sentinel;
mod standalone;

use futures_util::FutureExt as _;
#[cfg(feature = "cluster")]
use redis::cluster::ClusterClient;
use redis::{Cmd, FromRedisValue, RedisResult};

#[cfg(feature = "cluster")]
use cluster::Cluster;
use command::Command;
use failure::is_from_a_replica;
use standalone::{Standalone, Target};

/// The address of one server, or of a cluster, parsed.
#[derive(Clone)]
pub(crate) struct Address(Servers);

#[derive(Clone)]
enum Servers {
    One(Box<Target>),
    #[cfg(feature = "cluster")]
    Cluster(Box<ClusterClient>),
}

impl Address {
    pub(crate) fn parse(url: &str) -> RedisResult<Self> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = cluster::parse(url)? {
            return Ok(Self(Servers::Cluster(Box::new(cluster))));
        }
        Ok(Self(Servers::One(Box::new(Target::parse(url)?))))
    }
}

/// A connection to one server, or to each server of a cluster.
enum Connection {
    Standalone(Box<Standalone>),
    #[cfg(feature = "cluster")]
    Cluster(Box<Cluster>),
}

impl Connection {
    async fn open(Address(servers): Address) -> RedisResult<Self> {
        Ok(match servers {
            Servers::One(target) => {
                Self::Standalone(Box::new(Standalone::connect(*target).boxed().await?))
            }
            #[cfg(feature = "cluster")]
            Servers::Cluster(client) => {
                Self::Cluster(Box::new(Cluster::connect(*client).boxed().await?))
            }
        })
    }

    /// Sends a command. Retries it once when the connection was lost, whether or not the server
    /// received the command, or when the server has become a replica.
    async fn send<T: FromRedisValue>(&self, command: Command<'_>) -> RedisResult<T> {
        match self.send_once(command).await {
            Err(error) if error.is_connection_dropped() || is_from_a_replica(&error) => {
                self.send_once(command).await
            }
            answer => answer,
        }
    }

    /// The answers of all servers that take writes.
    async fn ask_all<T: FromRedisValue>(&self, cmd: &Cmd) -> RedisResult<Vec<T>> {
        match self {
            Self::Standalone(_) => Ok(vec![self.send(Command::Plain(cmd)).await?]),
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => cluster.ask_all(cmd).await,
        }
    }

    /// The keys that match a pattern, on all servers that take writes, which serve others meanwhile. A key that
    /// moves to another server of a cluster meanwhile may be missing.
    async fn scan(&self, pattern: &str) -> RedisResult<Vec<String>> {
        const PAGE: usize = 1_000;
        let mut found = Vec::new();
        for server in self.servers().await? {
            let mut cursor = 0;
            loop {
                let mut scan = redis::cmd("SCAN");
                scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(PAGE);
                let (next, keys): (u64, Vec<String>) = self.ask(&server, &scan).await?;
                found.extend(keys);
                if next == 0 {
                    break;
                }
                cursor = next;
            }
        }
        Ok(found)
    }

    /// The servers that take writes.
    async fn servers(&self) -> RedisResult<Vec<Server>> {
        match self {
            Self::Standalone(_) => Ok(vec![None]),
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => {
                Ok(cluster.primaries().await?.into_iter().map(Some).collect())
            }
        }
    }

    /// The answer of one of them.
    async fn ask<T: FromRedisValue>(&self, server: &Server, cmd: &Cmd) -> RedisResult<T> {
        match (self, server) {
            #[cfg(feature = "cluster")]
            (Self::Cluster(cluster), Some(address)) => cluster.ask(address, cmd).await,
            _ => self.send(Command::Plain(cmd)).await,
        }
    }

    /// Checks that the server has not become a replica. Cluster nodes redirect clients themselves.
    async fn check_role(&self) -> RedisResult<()> {
        match self {
            Self::Standalone(server) => server.check_role().await,
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => Ok(()),
        }
    }

    async fn send_once<T: FromRedisValue>(&self, command: Command<'_>) -> RedisResult<T> {
        match self {
            Self::Standalone(server) => server.send(command).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(cluster) => cluster.send(command).await,
        }
    }
}

/// The host and port of a server; `None` where there is only one.
type Server = Option<(String, u16)>;
