//! What becomes of members that file to a cluster while a replica takes over the slot of their
//! tenant: each is told the truth or of an error, and files on by itself.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]
#![cfg(feature = "cluster")]

mod load;
mod world;

use swarm_redis_testing::{Cluster, Server, wait_until};
use swarm_store_redis::RedisStore;

use load::Load;
use world::recovered;

/// The other nodes find out, and let the replica take over.
#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_goes_missing_takes_nothing_acknowledged_with_it() {
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
        recovered(&*load.store).await;
        // The new primary has no replica, and so nothing was acknowledged since. The old one, when
        // it wakes up, takes itself for the primary still.
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

/// A replica takes over on command: from a primary that lets it catch up first, or unasked.
#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_is_replaced_takes_nothing_acknowledged_with_it() {
    let cluster = start();
    // Each on a node of its own: whoever has led may not be elected again for some seconds.
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

/// A cluster in which each primary has a replica, and is soon found to be gone.
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

/// Or else the order is lost, or nobody votes for the replica.
fn wait_until_all_know(cluster: &Cluster, primary: &Server, replica: &Server) {
    let [primary, replica] = [primary, replica].map(|node| node.cli(&["cluster", "myid"]));
    let listed = |node: &Server| node.cli(&["cluster", "replicas", primary.trim()]);
    wait_until("all know who follows whom", || {
        cluster.nodes.iter().all(|node| listed(node).contains(replica.trim()))
    });
}
