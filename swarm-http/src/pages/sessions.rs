//! `/swarm/sessions`: all sessions, newest first, filtered by subject and stage.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{SessionState, SessionSummary, SubjectId};
use swarm_core::rules::{Stage, stage};
use swarm_core::service::SummaryPage;
use swarm_core::store::SessionList;
use swarm_core::{Error, SessionId, Tenant, Timestamp, wire};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::list_filter::ListFilter;
use super::lists::{SessionRow, Subjects, number_param, part_title};
use super::stage_text;
use crate::request::RequestContext;
use crate::request::parameters::{MAX_PAGE, Page, number};
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 35;

/// The stages to filter by.
const STAGES: [Stage; 5] =
    [Stage::Scheduled, Stage::Open, Stage::AwaitingResult, Stage::Aggregated, Stage::Published];

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    find: ListFilter,
    /// The words of the stages, and whether the list is filtered by each.
    stages: Vec<(&'static str, bool)>,
    rows: Vec<SessionRow>,
    /// Whether there is a page with newer sessions.
    later: bool,
    next: Option<String>,
}

/// The word of a stage; some links have an earlier one.
fn current(word: &str) -> &str {
    if word == "scheduled" { stage_text::word(Stage::Scheduled) } else { word }
}

/// The shortest list in which all sessions of this subject, or in this stage, are.
fn list(subject: Option<&SubjectId>, stage: Option<&str>) -> SessionList {
    let is = |one: Stage| stage.map(current) == Some(stage_text::word(one));
    match subject {
        Some(subject) => SessionList::About(subject.clone()),
        None if is(Stage::Published) => SessionList::InState(SessionState::Published),
        None if is(Stage::Aggregated) => SessionList::InState(SessionState::Aggregated),
        None if is(Stage::Open) => SessionList::InState(SessionState::Collecting),
        None if is(Stage::Scheduled) => SessionList::InState(SessionState::Scheduled),
        None => SessionList::All,
    }
}

/// A page of the sessions of this subject, in this stage at this time.
async fn found(
    tenant: &Tenant,
    (subject, state, now): (Option<&SubjectId>, Option<&str>, Timestamp),
    limit: usize,
    before: Option<SessionId>,
) -> Result<SummaryPage, Error> {
    let list = list(subject, state);
    let Some(state) = state else { return tenant.summaries(list, limit, before).await };
    let state = current(state);
    let keeps = |session: &SessionSummary| {
        let stage = stage(session.state, session.window_closes_at, now);
        stage_text::word(stage) == state
    };
    tenant.summaries_where(list, limit, before, keeps).await
}

/// The sessions of the page as JSON, whole.
pub(crate) async fn record(request: RequestContext) -> Reply {
    let Page { limit, position } =
        request.page(MAX_PAGE, "before", |id| number(id).map(SessionId))?;
    let find = ListFilter::of(&request, "/swarm/sessions", &["subject", "state"]);
    let tenant = request.tenant();
    let page = match find.is_active() {
        false => tenant.sessions(limit, position).await?,
        true => {
            let subject = find.value("subject").and_then(|id| SubjectId::parse(id).ok());
            let of = (subject.as_ref(), find.value("state"), tenant.now().await?);
            tenant.sessions_of(&found(tenant, of, limit, position).await?).await?
        }
    };
    Ok(request.linked(wire::sessions::page(&page), "before", page.next_before))
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?.map(SessionId);
    let find = ListFilter::of(&request, "/swarm/sessions", &["subject", "state"]);
    let subject = find.value("subject").and_then(|id| SubjectId::parse(id).ok());
    let state = find.value("state").map(str::to_owned);
    let state = state.as_deref();
    let found = found(tenant, (subject.as_ref(), state, times.now), PER_PAGE, before).await?;
    let ids = found.sessions.iter().map(|session| &session.subject_id).chain(&subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let rows = found.sessions.iter().map(|one| SessionRow::new(one, &subjects, times)).collect();
    let stages = STAGES.map(|stage| {
        let word = stage_text::word(stage);
        (word, state.map(current) == Some(word))
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
