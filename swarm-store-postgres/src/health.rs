//! What may get lost: checks the settings of the server, for `connect` and `ready`.

use swarm_core::store::{Readiness, Result};
use tokio_postgres::Row;

use crate::failure::{Failure, NO_WRITES, Outcome};
use crate::options::Options;
use crate::pool::Pool;
use crate::schema::Schema;

/// Warn from this many transactions before the ids of transactions run out and the server stops writes.
const TRANSACTIONS_LEFT: i64 = 100_000_000;

/// Warn from this share of the connections in use, in per cent.
const CONNECTIONS_WARNING: i64 = 90;

/// The settings and figures of the server.
struct Server {
    is_standby: bool,
    /// Whether it takes no writes: it is a standby, or its default is to take none.
    is_read_only: bool,
    synchronous_commit: String,
    fsync: String,
    full_page_writes: String,
    synchronous_standby_names: String,
    /// The standbys that are connected.
    standbys: i64,
    /// The age of the oldest transaction id in the database.
    transaction_age: i64,
    connections: i64,
    max_connections: i64,
    /// PostgreSQL does not tell how much space is left: it shows once a commit fails.
    has_full_disk: bool,
    /// Whether the role may make temporary functions.
    may_make_functions: bool,
}

/// What the role needs beside rights on the tables.
const NO_TEMPORARY: &str = "this role may not make temporary functions, by which commits are made: grant it TEMPORARY on the database";

/// Checks that the server takes writes, unless it is only read, and has no other layout. Warns of what may lose
/// acknowledged commits; in strict mode that is an error.
pub(crate) async fn check(
    pool: &Pool,
    schema: &Schema,
    op: &'static str,
    options: &Options,
) -> Result<Readiness> {
    const SERVER: &str = include_str!("queries/server.sql");
    let found = pool.call(async |client| {
        schema.is_created(client).await?;
        let rows = client.query_typed(SERVER, &[]).await?;
        let row = rows.first().ok_or_else(|| Failure::corrupt("no settings"))?;
        server(row, pool.has_full_disk())
    });
    let server = pool.bounded(found).await.map_err(|failure| failure.of(op))?;
    server.judge(options).map_err(|failure| failure.of(op))
}

fn server(row: &Row, has_full_disk: bool) -> Outcome<Server> {
    Ok(Server {
        is_standby: row.try_get(0)?,
        is_read_only: row.try_get(9)?,
        synchronous_commit: row.try_get(1)?,
        fsync: row.try_get(2)?,
        full_page_writes: row.try_get(3)?,
        synchronous_standby_names: row.try_get(4)?,
        standbys: row.try_get(5)?,
        transaction_age: row.try_get(6)?,
        connections: row.try_get(7)?,
        max_connections: row.try_get(8)?,
        has_full_disk,
        may_make_functions: row.try_get(10)?,
    })
}

impl Server {
    fn judge(&self, options: &Options) -> Outcome<Readiness> {
        let obstacle = if self.is_standby || self.is_read_only {
            Some(NO_WRITES)
        } else if !self.may_make_functions {
            Some(NO_TEMPORARY)
        } else {
            None
        };
        if let Some(obstacle) = obstacle {
            return match options.is_read_only {
                true => Ok(Readiness { warnings: vec![obstacle.to_owned()] }),
                false => Err(Failure::misconfigured(obstacle)),
            };
        }
        let mut warnings = self.losses();
        if options.strict && !warnings.is_empty() {
            return Err(Failure::misconfigured(format!("strict: {}", warnings.join("; "))));
        }
        warnings.extend(self.troubles());
        Ok(Readiness { warnings })
    }

    /// What may lose an acknowledged commit.
    fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        let down = "postgres may lose acknowledged writes when its machine goes down";
        let of_disk = [("fsync", &self.fsync), ("full_page_writes", &self.full_page_writes)];
        for (setting, value) in of_disk.into_iter().filter(|(_, value)| *value != "on") {
            losses.push(format!("{down}: {setting} is {value}"));
        }
        match self.synchronous_commit.as_str() {
            "off" => losses.push(
                "postgres may lose acknowledged writes when it goes down: synchronous_commit is off".to_owned(),
            ),
            "local" if self.waits_for_standbys() => losses.push(
                "a failover may lose acknowledged writes: synchronous_commit is local, so no commit waits for \
                 the standbys of synchronous_standby_names"
                    .to_owned(),
            ),
            _ => {}
        }
        if !self.waits_for_standbys() && self.standbys > 0 {
            losses.push(
                "a failover may lose acknowledged writes: there are standbys, and no commit waits for them: \
                 synchronous_standby_names is empty"
                    .to_owned(),
            );
        }
        losses
    }

    /// What may stop commits, or does.
    fn troubles(&self) -> Vec<String> {
        let mut troubles = Vec::new();
        if self.waits_for_standbys()
            && self.standbys == 0
            && !matches!(self.synchronous_commit.as_str(), "off" | "local")
        {
            troubles.push(
                "no write is acknowledged: each waits for the standbys of synchronous_standby_names, and none \
                 is connected"
                    .to_owned(),
            );
        }
        let left = (1_i64 << 31) - self.transaction_age;
        if left < TRANSACTIONS_LEFT {
            troubles.push(format!(
                "postgres stops writes in less than {left} transactions: its oldest transaction id is that old; \
                 let VACUUM run"
            ));
        }
        if self.connections * 100 > self.max_connections * CONNECTIONS_WARNING {
            troubles.push(format!(
                "postgres has {} connections, and max_connections is {}",
                self.connections, self.max_connections
            ));
        }
        if self.has_full_disk {
            troubles
                .push("postgres has no space left on its disk: the last commit failed".to_owned());
        }
        troubles
    }

    fn waits_for_standbys(&self) -> bool {
        !self.synchronous_standby_names.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_ids_that_run_out_are_warned_of() {
        let server = |transaction_age| Server {
            is_standby: false,
            is_read_only: false,
            synchronous_commit: "on".to_owned(),
            fsync: "on".to_owned(),
            full_page_writes: "on".to_owned(),
            synchronous_standby_names: String::new(),
            standbys: 0,
            transaction_age,
            connections: 1,
            max_connections: 100,
            has_full_disk: false,
            may_make_functions: true,
        };
        let options = Options::default().strict(true);
        let safe = (1 << 31) - TRANSACTIONS_LEFT;
        assert_eq!(server(safe).judge(&options).unwrap().warnings, [""; 0]);
        let warnings = server(safe + 1).judge(&options).unwrap().warnings;
        assert!(warnings[0].contains("let VACUUM run"), "{warnings:?}");
    }
}
