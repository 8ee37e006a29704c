//! The pool of connections.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool as Connections, RecyclingMethod, Runtime,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

use crate::connector::Connector;
use crate::failure::{Failure, Outcome};
use crate::settings::{Access, Settings};

/// Of this many connections, one is kept for commits: otherwise a commit waits for all reads that came before it.
const CONNECTIONS_PER_KEPT: usize = 4;

/// The connections to the database.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Connections,
    /// A permit for each connection that reads may use.
    reads: Arc<Semaphore>,
    timeout: Duration,
    /// The names of the servers.
    servers: Arc<str>,
    /// Whether commits begin their transaction themselves, because the default isolation level is not READ COMMITTED.
    begins_transactions: Arc<AtomicBool>,
    /// Whether the last commit found the disk of the server full.
    has_full_disk: Arc<AtomicBool>,
}

/// A connection of the pool. If it is dropped in the middle of a call, it is closed, which undoes what it has
/// not committed.
pub(crate) struct Connection {
    object: Option<Object>,
    /// Its permit, if it reads.
    read: Option<OwnedSemaphorePermit>,
}

impl Pool {
    /// A pool with these settings. It connects when a connection is needed.
    pub(crate) fn new(settings: &Settings, access: Access) -> Outcome<Self> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        #[cfg(feature = "tls")]
        let tls = crate::tls::connector(&settings.tls)?;
        #[cfg(not(feature = "tls"))]
        let tls = tokio_postgres::NoTls;
        let names: Vec<_> = settings.servers.iter().map(|server| &*server.name).collect();
        let servers = names.join(", ").into();
        let connector = Connector::new(settings.servers.clone(), tls, access);
        let manager = Manager::from_connect(settings.config.clone(), connector, recycling);
        let connections = Connections::builder(manager)
            .max_size(settings.pool_size)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Failure::misconfigured(error.to_string()))?;
        let kept = settings.pool_size / CONNECTIONS_PER_KEPT;
        Ok(Self {
            connections,
            reads: Arc::new(Semaphore::new(settings.pool_size - kept)),
            timeout: settings.statement_timeout,
            servers,
            begins_transactions: Arc::default(),
            has_full_disk: Arc::default(),
        })
    }

    /// Makes a call that reads over a connection.
    pub(crate) async fn call<T>(
        &self,
        call: impl AsyncFnOnce(&Client) -> Outcome<T>,
    ) -> Outcome<T> {
        let connection = self.get_to_read().await?;
        let done = call(connection.client()?).await;
        connection.end(done)
    }

    /// A connection that nobody else uses meanwhile.
    pub(crate) async fn get(&self) -> Outcome<Connection> {
        Ok(Connection { object: Some(self.connections.get().await?), read: None })
    }

    /// The same, to read: a part of the connections is kept for commits.
    pub(crate) async fn get_to_read(&self) -> Outcome<Connection> {
        let permit = Arc::clone(&self.reads).acquire_owned().await;
        let permit = permit.map_err(|closed| Failure::unavailable(closed.to_string()))?;
        let mut connection = self.get().await?;
        connection.read = Some(permit);
        Ok(connection)
    }

    /// Whether commits begin their transaction themselves.
    pub(crate) fn begins_transactions(&self) -> bool {
        self.begins_transactions.load(Ordering::Relaxed)
    }

    /// Makes commits begin their transaction themselves from now on.
    pub(crate) fn begin_transactions(&self) {
        self.begins_transactions.store(true, Ordering::Relaxed);
    }

    /// The rows that a statement without values finds, which is about no single tenant.
    pub(crate) async fn rows(&self, sql: &str) -> Outcome<Vec<Row>> {
        self.bounded(self.call(async |client| Ok(client.query_typed(sql, &[]).await?))).await
    }

    /// Bounds a call, including its wait for a connection. The error names the servers if none answers.
    pub(crate) async fn bounded<T>(&self, call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let done = timeout(self.timeout, call).await.unwrap_or_else(|_| Err(Failure::timeout()));
        done.map_err(|failure| failure.at(&self.servers))
    }

    /// Notes whether a commit found the disk of the server full.
    pub(crate) fn note<T>(&self, committed: Outcome<T>) -> Outcome<T> {
        let full = committed.as_ref().is_err_and(|failure| failure.is(&SqlState::DISK_FULL));
        if full || committed.is_ok() {
            self.has_full_disk.store(full, Ordering::Relaxed);
        }
        committed
    }

    pub(crate) fn has_full_disk(&self) -> bool {
        self.has_full_disk.load(Ordering::Relaxed)
    }

    /// The longest time that a call takes.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }
}

impl Connection {
    /// Returns the connection to the pool, unless the outcome says that it is of no use any more.
    pub(crate) fn end<T>(mut self, outcome: Outcome<T>) -> Outcome<T> {
        if !outcome.as_ref().is_err_and(|failure| failure.breaks_connection) {
            drop(self.object.take());
        }
        outcome
    }

    pub(crate) fn client(&self) -> Outcome<&Client> {
        let client = self.object.as_ref().map(|object| object.deref().deref());
        client.ok_or_else(|| Failure::unavailable("the connection was closed"))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            // Closes it.
            drop(Object::take(object));
        }
    }
}
