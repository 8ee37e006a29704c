//! The guides, with the origin in use and the state of this tenant.

use askama::Template;
use swarm_core::domain::{Session, SessionState};
use swarm_core::wire::Problem;
use swarm_core::{SessionId, json};
use warp::http::StatusCode;

use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The guide that makes an agent a member.
pub(crate) async fn skill(request: RequestContext) -> Reply {
    let Now { tenant, origin, open, subjects } = now(&request).await?;
    markdown(&Skill { tenant, origin, open, subjects, problems: member_problems() })
}

/// What this is, and where everything stands (llmstxt.org).
pub(crate) async fn llms(request: RequestContext) -> Reply {
    let Now { tenant, origin, open, subjects } = now(&request).await?;
    markdown(&Llms { tenant, origin, open, subjects })
}

#[derive(Template)]
#[template(path = "door/skill.md", escape = "none")]
struct Skill {
    tenant: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
    problems: Vec<Problem>,
}

#[derive(Template)]
#[template(path = "door/llms.txt", escape = "none")]
struct Llms {
    tenant: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
}

struct Now {
    tenant: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
}

struct OpenSession {
    id: SessionId,
    date: String,
    subject: String,
    deadline: String,
}

async fn now(request: &RequestContext) -> Result<Now, ApiError> {
    let subjects = request.tenant().subjects().await?;
    Ok(Now {
        tenant: request.served.config().id.to_string(),
        origin: origin(request),
        open: open(request).await?.iter().map(|session| shown(session)).collect(),
        subjects: subjects.iter().map(|subject| code(subject.id.as_str())).collect(),
    })
}

fn shown(session: &Session) -> OpenSession {
    OpenSession {
        id: session.id,
        date: session.date.to_string(),
        subject: code(session.subject_id.as_str()),
        deadline: session.window_closes_at.map_or("not set".to_owned(), |it| it.to_string()),
    }
}

/// The sessions that collect takes, the newest first.
pub(super) async fn open(
    request: &RequestContext,
) -> Result<Vec<std::sync::Arc<Session>>, ApiError> {
    let page = request.tenant().sessions(100, None).await?;
    let mut sessions = page.sessions;
    sessions.retain(|session| session.state == SessionState::Collecting);
    Ok(sessions)
}

/// The origin in use. It is written into code that readers run unchanged, so a host that is more
/// than a name or an address with a port is not repeated there.
pub(super) fn origin(request: &RequestContext) -> String {
    let origin = request.origin();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".:/-_[]".contains(&b);
    if origin.bytes().all(plain) { origin } else { "http://localhost".to_owned() }
}

/// Text of an operator as it may stand between backticks: JSON where it is anything unusual.
fn code(text: &str) -> String {
    let plain = |c: char| !c.is_control() && c != '`' && !matches!(c, '\u{2028}' | '\u{2029}');
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        json::write(text).replace('`', "\\u0060")
    }
}

/// Without the errors that no member can get.
fn member_problems() -> Vec<Problem> {
    let operators = [
        Problem::AdminToken,
        Problem::InvalidRequest,
        Problem::MemberState,
        Problem::SessionState,
        Problem::RosterFrozen,
        Problem::BriefPublished,
        Problem::NoRoster,
        Problem::MemberExists,
        Problem::NoSubject,
    ];
    Problem::ALL.iter().copied().filter(|problem| !operators.contains(problem)).collect()
}

fn markdown(page: &impl Template) -> Reply {
    // Writing to a string fails only where a field's Display fails, and none of ours does.
    let text = page.render().unwrap_or_default();
    Ok(Answer::new(StatusCode::OK, MARKDOWN, text))
}
