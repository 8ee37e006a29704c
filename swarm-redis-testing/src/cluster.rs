//! Clusters.

use crate::server::{Server, cli, wait_until};

/// A cluster of three primaries.
#[derive(Debug)]
pub struct Cluster {
    /// The primaries, then the replicas.
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Starts a cluster without replicas.
    pub fn start() -> Self {
        Self::start_with(0)
    }

    /// Starts a cluster with `replicas` replicas for each primary.
    pub fn start_with(replicas: usize) -> Self {
        Self::start_in(&[], replicas, || ())
    }

    /// The same, with these environment variables. `created` is called once the nodes know each other: they take
    /// commands two seconds later, so it must set a clock that stands still.
    pub fn start_in(environment: &[(&str, &str)], replicas: usize, created: impl FnOnce()) -> Self {
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"];
        let nodes = (0..3 * (1 + replicas)).map(|_| Server::start_in(environment, &options));
        let nodes: Vec<Server> = nodes.collect();
        let addresses: Vec<String> =
            nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let mut create = vec!["--cluster", "create"];
        create.extend(addresses.iter().map(String::as_str));
        let each = replicas.to_string();
        create.extend(["--cluster-replicas", &each, "--cluster-yes"]);
        let said = cli(&create);
        assert!(said.contains("All 16384 slots covered"), "{said}");
        created();
        let cluster = Self { nodes };
        cluster.wait_until_it_is_whole();
        let has_replicas = format!("connected_slaves:{replicas}");
        for node in &cluster.nodes {
            wait_until("replicas follow", || {
                let info = node.cli(&["info", "replication"]);
                info.contains("master_link_status:up") || info.contains(&has_replicas)
            });
        }
        cluster
    }

    /// Waits until every node knows every other.
    pub fn wait_until_it_is_whole(&self) {
        for node in &self.nodes {
            wait_until("the cluster is whole", || {
                node.cli(&["cluster", "info"]).contains("cluster_state:ok")
            });
        }
    }

    /// The URL for a store.
    pub fn url(&self) -> String {
        let nodes: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis-cluster://{}", nodes.join(","))
    }
}
