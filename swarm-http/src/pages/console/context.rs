//! A request of a signed-in operator.

use std::sync::Arc;

use bytes::Bytes;
use http::{Extensions, HeaderMap};
use swarm_core::MemberId;
use swarm_core::domain::AdminTokenHash;
use swarm_core::json::Json;
use swarm_core::wire::RequestError;
use tokio::time::Instant;

use super::acts::{Act, OperatorRoutes};
use super::cookie::Cookie;
use super::form::{Button, Field, FormData, FormView, Panel, Panels};
use super::layout::{Page, refusal_page, unavailable_page};
use super::page_id::PageId;
use super::same_origin::is_same_origin;
use crate::console::{Authentication, SignIn};
use crate::pages::links;
use crate::pages::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::request::credential::Credential;
use crate::request::dry_run::DryRun;
use crate::request::portion::Portion;
use crate::request::route::Handler;
use crate::response::{Answer, ApiError, Reply};
use crate::tenants::{Operator, OperatorRequest, Role, SignOnUnavailable};

/// A request of a signed-in operator, with what its pages and forms need.
pub(crate) struct ConsoleContext {
    pub(super) request: RequestContext,
    /// The routes of the operators' API.
    pub(super) routes: OperatorRoutes,
    pub(super) sign_in: Arc<SignIn>,
    pub(super) operator: Operator,
    pub(super) times: TimeFormatter,
    /// The prefix of the names of the page's forms.
    pub(super) form_prefix: String,
    /// A digest of the record that the page shows, if its forms change that record.
    pub(super) record_digest: Option<String>,
    /// The members of the roster that the form keeps instead of listing them.
    pub(super) kept_roster: Option<Vec<MemberId>>,
    /// The refused form, which is shown again.
    pub(super) refused: Option<RefusedForm>,
}

/// A form that is shown again, as it was typed.
pub(super) struct RefusedForm {
    /// The path that the form was sent to.
    pub(super) action: String,
    pub(super) sent: FormData,
    /// Why it was refused, if it was.
    pub(super) fault: Option<String>,
    /// The refused fields, and why each was refused.
    pub(super) fields: Vec<(&'static str, String)>,
}

impl RefusedForm {
    /// The field with the submitted value, and why it was refused.
    fn typed(&self, field: Field) -> Field {
        let refused = self.fields.iter().find(|(name, _)| *name == field.name);
        // The API names its field; people know it by its label.
        let fault = refused.map(|(_, why)| format!("{} {why}.", field.label));
        Field { fault, ..field.typed(&self.sent) }
    }
}

/// Refuses a request that must not be of a sign-in: over plain HTTP, or for a change from another site. Returns the
/// cookie, or the page of the refusal.
pub(super) fn guard(request: &RequestContext, is_change: bool) -> Result<Cookie, Box<Answer>> {
    let refused = |error| Box::new(refusal_page(&request.served, error));
    let cookie = Cookie::of(&request.origin, request.served.config());
    let cookie = cookie.ok_or_else(|| refused(RequestError::PlainHttp))?;
    if is_change && !is_same_origin(&request.headers, &request.origin) {
        return Err(refused(RequestError::CrossSite));
    }
    Ok(cookie)
}

/// Who a request of the console comes from.
pub(super) enum Sender {
    /// An operator with a sign-in.
    SignedIn(Arc<SignIn>, Operator),
    /// An operator whom the program around has authenticated, in a browser without a sign-in.
    SignedOn(Operator),
    /// Somebody else.
    Stranger,
}

/// The cookie of a request, and who it comes from; or the page of its [refusal](guard).
pub(super) async fn sender_of(
    request: &RequestContext,
    is_change: bool,
) -> Result<(Cookie, Sender), Box<Answer>> {
    let cookie = guard(request, is_change)?;
    match recognize(request, &cookie).await {
        Ok(sender) => Ok((cookie, sender)),
        Err(error) => Err(Box::new(unavailable_page(&request.served, error))),
    }
}

/// Who a request comes from. A sign-in counts while the operator is still recognised in the same way.
async fn recognize(request: &RequestContext, cookie: &Cookie) -> Result<Sender, SignOnUnavailable> {
    let (config, sign_ins) = (request.served.config(), &request.site.console.sign_ins);
    let operators = &config.operators;
    let signed_on = OperatorRequest::new(&request.headers, &request.extensions);
    let found = cookie
        .value(&request.headers)
        .and_then(|secret| Some((secret, sign_ins.find(secret, &config.id, Instant::now())?)));
    if let Some((secret, sign_in)) = found {
        let operator = match &sign_in.by {
            Authentication::Token(token) => operators.with_token(token).await?,
            Authentication::SignOn => operators.admit(&signed_on).await?,
        };
        if let Some(operator) = operator.filter(|operator| operator.name == sign_in.operator) {
            tracing::Span::current().record("operator", operator.name.as_str());
            return Ok(Sender::SignedIn(sign_in, operator));
        }
        sign_ins.end(secret);
    }
    Ok(operators.admit(&signed_on).await?.map_or(Sender::Stranger, Sender::SignedOn))
}

/// The hash of the token in a form, without the space around it: a token may be pasted.
pub(super) fn token_hash(sent: &FormData) -> AdminTokenHash {
    AdminTokenHash::of(sent.text("token").as_bytes())
}

impl ConsoleContext {
    /// Whether the program around has authenticated the operator.
    pub(super) fn is_signed_on(&self) -> bool {
        self.sign_in.by == Authentication::SignOn
    }

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

