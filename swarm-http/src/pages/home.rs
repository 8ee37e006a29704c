//! `/`: what is open, what was published lately, the latest takes, and how to join.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::{Error, Session, Take, Tenant};

use super::charts::strip;
use super::frame::{Desk, Frame, html, reading};
use super::lists::{Named, SessionRow, Subjects, TakeView, counts_of};
use super::markup::Markup;
use super::people::People;
use super::time_text::Reading;
use super::{links, session};
use crate::request::RequestContext;
use crate::response::Reply;

/// How many open sessions, published ones and takes are shown; of how many sessions the takes are
/// read for it, and how many members a line names.
const OPEN: usize = 6;
const PUBLISHED: usize = 8;
const TAKES: usize = 5;
const READ: usize = 4;
const NAMED: usize = 12;

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
    /// How many have filed.
    filed: String,
    people: Named,
    strip: Option<Markup>,
}

/// A session, and the takes that count in it so far.
type WithTakes = (Arc<Session>, Vec<Arc<Take>>);

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let open = tenant.open_sessions(OPEN).await?;
    let published = tenant.published(PUBLISHED).await?;
    let ids = open.iter().chain(&published).map(|session| &session.subject_id);
    let subjects = Subjects::find(tenant, ids).await?;
    let open = read(tenant, &open).await?;
    let lately: Vec<_> = published.iter().take(READ.saturating_sub(open.len())).cloned().collect();
    let mut newest: Vec<_> = open
        .iter()
        .chain(&read(tenant, &lately).await?)
        .flat_map(|(_, takes)| takes)
        .cloned()
        .collect();
    newest.sort_unstable_by_key(|take| std::cmp::Reverse(take.id));
    newest.truncate(TAKES);
    let authors = |takes: &[Arc<Take>]| -> Vec<_> {
        takes.iter().map(|take| take.draft().member_id.clone()).collect()
    };
    let mut named = authors(&newest);
    for (_, takes) in &open {
        named.extend(authors(takes).into_iter().take(NAMED));
    }
    let people = People::find(tenant, &named).await?;
    let desk = Desk::of(&request);
    let page = HomePage {
        open: open.iter().map(|one| open_session(one, &subjects, &people, reading)).collect(),
        published: published.iter().map(|one| SessionRow::new(one, &subjects, reading)).collect(),
        takes: newest.iter().map(|take| take_view(take, &subjects, &people, reading)).collect(),
        frame: Frame::new(desk.clone(), desk.name, "/"),
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
        (None, 0) => "Nobody has filed yet".to_owned(),
        (None, 1) => "One has filed".to_owned(),
        (None, _) => format!("{count} have filed"),
    };
    let ids: Vec<_> = takes.iter().map(|take| &take.draft().member_id).collect();
    OpenSession {
        href: links::session(session.id),
        subject: subjects.name(&session.subject_id),
        deadline: session::deadline(session, reading),
        filed,
        people: Named::new(&ids, NAMED, people),
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
