//! Filing to a cluster while a replica takes over the slot of the tenant. Each call returns the right
//! outcome or an error, and calls succeed again after the failover.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]
#![cfg(feature = "cluster")]

use swarm_redis_testing::{Cluster, Server, wait_until};
use swarm_store_redis::RedisStore;

use crate::load::Load;
use crate::world::recovered;

/// The other nodes detect the failure, and elect the replica.
#[tokio::test(flavor = "multi_thread")]
async fn automatic_failover_loses_no_acknowledged_take() {
    let mut cluster = start();
    let store = RedisStore::connect(&format!("{}?wait=1", cluster.url())).await.unwrap();
    let mut load = Load::new(&store, "acme").await;
    load.begin();
    for killed in [true, false] {
        let [primary, replica] = pair(&cluster, "acme");
        load.goes_on().await;
        let [primary, replica] = cluster.nodes.get_disjoint_mut([primary, replica]).unwrap();
        if killed {
            primary.stop()
        } else {
            primary.signal("STOP")
        }
        load.fails().await;
        wait_until_it_leads(replica);
        recovered(&load.store).await;
        // The new primary has no replica, so nothing was acknowledged since. The old one, when it
        // resumes, still believes that it is the primary.
        if killed {
            primary.resume()
        } else {
            primary.signal("CONT")
        }
        load.goes_on().await;
    }
    load.end().await;
    assert_eq!(load.lost().await, [0, 0]);
}

/// A replica takes over on command: after the primary let it catch up, or without its consent.
#[tokio::test(flavor = "multi_thread")]
async fn manual_failover_loses_no_acknowledged_take() {
    let cluster = start();
    // A node per tenant: a former primary cannot be elected again for some seconds.
    for (tenant, options, order) in [
        ("plain", "", &["cluster", "failover"][..]),
        ("waiting", "?wait=1", &["cluster", "failover"]),
        ("bolt", "?wait=1", &["cluster", "failover", "takeover"]),
    ] {
        let store = RedisStore::connect(&(cluster.url() + options)).await.unwrap();
        let mut load = Load::new(&store, tenant).await;
        load.begin();
        for _ in 0..2 {
            let [primary, replica] = pair(&cluster, tenant).map(|node| &cluster.nodes[node]);
            wait_until_all_know(&cluster, primary, replica);
            load.goes_on().await;
            assert_eq!(replica.cli(order).trim(), "OK");
            wait_until_it_leads(replica);
            primary.wait_until_it_says("master_link_status:up");
            load.goes_on().await;
        }
        load.end().await;
        assert_eq!(load.lost().await, [0, 0], "{tenant}");
    }
}

/// A cluster in which each primary has a replica, and failures are detected within a second.
fn start() -> Cluster {
    let cluster = Cluster::start_with(1);
    for node in &cluster.nodes {
        node.cli(&["config", "set", "cluster-node-timeout", "1000"]);
    }
    cluster
}

/// The primary that has the records of a tenant, and its replica.
fn pair(cluster: &Cluster, tenant: &str) -> [usize; 2] {
    let slot = cluster.nodes[0].cli(&["cluster", "keyslot", &format!("{{{tenant}}}")]);
    let holds = |node: &Server| node.cli(&["cluster", "countkeysinslot", slot.trim()]) != "0\n";
    let find = |is: &dyn Fn(&Server) -> bool| cluster.nodes.iter().position(is).unwrap();
    let primary = find(&|node| leads(node) && holds(node));
    let followed = format!("\n{}\n", cluster.nodes[primary].port);
    [primary, find(&|node| node.cli(&["role"]).contains(&followed))]
}

fn leads(node: &Server) -> bool {
    node.cli(&["role"]).starts_with("master")
}

fn wait_until_it_leads(node: &Server) {
    wait_until("the replica takes over", || leads(node));
}

/// Otherwise the command is lost, or the replica gets no votes.
fn wait_until_all_know(cluster: &Cluster, primary: &Server, replica: &Server) {
    let [primary, replica] = [primary, replica].map(|node| node.cli(&["cluster", "myid"]));
    let listed = |node: &Server| node.cli(&["cluster", "replicas", primary.trim()]);
    wait_until("all know who follows whom", || {
        cluster.nodes.iter().all(|node| listed(node).contains(replica.trim()))
    });
}
