//! `/`: open sessions, recent results, the newest takes, and how to get started.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::{Error, Session, Take, Tenant};

use super::charts::strip;
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{Named, SessionRow, Subjects, TakeView, counts_of};
use super::markup::Markup;
use super::people::People;
use super::time_text::Reading;
use super::{links, session};
use crate::request::RequestContext;
use crate::response::Reply;

/// Maximum number of open sessions, of published sessions and of takes on the page.
const MAX_OPEN: usize = 6;
const MAX_PUBLISHED: usize = 8;
const MAX_TAKES: usize = 5;

/// Number of sessions whose takes are loaded to find the newest.
const SESSIONS_WITH_TAKES: usize = 4;

/// Maximum number of members named in a line.
const MAX_NAMED: usize = 12;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    open: Vec<OpenSession>,
    published: Vec<SessionRow>,
    takes: Vec<TakeView>,
}

struct OpenSession {
    href: String,
    subject: String,
    deadline: Markup,
    /// `3 of 11 have filed`
    filed: String,
    people: Named,
    strip: Option<Markup>,
}

/// A session and the latest take of each of its members.
type WithTakes = (Arc<Session>, Vec<Arc<Take>>);

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let open = tenant.open_sessions(MAX_OPEN).await?;
    let published = tenant.published(MAX_PUBLISHED).await?;
    let ids = open.iter().chain(&published).map(|session| &session.subject_id);
    let subjects = Subjects::find(tenant, ids).await?;
    let open = read(tenant, &open).await?;
    let rest = SESSIONS_WITH_TAKES.saturating_sub(open.len());
    let recent: Vec<_> = published.iter().take(rest).cloned().collect();
    let mut newest: Vec<_> = open
        .iter()
        .chain(&read(tenant, &recent).await?)
        .flat_map(|(_, takes)| takes)
        .cloned()
        .collect();
    newest.sort_unstable_by_key(|take| std::cmp::Reverse(take.id));
    newest.truncate(MAX_TAKES);
    let authors = |takes: &[Arc<Take>]| -> Vec<_> {
        takes.iter().map(|take| take.draft().member_id.clone()).collect()
    };
    let mut named = authors(&newest);
    for (_, takes) in &open {
        named.extend(authors(takes).into_iter().take(MAX_NAMED));
    }
    let people = People::find(tenant, &named).await?;
    let site = SiteContext::of(&request);
    let page = HomePage {
        open: open.iter().map(|one| open_session(one, &subjects, &people, reading)).collect(),
        published: published.iter().map(|one| SessionRow::new(one, &subjects, reading)).collect(),
        takes: newest.iter().map(|take| take_view(take, &subjects, &people, reading)).collect(),
        frame: Frame::new(site.clone(), site.name, "/"),
    };
    Ok(html(StatusCode::OK, &page))
}

async fn read(tenant: &Tenant, sessions: &[Arc<Session>]) -> Result<Vec<WithTakes>, Error> {
    try_join_all(sessions.iter().map(|session| tenant.session(session.id))).await
}

fn open_session(
    (session, takes): &WithTakes,
    subjects: &Subjects,
    people: &People,
    reading: Reading,
) -> OpenSession {
    let expected = session
        .roster
        .as_ref()
        .map(|roster| roster.entries().iter().filter(|entry| !entry.excused).count());
    let count = takes.len();
    let filed = match (expected, count) {
        (Some(expected), _) => format!("{count} of {expected} have filed"),
        (None, 0) => "No takes yet".to_owned(),
        (None, 1) => "1 member has filed".to_owned(),
        (None, _) => format!("{count} members have filed"),
    };
    let ids: Vec<_> = takes.iter().map(|take| &take.draft().member_id).collect();
    OpenSession {
        href: links::session(session.id),
        subject: subjects.name(&session.subject_id),
        deadline: session::deadline(session, reading),
        filed,
        people: Named::new(&ids, MAX_NAMED, people),
        strip: (count > 0).then(|| strip(&counts_of(takes))),
    }
}

fn take_view(take: &Take, subjects: &Subjects, people: &People, reading: Reading) -> TakeView {
    let subject = subjects.name(&take.draft().subject_id);
    TakeView {
        on: Some((links::session(take.session_id), subject)),
        ago: Some(reading.ago(take.filed_at)),
        ..TakeView::new(take, people, reading)
    }
}
