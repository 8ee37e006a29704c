//! What both servers answer after the history has ended.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::histories::client::Client;
use crate::histories::servers::Servers;
use crate::histories::timeline::number;

/// The records at the end, as the public reads them.
#[derive(Clone)]
pub struct FinalState {
    /// All entries of the log, from the first server and then from the second.
    pub logs: [Vec<Value>; 2],
    /// Every take that the log names, by its id.
    pub takes: BTreeMap<u64, Value>,
    /// Every session that the log names, by its id.
    pub sessions: BTreeMap<u64, Value>,
}

impl FinalState {
    pub fn read(servers: &Servers) -> Self {
        let client = servers.client(0);
        let logs = [read_log(&client), read_log(&servers.client(1))];
        let ids = |kind: &str, field: &dyn Fn(&Value) -> u64| {
            let entries = logs[0].iter().filter(|entry| entry["kind"] == kind);
            entries.map(field).collect::<BTreeSet<_>>()
        };
        let read = |path: String| client.get(&path).unwrap().body;
        let takes = ids("take", &|entry| number(&entry["id"]));
        let takes = takes.into_iter().map(|id| (id, read(format!("/api/swarm/takes/{id}"))));
        let sessions = ids("session", &|entry| number(&entry["session"]["id"]));
        let sessions = sessions
            .into_iter()
            .map(|id| (id, read(format!("/api/swarm/sessions/{id}"))["session"].clone()));
        let (takes, sessions) = (takes.collect(), sessions.collect());
        Self { logs, takes, sessions }
    }
}

fn read_log(client: &Client) -> Vec<Value> {
    let (mut entries, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/api/swarm/log?after={after}&limit=1000");
        let page = client.get(&path).unwrap().body;
        entries.extend(page["entries"].as_array().unwrap().iter().cloned());
        if page["more"] == false {
            return entries;
        }
        after = page["next"].as_u64().unwrap();
    }
}
