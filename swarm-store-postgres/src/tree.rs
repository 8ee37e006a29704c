//! The rows of the tree over the log.

use std::sync::Arc;

use async_trait::async_trait;
use swarm_core::domain::{Seq, Version};
use swarm_core::store::{Saved, TreeChange, TreeState, Versioned};
use tokio_postgres::Row;

use crate::commit::{Change, Commit};
use crate::db::{Arg, maybe_text, next, number, number_of, saved, signed};
use crate::failure::Outcome;

/// The stored state.
pub(crate) const STATE: &str =
    "SELECT version, log, size, checkpoint FROM swarm.trees WHERE tenant = $1";

/// A stored tile, of a log, level and number.
pub(crate) const TILES: &str = "SELECT level, number, hashes FROM swarm.tiles
    WHERE tenant = $1 AND log = $2 AND (level, number) IN (SELECT * FROM unnest($3, $4))";

pub(crate) fn state(row: &Row) -> Outcome<Versioned<TreeState>> {
    let checkpoint = row.try_get::<_, Option<&str>>(3)?.map(Arc::from);
    let (log, size) = (number_of(row, 1)?, Seq(number_of(row, 2)?));
    let record = Arc::new(TreeState { log, size, checkpoint });
    Ok(Versioned { version: Version(number_of(row, 0)?), record })
}

/// No change of the records: it is not announced.
#[async_trait]
impl Change for TreeChange {
    type Made = Saved;

    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Saved> {
        const FIRST: &str = "INSERT INTO swarm.trees (tenant, version, log, size, checkpoint)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        const NEXT: &str =
            "UPDATE swarm.trees SET version = $2, log = $3, size = $4, checkpoint = $5
            WHERE tenant = $1 AND version = $6";
        const TILES: &str = "INSERT INTO swarm.tiles (tenant, log, level, number, hashes)
            SELECT $1, $2, * FROM unnest($3, $4, $5)
            ON CONFLICT (tenant, log, level, number) DO UPDATE SET hashes = excluded.hashes";
        let Self { expected, state, tiles } = self;
        let checkpoint = maybe_text(state.checkpoint.as_deref());
        let mut values = vec![next(*expected), number(state.log), number(state.size.0), checkpoint];
        let statement = match expected {
            None => FIRST,
            Some(expected) => {
                values.push(number(expected.0));
                NEXT
            }
        };
        let outcome = saved(commit.db().run(statement, &values).await?);
        if outcome == Saved::Saved && !tiles.is_empty() {
            let levels = tiles.iter().map(|(id, _)| i64::from(id.level)).collect();
            let numbers = tiles.iter().map(|(id, _)| signed(id.index)).collect();
            let hashes = tiles.iter().map(|(_, hashes)| hashes.clone()).collect();
            let values = [Arg::Numbers(levels), Arg::Numbers(numbers), Arg::ManyBytes(hashes)];
            let [levels, numbers, hashes] = values;
            commit.db().run(TILES, &[number(state.log), levels, numbers, hashes]).await?;
        }
        Ok(outcome)
    }
}
