//! Handlers that show the pages to signed-in operators, and sign operators in and out. `change` handles forms.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{HeaderValue, SET_COOKIE};
use swarm_core::wire::RequestError;
use swarm_core::{Error, Refusal};
use tokio::time::Instant;

use super::acts::{Act, OperatorRoutes};
use super::context::{
    ConsoleContext, RefusedForm, Sender, fill_path, guard, sender_of, token_hash,
};
use super::cookie::Cookie;
use super::form::{Button, Field, FormData, FormView, SIGNING_IN};
use super::layout::{
    Block, Page, UNAVAILABLE, anchor, error_text, see_other, signed_out_page, with_error,
    with_status_of,
};
use super::page_id::PageId;
use super::pages;
use super::same_origin::is_own_navigation;
use crate::console::{Authentication, SecretState, SignIn};
use crate::pages::Limit;
use crate::pages::frame::time_formatter;
use crate::pages::links::part;
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};
use crate::tenants::Operator;
use crate::token_attempts::Asker;

/// The longest path that a sign-in leads to, in bytes. It fits in the form of the sign-in, percent-encoded.
const MAX_TARGET: usize = 1_000;

/// Shows a page.
pub(crate) async fn show(
    page_id: PageId,
    routes: OperatorRoutes,
    request: RequestContext,
) -> Reply {
    let (cookie, sender) = match sender_of(&request, false).await {
        Ok(found) => found,
        Err(page) => return Ok(*page),
    };
    let (sign_in, operator, cookie) = match sender {
        Sender::SignedIn(sign_in, operator) => (sign_in, operator, None),
        Sender::SignedOn(operator) => {
            let entered = begin_signed_on(&request, &cookie, operator).await?;
            (entered.sign_in, entered.operator, Some(entered.cookie))
        }
        Sender::Stranger => return Ok(ask_for_token(page_id, &request)),
    };
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let shown = async move {
        let context = console_context(request, routes, (sign_in, operator)).await?;
        let answer = page_answer(page_id, context).await;
        Ok::<_, ApiError>(match cookie {
            Some(cookie) => with_cookie(answer, &cookie),
            None => answer,
        })
    };
    site.workers.run(served.jobs(), shown).await
}

/// Shows the page that asks for the token, or leads there.
fn ask_for_token(page_id: PageId, request: &RequestContext) -> Answer {
    if page_id == PageId::Overview {
        let to = request.query().remove("to").unwrap_or_default();
        return signed_out_page(&request.served, sign_in_page(&to, None)).answer(StatusCode::OK);
    }
    let path = fill_path(page_id.path(), &request.path);
    let query =
        if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
    let to = Some(path + &query).filter(|to| to.len() <= MAX_TARGET);
    let to = to.map_or_else(String::new, |to| format!("?to={}", part(&to)));
    see_other(&format!("/operate{to}"))
}

pub(super) async fn console_context(
    request: RequestContext,
    routes: OperatorRoutes,
    (sign_in, operator): (Arc<SignIn>, Operator),
) -> Result<ConsoleContext, Error> {
    let times = time_formatter(&request).await?;
    let form_prefix = sign_in.new_form_prefix();
    Ok(ConsoleContext {
        request,
        routes,
        sign_in,
        operator,
        times,
        form_prefix,
        record_digest: None,
        kept_roster: None,
        refused: None,
    })
}

/// The answer with the page, or with its error.
pub(super) async fn page_answer(page_id: PageId, mut context: ConsoleContext) -> Answer {
    let mut notice = None;
    loop {
        let page = match pages::page(page_id, &mut context).await {
            Ok(page) => context.with_layout(page, Some(page_id)),
            Err(error) => return error_answer(&context, error),
        };
        // It is taken once.
        let page = Page { notice: page.notice.or_else(|| notice.take()), ..page };
        notice.clone_from(&page.notice);
        let answer = page.answer(StatusCode::OK);
        match Limit::HtmlAlone.smaller(&answer, context.request.portion) {
            None => return answer,
            Some(smaller) => context.request.portion = smaller,
        }
    }
}

/// The page of an error.
pub(super) fn error_answer(context: &ConsoleContext, error: ApiError) -> Answer {
    let error = error.into_answer();
    let page = Page { fault: Some(error_text(&error)), ..Page::new("Not shown") };
    with_error(error, context.with_layout(page, None))
}

