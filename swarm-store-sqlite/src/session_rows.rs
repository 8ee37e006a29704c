//! Lookups of single sessions, for the parts of the port that are guarded by one.

use std::sync::Arc;

use swarm_core::Timestamp;
use swarm_core::domain::{Day, Session, SessionId, SessionTerms, SubjectId, Version};
use swarm_core::json::Json;
use swarm_core::store::Versioned;
use swarm_core::store::records::{Record as _, without_snapshot};

use crate::failure::{Failure, Outcome};
use crate::tenant_rows::{TenantRows, signed, text, unsigned, versioned};

/// The last id of a session. The id of a withdrawn session stays used, because the log refers to it.
pub(crate) const LAST_ID: &str = "SELECT max(
    coalesce((SELECT max(id) FROM sessions WHERE tenant = ?1), 0),
    coalesce((SELECT max(session) FROM log WHERE tenant = ?1 AND session IS NOT NULL), 0))";

/// Writes a session that is not on file yet.
pub(crate) fn insert(world: &TenantRows<'_>, session: &Session) -> Outcome<()> {
    world.run(
        "INSERT INTO sessions (tenant, id, version, date, subject, state, published_at, summary, record)
         VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            &signed(session.id.0),
            &session.date.to_string(),
            &session.subject_id.as_str(),
            &session.state.as_str(),
            &session.published_at.map(Timestamp::millis),
            &session.summary().to_text(),
            &session.to_text(),
        ],
    )?;
    Ok(())
}

/// The session with this id.
pub(crate) fn by_id(world: &TenantRows<'_>, id: SessionId) -> Outcome<Option<Versioned<Session>>> {
    const BY_ID: &str = "SELECT version, record FROM sessions WHERE tenant = ?1 AND id = ?2";
    world.one(BY_ID, &[&signed(id.0)], versioned)
}

/// The terms of the newest session of a day and subject.
pub(crate) fn newest_terms(
    world: &TenantRows<'_>,
    date: Day,
    subject: &SubjectId,
) -> Outcome<Option<Versioned<SessionTerms>>> {
    const NEWEST: &str = "SELECT version, record FROM sessions
        WHERE tenant = ?1 AND date = ?2 AND subject = ?3 ORDER BY id DESC LIMIT 1";
    world.one(NEWEST, &[&date.to_string(), &subject.as_str()], |row| {
        let version = Version(unsigned(row.get(0)?)?);
        let fields = Json::read(without_snapshot(text(row, 1)?).as_bytes());
        let terms = SessionTerms::read(&mut fields.map_err(Failure::corrupt)?.into_object())?;
        Ok(Versioned { version, record: Arc::new(terms) })
    })
}

/// Whether a session is at this version.
pub(crate) fn is_at(world: &TenantRows<'_>, id: SessionId, version: Version) -> Outcome<bool> {
    const AT: &str = "SELECT 1 FROM sessions WHERE tenant = ?1 AND id = ?2 AND version = ?3";
    world.any(AT, &[&signed(id.0), &signed(version.0)])
}
