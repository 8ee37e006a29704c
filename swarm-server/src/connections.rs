//! The open connections, and how room is made for a new one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use swarm_http::ClientShare;
use tokio::sync::oneshot;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::timeout;

use crate::Limits;
use crate::activity::Activity;
use crate::turns::{Company, Turns};

pub(crate) struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<task::Id, Open>,
    clients: HashMap<u64, Client>,
    /// The clients without a connection whose work goes on: if they come again, their share has not grown.
    gone: Vec<u64>,
    company: Arc<Company>,
    most: usize,
    /// Of one client; none where all have the address of a proxy.
    most_of_client: Option<usize>,
    count: Gauge,
}

/// Who has open connections, or work under way.
struct Client {
    count: usize,
    turns: Arc<Turns>,
    share: ClientShare,
}

struct Open {
    client: u64,
    activity: Activity,
    /// Closes the connection when it is dropped.
    _close: oneshot::Sender<()>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits, count: Gauge) -> Self {
        Self {
            tasks: JoinSet::new(),
            open: HashMap::new(),
            clients: HashMap::new(),
            gone: Vec::new(),
            company: Arc::new(Company::new()),
            most: limits.connections,
            most_of_client: limits.connections_per_address,
            count,
        }
    }

    /// Waits until a connection ends; for ever where there is none.
    pub(crate) async fn ended(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(ended) => self.forget(ended),
            None => std::future::pending().await,
        }
    }

    /// Makes room for a connection from this address. At the client's limit, closes that client's
    /// connection which has waited longest; at the total limit, the one which has waited longest of
    /// all. While all of them are working on requests, or not closed yet, the new connection waits.
    pub(crate) async fn make_room(&mut self, address: IpAddr) {
        /// How long to wait before looking again for a connection that is waiting.
        const PAUSE: Duration = Duration::from_millis(10);
        let client = client(address);
        let count = self.clients.get(&client).map(|client| client.count);
        if self.most_of_client.is_some_and(|most| count >= Some(most)) {
            self.close_longest_waiting(Some(client));
        }
        while self.tasks.len() >= self.most {
            if self.open.len() >= self.most {
                self.close_longest_waiting(None);
            }
            let _ = timeout(PAUSE, self.ended()).await;
        }
    }

    /// Runs a connection from this address to its end, or until it is to be closed, in turns with others of its client.
    /// Closing is part of a turn: where much was sent that nobody has read, the system has as much to do.
    pub(crate) fn run(
        &mut self,
        address: IpAddr,
        activity: Activity,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        let (client, counted) = (client(address), Counted::new(&self.count));
        let of_client =
            self.clients.entry(client).or_insert_with(|| Client::new(client, &self.company));
        of_client.count += 1;
        let own =
            self.most_of_client.map(|_| (Arc::clone(&of_client.turns), of_client.share.clone()));
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
            match own {
                Some((turns, share)) => turns.run(Box::pin(share.scope(connection))).await,
                None => connection.await,
            }
        });
        self.open.insert(task.id(), Open { client, activity, _close: close });
    }

    /// Closes the one that has waited longest for its client, of this client or of all; answers
    /// whether there was one.
    pub(crate) fn close_longest_waiting(&mut self, client: Option<u64>) -> bool {
        let eligible = |open: &Open| client.is_none_or(|client| open.client == client);
        let waiting = self.open.iter().filter(|(_, open)| eligible(open));
        let waiting = waiting.filter_map(|(id, open)| Some((open.activity.waiting_since()?, id)));
        let Some(id) = waiting.min().map(|(_, id)| *id) else { return false };
        let closed = self.open.get(&id).is_some_and(|open| open.activity.close_if_waiting());
        if closed {
            self.remove(id);
        }
        // A request may just have arrived there; then another may still be waiting.
        closed || self.close_longest_waiting(client)
    }

    /// Waits for all of them, at most as long as `drain`, and drops the rest.
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
                    tracing::error!(%error, "a connection failed");
                }
                error.id()
            }
        };
        self.remove(id);
    }

    fn remove(&mut self, id: task::Id) {
        let Some(open) = self.open.remove(&id) else { return };
        if let Some(client) = self.clients.get_mut(&open.client) {
            client.count -= 1;
        }
        if !self.gone.contains(&open.client) {
            self.gone.push(open.client);
        }
        let clients = &mut self.clients;
        self.gone.retain(|number| {
            let Some(client) = clients.get(number).filter(|client| client.count == 0) else {
                return false;
            };
            let is_used = client.share.is_used();
            if !is_used {
                clients.remove(number);
            }
            is_used
        });
    }
}

/// A connection, counted while it is open.
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

impl Client {
    fn new(number: u64, company: &Arc<Company>) -> Self {
        Self {
            count: 0,
            turns: Arc::new(Turns::new(number, company)),
            share: ClientShare::default(),
        }
    }
}

/// The number of the client behind an address, the same whenever it comes. For IPv6 that is of a network of 64 bits:
/// whoever has one address of it has them all. No network that is in use has the number of an IPv4 address: its first 32
/// bits would be zero.
fn client(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use swarm_http::ClientPermit;

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
    async fn the_one_that_waits_longest_makes_room() {
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
    async fn a_client_with_too_many_loses_its_own() {
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
        // All of them are working on requests: none is closed, and the client gets one more.
        connections.make_room(ONE).await;
        open(&mut connections, ONE);
        assert_eq!(connections.open.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_newcomer_waits_while_all_are_at_a_request() {
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

    #[tokio::test]
    async fn closing_is_part_of_a_turn() {
        struct Unread;
        impl Drop for Unread {
            fn drop(&mut self) {
                std::thread::sleep(Duration::from_millis(6));
            }
        }
        let mut connections = at_most(1, Some(1));
        let unread = Unread;
        connections.run(ONE, Activity::new(), async move {
            let _unread = unread;
            pending().await
        });
        let turns = Arc::clone(&connections.clients.get(&client(ONE)).unwrap().turns);
        tokio::task::yield_now().await;
        assert!(!turns.is_over());
        connections.make_room(ONE).await;
        assert!(connections.tasks.is_empty() && turns.is_over());
    }

    #[tokio::test]
    async fn who_comes_again_has_no_second_share() {
        let (held, mut permits) = tokio::sync::mpsc::unbounded_channel();
        let processors = std::thread::available_parallelism().unwrap().get();
        let mut connections = at_most(1, Some(1));
        for _ in 0..2 * processors {
            let held = held.clone();
            connections.run(ONE, Activity::new(), async move {
                held.send(ClientPermit::acquire().await).unwrap();
                pending().await
            });
            // The permit is acquired when this has gone by, or the share is used up.
            tokio::time::sleep(Duration::from_millis(20)).await;
            connections.make_room(ONE).await;
        }
        assert_eq!(permits.len(), processors);
        assert_eq!(connections.clients.len(), 1);
        permits.close();
        while permits.recv().await.is_some() {}
        let used = async {
            while connections.clients.get(&client(ONE)).is_some_and(|client| client.share.is_used())
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), used).await.unwrap();
        connections.run(OTHER, Activity::new(), async {});
        connections.ended().await;
        assert!(connections.clients.is_empty() && connections.gone.is_empty());
    }

    #[test]
    fn who_has_a_network_is_one_client() {
        let of = |text: &str| client(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), client(ONE));
    }
}
