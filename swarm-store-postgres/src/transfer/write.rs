//! Writes the records of a restore, in one transaction.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use swarm_core::TenantId;
use swarm_core::domain::{LogEntry, LogRow, Logged, Operation, Version};
use swarm_core::store::{
    Collection, LogPosition, Restore, Restored, Result, Stored, StoredDocument, TenantHead,
    restored_attempt,
};

use super::transaction::{IS_USED, Transaction, bounded};
use crate::db::{Arg, Db, bytes, number, owned, position_of};
use crate::failure::{Failure, Outcome};
use crate::{PostgresStore, committee, documents, members, outbox, session_rows, takes};

const OP: &str = "restore";

/// An open restore.
pub(super) struct Restoration {
    transaction: Transaction,
    /// The tenants that are locked, with the number of their submissions to the committee.
    tenants: BTreeMap<TenantId, u64>,
    occupied: Option<TenantId>,
}

impl Restoration {
    pub(super) async fn begin(store: &PostgresStore) -> Outcome<Self> {
        let transaction = Transaction::begin(store, "READ COMMITTED READ WRITE").await?;
        Ok(Self { transaction, tenants: BTreeMap::new(), occupied: None })
    }

    async fn insert(&mut self, tenant: &TenantId, records: &[Stored]) -> Outcome<()> {
        let db = self.transaction.db(tenant)?;
        if self.occupied.is_some() {
            return Ok(());
        }
        if !self.tenants.contains_key(tenant) && !bounded(is_free(db)).await? {
            self.occupied = Some(tenant.clone());
            return Ok(());
        }
        let submissions = self.tenants.entry(tenant.clone()).or_default();
        let mut tables = BTreeMap::<_, Vec<_>>::new();
        for (table, row) in records.iter().flat_map(|record| rows(record, submissions)) {
            tables.entry(table).or_default().push(row);
        }
        // The statements are sent together.
        let inserts = tables.into_iter().map(|(table, rows)| insert(db, table, rows));
        bounded(async { try_join_all(inserts).await.map(drop) }).await?;
        if let Some(Stored::Head(head)) = records.first() {
            bounded(set_counters(db, head)).await?;
        }
        if let Some(log) = begun(records) {
            const BEGIN: &str = "UPDATE swarm.tenants SET log = $2 WHERE tenant = $1";
            bounded(db.rows(BEGIN, &[number(log)])).await?;
        }
        Ok(())
    }

    async fn end(self) -> Outcome<Restored> {
        if let Some(occupied) = self.occupied {
            self.transaction.end("ROLLBACK").await?;
            return Ok(Restored::Occupied(occupied));
        }
        let mut positions = Vec::new();
        for tenant in self.tenants.keys() {
            positions.push((tenant, bounded(finish(self.transaction.db(tenant)?)).await?));
        }
        let seen = self.transaction.store.seen.clone();
        self.transaction.end("COMMIT").await?;
        for (tenant, position) in positions {
            seen.of(tenant).advance(position);
        }
        Ok(Restored::Complete)
    }
}

#[async_trait]
impl Restore for Restoration {
    async fn write(&mut self, tenant: &TenantId, records: Vec<Stored>) -> Result<()> {
        self.insert(tenant, &records).await.map_err(|failure| failure.of(OP))
    }

    async fn commit(self: Box<Self>) -> Result<Restored> {
        self.end().await.map_err(|failure| failure.of(OP))
    }

    async fn discard(self: Box<Self>) -> Result<()> {
        self.transaction.end("ROLLBACK").await.map_err(|failure| failure.of(OP))
    }
}

/// Locks a tenant; whether it has no records then.
async fn is_free(db: Db<'_>) -> Outcome<bool> {
    const CREATE: &str = "INSERT INTO swarm.tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING";
    const LOCK: &str = "SELECT FROM swarm.tenants WHERE tenant = $1 FOR NO KEY UPDATE";
    db.rows(CREATE, &[]).await?;
    db.rows(LOCK, &[]).await?;
    let used = format!("SELECT FROM swarm.tenants t WHERE t.tenant = $1 AND {IS_USED}");
    Ok(db.rows(&used, &[]).await?.is_empty())
}

