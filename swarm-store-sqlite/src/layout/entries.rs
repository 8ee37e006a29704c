//! The migration to layout 3: log entries contain the id and time that their commits assigned.

use rusqlite::{Connection, OptionalExtension as _, Row};
use swarm_core::Timestamp;
use swarm_core::store::records::OldEntry;
use swarm_core::store::{Collection, Document};

use crate::failure::{Failure, Outcome};

/// Completes the texts of layout 2.
pub(super) fn complete(db: &Connection) -> Outcome<()> {
    const INCOMPLETE: &str = "SELECT tenant, seq, at, act, minted FROM log
        WHERE act GLOB '*[' || char(1, 2, 3) || ']*'";
    const COMPLETE: &str = "UPDATE log SET act = ?3 WHERE tenant = ?1 AND seq = ?2";
    let mut incomplete = db.prepare(INCOMPLETE)?;
    let rows: Vec<Incomplete> = incomplete.query_map([], read)?.collect::<Result<_, _>>()?;
    for Incomplete { tenant, seq, at, text, minted } in rows {
        let minted = minted.map(u64::try_from).transpose().map_err(Failure::corrupt)?;
        let old = OldEntry { text: &text, minted, at: moment(at)? };
        let document = match old.document() {
            Some((collection, key)) => document(db, &tenant, collection, &key)?,
            None => None,
        };
        let entry = old.complete(document.as_ref())?;
        db.execute(COMPLETE, (&tenant, seq, entry.to_text()))?;
    }
    Ok(())
}

struct Incomplete {
    tenant: String,
    seq: i64,
    at: i64,
    text: String,
    minted: Option<i64>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Incomplete> {
    let (tenant, seq, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(Incomplete { tenant, seq, at, text: row.get(3)?, minted: row.get(4)? })
}

fn document(
    db: &Connection,
    tenant: &str,
    collection: Collection,
    key: &str,
) -> Outcome<Option<Document>> {
    const NAMED: &str = "SELECT id, record, created_at FROM documents
        WHERE tenant = ?1 AND collection = ?2 AND name = ?3";
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, i64>(2)?));
    let found = db.query_one(NAMED, (tenant, collection.as_str(), key), row).optional()?;
    let Some((id, json, created_at)) = found else { return Ok(None) };
    let id = u64::try_from(id).map_err(Failure::corrupt)?;
    Ok(Some(Document { id, key: key.to_owned(), json, created_at: moment(created_at)? }))
}

fn moment(millis: i64) -> Outcome<Timestamp> {
    Timestamp::from_millis(millis).ok_or_else(|| Failure::corrupt("no moment"))
}
