//! The handler of submitted forms: runs an act, once for each form.

use std::sync::Arc;

use http::StatusCode;
use swarm_core::json::Json;
use swarm_core::wire::RequestError;
use swarm_core::{Invalid, MemberId, Refusal};
use tokio::time::Instant;

use super::acts::{Act, OperatorRoutes};
use super::confirm::{self, Proof};
use super::context::{ConsoleContext, RefusedForm, Sender, fill_path, sender_of, token_hash};
use super::form::{BACK, CHOOSE, FormData};
use super::handlers::{
    begin_signed_on, console_context, error_answer, page_answer, show_form_again,
    sign_in_and_show_form, wait_text, with_cookie,
};
use super::layout::{UNAVAILABLE, error_text, see_other, with_error, with_status_of};
use super::page_id::PageId;
use super::pages;
use crate::console::{Secret, Submission};
use crate::request::RequestContext;
use crate::request::command::FormPreview;
use crate::response::{Answer, ApiError, Reply};
use crate::token_attempts::Asker;

/// Runs the act of a form.
pub(crate) async fn change(
    act: &'static Act,
    routes: OperatorRoutes,
    request: RequestContext,
) -> Reply {
    let (cookie, sender) = match sender_of(&request, true).await {
        Ok(found) => found,
        Err(page) => return Ok(*page),
    };
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let (sign_in, operator, cookie) = match sender {
        Sender::SignedIn(sign_in, operator) => (sign_in, operator, None),
        Sender::SignedOn(operator) => {
            let entered = begin_signed_on(&request, &cookie, operator).await?;
            // A minted secret is shown to the sign-in alone, so the browser has to keep the cookie before one is minted.
            if act.secret.is_some() {
                let error = Some(RequestError::SignedOut);
                let form = show_form_again(act, routes, request, entered, error);
                return site.workers.run(served.jobs(), form).await;
            }
            (entered.sign_in, entered.operator, Some(entered.cookie))
        }
        Sender::Stranger => {
            let form = async move { sign_in_and_show_form(act, routes, request, &cookie).await };
            return site.workers.run(served.jobs(), form).await;
        }
    };
    // Forms of one sign-in are processed one after another.
    let form_lock = sign_in.lock_forms().await;
    // A started job runs to its end, even if the browser has disconnected.
    let result = async move {
        let _form_lock = form_lock;
        let context = console_context(request, routes, (sign_in, operator)).await?;
        let answer = process(act, context).await;
        Ok(match cookie {
            Some(cookie) => with_cookie(answer, &cookie),
            None => answer,
        })
    };
    site.workers.run(served.jobs(), result).await
}

async fn process(act: &'static Act, mut context: ConsoleContext) -> Answer {
    let sent = FormData::read(&context.request.bytes);
    if !context.may(act) {
        return error_answer(&context, Refusal::NotForRole.into());
    }
    let action = fill_path(act.path, &context.request.path);
    if sent.has(BACK) || sent.has(CHOOSE) {
        let again = RefusedForm { action, sent, fault: None, fields: Vec::new() };
        return show_again(act.page_id, context, again, None).await;
    }
    let form = form_name(act, &action, &sent);
    let page = fill_path(act.page_id.path(), &context.request.path);
    match context.sign_in.submit_form(&form) {
        Submission::New => {}
        Submission::Repeated(Some(redirect)) => {
            context
                .sign_in
                .set_notice("This form was sent before, and took effect once.".to_owned());
            return see_other(&redirect);
        }
        Submission::Repeated(None) => {
            context.sign_in.set_notice(
                "This form was sent before. See here whether it took effect.".to_owned(),
            );
            return see_other(&page);
        }
    }
    match apply(act, &mut context, &sent).await {
        Ok(Outcome::Done(location)) => {
            context.sign_in.form_done(&form, &location);
            see_other(&location)
        }
        Ok(Outcome::Unconfirmed(answer)) => {
            context.sign_in.form_refused(&form);
            answer
        }
        Err(error) => {
            context.sign_in.form_refused(&form);
            let fields = refused_fields(act, &context, &sent, &error).await;
            let fault = Some(fault(act, &sent, &error));
            let refused = RefusedForm { action, fault, sent, fields };
            show_again(act.page_id, context, refused, Some(*error)).await
        }
    }
}

