//! `/swarm/sessions`: all sessions, those convened last first, filtered by subject and stage.

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
use crate::response::Reply;
use crate::schema::{SchemaRef, schema};

/// Sessions per page.
const PER_PAGE: usize = 35;

/// The stages to filter by.
const STAGES: [Stage; 5] =
    [Stage::Scheduled, Stage::Open, Stage::AwaitingResult, Stage::Aggregated, Stage::Published];

/// What the list is filtered by: a stage, or a state as the API names it.
#[derive(Clone, Copy)]
enum Wanted {
    Stage(Stage),
    State(SessionState),
}

/// Of a stage or a state to filter by.
pub(crate) const STAGE: SchemaRef = schema!("common", "Stage", {
    "enum": Wanted::names(),
    "description": "How far a session has come, by state and deadline together; or its state."
});

/// Other names of stages, which links may have, and their words.
const OTHER_NAMES: [(&str, Stage); 2] =
    [("closing", Stage::AwaitingResult), ("awaiting result", Stage::AwaitingResult)];

impl Wanted {
    /// The names: the last state is called as its stage is.
    fn names() -> Vec<&'static str> {
        let states = SessionState::UNPUBLISHED.map(SessionState::as_str);
        STAGES.map(Stage::word).into_iter().chain(states).collect()
    }

    fn of(name: &str) -> Option<Self> {
        let of_word = STAGES.into_iter().find(|stage| stage.word() == name);
        let other = || OTHER_NAMES.into_iter().find(|(other, _)| *other == name);
        match of_word.or_else(|| Some(other()?.1)) {
            Some(stage) => Some(Self::Stage(stage)),
            None => SessionState::parse(name).map(Self::State),
        }
    }

    /// As [`of`](Self::of). The error is in the words of pages.
    fn in_page(name: &str) -> Result<Self, String> {
        let words = STAGES.map(Stage::word);
        Self::of(name).ok_or_else(|| format!("must be one of {}", words.join(", ")))
    }

    /// As [`of`](Self::of). The error is in the words of the API.
    fn in_record(name: &str) -> Result<Self, String> {
        let unpublished = SessionState::UNPUBLISHED.into_iter();
        let states = unpublished.chain([SessionState::Published]).map(SessionState::as_str);
        let states: Vec<_> = states.collect();
        Self::of(name).ok_or_else(|| format!("must be one of {}", states.join(", ")))
    }

    /// Whether the word of this stage is the one wanted. It is the same for both stages that are closed.
    fn is_stage(self, other: Stage) -> bool {
        matches!(self, Self::Stage(stage) if stage.word() == other.word())
    }

    fn has(self, session: &SessionSummary, now: Timestamp) -> bool {
        match self {
            Self::Stage(_) => self.is_stage(stage(session.state, session.window_closes_at, now)),
            Self::State(state) => session.state == state,
        }
    }

    /// The state of all sessions that it has, if they have one.
    fn state(self) -> Option<SessionState> {
        match self {
            Self::State(state) => Some(state),
            Self::Stage(Stage::Published) => Some(SessionState::Published),
            Self::Stage(Stage::Aggregated) => Some(SessionState::Aggregated),
            Self::Stage(Stage::Open) => Some(SessionState::Collecting),
            Self::Stage(Stage::Scheduled) => Some(SessionState::Scheduled),
            Self::Stage(Stage::Closing | Stage::AwaitingResult) => None,
        }
    }
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    find: ListFilter,
    /// The words of the stages, and whether the list is filtered by each.
    stages: Vec<(&'static str, bool)>,
    rows: Vec<SessionRow>,
    /// Whether a strip has a segment of other stances.
    has_other: bool,
    /// Whether there is a page with newer sessions.
    later: bool,
    next: Option<String>,
}

/// A page of the sessions of this subject that are wanted at this time, from the shortest list that has all of them.
async fn found(
    tenant: &Tenant,
    (subject, wanted, now): (Option<&SubjectId>, Option<Wanted>, Timestamp),
    limit: usize,
    before: Option<SessionId>,
) -> Result<SummaryPage, Error> {
    let list = match (subject, wanted.and_then(Wanted::state)) {
        (Some(subject), _) => SessionList::About(subject.clone()),
        (None, Some(state)) => SessionList::InState(state),
        (None, None) => SessionList::All,
    };
    match wanted {
        None => tenant.summaries(list, before, limit).await,
        Some(wanted) => {
            let keeps = |session: &SessionSummary| wanted.has(session, now);
            tenant.summaries_where(list, before, limit, keeps).await
        }
    }
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
            let wanted = request.filter("state", Wanted::in_record)?;
            let of = (subject.as_ref(), wanted, tenant.now().await?);
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
    let (wanted, rows) = (request.filter("state", Wanted::in_page)?, request.rows(PER_PAGE)?);
    let found = found(tenant, (subject.as_ref(), wanted, times.now), rows, before).await?;
    let ids = found.sessions.iter().map(|session| &session.subject_id).chain(&subject);
    let subjects = Subjects::find(tenant, ids).await?;
    let rows: Vec<_> =
        found.sessions.iter().map(|one| SessionRow::new(one, &subjects, times)).collect();
    let is_chosen = |stage: Stage| wanted.is_some_and(|wanted| wanted.is_stage(stage));
    let mut stages = STAGES.map(|stage| (stage.word(), is_chosen(stage))).to_vec();
    if let Some(Wanted::State(state)) = wanted {
        stages.push((state.as_str(), true));
    }
    let find = find.named("subject", subject.as_ref().map(|id| subjects.name(id)));
    let path = find.address(before.map(|before| before.0));
    let page = SessionsPage {
        frame: Frame::new(
            SiteContext::of(&request),
            part_title(&find.title("Sessions"), "before", before),
            path,
        ),
        stages,
        has_other: rows.iter().any(|row| row.has_other),
        rows,
        later: before.is_some(),
        next: found.next_before.map(|before| find.address(Some(before.0))),
        find,
    };
    Ok(html(StatusCode::OK, &page))
}
