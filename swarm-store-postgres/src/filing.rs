//! Files takes: those that wait together in one call of a function of the database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::TakeId;
use swarm_core::rules::Filing;
use swarm_core::store::records::proof_text;
use swarm_core::store::{
    BatchCommit, CLOCK_TOLERANCE_MILLIS, Filed, LogPosition, Result, SeenLog, StoreError,
};
use tokio::time::sleep;
use tokio_postgres::Row;

use crate::db::{Arg, moment_of, number, number_of, position_of, signed, text};
use crate::failure::{Failure, Outcome};
use crate::takes::take;
use crate::tenant::TenantStore;

const OP: &str = "file";

/// Takes in one call.
const MAX_BATCH: usize = 64;

/// How long a take that is held back waits before it is sent again.
const HOLD_RETRY_DELAY: Duration = Duration::from_millis(5);

impl TenantStore {
    /// Files a take, together with others that are waiting; sends it again while it is held back.
    pub(crate) async fn file_take(&self, filing: &Filing) -> Result<Filed> {
        loop {
            let spawn = |calls| drop(tokio::spawn(calls));
            let group = &self.shared.group_commit;
            if let Some(filed) = group.commit(self, filing.clone(), spawn).await? {
                return Ok(filed);
            }
            sleep(HOLD_RETRY_DELAY).await;
        }
    }
}

#[async_trait]
impl BatchCommit for TenantStore {
    type Take = Filing;
    /// `None` while the session is held back.
    type Outcome = Option<Filed>;

    fn fits(batch: &[&Filing], _next: &Filing) -> bool {
        batch.len() < MAX_BATCH
    }

    fn seen(&self) -> &SeenLog {
        &self.seen
    }

    async fn commit_batch(
        &self,
        filings: &[&Filing],
        seen: &LogPosition,
    ) -> Result<Vec<Option<Result<Option<Filed>>>>> {
        const FILE: &str =
            "SELECT * FROM swarm.file_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
            $13, $14, $15, $16, $17, $18, $19)";
        let values = values(self.patience(), filings, seen);
        let rows = self.pool.note(self.retried(|| self.call(FILE, &values)).await);
        let filed = rows.and_then(|rows| Ok((position(&rows, seen)?, outcomes(&rows, filings)?)));
        let (position, outcomes) = self.seen.note(filed.map_err(|failure| failure.of(OP)))?;
        self.seen.advance(position);
        Ok(outcomes.into_iter().map(|outcome| Some(self.seen.note(outcome))).collect())
    }
}

fn values<'a>(patience: Arg<'a>, filings: &[&'a Filing], seen: &'a LogPosition) -> [Arg<'a>; 18] {
    // The id and the time do not matter here.
    let takes: Vec<_> = filings.iter().map(|it| it.take(TakeId(0), Timestamp::EPOCH)).collect();
    let texts = |of: &dyn Fn(&'a Filing) -> &'a str| Arg::texts(filings.iter().map(|it| of(it)));
    let numbers = |of: &dyn Fn(&Filing) -> u64| {
        Arg::Numbers(filings.iter().map(|filing| signed(of(filing))).collect())
    };
    let deadline = |filing: &&Filing| filing.commit_deadline().map(Timestamp::millis);
    let dates = filings.iter().map(|filing| filing.newest_of().0.to_string().into());
    let keys = takes.iter().map(|take| take.public_key.to_string().into());
    let signatures = takes.iter().map(|take| proof_text(take).into());
    [
        patience,
        number(seen.log),
        number(seen.size.0),
        text(&seen.last),
        Arg::Number(CLOCK_TOLERANCE_MILLIS),
        texts(&|filing| filing.member().0.as_str()),
        numbers(&|filing| filing.member().1.0),
        numbers(&|filing| filing.session().0.0),
        numbers(&|filing| filing.session().1.0),
        Arg::Texts(dates.collect()),
        texts(&|filing| filing.newest_of().1.as_str()),
        Arg::MaybeNumbers(filings.iter().map(deadline).collect()),
        texts(&|filing| filing.nonce().as_str()),
        Arg::ManyBytes(filings.iter().map(|filing| filing.attempt().0.to_vec()).collect()),
        numbers(&|filing| filing.revision().get().into()),
        Arg::Texts(keys.collect()),
        Arg::Texts(signatures.collect()),
        texts(&|filing| filing.canonical()),
    ]
}

/// The position of the log after the commit, from the last row.
fn position(rows: &[Row], seen: &LogPosition) -> Outcome<LogPosition> {
    let Some(row) = rows.last() else { return Err(Failure::corrupt("no outcome")) };
    let position = position_of(row, [1, 2, 7])?;
    match row.try_get(0)? {
        "log" => Ok(position),
        _ => {
            seen.check_commit(position.log, row.try_get(7)?)?;
            Err(Failure::corrupt("the log is another, and the same"))
        }
    }
}

/// The outcome of each take.
fn outcomes(rows: &[Row], filings: &[&Filing]) -> Outcome<Vec<Result<Option<Filed>>>> {
    if rows.len() != filings.len() + 1 {
        return Err(Failure::corrupt("too few outcomes"));
    }
    rows.iter().zip(filings).map(|(row, filing)| outcome(row, filing)).collect()
}

fn outcome(row: &Row, filing: &Filing) -> Outcome<Result<Option<Filed>>> {
    Ok(Ok(Some(match row.try_get(0)? {
        "filed" => {
            let take = filing.take(TakeId(number_of(row, 1)?), moment_of(row, 2)?);
            Filed::Filed(Arc::new(take))
        }
        "again" => Filed::Filed(take(row, 1)?),
        "stale" => Filed::Stale,
        "late" => Filed::Late,
        "nonce used" => Filed::NonceUsed,
        "revision taken" => Filed::RevisionTaken,
        "held" => return Ok(Ok(None)),
        "clock behind" => return Ok(Err(StoreError::clock_behind(OP))),
        other => return Err(Failure::corrupt(other)),
    })))
}
