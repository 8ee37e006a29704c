//! Reads the records of a dump, page by page.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use swarm_core::TenantId;
use swarm_core::domain::{Day, MessageId, Seq, SessionId};
use swarm_core::store::{Collection, Dump, Result, Stored, StoredDocument, TenantHead};
use tokio_postgres::Row;

use super::transaction::{Transaction, bounded};
use crate::PostgresStore;
use crate::db::{Arg, Db, limit, number, number_of, record, text, text_of};
use crate::failure::{Failure, Outcome};
use crate::session_rows::session;
use crate::{documents, log};

/// The records of a page; of those that may be long, fewer.
const PAGE: usize = 500;
const PAGE_OF_LONG: usize = 50;

/// The records that are not read yet.
pub(super) struct Records {
    /// `None` once all are read.
    transaction: Option<Transaction>,
    tenant: TenantId,
    /// `None` once it was returned.
    head: Option<TenantHead>,
    parts: VecDeque<Part>,
    /// The place of the last record of the first part that was read.
    last: Place,
}

/// Records of a kind, in the order of a dump.
#[derive(Clone, Copy)]
enum Part {
    Members,
    Messages,
    Documents(Collection),
    Sessions,
    CommitteeMembers,
    CommitteeDays,
    CommitteeBriefs,
    Log,
}

/// The place of a record among those of its kind: a text or a number.
type Place = (String, u64);

impl Records {
    pub(super) async fn begin(store: &PostgresStore, tenant: &TenantId) -> Outcome<Self> {
        let transaction = Transaction::begin(store, "REPEATABLE READ READ ONLY").await?;
        // The first statement takes the snapshot.
        let head = bounded(head(transaction.db(tenant)?)).await?;
        Ok(Self {
            transaction: Some(transaction),
            tenant: tenant.clone(),
            head: Some(head),
            parts: Part::all().collect(),
            last: Place::default(),
        })
    }

    /// Reads the next page; none at the end.
    async fn page(&mut self) -> Outcome<Vec<Stored>> {
        if let Some(head) = self.head.take() {
            return Ok(vec![Stored::Head(head)]);
        }
        let Some(transaction) = &self.transaction else { return Ok(Vec::new()) };
        let db = transaction.db(&self.tenant)?;
        while let Some(part) = self.parts.front() {
            let records = bounded(part.page(db, &self.last)).await?;
            match records.last().filter(|_| records.len() == part.size()) {
                Some(last) => self.last = place(last),
                None => {
                    self.parts.pop_front();
                    self.last = Place::default();
                }
            }
            if !records.is_empty() {
                return Ok(records);
            }
        }
        if let Some(transaction) = self.transaction.take() {
            transaction.end("COMMIT").await?;
        }
        Ok(Vec::new())
    }
}

#[async_trait]
impl Dump for Records {
    async fn next(&mut self) -> Result<Vec<Stored>> {
        self.page().await.map_err(|failure| failure.of("dump"))
    }
}

async fn head(db: Db<'_>) -> Outcome<TenantHead> {
    const HEAD: &str = "SELECT coalesce(seq, 0), coalesce(messages, 0), coalesce(sessions, 0),
            coalesce(documents, '{}')::text
        FROM (SELECT) AS one LEFT JOIN swarm.tenants ON tenant = $1";
    let head = db.one(HEAD, &[], |row| {
        let ids: BTreeMap<String, u64> =
            serde_json::from_str(row.try_get(3)?).map_err(Failure::corrupt)?;
        let last = |collection: Collection| Some((collection, *ids.get(collection.as_str())?));
        Ok(TenantHead {
            log: Seq(number_of(row, 0)?),
            messages: MessageId(number_of(row, 1)?),
            sessions: SessionId(number_of(row, 2)?),
            documents: Collection::ALL.into_iter().filter_map(last).collect(),
        })
    });
    head.await?.ok_or_else(|| Failure::corrupt("no counters"))
}

