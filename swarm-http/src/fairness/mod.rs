//! Fair scheduling, per client address.
//!
//! Each client has a share of every contended resource. Threads: the futures of a client are polled for
//! a time slice, after which all other clients go first. The worker pool, the calls of the store, and the memory for
//! bodies and answers: a client gets permits for a share of each. There is no rate limit, and no processor is idle
//! while there is work.
//!
//! A client is identified by the address of its connection; behind a trusted proxy, by the forwarded
//! address; in another program's server, by the [`ClientAddress`](crate::ClientAddress) that it passes on.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::task::yield_now;
use tokio::task_local;
use tokio::time::{Instant, timeout};

use crate::memory_share::Share;

#[cfg(test)]
mod tests;

/// Thread time of a client before others go first.
const SLICE: Duration = Duration::from_micros(200);

/// Time slice of a client that is alone; longer, because yielding has a cost.
const SLICE_ALONE: Duration = Duration::from_millis(5);

/// Answers of a client that are made at the same time, and may call the store, while there are other clients. The
/// connections of a store are given out first come, first served, and a pool has ten by default: so the calls of one client do
/// not occupy it.
const TURNS: usize = 8;

/// How long an answer waits for its turn: a store that does not answer must not make it wait for all others before it.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Idle time of all other clients after which a client counts as alone.
const ALONE_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of requests and streams of a client that follow a log.
const PLACES: usize = 512;

task_local! {
    static CLIENT: Arc<ClientShare>;
}

/// The number of processors.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// The clients of a server. Clones share state.
#[derive(Clone, Debug)]
pub struct Scheduler(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Clients with a connection, a request or a job.
    clients: Mutex<HashMap<u64, Weak<ClientShare>>>,
    start: Instant,
    /// The key of the client that was polled last.
    last: AtomicU64,
    /// When that client last changed, in milliseconds since the start.
    changed: AtomicU64,
}

impl Default for Scheduler {
    fn default() -> Self {
        let (last, changed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self(Arc::new(Shared { clients: Mutex::default(), start: Instant::now(), last, changed }))
    }
}

impl Scheduler {
    /// The client with this address: the same one while it has a connection, a request, a job or bytes in
    /// flight. Must be called within a runtime.
    pub fn client(&self, address: IpAddr) -> Arc<ClientShare> {
        let key = key(address);
        let mut clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key).and_then(Weak::upgrade) {
            return client;
        }
        // Remove dead entries before the map grows.
        if clients.len() == clients.capacity() {
            clients.retain(|_, client| client.strong_count() > 0);
        }
        let client = Arc::new(ClientShare {
            key,
            polls: Semaphore::new(Handle::current().metrics().num_workers()),
            busy: AtomicU64::new(0),
            jobs: Arc::new(Semaphore::new(processors())),
            turns: Arc::new(Semaphore::new(TURNS)),
            places: Arc::new(Semaphore::new(PLACES)),
            memory: Share::default(),
            scheduler: self.clone(),
        });
        clients.insert(key, Arc::downgrade(&client));
        client
    }

    fn polls(&self, key: u64, now: Instant) {
        if self.0.last.load(Ordering::Relaxed) != key {
            self.0.last.store(key, Ordering::Relaxed);
            self.0.changed.store((now - self.0.start).as_millis() as u64, Ordering::Relaxed);
        }
    }

    fn has_one_client(&self) -> bool {
        let changed = Duration::from_millis(self.0.changed.load(Ordering::Relaxed));
        self.0.start.elapsed() >= changed + ALONE_AFTER
    }
}

/// The key of the client with this address. For IPv6 it is the /64 network, because a client usually has
/// all of its addresses. No such network has the key of an IPv4 address: its first 32 bits would be zero.
fn key(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

/// The shares of one client.
#[derive(Debug)]
pub struct ClientShare {
    key: u64,
    /// Limits concurrent polls to the number of threads, in the order of wake-ups.
    polls: Semaphore,
    /// Thread time used in the current slice, in nanoseconds.
    busy: AtomicU64,
    /// Half of the worker pool.
    jobs: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    /// Places of followers.
    places: Arc<Semaphore>,
    memory: Share,
    scheduler: Scheduler,
}

impl ClientShare {
    /// Runs a connection or a request of this client to its end, with a permit for each poll.
    pub async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        let client = Arc::clone(&self);
        let mut work = std::pin::pin!(CLIENT.scope(self, work));
        loop {
            let mut permit = client.permit().await;
            let polled = poll_fn(|cx| match permit.take() {
                Some(_permit) => client.timed(|| work.as_mut().poll(cx)).map(Some),
                // Woken again, which needs another permit.
                None => Poll::Ready(None),
            });
            if let Some(done) = polled.await {
                return done;
            }
        }
    }

    /// Runs work with this client as the current one, if there is one.
    pub(crate) async fn scope<T>(client: Option<Arc<Self>>, work: impl Future<Output = T>) -> T {
        match client {
            Some(client) => CLIENT.scope(client, work).await,
            None => work.await,
        }
    }

    /// The client of the current task, if known.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CLIENT.try_with(Arc::clone).ok()
    }

    /// A number that is unique to the client.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The address, for the log: of IPv6 the /64 network.
    pub(crate) fn address(&self) -> String {
        match u32::try_from(self.key) {
            Ok(bits) => Ipv4Addr::from_bits(bits).to_string(),
            Err(_) => format!("{}/64", Ipv6Addr::from_bits(u128::from(self.key) << 64)),
        }
    }

    /// Waits until fewer than [`TURNS`] answers of the current client are made, unless it is alone. The turn ends when what is
    /// returned is dropped.
    pub(crate) async fn turn() -> Option<OwnedSemaphorePermit> {
        let client = Self::current()?;
        if client.scheduler.has_one_client() {
            return None;
        }
        timeout(MAX_WAIT, Arc::clone(&client.turns).acquire_owned()).await.ok()?.ok()
    }

    pub(crate) fn jobs(&self) -> &Arc<Semaphore> {
        &self.jobs
    }

    pub(crate) fn places(&self) -> &Arc<Semaphore> {
        &self.places
    }

    pub(crate) fn memory(&self) -> &Share {
        &self.memory
    }

    /// Waits for a permit to poll; at the end of a time slice, also until all others have gone first.
    async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.polls.acquire().await.ok();
        if self.is_over() {
            // Resumes after all other ready tasks of the thread and a check of its sockets.
            yield_now().await;
            self.busy.store(0, Ordering::Relaxed);
        }
        permit
    }

    fn is_over(&self) -> bool {
        let busy = Duration::from_nanos(self.busy.load(Ordering::Relaxed));
        busy >= SLICE && (busy >= SLICE_ALONE || !self.scheduler.has_one_client())
    }

    fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        self.scheduler.polls(self.key, start);
        let done = work();
        self.charge(start.elapsed());
        done
    }

    fn charge(&self, busy: Duration) {
        self.busy.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
    }
}
