//! `/swarm/sessions`: all sessions, newest first, filtered by subject and stage.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::SubjectId;
use swarm_core::rules::{Stage, stage};
use swarm_core::{Session, SessionId};

use super::find::Find;
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{SessionRow, Subjects, number_param, part_title};
use super::stage_text;
use crate::request::RequestContext;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 40;

/// The stages to filter by.
const STAGES: [Stage; 5] =
    [Stage::Scheduled, Stage::Open, Stage::AwaitingResult, Stage::Aggregated, Stage::Published];

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    find: Find,
    /// The words of the stages, and whether the list is filtered by each.
    stages: Vec<(&'static str, bool)>,
    rows: Vec<SessionRow>,
    /// Whether there is a page with newer sessions.
    later: bool,
    next: Option<String>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?.map(SessionId);
    let find = Find::of(&request, "/swarm/sessions", &["subject", "state"]);
    let subject = find.value("subject").and_then(|id| SubjectId::parse(id).ok());
    let state = find.value("state").map(str::to_owned);
    let state = state.as_deref();
    let keeps = |session: &Session| {
        let stage = stage(session.state, session.window_closes_at, reading.now);
        subject.as_ref().is_none_or(|subject| *subject == session.subject_id)
            && state.is_none_or(|state| stage_text::word(stage) == state)
    };
    let found = match find.is_active() {
        true => tenant.sessions_where(PER_PAGE, before, keeps).await?,
        false => tenant.sessions(PER_PAGE, before).await?,
    };
    let ids = found.sessions.iter().map(|session| &session.subject_id).chain(&subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let rows = found.sessions.iter().map(|one| SessionRow::new(one, &subjects, reading)).collect();
    let stages = STAGES.map(|stage| {
        let word = stage_text::word(stage);
        (word, state == Some(word))
    });
    let find = find.named("subject", subject.as_ref().map(|id| subjects.name(id)));
    let path = find.address(before.map(|before| before.0));
    let page = SessionsPage {
        frame: Frame::new(
            SiteContext::of(&request),
            part_title(&find.title("Sessions"), "before", before),
            path,
        ),
        stages: stages.to_vec(),
        rows,
        later: before.is_some(),
        next: found.next_before.map(|before| find.address(Some(before.0))),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
