//! The overview: the agenda of the desk. What needs an operator, with the form or the page for it; what comes next; what is
//! fine.

use swarm_core::answers::{AgendaCode, AgendaItem, SessionStatus};
use swarm_core::rules::StepBy;

use super::super::acts::{AGGREGATE, Act, CLOSE, CONVENE, PUBLISH};
use super::super::context::ConsoleContext;
use super::super::layout::{AgendaAct, AgendaRow, Block, Page, anchor, count, quoted};
use crate::desk::Desk;
use crate::pages::Markup;
use crate::pages::markup::{capitalized, escape};
use crate::response::ApiError;

/// The most rows of each list.
const SHOWN: usize = 30;

/// The most members named in a row.
const NAMED: usize = 8;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let Desk { status, agenda, .. } = Desk::read(&context.request).await?;
    let mut page = Page::new("What to do").with_lead(match agenda.needs.len() {
        0 => "Nothing needs you now.".to_owned(),
        needs => {
            format!("{} you, the most urgent first.", count(needs, "thing needs", "things need"))
        }
    });
    if !agenda.needs.is_empty() {
        page.heading("Needs you");
        rows(context, (&agenda.needs, true), &status.sessions, &mut page);
    }
    page.heading("Next");
    if agenda.next.is_empty() {
        page.text(Markup::text("No session is open, and none is announced."));
    } else {
        rows(context, (&agenda.next, false), &status.sessions, &mut page);
    }
    if context.may(&CONVENE) {
        page.text(Markup(
            "<a class=\"button other\" href=\"/operate/convene\">Convene a session</a>".to_owned(),
        ));
    }
    if !agenda.fine.is_empty() {
        page.heading("Fine");
        let texts = agenda.fine.iter().map(|item| {
            match (item.code, sentence(&context.times.written_out(&item.message))) {
                (AgendaCode::Store, sentence) => anchor("/operate/store", &sentence),
                (_, sentence) => Markup::text(&sentence),
            }
        });
        page.blocks.push(Block::Fine(texts.collect()));
    }
    Ok(page)
}

fn rows(
    context: &ConsoleContext,
    (items, is_needed): (&[AgendaItem], bool),
    sessions: &[SessionStatus],
    page: &mut Page,
) {
    let shown = context.request.portion.of(SHOWN);
    let row = |item: &AgendaItem| {
        let session = sessions.iter().find(|session| Some(session.id) == item.session_id);
        let text = text(context, item, session);
        AgendaRow { when: when(context, item), text, act: act(context, item) }
    };
    page.blocks.push(Block::Agenda(items.iter().take(shown).map(row).collect(), is_needed));
    if items.len() > shown {
        let more = items.len() - shown;
        page.text(Markup(format!("{more} more. <a href=\"/operate/sessions\">All sessions</a>.")));
    }
}

/// The sentence, with a link to the session, and the expected members that have not filed.
fn text(context: &ConsoleContext, item: &AgendaItem, session: Option<&SessionStatus>) -> Markup {
    let sentence = message(context, item);
    let text = match item.session_id {
        Some(id) => Markup(format!("<a href=\"/operate/sessions/{id}\">{sentence}</a>")),
        None => sentence,
    };
    let missing = session.filter(|_| item.code == AgendaCode::Close).map(|it| &it.missing);
    let Some(missing) = missing.filter(|missing| !missing.is_empty()) else { return text };
    let mut names: Vec<_> = missing.iter().take(NAMED).map(|it| quoted(&it.name).0).collect();
    if missing.len() > NAMED {
        names.push(format!("{} more", missing.len() - NAMED));
    }
    Markup(format!("{text}<p class=\"quiet\">Not filed: {}</p>", names.join(", ")))
}

/// The message as a sentence. A name at its beginning is set apart and stays as it is.
fn message(context: &ConsoleContext, item: &AgendaItem) -> Markup {
    let shown = |text: &str| context.times.written_out(text);
    let named = item.subject_name.as_deref();
    match named.and_then(|name| Some((name, item.message.strip_prefix(name)?))) {
        Some((name, rest)) => Markup(format!("{}{}", quoted(name), escape(&stopped(&shown(rest))))),
        None => Markup::text(&sentence(&shown(&item.message))),
    }
}

/// When it is or was due, and how long that is from now.
fn when(context: &ConsoleContext, item: &AgendaItem) -> Markup {
    let Some(at) = item.at else { return Markup::default() };
    let relative = match context.times.left(at) {
        Some(left) => format!("in {left}"),
        None => context.times.ago(at),
    };
    Markup(format!("{}<br><span class=\"quiet\">{relative}</span>", context.times.time(at)))
}

/// The form or the page for what an operator does.
fn act(context: &ConsoleContext, item: &AgendaItem) -> AgendaAct {
    let session = item.session_id.map(|id| id.to_string());
    let of_session = |act: &'static Act| {
        let id = session.as_deref().unwrap_or_default();
        match context.form(act, &[id], Vec::new()).filter(|_| is_due(context, item)) {
            Some(form) => AgendaAct::Form(Box::new(form)),
            None => AgendaAct::Link(format!("/operate/sessions/{id}"), "Look at it"),
        }
    };
    let link = |path: &str, label| AgendaAct::Link(path.to_owned(), label);
    match item.code {
        _ if item.by == StepBy::Schedule => AgendaAct::Nothing,
        AgendaCode::Close => of_session(&CLOSE),
        AgendaCode::Aggregate => of_session(&AGGREGATE),
        AgendaCode::Publish => of_session(&PUBLISH),
        AgendaCode::Outcome => match session {
            Some(id) => AgendaAct::Link(format!("/operate/sessions/{id}"), "Record it"),
            None => AgendaAct::Nothing,
        },
        AgendaCode::Store | AgendaCode::Certificate => link("/operate/store", "Look at it"),
        AgendaCode::Applications => link("/operate/applications", "Review"),
        AgendaCode::Mail => link("/operate/outbox", "Look at it"),
        AgendaCode::Webhook => link("/operate/webhooks", "Look at it"),
        AgendaCode::Committee | AgendaCode::Export => link("/operate/committee", "Look at it"),
        AgendaCode::Convene => match &item.subject_id {
            // It may be that there is no such subject.
            Some(_) => link("/operate/subjects", "Look at subjects"),
            None => AgendaAct::Nothing,
        },
        _ => AgendaAct::Nothing,
    }
}

/// Whether its time has come.
fn is_due(context: &ConsoleContext, item: &AgendaItem) -> bool {
    item.at.is_none_or(|at| at <= context.times.now)
}

/// A message as a sentence: with a capital letter, and a full stop.
fn sentence(message: &str) -> String {
    stopped(&capitalized(message))
}

fn stopped(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}