/// Inserts rows into a table.
async fn insert(db: Db<'_>, table: &str, rows: Vec<Value>) -> Outcome<()> {
    let insert = format!(
        "INSERT INTO swarm.{table} SELECT row.* FROM jsonb_array_elements($2::jsonb) AS one,
            jsonb_populate_record(NULL::swarm.{table}, one || jsonb_build_object('tenant', $1)) AS row"
    );
    db.rows(&insert, &[owned(Value::from(rows).to_string())]).await.map(drop)
}

/// The rows of a record, with their tables. `submissions` is the number of submissions to the committee so far.
fn rows(record: &Stored, submissions: &mut u64) -> Vec<(&'static str, Value)> {
    let first = Version(1);
    match record {
        Stored::Head(_) => Vec::new(),
        Stored::Member(member) => vec![("members", members::row(member, first))],
        Stored::Message(message) => vec![("messages", outbox::row(message, first))],
        Stored::Document(StoredDocument { collection, group, document }) => {
            vec![("documents", documents::row(*collection, group, document))]
        }
        Stored::Session(session) => {
            let (row, snapshot) = session_rows::row(session, first);
            let shown = snapshot.map(|text| {
                let shown = json!({"session": row["id"], "attempt": bytes(&[]), "record": text});
                ("snapshots", shown)
            });
            shown.into_iter().chain([("sessions", row)]).collect()
        }
        Stored::CommitteeMember(member) => {
            vec![("committee_members", committee::member_row(member, first))]
        }
        Stored::CommitteeDay(day) => vec![("committee_days", committee::day_row(day, first))],
        Stored::CommitteeBrief(date, brief) => {
            vec![("committee_briefs", committee::brief_row(*date, brief))]
        }
        Stored::Log(row) => {
            let mut logged = json!({"seq": row.seq.0, "at": row.at.millis()});
            let mut rows = Vec::new();
            match &row.logged {
                Logged::Take(take) => {
                    logged["take"] = take.id.0.into();
                    rows.push(("takes", takes::row(take, restored_attempt(take.id.0))));
                }
                Logged::CommitteeTake(take) => {
                    *submissions += 1;
                    logged["committee_take"] = (*submissions).into();
                    let attempt = restored_attempt(*submissions);
                    let take = committee::take_row(*submissions, attempt, take);
                    rows.push(("committee_takes", take));
                }
                Logged::Entry(entry) => {
                    logged["act"] = entry.to_text().into();
                    logged["session"] = entry.session().map(|session| session.0).into();
                }
            }
            rows.push(("log", logged));
            rows
        }
    }
}

/// The number of the log that begins last in these records, if any does.
fn begun(records: &[Stored]) -> Option<u64> {
    let number = |record: &Stored| match record {
        Stored::Log(LogRow { logged: Logged::Entry(entry), .. }) => match &**entry {
            LogEntry::Operation(Operation::StoreAccepted { log, .. }) => Some(*log),
            _ => None,
        },
        _ => None,
    };
    records.iter().filter_map(number).next_back()
}

async fn set_counters(db: Db<'_>, head: &TenantHead) -> Outcome<()> {
    const SET: &str = "UPDATE swarm.tenants SET messages = $2, sessions = $3, documents = $4::jsonb
        WHERE tenant = $1";
    let last = |(collection, id): (&Collection, &u64)| (collection.to_string(), Value::from(*id));
    let documents: serde_json::Map<_, _> = head.documents.iter().map(last).collect();
    let documents = owned(Value::from(documents).to_string());
    db.rows(SET, &[number(head.messages.0), number(head.sessions.0), documents]).await.map(drop)
}

/// Sets the rest of the tenant's row by the rows that were inserted; returns the position of the log.
async fn finish(db: Db<'_>) -> Outcome<LogPosition> {
    const FINISH: &str = include_str!("../commits/finish_restore.sql");
    let limited = Collection::ALL.iter().filter(|collection| collection.has_limited_size());
    let limited = [Arg::texts(limited.map(|collection| collection.as_str()))];
    let position = db.one(FINISH, &limited, |row| position_of(row, [0, 1, 2])).await?;
    position.ok_or_else(|| Failure::corrupt("a tenant that is locked is missing"))
}
