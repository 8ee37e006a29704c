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

use super::acts::Act;
use super::context::{
    ConsoleContext, OperatorRoutes, RefusedForm, fill_path, guard, signed_in, token_hash,
};
use super::cookie;
use super::form::{Button, Field, FormData, FormView, SIGNING_IN};
use super::layout::{
    Block, Page, anchor, error_text, see_other, signed_out_error, signed_out_page, with_error,
};
use super::page_id::PageId;
use super::pages;
use super::same_origin::is_own_navigation;
use crate::console::{SecretState, SignIn};
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
    let name = match guard(&request, false) {
        Ok(name) => name,
        Err(error) => return Ok(refusal_page(&request, error)),
    };
    let Some((sign_in, operator)) = signed_in(&request, name).await else {
        if page_id == PageId::Overview {
            let to = request.query().remove("to").unwrap_or_default();
            return Ok(
                signed_out_page(&request.served, sign_in_page(&to, None)).answer(StatusCode::OK)
            );
        }
        let parts: Vec<_> = request.path.iter().map(String::as_str).collect();
        let path = fill_path(page_id.path(), &parts);
        let query =
            if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        let to = Some(path + &query).filter(|to| to.len() <= MAX_TARGET);
        let to = to.map_or_else(String::new, |to| format!("?to={}", part(&to)));
        return Ok(see_other(&format!("/operate{to}")));
    };
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let shown = async move {
        let context = console_context(request, routes, (sign_in, operator)).await?;
        Ok::<_, ApiError>(page_answer(page_id, context).await)
    };
    site.workers.run(served.jobs(), shown).await
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
        refused: None,
    })
}

