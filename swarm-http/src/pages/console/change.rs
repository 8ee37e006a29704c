//! Acting on a form that was sent.

use std::sync::Arc;

use http::StatusCode;
use swarm_core::json::Json;
use swarm_core::wire::RequestError;
use tokio::time::Instant;

use super::acts::Act;
use super::attempts::client;
use super::confirm;
use super::form::Sent;
use super::handlers::{
    failed, shown, sign_in_and_show_form, too_many, turned_away, visit, waiting,
};
use super::layout::{fault_of, see_other, with_error};
use super::places;
use super::places::Place;
use super::sign_ins::{Secret, Sending};
use super::visit::{Refused, Rows, Visit, filled, guard, signed_in, typed_token};
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

/// Acts on a form.
pub(crate) async fn change(act: &'static Act, rows: Rows, request: RequestContext) -> Reply {
    let name = match guard(&request, true) {
        Ok(name) => name,
        Err(error) => return Ok(turned_away(&request, error)),
    };
    let Some((sign_in, operator)) = signed_in(&request, name).await else {
        return sign_in_and_show_form(act, rows, request, name).await;
    };
    // Forms of one session are acted on one after another.
    let turn = Arc::clone(&sign_in.turn).lock_owned().await;
    let (site, served) = (Arc::clone(&request.site), Arc::clone(&request.served));
    let client = client();
    // A job that was started ends, also when the browser has gone.
    let acted = async move {
        let _turn = turn;
        let visit = visit(request, rows, (sign_in, operator)).await?;
        Ok(acted(act, visit, client).await)
    };
    site.workers.run(served.jobs(), acted).await
}

async fn acted(act: &'static Act, mut visit: Visit, client: u64) -> Answer {
    let sent = Sent::read(&visit.request.bytes);
    if !visit.may(act) {
        return failed(&visit, swarm_core::Refusal::NotForRole.into());
    }
    let form = sent.text("form").to_owned();
    let page = location(act.place, &visit);
    match visit.sign_in.send(&form) {
        Sending::First => {}
        Sending::Again(Some(led)) => {
            visit.sign_in.say("This form was sent before, and took effect once.".to_owned());
            return see_other(&led);
        }
        Sending::Again(None) => {
            visit
                .sign_in
                .say("This form was sent before. See here whether it took effect.".to_owned());
            return see_other(&page);
        }
    }
    match judged(act, &mut visit, &sent, client).await {
        Ok(Outcome::Done(location)) => {
            visit.sign_in.done(&form, &location);
            see_other(&location)
        }
        Ok(Outcome::Asked(answer)) => {
            visit.sign_in.refused(&form);
            answer
        }
        Err(error) => {
            visit.sign_in.refused(&form);
            let parts: Vec<_> = visit.request.path.iter().map(String::as_str).collect();
            let action = filled(act.path, &parts);
            come_back(act.place, visit, Refused { action, fault: fault(&error), sent }, *error)
                .await
        }
    }
}

/// What became of a form that was not refused.
enum Outcome {
    /// It is done, and this page follows.
    Done(String),
    /// The token is asked for.
    Asked(Answer),
}

async fn judged(
    act: &'static Act,
    visit: &mut Visit,
    sent: &Sent,
    client: u64,
) -> Result<Outcome, Box<Answer>> {
    let session = places::session(act.place, visit).await.map_err(refused)?;
    visit.seen = places::digest(act.place, visit).await.map_err(refused)?;
    if visit.seen.as_deref().is_some_and(|seen| sent.get("seen").is_some_and(|sent| sent != seen)) {
        return Err(refused(RequestError::StaleForm));
    }
    let bodies = bodies(act, visit, sent);
    if act.wants_token(sent, session.as_deref(), visit.reading.now) {
        let body = bodies.first().cloned().unwrap_or(Json::Null);
        let tried = ok(visit.call(act, sent, body, true).await)?;
        let asked =
            async |fault| confirm::page(act, visit, sent, session.as_deref(), &tried, fault).await;
        if !sent.has("token") {
            let page = asked(None).await.map_err(refused)?;
            return Ok(Outcome::Asked(
                visit.laid_out(page, Some(act.place)).answer(StatusCode::OK),
            ));
        }
        if let Err(error) = check_token(visit, sent, client).await {
            let fault = match &error {
                RequestError::TooManyAttempts(left) => {
                    waiting(std::time::Duration::from_secs((*left).into()))
                }
                _ => "This is not your token.".to_owned(),
            };
            let page = asked(Some(fault)).await.map_err(refused)?;
            let page = visit.laid_out(page, Some(act.place));
            return Ok(Outcome::Asked(with_error(ApiError::from(error).into_answer(), page)));
        }
    }
    let all = bodies.len();
    let mut done = 0;
    let mut last = None;
    for body in bodies {
        match ok(visit.call(act, sent, body, false).await) {
            Ok(answer) if act.secret.is_some() => {
                return Ok(Outcome::Done(minted(act, visit, &answer)));
            }
            Ok(_) => done += 1,
            Err(error) if all == 1 => return Err(error),
            Err(error) => last = Some((fault_of(&error), error)),
        }
    }
    if let Some((fault, error)) = last {
        let said = format!("{done} of {all} done; for the others: {fault}");
        return Err(Box::new(Answer { body: plain_error(&said), ..*error }));
    }
    visit.sign_in.say(if act.each.is_some() {
        format!("{}: {done}.", act.done)
    } else {
        format!("{}.", act.done)
    });
    Ok(Outcome::Done(location(act.next.unwrap_or(act.place), visit)))
}