    /// Runs the handler of an act's API route, and returns its answer.
    pub(super) async fn call(
        &self,
        act: &Act,
        sent: &FormData,
        body: Json,
        is_dry_run: bool,
    ) -> Reply {
        let path = match act.path_field {
            Some(field) => vec![sent.text(field).to_owned()],
            None => self.request.path.clone(),
        };
        self.call_at(act, path, body, is_dry_run).await
    }

    /// Runs the handler of an act's API route at these parameters of its path, and returns its answer.
    pub(super) async fn call_at(
        &self,
        act: &Act,
        path: Vec<String>,
        body: Json,
        is_dry_run: bool,
    ) -> Reply {
        let handler = act.route((self.routes)()).map(|route| &route.handler);
        let Some(Handler::Tenant(handler)) = handler else {
            return Err(RequestError::Internal.into());
        };
        let request = &self.request;
        let called = RequestContext {
            site: request.site.clone(),
            served: request.served.clone(),
            dry_run: is_dry_run.then(|| Box::new(DryRun::of(&request.served))),
            origin: request.origin.clone(),
            credential: Credential::Operator(self.operator.name.clone()),
            is_head: false,
            portion: Portion::WHOLE,
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            target: String::new(),
            path,
            query: String::new(),
            parameters: &[],
            bytes: Bytes::new(),
            body,
        };
        let answer = handler.answer(called).await;
        Ok(answer.unwrap_or_else(ApiError::into_answer))
    }

    /// Whether the operator's role may do the act.
    pub(super) fn may(&self, act: &Act) -> bool {
        let route = act.route((self.routes)());
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
        let button = act.texts(self.routes).button;
        self.may(act).then(|| self.form_at(button, fill_path(act.path, parts), fields))
    }

    /// The form of an act on a row: `value` is sent as this field.
    pub(super) fn row_form(
        &self,
        act: &'static Act,
        field: &'static str,
        value: &str,
    ) -> Option<FormView> {
        let mut form = self.form(act, &[], Vec::new())?;
        form.hidden.push((field.to_owned(), value.to_owned()));
        Some(form)
    }

    /// The acts among these that the role may do, with one set of fields; `None` if there is none.
    pub(super) fn panel(
        &self,
        (summary, lead): (&'static str, &'static str),
        acts: &[&'static Act],
        fields: Vec<Field>,
    ) -> Option<Panel> {
        let acts = acts.iter().filter(|act| self.may(act));
        let acts: Vec<_> = acts.map(|act| (act, fill_path(act.path, &self.request.path))).collect();
        let is_of = |refused: &&RefusedForm| acts.iter().any(|(_, path)| *path == refused.action);
        let refused = self.refused.as_ref().filter(is_of);
        let fields = match refused {
            Some(refused) => fields.into_iter().map(|field| refused.typed(field)).collect(),
            None => fields,
        };
        let is_back = refused.is_some();
        let button = |act: &Act| Button::new(act.texts(self.routes).button);
        let buttons: Vec<_> = acts.into_iter().map(|(act, path)| button(act).at(path)).collect();
        (!buttons.is_empty()).then_some(Panel {
            summary,
            lead,
            fields,
            table: None,
            buttons,
            is_back,
        })
    }

    /// One form of several acts, which share a note.
    pub(super) fn panels(
        &self,
        primary: Option<Panel>,
        others: impl IntoIterator<Item = Option<Panel>>,
    ) -> Panels {
        let others: Vec<_> = others.into_iter().flatten().collect();
        let note = Field::note().with_hint("For whichever act you send.");
        let note = match &self.refused {
            Some(refused) => refused.typed(note),
            None => note,
        };
        let hidden = self.hidden_fields(String::new());
        Panels { id: String::new(), hidden, primary, note, others }
    }

    /// The name of a form, and the record that its page shows.
    fn hidden_fields(&self, action: String) -> Vec<(String, String)> {
        let name = ("form".to_owned(), format!("{}{action}", self.form_prefix));
        let seen = self.record_digest.iter().map(|seen| ("seen".to_owned(), seen.clone()));
        [name].into_iter().chain(seen).collect()
    }

    fn form_at(&self, button: &str, action: String, fields: Vec<Field>) -> FormView {
        let refused = self.refused.as_ref().filter(|refused| refused.action == action);
        let is_inline = fields.is_empty();
        let fields = match refused {
            Some(refused) => fields.into_iter().map(|field| refused.typed(field)).collect(),
            None => fields,
        };
        FormView {
            hidden: self.hidden_fields(action.clone()),
            is_inline,
            is_back: refused.is_some(),
            ..FormView::new("post", action, Button::new(button), fields)
        }
    }

    /// Puts a page into the layout.
    pub(super) fn with_layout(&self, page: Page, page_id: Option<PageId>) -> Page {
        let has_committee = self.request.served.committee.is_served();
        let sections = PageId::sections().filter(|at| has_committee || !at.needs_committee());
        let section = page_id.map(PageId::section);
        Page {
            tenant: self.request.served.config().name.clone(),
            who: Some((self.operator.name.as_str().to_owned(), self.role().as_str())),
            signs_out: !self.is_signed_on(),
            sections: sections.map(|at| (at.path(), at.name(), section == Some(at))).collect(),
            notice: page.notice.or_else(|| self.sign_in.take_notice()),
            fault: page.fault.or_else(|| self.refused.as_ref().and_then(|it| it.fault.clone())),
            ..page
        }
    }
}

/// The path with its parameters filled in.
pub(super) fn fill_path(path: &str, parts: &[impl AsRef<str>]) -> String {
    let mut parts = parts.iter();
    let fill = |segment: &str| match segment.starts_with('{') {
        true => parts.next().map(|part| links::part(part.as_ref())).unwrap_or_default(),
        false => segment.to_owned(),
    };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}
