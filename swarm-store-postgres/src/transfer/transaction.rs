//! The transaction of a snapshot or a load.

use std::time::Duration;

use swarm_core::TenantId;
use tokio::time::timeout;

use crate::database::Database;
use crate::db::Db;
use crate::failure::{Failure, Outcome};
use crate::pool::Connection;
use crate::schema::Schema;

/// The longest time that one call takes: it may write some megabytes, or wait for the disk.
const MAX_CALL: Duration = Duration::from_secs(60);

/// An open transaction. If it is dropped, its connection is closed, and the server rolls back.
pub(super) struct Transaction {
    database: Database,
    connection: Connection,
}

impl Transaction {
    /// Begins one with this mode. The server ends it when nothing is asked for ten minutes.
    pub(super) async fn begin(database: &Database, mode: &str) -> Outcome<Self> {
        let connection = database.pool.bounded(database.pool.get()).await?;
        let lock_timeout = database.pool.timeout().as_millis();
        let begin = format!(
            "BEGIN ISOLATION LEVEL {mode};
             SET LOCAL lock_timeout = {lock_timeout};
             SET LOCAL idle_in_transaction_session_timeout = '10min'"
        );
        bounded(async { Ok(connection.client()?.batch_execute(&begin).await?) }).await?;
        Ok(Self { database: database.clone(), connection })
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.database.schema
    }

    /// The rows of a tenant.
    pub(super) fn db<'a>(&'a self, tenant: &'a TenantId) -> Outcome<Db<'a>> {
        Ok(Db::new(self.connection.client()?, &self.database.schema, tenant))
    }

    /// Ends it by `COMMIT` or `ROLLBACK`.
    pub(super) async fn end(self, how: &str) -> Outcome<()> {
        // If that fails, dropping the connection closes it.
        bounded(async { Ok(self.connection.client()?.batch_execute(how).await?) }).await?;
        self.connection.end(Ok(()))
    }
}

/// Bounds a call.
pub(super) async fn bounded<T>(call: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    timeout(MAX_CALL, call).await.unwrap_or_else(|_| Err(Failure::timeout()))
}
