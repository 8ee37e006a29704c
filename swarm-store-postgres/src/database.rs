//! The connections and the schema: calls that read and write, with retries.

use std::sync::Arc;
use std::time::Duration;

use swarm_core::TenantId;
use tokio::time::sleep;
use tokio_postgres::Row;

use crate::db::{Arg, Db};
use crate::failure::{Failure, Outcome};
use crate::pool::Pool;
use crate::program::Encoded;
use crate::schema::Schema;

/// How often a call is tried that the server undoes because of others, or whose connection is lost.
const MAX_TRIES: u32 = 6;

/// The time before the second try; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(5);

/// The connections, and the schema. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pub(crate) schema: Arc<Schema>,
}

/// The call that reads.
pub(crate) const READ: &str = "SELECT * FROM swarm.read_2($1, $2::text::jsonb, $3)";

/// The values of that call.
pub(crate) fn values_of_read(program: &Encoded) -> [Arg<'_>; 2] {
    [Arg::Text((&*program.json).into()), Arg::texts(&program.values)]
}

impl Database {
    /// Calls the database once to read. The call may be repeated if its connection is lost.
    pub(crate) async fn read(&self, tenant: &TenantId, program: &Encoded) -> Outcome<Vec<Row>> {
        let args = values_of_read(program);
        let connection = self.pool.get_to_read().await?;
        let rows = Db::new(connection.client()?, &self.schema, tenant).rows(READ, &args).await;
        connection.end(rows.map_err(Failure::or_again))
    }

    /// Calls the database once to write, under READ COMMITTED. The call may be repeated if its connection is lost: its
    /// transactions are recognized.
    ///
    /// The server begins the transaction under its default isolation level, which usually is that one. Only once
    /// it was another, the transaction is begun by statements of its own, which cost more.
    pub(crate) async fn write(
        &self,
        tenant: &TenantId,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Outcome<Vec<Row>> {
        let connection = self.pool.get().await?;
        let db = Db::new(connection.client()?, &self.schema, tenant);
        let rows = match self.pool.begins_transactions() {
            true => db.rows_of_transaction(sql, args).await,
            false => db.rows(sql, args).await,
        };
        let rows = rows.map_err(|failure| match failure.is_of_isolation() {
            true => {
                self.pool.begin_transactions();
                failure.repeatable()
            }
            false => failure.or_again(),
        });
        connection.end(rows)
    }

    /// Repeats a call while it fails in a way that allows it.
    pub(crate) async fn retried<T, F>(&self, mut call: impl FnMut() -> F) -> Outcome<T>
    where
        F: Future<Output = Outcome<T>>,
    {
        self.pool
            .bounded(async {
                let mut tries = 1;
                loop {
                    match call().await {
                        Err(failure) if failure.may_repeat && tries < MAX_TRIES => {
                            sleep(BACKOFF.saturating_mul(1 << tries)).await;
                            tries += 1;
                        }
                        outcome => return outcome,
                    }
                }
            })
            .await
    }
}