/// The name of a form, by which a second sending is recognized; empty if it has none. Forms of several acts and rows share
/// the name in their field.
fn form_name(act: &Act, action: &str, sent: &FormData) -> String {
    match sent.text("form") {
        "" => String::new(),
        name => {
            let row = act.row_field.or(act.path_field).map_or("", |field| sent.text(field));
            format!("{name} {action} {row}")
        }
    }
}

/// The fields of the form that the API refuses, and why: all of them, though the API names one at a time. Each one that
/// it names is left out of a dry run, or replaced by a value if it is required, and so the next one is found.
async fn refused_fields(
    act: &'static Act,
    context: &ConsoleContext,
    sent: &FormData,
    error: &Answer,
) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    if let (StatusCode::NOT_FOUND, Some((_, field))) = (error.status, act.changed) {
        found.push((field, format!("names nothing: {}", text_of(error))));
        return found;
    }
    let mut bodies = bodies(act, context, sent).into_iter();
    let (Some(body), None) = (bodies.next(), bodies.next()) else { return found };
    let mut body = body.into_object();
    let mut refused = refused_field(error);
    let mut substitutes = Vec::new();
    for _ in 0..MAX_DRY_RUNS {
        let Some((name, why)) = refused else { break };
        let is_new = match act.field_of(context.routes, &name) {
            Some(field) if found.iter().any(|(known, _)| *known == field) => false,
            Some(field) => {
                found.push((field, why));
                true
            }
            None => break,
        };
        if is_new {
            substitutes = SUBSTITUTES.to_vec();
            if body.take(&name).is_none()
                && let Some(value) = substitutes.pop()
            {
                body.set(&name, substitute(value));
            }
        } else {
            let Some(value) = substitutes.pop() else { break };
            body.set(&name, substitute(value));
        }
        let answer = ok(context.call(act, sent, Json::Object(body.clone()), true).await);
        refused = answer.err().as_deref().and_then(refused_field);
    }
    found
}

/// The most dry runs that look for refused fields.
const MAX_DRY_RUNS: usize = 40;

/// Values, as JSON, one of which most required fields accept; the last one is tried first.
const SUBSTITUTES: [&str; 4] = ["[]", "0", "\"2000-01-01\"", "\"x\""];

fn substitute(json: &str) -> Json {
    Json::read(json.as_bytes()).unwrap_or(Json::Null)
}

/// The field that a 400 of the API names, and why it was refused.
fn refused_field(error: &Answer) -> Option<(String, String)> {
    if error.status != StatusCode::BAD_REQUEST {
        return None;
    }
    let detail = Json::read(&error.body).ok()?.into_object().text("detail").ok()?;
    let end = detail.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))?;
    let (name, _) = detail.split_at(end);
    let (_, why) = detail.split_once(' ')?;
    Some((name.to_owned(), why.trim_end_matches('.').to_owned()))
}

/// The text of an error of the API.
fn text_of(error: &Answer) -> String {
    let body = Json::read(&error.body).map(Json::into_object);
    body.ok().and_then(|mut body| body.text("error").ok()).unwrap_or_default()
}

/// The outcome of a form that was not refused.
enum Outcome {
    /// The change is made, and the browser is redirected to this path.
    Done(String),
    /// The page that asks for the confirmation.
    Unconfirmed(Answer),
}

