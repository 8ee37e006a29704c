//! Acts: forms, and the routes of the operators' API that they stand for. Each act is a row: the form's path and page, and the
//! route. What the form says, what it shows first, and its fields are those of the command that the route has, unless the form
//! is one of several of the command.

#[cfg(feature = "committee")]
mod committee;
mod members;
mod records;
mod sessions;

use swarm_core::Invalid;
use swarm_core::json::Json;
use swarm_core::rules::Caution;

use super::body::Body;
use super::form::{FormData, field_name};
use super::page_id::PageId;
use crate::request::command::{Argument, ArgumentKind, Command, FormPreview, FormTexts};
use crate::request::route::Route;

#[cfg(feature = "committee")]
pub(super) use committee::*;
pub(super) use members::*;
pub(super) use records::*;
pub(super) use sessions::*;

/// A function that returns the routes of the operators' API.
pub(crate) type OperatorRoutes = fn() -> &'static [Route];

/// A function that makes the body of an API request from the path parameters and the form.
pub(super) type BodyFn = fn(&[String], &FormData) -> Json;

/// A function that says which field of a form cannot become one of a request.
type CheckFn = fn(&FormData) -> Result<(), Invalid>;

/// A form, and the API request that it makes.
pub(crate) struct Act {
    /// The path that the form is sent to.
    pub(crate) path: &'static str,
    /// The route of the API: method and path.
    pub(crate) api: (&'static str, &'static str),
    /// The body of the API's request, where it is not that of the command's arguments.
    body: Option<BodyFn>,
    /// Why a field of the form cannot become one of the request, if one cannot.
    check: Option<CheckFn>,
    /// The word of the command, where the route has several.
    verb: Option<&'static str>,
    /// The page of the form, which is shown again if the form is refused.
    pub(crate) page_id: PageId,
    /// The page that follows, if it is another page.
    pub(super) next: Option<PageId>,
    /// The label of the button and the message after the change, where they are not those of the command.
    texts: Option<(&'static str, &'static str)>,
    /// Whether something is gone or void afterwards, though not by other forms of the command.
    is_destructive: bool,
    /// The field with several values, if the act makes one API request for each value.
    pub(super) each: Option<&'static str>,
    /// The member of the answer that is a minted secret, if there is one.
    pub(super) secret: Option<&'static str>,
    /// The field with the parameter of the API's path, if the form's own path has no parameter.
    pub(super) path_field: Option<&'static str>,
    /// The field that names the row of the page that the act is on, if a page has several.
    pub(super) row_field: Option<&'static str>,
    /// The label and the field of the record that it changes, where no path parameter names it.
    pub(super) changed: Option<(&'static str, &'static str)>,
    /// The act that follows on the session of the answer if this field is set.
    pub(super) then: Option<(&'static str, &'static Act)>,
    /// The names of the form's other fields, where they are not those of the command's arguments.
    fields: &'static [&'static str],
}

impl Act {
    /// An act of a POST, without secret.
    pub(super) const fn post(path: &'static str, api: &'static str, page_id: PageId) -> Self {
        Self::new(path, ("POST", api), page_id)
    }

    /// An act without secret.
    pub(super) const fn new(
        path: &'static str,
        api: (&'static str, &'static str),
        page_id: PageId,
    ) -> Self {
        Self {
            path,
            api,
            body: None,
            check: None,
            verb: None,
            page_id,
            next: None,
            texts: None,
            is_destructive: false,
            each: None,
            secret: None,
            path_field: None,
            row_field: None,
            changed: None,
            then: None,
            fields: &[],
        }
    }

    /// With a body that is not that of the command's arguments.
    pub(super) const fn with_body(self, body: BodyFn) -> Self {
        Self { body: Some(body), ..self }
    }

    /// With a check of what is typed, besides that of the API.
    pub(super) const fn checked(self, check: CheckFn) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Checks what is typed before a request is made of it.
    pub(super) fn check(&self, sent: &FormData) -> Result<(), Invalid> {
        self.check.map_or(Ok(()), |check| check(sent))
    }

    /// As this command of the route, which has several.
    pub(super) const fn by(self, verb: &'static str) -> Self {
        Self { verb: Some(verb), ..self }
    }

