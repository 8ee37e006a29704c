//! The guides `/skill.md` and `/llms.txt`, and the programs of the first, with the origin in use and the state of the
//! tenant (API.md, 9.1).

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::wire::{Audience, Problem};
use swarm_core::{MAX_ACCEPTING, Session, SessionId, json};

use crate::request::RequestContext;
use crate::response::{Answer, ApiError, Reply};

pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// `/skill.md`: how an agent becomes a member and files takes.
pub(crate) async fn skill(request: RequestContext) -> Reply {
    let State { tenant, name, origin, now, .. } = state(&request).await?;
    let service = request.public_origin();
    let problems = problems_of(Audience::Everyone);
    markdown(&Skill { tenant, name, origin, service, now, problems })
}

/// A program of the guide: a text, in which `{{ origin }}` and `{{ service }}` are replaced.
pub(crate) struct Program {
    kind: &'static str,
    text: &'static str,
}

pub(crate) const PYTHON: Program = Program {
    kind: "text/plain; charset=utf-8",
    text: include_str!("../../templates/discovery/member.py"),
};
pub(crate) const SHELL: Program = Program {
    kind: "text/plain; charset=utf-8",
    text: include_str!("../../templates/discovery/member.sh"),
};
pub(crate) const NODE: Program = Program {
    kind: "text/javascript; charset=utf-8",
    text: include_str!("../../templates/discovery/member.mjs"),
};

impl Program {
    /// `/skill/member.py` and its siblings.
    pub(crate) async fn serve(self, request: RequestContext) -> Reply {
        let text = self.text.replace("{{ origin }}", &request.origin());
        let text = text.replace("{{ service }}", &request.public_origin());
        Ok(Answer::new(StatusCode::OK, self.kind, text))
    }
}

/// `/llms.txt`: what the service is, with links (llmstxt.org).
pub(crate) async fn llms(request: RequestContext) -> Reply {
    markdown(&state(&request).await?)
}

#[derive(Template)]
#[template(path = "discovery/skill.md", escape = "none")]
struct Skill {
    tenant: String,
    name: String,
    origin: String,
    /// The origin that challenges name.
    service: String,
    now: Now,
    problems: Vec<Problem>,
}

/// What the guides say of a tenant. As a template it is `/llms.txt`, which names all but `tenant`.
#[derive(Template)]
#[template(path = "discovery/llms.txt", escape = "none")]
struct State {
    tenant: String,
    name: String,
    about: String,
    origin: String,
    now: Now,
}

/// What is open now, and the subjects.
struct Now {
    /// The newest sessions that accept takes.
    open: Vec<OpenSession>,
    more_open: bool,
    /// Whether a session is open to a member that joins now.
    for_newcomers: bool,
    /// The first ids.
    subjects: Vec<String>,
    more_subjects: bool,
}

struct OpenSession {
    id: SessionId,
    date: String,
    subject: String,
    deadline: String,
    /// Whether only the members on its roster may file.
    has_roster: bool,
    /// Whether it is for practice.
    practice: bool,
}

async fn state(request: &RequestContext) -> Result<State, ApiError> {
    let (subjects, more_subjects) = request.tenant().subject_ids(None, MAX_SUBJECTS).await?;
    let config = request.served.config();
    let open = open_sessions(request).await?;
    Ok(State {
        tenant: config.id.to_string(),
        name: one_line(&config.name),
        about: one_line(&config.about),
        origin: request.origin(),
        now: Now {
            for_newcomers: open.iter().any(|session| session.roster.is_none()),
            more_open: open.len() > MAX_OPEN,
            open: open.iter().take(MAX_OPEN).map(|session| open_session(session)).collect(),
            subjects: subjects.iter().map(|id| code(id.as_str())).collect(),
            more_subjects,
        },
    })
}

fn open_session(session: &Session) -> OpenSession {
    OpenSession {
        id: session.id,
        date: session.date.to_string(),
        subject: code(session.subject_id.as_str()),
        deadline: session.window_closes_at.map_or("not set".to_owned(), |it| it.to_string()),
        has_roster: session.roster.is_some(),
        practice: session.practice,
    }
}

/// The maximum number of open sessions in a guide, each of which takes a line.
const MAX_OPEN: usize = 5;

/// The maximum number of subjects in a guide, which share a line.
const MAX_SUBJECTS: usize = 100;

/// The sessions of `/api/swarm/open-sessions`.
pub(super) async fn open_sessions(request: &RequestContext) -> Result<Vec<Arc<Session>>, ApiError> {
    Ok(request.tenant().accepting_sessions(MAX_ACCEPTING).await?)
}

/// An operator's text as a Markdown code span without the backticks: as JSON if it has unusual characters.
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

/// An operator's text as one line of Markdown.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text.chars().filter(|c| c.is_whitespace() || is_plain(*c)).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character is no control character, line separator or bidirectional control. The last could make an id look
/// like another.
fn is_plain(c: char) -> bool {
    let is_bidirectional =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}');
    !c.is_control() && !is_bidirectional && !matches!(c, '\u{2028}'..='\u{202e}')
}

/// The errors that this audience can get.
pub(crate) fn problems_of(audience: Audience) -> Vec<Problem> {
    Problem::ALL.iter().copied().filter(|problem| problem.audience() == audience).collect()
}

pub(crate) fn markdown(page: &impl Template) -> Reply {
    // Rendering to a string fails only if the `Display` of a field fails, and none does.
    let text = page.render().unwrap_or_default();
    Ok(Answer::new(StatusCode::OK, MARKDOWN, text))
}