async fn apply(
    act: &'static Act,
    context: &mut ConsoleContext,
    sent: &FormData,
) -> Result<Outcome, Box<Answer>> {
    act.check(sent).map_err(|invalid| refused(Refusal::InvalidRequest(invalid)))?;
    pages::check_new(act.page_id, context, sent).await.map_err(refused)?;
    let session = pages::session(act.page_id, context).await.map_err(refused)?;
    context.kept_roster = pages::kept_roster(act.page_id, context, sent).await.map_err(refused)?;
    context.record_digest = pages::digest(act.page_id, context).await.map_err(refused)?;
    if context
        .record_digest
        .as_deref()
        .is_some_and(|seen| sent.get("seen").is_some_and(|sent| sent != seen))
    {
        return Err(refused(RequestError::StaleForm));
    }
    let bodies = bodies(act, context, sent);
    let body = bodies.first().cloned().unwrap_or(Json::Null);
    let (routes, preview) = (context.routes, act.preview(context.routes));
    let dry_run = match preview {
        FormPreview::Never => None,
        FormPreview::Cautioned | FormPreview::Always => {
            Some(ok(context.call(act, sent, body, true).await)?)
        }
    };
    let is_shown_first =
        |dry_run: &Answer| preview == FormPreview::Always || !dry_run.cautions.is_empty();
    if let Some(dry_run) = dry_run.filter(is_shown_first) {
        let proof = match act.needs_proof(routes, &dry_run.cautions) {
            true => Some(Proof::of(act, context, session.as_deref()).await.map_err(refused)?),
            false => None,
        };
        let asked = async |fault| {
            let asked = confirm::Asked { proof: proof.as_ref(), fault };
            confirm::page(act, context, sent, session.as_deref(), &dry_run, asked).await
        };
        if !sent.has(proof.as_ref().map_or(confirm::CONFIRMED, Proof::field)) {
            let page = asked(None).await.map_err(refused)?;
            return Ok(Outcome::Unconfirmed(
                context.with_layout(page, Some(act.page_id)).answer(StatusCode::OK),
            ));
        }
        if let Some(proof) = &proof
            && let Err((error, fault)) = check_proof(context, sent, proof).await
        {
            let page = asked(Some(fault)).await.map_err(refused)?;
            let page = context.with_layout(page, Some(act.page_id));
            return Ok(Outcome::Unconfirmed(with_error(error.into_answer(), page)));
        }
    }
    let all = bodies.len();
    let mut done = 0;
    let mut last = None;
    let mut made = None;
    for body in bodies {
        match ok(context.call(act, sent, body, false).await) {
            Ok(answer) if act.secret.is_some() => {
                return Ok(Outcome::Done(redirect_to_secret(act, context, &answer)));
            }
            Ok(answer) => {
                done += 1;
                made = Some(answer);
            }
            Err(error) if all == 1 => return Err(error),
            Err(error) => last = Some((error_text(&error), error)),
        }
    }
    if let Some((fault, error)) = last {
        let said = format!("{done} of {all} done; for the others: {fault}");
        return Err(Box::new(Answer { body: plain_error(&said), ..*error }));
    }
    let session = made.as_ref().and_then(session_of);
    let mut notice = match act.each {
        Some(_) => format!("{}: {done}.", act.texts(routes).done),
        None => format!("{}.", act.texts(routes).done),
    };
    if let (Some((field, next)), Some(id)) = (act.then, &session)
        && !sent.text(field).is_empty()
    {
        let body = next.body(context.routes, std::slice::from_ref(id), &FormData::default());
        notice += &match ok(context.call_at(next, vec![id.clone()], body, false).await) {
            Ok(_) => format!(" {}.", next.texts(routes).done),
            Err(error) => format!(" But then: {}", error_text(&error)),
        };
    }
    context.sign_in.set_notice(notice);
    let next = act.next.unwrap_or(act.page_id);
    Ok(Outcome::Done(match session {
        Some(id) if next == PageId::Session => fill_path(next.path(), &[&id]),
        _ => fill_path(next.path(), &context.request.path),
    }))
}

/// The id of the session in an answer.
fn session_of(answer: &Answer) -> Option<String> {
    let session = Json::read(&answer.body).ok()?.into_object().take("session")?;
    let id = session.into_object().whole_if_any("id").ok()??;
    Some(id.to_string())
}

/// The bodies of the API's requests: one, or one for each value of a field.
fn bodies(act: &Act, context: &ConsoleContext, sent: &FormData) -> Vec<Json> {
    let body = |parts: &[String]| {
        let body = act.body(context.routes, parts, sent);
        match &context.kept_roster {
            Some(members) => with_roster(body, members),
            None => body,
        }
    };
    match act.each {
        None => vec![body(&context.request.path)],
        Some(field) => {
            let each: Vec<_> = sent.all(field).map(|value| body(&[value.to_owned()])).collect();
            // Without a value, the API names the missing field.
            if each.is_empty() { vec![body(&[])] } else { each }
        }
    }
}

