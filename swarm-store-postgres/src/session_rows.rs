//! Rows of sessions, for the parts of the port that read them.

use std::sync::Arc;

use serde_json::{Value, json};
use swarm_core::domain::{Session, SessionSummary, Version};
use swarm_core::json::Json;
use swarm_core::store::Versioned;
#[cfg(doc)]
use swarm_core::store::records::MAX_SUMMARY_PART;
use swarm_core::store::records::{
    BEFORE_BUCKETS, BEFORE_SNAPSHOT, BEFORE_WEIGHTS, Record as _, read_versioned_session,
    versioned_session_text,
};
use tokio_postgres::Row;

use crate::db::{any, maybe_moment_of, number_of, signed};
use crate::failure::{Failure, Outcome};

/// The session of a row: `version, record, snapshot`.
pub(crate) fn session(row: &Row) -> Outcome<Versioned<Session>> {
    let record: &str = row.try_get(1)?;
    let snapshot: Option<&str> = row.try_get(2)?;
    versioned(number_of(row, 0)?, record, snapshot)
}

/// What lists show of the session of a row: the first [`MAX_SUMMARY_PART`] characters or more of its record
/// and of its snapshot, whether it has a roster, and when it was published, from a column on.
pub(crate) fn summary(row: &Row, first: usize) -> Outcome<Arc<SessionSummary>> {
    let record: &str = row.try_get(first)?;
    let snapshot: Option<&str> = row.try_get(first + 1)?;
    let has_roster: bool = row.try_get(first + 2)?;
    let before = record.split_once(BEFORE_BUCKETS).map_or(record, |(before, _)| before);
    let figures = snapshot.and_then(|snapshot| snapshot.split_once(BEFORE_WEIGHTS));
    let text = match figures {
        Some((figures, _)) => format!("{before}{BEFORE_SNAPSHOT}{figures}}}}}"),
        None => format!("{before}}}"),
    };
    let published_at = maybe_moment_of(row, first + 3)?;
    Ok(Arc::new(SessionSummary { has_roster, published_at, ..SessionSummary::from_text(&text)? }))
}

pub(crate) fn versioned(
    version: u64,
    record: &str,
    snapshot: Option<&str>,
) -> Outcome<Versioned<Session>> {
    let text = match (snapshot, record.strip_suffix('}')) {
        (Some(snapshot), Some(before)) => format!("{before}{BEFORE_SNAPSHOT}{snapshot}"),
        _ => record.to_owned(),
    };
    let mut fields = Json::read(text.as_bytes()).map_err(Failure::corrupt)?.into_object();
    let session = read_versioned_session(&mut fields)?;
    Ok(Versioned { version: Version(version), record: Arc::new(session) })
}

/// The text of a session without its snapshot, and what is from its snapshot on, if it has one.
fn split(session: &Session) -> (String, Option<String>) {
    let text = versioned_session_text(session);
    match text.split_once(BEFORE_SNAPSHOT) {
        Some((before, snapshot)) => {
            let snapshot = session.snapshot.is_some().then(|| snapshot.to_owned());
            (format!("{before}}}"), snapshot)
        }
        None => (text, None),
    }
}

/// The row of a session at this version, and the text of its snapshot.
pub(crate) fn row(session: &Session, version: Version) -> (Value, Option<String>) {
    let (record, snapshot) = split(session);
    let row = json!({
        "id": signed(session.id.0),
        "version": signed(version.0),
        "date": session.date.to_string(),
        "subject": any(session.subject_id.as_str()),
        "state": session.state.as_str(),
        "published_at": session.published_at.map(|at| at.millis()),
        "record": record,
    });
    (row, snapshot)
}
