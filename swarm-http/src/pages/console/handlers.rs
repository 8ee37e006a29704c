//! Handlers of pages: they show pages to signed-in operators, and sign operators in and out. `change` handles forms.

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
use super::attempts::client;
use super::cookie;
use super::form::{Field, FormView, SIGNING_IN, Sent};
use super::layout::{Block, Page, fault_of, plain, refusal, see_other, with_error};
use super::places;
use super::places::Place;
use super::sign_ins::SignIn;
use super::visit::{Refused, Rows, Visit, filled, guard, signed_in, typed_token};
use crate::pages::frame::reading;
use crate::pages::links::part;
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};
use crate::tenants::Operator;

/// Shows a page.
pub(crate) async fn show(place: Place, rows: Rows, request: RequestContext) -> Reply {
    let name = match guard(&request, false) {
        Ok(name) => name,
        Err(error) => return Ok(turned_away(&request, error)),
    };
    let Some((sign_in, operator)) = signed_in(&request, name).await else {
        if place == Place::Overview {
            let to = request.query().remove("to").unwrap_or_default();
            return Ok(plain(&request.served, asking(&to, None)).answer(StatusCode::OK));
        }
        let parts: Vec<_> = request.path.iter().map(String::as_str).collect();
        let path = filled(place.path(), &parts);
        let query =
            if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        return Ok(see_other(&format!("/operate?to={}", part(&(path + &query)))));
    };
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let shown = async move {
        let visit = visit(request, rows, (sign_in, operator)).await?;
        Ok::<_, ApiError>(shown(place, visit).await)
    };
    site.workers.run(served.jobs(), shown).await
}

pub(super) async fn visit(
    request: RequestContext,
    rows: Rows,
    (sign_in, operator): (Arc<SignIn>, Operator),
) -> Result<Visit, Error> {
    let reading = reading(&request).await?;
    let forms = sign_in.name_forms();
    Ok(Visit { request, rows, sign_in, operator, reading, forms, seen: None, refused: None })
}

/// The page, or that of its error.
pub(super) async fn shown(place: Place, mut visit: Visit) -> Answer {
    match places::page(place, &mut visit).await {
        Ok(page) => visit.laid_out(page, Some(place)).answer(StatusCode::OK),
        Err(error) => failed(&visit, error),
    }
}

/// The page of an error.
pub(super) fn failed(visit: &Visit, error: ApiError) -> Answer {
    let error = error.into_answer();
    let page = Page { fault: Some(fault_of(&error)), ..Page::new("Not shown") };
    with_error(error, visit.laid_out(page, None))
}

/// The page with a minted secret, once.
pub(crate) async fn secret(rows: Rows, request: RequestContext) -> Reply {
    let name = match guard(&request, false) {
        Ok(name) => name,
        Err(error) => return Ok(turned_away(&request, error)),
    };
    let Some((sign_in, operator)) = signed_in(&request, name).await else {
        return Ok(see_other("/operate"));
    };
    let visit = visit(request, rows, (sign_in, operator)).await?;
    let page = match visit.sign_in.take_secret() {
        Some(secret) => {
            let mut page = Page::new(secret.of)
                .leading("Shown this once. Copy it now, and pass it on safely.");
            page.blocks.push(Block::Secret(secret.text));
            page
        }
        None => Page::new("Secret")
            .leading("A secret is shown once, and this one was. If it is lost, mint another."),
    };
    Ok(visit.laid_out(page, None).answer(StatusCode::OK))
}

/// Signs in with a token.
pub(crate) async fn sign_in(request: RequestContext) -> Reply {
    let name = match guard(&request, true) {
        Ok(name) => name,
        Err(error) => return Ok(turned_away(&request, error)),
    };
    let sent = Sent::read(&request.bytes);
    match enter(&request, name, &sent).await {
        Ok(entered) => {
            let to = Some(sent.text("to")).filter(|to| is_of_console(to)).unwrap_or("/operate");
            Ok(with_cookie(see_other(to), &entered.cookie))
        }
        Err((error, fault)) => {
            let page = plain(&request.served, asking(sent.text("to"), Some(fault)));
            Ok(with_error(error.into_answer(), page))
        }
    }
}

/// A session that has begun.
pub(super) struct Entered {
    pub(super) sign_in: Arc<SignIn>,
    pub(super) operator: Operator,
    /// `Set-Cookie` with its secret.
    pub(super) cookie: String,
}

