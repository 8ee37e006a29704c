//! Convening, moving and reading sessions.

use std::sync::Arc;

use serde::Serialize;
use swarm_core::domain::{
    Day, Invalid, Roster, SessionDraft, SessionPatch, SessionState, SubjectId,
};
use swarm_core::{MemberId, Refusal, Resource, Session, SessionId, Take};
use warp::http::StatusCode;

use crate::request::context::{INVALID_QUERY, RequestContext, number};
use crate::response::{ApiError, Reply, done, ok};

pub(crate) async fn open(request: RequestContext) -> Reply {
    ok(&request.tenant().open_session().await?)
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Sessions {
        sessions: Vec<Arc<Session>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_before: Option<SessionId>,
    }
    let (limit, before) = page_of(&request)?;
    let page = request.tenant().sessions(limit, before).await?;
    ok(&Sessions { sessions: page.sessions, next_before: page.next_before })
}

/// The page asked for: `limit` 1 to 500, 100 unless given, and `before`, an id.
fn page_of(request: &RequestContext) -> Result<(usize, Option<SessionId>), ApiError> {
    let query = request.query();
    let given = |name| query.get(name).map(|text| number(text).ok_or(INVALID_QUERY)).transpose();
    let limit = given("limit")?.unwrap_or(100);
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=500).contains(limit));
    Ok((limit.ok_or(INVALID_QUERY)?, given("before")?.map(SessionId)))
}

pub(crate) async fn by_id(request: RequestContext) -> Reply {
    let (session, takes) = request.tenant().session(request.session_id()?).await?;
    with_takes(session, takes)
}

pub(crate) async fn by_date(request: RequestContext) -> Reply {
    let absent = || Refusal::NotFound(Resource::Session);
    let [date, subject] = request.path.as_slice() else { return Err(absent().into()) };
    let date = Day::parse(date).map_err(|_| absent())?;
    let subject = SubjectId::parse(subject.as_str()).map_err(|_| absent())?;
    let (session, takes) = request.tenant().session_on(date, subject).await?;
    with_takes(session, takes)
}

fn with_takes(session: Arc<Session>, takes: Vec<Arc<Take>>) -> Reply {
    #[derive(Serialize)]
    struct WithTakes {
        session: Arc<Session>,
        takes: Vec<Arc<Take>>,
    }
    ok(&WithTakes { session, takes })
}

pub(crate) async fn convene(mut request: RequestContext) -> Reply {
    let draft = request.operator_fields(SessionDraft::read)?;
    let session = request.tenant().convene(&draft).await?;
    changed(StatusCode::CREATED, session)
}

pub(crate) async fn amend(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let patch = request.operator_fields(SessionPatch::read)?;
    let session = request.tenant().amend_session(id, &patch).await?;
    changed(StatusCode::OK, session)
}

pub(crate) async fn advance(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let state = request.operator_fields(SessionState::read)?;
    let session = request.tenant().advance(id, state).await?;
    changed(StatusCode::OK, session)
}

pub(crate) async fn freeze_roster(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let roster = request.operator_fields(|fields| {
        let listed = Roster::read(fields, "members")?;
        listed.ok_or_else(|| Invalid::missing("members"))
    })?;
    let session = request.tenant().freeze_roster(id, &roster).await?;
    changed(StatusCode::OK, session)
}

pub(crate) async fn excuse(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let (member, excused) = request.operator_fields(|fields| {
        let member = MemberId::parse(fields.text("memberId")?)?;
        let excused = fields.bool_if_any("excused")?;
        Ok((member, excused.ok_or_else(|| Invalid::missing("excused"))?))
    })?;
    let session = request.tenant().excuse(id, &member, excused).await?;
    changed(StatusCode::OK, session)
}

fn changed(status: StatusCode, session: Arc<Session>) -> Reply {
    #[derive(Serialize)]
    struct Changed {
        session: Arc<Session>,
    }
    done(status, &Changed { session })
}
