//! The store of one tenant: reads over any connection, commits with retries.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::store::{Clock, Log as _, LogPosition, Result, SeenLog, time_of_read};
use swarm_core::{TenantId, Timestamp};
use tokio::time::sleep;
use tokio_postgres::{Client, Row};

use crate::commit::{Change, Commit};
use crate::db::{Arg, Db, moment_of, number, timestamp, unsigned};
use crate::failure::{Failure, Outcome};
use crate::group_commit::Shared;
use crate::pool::Pool;
use crate::schema::Schema;

/// How often a call is tried that the server undoes because of others, or whose connection is lost.
const MAX_TRIES: u32 = 6;

/// The time before the second try; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(5);

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
    pub(crate) fn db<'a>(&'a self, client: &'a Client) -> Db<'a> {
        Db::new(client, &self.schema, &self.tenant)
    }

    /// The rows that one statement finds, in one snapshot.
    pub(crate) async fn rows(
        &self,
        op: &'static str,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<Row>> {
        let read = async || {
            let connection = self.pool.get().await?;
            let found = self.db(connection.client()?).rows(sql, args).await;
            connection.end(found.map_err(Failure::or_again))
        };
        self.retried(read).await.map_err(|failure| failure.of(op))
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

    /// Commits a change. When this returns `Ok`, it is durable; after an error its outcome is unknown, unless
    /// that says otherwise.
    pub(crate) async fn commit<C: Change>(&self, op: &'static str, change: &C) -> Result<C::Made> {
        let committed = self.commit_as(op, change, true).await;
        self.learn(committed).await
    }

    /// The same, even if the log does not continue from the position seen.
    pub(crate) async fn commit_unchecked<C: Change>(
        &self,
        op: &'static str,
        change: &C,
    ) -> Result<C::Made> {
        self.commit_as(op, change, false).await
    }

    /// After another log has begun, learns its position.
    pub(crate) async fn learn<T>(&self, committed: Result<T>) -> Result<T> {
        if committed.as_ref().is_err_and(swarm_core::StoreError::is_contended) {
            self.log_position().await?;
        }
        committed
    }

    async fn commit_as<C: Change>(
        &self,
        op: &'static str,
        change: &C,
        is_checked: bool,
    ) -> Result<C::Made> {
        let _changing = self.seen.changing();
        let committed = self.retried(|| self.try_commit(change, is_checked)).await;
        let (made, position) = self.seen.note(committed.map_err(|failure| failure.of(op)))?;
        self.seen.advance(position);
        Ok(made)
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

    async fn try_commit<C: Change>(
        &self,
        change: &C,
        is_checked: bool,
    ) -> Outcome<(C::Made, LogPosition)> {
        let turn = self.shared.commits.acquire().await;
        let _turn = turn.map_err(|closed| Failure::unavailable(closed.to_string()))?;
        let connection = self.pool.get().await?;
        let client = connection.client()?;
        let made = async {
            let timeout = self.pool.timeout().as_millis();
            let seen = is_checked.then(|| self.seen.position());
            let begun = Commit::begin(client, self.db(client), timeout, seen.as_ref());
            // Nothing can be committed yet.
            let mut commit = begun.await.map_err(Failure::or_again)?;
            let made = change.make(&mut commit).await?;
            Ok((made, commit.end().await?))
        };
        let made: Outcome<_> = made.await;
        if made.as_ref().is_err_and(|failure: &Failure| !failure.breaks_connection) {
            let undone = client.batch_execute("ROLLBACK").await;
            return connection.end(undone.map_err(Failure::from).and(made));
        }
        connection.end(made)
    }

    /// Checks that commits are not blocked by the log or the clock.
    pub(crate) async fn may_commit(&self) -> Result<()> {
        const OP: &str = "ready";
        const FACTS: &str = "SELECT t.log, t.last_at, swarm.clock_1(),
                (SELECT swarm.mark_1(at, take, committee_take, act) FROM swarm.log
                 WHERE tenant = $1 AND seq = $2)
            FROM (SELECT) AS one LEFT JOIN swarm.tenants t ON t.tenant = $1";
        let seen = self.seen.position();
        let size = [number(seen.size.0)];
        let facts = self.one(OP, FACTS, &size, |row| {
            let log = row.try_get::<_, Option<i64>>(0)?.unwrap_or(1);
            let last_at = row.try_get::<_, Option<i64>>(1)?.map(timestamp).transpose()?;
            let mark: Option<String> = row.try_get(3)?;
            Ok((unsigned(log)?, last_at, moment_of(row, 2)?, mark))
        });
        let Some((log, last_at, clock, mark)) = facts.await? else { return Ok(()) };
        seen.check_facts(log, mark.as_deref())?;
        swarm_core::store::time_of_commit(clock, last_at).map(drop)
    }
}

#[async_trait]
impl Clock for TenantStore {
    async fn now(&self) -> Result<Timestamp> {
        const NOW: &str =
            "SELECT swarm.clock_1(), (SELECT last_at FROM swarm.tenants WHERE tenant = $1)";
        let now = self.one("now", NOW, &[], |row| {
            let last_at = row.try_get::<_, Option<i64>>(1)?.map(timestamp).transpose()?;
            Ok(time_of_read(moment_of(row, 0)?, last_at))
        });
        Ok(now.await?.unwrap_or(Timestamp::EPOCH))
    }
}
