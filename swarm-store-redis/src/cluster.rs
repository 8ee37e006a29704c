//! Redis Cluster. A tenant lives in one slot, and so on one server at a time.

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo};
use redis::{Cmd, FromRedisValue, ProtocolVersion, RedisResult, Value, from_redis_value};

use crate::address;
use crate::server::{CONNECTION, IN_FLIGHT, RESPONSE};

/// A cluster, behind one connection to each of its servers.
pub(crate) struct Cluster(ClusterConnection<MultiplexedConnection>);

impl Cluster {
    pub(crate) async fn connect(nodes: Vec<String>) -> RedisResult<Self> {
        let client: ClusterClient = ClusterClientBuilder::new(nodes)
            .use_protocol(ProtocolVersion::RESP3)
            .connection_timeout(CONNECTION)
            .response_timeout(RESPONSE)
            .connection_concurrency_limit(IN_FLIGHT)
            .retries(4)
            .min_retry_wait(50)
            .max_retry_wait(500)
            .build()?;
        client.get_async_connection().await.map(Self)
    }

    pub(crate) fn connection(&self) -> ClusterConnection<MultiplexedConnection> {
        self.0.clone()
    }

    /// The answers of all primaries.
    pub(crate) async fn ask_all<T: FromRedisValue>(&self, cmd: &Cmd) -> RedisResult<Vec<T>> {
        let primaries = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
        let answers = self.connection().route_command(cmd.clone(), primaries).await?;
        let answers: Vec<(Value, Value)> = match answers {
            Value::Map(answers) => answers,
            answer => vec![(Value::Nil, answer)],
        };
        answers.into_iter().map(|(_, answer)| Ok(from_redis_value(answer)?)).collect()
    }
}

/// The nodes that the address of a cluster names, each as the address of a server; `None` when it
/// is not the address of a cluster.
pub(crate) fn nodes(url: &str) -> Option<Vec<String>> {
    let (scheme, hosts) = url.split_once("-cluster://")?;
    Some(address::each(scheme, hosts.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::nodes;

    #[test]
    fn the_address_of_a_cluster_names_its_nodes() {
        assert_eq!(nodes("redis://host:1"), None);
        assert_eq!(nodes("host:1"), None);
        let plain = nodes("redis-cluster://a:1,b:2/").unwrap_or_default();
        assert_eq!(plain, ["redis://a:1", "redis://b:2"]);
        let secret = nodes("rediss-cluster://user:p@ss@a:1, b:2").unwrap_or_default();
        assert_eq!(secret, ["rediss://user:p@ss@a:1", "rediss://user:p@ss@b:2"]);
    }
}