/// The answer with the page, or with its error.
pub(super) async fn page_answer(page_id: PageId, mut context: ConsoleContext) -> Answer {
    match pages::page(page_id, &mut context).await {
        Ok(page) => context.with_layout(page, Some(page_id)).answer(StatusCode::OK),
        Err(error) => error_answer(&context, error),
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
    let name = match guard(&request, false) {
        Ok(name) => name,
        Err(error) => return Ok(refusal_page(&request, error)),
    };
    let Some((sign_in, operator)) = signed_in(&request, name).await else {
        return Ok(see_other("/operate"));
    };
    let may_show = !request.is_head && is_own_navigation(&request.headers, &request.origin);
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
    let name = match guard(&request, true) {
        Ok(name) => name,
        Err(error) => return Ok(refusal_page(&request, error)),
    };
    let sent = FormData::read(&request.bytes);
    match begin_session(&request, name, &sent).await {
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

/// A session that was begun.
pub(super) struct NewSession {
    pub(super) sign_in: Arc<SignIn>,
    pub(super) operator: Operator,
    /// `Set-Cookie` with its secret.
    pub(super) cookie: String,
}

/// Begins a session with the token in the form, in place of the session before. The error has a text for the page.
pub(super) async fn begin_session(
    request: &RequestContext,
    name: &str,
    sent: &FormData,
) -> Result<NewSession, (ApiError, String)> {
    let (console, served) = (&request.site.console, &request.served);
    let (token, attempts) = (token_hash(sent), &request.site.token_attempts);
    let asker = Asker::current(&served.config().id);
    let attempt = attempts.begin_sign_in(asker, token.as_bytes(), Instant::now());
    let attempt = attempt.map_err(|left| (RequestError::wait(left).into(), wait_text(left)))?;
    let Some(operator) = served.config().operators.with_token(&token).await else {
        // The refusal does not depend on its record.
        let _ = request.tenant().record_refused_sign_in().await;
        let fault = "This token is not one of an operator.".to_owned();
        return Err((RequestError::WrongToken.into(), fault));
    };
    attempt.succeed(Instant::now());
    if let Some(before) = cookie::value(&request.headers, name) {
        console.sign_ins.end(before);
    }
    let secret = request.tenant().random_bytes().map_err(|error| {
        (Error::<Refusal>::from(error).into(), "No session could be begun.".to_owned())
    })?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    let of = (served.config().id.clone(), operator.name.clone(), token);
    let sign_in = console.sign_ins.begin(&secret, of, Instant::now());
    // A store that does not answer, or takes no writes, does not keep operators out.
    let _ = request.tenant().record_sign_in(&operator.name).await;
    Ok(NewSession { sign_in, operator, cookie: cookie::set(name, &secret) })
}

/// Signs out. Succeeds also without a session.
pub(crate) async fn sign_out(request: RequestContext) -> Reply {
    let name = match guard(&request, true) {
        Ok(name) => name,
        Err(error) => return Ok(refusal_page(&request, error)),
    };
    if let Some(secret) = cookie::value(&request.headers, name) {
        request.site.console.sign_ins.end(secret);
    }
    Ok(with_cookie(see_other("/operate"), &cookie::clear(name)))
}

/// The style sheet of the console.
pub(crate) async fn style(_: RequestContext) -> Reply {
    let style = include_str!("../../../templates/console/style.css");
    Ok(Answer::new(StatusCode::OK, "text/css; charset=utf-8", style.to_owned()))
}

/// The page of a request that the console refuses: over plain HTTP, or from another site.
pub(super) fn refusal_page(request: &RequestContext, error: RequestError) -> Answer {
    let (title, lead) = match error {
        RequestError::PlainHttp => (
            "The console needs HTTPS",
            "Over plain HTTP everybody on the way could read the token. Open this page over HTTPS or, on \
             the machine of the server itself, at localhost.",
        ),
        _ => (
            "Not sent from the console",
            "This form came from a page of another site, or the browser does not say which. Nothing was \
             changed. Open the console and send it from there.",
        ),
    };
    signed_out_error(&request.served, error, title, lead)
}

/// The page that asks for the token.
fn sign_in_page(to: &str, fault: Option<String>) -> Page {
    let to = Some(to).filter(|to| is_console_path(to));
    let hidden = to.map(|to| ("to".to_owned(), to.to_owned()));
    let form = token_form("/operate".to_owned(), hidden.into_iter().collect(), fault);
    let page = Page::new("Console")
        .with_lead("For the operators of this desk. A session lasts 12 hours, an idle one 1 hour.");
    Page { blocks: vec![Block::Form(Box::new(form))], ..page }
}

/// A form that asks for the token.
pub(super) fn token_form(
    action: String,
    hidden: Vec<(String, String)>,
    fault: Option<String>,
) -> FormView {
    FormView {
        id: String::new(),
        action,
        method: "post",
        summary: None,
        lead: None,
        hidden,
        fields: vec![Field { fault, ..Field::token() }],
        table: None,
        buttons: vec![Button::new("Sign in").primary()],
        is_back: false,
        is_inline: false,
    }
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

/// Handles a form whose session has ended: asks for the token, or begins a session with the token and shows the form
/// again. Changes nothing in either case. Runs on the worker pool: a stranger may send a large form.
pub(super) async fn sign_in_and_show_form(
    act: &'static Act,
    routes: OperatorRoutes,
    request: RequestContext,
    cookie: &str,
) -> Reply {
    let sent = FormData::read(&request.bytes);
    let parts: Vec<_> = request.path.iter().map(String::as_str).collect();
    let action = fill_path(act.path, &parts);
    if !sent.has(SIGNING_IN) {
        let error = (RequestError::SignedOut.into(), None);
        return Ok(expired_session_page(act, &request, action, &sent, error));
    }
    let entered = match begin_session(&request, cookie, &sent).await {
        Ok(entered) => entered,
        Err((error, fault)) => {
            let error = (error, Some(fault));
            return Ok(expired_session_page(act, &request, action, &sent, error));
        }
    };
    let fault =
        "Nothing was changed: your session had ended. Look at the form, then send it again.";
    let fault = Some(fault.to_owned());
    let refused = Some(RefusedForm { action, sent, fault, fields: Vec::new() });
    let context = console_context(request, routes, (entered.sign_in, entered.operator)).await?;
    let answer = page_answer(act.page_id, ConsoleContext { refused, ..context }).await;
    Ok(with_cookie(answer, &entered.cookie))
}

/// The page that asks for the token and keeps the submitted values.
fn expired_session_page(
    act: &'static Act,
    request: &RequestContext,
    action: String,
    sent: &FormData,
    (error, fault): (ApiError, Option<String>),
) -> Answer {
    let signing_in = (SIGNING_IN.to_owned(), "yes".to_owned());
    let form = token_form(action, act.fields_of(sent).chain([signing_in]).collect(), fault);
    let page = Page::new("Signed out").with_lead(
        "Your session is over, and nothing was changed. Sign in, and the form comes back as you typed it.",
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
