//! The rows of a tenant as records, and records as rows.

use std::sync::Arc;

use rusqlite::{Connection, Row};
use swarm_core::TenantId;
use swarm_core::domain::committee::{CommitteeDay, CommitteeTake};
use swarm_core::domain::{
    Day, LogEntry, LogRow, Logged, Member, MessageId, Operation, Seq, SessionId, Take,
};
use swarm_core::proof::canonical;
use swarm_core::store::records::Record;
use swarm_core::store::{
    Collection, CommitteeMemberChange, MemberChange, Saved, Stored, StoredDocument, TenantHead,
    restored_attempt,
};

use crate::failure::{Failure, Outcome};
use crate::tenant_rows::{TenantRows, record, text, timestamp, unsigned};
use crate::{committee, documents, log, log_rows, members, outbox, session_rows, takes};

/// The tenants that have rows other than challenges, by id.
pub(super) fn tenants(db: &Connection) -> Outcome<Vec<TenantId>> {
    const USED: &str = "SELECT tenant FROM members UNION SELECT tenant FROM messages
        UNION SELECT tenant FROM sessions UNION SELECT tenant FROM documents
        UNION SELECT tenant FROM committee_members UNION SELECT tenant FROM committee_days
        UNION SELECT tenant FROM log ORDER BY tenant";
    let mut used = db.prepare_cached(USED)?;
    let mut rows = used.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(TenantId::parse(text(row, 0)?)?);
    }
    Ok(found)
}

/// Whether the tenant has rows other than challenges.
pub(super) fn is_used(world: &TenantRows<'_>) -> Outcome<bool> {
    const USED: &str = "SELECT 1 WHERE EXISTS (SELECT 1 FROM members WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM messages WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM sessions WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM documents WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM committee_members WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM committee_days WHERE tenant = ?1)
        OR EXISTS (SELECT 1 FROM log WHERE tenant = ?1)";
    world.any(USED, &[])
}

pub(super) fn head(world: &TenantRows<'_>) -> Outcome<TenantHead> {
    const MESSAGES: &str = "SELECT max(id) FROM messages WHERE tenant = ?1";
    const DOCUMENTS: &str = "SELECT max(id) FROM documents WHERE tenant = ?1 AND collection = ?2";
    let last_document = |collection: Collection| {
        let last = world.number(DOCUMENTS, &[&collection.as_str()])?;
        Ok(last.map(|last| (collection, last)))
    };
    let documents: Outcome<Vec<_>> = Collection::ALL.into_iter().map(last_document).collect();
    Ok(TenantHead {
        log: log_rows::position(world)?.size,
        messages: MessageId(world.number(MESSAGES, &[])?.unwrap_or(0)),
        sessions: SessionId(world.number(session_rows::LAST_ID, &[])?.unwrap_or(0)),
        documents: documents?.into_iter().flatten().collect(),
    })
}

/// Passes on each record after the head, in the order of a dump.
pub(super) fn each(
    world: &TenantRows<'_>,
    mut then: impl FnMut(Stored) -> Outcome<()>,
) -> Outcome<()> {
    const MEMBERS: &str = "SELECT record FROM members WHERE tenant = ?1 ORDER BY id";
    const MESSAGES: &str = "SELECT record FROM messages WHERE tenant = ?1 ORDER BY id";
    const DOCUMENTS: &str = "SELECT id, name, record, created_at, family FROM documents
        WHERE tenant = ?1 AND collection = ?2 ORDER BY id";
    const SESSIONS: &str = "SELECT record FROM sessions WHERE tenant = ?1 ORDER BY id";
    const SEATS: &str = "SELECT record FROM committee_members WHERE tenant = ?1 ORDER BY id";
    const DAYS: &str = "SELECT record FROM committee_days WHERE tenant = ?1 ORDER BY date";
    const BRIEFS: &str = "SELECT record, date FROM committee_briefs
        WHERE tenant = ?1 ORDER BY date, member";
    world.each(MEMBERS, &[], |row| then(Stored::Member(record(row)?)))?;
    world.each(MESSAGES, &[], |row| then(Stored::Message(record(row)?)))?;
    for collection in Collection::ALL {
        world.each(DOCUMENTS, &[&collection.as_str()], |row| {
            let (document, group) = (documents::document(row)?, row.get(4)?);
            then(Stored::Document(StoredDocument { collection, group, document }))
        })?;
    }
    world.each(SESSIONS, &[], |row| then(Stored::Session(record(row)?)))?;
    world.each(SEATS, &[], |row| then(Stored::CommitteeMember(record(row)?)))?;
    world.each(DAYS, &[], |row| then(Stored::CommitteeDay(record(row)?)))?;
    world.each(BRIEFS, &[], |row| {
        then(Stored::CommitteeBrief(Day::parse(text(row, 1)?)?, record(row)?))
    })?;
    world.each(LOG, &[], |row| then(Stored::Log(log_row(row)?)))
}