/// Shows a minted secret, once: to a browser that was led here by a page of the console. Any other request leaves it
/// for later.
pub(crate) async fn secret(routes: OperatorRoutes, request: RequestContext) -> Reply {
    let (sign_in, operator) = match sender_of(&request, false).await {
        Ok((_, Sender::SignedIn(sign_in, operator))) => (sign_in, operator),
        Ok(_) => return Ok(see_other("/operate")),
        Err(page) => return Ok(*page),
    };
    let may_show = !request.is_head
        && is_own_navigation(&request.headers, &request.origin, request.base_path());
    let context = console_context(request, routes, (sign_in, operator)).await?;
    let page = match context.sign_in.take_secret(may_show) {
        SecretState::Shown(secret) => {
            let mut page = Page::new(secret.of)
                .with_lead("Shown this once. Copy it now, and pass it on safely.");
            page.blocks.push(Block::Secret(secret.text));
            page
        }
        SecretState::Kept => {
            let mut page = Page::new("Secret")
                .with_lead("A secret is shown once, and only to a link or form of the console.");
            page.text(anchor("/operate/secret", "Show it now"));
            page
        }
        SecretState::None => Page::new("Secret")
            .with_lead("A secret is shown once, and this one was. If it is lost, mint another."),
    };
    Ok(context.with_layout(page, None).answer(StatusCode::OK))
}

/// Signs in with a token.
pub(crate) async fn sign_in(request: RequestContext) -> Reply {
    let cookie = match guard(&request, true) {
        Ok(cookie) => cookie,
        Err(page) => return Ok(*page),
    };
    let sent = FormData::read(&request.bytes);
    match begin_with_token(&request, &cookie, &sent).await {
        Ok(entered) => {
            let to = Some(sent.text("to")).filter(|to| is_console_path(to)).unwrap_or("/operate");
            Ok(with_cookie(see_other(to), &entered.cookie))
        }
        Err((error, fault)) => {
            let page = signed_out_page(&request.served, sign_in_page(sent.text("to"), Some(fault)));
            Ok(with_error(error.into_answer(), page))
        }
    }
}

/// A sign-in that was begun.
pub(super) struct NewSignIn {
    pub(super) sign_in: Arc<SignIn>,
    pub(super) operator: Operator,
    /// `Set-Cookie` with its secret.
    pub(super) cookie: String,
}

/// Signs in with the token in the form, in place of the sign-in before. The error has a text for the page.
async fn begin_with_token(
    request: &RequestContext,
    cookie: &Cookie,
    sent: &FormData,
) -> Result<NewSignIn, (ApiError, String)> {
    let served = &request.served;
    let (token, attempts) = (token_hash(sent), &request.site.token_attempts);
    let asker = Asker::current(&served.config().id);
    let attempt = attempts.begin_sign_in(asker, token.as_bytes(), Instant::now());
    let attempt = attempt.map_err(|left| (RequestError::wait(left).into(), wait_text(left)))?;
    let operator = served.config().operators.with_token(&token).await;
    let operator = operator.map_err(|error| (error.into(), UNAVAILABLE.to_owned()))?;
    let Some(operator) = operator else {
        // The refusal does not depend on its record.
        let _ = request.tenant().record_refused_sign_in().await;
        let fault = "This token is not one of an operator.".to_owned();
        return Err((RequestError::WrongToken.into(), fault));
    };
    attempt.succeed(Instant::now());
    let begun = begin(request, cookie, operator, Authentication::Token(token));
    let begun = begun.map_err(|error| (error, "Nobody can be signed in now.".to_owned()))?;
    // A store that does not answer, or takes no writes, does not keep operators out.
    let _ = request.tenant().record_sign_in(&begun.operator.name).await;
    Ok(begun)
}

/// Signs in an operator whom the program around has authenticated. Of several browsers of one operator, the first is
/// recorded.
pub(super) async fn begin_signed_on(
    request: &RequestContext,
    cookie: &Cookie,
    operator: Operator,
) -> Result<NewSignIn, ApiError> {
    let (sign_ins, tenant) = (&request.site.console.sign_ins, &request.served.config().id);
    let is_first = !sign_ins.has(tenant, &operator.name, Instant::now());
    let begun = begin(request, cookie, operator, Authentication::SignOn)?;
    if is_first {
        let _ = request.tenant().record_sign_in(&begun.operator.name).await;
    }
    Ok(begun)
}

/// Begins a sign-in, in place of the one before.
fn begin(
    request: &RequestContext,
    cookie: &Cookie,
    operator: Operator,
    by: Authentication,
) -> Result<NewSignIn, ApiError> {
    let (sign_ins, served) = (&request.site.console.sign_ins, &request.served);
    if let Some(before) = cookie.value(&request.headers) {
        sign_ins.end(before);
    }
    let secret = request.tenant().random_bytes().map_err(Error::<Refusal>::from)?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    let of = (served.config().id.clone(), operator.name.clone(), by);
    let sign_in = sign_ins.begin(&secret, of, Instant::now());
    tracing::Span::current().record("operator", operator.name.as_str());
    Ok(NewSignIn { sign_in, operator, cookie: cookie.set(&secret) })
}

/// Signs out. Succeeds also without a sign-in.
pub(crate) async fn sign_out(request: RequestContext) -> Reply {
    let cookie = match guard(&request, true) {
        Ok(cookie) => cookie,
        Err(page) => return Ok(*page),
    };
    if let Some(secret) = cookie.value(&request.headers) {
        request.site.console.sign_ins.end(secret);
    }
    Ok(with_cookie(see_other("/operate"), &cookie.clear()))
}

