//! The transaction of a snapshot, a load or a removal.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::Row;

use crate::database::{Args, Database};
use crate::failure::{Failure, Outcome};
use crate::pool::Connection;
use crate::script::Script;

/// The longest time that one call takes: it may write some megabytes, or wait for the disk.
const MAX_CALL: Duration = Duration::from_secs(60);

/// An open transaction. If it is dropped, its connection is closed, and the server rolls back.
pub(crate) struct Transaction {
    database: Database,
    connection: Connection,
    /// The names of what it has made sure of.
    made: HashSet<Arc<str>>,
}

impl Transaction {
    /// Begins one that reads a snapshot, as long as it is open.
    pub(crate) async fn begin_to_read(database: &Database) -> Outcome<Self> {
        let connection = database.pool.bounded(database.pool.get_to_read()).await?;
        Self::begin(database, connection, "REPEATABLE READ READ ONLY").await
    }

    /// Begins one that writes.
    pub(crate) async fn begin_to_write(database: &Database) -> Outcome<Self> {
        let connection = database.pool.bounded(database.pool.get()).await?;
        Self::begin(database, connection, "READ COMMITTED READ WRITE").await
    }

    /// Begins one with this mode. The server ends it when nothing is asked for ten minutes.
    async fn begin(database: &Database, connection: Connection, mode: &str) -> Outcome<Self> {
        let lock_timeout = database.pool.timeout().as_millis();
        let begin = format!(
            "BEGIN ISOLATION LEVEL {mode};
             SET LOCAL lock_timeout = {lock_timeout};
             SET LOCAL idle_in_transaction_session_timeout = '10min'"
        );
        bounded(async { Ok(connection.client().batch_execute(&begin).await?) }).await?;
        Ok(Self { database: database.clone(), connection, made: HashSet::new() })
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Makes a script, unless this transaction has.
    pub(crate) async fn make(&mut self, script: &Script) -> Outcome<()> {
        if self.made.contains(&script.name) {
            return Ok(());
        }
        let client = self.connection.client();
        bounded(async { Ok(client.batch_execute(&script.setup).await?) }).await?;
        self.made.insert(Arc::clone(&script.name));
        Ok(())
    }

    /// Runs a statement; returns the rows that it finds.
    pub(crate) async fn rows(&self, sql: &str, args: &Args<'_>) -> Outcome<Vec<Row>> {
        let sql = self.database.schema.qualify(sql);
        bounded(async { Ok(self.connection.client().query_typed(&sql, args).await?) }).await
    }

    /// Ends it by `COMMIT` or `ROLLBACK`.
    pub(crate) async fn end(self, how: &str) -> Outcome<()> {
        // If that fails, dropping the connection closes it.
        bounded(async { Ok(self.connection.client().batch_execute(how).await?) }).await?;
        self.connection.end(Ok(()))
    }
}

/// Bounds a call.
async fn bounded<T>(call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    timeout(MAX_CALL, call).await.unwrap_or_else(|_| Err(Failure::timeout()))
}