/// Rows of the log, each with its take. The columns of takes are those of [`takes::take`].
const LOG: &str = "SELECT take.id, take.filed_at, take.session, take.revision, take.public_key,
        take.signature, take.payload, log.seq, log.at, log.act, submission.record
    FROM log
    LEFT JOIN takes AS take ON take.tenant = ?1 AND take.id = log.take
    LEFT JOIN committee_takes AS submission
        ON submission.tenant = ?1 AND submission.id = log.committee_take
    WHERE log.tenant = ?1 ORDER BY log.seq";

fn log_row(row: &Row<'_>) -> Outcome<LogRow> {
    let (seq, at) = (Seq(unsigned(row.get(7)?)?), timestamp(row.get(8)?)?);
    let logged = if row.get::<_, Option<i64>>(0)?.is_some() {
        let take = takes::take(row)?;
        match row.get_ref(9)?.as_str_or_null().map_err(Failure::corrupt)? {
            Some(_) => log::opening(&take)?,
            None => Logged::Take(take),
        }
    } else if let Some(submission) = row.get::<_, Option<String>>(10)? {
        Logged::CommitteeTake(Arc::new(CommitteeTake::from_text(&submission)?))
    } else if let Some(entry) = row.get::<_, Option<String>>(9)? {
        Logged::Entry(Arc::new(LogEntry::from_text(&entry)?))
    } else {
        return Err(Failure::corrupt("a take of the log is missing"));
    };
    Ok(LogRow { seq, at, logged })
}

/// Writes a record. `submissions` is the number of submissions to the committee so far.
pub(super) fn insert(
    world: &TenantRows<'_>,
    record: &Stored,
    submissions: &mut u64,
) -> Outcome<()> {
    match record {
        Stored::Head(_) => Ok(()),
        Stored::Member(record) => member(world, record),
        Stored::Message(message) => outbox::queue(world, message),
        Stored::Document(StoredDocument { collection, group, document }) => {
            documents::restore(world, *collection, group, document)
        }
        Stored::Session(record) => session_rows::insert(world, record),
        Stored::CommitteeMember(record) => {
            let change = CommitteeMemberChange { member: (**record).clone(), expected: None };
            match committee::save_member(world, &change)? {
                Saved::Saved => Ok(()),
                Saved::Stale => Err(Failure::corrupt("a member of the committee stands twice")),
            }
        }
        Stored::CommitteeDay(day) => committee_day(world, day),
        Stored::CommitteeBrief(date, brief) => {
            committee::insert_brief(world, &date.to_string(), brief)
        }
        Stored::Log(row) => log_entry(world, row, submissions),
    }
}

fn member(world: &TenantRows<'_>, member: &Member) -> Outcome<()> {
    members::commit(world, &MemberChange::creation(member.clone()), &member.to_text())
}

fn committee_day(world: &TenantRows<'_>, day: &CommitteeDay) -> Outcome<()> {
    const CREATE: &str = "INSERT INTO committee_days (tenant, date, version, about, record)
        VALUES (?1, ?2, 1, ?3, ?4)";
    let about = day.generation.as_ref().map(|made| made.subject_id.as_str());
    world.run(CREATE, &[&day.date.to_string(), &about, &day.to_text()])?;
    Ok(())
}

fn log_entry(world: &TenantRows<'_>, row: &LogRow, submissions: &mut u64) -> Outcome<()> {
    match &row.logged {
        Logged::Take(record) => {
            take(world, record)?;
            log_rows::append_take(world, record.id, row.at)
        }
        Logged::CommitteeTake(record) => {
            *submissions += 1;
            let id = *submissions;
            committee::insert_take(world, id, record, restored_attempt(id))?;
            log_rows::append_committee_take(world, id, row.at)
        }
        Logged::Entry(entry) => {
            if let LogEntry::Operation(Operation::StoreAccepted { log, .. }) = **entry {
                log::begin(world, log)?;
            }
            log_rows::append_entry(world, entry, row.at)
        }
    }
}

fn take(world: &TenantRows<'_>, take: &Take) -> Outcome<()> {
    let text = takes::TakeText::new(take, canonical(take.draft()));
    takes::insert(world, take, restored_attempt(take.id.0), &text)
}
