//! Sessions, newest first.

use swarm_core::SessionId;
use swarm_core::domain::SessionState;
use swarm_core::store::SessionList;

use super::super::acts::CONVENE;
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, anchor, two_lines};
use crate::pages::Markup;
use crate::pages::lists::Subjects;
use crate::pages::stage_text;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Sessions on a page.
const PER_PAGE: usize = 50;

const STATES: [SessionState; 5] = [
    SessionState::Scheduled,
    SessionState::Collecting,
    SessionState::WindowClosed,
    SessionState::Aggregated,
    SessionState::Published,
];

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let before = context.query("before").and_then(|id| number(&id)).map(SessionId);
    let state = context.query("state").and_then(|text| SessionState::parse(&text));
    let list = state.map_or(SessionList::All, SessionList::InState);
    let found = tenant.summaries(list, before, context.request.portion.of(PER_PAGE)).await?;
    let subjects = Subjects::find(tenant, found.sessions.iter().map(|it| &it.subject_id)).await?;
    let mut page =
        Page::new("Sessions").with_lead("By number, the highest first: the one convened last.");
    if context.may(&CONVENE) {
        page.text(Markup(
            "<a class=\"button\" href=\"/operate/convene\">Convene a session</a>".to_owned(),
        ));
    }
    let states = STATES.map(|it| (it.as_str(), stage_text::state_word(it)));
    let options = [("", "any state")].into_iter().chain(states);
    let chosen = state.map_or("", SessionState::as_str);
    page.search("/operate/sessions", "Show", Field::choice("state", "State", options, chosen));
    let rows = found.sessions.iter().map(|session| {
        let path = format!("/operate/sessions/{}", session.id);
        let which = format!("{}, session {}", context.times.day(session.date), session.id);
        vec![
            two_lines(&anchor(&path, &subjects.name(&session.subject_id)), &Markup(which)),
            Markup::text(&stage_text::brief(session, context.times)),
            session.window_closes_at.map_or(Markup::text("none"), |at| context.times.time(at)),
        ]
    });
    let head = ["Session", "Stage", "Deadline"];
    page.table("Sessions", head, rows, "No sessions found.");
    if let Some(before) = found.next_before {
        let state = state.map(|state| format!("state={state}&")).unwrap_or_default();
        page.more(&format!("/operate/sessions?{state}before={before}"), "Earlier sessions");
    }
    Ok(page)
}
