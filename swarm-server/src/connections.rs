//! The open connections: limits in total and per client, and closing idle ones for new ones.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use swarm_http::fairness::{ClientShare, Scheduler};
use tokio::sync::oneshot;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::timeout;

use crate::Limits;
use crate::activity::Activity;

pub(crate) struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<task::Id, Open>,
    scheduler: Scheduler,
    /// The number of open connections of each client, by its key.
    counts: HashMap<u64, usize>,
    max: usize,
    /// The maximum per client; `None` behind a proxy, where all clients have the proxy's address.
    max_of_client: Option<usize>,
    gauge: Gauge,
}

struct Open {
    client: Arc<ClientShare>,
    activity: Activity,
    /// Closes the connection when it is dropped.
    _close: oneshot::Sender<()>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits, gauge: Gauge) -> Self {
        Self {
            tasks: JoinSet::new(),
            open: HashMap::new(),
            scheduler: Scheduler::default(),
            counts: HashMap::new(),
            max: limits.connections,
            max_of_client: limits.connections_per_address,
            gauge,
        }
    }

    /// Waits until a connection ends; forever if there is none.
    pub(crate) async fn ended(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(ended) => self.forget(ended),
            None => std::future::pending().await,
        }
    }

    /// Makes room for a connection from this address. At the client's limit, closes that client's
    /// longest-waiting connection; at the total limit, the longest-waiting one of all. Waits while all
    /// connections are working on requests or still closing.
    pub(crate) async fn make_room(&mut self, address: IpAddr) {
        /// Interval at which waiting connections are looked for.
        const PAUSE: Duration = Duration::from_millis(10);
        let client = self.scheduler.client(address).key();
        let count = self.counts.get(&client).copied();
        if self.max_of_client.is_some_and(|max| count >= Some(max)) {
            self.close_longest_waiting(Some(client));
        }
        while self.tasks.len() >= self.max {
            if self.open.len() >= self.max {
                self.close_longest_waiting(None);
            }
            let _ = timeout(PAUSE, self.ended()).await;
        }
    }

    /// Spawns a connection from this address, scheduled fairly with those of other clients. The time to close
    /// it is charged too, because discarding much unread input keeps the system busy.
    pub(crate) fn run(
        &mut self,
        address: IpAddr,
        activity: Activity,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        let (client, counted) = (self.scheduler.client(address), Counted::new(&self.gauge));
        *self.counts.entry(client.key()).or_default() += 1;
        let scheduled = self.max_of_client.map(|_| Arc::clone(&client));
        let (close, closed) = oneshot::channel();
        let connection = Box::pin(async {
            tokio::select! {
                biased;
                _ = closed => {}
                () = connection => {}
            }
        });
        let task = self.tasks.spawn(async move {
            let _counted = counted;
            match scheduled {
                Some(client) => client.run(connection).await,
                None => connection.await,
            }
        });
        self.open.insert(task.id(), Open { client, activity, _close: close });
    }

    /// Closes the connection that has been waiting longest, of this client or of all. Returns whether
    /// there was one.
    pub(crate) fn close_longest_waiting(&mut self, client: Option<u64>) -> bool {
        let eligible = |open: &Open| client.is_none_or(|client| open.client.key() == client);
        let waiting = self.open.iter().filter(|(_, open)| eligible(open));
        let waiting = waiting.filter_map(|(id, open)| Some((open.activity.waiting_since()?, id)));
        let Some(id) = waiting.min().map(|(_, id)| *id) else { return false };
        let closed = self.open.get(&id).is_some_and(|open| open.activity.close_if_waiting());
        if closed {
            self.remove(id);
        }
        // If a request has just arrived there, try the next one.
        closed || self.close_longest_waiting(client)
    }

    /// Waits for all connections to end, at most for `drain`, and drops the rest.
    pub(crate) async fn finish(mut self, drain: Duration) {
        let all = async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                self.forget(ended);
            }
        };
        if timeout(drain, all).await.is_err() {
            tracing::warn!(count = self.open.len(), "connections dropped");
        }
    }

    fn forget(&mut self, ended: Result<(task::Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                if !error.is_cancelled() {
                    tracing::error!(%error, "connection task failed");
                }
                error.id()
            }
        };
        self.remove(id);
    }

    fn remove(&mut self, id: task::Id) {
        let Some(open) = self.open.remove(&id) else { return };
        let client = open.client.key();
        if let Some(count) = self.counts.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&client);
            }
        }
    }
}

/// Counts an open connection in the gauge, until dropped.
struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn at_most(connections: usize, connections_per_address: Option<usize>) -> Connections {
        let limits = Limits { connections, connections_per_address, ..Limits::default() };
        Connections::new(&limits, Gauge::default())
    }

    /// A connection that never ends.
    fn open(connections: &mut Connections, address: IpAddr) -> Activity {
        let activity = Activity::new();
        connections.run(address, activity.clone(), pending());
        activity
    }

    #[tokio::test(start_paused = true)]
    async fn longest_waiting_connection_is_closed_at_the_limit() {
        let mut connections = at_most(3, None);
        let mut open_one = async |address| {
            connections.make_room(address).await;
            let activity = open(&mut connections, address);
            tokio::time::advance(Duration::from_secs(1)).await;
            (activity, connections.open.len())
        };
        let (first, _) = open_one(ONE).await;
        let (second, _) = open_one(ONE).await;
        let (third, _) = open_one(OTHER).await;
        assert!(first.start_request());
        assert_eq!(open_one(OTHER).await.1, 3);
        assert!(!second.start_request(), "it waited longest");
        first.wait_for_client();
        third.start_request();
        assert_eq!(open_one(OTHER).await.1, 3);
        assert!(first.start_request(), "it has just been served");
    }

    #[tokio::test(start_paused = true)]
    async fn client_at_its_limit_loses_its_own_connection() {
        let mut connections = at_most(10, Some(2));
        let stranger = open(&mut connections, OTHER);
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut own = vec![];
        for _ in 0..5 {
            connections.make_room(ONE).await;
            own.push(open(&mut connections, ONE));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert!(stranger.start_request());
        let alive: Vec<_> = own.iter().map(Activity::start_request).collect();
        assert_eq!(alive, [false, false, false, true, true]);
        // All are working on requests: none is closed, and the client gets one more.
        connections.make_room(ONE).await;
        open(&mut connections, ONE);
        assert_eq!(connections.open.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn wait_for_a_body_counts_from_the_start_of_its_request() {
        let mut connections = at_most(3, None);
        let slow = open(&mut connections, ONE);
        assert!(slow.start_request());
        tokio::time::advance(Duration::from_secs(1)).await;
        let idle = open(&mut connections, ONE);
        tokio::time::advance(Duration::from_secs(1)).await;
        let other = open(&mut connections, OTHER);
        connections.make_room(OTHER).await;
        assert!(!idle.start_request(), "the slow one is working");
        open(&mut connections, OTHER);
        tokio::time::advance(Duration::from_secs(1)).await;
        slow.wait_for_body();
        connections.make_room(OTHER).await;
        assert!(!slow.start_request(), "it has been sending for three seconds");
        assert!(other.start_request());
    }

    #[tokio::test(start_paused = true)]
    async fn new_connection_waits_while_all_are_working() {
        let mut connections = at_most(1, None);
        let busy = open(&mut connections, ONE);
        assert!(busy.start_request());
        let room = connections.make_room(OTHER);
        tokio::pin!(room);
        assert!(timeout(Duration::from_secs(5), &mut room).await.is_err());
        busy.wait_for_body();
        timeout(Duration::from_secs(1), room).await.unwrap();
        assert!(!busy.start_request());
    }
}
