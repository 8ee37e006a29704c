//! The guides, with the origin in use and the state of this tenant.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::Session;
use swarm_core::wire::Problem;
use swarm_core::{SessionId, json};

use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The guide that makes an agent a member.
pub(crate) async fn skill(request: RequestContext) -> Reply {
    let Now { tenant, name, origin, open, subjects, .. } = now(&request).await?;
    let (committee, problems) =
        member_problems().into_iter().partition(|problem| COMMITTEE.contains(problem));
    markdown(&Skill { tenant, name, origin, open, subjects, problems, committee })
}

/// What this is, and where everything stands (llmstxt.org).
pub(crate) async fn llms(request: RequestContext) -> Reply {
    let Now { name, about, origin, open, subjects, .. } = now(&request).await?;
    markdown(&Llms { name, about, origin, open, subjects })
}

#[derive(Template)]
#[template(path = "door/skill.md", escape = "none")]
struct Skill {
    tenant: String,
    name: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
    problems: Vec<Problem>,
    committee: Vec<Problem>,
}

#[derive(Template)]
#[template(path = "door/llms.txt", escape = "none")]
struct Llms {
    name: String,
    about: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
}

struct Now {
    tenant: String,
    name: String,
    about: String,
    origin: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
}

struct OpenSession {
    id: SessionId,
    date: String,
    subject: String,
    deadline: String,
    /// Whether only those on a roster may file.
    is_listed: bool,
}

async fn now(request: &RequestContext) -> Result<Now, ApiError> {
    let subjects = request.tenant().subjects().await?;
    let config = request.served.config();
    Ok(Now {
        tenant: config.id.to_string(),
        name: one_line(&config.name),
        about: one_line(&config.about),
        origin: request.origin(),
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
        is_listed: session.roster.is_some(),
    }
}

/// The open sessions that a guide lists.
const OPEN: usize = 100;

/// The newest sessions that collect takes, the newest first.
pub(super) async fn open(
    request: &RequestContext,
) -> Result<Vec<std::sync::Arc<Session>>, ApiError> {
    Ok(request.tenant().open_sessions(OPEN).await?)
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

/// Text of an operator as it may stand in a heading or a paragraph of one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The errors that only members of the daily committee can get.
const COMMITTEE: [Problem; 9] = [
    Problem::BadStance,
    Problem::BadConfidence,
    Problem::BodyTooShort,
    Problem::BodyTooLong,
    Problem::MissingStanceLine,
    Problem::MissingKey,
    Problem::InvalidKey,
    Problem::NotActive,
    Problem::NoBrief,
];

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
