//! The open connections: limits in total and per client, and closing idle ones for new ones.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use swarm_http::fairness::{ClientShare, Scheduler};
use tokio::sync::oneshot;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, timeout};

use crate::Limits;
use crate::activity::{Activity, Wait, WaitReport};

pub(crate) struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<task::Id, Open>,
    scheduler: Scheduler,
    /// The clients with open connections, by their keys.
    clients: HashMap<u64, Client>,
    /// Reports of connections that were found working and wait again.
    waits: Receiver<Wait>,
    /// Where they report it.
    reports: Sender<Wait>,
    max: usize,
    /// The maximum per client; `None` behind a proxy, where all clients have the proxy's address.
    max_of_client: Option<usize>,
    gauge: Gauge,
}

/// The connections of a client.
#[derive(Default)]
struct Client {
    open: usize,
    /// Those that may be waiting, with a time that is not after the beginning of the wait: a wait never begins before
    /// an earlier one of the same connection. Those that were found working are missing until they report their wait.
    waiting: BTreeSet<Wait>,
}

struct Open {
    client: Arc<ClientShare>,
    activity: Activity,
    /// The time by which it is listed as waiting, if it is.
    listed: Option<Instant>,
    /// Closes the connection when it is dropped.
    _close: oneshot::Sender<()>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits, gauge: Gauge) -> Self {
        let (reports, waits) = mpsc::channel();
        Self {
            tasks: JoinSet::new(),
            open: HashMap::new(),
            scheduler: Scheduler::default(),
            clients: HashMap::new(),
            waits,
            reports,
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
        let count = self.clients.get(&client).map(|client| client.open);
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
        self.clients.entry(client.key()).or_default().open += 1;
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
        let report = || WaitReport { task: task.id(), to: self.reports.clone() };
        let since = activity.waiting_since(report);
        self.open.insert(task.id(), Open { client, activity, listed: None, _close: close });
        if let Some(since) = since {
            self.list(since, task.id());
        }
    }

    /// Closes the connection that has been waiting longest, of this client or of all. Returns whether
    /// there was one.
    pub(crate) fn close_longest_waiting(&mut self, client: Option<u64>) -> bool {
        while let Ok((since, id)) = self.waits.try_recv() {
            self.list(since, id);
        }
        let longest = match client {
            Some(client) => self.longest_waiting(client),
            None => {
                let clients: Vec<_> = self.clients.keys().copied().collect();
                clients.into_iter().filter_map(|client| self.longest_waiting(client)).min()
            }
        };
        let Some((_, id)) = longest else { return false };
        let closed = self.open.get(&id).is_some_and(|open| open.activity.close_if_waiting());
        if closed {
            self.remove(id);
        }
        // If a request has just arrived there, try the next one.
        closed || self.close_longest_waiting(client)
    }

    /// Returns the connection of this client that has been waiting longest, and since when.
    fn longest_waiting(&mut self, client: u64) -> Option<Wait> {
        let waiting = &mut self.clients.get_mut(&client)?.waiting;
        loop {
            let first @ (listed, task) = waiting.pop_first()?;
            let open = self.open.get_mut(&task)?;
            let report = || WaitReport { task, to: self.reports.clone() };
            open.listed = open.activity.waiting_since(report);
            if let Some(since) = open.listed {
                waiting.insert((since, task));
                if since == listed {
                    return Some(first);
                }
            }
        }
    }

    /// Lists a connection as waiting since then.
    fn list(&mut self, since: Instant, id: task::Id) {
        let Some(open) = self.open.get_mut(&id) else { return };
        let client = self.clients.entry(open.client.key()).or_default();
        client.waiting.insert((since, id));
        open.listed = Some(since);
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
        let key = open.client.key();
        if let Some(client) = self.clients.get_mut(&key) {
            client.open -= 1;
            if let Some(since) = open.listed {
                client.waiting.remove(&(since, id));
            }
            if client.open == 0 {
                self.clients.remove(&key);
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

    /// What becomes of many connections, against a search among all of them.
    #[tokio::test(start_paused = true)]
    async fn closed_connection_is_always_the_longest_waiting() {
        /// A connection, since when it has been waiting or working, and whether it is waiting.
        struct Modelled(Activity, Instant, bool);

        let mut connections = at_most(10, None);
        let (mut open_ones, mut closed) = (Vec::new(), 0);
        let mut random: u32 = 1;
        for _ in 0..20_000 {
            tokio::time::advance(Duration::from_millis(1)).await;
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if open_ones.len() < 10 {
                open_ones.push(Modelled(open(&mut connections, ONE), Instant::now(), true));
                continue;
            }
            let number = (random >> 16) as usize % open_ones.len();
            let Modelled(activity, since, is_waiting) = &mut open_ones[number];
            match (random >> 8) % 5 {
                0 => {
                    assert!(activity.start_request());
                    (*since, *is_waiting) = (Instant::now(), false);
                }
                1 => {
                    activity.wait_for_client();
                    (*since, *is_waiting) = (Instant::now(), true);
                }
                2 if !*is_waiting => {
                    activity.wait_for_body();
                    *is_waiting = true;
                }
                3 => {
                    activity.resume();
                    *is_waiting = false;
                }
                _ => {
                    let waiting = (0..10).filter(|number| open_ones[*number].2);
                    let longest = waiting.min_by_key(|number| open_ones[*number].1);
                    assert_eq!(connections.close_longest_waiting(None), longest.is_some());
                    if let Some(longest) = longest {
                        assert!(!open_ones.swap_remove(longest).0.start_request());
                        closed += 1;
                    }
                }
            }
        }
        assert!(closed > 1_000, "{closed}");
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
