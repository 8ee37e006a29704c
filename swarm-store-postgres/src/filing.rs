//! Files takes: those that wait together in one call of a function of the database.

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{Seq, TakeId};
use swarm_core::rules::Filing;
use swarm_core::store::{CLOCK_TOLERANCE_MILLIS, Filed, LogPosition, Result, StoreError};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio_postgres::Row;

use crate::db::{Arg, moment_of, number, number_of, signed, text};
use crate::failure::{Failure, Outcome};
use crate::group_commit::{Calls, WaitingTake};
use crate::takes::take;
use crate::tenant::TenantStore;

const OP: &str = "file";

impl TenantStore {
    /// Files a take, together with others that are waiting.
    pub(crate) async fn file_take(&self, filing: &Filing) -> Result<Filed> {
        // If another log begins before the take is sent, it must be judged again.
        let seen = self.seen.position();
        let log = (seen.size > Seq(0)).then_some(seen.log);
        let (caller, outcome) = oneshot::channel();
        let waiting = WaitingTake { filing: filing.clone(), log, caller };
        if let Some(calls) = self.shared.add(waiting) {
            // In a task of its own: the other takes must not depend on this caller being polled.
            tokio::spawn(self.clone().make_calls(calls));
        }
        match outcome.await {
            Ok(outcome) => outcome,
            // The call failed, or was never made. This take is sent alone: its attempt is recognized.
            Err(_) => self.file_alone(filing, log).await,
        }
    }

    /// Files takes as long as some are waiting.
    async fn make_calls(self, mut calls: Calls) {
        loop {
            // Lets takes that are ready join.
            yield_now().await;
            let takes = calls.next();
            if takes.is_empty() {
                return;
            }
            self.file_waiting(takes).await;
        }
    }

    /// Files takes, and sends each caller the outcome. If the call for several takes fails, the senders are dropped.
    async fn file_waiting(&self, takes: Vec<WaitingTake>) {
        let log = self.seen.position().log;
        let (takes, outdated): (Vec<_>, Vec<_>) =
            takes.into_iter().partition(|take| take.log.is_none_or(|judged| judged >= log));
        outdated.into_iter().for_each(|take| drop(take.caller.send(Err(another_log()))));
        let filings: Vec<_> = takes.iter().map(|take| &take.filing).collect();
        if filings.is_empty() {
            return;
        }
        match self.file_together(&filings).await {
            Ok(outcomes) => {
                let sent = takes.into_iter().zip(outcomes);
                sent.for_each(|(take, outcome)| drop(take.caller.send(outcome)));
            }
            Err(error) => {
                if let Ok([take]) = <[_; 1]>::try_from(takes) {
                    drop(take.caller.send(Err(error)));
                }
            }
        }
    }

    async fn file_alone(&self, filing: &Filing, log: Option<u64>) -> Result<Filed> {
        if log.is_some_and(|judged| judged < self.seen.position().log) {
            return Err(another_log());
        }
        let filed = self.file_together(&[filing]).await?;
        let missing = || Failure::corrupt("no outcome of a take").of(OP);
        filed.into_iter().next().unwrap_or_else(|| Err(missing()))
    }

    /// Files takes in one commit; returns the outcome of each.
    async fn file_together(&self, filings: &[&Filing]) -> Result<Vec<Result<Filed>>> {
        let _changing = self.seen.changing();
        let seen = self.seen.position();
        let rows = self.retried(|| self.call(filings, &seen)).await;
        let filed = rows.and_then(|rows| Ok((position(&rows, &seen)?, outcomes(&rows, filings)?)));
        let (position, outcomes) = self.seen.note(filed.map_err(|failure| failure.of(OP)))?;
        self.seen.advance(position);
        Ok(outcomes.into_iter().map(|outcome| self.seen.note(outcome)).collect())
    }

    async fn call(&self, filings: &[&Filing], seen: &LogPosition) -> Outcome<Vec<Row>> {
        const FILE: &str =
            "SELECT * FROM swarm.file_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
            $13, $14, $15, $16, $17, $18)";
        let values = values(filings, seen);
        let connection = self.pool.get().await?;
        let filed = self.db(connection.client()?).rows(FILE, &values).await;
        // Its attempts are recognized.
        connection.end(filed.map_err(Failure::or_again))
    }
}

fn another_log() -> StoreError {
    StoreError::contended(OP, "another log has begun")
}

fn values<'a>(filings: &[&'a Filing], seen: &'a LogPosition) -> [Arg<'a>; 17] {
    // The id and the time do not matter here.
    let takes: Vec<_> = filings.iter().map(|it| it.take(TakeId(0), Timestamp::EPOCH)).collect();
    let texts = |of: &dyn Fn(&'a Filing) -> &'a str| Arg::texts(filings.iter().map(|it| of(it)));
    let numbers = |of: &dyn Fn(&Filing) -> u64| {
        Arg::Numbers(filings.iter().map(|filing| signed(of(filing))).collect())
    };
    let deadline = |filing: &&Filing| filing.commit_deadline().map(Timestamp::millis);
    let dates = filings.iter().map(|filing| filing.newest_of().0.to_string().into());
    let keys = takes.iter().map(|take| take.public_key.to_string().into());
    let signatures = takes.iter().map(|take| take.signed.signature.as_str().to_owned().into());
    [
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
    let (outcome, log): (&str, _) = (row.try_get(0)?, number_of(row, 1)?);
    let mark: Option<&str> = row.try_get(7)?;
    match outcome {
        "log" => {
            let last = mark.unwrap_or_default().into();
            Ok(LogPosition { log, size: Seq(number_of(row, 2)?), last })
        }
        _ => {
            seen.check_commit(log, mark)?;
            Err(Failure::corrupt("the log is another, and the same"))
        }
    }
}

/// The outcome of each take.
fn outcomes(rows: &[Row], filings: &[&Filing]) -> Outcome<Vec<Result<Filed>>> {
    if rows.len() != filings.len() + 1 {
        return Err(Failure::corrupt("too few outcomes"));
    }
    rows.iter().zip(filings).map(|(row, filing)| outcome(row, filing)).collect()
}

fn outcome(row: &Row, filing: &Filing) -> Outcome<Result<Filed>> {
    Ok(Ok(match row.try_get(0)? {
        "filed" => {
            let take = filing.take(TakeId(number_of(row, 1)?), moment_of(row, 2)?);
            Filed::Filed(Arc::new(take))
        }
        "again" => Filed::Filed(take(row, 1)?),
        "stale" => Filed::Stale,
        "late" => Filed::Late,
        "nonce used" => Filed::NonceUsed,
        "revision taken" => Filed::RevisionTaken,
        "clock behind" => return Ok(Err(StoreError::clock_behind(OP))),
        other => return Err(Failure::corrupt(other)),
    }))
}
