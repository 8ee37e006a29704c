//! Filing while the slot of a tenant moves between cluster nodes.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]
#![cfg(feature = "cluster")]

use swarm_redis_testing::{Cluster, Server};
use swarm_store_redis::RedisStore;

use crate::load::Load;

#[tokio::test(flavor = "multi_thread")]
async fn moving_slot_loses_no_take_and_disturbs_no_other_slot() {
    let cluster = Cluster::start();
    let store = RedisStore::connect(&cluster.url()).await.unwrap();
    let mut moved = Load::new(&store, "moved").await;
    let mut other = Load::new(&store, "other").await;
    let slot = Slot::of("moved", &cluster);
    let home = slot.home();
    moved.begin();
    other.begin();

    // Through all nodes, and back.
    let mut from = home;
    for to in [1, 2, 3, 2, 1, 0].map(|step| (home + step) % 3) {
        moved.goes_on().await;
        slot.begin_move(from, to);
        // Now no node has all keys of a filing.
        slot.migrate(from, to, &["swarm:{moved}:records", "swarm:{moved}:order"]);
        moved.fails().await;
        while let keys = slot.keys(from)
            && !keys.is_empty()
        {
            slot.migrate(from, to, &keys.lines().collect::<Vec<_>>());
        }
        slot.end_move(to);
        from = to;
    }
    moved.goes_on().await;
    moved.end().await;
    other.end().await;
    assert_eq!((moved.lost().await, other.lost().await), ([0, 0], [0, 0]));
    assert_eq!(other.errors(), 0);
}

/// The slot of a tenant.
struct Slot<'a> {
    number: String,
    nodes: &'a [Server],
    ids: Vec<String>,
}

impl<'a> Slot<'a> {
    fn of(tenant: &str, cluster: &'a Cluster) -> Self {
        let nodes = &cluster.nodes;
        let tag = format!("{{{tenant}}}");
        let number = nodes[0].cli(&["cluster", "keyslot", &tag]).trim().to_owned();
        let id = |node: &Server| node.cli(&["cluster", "myid"]).trim().to_owned();
        Self { number, nodes, ids: nodes.iter().map(id).collect() }
    }

    /// The node that has the keys of the tenant.
    fn home(&self) -> usize {
        (0..self.nodes.len()).find(|node| !self.keys(*node).is_empty()).unwrap()
    }

    /// Up to a hundred keys of the slot on this node.
    fn keys(&self, node: usize) -> String {
        self.nodes[node].cli(&["cluster", "getkeysinslot", &self.number, "100"]).trim().to_owned()
    }

    /// Begins the migration on both nodes.
    fn begin_move(&self, from: usize, to: usize) {
        self.set(to, &["importing", &self.ids[from]]);
        self.set(from, &["migrating", &self.ids[to]]);
    }

    fn migrate(&self, from: usize, to: usize, keys: &[&str]) {
        let port = self.nodes[to].port.to_string();
        let migrate = ["migrate", "127.0.0.1", &port, "", "0", "5000", "keys"];
        let said = self.nodes[from].cli(&[&migrate, keys].concat());
        assert_eq!(said.trim(), "OK");
    }

    /// Assigns the slot to the new node, on that node first.
    fn end_move(&self, to: usize) {
        for step in 0..self.nodes.len() {
            self.set((to + step) % self.nodes.len(), &["node", &self.ids[to]]);
        }
    }

    fn set(&self, node: usize, what: &[&str]) {
        let said = self.nodes[node].cli(&[&["cluster", "setslot", &self.number], what].concat());
        assert_eq!(said.trim(), "OK");
    }
}
