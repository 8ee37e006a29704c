//! `/swarm/sessions/<id>/history`: all acts on a session, newest first.

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{LogEntry, LogLine, SessionEntry};
use swarm_core::{MemberId, Refusal, Resource, SessionId, Tenant};

use super::acts::{self, Terms};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::links;
use super::list_filter::Rows;
use super::lists::part_title;
use super::markup::Markup;
use super::people::People;
use super::session_link::SessionLink;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::request::portion::Portion;
use crate::response::Reply;

/// Acts per page.
const PER_PAGE: usize = 50;

/// An act of an operator or of the schedule.
pub(super) struct Act {
    pub(super) when: Markup,
    pub(super) what: String,
}

/// Number of acts on the page of a session.
const ACTS: usize = 8;

/// The acts on the page of a session, newest first: all of them, or the last ones and the first, which convened it.
pub(super) struct History {
    pub(super) last: Vec<Act>,
    /// The number of acts between them.
    pub(super) more: usize,
    pub(super) first: Option<Act>,
    /// The path of all of them.
    pub(super) path: String,
}

impl History {
    /// The history of a session with these acts, the oldest first, which has a row at least.
    pub(super) fn new(session: SessionId, acts: Vec<Act>, portion: Portion) -> Self {
        let (count, most) = (acts.len(), portion.of(ACTS));
        let mut acts = acts.into_iter();
        let first = acts.next();
        let shown = most.saturating_sub(1).min(acts.len());
        Self {
            last: acts.rev().take(shown).collect(),
            more: count.saturating_sub(shown + 1),
            first,
            path: history_path(session),
        }
    }
}

#[derive(Template)]
#[template(path = "session_history.html")]
struct HistoryPage {
    frame: Frame,
    session: SessionLink,
    acts: Vec<Act>,
    path: String,
    later: bool,
    next: Option<String>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let id = request.session_id()?;
    let entries = tenant.acts_on(id).await?;
    // One that was withdrawn is remembered here alone.
    let last = session_entries(&entries).last().ok_or(Refusal::NotFound(Resource::Session))?;
    let of = (&last.session.subject_id, last.session.date);
    let path = history_path(id);
    let rows = Rows::at(&request, &path, request.portion.of(PER_PAGE))?;
    let people = people(tenant, &entries).await?;
    let mut acts = acts(&entries, &people, times);
    acts.reverse();
    let link = SessionLink::of(tenant, id, of, times).await?;
    let title = part_title("History", "from act", rows.from());
    let page = HistoryPage {
        next: rows.next(acts.len()),
        acts: rows.of_all(acts).collect(),
        later: rows.is_later(),
        frame: link.frame(SiteContext::of(&request), &title, rows.address),
        session: link,
        path,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The path of the history of a session.
pub(super) fn history_path(session: SessionId) -> String {
    format!("{}/history", links::session(session))
}

/// The acts of operators and of the schedule on a session and its takes, oldest first.
pub(super) fn acts(entries: &[LogLine], people: &People, times: TimeFormatter) -> Vec<Act> {
    let mut before = None;
    let mut acts = Vec::with_capacity(entries.len());
    for line in entries {
        let what = match &line.entry {
            LogEntry::Session(entry) => {
                let what = acts::act(entry, before.as_ref(), people, times);
                before = Some(Terms::of(&entry.session));
                what
            }
            LogEntry::TakeMark(mark) => acts::take_mark(mark),
            _ => continue,
        };
        acts.push(Act { when: times.time(line.at), what });
    }
    acts
}

/// The acts on a session.
pub(super) fn session_entries(entries: &[LogLine]) -> impl Iterator<Item = &SessionEntry> {
    entries.iter().filter_map(|line| match &line.entry {
        LogEntry::Session(entry) => Some(&**entry),
        _ => None,
    })
}

/// The members that acts excused.
pub(super) fn excused_members(entries: &[LogLine]) -> Vec<MemberId> {
    let excused = |entry: &SessionEntry| Some(entry.excuse.as_ref()?.member_id.clone());
    session_entries(entries).filter_map(excused).collect()
}

/// The members that acts name.
async fn people(tenant: &Tenant, entries: &[LogLine]) -> Result<People, swarm_core::Error> {
    People::find(tenant, &excused_members(entries)).await
}
