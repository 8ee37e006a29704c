//! Routes of sessions and their briefs.

use swarm_core::domain::{
    Attribution, Day, ExcuseOrder, Note, RosterFreeze, SessionDraft, SessionPatch, SessionState,
    SessionSummary, StateChange, SubjectId,
};
use swarm_core::rules::CautionCode;
use swarm_core::service::SummaryPage;
use swarm_core::store::SessionList;
use swarm_core::wire::Problem::{
    self, AlreadyAggregated, AlreadyOpened, BriefPublished, Busy, FiledLater, InvalidRequest,
    NoRoster, NotFound, RosterFrozen, SessionSealed, TakesOnFile, TakesSealed, UnknownPath,
};
use swarm_core::wire::RequestError;
use swarm_core::{
    Error, MAX_ACCEPTING, Refusal, Resource, Session, SessionId, TakeId, Tenant, wire,
};

use crate::request::RequestContext;
use crate::request::command::{Command, FormPreview};
use crate::request::credential::Access::Operator;
use crate::request::extract::Attributed;
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page, number};
use crate::request::route::{Parameter, Route, Section, Work, cached, patch, post, read};
use crate::response::{Answer, Reply, ok};
use crate::schema::{HasSchema as _, SchemaRef, schema};
use crate::tenants::Role;

/// The parameters of the list of sessions.
pub(super) const SESSION_LIST: &[Parameter] = &[
    ("limit", PAGE_LIMIT),
    ("before", SessionId::SCHEMA),
    ("subject", SubjectId::SCHEMA),
    ("state", SessionState::SCHEMA),
    ("from", Day::SCHEMA),
    ("to", Day::SCHEMA),
    ("view", SESSION_VIEW),
];

/// How much of each session the list has.
const SESSION_VIEW: SchemaRef =
    schema!("sessions", "SessionView", {"enum": ["full", "summary"], "default": "full"});

