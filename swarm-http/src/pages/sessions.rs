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
use crate::request::RequestContext;
use crate::request::parameters::{MAX_PAGE, Page, number};
use crate::response::{ApiError, Reply};
use crate::schema::{SchemaRef, schema};

/// Sessions per page.
const PER_PAGE: usize = 35;

/// The stages to filter by.
const STAGES: [Stage; 5] =
    [Stage::Scheduled, Stage::Open, Stage::AwaitingResult, Stage::Aggregated, Stage::Published];

/// Of a stage to filter by.
pub(crate) const STAGE: SchemaRef = schema!("common", "Stage", {
    "enum": STAGES.map(Stage::word),
    "description": "How far a session has come, by state and deadline together."
});

/// Other names of stages, which links may have, and their words.
const OTHER_NAMES: [(&str, Stage); 4] = [
    ("scheduled", Stage::Scheduled),
    ("closing", Stage::AwaitingResult),
    ("awaiting result", Stage::AwaitingResult),
    ("aggregated", Stage::Aggregated),
];

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

/// Reads the stage to filter by, of which the word is the same for both that are closed.
fn stage_filter(request: &RequestContext) -> Result<Option<Stage>, ApiError> {
    request.filter("state", |text| {
        let of_word = |stage: &&Stage| stage.word() == text;
        let other = || OTHER_NAMES.into_iter().find(|(name, _)| *name == text);
        let found = STAGES.iter().find(of_word).copied().or_else(|| Some(other()?.1));
        found.ok_or_else(|| {
            let words = STAGES.map(Stage::word);
            format!("must be one of {}", words.join(", "))
        })
    })
}

/// The shortest list in which all sessions of this subject, or in this stage, are.
fn list(subject: Option<&SubjectId>, stage: Option<Stage>) -> SessionList {
    match (subject, stage) {
        (Some(subject), _) => SessionList::About(subject.clone()),
        (None, Some(Stage::Published)) => SessionList::InState(SessionState::Published),
        (None, Some(Stage::Aggregated)) => SessionList::InState(SessionState::Aggregated),
        (None, Some(Stage::Open)) => SessionList::InState(SessionState::Collecting),
        (None, Some(Stage::Scheduled)) => SessionList::InState(SessionState::Scheduled),
        (None, _) => SessionList::All,
    }
}

/// A page of the sessions of this subject, in this stage at this time.
async fn found(
    tenant: &Tenant,
    (subject, wanted, now): (Option<&SubjectId>, Option<Stage>, Timestamp),
    limit: usize,
    before: Option<SessionId>,
) -> Result<SummaryPage, Error> {
    let list = list(subject, wanted);
    let Some(wanted) = wanted else { return tenant.summaries(list, before, limit).await };
    let keeps = |session: &SessionSummary| {
        let stage = stage(session.state, session.window_closes_at, now);
        stage.word() == wanted.word()
    };
    tenant.summaries_where(list, before, limit, keeps).await
}

/// The sessions of the page as JSON, whole.
pub(crate) async fn record(request: RequestContext) -> Reply {
    let Page { limit, position } =
        request.page(MAX_PAGE, "before", |id| number(id).map(SessionId))?;
    let find = ListFilter::of(&request, "/swarm/sessions", &["subject", "state"]);
    let tenant = request.tenant();
    let page = match find.is_active() {
        false => tenant.sessions(position, limit).await?,
        true => {
            let subject = request.filter_of("subject", SubjectId::parse)?;
            let of = (subject.as_ref(), stage_filter(&request)?, tenant.now().await?);
            tenant.sessions_of(&found(tenant, of, limit, position).await?).await?
        }
    };
    Ok(request.linked(wire::sessions::page(&page), "before", page.next_before))
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?.map(SessionId);
    let find = ListFilter::of(&request, "/swarm/sessions", &["subject", "state", "limit"]);
    let subject = request.filter_of("subject", SubjectId::parse)?;
    let (state, rows) = (stage_filter(&request)?, request.rows(PER_PAGE)?);
    let found = found(tenant, (subject.as_ref(), state, times.now), rows, before).await?;
    let ids = found.sessions.iter().map(|session| &session.subject_id).chain(&subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let rows = found.sessions.iter().map(|one| SessionRow::new(one, &subjects, times)).collect();
    let stages = STAGES.map(|stage| {
        let word = stage.word();
        (word, state.map(Stage::word) == Some(word))
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
