//! Rows of sessions, for the parts of the port that read them.

use std::sync::Arc;

use swarm_core::domain::{Session, SessionId, Version};
use swarm_core::store::Versioned;
use swarm_core::store::records::{BEFORE_SNAPSHOT, Record as _};
use tokio_postgres::Row;

use crate::db::{Db, number, number_of};
use crate::failure::Outcome;

/// The session of a row: `version, record, snapshot`.
pub(crate) fn session(row: &Row) -> Outcome<Versioned<Session>> {
    let record: &str = row.try_get(1)?;
    let snapshot: Option<&str> = row.try_get(2)?;
    versioned(number_of(row, 0)?, record, snapshot)
}

pub(crate) fn versioned(
    version: u64,
    record: &str,
    snapshot: Option<&str>,
) -> Outcome<Versioned<Session>> {
    let session = match (snapshot, record.strip_suffix('}')) {
        (Some(snapshot), Some(before)) => {
            Session::from_text(&format!("{before}{BEFORE_SNAPSHOT}{snapshot}"))
        }
        _ => Session::from_text(record),
    };
    Ok(Versioned { version: Version(version), record: Arc::new(session?) })
}

/// The text of a session without its snapshot, and what is from its snapshot on.
pub(crate) fn split(session: &Session) -> (String, Option<String>) {
    let text = session.to_text();
    match text.split_once(BEFORE_SNAPSHOT) {
        Some((before, snapshot)) => (format!("{before}}}"), Some(snapshot.to_owned())),
        None => (text, None),
    }
}

/// Whether a session is at this version.
pub(crate) async fn is_at(db: &Db<'_>, id: SessionId, version: Version) -> Outcome<bool> {
    const AT: &str = "SELECT 1 FROM swarm.sessions WHERE tenant = $1 AND id = $2 AND version = $3";
    db.any(AT, &[number(id.0), number(version.0)]).await
}