/// The bodies of the API's requests: one, or one for each value of a field.
fn bodies(act: &Act, visit: &Visit, sent: &Sent) -> Vec<Json> {
    match act.each {
        None => vec![(act.body)(&visit.request.path, sent)],
        Some(field) => {
            let each = sent.all(field).map(|value| (act.body)(&[value.to_owned()], sent));
            let each: Vec<_> = each.collect();
            // Without any, the API says what is missing.
            if each.is_empty() { vec![(act.body)(&[], sent)] } else { each }
        }
    }
}

/// Keeps the secret of an answer for the page that shows it.
fn minted(act: &Act, visit: &Visit, answer: &Answer) -> String {
    let body = Json::read(&answer.body).map(Json::into_object).unwrap_or_default();
    let secret = act.secret.and_then(|name| body.clone().text(name).ok());
    let of = format!("{} for {}", act.done, owner(body));
    visit.sign_in.keep_secret(Secret { of, text: secret.unwrap_or_default() });
    "/operate/secret".to_owned()
}

/// The id of the one that a secret is for.
fn owner(mut body: swarm_core::json::Object) -> String {
    body.text("memberId").or_else(|_| body.text("member_id")).unwrap_or_default()
}

/// Asks for the token of the one who is signed in. A wrong one counts as at the sign-in.
async fn check_token(visit: &Visit, sent: &Sent, client: u64) -> Result<(), RequestError> {
    let request = &visit.request;
    let attempt = request.site.console.attempts.begin(client, Instant::now()).map_err(too_many)?;
    let operator = request.served.config().operators.with_token(&typed_token(sent)).await;
    if operator.is_none_or(|operator| operator != visit.operator) {
        return Err(RequestError::WrongToken);
    }
    attempt.succeed();
    Ok(())
}

/// The page of a form that was refused, with what was typed.
async fn come_back(place: Place, mut visit: Visit, refused: Refused, error: Answer) -> Answer {
    visit.forms = visit.sign_in.name_forms();
    visit.refused = Some(refused);
    let page = shown(place, visit).await;
    if page.status != StatusCode::OK {
        return page;
    }
    let (mut headers, problem) = (error.headers, error.problem);
    headers.extend(page.headers.clone());
    Answer { status: error.status, headers, problem, ..page }
}

fn fault(error: &Answer) -> String {
    match error.problem {
        Some(swarm_core::wire::Problem::StaleForm) => {
            "What this form was made from has changed meanwhile. Look at the page again, then send it.".to_owned()
        }
        _ => fault_of(error),
    }
}

fn plain_error(text: &str) -> bytes::Bytes {
    let text = text.trim_end_matches('.');
    swarm_core::json::write(&Json::from([("error", Json::from(text))])).into()
}

fn location(place: Place, visit: &Visit) -> String {
    let parts: Vec<_> = visit.request.path.iter().map(String::as_str).collect();
    filled(place.path(), &parts)
}

fn refused(error: impl Into<ApiError>) -> Box<Answer> {
    Box::new(error.into().into_answer())
}

/// The answer, if it is no refusal.
fn ok(reply: Reply) -> Result<Answer, Box<Answer>> {
    let answer = reply.unwrap_or_else(ApiError::into_answer);
    if answer.status.is_success() { Ok(answer) } else { Err(Box::new(answer)) }
}
