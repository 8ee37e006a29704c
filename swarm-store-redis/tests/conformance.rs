//! The Redis store keeps every promise of the port, on one server, with a replica that commits wait
//! for, and on a cluster. All cases share a server; each has a connection of its own, since each has
//! a runtime of its own.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::sync::{Arc, LazyLock};

use swarm_core::{CommitteeTenants, Tenants};
use swarm_store_redis::RedisStore;

mod on_a_server {
    use super::*;
    use swarm_redis_testing::Server;

    static SERVER: LazyLock<Server> = LazyLock::new(|| Server::start(&[]));

    async fn server() -> ((), Arc<dyn Tenants>) {
        ((), Arc::new(RedisStore::connect(&SERVER.url()).await.unwrap()))
    }

    swarm_core::conformance!(server);

    async fn rooms() -> ((), Arc<dyn CommitteeTenants>) {
        ((), Arc::new(RedisStore::connect(&SERVER.url()).await.unwrap()))
    }

    swarm_core::committee_conformance!(rooms);
}

mod on_a_server_and_its_replica {
    use super::*;
    use swarm_redis_testing::Server;

    static SERVERS: LazyLock<[Server; 2]> = LazyLock::new(|| {
        let servers = [(); 2].map(|()| Server::start(&[]));
        servers[1].follow(servers[0].port);
        servers
    });

    async fn servers() -> ((), Arc<dyn Tenants>) {
        let url = format!("{}?strict=true&wait=1", SERVERS[0].url());
        ((), Arc::new(RedisStore::connect(&url).await.unwrap()))
    }

    swarm_core::conformance!(servers);
}

#[cfg(feature = "cluster")]
mod on_a_cluster {
    use super::*;
    use swarm_redis_testing::Cluster;

    static CLUSTER: LazyLock<Cluster> = LazyLock::new(Cluster::start);

    async fn cluster() -> ((), Arc<dyn Tenants>) {
        ((), Arc::new(RedisStore::connect(&CLUSTER.url()).await.unwrap()))
    }

    swarm_core::conformance!(cluster);

    async fn rooms() -> ((), Arc<dyn CommitteeTenants>) {
        ((), Arc::new(RedisStore::connect(&CLUSTER.url()).await.unwrap()))
    }

    swarm_core::committee_conformance!(rooms);
}
