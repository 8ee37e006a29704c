//! The row of a session, as it is written.

use std::borrow::Cow;
use std::sync::Arc;

use super::tables::sessions;
use crate::domain::Session;
use crate::domain::json;
use crate::records::snapshot_text;
use crate::store::backend::{Body, Parts, Term, Write};

/// The write of a session that is stored already.
pub(super) fn replacement(session: Session) -> Write {
    let columns = columns(&session, session.id.0.into(), session.convened_at.into());
    Write::Put { table: &sessions::TABLE, columns, body: body(session) }
}

pub(super) fn columns(session: &Session, id: Term, convened_at: Term) -> Vec<Term> {
    vec![
        id,
        session.date.to_string().into(),
        session.subject_id.as_str().into(),
        session.state.as_str().into(),
        convened_at,
        session.window_closes_at.into(),
        session.quorum.map(u64::from).into(),
        u64::from(session.roster.is_some()).into(),
        u64::from(session.blind).into(),
        u64::from(session.practice).into(),
        u64::from(session.finish).into(),
        session.opened_at.into(),
        session.published_at.into(),
        session.published_at.filter(|_| session.counts()).into(),
        session.version.into(),
    ]
}

/// A session, perhaps without the id and the time that its commit assigned.
pub(super) struct Source(pub(super) Arc<Session>);

impl Parts for Source {
    fn part(&self, position: usize) -> Option<Cow<'_, str>> {
        let Self(session) = self;
        let snapshot = session.snapshot.as_ref();
        match position {
            sessions::FIGURES => snapshot.map(|snapshot| json::write(&snapshot.figures)),
            sessions::BUCKETS => session.buckets.as_ref().map(json::write),
            sessions::ROSTER => session.roster.as_ref().map(json::write),
            sessions::QUESTION => {
                (!session.question.is_empty()).then(|| json::write(&session.question))
            }
            sessions::OUTCOME => session.outcome.as_ref().map(json::write),
            sessions::VOIDED => session.voided.as_ref().map(json::write),
            sessions::SNAPSHOT => snapshot.map(|snapshot| snapshot_text(snapshot)),
            sessions::DECLARATION => {
                (!session.declaration.is_empty()).then(|| json::write(&session.declaration))
            }
            _ => None,
        }
        .map(Cow::Owned)
    }
}

pub(super) fn body(session: Session) -> Body {
    Body::of(Source(Arc::new(session)))
}
