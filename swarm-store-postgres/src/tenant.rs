//! The store of one tenant: reads over any connection, commits with retries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::store::{Clock, GroupCommit, Log as _, LogPosition, Result, SeenLog};
use swarm_core::{TenantId, Timestamp};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_postgres::Row;

use crate::db::{Arg, Db, maybe_moment_of, moment_of, number, number_of, time_of};
use crate::failure::{Failure, Outcome};
use crate::pool::Pool;
use crate::schema::Schema;

/// How often a call is tried that the server undoes because of others, or whose connection is lost.
const MAX_TRIES: u32 = 6;

/// The time before the second try; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(5);

/// Commits other than filings in progress at the same time, for one tenant. They wait for each other in the database;
/// without a limit they would hold all connections of the pool meanwhile.
const MAX_COMMITS: usize = 2;

/// What the handles of each tenant share.
#[derive(Default)]
pub(crate) struct SharedByTenant(Mutex<HashMap<TenantId, Arc<Shared>>>);

/// What the handles of one tenant share.
pub(crate) struct Shared {
    pub(crate) group_commit: Arc<GroupCommit<TenantStore>>,
    /// A permit for each commit that is not a filing.
    pub(crate) commits: Semaphore,
}

impl Default for Shared {
    fn default() -> Self {
        Self { group_commit: Arc::default(), commits: Semaphore::new(MAX_COMMITS) }
    }
}

impl SharedByTenant {
    pub(crate) fn of(&self, tenant: &TenantId) -> Arc<Shared> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(tenant.clone()).or_default())
    }
}

/// One tenant's part of the store.
#[derive(Clone)]
pub(crate) struct TenantStore {
    pub(crate) pool: Pool,
    pub(crate) schema: Arc<Schema>,
    pub(crate) tenant: TenantId,
    pub(crate) seen: Arc<SeenLog>,
    pub(crate) shared: Arc<Shared>,
}

impl TenantStore {
    /// Calls the database once to read. The call may be repeated if its connection is lost.
    async fn read(&self, sql: &str, args: &[Arg<'_>]) -> Outcome<Vec<Row>> {
        let connection = self.pool.get_to_read().await?;
        let rows = Db::new(connection.client()?, &self.schema, &self.tenant).rows(sql, args).await;
        connection.end(rows.map_err(Failure::or_again))
    }

    /// Calls the database once to write, under READ COMMITTED. The call may be repeated if its connection is lost: its
    /// attempt is recognized.
    ///
    /// The server begins the transaction under its default isolation level, which usually is that one. Only once
    /// it was another, the transaction is begun by statements of its own, which cost more.
    pub(crate) async fn call(&self, sql: &str, args: &[Arg<'_>]) -> Outcome<Vec<Row>> {
        let connection = self.pool.get().await?;
        let db = Db::new(connection.client()?, &self.schema, &self.tenant);
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

    /// The rows that one statement finds, in one snapshot.
    pub(crate) async fn rows(
        &self,
        op: &'static str,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<Row>> {
        self.retried(|| self.read(sql, args)).await.map_err(|failure| failure.of(op))
    }

    /// The rows that one statement finds, each as `read` reads it.
    pub(crate) async fn all<T>(
        &self,
        op: &'static str,
        sql: &str,
        args: &[Arg<'_>],
        read: impl Fn(&Row) -> Outcome<T>,
    ) -> Result<Vec<T>> {
        let found = self.rows(op, sql, args).await?;
        found.iter().map(read).collect::<Outcome<_>>().map_err(|failure| failure.of(op))
    }

    /// The row that one statement finds, if any.
    pub(crate) async fn one<T>(
        &self,
        op: &'static str,
        sql: &str,
        args: &[Arg<'_>],
        read: impl Fn(&Row) -> Outcome<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(op, sql, args, read).await?.into_iter().next())
    }

    /// The facts of the row that one statement finds: the time of the clock, the time of the last row of the log, the number
    /// of the log, the fingerprint of its row that was seen last, and what `read` reads.
    pub(crate) async fn facts<T>(
        &self,
        op: &'static str,
        sql: &str,
        seen: &LogPosition,
        args: &[Arg<'_>],
        read: impl Fn(&Row) -> Outcome<T>,
    ) -> Result<T> {
        let facts = self.one(op, sql, args, |row| {
            seen.check_facts(number_of(row, 2)?, row.try_get(3)?)?;
            read(row)
        });
        let facts = self.seen.note(facts.await)?;
        facts.ok_or_else(|| Failure::corrupt("no facts").of(op))
    }

    /// After another log has begun, learns its position.
    pub(crate) async fn learn<T>(&self, committed: Result<T>) -> Result<T> {
        if committed.as_ref().is_err_and(swarm_core::StoreError::is_contended) {
            self.log_position().await?;
        }
        committed
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

    /// How long a commit waits for the lock of its tenant, in milliseconds: shorter than the call is waited for, so that a
    /// commit whose caller has given up is not made later.
    pub(crate) fn patience(&self) -> Arg<'static> {
        let patience = self.pool.timeout() * 4 / 5;
        Arg::Number(i64::try_from(patience.as_millis()).unwrap_or(i64::MAX))
    }

    /// Checks that commits are not blocked by the log or the clock.
    pub(crate) async fn may_commit(&self) -> Result<()> {
        const OP: &str = "ready";
        const FACTS: &str =
            "SELECT coalesce(t.log, 1), t.last_at, swarm.clock_1(), swarm.fingerprint_1($1, $2)
            FROM (SELECT) AS one LEFT JOIN swarm.tenants t ON t.tenant = $1";
        let seen = self.seen.position();
        let size = [number(seen.size.0)];
        let facts = self.one(OP, FACTS, &size, |row| {
            let fingerprint: Option<String> = row.try_get(3)?;
            Ok((number_of(row, 0)?, maybe_moment_of(row, 1)?, moment_of(row, 2)?, fingerprint))
        });
        let Some((log, last_at, clock, fingerprint)) = facts.await? else { return Ok(()) };
        seen.check_facts(log, fingerprint.as_deref())?;
        swarm_core::store::time_of_commit(clock, last_at).map(drop)
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        const NOW: &str =
            "SELECT swarm.clock_1(), (SELECT last_at FROM swarm.tenants WHERE tenant = $1)";
        Ok(self.one("now", NOW, &[], time_of).await?.unwrap_or(Timestamp::EPOCH))
    }
}
