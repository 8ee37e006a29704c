//! The pool of connections.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool as Connections, RecyclingMethod, Runtime,
};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

use crate::failure::{Failure, Outcome};
use crate::settings::Settings;

/// The connections to the database.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: Connections,
    timeout: Duration,
    /// Whether the last commit found the disk of the server full.
    has_full_disk: Arc<AtomicBool>,
}

/// A connection of the pool. If it is dropped in the middle of a call, it is closed, which undoes what it has
/// not committed.
pub(crate) struct Connection(Option<Object>);

impl Pool {
    /// A pool with these settings. It connects when a connection is needed.
    pub(crate) fn new(settings: &Settings) -> Outcome<Self> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        #[cfg(feature = "tls")]
        let tls = crate::tls::connector(&settings.tls)?;
        #[cfg(not(feature = "tls"))]
        let tls = tokio_postgres::NoTls;
        let manager = Manager::from_config(settings.config.clone(), tls, recycling);
        let connections = Connections::builder(manager)
            .max_size(settings.pool_size)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| Failure::misconfigured(error.to_string()))?;
        let (timeout, has_full_disk) = (settings.statement_timeout, Arc::default());
        Ok(Self { connections, timeout, has_full_disk })
    }

    /// Makes a call over a connection.
    pub(crate) async fn call<T>(
        &self,
        call: impl AsyncFnOnce(&Client) -> Outcome<T>,
    ) -> Outcome<T> {
        let connection = self.get().await?;
        let done = call(connection.client()?).await;
        connection.end(done)
    }

    /// A connection that nobody else uses meanwhile.
    pub(crate) async fn get(&self) -> Outcome<Connection> {
        Ok(Connection(Some(self.connections.get().await?)))
    }

    /// The rows that a statement without values finds, which is about no single tenant.
    pub(crate) async fn rows(&self, sql: &str) -> Outcome<Vec<Row>> {
        self.bounded(self.call(async |client| Ok(client.query_typed(sql, &[]).await?))).await
    }

    /// Bounds a call, including its wait for a connection.
    pub(crate) async fn bounded<T>(&self, call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        timeout(self.timeout, call).await.unwrap_or_else(|_| Err(Failure::timeout()))
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
            drop(self.0.take());
        }
        outcome
    }

    pub(crate) fn client(&self) -> Outcome<&Client> {
        let client = self.0.as_ref().map(|object| object.deref().deref());
        client.ok_or_else(|| Failure::unavailable("the connection was closed"))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            // Closes it.
            drop(Object::take(object));
        }
    }
}
