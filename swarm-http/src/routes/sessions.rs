//! Convening, moving and reading sessions.

use swarm_core::domain::{
    Day, Invalid, Roster, SessionDraft, SessionPatch, SessionState, SubjectId,
};
use swarm_core::{MemberId, Refusal, Resource, SessionId, wire};

use crate::number::number;
use crate::request::context::{INVALID_QUERY, RequestContext};
use crate::response::{ApiError, Reply, ok};

pub(crate) async fn open(request: RequestContext) -> Reply {
    ok(&request.tenant().open_session().await?)
}

pub(crate) async fn list(request: RequestContext) -> Reply {
    let (limit, before) = page_of(&request)?;
    let page = request.tenant().sessions(limit, before).await?;
    Ok(wire::sessions::page(&page).into())
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
    Ok(wire::sessions::with_takes(&session, &takes).into())
}

pub(crate) async fn by_date(request: RequestContext) -> Reply {
    let absent = || Refusal::NotFound(Resource::Session);
    let [date, subject] = request.path.as_slice() else { return Err(absent().into()) };
    let date = Day::parse(date).map_err(|_| absent())?;
    let subject = SubjectId::parse(subject.as_str()).map_err(|_| absent())?;
    let (session, takes) = request.tenant().session_on(date, subject).await?;
    Ok(wire::sessions::with_takes(&session, &takes).into())
}

pub(crate) async fn convene(mut request: RequestContext) -> Reply {
    let (draft, by) = request.attributed_fields(SessionDraft::read)?;
    let session = request.tenant().convene(&draft, &by).await?;
    Ok(wire::sessions::convened(&session).into())
}

pub(crate) async fn amend(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let (patch, by) = request.attributed_fields(SessionPatch::read)?;
    let session = request.tenant().amend_session(id, &patch, &by).await?;
    Ok(wire::sessions::changed(&session).into())
}

pub(crate) async fn advance(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let (state, by) = request.attributed_fields(SessionState::read)?;
    let session = request.tenant().advance(id, state, &by).await?;
    Ok(wire::sessions::changed(&session).into())
}

pub(crate) async fn freeze_roster(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let (roster, by) = request.attributed_fields(|fields| {
        let listed = Roster::read(fields, "members")?;
        listed.ok_or_else(|| Invalid::missing("members"))
    })?;
    let session = request.tenant().freeze_roster(id, &roster, &by).await?;
    Ok(wire::sessions::changed(&session).into())
}

pub(crate) async fn excuse(mut request: RequestContext) -> Reply {
    let id = request.session_id()?;
    let ((member, excused), by) = request.attributed_fields(|fields| {
        let member = MemberId::parse(fields.text("memberId")?)?;
        let excused = fields.bool_if_any("excused")?;
        Ok((member, excused.ok_or_else(|| Invalid::missing("excused"))?))
    })?;
    let session = request.tenant().excuse(id, &member, excused, &by).await?;
    Ok(wire::sessions::changed(&session).into())
}
