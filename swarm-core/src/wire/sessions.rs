//! Responses about sessions.

use std::sync::Arc;

use serde::Serialize;

use super::Answer;
use crate::audit::SessionBundle;
use crate::domain::{Session, SessionId, SessionSummary, TakeId};
use crate::rules::PublicTake;
use crate::service::{SessionPage, SummaryPage, TakePage};

/// A session and the takes that count, the latest revision of each member: `{session, takes}`.
pub fn with_takes(session: &Session, takes: &[PublicTake]) -> Answer {
    #[derive(Serialize)]
    struct WithTakes<'a> {
        session: &'a Session,
        takes: &'a [PublicTake],
    }
    Answer::ok(&WithTakes { session, takes })
}

/// A session and a page of the takes that count: `{session, takes, nextAfter?}`.
pub fn with_some_takes(page: &TakePage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WithSomeTakes<'a> {
        session: &'a Session,
        takes: &'a [PublicTake],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_after: Option<TakeId>,
    }
    let TakePage { session, takes, next_after } = page;
    Answer::ok(&WithSomeTakes { session, takes, next_after: *next_after })
}

/// Returns the response with a page of sessions: `{sessions, nextBefore?}`.
pub fn page(page: &SessionPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Page<'a> {
        sessions: &'a [Arc<Session>],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<SessionId>,
    }
    Answer::ok(&Page { sessions: &page.sessions, next_before: page.next_before })
}

/// Returns the response with a page of summaries of sessions: `{sessions, nextBefore?}`.
pub fn summaries(page: &SummaryPage) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Page<'a> {
        sessions: &'a [Arc<SessionSummary>],
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<SessionId>,
    }
    Answer::ok(&Page { sessions: &page.sessions, next_before: page.next_before })
}

/// Returns the response with a bundle (API.md, 11.8).
pub fn bundle(bundle: &SessionBundle) -> Answer {
    Answer::ok(bundle)
}

/// The sessions that accept takes: `{sessions}`.
pub fn open(sessions: &[Arc<Session>]) -> Answer {
    #[derive(Serialize)]
    struct Open<'a> {
        sessions: &'a [Arc<Session>],
    }
    Answer::ok(&Open { sessions })
}

/// Returns the response with a newly convened session: 201 `{ok, status, session}`.
pub fn convened(session: &Session) -> Answer {
    written(201, session)
}

/// Returns the response with a changed session: `{ok, status, session}`.
pub fn changed(session: &Session) -> Answer {
    written(200, session)
}

fn written(status: u16, session: &Session) -> Answer {
    #[derive(Serialize)]
    struct Written<'a> {
        session: &'a Session,
    }
    Answer::done(status, &Written { session })
}