    pub(super) const fn with_fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    /// The command of `swarm admin` that sends the same request.
    fn command(&self, routes: OperatorRoutes) -> Option<&'static Command> {
        self.route(routes())?
            .commands
            .iter()
            .find(|it| self.verb.is_none_or(|verb| it.word == verb))
    }

    /// The fields of the request, where they are the arguments of the command.
    fn arguments(&self, routes: OperatorRoutes) -> impl Iterator<Item = &'static Argument> {
        let (_, path) = self.api;
        let command = self.command(routes).filter(|_| self.body.is_none());
        let arguments = command.into_iter().flat_map(|command| &command.arguments);
        arguments.filter(move |it| !path.contains(&format!("{{{}}}", it.field)))
    }

    /// The body of the API's request, made from the path parameters and the form.
    pub(super) fn body(&self, routes: OperatorRoutes, parts: &[String], sent: &FormData) -> Json {
        if let Some(body) = self.body {
            return body(parts, sent);
        }
        let fixed = self.command(routes).map_or(&[][..], |command| command.fixed);
        let body = fixed.iter().fold(Body::of(sent), |body, (field, value)| {
            body.set(field, Json::read(value.as_bytes()).unwrap_or(Json::Null))
        });
        let body = self.arguments(routes).fold(body, |body, Argument { field, kind, .. }| {
            match (kind, parts.first()) {
                (ArgumentKind::Member | ArgumentKind::Members { .. }, Some(id)) => {
                    body.set(field, Json::from(id.as_str()))
                }
                (ArgumentKind::Time, _) => body.time(field),
                (ArgumentKind::Switch, _) => body.flag(field),
                _ => body.text(field),
            }
        });
        body.json()
    }

    /// The fields of the act that were sent, with what they had before, without the token and the hidden fields that each form
    /// has. Other fields are left out: a stranger may send any number of them.
    pub(super) fn fields_of(
        &self,
        routes: OperatorRoutes,
        sent: &FormData,
    ) -> impl Iterator<Item = (String, String)> {
        let is_own = move |name: &str| self.own(routes, field_name(name)).is_some();
        sent.fields().filter(move |(name, _)| is_own(name)).cloned()
    }

    /// The field of this name that the form has, besides those that each form has.
    fn own(&self, routes: OperatorRoutes, name: &str) -> Option<&'static str> {
        let arguments = self.arguments(routes).map(|argument| argument.field.as_str());
        let fields = self.fields.iter().copied().chain(arguments);
        fields.chain(self.each).chain(self.path_field).find(|field| *field == name)
    }

    /// The field of the form that a field of the API's request is made of.
    pub(super) fn field_of(&self, routes: OperatorRoutes, name: &str) -> Option<&'static str> {
        let own = |name: &str| self.own(routes, name);
        own(name).or_else(|| match name {
            "prompt" => own("system"),
            "members" => own("roster"),
            "token" | "chain" | "valueUsd" | "pct" => own("positions"),
            _ => None,
        })
    }

    pub(super) const fn followed_by(self, page_id: PageId) -> Self {
        Self { next: Some(page_id), ..self }
    }

    /// With another label and another message than those of the command.
    pub(super) const fn saying(self, button: &'static str, done: &'static str) -> Self {
        Self { texts: Some((button, done)), ..self }
    }

    pub(super) const fn destructive(self) -> Self {
        Self { is_destructive: true, ..self }
    }

    pub(super) const fn in_rows(self, field: &'static str) -> Self {
        Self { row_field: Some(field), ..self }
    }

    /// Followed by another act on the session of the answer, if this field is set.
    pub(super) const fn then(self, field: &'static str, act: &'static Self) -> Self {
        Self { then: Some((field, act)), ..self }
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

    /// What the page says of it.
    pub(crate) fn texts(&self, routes: OperatorRoutes) -> FormTexts {
        let of_command = self.command(routes).map(|command| command.form).unwrap_or_default();
        let (button, done) = self.texts.unwrap_or((of_command.button, of_command.done));
        let is_destructive = self.is_destructive || of_command.is_destructive;
        FormTexts { button, done, is_destructive, ..of_command }
    }

    /// When a page shows first what would change.
    pub(super) fn preview(&self, routes: OperatorRoutes) -> FormPreview {
        self.command(routes).map_or(FormPreview::Always, |command| command.preview)
    }

    /// Whether something is asked because of a caution.
    pub(super) fn may_ask(&self, routes: OperatorRoutes) -> bool {
        self.command(routes).is_none_or(|command| !command.asks.is_empty())
    }

    /// Whether a [`Proof`](super::confirm::Proof) is needed because of these cautions.
    pub(super) fn needs_proof(&self, routes: OperatorRoutes, cautions: &[Caution]) -> bool {
        self.command(routes).is_none_or(|command| {
            let is_asked = |caution: &Caution| command.asks.contains(&caution.code);
            command.wants_proof && cautions.iter().any(is_asked)
        })
    }
}

/// All acts.
pub(crate) fn all() -> impl Iterator<Item = &'static Act> {
    let topics = [
        MEMBER_ACTS,
        RECORD_ACTS,
        SESSION_ACTS,
        #[cfg(feature = "committee")]
        COMMITTEE_ACTS,
    ];
    topics.into_iter().flatten().copied()
}
