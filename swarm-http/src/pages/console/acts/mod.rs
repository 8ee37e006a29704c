//! Acts: forms, and the routes of the operators' API that they stand for. Each act is a row: the form's path, the route,
//! and the body that is made from the form.

mod committee;
mod members;
mod records;
mod sessions;

use swarm_core::json::Json;
use swarm_core::rules;
use swarm_core::{Session, Timestamp};

use super::body::utc;
use super::form::Sent;
use super::places::Place;
use crate::request::route::Route;

pub(super) use committee::*;
pub(super) use members::*;
pub(super) use records::*;
pub(super) use sessions::*;

/// A function that makes a body of the API, from the parameters of the path and what was typed.
pub(super) type Made = fn(&[String], &Sent) -> Json;

/// A form that is sent.
pub(crate) struct Act {
    /// Where it is sent to.
    pub(crate) path: &'static str,
    /// The route of the API that it stands for: method and path.
    pub(crate) api: (&'static str, &'static str),
    /// The body of the API's request.
    pub(super) body: Made,
    /// The page of the form, which comes back where it is refused.
    pub(crate) place: Place,
    /// The page that follows, if it is another one.
    pub(super) next: Option<Place>,
    /// The label of its button.
    pub(super) button: &'static str,
    /// The message after the change.
    pub(super) done: &'static str,
    pub(super) care: Care,
    /// The field whose values it is done for, one after another, if it is done for several.
    pub(super) each: Option<&'static str>,
    /// The member of the answer that is a secret, if one is.
    pub(super) secret: Option<&'static str>,
    /// The field that is the parameter of the API's path, where the form's own path has none.
    pub(super) part: Option<&'static str>,
    /// What happens, where that cannot be undone.
    pub(super) warning: &'static str,
}

/// When the token is asked for again, after a page that shows what would change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    Never,
    Always,
    /// Before the window of the session is over.
    EarlyResult,
    /// When the deadline is brought forward before the window is over.
    EarlierDeadline,
}

impl Act {
    /// An act of a POST, without confirmation and secret.
    pub(super) const fn post(
        path: &'static str,
        api: &'static str,
        body: Made,
        place: Place,
        said: (&'static str, &'static str),
    ) -> Self {
        Self::new(path, ("POST", api), body, place, said)
    }

    /// An act without confirmation and secret.
    pub(super) const fn new(
        path: &'static str,
        api: (&'static str, &'static str),
        body: Made,
        place: Place,
        (button, done): (&'static str, &'static str),
    ) -> Self {
        let (next, care, each, secret) = (None, Care::Never, None, None);
        let (part, warning) = (None, "");
        Self { path, api, body, place, next, button, done, care, each, secret, part, warning }
    }

    pub(super) const fn leading_to(self, place: Place) -> Self {
        Self { next: Some(place), ..self }
    }

    pub(super) const fn with(self, care: Care) -> Self {
        Self { care, ..self }
    }

    pub(super) const fn warning(self, warning: &'static str) -> Self {
        Self { care: Care::Always, warning, ..self }
    }

    pub(super) const fn at(self, field: &'static str) -> Self {
        Self { part: Some(field), ..self }
    }

    pub(super) const fn for_each(self, field: &'static str) -> Self {
        Self { each: Some(field), ..self }
    }

    pub(super) const fn minting(self, secret: &'static str) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// The row of these that it stands for.
    pub(crate) fn route(&self, rows: &'static [Route]) -> Option<&'static Route> {
        let (method, path) = self.api;
        rows.iter().find(|row| row.method == *method && row.path == path)
    }

    /// Whether the token is asked for again.
    pub(super) fn wants_token(
        &self,
        sent: &Sent,
        session: Option<&Session>,
        now: Timestamp,
    ) -> bool {
        let closes = session.and_then(|session| session.window_closes_at);
        let is_open = rules::takes_may_come(closes, now);
        match self.care {
            Care::Never => false,
            Care::Always => true,
            Care::EarlyResult => is_open,
            Care::EarlierDeadline => {
                let to = Timestamp::parse("windowClosesAt", &utc(sent.text("windowClosesAt"))).ok();
                is_open && to.is_some_and(|to| closes.is_none_or(|closes| to < closes))
            }
        }
    }
}

/// All acts.
pub(crate) static ALL: [&Act; 40] = [
    &ACTIVATE_ALL,
    &REJECT_ALL,
    &ACTIVATE,
    &REJECT,
    &DEACTIVATE,
    &RESET_CLAIM,
    &ROTATE_KEY,
    &ERASE,
    &CREATE_SUBJECT,
    &REPLACE_SUBJECT,
    &ADD_SNAPSHOT,
    &PUT_REGIME,
    &PUT_SIGNAL,
    &RETRACT_MEMO,
    &CONVENE,
    &OPEN,
    &CLOSE,
    &AGGREGATE,
    &PUBLISH,
    &MOVE_DEADLINE,
    &CLEAR_DEADLINE,
    &SET_QUORUM,
    &FREEZE_ROSTER,
    &EXCUSE,
    &UNEXCUSE,
    &PUBLISH_BRIEF,
    &WITHDRAW,
    &RETRY_MESSAGE,
    &CANCEL_MESSAGE,
    &ACCEPT_CLOCK,
    &ACCEPT_STORE,
    &ACCEPT_KEY,
    &ADD_COMMITTEE_MEMBER,
    &ROTATE_COMMITTEE_KEY,
    &SET_MEMBER_ACTIVE,
    &SET_MEMBER_INACTIVE,
    &SET_DAY,
    &GENERATE_BRIEFS,
    &SET_SYNTHESIS,
    &WITHDRAW_DAY,
];
