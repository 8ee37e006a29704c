//! Signing in and out, and showing the pages to those who are signed in.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::{HeaderValue, SET_COOKIE};
use swarm_core::wire::RequestError;
use swarm_core::{Error, Refusal};
use tokio::time::Instant;

use super::answers::{fault_of, plain, refusal, see_other, with_error};
use super::cookie;
use super::form::{Field, FormView, Sent};
use super::page::{Block, Page};
use super::place::Place;
use super::places;
use super::visit::{Rows, Visit, filled, guard, signed_in, typed_token};
use crate::console::{SignIn, client};
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
    let (console, served) = (&request.site.console, &request.served);
    let sent = Sent::read(&request.bytes);
    let again = |error: RequestError, fault: String| {
        let page = plain(served, asking(sent.text("to"), Some(fault)));
        Ok(with_error(ApiError::from(error).into_answer(), page))
    };
    let attempt = match console.attempts.begin(client(), Instant::now()) {
        Ok(attempt) => attempt,
        Err(left) => return again(too_many(left), waiting(left)),
    };
    let token = typed_token(&sent);
    let Some(operator) = served.config().operators.with_token(&token).await else {
        return again(RequestError::WrongToken, "This token is not one of an operator.".to_owned());
    };
    attempt.succeed();
    if let Some(before) = cookie::value(&request.headers, name) {
        console.sign_ins.end(before);
    }
    let secret =
        URL_SAFE_NO_PAD.encode(request.tenant().random_bytes().map_err(Error::<Refusal>::from)?);
    let of = (served.config().id.clone(), operator.name, token);
    console.sign_ins.begin(&secret, of, Instant::now());
    let to = Some(sent.text("to")).filter(|to| is_of_console(to)).unwrap_or("/operate");
    Ok(with_cookie(see_other(to), &cookie::set(name, &secret)))
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
    let form = FormView {
        id: String::new(),
        action: "/operate".to_owned(),
        method: "post",
        lead: None,
        hidden: Some(to)
            .filter(|to| is_of_console(to))
            .map(|to| ("to".to_owned(), to.to_owned()))
            .into_iter()
            .collect(),
        fields: vec![Field::token()],
        table: None,
        buttons: vec![("Sign in".to_owned(), None)],
        fault: fault.clone(),
        is_inline: false,
    };
    let page = Page::new("Console")
        .leading("For the operators of this desk. A session lasts 12 hours, an idle one 1 hour.");
    Page { blocks: vec![Block::Form(Box::new(form))], fault, ..page }
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
    let wait = super::page::count(seconds(left) as usize, "second", "seconds");
    format!("After a wrong token this address waits: try again in {wait}.")
}

/// Whole seconds, rounded up.
fn seconds(left: Duration) -> u32 {
    u32::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

fn with_cookie(mut answer: Answer, cookie: &str) -> Answer {
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        answer.headers.insert(SET_COOKIE, cookie);
    }
    answer
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
