//! The conformance suites with a replica that commits wait for, and on a cluster. Cases share the servers. Each case has its
//! own connection, since it has its own runtime.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::LazyLock;
use swarm_core::store::Store;

use swarm_store_redis::RedisStore;

mod on_a_server_and_its_replica {
    use super::*;
    use swarm_redis_testing::Server;

    static SERVERS: LazyLock<[Server; 2]> = LazyLock::new(|| {
        let servers = [(); 2].map(|()| Server::start(&[]));
        servers[1].replicate_from(servers[0].port);
        servers
    });

    async fn servers() -> ((), Store) {
        let url = format!("{}?strict=true&wait=1", SERVERS[0].url());
        ((), RedisStore::connect(&url).await.unwrap().into())
    }

    swarm_testing::conformance!(servers);
}

#[cfg(feature = "cluster")]
mod on_a_cluster {
    use super::*;
    use swarm_redis_testing::Cluster;

    static CLUSTER: LazyLock<Cluster> = LazyLock::new(Cluster::start);

    async fn cluster() -> ((), Store) {
        ((), RedisStore::connect(&CLUSTER.url()).await.unwrap().into())
    }

    swarm_testing::conformance!(cluster);

    async fn two_connected() -> ((), Vec<Store>) {
        let connect = || async { RedisStore::connect(&CLUSTER.url()).await.unwrap() };
        ((), [connect().await, connect().await].map(Store::from).into())
    }

    swarm_testing::change_feed_conformance!(two_connected);
}
