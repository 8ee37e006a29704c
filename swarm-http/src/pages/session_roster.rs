//! `/swarm/sessions/<id>/roster`: the members that a session expects, and those that have filed in it.

use std::collections::{HashMap, HashSet};

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{RosterEntry, StanceScale};
use swarm_core::rules::{PublicTake, resolve};
use swarm_core::{MemberId, Session, SessionId};

use super::frame::{Frame, SiteContext, html, time_formatter};
use super::list_filter::Rows;
use super::lists::part_title;
use super::markup::Markup;
use super::people::{People, Person};
use super::session_link::SessionLink;
use super::time_text::TimeFormatter;
use super::{links, stance};
use crate::request::RequestContext;
use crate::response::Reply;

/// Members per page.
const PER_PAGE: usize = 60;

#[derive(Template)]
#[template(path = "session_roster.html")]
struct RosterPage {
    frame: Frame,
    session: SessionLink,
    /// Whether the session has a roster. Without one every member may file.
    has_roster: bool,
    /// How many are expected, and how many of these have filed.
    expected: usize,
    filed: usize,
    rows: Vec<Row>,
    /// Whether any of the rows has earlier revisions.
    has_earlier: bool,
    path: String,
    later: bool,
    next: Option<String>,
}

struct Row {
    who: Person,
    /// Why no take is expected, or that there is none.
    word: &'static str,
    /// The latest take: its path, its stance, and when it was filed.
    take: Option<(String, Markup, Markup)>,
    /// The earlier revisions: paths and labels.
    earlier: Vec<(String, String)>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let (session, filed) = tenant.session_filed(request.session_id()?).await?;
    let counted = resolve(&filed);
    let listed = listed(&session, &counted);
    let path = roster_path(session.id);
    let shown = Rows::at(&request, &path, request.portion.of(PER_PAGE))?;
    let members = shown.of_all(&listed).map(|listed| listed.member);
    let people = People::find(tenant, members).await?;
    let takes: HashMap<_, _> = counted.iter().map(|take| (take.member_id(), take)).collect();
    let scale = session.declaration.scale();
    let row = |listed: &Listed<'_>| row((scale, listed), (&takes, &filed), &people, times);
    let link =
        SessionLink::of(tenant, session.id, (&session.subject_id, session.date), times).await?;
    let title = part_title("Roster", "from member", shown.from());
    let expected = |listed: &&Listed<'_>| listed.standing == Standing::Expected;
    let rows: Vec<_> = shown.of_all(&listed).map(row).collect();
    let page = RosterPage {
        next: shown.next(listed.len()),
        later: shown.is_later(),
        frame: link.frame(SiteContext::of(&request), &title, shown.address),
        session: link,
        has_roster: session.roster.is_some(),
        expected: listed.iter().filter(expected).count(),
        filed: listed.iter().filter(expected).filter(|it| takes.contains_key(it.member)).count(),
        has_earlier: rows.iter().any(|row| !row.earlier.is_empty()),
        rows,
        path,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The path of the roster of a session.
pub(super) fn roster_path(session: SessionId) -> String {
    format!("{}/roster", links::session(session))
}

/// What a session expects of a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Expected,
    Excused,
    /// It filed although it is not on the roster, or there is none.
    Unlisted,
}

struct Listed<'a> {
    member: &'a MemberId,
    standing: Standing,
}

/// The members of the roster in its order, then the others that filed.
fn listed<'a>(session: &'a Session, counted: &'a [PublicTake]) -> Vec<Listed<'a>> {
    let entries = session.roster.as_ref().map(|roster| roster.entries()).unwrap_or_default();
    let of_entry = |entry: &'a RosterEntry| Listed {
        member: &entry.member_id,
        standing: if entry.excused { Standing::Excused } else { Standing::Expected },
    };
    let known: HashSet<_> = entries.iter().map(|entry| &entry.member_id).collect();
    let others = counted.iter().map(PublicTake::member_id).filter(|id| !known.contains(id));
    let others = others.map(|member| Listed { member, standing: Standing::Unlisted });
    entries.iter().map(of_entry).chain(others).collect()
}

fn row(
    (scale, listed): (&StanceScale, &Listed<'_>),
    (takes, filed): (&HashMap<&MemberId, &PublicTake>, &[PublicTake]),
    people: &People,
    times: TimeFormatter,
) -> Row {
    let take = takes.get(listed.member);
    let earlier = filed.iter().filter(|other| {
        other.member_id() == listed.member
            && take.is_some_and(|latest| other.revision() < latest.revision())
    });
    Row {
        who: people.person(listed.member),
        word: match (listed.standing, take) {
            (Standing::Expected, None) => "not filed",
            (Standing::Expected, Some(_)) => "filed",
            (Standing::Excused, _) => "excused",
            (Standing::Unlisted, _) => "filed",
        },
        take: take.map(|take| {
            (links::take(take.id()), stance::of_take(scale, take), times.time(take.filed_at()))
        }),
        earlier: earlier
            .map(|take| (links::take(take.id()), format!("revision {}", take.revision().get())))
            .collect(),
    }
}
