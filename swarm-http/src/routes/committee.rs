//! The daily committee, interface B (API.md, 8).

use std::time::{Duration, SystemTime};

use http::StatusCode;
use http::header::{HeaderValue, LAST_MODIFIED};
use swarm_core::domain::Day;
use swarm_core::domain::committee::{
    CommitteeMemberDraft, CommitteeMemberId, CommitteeStatus, GenerationOrder, SubjectOrder,
    SynthesisOrder,
};
use swarm_core::{CommitteeRefusal, Resource, Timestamp, wire};

use crate::request::RequestContext;
use crate::request::page::{MOST, Page};
use crate::response::{Answer, ApiError, Reply, ok};

/// The brief file of a member for today, with links to the origin in use.
pub(crate) async fn brief(request: RequestContext) -> Reply {
    let absent = || CommitteeRefusal::NotFound(Resource::Brief);
    let file = request.path.first().map(String::as_str).unwrap_or_default();
    let member = file.strip_suffix(".json").map(CommitteeMemberId::parse);
    let member = member.and_then(Result::ok).ok_or_else(absent)?;
    let brief = request.committee()?.brief(&member).await?;
    let text = brief.text(&request.origin());
    let mut answer = Answer::new(StatusCode::OK, "application/json", text);
    let modified = HeaderValue::try_from(http_date(brief.generated_at));
    modified.map(|date| answer.headers.insert(LAST_MODIFIED, date)).ok();
    Ok(answer)
}

fn http_date(moment: Timestamp) -> String {
    let since_1970 = Duration::from_millis(u64::try_from(moment.millis()).unwrap_or_default());
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since_1970)
}

/// The body goes to the rules unread: they judge it only after the key.
pub(crate) async fn submit(request: RequestContext) -> Reply {
    let filed = request.committee()?.submit(request.api_key()?, &request.bytes).await;
    Ok(wire::committee::filed(&filed.map_err(ApiError::Submission)?).into())
}

pub(crate) async fn sessions(request: RequestContext) -> Reply {
    let Page { limit, position } = request.page(MOST, "before", |day| Day::parse(day).ok())?;
    let sessions = request.committee()?.sessions(limit, position).await?;
    Ok(wire::committee::sessions(&sessions).into())
}

pub(crate) async fn session(request: RequestContext) -> Reply {
    let day = request.path.first().and_then(|text| Day::parse(text).ok());
    let day = day.ok_or(CommitteeRefusal::NotFound(Resource::Session))?;
    ok(&request.committee()?.session(day).await?)
}

/// All members, as their operator sees them.
pub(crate) async fn members(request: RequestContext) -> Reply {
    Ok(wire::committee::members(&request.committee()?.members().await?).into())
}

pub(crate) async fn create_member(mut request: RequestContext) -> Reply {
    let draft = request.committee_operator_fields(CommitteeMemberDraft::read)?;
    let key = request.committee()?.create_member(&draft).await?;
    Ok(wire::committee::member_created(&draft.id, &key).into())
}

pub(crate) async fn rotate_key(request: RequestContext) -> Reply {
    let id = member_id(&request)?;
    let key = request.committee()?.rotate_member_key(&id).await?;
    Ok(wire::committee::key_rotated(&id, &key).into())
}

pub(crate) async fn set_status(mut request: RequestContext) -> Reply {
    let id = member_id(&request)?;
    let status = request.committee_operator_fields(CommitteeStatus::read)?;
    request.committee()?.set_member_status(&id, status).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn set_subject(mut request: RequestContext) -> Reply {
    let order = request.committee_operator_fields(SubjectOrder::read)?;
    request.committee()?.set_subject(&order, request.by()?).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn generate(mut request: RequestContext) -> Reply {
    let order = request.committee_operator_fields(GenerationOrder::read)?;
    Ok(wire::committee::generated(&request.committee()?.generate(&order, request.by()?).await?)
        .into())
}

pub(crate) async fn set_synthesis(mut request: RequestContext) -> Reply {
    let order = request.committee_operator_fields(SynthesisOrder::read)?;
    request.committee()?.set_synthesis(&order, request.by()?).await?;
    Ok(wire::committee::written().into())
}

pub(crate) async fn withdraw(mut request: RequestContext) -> Reply {
    let date = request.committee_operator_fields(|fields| Day::parse(&fields.text("date")?))?;
    request.committee()?.withdraw(date, request.by()?).await?;
    Ok(wire::committee::written().into())
}

fn member_id(request: &RequestContext) -> Result<CommitteeMemberId, ApiError> {
    let id = request.path.first().and_then(|id| CommitteeMemberId::parse(id.as_str()).ok());
    Ok(id.ok_or(CommitteeRefusal::NotFound(Resource::Member))?)
}
