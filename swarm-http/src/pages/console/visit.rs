//! A request of an operator who is signed in.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use swarm_core::domain::AdminTokenHash;
use swarm_core::json::Json;
use swarm_core::wire::RequestError;
use tokio::time::Instant;

use super::acts::Act;
use super::cookie;
use super::form::{Field, FormView, Sent};
use super::layout::Page;
use super::places::Place;
use super::same_origin::is_same_origin;
use super::sign_ins::SignIn;
use crate::pages::links;
use crate::pages::time_text::Reading;
use crate::request::RequestContext;
use crate::request::credential::Credential;
use crate::request::dry_run::DryRun;
use crate::request::route::{Handler, Route};
use crate::response::{ApiError, Reply};
use crate::tenants::{Operator, Role};

/// A function that returns the routes of the operators' API.
pub(crate) type Rows = fn() -> &'static [Route];

/// A request of an operator who is signed in.
pub(crate) struct Visit {
    pub(super) request: RequestContext,
    /// The routes of the operators' API.
    pub(super) rows: Rows,
    pub(super) sign_in: Arc<SignIn>,
    pub(super) operator: Operator,
    pub(super) reading: Reading,
    /// The name of the forms of the page.
    pub(super) forms: String,
    /// A digest of what the page shows, where its forms would change just that.
    pub(super) seen: Option<String>,
    /// The form that was refused, and now comes back.
    pub(super) refused: Option<Refused>,
}

/// A form that was refused.
pub(super) struct Refused {
    /// Where it was sent to.
    pub(super) action: String,
    pub(super) sent: Sent,
    pub(super) fault: String,
}

/// Refuses a request that must not have a session: over plain HTTP, or for a change from another site. Returns the name
/// of the cookie.
pub(super) fn guard(
    request: &RequestContext,
    is_change: bool,
) -> Result<&'static str, RequestError> {
    let name = cookie::name(&request.origin).ok_or(RequestError::PlainHttp)?;
    if is_change && !is_same_origin(&request.headers, &request.origin) {
        return Err(RequestError::CrossSite);
    }
    Ok(name)
}

/// The session of a request, and its operator, if the token that it was begun with is still good.
pub(super) async fn signed_in(
    request: &RequestContext,
    cookie: &'static str,
) -> Option<(Arc<SignIn>, Operator)> {
    let (config, sign_ins) = (request.served.config(), &request.site.console.sign_ins);
    let secret = cookie::value(&request.headers, cookie)?;
    let sign_in = sign_ins.find(secret, &config.id, Instant::now())?;
    let operator = config.operators.with_token(&sign_in.token).await;
    let Some(operator) = operator.filter(|operator| operator.name == sign_in.operator) else {
        sign_ins.end(secret);
        return None;
    };
    tracing::Span::current().record("operator", operator.name.as_str());
    Some((sign_in, operator))
}

/// The hash of a token as it was typed. A pasted token may have space around it.
pub(super) fn typed_token(sent: &Sent) -> AdminTokenHash {
    AdminTokenHash::of(sent.text("token").as_bytes())
}

impl Visit {
    pub(super) fn role(&self) -> Role {
        self.operator.role
    }

    /// A parameter of the path.
    pub(super) fn part(&self, at: usize) -> &str {
        self.request.path.get(at).map_or("", String::as_str)
    }

    /// A parameter of the query, if it is not empty.
    pub(super) fn query(&self, name: &str) -> Option<String> {
        self.request.query().remove(name).filter(|value| !value.is_empty())
    }

    /// Acts, and answers as the API does.
    pub(super) async fn call(&self, act: &Act, sent: &Sent, body: Json, is_dry_run: bool) -> Reply {
        let handler = act.route((self.rows)()).map(|route| &route.handler);
        let Some(Handler::Tenant(handler)) = handler else {
            return Err(RequestError::Internal.into());
        };
        let request = &self.request;
        let path = match act.part {
            Some(field) => vec![sent.text(field).to_owned()],
            None => request.path.clone(),
        };
        let called = RequestContext {
            site: request.site.clone(),
            served: request.served.clone(),
            dry_run: is_dry_run.then(|| Box::new(DryRun::of(&request.served))),
            origin: request.origin.clone(),
            credential: Credential::Operator(self.operator.name.clone()),
            headers: HeaderMap::new(),
            path,
            query: String::new(),
            bytes: Bytes::new(),
            body,
        };
        let answer = handler.answer(called).await;
        Ok(answer.unwrap_or_else(ApiError::into_answer))
    }

    /// Whether the role may do it.
    pub(super) fn may(&self, act: &Act) -> bool {
        let route = act.route((self.rows)());
        let needed = route.and_then(|route| route.access.role());
        needed.is_some_and(|needed| self.role() >= needed)
    }

    /// The form of an act at these parameters of its path; `None` for a role that may not send it.
    pub(super) fn form(
        &self,
        act: &'static Act,
        parts: &[&str],
        fields: Vec<Field>,
    ) -> Option<FormView> {
        self.may(act).then(|| self.form_at(act.button, filled(act.path, parts), fields))
    }

    fn form_at(&self, button: &str, action: String, fields: Vec<Field>) -> FormView {
        let refused = self.refused.as_ref().filter(|refused| refused.action == action);
        let fields = match refused {
            Some(refused) => fields.into_iter().map(|field| field.typed(&refused.sent)).collect(),
            None => fields,
        };
        let name = ("form".to_owned(), format!("{}{action}", self.forms));
        let seen = self.seen.iter().map(|seen| ("seen".to_owned(), seen.clone()));
        FormView {
            id: String::new(),
            method: "post",
            lead: None,
            hidden: [name].into_iter().chain(seen).collect(),
            is_inline: fields.is_empty(),
            fields,
            table: None,
            buttons: vec![(button.to_owned(), None)],
            fault: refused.map(|refused| refused.fault.clone()),
            action,
        }
    }

    /// A form that only looks something up.
    pub(super) fn look_up(action: &str, button: &str, fields: Vec<Field>) -> FormView {
        FormView {
            id: String::new(),
            action: action.to_owned(),
            method: "get",
            lead: None,
            hidden: Vec::new(),
            fields,
            table: None,
            buttons: vec![(button.to_owned(), None)],
            fault: None,
            is_inline: false,
        }
    }

    /// Puts a page into the layout.
    pub(super) fn laid_out(&self, page: Page, place: Option<Place>) -> Page {
        let has_committee = self.request.served.committee().is_some();
        let sections = Place::SECTIONS.iter().filter(|at| has_committee || !at.is_of_committee());
        let section = place.map(Place::section);
        Page {
            tenant: self.request.served.config().name.clone(),
            who: Some((self.operator.name.as_str().to_owned(), self.role().as_str())),
            sections: sections.map(|at| (at.path(), at.name(), section == Some(*at))).collect(),
            notice: page.notice.or_else(|| self.sign_in.take_notice()),
            fault: page.fault.or_else(|| self.refused.as_ref().map(|it| it.fault.clone())),
            ..page
        }
    }
}

/// The path with its parameters filled in.
pub(super) fn filled(path: &str, parts: &[&str]) -> String {
    let mut parts = parts.iter();
    let fill = |segment: &str| match segment.starts_with('{') {
        true => parts.next().map(|part| links::part(part)).unwrap_or_default(),
        false => segment.to_owned(),
    };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}
