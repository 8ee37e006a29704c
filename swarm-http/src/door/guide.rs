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
    let Now { tenant, name, origin, open, subjects, more_subjects, .. } = now(&request).await?;
    let service = request.public_origin();
    let (committee, problems) =
        member_problems().into_iter().partition(|problem| COMMITTEE.contains(problem));
    markdown(&Skill {
        tenant,
        name,
        origin,
        service,
        open,
        subjects,
        more_subjects,
        problems,
        committee,
    })
}

/// What this is, and where everything stands (llmstxt.org).
pub(crate) async fn llms(request: RequestContext) -> Reply {
    let Now { name, about, origin, open, subjects, more_subjects, .. } = now(&request).await?;
    markdown(&Llms { name, about, origin, open, subjects, more_subjects })
}

#[derive(Template)]
#[template(path = "door/skill.md", escape = "none")]
struct Skill {
    tenant: String,
    name: String,
    origin: String,
    /// The origin that challenges name.
    service: String,
    open: Vec<OpenSession>,
    subjects: Vec<String>,
    more_subjects: bool,
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
    more_subjects: bool,
}

struct Now {
    tenant: String,
    name: String,
    about: String,
    origin: String,
    open: Vec<OpenSession>,
    /// The first ids, and whether there are more.
    subjects: Vec<String>,
    more_subjects: bool,
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
    let (subjects, more_subjects) = request.tenant().subject_ids(SUBJECTS, None).await?;
    let config = request.served.config();
    Ok(Now {
        tenant: config.id.to_string(),
        name: one_line(&config.name),
        about: one_line(&config.about),
        origin: request.origin(),
        open: open(request).await?.iter().map(|session| shown(session)).collect(),
        subjects: subjects.iter().map(|id| code(id.as_str())).collect(),
        more_subjects,
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

/// The subjects that a guide lists.
const SUBJECTS: usize = 100;

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
    if text.chars().all(|c| c != '`' && is_plain(c)) {
        return text.to_owned();
    }
    let mut escaped = String::new();
    for c in json::write(text).chars() {
        if c != '`' && is_plain(c) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

/// Text of an operator as it may stand in a heading or a paragraph of one line.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().filter(|c| c.is_whitespace() || is_plain(*c)).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether it neither controls a terminal, ends a line, nor changes the direction of text, which makes an
/// id read as another one.
fn is_plain(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}');
    !c.is_control() && !turns && !matches!(c, '\u{2028}'..='\u{202e}')
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
        Problem::NotForRole,
        Problem::InvalidRequest,
        Problem::MemberState,
        Problem::MessageState,
        Problem::SessionState,
        Problem::AlreadyAggregated,
        Problem::FiledLater,
        Problem::TakesOnFile,
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
