//! The change feed: the number of commits of each tenant, compared with that at the last call.
//!
//! A commit is in the number that a later call reads, so nothing is announced before it is committed, and
//! nothing is missed, whichever process commits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use swarm_core::TenantId;
use swarm_core::store::{Changes, Result};
use tokio_postgres::Row;

use crate::failure::{Failure, Outcome};
use crate::pool::Pool;
use crate::schema::Schema;
use crate::values::{moment_of, number_of};

/// The number of commits of each tenant at the last call; `None` before the first.
#[derive(Debug, Default)]
pub(crate) struct LastCommits(Mutex<Option<BTreeMap<TenantId, u64>>>);

impl LastCommits {
    /// The tenants whose number has changed since the last call.
    pub(crate) async fn changes(&self, pool: &Pool, schema: &Schema) -> Result<Changes> {
        const COMMITS: &str = "SELECT swarm.clock(transaction_timestamp()), tenant, commits
            FROM (SELECT) AS one LEFT JOIN swarm.tenants ON true";
        const OP: &str = "changes";
        let rows = pool.rows(&schema.qualify(COMMITS)).await.map_err(|failure| failure.of(OP))?;
        let read = || -> Outcome<_> {
            let Some(first) = rows.first() else { return Err(Failure::corrupt("no time")) };
            Ok((moment_of(first, 0)?, rows.iter().filter_map(commits).collect::<Outcome<_>>()?))
        };
        let (now, commits): (_, BTreeMap<_, _>) = read().map_err(|failure| failure.of(OP))?;
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(commits.clone());
        Ok(Changes { now, tenants: before.and_then(|before| changed(&before, &commits)) })
    }
}

/// The tenant of a row, and the number of its commits; `None` where there is no tenant.
fn commits(row: &Row) -> Option<Outcome<(TenantId, u64)>> {
    let read = || {
        let Some(tenant) = row.try_get::<_, Option<&str>>(1)? else { return Ok(None) };
        Ok(Some((TenantId::parse(tenant)?, number_of(row, 2)?)))
    };
    read().transpose()
}

/// The tenants whose number differs. `None` where a tenant is gone: the database was restored.
fn changed(
    before: &BTreeMap<TenantId, u64>,
    now: &BTreeMap<TenantId, u64>,
) -> Option<Vec<TenantId>> {
    let is_whole = before.keys().all(|tenant| now.contains_key(tenant));
    // A commit that was refused may leave a tenant without one.
    let differs = |(tenant, commits): &(&TenantId, &u64)| {
        before.get(*tenant).copied().unwrap_or(0) != **commits
    };
    is_whole.then(|| now.iter().filter(differs).map(|(tenant, _)| tenant.clone()).collect())
}
