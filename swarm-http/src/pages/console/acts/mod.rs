//! Acts: forms, and the routes of the operators' API that they stand for. Each act is a row: the form's path, the route,
//! and the body that is made from the form.

mod committee;
mod members;
mod records;
mod sessions;

use swarm_core::json::Json;
use swarm_core::rules::Caution;

use super::form::FormData;
use super::page_id::PageId;
use crate::request::route::Route;

pub(super) use committee::*;
pub(super) use members::*;
pub(super) use records::*;
pub(super) use sessions::*;

/// A function that makes the body of an API request from the path parameters and the form.
pub(super) type BodyFn = fn(&[String], &FormData) -> Json;

/// A form, and the API request that it makes.
pub(crate) struct Act {
    /// The path that the form is sent to.
    pub(crate) path: &'static str,
    /// The route of the API: method and path.
    pub(crate) api: (&'static str, &'static str),
    /// The body of the API's request.
    pub(super) body: BodyFn,
    /// The page of the form, which is shown again if the form is refused.
    pub(crate) page_id: PageId,
    /// The page that follows, if it is another page.
    pub(super) next: Option<PageId>,
    /// The label of the button.
    pub(super) button: &'static str,
    /// The message after the change.
    pub(super) done: &'static str,
    pub(super) confirmation: Confirmation,
    /// The field with several values, if the act makes one API request for each value.
    pub(super) each: Option<&'static str>,
    /// The member of the answer that is a minted secret, if there is one.
    pub(super) secret: Option<&'static str>,
    /// The field with the parameter of the API's path, if the form's own path has no parameter.
    pub(super) path_field: Option<&'static str>,
    /// The names of the form's other fields.
    fields: &'static [&'static str],
}

/// When an act needs confirmation: a page shows what would change, and asks for a [`Proof`](super::confirm::Proof).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirmation {
    Never,
    Always,
    /// If there is a caution with this code.
    Because(&'static str),
}

impl Act {
    /// An act of a POST, without confirmation and secret.
    pub(super) const fn post(
        path: &'static str,
        api: &'static str,
        body: BodyFn,
        page_id: PageId,
        texts: (&'static str, &'static str),
    ) -> Self {
        Self::new(path, ("POST", api), body, page_id, texts)
    }

    /// An act without confirmation and secret.
    pub(super) const fn new(
        path: &'static str,
        api: (&'static str, &'static str),
        body: BodyFn,
        page_id: PageId,
        (button, done): (&'static str, &'static str),
    ) -> Self {
        let (next, confirmation, each, secret) = (None, Confirmation::Never, None, None);
        let (path_field, fields) = (None, &[] as &[_]);
        Self {
            path,
            api,
            body,
            page_id,
            next,
            button,
            done,
            confirmation,
            each,
            secret,
            path_field,
            fields,
        }
    }

    pub(super) const fn with_fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    /// The fields of the act that were sent, without the token and the hidden fields that each form has. Other fields are
    /// left out: a stranger may send any number of them.
    pub(super) fn fields_of(&self, sent: &FormData) -> impl Iterator<Item = (String, String)> {
        sent.fields().filter(|(name, _)| self.has_field(name)).cloned()
    }

    /// Whether the form has a field of this name, besides those that each form has.
    fn has_field(&self, name: &str) -> bool {
        self.fields.contains(&name) || self.each == Some(name) || self.path_field == Some(name)
    }

    pub(super) const fn followed_by(self, page_id: PageId) -> Self {
        Self { next: Some(page_id), ..self }
    }

    pub(super) const fn confirmed(self, confirmation: Confirmation) -> Self {
        Self { confirmation, ..self }
    }

    pub(super) const fn with_path_field(self, field: &'static str) -> Self {
        Self { path_field: Some(field), ..self }
    }

    pub(super) const fn for_each(self, field: &'static str) -> Self {
        Self { each: Some(field), ..self }
    }

    pub(super) const fn with_secret(self, secret: &'static str) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// The route of the API, among these.
    pub(crate) fn route(&self, rows: &'static [Route]) -> Option<&'static Route> {
        let (method, path) = self.api;
        rows.iter().find(|row| row.method == *method && row.path == path)
    }

    /// Whether the act needs a confirmation because of these cautions.
    pub(super) fn needs_confirmation(&self, cautions: &[Caution]) -> bool {
        match self.confirmation {
            Confirmation::Never => false,
            Confirmation::Always => true,
            Confirmation::Because(code) => cautions.iter().any(|caution| caution.code == code),
        }
    }
}

/// All acts.
pub(crate) static ALL: [&Act; 52] = [
    &ACTIVATE_ALL,
    &REJECT_ALL,
    &ACTIVATE,
    &REJECT,
    &UPDATE_MEMBER,
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
    &WITHHOLD_TAKE,
    &RESTORE_TAKE,
    &CONVENE,
    &OPEN,
    &CLOSE,
    &AGGREGATE,
    &PUBLISH,
    &MOVE_DEADLINE,
    &CLEAR_DEADLINE,
    &SET_QUORUM,
    &SET_QUESTION,
    &RECORD_OUTCOME,
    &ANNUL_OUTCOME,
    &FREEZE_ROSTER,
    &EXCUSE,
    &UNEXCUSE,
    &PUBLISH_BRIEF,
    &REPLACE_BRIEF,
    &WITHDRAW,
    &VOID,
    &RETRY_MESSAGE,
    &CANCEL_MESSAGE,
    &TEST_MAIL,
    &TEST_WEBHOOK,
    &RETRY_DELIVERY,
    &ACCEPT_CLOCK,
    &ACCEPT_STORE,
    &ACCEPT_KEY,
    &ADD_COMMITTEE_MEMBER,
    &UPDATE_COMMITTEE_MEMBER,
    &ROTATE_COMMITTEE_KEY,
    &SET_MEMBER_ACTIVE,
    &SET_MEMBER_INACTIVE,
    &SET_DAY,
    &GENERATE_BRIEFS,
    &SET_SYNTHESIS,
    &WITHDRAW_DAY,
];
