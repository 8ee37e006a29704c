//! Commits: transactions that hold the lock of their tenant.
//!
//! The tenant's row is locked first, in a statement of its own, and everything else is read after that. Under
//! READ COMMITTED each statement sees what was committed before it began: those after the lock see every
//! commit that it waited for.

use async_trait::async_trait;
use swarm_core::Timestamp;
use swarm_core::domain::Seq;
use swarm_core::store::{Act, Collection, LogPosition, time_of_commit, time_of_read};
use tokio_postgres::Client;

use crate::db::{
    Arg, Db, moment, moment_of, number, number_of, owned, signed, text, timestamp, unsigned,
};
use crate::failure::{Failure, Outcome};
use crate::schema;

/// A change of the tenant's rows.
#[async_trait]
pub(crate) trait Change: Sync {
    /// What the caller gets.
    type Made: Send;

    /// Checks its guards, and then makes the change.
    async fn make(&self, commit: &mut Commit<'_>) -> Outcome<Self::Made>;
}

/// A transaction in progress.
pub(crate) struct Commit<'a> {
    client: &'a Client,
    db: Db<'a>,
    /// The time of the clock, read once, after the lock.
    clock: Timestamp,
    tenant: Tenant,
    /// The fingerprint of the last row that was appended.
    mark: Option<String>,
    has_changed: bool,
}

/// The tenant's row.
struct Tenant {
    log: u64,
    seq: u64,
    last_at: Option<Timestamp>,
    sessions: u64,
    messages: u64,
    committee_takes: u64,
}

/// A kind of record with ids.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Session,
    Message,
    CommitteeTake,
}

