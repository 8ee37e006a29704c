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
    Answer::ok(&SessionWithTakes { session, takes, next_after: None })
}

/// A session and a page of the takes that count: `{session, takes, nextAfter?}`.
pub fn with_some_takes(page: &TakePage) -> Answer {
    let TakePage { session, takes, next_after } = page;
    Answer::ok(&SessionWithTakes { session, takes, next_after: *next_after })
}

/// A session, and the highest revision of each member, in the order of filing.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionWithTakes<'a> {
    /// The session.
    session: &'a Session,
    /// The takes.
    takes: &'a [PublicTake],
    /// The value of after for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<TakeId>,
}

/// Returns the response with a page of sessions: `{sessions, nextBefore?}`.
pub fn page(page: &SessionPage) -> Answer {
    Answer::ok(&Sessions { sessions: &page.sessions, next_before: page.next_before })
}

/// A page of the list of sessions.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Sessions<'a> {
    /// The sessions.
    sessions: &'a [Arc<Session>],
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<SessionId>,
}

/// Returns the response with a page of summaries of sessions: `{sessions, nextBefore?}`.
pub fn summaries(page: &SummaryPage) -> Answer {
    Answer::ok(&SessionSummaries { sessions: &page.sessions, next_before: page.next_before })
}

/// A page of the list of sessions with view=summary.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionSummaries<'a> {
    /// The sessions.
    sessions: &'a [Arc<SessionSummary>],
    /// The value of before for the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<SessionId>,
}

/// Returns the response with a bundle (API.md, 11.8). Keep its body as the text that it is: `serde_json::Value` and the type `jsonb` of
/// PostgreSQL change the order of members and the digits of numbers, and a bundle that went through them does not hold.
pub fn bundle(bundle: &SessionBundle) -> Answer {
    Answer::ok(bundle)
}

/// The sessions that accept takes: `{sessions}`.
pub fn open(sessions: &[Arc<Session>]) -> Answer {
    Answer::ok(&OpenSessions { sessions })
}

/// The sessions that accept takes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct OpenSessions<'a> {
    /// The sessions.
    sessions: &'a [Arc<Session>],
}

/// Returns the response with a newly convened session: 201 `{ok, status, session}`.
pub fn convened(session: &Session) -> Answer {
    Answer::done(201, &SessionConvened { session })
}

/// The session is convened.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SessionConvened<'a> {
    /// The session.
    session: &'a Session,
}

/// Returns the response with a changed session: `{ok, status, session}`.
pub fn changed(session: &Session) -> Answer {
    Answer::done(200, &SessionChanged { session })
}

/// The session is changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct SessionChanged<'a> {
    /// The session.
    session: &'a Session,
}