/// The style sheet of the console.
pub(crate) async fn style(_: RequestContext) -> Reply {
    let style = include_str!("../../../templates/console/style.css");
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", style.to_owned()))
}

/// The page that asks for the token.
fn sign_in_page(to: &str, fault: Option<String>) -> Page {
    let to = Some(to).filter(|to| is_console_path(to));
    let hidden = to.map(|to| ("to".to_owned(), to.to_owned()));
    let form = token_form("/operate".to_owned(), hidden.into_iter().collect(), fault);
    let page = Page::new("Console")
        .with_lead("For the operators of this desk. You stay signed in for 12 hours, or 1 hour without a request.");
    Page { blocks: vec![Block::Form(Box::new(form))], ..page }
}

/// A form that asks for the token.
pub(super) fn token_form(
    action: String,
    hidden: Vec<(String, String)>,
    fault: Option<String>,
) -> FormView {
    let token = Field { fault, ..Field::token() };
    let button = Button::new("Sign in").primary();
    FormView { hidden, ..FormView::new("post", action, button, vec![token]) }
}

/// Whether a redirect target is a path of the console: no other host, and only characters that a header can hold.
fn is_console_path(to: &str) -> bool {
    let below = to.strip_prefix("/operate").unwrap_or("-");
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    to.len() <= MAX_TARGET && is_plain && (below.is_empty() || below.starts_with(['/', '?']))
}

pub(super) fn wait_text(left: Duration) -> String {
    let seconds = left.as_millis().div_ceil(1_000) as usize;
    let wait = super::layout::count(seconds, "second", "seconds");
    format!("After a wrong token this address waits: try again in {wait}.")
}

pub(super) fn with_cookie(mut answer: Answer, cookie: &str) -> Answer {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        answer.headers.insert(SET_COOKIE, cookie);
    }
    answer
}

/// Handles a form whose sign-in has ended: asks for the token, or signs in with the token and shows the form
/// again. Changes nothing in either case. Runs on the worker pool: a stranger may send a large form.
pub(super) async fn sign_in_and_show_form(
    act: &'static Act,
    routes: OperatorRoutes,
    request: RequestContext,
    cookie: &Cookie,
) -> Reply {
    let sent = FormData::read(&request.bytes);
    let action = fill_path(act.path, &request.path);
    if !sent.has(SIGNING_IN) {
        let error = (RequestError::SignedOut.into(), None);
        return Ok(signed_out_form_page((act, routes), &request, action, &sent, error));
    }
    match begin_with_token(&request, cookie, &sent).await {
        Ok(entered) => show_form_again(act, routes, request, entered, None).await,
        Err((error, fault)) => {
            let error = (error, Some(fault));
            Ok(signed_out_form_page((act, routes), &request, action, &sent, error))
        }
    }
}

/// Shows a form that was sent without a sign-in, with what was typed, to the operator who has signed in since; with the status
/// of this error, if any.
pub(super) async fn show_form_again(
    act: &'static Act,
    routes: OperatorRoutes,
    request: RequestContext,
    entered: NewSignIn,
    error: Option<RequestError>,
) -> Reply {
    let sent = FormData::read(&request.bytes);
    let action = fill_path(act.path, &request.path);
    let fault =
        "Nothing was changed: you were not signed in. Look at the form, then send it again.";
    let fault = Some(fault.to_owned());
    let refused = Some(RefusedForm { action, sent, fault, fields: Vec::new() });
    let context = console_context(request, routes, (entered.sign_in, entered.operator)).await?;
    let page = page_answer(act.page_id, ConsoleContext { refused, ..context }).await;
    let page = with_cookie(page, &entered.cookie);
    Ok(match error {
        Some(error) if page.status == StatusCode::OK => {
            with_status_of(ApiError::from(error).into_answer(), page)
        }
        _ => page,
    })
}

/// The page that asks for the token and keeps the submitted values.
fn signed_out_form_page(
    (act, routes): (&'static Act, OperatorRoutes),
    request: &RequestContext,
    action: String,
    sent: &FormData,
    (error, fault): (ApiError, Option<String>),
) -> Answer {
    let signing_in = (SIGNING_IN.to_owned(), "yes".to_owned());
    let form = token_form(action, act.fields_of(routes, sent).chain([signing_in]).collect(), fault);
    let page = Page::new("Signed out").with_lead(
        "You are signed out, and nothing was changed. Sign in, and the form comes back as you typed it.",
    );
    let page = Page { blocks: vec![Block::Form(Box::new(form))], ..page };
    with_error(error.into_answer(), signed_out_page(&request.served, page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_leads_only_to_the_console() {
        for to in ["/operate", "/operate/members", "/operate?x=1", "/operate/acts?by=ada"] {
            assert!(is_console_path(to), "{to}");
        }
        for to in [
            "",
            "/",
            "/operates",
            "//evil.example",
            "/operate\\evil",
            "/operate/\r\nx: y",
            "https://evil.example/operate",
        ] {
            assert!(!is_console_path(to), "{to}");
        }
    }
}
