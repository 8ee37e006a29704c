//! Redis Cluster. A tenant lives in one slot, and so on one server at a time.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterClientBuilder, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo, SingleNodeRoutingInfo};
use redis::{
    Cmd, ErrorKind, FromRedisValue, ProtocolVersion, RedisResult, Value, from_redis_value,
};

use super::command::Command;
use super::options::{MAX_IN_FLIGHT, RESPONSE_TIMEOUT, each_host};

/// The timeout for connecting to a node. Less than half of the timeout of a call, because the client
/// waits twice for a node that does not respond: for the slot map, and for the node's own connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(1);

type Connection = ClusterConnection<MultiplexedConnection>;

/// A cluster, behind one connection to each of its servers.
pub(super) struct Cluster {
    client: ClusterClient,
    /// The connections, and how many times they were replaced.
    current: RwLock<(u64, Connection)>,
}

impl Cluster {
    pub(super) async fn connect(client: ClusterClient) -> RedisResult<Self> {
        let connection = client.get_async_connection().await?;
        Ok(Self { client, current: RwLock::new((0, connection)) })
    }

    pub(super) async fn send<T: FromRedisValue>(&self, command: Command<'_>) -> RedisResult<T> {
        let (age, mut connection) = self.current();
        let answer = command.execute(&mut connection).await;
        self.reset_if_lost(age, answer)
    }

    /// The answers of all primaries.
    pub(super) async fn ask_all<T: FromRedisValue>(&self, cmd: &Cmd) -> RedisResult<Vec<T>> {
        let answers = self.ask_each(cmd).await?.into_iter();
        answers.map(|(_, answer)| Ok(from_redis_value(answer)?)).collect()
    }

    /// The hosts and ports of all primaries.
    pub(super) async fn primaries(&self) -> RedisResult<Vec<(String, u16)>> {
        let answers = self.ask_each(&redis::cmd("PING")).await?.into_iter();
        answers.map(|(address, _)| address_of(&from_redis_value::<String>(address)?)).collect()
    }

    /// The answer of the server at this address.
    pub(super) async fn ask<T: FromRedisValue>(
        &self,
        (host, port): &(String, u16),
        cmd: &Cmd,
    ) -> RedisResult<T> {
        let (age, mut connection) = self.current();
        let address = SingleNodeRoutingInfo::ByAddress { host: host.clone(), port: *port };
        let answer = connection.route_command(cmd.clone(), RoutingInfo::SingleNode(address)).await;
        Ok(from_redis_value(self.reset_if_lost(age, answer)?)?)
    }

    /// The addresses of all primaries, and their answers.
    async fn ask_each(&self, cmd: &Cmd) -> RedisResult<Vec<(Value, Value)>> {
        let primaries = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
        let (age, mut connection) = self.current();
        let answers = connection.route_command(cmd.clone(), primaries).await;
        Ok(match self.reset_if_lost(age, answers)? {
            Value::Map(answers) => answers,
            answer => vec![(Value::Nil, answer)],
        })
    }

    fn current(&self) -> (u64, Connection) {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// After a timeout, or when the connections are closed, replaces all of them; the next call opens new ones.
    /// Otherwise the client would keep using a node that stopped responding, and never ask the others for its slots.
    /// Connections are also closed when the runtime ends that they were opened in.
    fn reset_if_lost<T>(&self, age: u64, answer: RedisResult<T>) -> RedisResult<T> {
        if answer.as_ref().is_err_and(|error| error.is_timeout() || error.is_connection_dropped()) {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if current.0 == age {
                let config = ClusterConfig::new().set_response_timeout(RESPONSE_TIMEOUT);
                let fresh = self.client.get_pending_async_connection_with_config(config);
                *current = (age.wrapping_add(1), fresh);
            }
        }
        answer
    }
}

/// Reads the address of a server, `host:port`.
fn address_of(address: &str) -> RedisResult<(String, u16)> {
    let parts = address.rsplit_once(':');
    let parts = parts.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    Ok(parts.ok_or((ErrorKind::Client, "a server without an address"))?)
}

/// The client of the cluster that an address names; `None` when it is not the address of a cluster.
pub(super) fn parse(url: &str) -> RedisResult<Option<ClusterClient>> {
    let client = nodes(url).map(|nodes| {
        ClusterClientBuilder::new(nodes)
            .use_protocol(ProtocolVersion::RESP3)
            .connection_timeout(CONNECTION_TIMEOUT)
            .response_timeout(RESPONSE_TIMEOUT)
            .connection_concurrency_limit(MAX_IN_FLIGHT)
            .retries(4)
            .min_retry_wait(50)
            .max_retry_wait(500)
            .build()
    });
    client.transpose()
}

/// The nodes that the address of a cluster names, each as the address of a server; `None` when it
/// is not the address of a cluster.
fn nodes(url: &str) -> Option<Vec<String>> {
    let (scheme, hosts) = url.split_once("-cluster://")?;
    Some(each_host(scheme, hosts.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::nodes;

    #[test]
    fn cluster_address_lists_its_nodes() {
        assert_eq!(nodes("redis://host:1"), None);
        assert_eq!(nodes("host:1"), None);
        let plain = nodes("redis-cluster://a:1,b:2/").unwrap_or_default();
        assert_eq!(plain, ["redis://a:1", "redis://b:2"]);
        let secret = nodes("rediss-cluster://user:p@ss@a:1, b:2").unwrap_or_default();
        assert_eq!(secret, ["rediss://user:p@ss@a:1", "rediss://user:p@ss@b:2"]);
    }
}