impl<'a> Commit<'a> {
    /// Begins a transaction, waits for the tenant's lock, and then checks that the log continues from the
    /// position seen, if given.
    pub(crate) async fn begin(
        client: &'a Client,
        db: Db<'a>,
        timeout: u128,
        seen: Option<&LogPosition>,
    ) -> Outcome<Self> {
        const LOCK: &str = "SELECT log, seq, last_at, sessions, messages, committee_takes
            FROM swarm.tenants WHERE tenant = $1 FOR NO KEY UPDATE";
        const CREATE: &str =
            "INSERT INTO swarm.tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING";
        const AFTER_LOCK: &str = "SELECT swarm.clock_1(), (SELECT number FROM swarm.layout),
                (SELECT swarm.mark_1(at, take, committee_take, act) FROM swarm.log
                 WHERE tenant = $1 AND seq = $2)";
        // The limits are those of this transaction alone: a pooler may give its connection to others.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
             SET LOCAL lock_timeout = {timeout};
             SET LOCAL idle_in_transaction_session_timeout = {timeout}"
        );
        // Sent together, in one round trip.
        let (begun, locked) = tokio::join!(client.batch_execute(&begin), db.one(LOCK, &[], tenant));
        begun?;
        let tenant = match locked? {
            Some(tenant) => tenant,
            None => {
                db.run(CREATE, &[]).await?;
                let made = db.one(LOCK, &[], tenant).await?;
                made.ok_or_else(|| Failure::corrupt("a tenant that was just made is missing"))?
            }
        };
        let size = [number(seen.map_or(0, |seen| seen.size.0))];
        let facts = db.one(AFTER_LOCK, &size, |row| {
            schema::known(row.try_get(1)?)?;
            Ok((moment_of(row, 0)?, row.try_get::<_, Option<String>>(2)?))
        });
        let (clock, mark) = facts.await?.ok_or_else(|| Failure::corrupt("no time"))?;
        if let Some(seen) = seen {
            seen.check_commit(tenant.log, mark.as_deref())?;
        }
        Ok(Self { client, db, clock, tenant, mark: None, has_changed: false })
    }

    /// The rows that the transaction sees.
    pub(crate) fn db(&self) -> Db<'a> {
        self.db
    }

    /// The time of the commit. It never decreases from commit to commit, in any process.
    pub(crate) fn time(&self) -> Outcome<Timestamp> {
        Ok(time_of_commit(self.clock, self.tenant.last_at)?)
    }

    /// The time of the clock or of the last row of the log, whichever is later.
    pub(crate) fn time_of_read(&self) -> Timestamp {
        time_of_read(self.clock, self.tenant.last_at)
    }

    /// The time of the clock, even if it is behind the log.
    pub(crate) fn clock(&self) -> Timestamp {
        self.clock
    }

    /// Runs a statement that changes rows; returns their number.
    pub(crate) async fn run(&mut self, sql: &str, args: &[Arg<'_>]) -> Outcome<u64> {
        let changed = self.db.run(sql, args).await?;
        self.has_changed |= changed > 0;
        Ok(changed)
    }

    /// The next id of a kind.
    pub(crate) fn next_id(&mut self, kind: Kind) -> u64 {
        let last = match kind {
            Kind::Session => &mut self.tenant.sessions,
            Kind::Message => &mut self.tenant.messages,
            Kind::CommitteeTake => &mut self.tenant.committee_takes,
        };
        *last = last.saturating_add(1);
        *last
    }

    /// The next id of a document, without assigning it.
    pub(crate) async fn next_document_id(&self, collection: Collection) -> Outcome<u64> {
        const LAST: &str = "SELECT (documents ->> $2)::bigint FROM swarm.tenants WHERE tenant = $1";
        let last = self.db.number(LAST, &[text(collection.as_str())]).await?;
        Ok(last.unwrap_or(0).saturating_add(1))
    }

    /// Assigns the id of a document.
    pub(crate) async fn mint_document(&mut self, collection: Collection, id: u64) -> Outcome<()> {
        const MINT: &str = "UPDATE swarm.tenants SET documents = documents || jsonb_build_object($2::text, $3::bigint)
            WHERE tenant = $1";
        self.run(MINT, &[text(collection.as_str()), number(id)]).await.map(drop)
    }

    /// Begins another log, with a number higher than any seen.
    pub(crate) fn begin_log(&mut self, seen: u64) -> u64 {
        self.tenant.log = self.tenant.log.max(seen).saturating_add(1);
        self.tenant.log
    }

    /// Appends the entry of an act whose commit mints this id, if any.
    pub(crate) async fn append(&mut self, act: &Act, at: Timestamp, minted: u64) -> Outcome<()> {
        const ACT: &str =
            "INSERT INTO swarm.log (tenant, seq, at, act, session) VALUES ($1, $2, $3, $4, $5)";
        let entry = act.entry(minted, at);
        let (text, session) = (entry.to_text(), entry.session().map(|session| signed(session.0)));
        let start: String = text.chars().take(300).collect();
        let seq = self.next_row(at, &start);
        self.run(ACT, &[number(seq), moment(at), owned(text), Arg::MaybeNumber(session)]).await?;
        Ok(())
    }

    /// Appends a submission to the committee.
    pub(crate) async fn append_committee_take(&mut self, id: u64, at: Timestamp) -> Outcome<()> {
        const TAKE: &str =
            "INSERT INTO swarm.log (tenant, seq, at, committee_take) VALUES ($1, $2, $3, $4)";
        let seq = self.next_row(at, &format!("committee take {id}"));
        self.run(TAKE, &[number(seq), moment(at), number(id)]).await.map(drop)
    }

    /// The number of the next row of the log.
    fn next_row(&mut self, at: Timestamp, what: &str) -> u64 {
        self.tenant.seq = self.tenant.seq.saturating_add(1);
        self.tenant.last_at = Some(at);
        self.mark = Some(format!("{} {what}", at.millis()));
        self.tenant.seq
    }

    /// Commits; returns the position of the log after it.
    pub(crate) async fn end(self) -> Outcome<LogPosition> {
        const SAVE: &str = "UPDATE swarm.tenants
            SET log = $2, seq = $3, last_at = $4, sessions = $5, messages = $6, committee_takes = $7,
                commits = commits + 1
            WHERE tenant = $1";
        let Self { client, db, tenant, mark, has_changed, .. } = self;
        let last = match mark {
            Some(mark) => mark,
            None => mark_of(&db, Seq(tenant.seq)).await?.unwrap_or_default(),
        };
        if has_changed {
            let last_at = tenant.last_at.map(Timestamp::millis);
            let values = [
                number(tenant.log),
                number(tenant.seq),
                Arg::MaybeNumber(last_at),
                number(tenant.sessions),
                number(tenant.messages),
                number(tenant.committee_takes),
            ];
            // Sent together, in one round trip. If the first fails, the second undoes everything, and reports no error.
            let (saved, committed) =
                tokio::join!(db.run(SAVE, &values), client.batch_execute("COMMIT"));
            saved?;
            committed?;
        } else {
            client.batch_execute("COMMIT").await?;
        }
        Ok(LogPosition { log: tenant.log, size: Seq(tenant.seq), last: last.into() })
    }
}

fn tenant(row: &tokio_postgres::Row) -> Outcome<Tenant> {
    let last_at = row.try_get::<_, Option<i64>>(2)?;
    Ok(Tenant {
        log: unsigned(row.try_get(0)?)?,
        seq: number_of(row, 1)?,
        last_at: last_at.map(timestamp).transpose()?,
        sessions: number_of(row, 3)?,
        messages: number_of(row, 4)?,
        committee_takes: number_of(row, 5)?,
    })
}

/// The fingerprint of the row of the log with this number.
pub(crate) async fn mark_of(db: &Db<'_>, seq: Seq) -> Outcome<Option<String>> {
    const MARK: &str = "SELECT swarm.mark_1(at, take, committee_take, act) FROM swarm.log
        WHERE tenant = $1 AND seq = $2";
    db.one(MARK, &[number(seq.0)], |row| Ok(row.try_get(0)?)).await
}
