//! Commits: one call each of a function of the database, which locks the tenant, checks guards, writes, and appends to
//! the log. So no lock is held over a round trip.

use serde_json::Value;
use swarm_core::domain::SessionId;
use swarm_core::store::{Act, CLOCK_TOLERANCE_MILLIS, LogPosition, Result, Saved, StoreError};
use swarm_core::{Entropy as _, SystemEntropy, Timestamp};
use tokio_postgres::Row;

use crate::db::{Arg, maybe_moment_of, number, owned, position_of, signed, text};
use crate::failure::{Failure, Outcome};
use crate::schema::{self, LAYOUT};
use crate::tenant::TenantStore;

/// A change of the tenant's rows.
pub(crate) struct Change<'a> {
    pub(crate) op: &'static str,
    /// The statement, of the folder `commits`; `commit_1` in `layout/functions.sql` describes it.
    pub(crate) sql: &'static str,
    pub(crate) args: Value,
    /// Its entries in the log.
    pub(crate) acts: Vec<&'a Act>,
    /// The session whose takes it opens.
    pub(crate) opens: Option<SessionId>,
    pub(crate) mode: Mode,
}

/// The fields of entries that may have the id or the time of the commit.
const ASSIGNED: [&str; 5] = ["id", "log", "convenedAt", "publishedAt", "createdAt"];

/// What is checked, and what is appended besides the acts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Usual,
    /// A submission to the committee.
    Filing,
    AcceptClock,
    /// The log is not checked either.
    AcceptStore,
    /// Neither the clock nor the log is checked.
    Unchecked,
}

/// A commit, or why there is none.
pub(crate) struct Committed {
    pub(crate) outcome: String,
    /// The id that it assigned.
    pub(crate) id: u64,
    pub(crate) at: Timestamp,
    pub(crate) detail: Option<String>,
}

impl<'a> Change<'a> {
    pub(crate) fn new(op: &'static str, sql: &'static str, args: Value) -> Self {
        Self { op, sql, args, acts: Vec::new(), opens: None, mode: Mode::Usual }
    }

    pub(crate) fn with(self, acts: impl IntoIterator<Item = &'a Act>) -> Self {
        Self { acts: acts.into_iter().collect(), ..self }
    }
}

impl Committed {
    pub(crate) fn unknown(&self, op: &'static str) -> StoreError {
        Failure::corrupt(format!("the outcome {}", self.outcome)).of(op)
    }
}

impl TenantStore {
    /// Commits a change. It is sent again if its connection is lost, and recognized by its attempt then. When this
    /// returns `Ok`, it is durable; after an error its outcome is unknown, unless that says otherwise.
    pub(crate) async fn commit(&self, change: Change<'_>) -> Result<Committed> {
        let op = change.op;
        let attempt = new_attempt(op)?;
        let committed = self.retried(|| self.try_commit(&change, &attempt)).await;
        let committed = self.pool.note(committed);
        let committed = self.seen.note(committed.map_err(|failure| failure.of(op)));
        let (committed, position) = self.learn(committed).await?;
        self.seen.advance(position);
        Ok(committed)
    }

    /// Commits a change that is saved or stale.
    pub(crate) async fn save(&self, change: Change<'_>) -> Result<Saved> {
        let op = change.op;
        let committed = self.commit(change).await?;
        match &*committed.outcome {
            "saved" | "kept" => Ok(Saved::Saved),
            "stale" => Ok(Saved::Stale),
            _ => Err(committed.unknown(op)),
        }
    }

    async fn try_commit(
        &self,
        change: &Change<'_>,
        attempt: &[u8],
    ) -> Outcome<(Committed, LogPosition)> {
        const COMMIT: &str = "SELECT * FROM swarm.commit_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
            $11::text::jsonb, $12, $13, $14, $15)";
        let turn = self.shared.commits.acquire().await;
        let _turn = turn.map_err(|closed| Failure::unavailable(closed.to_string()))?;
        let seen = self.seen.position();
        let (mode, is_checked) = match change.mode {
            Mode::Usual => ("usual", true),
            Mode::Filing => ("filing", true),
            Mode::AcceptClock => ("accept clock", true),
            Mode::AcceptStore => ("accept store", false),
            Mode::Unchecked => ("unchecked", false),
        };
        let entries = change.acts.iter().map(|act| entry(act).into()).collect();
        let of = |act: &&Act| act.entry(0, Timestamp::EPOCH).session().map(|id| signed(id.0));
        let sql = self.schema.qualify(change.sql);
        let values = [
            Arg::Number(LAYOUT.into()),
            self.patience(),
            number(seen.log),
            number(if is_checked { seen.size.0 } else { 0 }),
            text(&seen.last),
            Arg::Number(CLOCK_TOLERANCE_MILLIS),
            Arg::Bytes(attempt),
            text(mode),
            text(&sql),
            owned(change.args.to_string()),
            Arg::Texts(entries),
            Arg::MaybeNumbers(change.acts.iter().map(of).collect()),
            Arg::MaybeText(None),
            Arg::MaybeNumber(change.opens.map(|id| signed(id.0))),
        ];
        let rows = self.call(COMMIT, &values).await?;
        let row = rows.first().ok_or_else(|| Failure::corrupt("no outcome"))?;
        committed(row, &seen)
    }
}

/// The id of a new attempt.
pub(crate) fn new_attempt(op: &'static str) -> Result<[u8; 16]> {
    let mut attempt = [0; 16];
    SystemEntropy.fill(&mut attempt).map_err(|error| StoreError::unavailable(op, error))?;
    Ok(attempt)
}

fn committed(row: &Row, seen: &LogPosition) -> Outcome<(Committed, LogPosition)> {
    let outcome: &str = row.try_get(0)?;
    let id: Option<i64> = row.try_get(1)?;
    let position = position_of(row, [4, 5, 6])?;
    match outcome {
        "other layout" => return Err(schema::other_layout(id.unwrap_or_default())),
        "other log" => {
            seen.check_commit(position.log, row.try_get(6)?)?;
            return Err(Failure::corrupt("the log is another, and the same"));
        }
        "clock behind" => return Err(StoreError::clock_behind("commit").into()),
        _ => {}
    }
    let committed = Committed {
        outcome: outcome.to_owned(),
        id: id.unwrap_or_default().unsigned_abs(),
        at: maybe_moment_of(row, 2)?.unwrap_or(Timestamp::EPOCH),
        detail: row.try_get(3)?,
    };
    Ok((committed, position))
}

/// The entry of an act, to be completed by its commit.
fn entry(act: &Act) -> String {
    if let Some(known) = act.known() {
        return known.to_text();
    }
    to_complete(&act.entry(0, Timestamp::EPOCH).to_text(), &ASSIGNED)
}

/// A record that has the id 0 and the time [`EPOCH`](Timestamp::EPOCH), with the places of both in these fields: its
/// commit completes it. Quotation marks in strings are escaped, so the name of a field is found nowhere else.
pub(crate) fn to_complete(record: &str, fields: &[&str]) -> String {
    fields.iter().fold(record.to_owned(), |record, field| {
        let number = record.replacen(&format!("\"{field}\":0"), &format!("\"{field}\":\u{1}i"), 1);
        let time = format!("\"{field}\":\"{}\"", Timestamp::EPOCH);
        number.replacen(&time, &format!("\"{field}\":\"\u{1}t\""), 1)
    })
}
