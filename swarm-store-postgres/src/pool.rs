//! The pool of connections.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

use crate::connect::{Connect, Opened};
use crate::failure::{Failure, Outcome};
use crate::options::Options;

/// Of this many connections, one is kept for commits: otherwise a commit waits for all reads that came before it.
const CONNECTIONS_PER_KEPT: usize = 4;

/// The connections to the database.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    connector: Box<dyn Connect>,
    /// The connections that nobody uses. The one that was used last is used first.
    idle: Mutex<Vec<Session>>,
    /// The number of the newest sessions. It goes up when one of them is lost: those before it are then not used again.
    generation: AtomicU64,
    /// A permit for each connection.
    all: Arc<Semaphore>,
    /// A permit for each connection that reads may use.
    reads: Arc<Semaphore>,
    timeout: Duration,
    /// The names of the servers.
    servers: String,
    /// Whether commits begin their transaction themselves, because the default isolation level is not READ COMMITTED.
    begins_transactions: AtomicBool,
    /// Whether the last commit found the disk of the server full.
    has_full_disk: AtomicBool,
}

/// A session of the server. Dropping it closes it at once, whatever it is waiting for.
struct Session {
    client: Client,
    task: JoinHandle<()>,
    generation: u64,
    /// The names of the statements and functions that were made in it.
    made: HashSet<Arc<str>>,
}

/// A connection of the pool. If it is dropped in the middle of a call, it is closed, which undoes what it has
/// not committed.
pub(crate) struct Connection {
    session: Session,
    pool: Arc<Shared>,
    _permits: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

impl Pool {
    /// A pool of connections that are opened so. It connects when a connection is needed.
    pub(crate) fn new(connector: Box<dyn Connect>, options: &Options) -> Self {
        let kept = options.pool_size / CONNECTIONS_PER_KEPT;
        Self(Arc::new(Shared {
            servers: connector.servers(),
            connector,
            idle: Mutex::default(),
            generation: AtomicU64::default(),
            all: Arc::new(Semaphore::new(options.pool_size)),
            reads: Arc::new(Semaphore::new(options.pool_size - kept)),
            timeout: options.statement_timeout,
            begins_transactions: AtomicBool::default(),
            has_full_disk: AtomicBool::default(),
        }))
    }

    /// Makes a call that reads over a connection.
    pub(crate) async fn call<T>(
        &self,
        call: impl AsyncFnOnce(&Client) -> Outcome<T>,
    ) -> Outcome<T> {
        let connection = self.get_to_read().await?;
        let done = call(connection.client()).await;
        connection.end(done)
    }

    /// A connection that nobody else uses meanwhile.
    pub(crate) async fn get(&self) -> Outcome<Connection> {
        self.connect(None).await
    }

    /// The same, to read: a part of the connections is kept for commits.
    pub(crate) async fn get_to_read(&self) -> Outcome<Connection> {
        self.connect(Some(permit(&self.0.reads).await?)).await
    }

    async fn connect(&self, to_read: Option<OwnedSemaphorePermit>) -> Outcome<Connection> {
        let Self(pool) = self;
        let permits = (permit(&pool.all).await?, to_read);
        let generation = pool.generation.load(Ordering::Relaxed);
        let idle = {
            let mut idle = pool.idle();
            idle.retain(|it| it.generation >= generation && !it.client.is_closed());
            idle.pop()
        };
        let session = match idle {
            Some(session) => session,
            None => {
                // Nothing was sent to the database.
                let connected = pool.connector.connect().await;
                let opened = connected.map_err(|error| Failure::from(error).or_again())?;
                Session::new(opened, &pool.servers, generation)
            }
        };
        Ok(Connection { session, pool: Arc::clone(pool), _permits: permits })
    }

    /// Whether commits begin their transaction themselves.
    pub(crate) fn begins_transactions(&self) -> bool {
        self.0.begins_transactions.load(Ordering::Relaxed)
    }

    /// Makes commits begin their transaction themselves from now on.
    pub(crate) fn begin_transactions(&self) {
        self.0.begins_transactions.store(true, Ordering::Relaxed);
    }

    /// The rows that a statement without values finds, which is about no single tenant.
    pub(crate) async fn rows(&self, sql: &str) -> Outcome<Vec<Row>> {
        self.bounded(self.call(async |client| Ok(client.query_typed(sql, &[]).await?))).await
    }

    /// Bounds a call, including its wait for a connection. The error names the servers if none answers.
    pub(crate) async fn bounded<T>(&self, call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let done = timeout(self.timeout(), call).await.unwrap_or_else(|_| Err(Failure::timeout()));
        done.map_err(|failure| failure.at(&self.0.servers))
    }

    /// Notes whether a commit found the disk of the server full.
    pub(crate) fn note<T>(&self, committed: Outcome<T>) -> Outcome<T> {
        let full = committed.as_ref().is_err_and(|failure| failure.is(&SqlState::DISK_FULL));
        if full || committed.is_ok() {
            self.0.has_full_disk.store(full, Ordering::Relaxed);
        }
        committed
    }

    pub(crate) fn has_full_disk(&self) -> bool {
        self.0.has_full_disk.load(Ordering::Relaxed)
    }

    /// The longest time that a call takes.
    pub(crate) fn timeout(&self) -> Duration {
        self.0.timeout
    }
}

async fn permit(semaphore: &Arc<Semaphore>) -> Outcome<OwnedSemaphorePermit> {
    let permit = Arc::clone(semaphore).acquire_owned().await;
    permit.map_err(|closed| Failure::unavailable(closed.to_string()))
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A connection that is driven in a task of its own.
    fn new(opened: Opened, servers: &str, generation: u64) -> Self {
        let (Opened { client, driver }, servers) = (opened, servers.to_owned());
        let task = tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::warn!("postgres at {servers}: the connection ended: {error}");
            }
        });
        Self { client, task, generation, made: HashSet::new() }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connection {
    /// Returns the connection to the pool, unless the outcome says that it is of no use any more. What is wrong with its server
    /// is wrong with the connections that were opened before it too.
    pub(crate) fn end<T>(self, outcome: Outcome<T>) -> Outcome<T> {
        let Self { session, pool, _permits } = self;
        match outcome.as_ref().is_err_and(|failure| failure.breaks_connection) {
            true => {
                pool.generation.fetch_max(session.generation + 1, Ordering::Relaxed);
            }
            false => pool.idle().push(session),
        }
        outcome
    }

    pub(crate) fn client(&self) -> &Client {
        &self.session.client
    }

    /// Whether the statement or function with this name was made in this session.
    pub(crate) fn has_made(&self, name: &str) -> bool {
        self.session.made.contains(name)
    }

    /// Notes that these were made.
    pub(crate) fn note_made(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        self.session.made.extend(names);
    }

    /// Forgets what was made: a pooler may have changed the session.
    pub(crate) fn forget_made(&mut self) {
        self.session.made.clear();
    }
}