/// The place of a record, as the statements of [`Part::sql`] order them.
fn place(record: &Stored) -> Place {
    let text = |text: &str| (text.to_owned(), 0);
    let number = |number| (String::new(), number);
    match record {
        Stored::Head(_) => Place::default(),
        Stored::Member(member) => text(member.id.as_str()),
        Stored::Message(message) => number(message.id.0),
        Stored::Document(stored) => number(stored.document.id),
        Stored::Session(session) => number(session.id.0),
        Stored::CommitteeMember(member) => text(member.id.as_str()),
        Stored::CommitteeDay(day) => text(&day.date.to_string()),
        Stored::CommitteeBrief(date, brief) => text(&format!("{date} {}", brief.member_id)),
        Stored::Log(row) => number(row.seq.0),
    }
}

impl Part {
    fn all() -> impl Iterator<Item = Self> {
        let committee = [Self::CommitteeMembers, Self::CommitteeDays, Self::CommitteeBriefs];
        let first = [Self::Members, Self::Messages].into_iter();
        let documents = Collection::ALL.into_iter().map(Self::Documents);
        first.chain(documents).chain([Self::Sessions]).chain(committee).chain([Self::Log])
    }

    async fn page(self, db: Db<'_>, after: &Place) -> Outcome<Vec<Stored>> {
        let collection = match self {
            Self::Documents(collection) => collection.as_str(),
            _ => "",
        };
        let values: [Arg<'_>; 4] =
            [number(after.1), limit(self.size()), text(&after.0), text(collection)];
        let rows = db.rows(&self.sql(), &values).await?;
        rows.iter().map(|row| self.read(row)).collect()
    }

    fn size(self) -> usize {
        match self {
            Self::Documents(_) | Self::Sessions | Self::CommitteeBriefs => PAGE_OF_LONG,
            _ => PAGE,
        }
    }

    /// The statement that reads the records after a place, a number `$2` or a text `$4`: at most `$3`.
    fn sql(self) -> Cow<'static, str> {
        let (columns, table, after) = match self {
            Self::Members => ("record", "members", "id > $4 ORDER BY id"),
            Self::Messages => ("record", "messages", "id > $2 ORDER BY id"),
            Self::Documents(_) => {
                let columns = "id, name, record, created_at, family";
                (columns, "documents", "collection = $5 AND id > $2 ORDER BY id")
            }
            Self::Sessions => {
                let columns = "version, record, swarm.snapshot_1(tenant, id)";
                (columns, "sessions", "id > $2 ORDER BY id")
            }
            Self::CommitteeMembers => ("record", "committee_members", "id > $4 ORDER BY id"),
            Self::CommitteeDays => ("record", "committee_days", "date > $4 ORDER BY date"),
            Self::CommitteeBriefs => {
                let after = "date || ' ' || member > $4 ORDER BY date, member";
                ("record, date", "committee_briefs", after)
            }
            Self::Log => return log::ENTRIES.into(),
        };
        let sql =
            format!("SELECT {columns} FROM swarm.{table} WHERE tenant = $1 AND {after} LIMIT $3");
        sql.into()
    }

    fn read(self, row: &Row) -> Outcome<Stored> {
        Ok(match self {
            Self::Members => Stored::Member(record(row)?),
            Self::Messages => Stored::Message(record(row)?),
            Self::Documents(collection) => {
                let (document, group) = (documents::document(row)?, text_of(row, 4)?);
                Stored::Document(StoredDocument { collection, group, document })
            }
            Self::Sessions => Stored::Session(session(row)?.record),
            Self::CommitteeMembers => Stored::CommitteeMember(record(row)?),
            Self::CommitteeDays => Stored::CommitteeDay(record(row)?),
            Self::CommitteeBriefs => {
                Stored::CommitteeBrief(Day::parse(row.try_get::<_, &str>(1)?)?, record(row)?)
            }
            Self::Log => Stored::Log(log::row(row)?),
        })
    }
}
