//! The conformance suites with a replica that commits wait for, and on a cluster. Cases share the servers. Each case has its
//! own connection, since it has its own runtime.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};

use swarm_core::{CommitteeTenants, Tenants};
use swarm_store_redis::RedisStore;

mod on_a_server_and_its_replica {
    use super::*;
    use swarm_redis_testing::Server;

    static SERVERS: LazyLock<[Server; 2]> = LazyLock::new(|| {
        let servers = [(); 2].map(|()| Server::start(&[]));
        servers[1].replicate_from(servers[0].port);
        servers
    });

    async fn servers() -> ((), Arc<dyn Tenants>) {
        let url = format!("{}?strict=true&wait=1", SERVERS[0].url());
        ((), Arc::new(RedisStore::connect(&url).await.unwrap()))
    }

    swarm_testing::conformance!(servers);

    async fn that_move() -> ((), Arc<RedisStore>) {
        let url = format!("{}?strict=true&wait=1", SERVERS[0].url());
        ((), Arc::new(RedisStore::connect(&url).await.unwrap()))
    }

    swarm_testing::transfer_conformance!(that_move);
}

#[cfg(feature = "cluster")]
mod on_a_cluster {
    use super::*;
    use swarm_redis_testing::Cluster;
    use swarm_testing::conformance::Process;

    static CLUSTER: LazyLock<Cluster> = LazyLock::new(Cluster::start);

    async fn cluster() -> ((), Arc<dyn Tenants>) {
        ((), Arc::new(RedisStore::connect(&CLUSTER.url()).await.unwrap()))
    }

    swarm_testing::conformance!(cluster);

    async fn two_connected() -> ((), Vec<Process>) {
        let connect = || async { RedisStore::connect(&CLUSTER.url()).await.unwrap() };
        ((), [connect().await, connect().await].map(Process::of).into())
    }

    swarm_testing::change_feed_conformance!(two_connected);

    async fn committees() -> ((), Arc<dyn CommitteeTenants>) {
        ((), Arc::new(RedisStore::connect(&CLUSTER.url()).await.unwrap()))
    }

    swarm_testing::committee_conformance!(committees);

    async fn that_moves() -> ((), Arc<RedisStore>) {
        ((), Arc::new(RedisStore::connect(&CLUSTER.url()).await.unwrap()))
    }

    swarm_testing::transfer_conformance!(that_moves);
}
