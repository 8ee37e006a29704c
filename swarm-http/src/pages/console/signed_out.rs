//! A form that is sent after its session has ended: the token is asked for, and the form comes back as it was typed.

use std::sync::Arc;

use swarm_core::wire::RequestError;

use super::act::Act;
use super::answers::{plain, with_error};
use super::entrance::{enter, shown, token_form, visit, with_cookie};
use super::form::{SIGNING_IN, Sent};
use super::page::{Block, Page};
use super::visit::{Refused, Rows, Visit, filled};
use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

/// Asks for the token, or begins a session with it and shows the form again. Nothing is changed in either case.
pub(super) async fn answer(
    act: &'static Act,
    rows: Rows,
    request: RequestContext,
    cookie: &str,
) -> Reply {
    let sent = Sent::read(&request.bytes);
    let parts: Vec<_> = request.path.iter().map(String::as_str).collect();
    let action = filled(act.path, &parts);
    if !sent.has(SIGNING_IN) {
        return Ok(asking(&request, action, &sent, (RequestError::SignedOut.into(), None)));
    }
    let entered = match enter(&request, cookie, &sent).await {
        Ok(entered) => entered,
        Err((error, fault)) => return Ok(asking(&request, action, &sent, (error, Some(fault)))),
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
fn asking(
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
