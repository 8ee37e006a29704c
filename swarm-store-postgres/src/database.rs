//! The connections and the schema: calls that read and write, with retries.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join3;
use swarm_core::store::backend::Query;
use tokio::time::{Instant, sleep};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use crate::compiled::Scripts;
use crate::failure::{Failure, Outcome};
use crate::pool::{Connection, Pool};
use crate::reads::{Members, ReadScript, grouped};
use crate::schema::Schema;
use crate::script::Script;

/// How often a call is tried that the server undoes because of others, or whose connection is lost.
const MAX_TRIES: u32 = 6;

/// The time before the second try; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(5);

/// The connections, and the schema. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    pub(crate) schema: Arc<Schema>,
    pub(crate) scripts: Arc<Scripts>,
}

/// Values of a statement, with their types.
pub(crate) type Args<'a> = [(&'a (dyn ToSql + Sync), Type)];

impl Database {
    /// The script of queries, and their values.
    pub(crate) fn script_of<'a>(
        &self,
        queries: &'a [Query],
    ) -> (Arc<ReadScript>, Vec<Members<'a>>) {
        let (groups, members) = grouped(queries);
        (self.scripts.read(groups, &self.schema), members)
    }

    /// Calls the database once to read. The call may be repeated if its connection is lost.
    pub(crate) async fn read(&self, script: &Script, sql: &str) -> Outcome<Vec<Row>> {
        let connection = self.pool.get_to_read().await?;
        self.call(connection, &[script], "BEGIN", sql, &[]).await
    }

    /// Calls the database once to write, under READ COMMITTED. The call may be repeated if its connection is lost: its
    /// transactions are recognized.
    ///
    /// The server begins the transaction under its default isolation level, which usually is that one. Only once
    /// it was another, the transaction is begun by statements of its own, which cost more.
    ///
    /// The first value is the tenant. The second one, before the others, is how long the commit may wait for the tenant's lock, in milliseconds: less than
    /// what is left of the call that `began` then, so that a commit whose caller has given up meanwhile is not made.
    pub(crate) async fn write(
        &self,
        scripts: &[&Script],
        sql: &str,
        (tenant, began): (&str, Instant),
        others: &Args<'_>,
    ) -> Outcome<Vec<Row>> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
        let connection = self.pool.get().await?;
        let patience = (self.pool.timeout() * 4 / 5).saturating_sub(began.elapsed());
        // Of none, PostgreSQL makes no limit.
        let patience = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX).max(1);
        let first: &Args<'_> = &[(&tenant, Type::TEXT), (&patience, Type::INT8)];
        let args = [first, others].concat();
        let rows = self.call(connection, scripts, BEGIN, sql, &args).await;
        rows.map_err(|failure| match failure.is_of_isolation() {
            true => {
                self.pool.begin_transactions();
                failure.repeatable()
            }
            false => failure,
        })
    }

    /// Runs a statement that uses these scripts. Those that were not made in the session yet are made in the same transaction,
    /// which then begins by `begin`: a pooler may give another session to the next one.
    async fn call(
        &self,
        mut connection: Connection,
        scripts: &[&Script],
        begin: &str,
        sql: &str,
        args: &Args<'_>,
    ) -> Outcome<Vec<Row>> {
        let new: Vec<_> = scripts.iter().filter(|it| !connection.has_made(&it.name)).collect();
        let has_values = !args.is_empty();
        let rows = match new.is_empty() && !(has_values && self.pool.begins_transactions()) {
            true => connection.client().query_typed(sql, args).await.map_err(Failure::from),
            false => {
                let begin = [begin].into_iter().chain(new.iter().map(|script| &*script.setup));
                let begin = begin.collect::<Vec<_>>().join("; ");
                rows_of_transaction(connection.client(), &begin, sql, args).await
            }
        };
        let rows = match rows {
            Ok(rows) => {
                connection.note_made(new.iter().map(|script| Arc::clone(&script.name)));
                Ok(rows)
            }
            Err(failure) if new.len() < scripts.len() && failure.is_of_session() => {
                connection.forget_made();
                Err(failure.repeatable())
            }
            Err(failure) => Err(failure.or_again()),
        };
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

/// The rows of a statement in a transaction of its own, which begins by `begin`. All is sent at once.
async fn rows_of_transaction(
    client: &Client,
    begin: &str,
    sql: &str,
    args: &Args<'_>,
) -> Outcome<Vec<Row>> {
    let begin = client.batch_execute(begin);
    let rows = client.query_typed(sql, args);
    // After an error of the statement it rolls back.
    let commit = client.batch_execute("COMMIT");
    let (begun, rows, committed) = join3(begin, rows, commit).await;
    begun?;
    let rows = rows?;
    committed?;
    Ok(rows)
}