/// The body with a roster of these members.
fn with_roster(body: Json, members: &[MemberId]) -> Json {
    let entry = |member: &MemberId| Json::from([("memberId", Json::from(member.as_str()))]);
    let mut body = body.into_object();
    body.set("roster", members.iter().map(entry).collect());
    Json::Object(body)
}

/// Keeps the secret of an answer for the page that shows it.
fn redirect_to_secret(act: &Act, context: &ConsoleContext, answer: &Answer) -> String {
    let body = Json::read(&answer.body).map(Json::into_object).unwrap_or_default();
    let secret = act.secret.and_then(|name| body.clone().text(name).ok());
    let of = format!("{} for {}", act.texts(context.routes).done, secret_owner(body));
    context.sign_in.store_secret(Secret { of, text: secret.unwrap_or_default() });
    "/operate/secret".to_owned()
}

/// The id of the member that a secret is for.
fn secret_owner(mut body: swarm_core::json::Object) -> String {
    body.text("memberId").or_else(|_| body.text("member_id")).unwrap_or_default()
}

/// Checks the confirmation of the signed-in operator. The error has a text for the page.
async fn check_proof(
    context: &ConsoleContext,
    sent: &FormData,
    proof: &Proof,
) -> Result<(), (ApiError, String)> {
    match proof {
        Proof::Token => check_token(context, sent).await,
        Proof::Typed(text) if is_same(sent.text(proof.field()), text) => Ok(()),
        Proof::Typed(text) => {
            let invalid = Invalid::new(proof.field(), format!("must be {text}"));
            let fault = format!("Nothing was changed: what you typed is not “{text}”.");
            Err((Refusal::InvalidRequest(invalid).into(), fault))
        }
    }
}

/// Whether two texts are the same but for case and spaces.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(one) == plain(other)
}

/// Checks the token of the signed-in operator. A wrong token counts like one at the sign-in.
async fn check_token(context: &ConsoleContext, sent: &FormData) -> Result<(), (ApiError, String)> {
    let request = &context.request;
    let (token, attempts) = (token_hash(sent), &request.site.token_attempts);
    let asker = Asker::current(&request.served.config().id);
    let attempt = attempts.begin_sign_in(asker, token.as_bytes(), Instant::now());
    let attempt = attempt.map_err(|left| (RequestError::wait(left).into(), wait_text(left)))?;
    let operator = request.served.config().operators.with_token(&token).await;
    let operator = operator.map_err(|error| (error.into(), UNAVAILABLE.to_owned()))?;
    if operator.is_none_or(|operator| operator != context.operator) {
        return Err((RequestError::WrongToken.into(), "This is not your token.".to_owned()));
    }
    attempt.succeed(Instant::now());
    Ok(())
}

/// The page of a refused form, with the submitted values.
async fn show_again(
    page_id: PageId,
    mut context: ConsoleContext,
    refused: RefusedForm,
    error: Option<Answer>,
) -> Answer {
    context.form_prefix = context.sign_in.new_form_prefix();
    context.refused = Some(refused);
    let page = page_answer(page_id, context).await;
    if page.status != StatusCode::OK {
        return page;
    }
    match error {
        Some(error) => with_status_of(error, page),
        None => page,
    }
}

fn fault(act: &Act, sent: &FormData, error: &Answer) -> String {
    // The boxes are no field that the page could mark, and the API has another name for them.
    if act.each.is_some_and(|field| !sent.has(field)) {
        return "Nothing was changed: nothing is chosen.".to_owned();
    }
    match error.problem {
        Some(swarm_core::wire::Problem::StaleForm) => {
            "What this form was made from has changed meanwhile. Look at the page again, then send it.".to_owned()
        }
        _ => error_text(error),
    }
}

fn plain_error(text: &str) -> bytes::Bytes {
    let text = text.trim_end_matches('.');
    swarm_core::json::write(&Json::from([("error", Json::from(text))])).into()
}

fn refused(error: impl Into<ApiError>) -> Box<Answer> {
    Box::new(error.into().into_answer())
}

/// The answer, unless it is a refusal.
fn ok(reply: Reply) -> Result<Answer, Box<Answer>> {
    let answer = reply.unwrap_or_else(ApiError::into_answer);
    if answer.status.is_success() { Ok(answer) } else { Err(Box::new(answer)) }
}
