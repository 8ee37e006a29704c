//! Sessions: `version state id convened record`.

use std::sync::Arc;

use swarm_core::domain::{
    Session, SessionDraft, SessionId, SessionSummary, SessionTerms, Timestamp, Version,
};
use swarm_core::store::Versioned;
use swarm_core::store::records::{Record as _, read_versioned_session, versioned_session_text};

use super::{Corrupt, Decoded, Words, decode_timestamp, number, text_or_null};

pub(crate) fn encode_session(version: Version, session: &Session) -> String {
    let Session { id, state, convened_at, .. } = session;
    format!("{version} {state} {id} {} {}", convened_at.millis(), versioned_session_text(session))
}

/// The record of a session that is not convened yet. The id and the time in it are placeholders:
/// the words that the commit puts in front take precedence.
pub(crate) fn encode_session_draft(draft: &SessionDraft) -> String {
    versioned_session_text(&draft.convened(SessionId(0), Timestamp::EPOCH))
}

/// The session that was convened from a draft: `convened id time`.
pub(crate) fn decode_convened(outcome: &str, draft: &SessionDraft) -> Decoded<Session> {
    let parts = outcome.strip_prefix("convened ").and_then(|rest| rest.split_once(' '));
    let (id, now) = parts.ok_or_else(|| Corrupt::new(outcome))?;
    Ok(draft.convened(SessionId(number(id)?), decode_timestamp(now)?))
}

/// The id of a session, from its row.
pub(crate) fn decode_session_id(row: &str) -> Decoded<SessionId> {
    let mut words = Words(row);
    let (_, _) = (words.next()?, words.next()?);
    words.number().map(SessionId)
}

/// The terms of a session, from its row with the snapshot or without. The words in front take
/// precedence over the record.
pub(crate) fn decode_terms(row: &str) -> Decoded<Versioned<SessionTerms>> {
    let mut words = Words(row);
    let (version, state) = (words.version()?, words.next()?);
    let (id, _) = (words.number()?, words.timestamp()?);
    let mut fields = words.object()?;
    fields.set("id", 0.0.into());
    fields.set("state", state.into());
    let record = SessionTerms { id: SessionId(id), ..SessionTerms::read(&mut fields)? };
    Ok(Versioned { version, record: Arc::new(record) })
}

/// What lists show of a session, from its row with all fields or only those. The words in front take
/// precedence over the record.
pub(crate) fn decode_summary(row: &str) -> Decoded<Arc<SessionSummary>> {
    let mut words = Words(row);
    let (_, state) = (words.version()?, words.next()?);
    let (id, convened_at) = (words.number()?, words.timestamp()?);
    let mut fields = words.object()?;
    fields.set("id", 0.0.into());
    fields.set("state", state.into());
    fields.set("convenedAt", text_or_null(Some(convened_at)));
    Ok(Arc::new(SessionSummary { id: SessionId(id), ..SessionSummary::read(&mut fields)? }))
}

/// The words in front take precedence over the record.
pub(crate) fn decode_session(row: &str) -> Decoded<Versioned<Session>> {
    let mut words = Words(row);
    let (version, state) = (words.version()?, words.next()?);
    let (id, convened_at) = (words.number()?, words.timestamp()?);
    let mut fields = words.object()?;
    fields.set("id", 0.0.into());
    fields.set("state", state.into());
    fields.set("convenedAt", text_or_null(Some(convened_at)));
    let record = Session { id: SessionId(id), ..read_versioned_session(&mut fields)? };
    Ok(Versioned { version, record: Arc::new(record) })
}