/// Begins a session with the token that was typed, in place of the one before; or says why not.
pub(super) async fn enter(
    request: &RequestContext,
    name: &str,
    sent: &Sent,
) -> Result<Entered, (ApiError, String)> {
    let (console, served) = (&request.site.console, &request.served);
    let attempt = console.attempts.begin(client(), Instant::now());
    let attempt = attempt.map_err(|left| (too_many(left).into(), waiting(left)))?;
    let token = typed_token(sent);
    let Some(operator) = served.config().operators.with_token(&token).await else {
        let fault = "This token is not one of an operator.".to_owned();
        return Err((RequestError::WrongToken.into(), fault));
    };
    attempt.succeed();
    if let Some(before) = cookie::value(&request.headers, name) {
        console.sign_ins.end(before);
    }
    let secret = request.tenant().random_bytes().map_err(|error| {
        (Error::<Refusal>::from(error).into(), "No session could be begun.".to_owned())
    })?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    let of = (served.config().id.clone(), operator.name.clone(), token);
    let sign_in = console.sign_ins.begin(&secret, of, Instant::now());
    Ok(Entered { sign_in, operator, cookie: cookie::set(name, &secret) })
}

/// Signs out, also where nobody is signed in.
pub(crate) async fn sign_out(request: RequestContext) -> Reply {
    let name = match guard(&request, true) {
        Ok(name) => name,
        Err(error) => return Ok(turned_away(&request, error)),
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

/// The page of a request that must not have a session.
pub(super) fn turned_away(request: &RequestContext, error: RequestError) -> Answer {
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
    refusal(&request.served, error, title, lead)
}

/// The page that asks for the token.
fn asking(to: &str, fault: Option<String>) -> Page {
    let to = Some(to).filter(|to| is_of_console(to));
    let hidden = to.map(|to| ("to".to_owned(), to.to_owned()));
    let form = token_form("/operate".to_owned(), hidden.into_iter().collect(), fault.clone());
    let page = Page::new("Console")
        .leading("For the operators of this desk. A session lasts 12 hours, an idle one 1 hour.");
    Page { blocks: vec![Block::Form(Box::new(form))], fault, ..page }
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
        lead: None,
        hidden,
        fields: vec![Field::token()],
        table: None,
        buttons: vec![("Sign in".to_owned(), None)],
        fault,
        is_inline: false,
    }
}

/// Whether it is the address of a page of the console: no other host, nothing that a header cannot hold.
fn is_of_console(to: &str) -> bool {
    let below = to.strip_prefix("/operate").unwrap_or("-");
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_plain && (below.is_empty() || below.starts_with(['/', '?']))
}

pub(super) fn too_many(left: Duration) -> RequestError {
    RequestError::TooManyAttempts(seconds(left))
}

pub(super) fn waiting(left: Duration) -> String {
    let wait = super::layout::count(seconds(left) as usize, "second", "seconds");
    format!("After a wrong token this address waits: try again in {wait}.")
}

/// Whole seconds, rounded up.
fn seconds(left: Duration) -> u32 {
    u32::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

pub(super) fn with_cookie(mut answer: Answer, cookie: &str) -> Answer {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        answer.headers.insert(SET_COOKIE, cookie);
    }
    answer
}

/// Asks for the token, or begins a session with it and shows the form again. Nothing is changed in either case.
pub(super) async fn sign_in_and_show_form(
    act: &'static Act,
    rows: Rows,
    request: RequestContext,
    cookie: &str,
) -> Reply {
    let sent = Sent::read(&request.bytes);
    let parts: Vec<_> = request.path.iter().map(String::as_str).collect();
    let action = filled(act.path, &parts);
    if !sent.has(SIGNING_IN) {
        return Ok(asking_again(&request, action, &sent, (RequestError::SignedOut.into(), None)));
    }
    let entered = match enter(&request, cookie, &sent).await {
        Ok(entered) => entered,
        Err((error, fault)) => {
            return Ok(asking_again(&request, action, &sent, (error, Some(fault))));
        }
    };
    let fault =
        "Nothing was changed: your session had ended. Look at the form, then send it again.";
    let refused = Some(Refused { action, sent, fault: fault.to_owned() });
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let form = async move {
        let visit = visit(request, rows, (entered.sign_in, entered.operator)).await?;
        Ok::<_, ApiError>(shown(act.place, Visit { refused, ..visit }).await)
    };
    Ok(with_cookie(site.workers.run(served.jobs(), form).await?, &entered.cookie))
}

/// The page that asks for the token and keeps what was typed.
fn asking_again(
    request: &RequestContext,
    action: String,
    sent: &Sent,
    (error, fault): (ApiError, Option<String>),
) -> Answer {
    let signing_in = (SIGNING_IN.to_owned(), "yes".to_owned());
    let form = token_form(action, sent.typed().chain([signing_in]).collect(), fault.clone());
    let page = Page::new("Signed out").leading(
        "Your session is over, and nothing was changed. Sign in, and the form comes back as you typed it.",
    );
    let page = Page { blocks: vec![Block::Form(Box::new(form))], fault, ..page };
    with_error(error.into_answer(), plain(&request.served, page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_leads_only_to_the_console() {
        for to in ["/operate", "/operate/members", "/operate?x=1", "/operate/acts?by=ada"] {
            assert!(is_of_console(to), "{to}");
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
            assert!(!is_of_console(to), "{to}");
        }
    }
}