/// As a note alone, which is read; without one, the rule refuses it.
const VOID_ORDER: SchemaRef = schema!("sessions", "VoidOrder", {
    "type": "object",
    "required": ["note"],
    "properties": {
        "note": {"type": "string", "maxLength": Note::MAX, "description": "Why; it stands in the record."}
    },
    "examples": [{"note": "The prices in its brief were those of another day."}]
});

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    [
        Section::Sessions.rows(vec![
            cached("/api/swarm/open-session", open)
                .about(
                    "The newest session in state collecting, or null; one for practice only where \
                     no other is. Poll every few minutes, with If-None-Match",
                )
                .answers(200, &["OpenSession"]),
            read("/api/swarm/open-sessions", accepting)
                .with(Work::Long)
                .about(
                    "All sessions in which a first take would be accepted now, newest first; \
                 aggregated ones are left out",
                )
                .answers(200, &["OpenSessions"]),
            cached("/api/swarm/sessions", list)
                .about("Sessions by id, highest first, whole or as summaries, found by filters")
                .query(SESSION_LIST)
                .answers(200, &["SessionList"]),
            cached("/api/swarm/sessions/{id}", by_id)
                .about("A session and its takes: all, or a page if the query has after or limit")
                .part(SessionId::SCHEMA)
                .query(&[("after", TakeId::SCHEMA), ("limit", PAGE_LIMIT)])
                .answers(200, &["SessionWithTakes"])
                .refuses(&[NotFound]),
            read("/api/swarm/sessions/{id}/bundle", bundle)
                .with(Work::Long)
                .about("A session with all that it takes to verify it, for swarm verify")
                .part(SessionId::SCHEMA)
                .answers(200, &["Bundle"])
                .refuses(&[NotFound, UnknownPath, SessionSealed, Busy]),
            cached("/api/swarm/sessions/{date}/{subject}", by_date)
                .about("The newest session of a day and subject, and its takes")
                .part(Day::SCHEMA)
                .part(SubjectId::SCHEMA)
                .answers(200, &["SessionWithTakes"])
                .refuses(&[NotFound]),
            cached("/api/swarm/brief", super::documents::brief)
                .about(
                    "The brief of a session; by date and subject, of the newest session of \
                     the day that has one. Null if there is none",
                )
                .query(&[
                    ("session", SessionId::SCHEMA),
                    ("date", Day::SCHEMA),
                    ("subject", SubjectId::SCHEMA),
                ])
                .answers(200, &["BriefOrNull"]),
        ]),
        Section::OperatingSessions.rows(vec![
            post(Operator(Role::Operator), "/api/swarm/admin/sessions", convene)
                .with(Work::Long)
                .about("Convene a session")
                .answers(201, &["SessionConvened"])
                .mints("session.id")
                .refuses(&[InvalidRequest, NotFound])
                .command(
                    Command::new(
                        "convene",
                        "--subject aurora --closes +3h --roster active",
                        "session {session.id} is convened",
                    )
                    .below("session")
                    .flag("subjectId", "subject")
                    .flag("date", "date")
                    .flag("windowClosesAt", "closes")
                    .flag("resolvesAt", "resolves")
                    .flag("stances", "stance")
                    .conflicts("practice", &["roster", "quorum"])
                    .form("Convene", "The session is convened")
                    .shown_first(FormPreview::Cautioned)
                    .next("session brief {session.id}"),
                ),
            patch(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}", amend)
                .with(Work::Long)
                .about("Change or clear the deadline, the quorum or the question")
                .answers(200, &["SessionChanged"])
                .refuses(&[
                    InvalidRequest,
                    NotFound,
                    FiledLater,
                    AlreadyAggregated,
                    AlreadyOpened,
                    TakesOnFile,
                    Problem::SessionState,
                    TakesSealed,
                ])
                .command(
                    of_session("deadline", "12 +1h", "closes at {windowClosesAt}")
                        .done_where("windowClosesAt", "none", "session {id} has no deadline")
                        .help("Move the deadline of a session")
                        .only(&["windowClosesAt", "note"])
                        .placed(&["windowClosesAt"])
                        .asks(CautionCode::EARLY)
                        .shown_first(FormPreview::Cautioned)
                        .form("Move the deadline", "The deadline is moved"),
                )
                .command(
                    of_session("quorum", "12 3", "needs {quorum} members")
                        .done_where("quorum", "none", "session {id} has no quorum")
                        .help("Change the quorum of a session, until it is aggregated")
                        .only(&["quorum", "note"])
                        .placed(&["quorum"])
                        .form("Set the quorum", "The quorum is set")
                        .means(
                            "If fewer members count, there is no consensus. The log shows the change; until the \
                             result is computed, it can be set again.",
                        )
                        .shown_first(FormPreview::Cautioned),
                )
                .command(
                    of_session(
                        "question",
                        "12 --question 'More or less exposed?' --resolves +7d",
                        "has its question",
                    )
                    .help("Change the question of a session, until a take is on file")
                    .only(&["question", "resolution", "resolvesAt", "note"])
                    .flag("resolvesAt", "resolves")
                    .form("Change the question", "The question is changed"),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/state", advance)
                .about(
                    "Advance the state of a session; aggregated writes its snapshot. endWindow \
                     makes the deadline the time of this commit",
                )
                .with(Work::Long)
                .answers(200, &["SessionChanged"])
                .refuses(&[InvalidRequest, NotFound, Problem::SessionState, TakesSealed])
                .command(
                    of_session("open", "12", "is collecting")
                        .help("Let a session collect takes")
                        .form("Open", "The session collects takes")
                        .fixed(&[("state", "\"collecting\"")])
                        .only(NOTE)
                        .next("session close {id}"),
                )
                .command(
                    of_session("close", "12 --note 'venue is down' --yes", "is closed")
                        .help("End the window of a session: its deadline becomes now")
                        .fixed(&[("state", "\"window_closed\""), ("endWindow", "true")])
                        .asks(CautionCode::EARLY)
                        .form("Close", "The session is closed")
                        .next("session aggregate {id}"),
                )
                .command(
                    of_session("aggregate", "12", "is aggregated")
                        .help("Write the snapshot of a session, once")
                        .fixed(&[("state", "\"aggregated\"")])
                        .only(NOTE)
                        .asks(CautionCode::EARLY)
                        .form("Compute the result", "The result is computed")
                        .next("session publish {id}"),
                )
                .command(
                    of_session("publish", "12", "is published")
                        .help("Publish an aggregated session")
                        .form("Publish", "The session is published")
                        .shown_first(FormPreview::Always)
                        .fixed(&[("state", "\"published\"")])
                        .only(NOTE)
                        .next("session show {id}"),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/void", void)
                .about("Void an aggregated session: it counts for nothing from now on")
                .takes_as(VOID_ORDER)
                .with(Work::Long)
                .answers(200, &["SessionChanged"])
                .refuses(&[InvalidRequest, NotFound, Problem::SessionState])
                .command(
                    of_session(
                        "void",
                        "12 --note 'it had the prices of another day' --yes",
                        "is void",
                    )
                    .irreversible()
                    .form("Void the session", "The session is void")
                    .destructive(),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/withdraw", withdraw)
                .about("Withdraw a session without takes: it is as if it had never been convened")
                .optional_body()
                .with(Work::Long)
                .answers(200, &["SessionChanged"])
                .refuses(&[InvalidRequest, NotFound, TakesOnFile, Problem::SessionState])
                .command(
                    of_session("withdraw", "12 --note 'the wrong subject'", "is withdrawn")
                        .form("Withdraw the session", "The session is withdrawn")
                        .destructive()
                        .shown_first(FormPreview::Always),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/roster", freeze_roster)
                .with(Work::Long)
                .about("Freeze the roster, once")
                .answers(200, &["SessionChanged"])
                .refuses(&[
                    InvalidRequest,
                    NotFound,
                    RosterFrozen,
                    AlreadyAggregated,
                    Problem::SessionState,
                    TakesSealed,
                ])
                .command(
                    of_session("roster", "12 Zoë Ada", "has its roster, which cannot be set again")
                        .form("Freeze the roster", "The roster is frozen")
                        .shown_first(FormPreview::Cautioned),
                ),
            post(Operator(Role::Operator), "/api/swarm/admin/sessions/{id}/roster/excuse", excuse)
                .with(Work::Long)
                .about("Excuse a member of the roster, or undo that")
                .answers(200, &["SessionChanged"])
                .refuses(&[InvalidRequest, NotFound, NoRoster, AlreadyAggregated, TakesSealed])
                .command(
                    of_session("excuse", "12 Zoë --undo", "excuses {memberId}")
                        .done_where("excused", "false", "session {id} expects {memberId}")
                        .flag("excused", "undo")
                        .describe("excused", "Expect it again")
                        .form("Excuse", "The member is excused")
                        .means(
                            "A member that is excused is not expected, and a take that it has filed counts for \
                             nothing. The log names it. Until the result is computed, it can be expected again.",
                        ),
                ),
            post(
                Operator(Role::Operator),
                "/api/swarm/admin/sessions/{id}/brief",
                super::documents::publish_brief,
            )
            .with(Work::Long)
            .about("Publish the brief of a session, or replace it while no take is on file")
            .optional_body()
            .answers(201, &["BriefPublished"])
            .mints("brief.id")
            .refuses(&[InvalidRequest, NotFound, BriefPublished, TakesOnFile, AlreadyAggregated])
            .command(
                of_session("brief", "12 --prompt prompt.json", "has its brief")
                    .flag("replaces", "replace")
                    .form("Publish the brief", "The brief is published"),
            ),
        ]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The fields of a command whose other fields are fixed.
const NOTE: &[&str] = &["note"];

/// A command about a session.
pub(super) fn of_session(word: &'static str, example: &'static str, done: &'static str) -> Command {
    Command::new(word, example, format!("session {{id}} {done}"))
        .below("session")
        .about("session {id}")
}

pub(crate) async fn open(request: RequestContext) -> Reply {
    ok(&request.tenant().open_session().await?)
}

/// The sessions in which a first take would be accepted now.
pub(crate) async fn accepting(request: RequestContext) -> Reply {
    let sessions = request.tenant().accepting_sessions(MAX_ACCEPTING).await?;
    Ok(wire::sessions::open(&sessions).into())
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    let filter = SessionFilter {
        subject: request.filter_of("subject", SubjectId::parse)?,
        state: request.filter_of("state", |text| text.parse())?,
        from: request.day("from")?,
        to: request.day("to")?,
    };
    let is_summary = request.filter("view", |text| match text {
        "summary" => Ok(true),
        "full" => Ok(false),
        _ => Err("must be summary or full".to_owned()),
    })?;
    let Page { limit, position } =
        request.page(MAX_PAGE, "before", |id| number(id).map(SessionId))?;
    let tenant = request.tenant();
    if !is_summary.unwrap_or_default() {
        let page = match filter.is_empty() {
            true => tenant.sessions(position, limit).await?,
            false => {
                let found = filter.summaries(tenant, position, limit).await?;
                tenant.sessions_of(&found).await?
            }
        };
        return Ok(request.linked(wire::sessions::page(&page), "before", page.next_before));
    }
    let page = filter.summaries(tenant, position, limit).await?;
    Ok(request.linked(wire::sessions::summaries(&page), "before", page.next_before))
}

/// The filters of the list of sessions.
struct SessionFilter {
    subject: Option<SubjectId>,
    state: Option<SessionState>,
    /// The first day.
    from: Option<Day>,
    /// The last day.
    to: Option<Day>,
}

impl SessionFilter {
    fn is_empty(&self) -> bool {
        let Self { subject, state, from, to } = self;
        subject.is_none() && state.is_none() && from.is_none() && to.is_none()
    }

    fn keeps(&self, session: &SessionSummary) -> bool {
        self.subject.as_ref().is_none_or(|subject| session.subject_id == *subject)
            && self.state.is_none_or(|state| session.state == state)
            && self.from.is_none_or(|from| session.date >= from)
            && self.to.is_none_or(|to| session.date <= to)
    }

    /// The summaries of the sessions that match, from the shortest list that has all of them.
    async fn summaries(
        &self,
        tenant: &Tenant,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<SummaryPage, Error> {
        let list = match (&self.subject, self.state) {
            (Some(subject), _) => SessionList::About(subject.clone()),
            (None, Some(state)) => SessionList::InState(state),
            (None, None) => SessionList::All,
        };
        tenant.summaries_where(list, before, limit, |session| self.keeps(session)).await
    }
}

/// With the latest take of each member, or a page of them if the query has `after` or `limit`.
pub(crate) async fn by_id(request: RequestContext) -> Reply {
    let (id, query) = (request.session_id()?, request.query());
    if !query.contains_key("after") && !query.contains_key("limit") {
        let (session, takes) = request.tenant().session(id).await?;
        return Ok(Answer::from(wire::sessions::with_takes(&session, &takes)).of_session(&session));
    }
    let Page { limit, position } = request.page(MAX_PAGE, "after", |id| number(id).map(TakeId))?;
    let after = position.unwrap_or(TakeId(0));
    let page = request.tenant().session_page(id, after, limit).await?;
    let answer = Answer::from(wire::sessions::with_some_takes(&page)).of_session(&page.session);
    Ok(request.linked(answer, "after", page.next_after))
}

/// Answers 503 with `Retry-After` until a checkpoint covers the whole session.
pub(crate) async fn bundle(mut request: RequestContext) -> Reply {
    // A subject may be called bundle.
    if request.path.first().is_some_and(|date| Day::parse(date).is_ok()) {
        request.path.push("bundle".to_owned());
        return by_date(request).await;
    }
    let log = request.served.signed_log().ok_or(RequestError::UnknownPath)?;
    let bundle = request.tenant().session_bundle(request.session_id()?, log).await?;
    Ok(wire::sessions::bundle(&bundle.ok_or(RequestError::Busy)?).into())
}

pub(crate) async fn by_date(request: RequestContext) -> Reply {
    let absent = || Refusal::NotFound(Resource::Session);
    let [date, subject] = request.path.as_slice() else { return Err(absent().into()) };
    let date = Day::parse(date).map_err(|_| absent())?;
    let subject = SubjectId::parse(subject.as_str()).map_err(|_| absent())?;
    let (session, takes) = request.tenant().session_on(date, subject).await?;
    Ok(Answer::from(wire::sessions::with_takes(&session, &takes)).of_session(&session))
}

pub(crate) async fn convene(
    request: RequestContext,
    Attributed(draft, by): Attributed<SessionDraft>,
) -> Reply {
    let session = request.tenant().convene(&draft, &by).await?;
    cautioned(&request, &session, wire::sessions::convened(&session)).await
}

/// The answer; of a dry run with what should be heard before the change.
pub(super) async fn cautioned(
    request: &RequestContext,
    session: &Session,
    answer: wire::Answer,
) -> Reply {
    let answer = Answer::from(answer);
    Ok(match &request.dry_run {
        Some(_) => answer.with_cautions(request.tenant().cautions(session).await?),
        None => answer,
    })
}

pub(crate) async fn amend(
    request: RequestContext,
    id: SessionId,
    Attributed(patch, by): Attributed<SessionPatch>,
) -> Reply {
    let session = request.tenant().amend_session(id, &patch, &by).await?;
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}

pub(crate) async fn advance(
    request: RequestContext,
    id: SessionId,
    Attributed(StateChange { state, end_window }, by): Attributed<StateChange>,
) -> Reply {
    let session = match end_window {
        true => request.tenant().end_window(id, &by).await?,
        false => request.tenant().advance(id, state, &by).await?,
    };
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}

pub(crate) async fn void(request: RequestContext, id: SessionId, by: Attribution) -> Reply {
    let session = request.tenant().void_session(id, &by).await?;
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}

pub(crate) async fn withdraw(request: RequestContext, id: SessionId, by: Attribution) -> Reply {
    let session = request.tenant().withdraw_session(id, &by).await?;
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}

pub(crate) async fn freeze_roster(
    request: RequestContext,
    id: SessionId,
    Attributed(RosterFreeze { members }, by): Attributed<RosterFreeze>,
) -> Reply {
    let session = request.tenant().freeze_roster(id, &members, &by).await?;
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}

pub(crate) async fn excuse(
    request: RequestContext,
    id: SessionId,
    Attributed(ExcuseOrder { member_id, excused }, by): Attributed<ExcuseOrder>,
) -> Reply {
    let session = request.tenant().excuse(id, &member_id, excused, &by).await?;
    cautioned(&request, &session, wire::sessions::changed(&session)).await
}
