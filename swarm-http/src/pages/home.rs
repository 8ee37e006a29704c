//! `/`: open sessions, sessions that await their result, what changed lately, recent results, the newest
//! takes, and how to get started.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::domain::{SessionState, SessionSummary};
use swarm_core::rules::{self, Movement, PublicTake, Stage};
use swarm_core::store::SessionList;
use swarm_core::{Error, MemberId, Session};

use super::charts::{shown, signed, strip};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{Named, SessionRow, Subjects, TakeView, counts_of, no_result_texts};
use super::markup::Markup;
use super::people::{People, Person};
use super::time_text::TimeFormatter;
use super::{links, stage_text};
use crate::request::RequestContext;
use crate::response::Reply;

/// Maximum number of sessions in each list, and of takes.
const MAX_OPEN: usize = 6;
const MAX_PENDING: usize = 6;
const MAX_PUBLISHED: usize = 8;
const MAX_TAKES: usize = 5;

/// Maximum number of subjects whose latest change is described.
const MAX_CHANGES: usize = 3;

/// Maximum number of members named in a line.
const MAX_NAMED: usize = 12;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    open: Vec<OpenSession>,
    pending: Vec<SessionRow>,
    changes: Vec<Change>,
    published: Vec<SessionRow>,
    takes: Vec<TakeView>,
}

struct OpenSession {
    href: String,
    subject: (String, String),
    day: Markup,
    deadline: Markup,
    /// `3 of 11 have filed`
    filed: String,
    people: Named,
    missing: Named,
    strip: Option<(Markup, String)>,
}

/// What changed in the latest result of a subject.
struct Change {
    when: Markup,
    href: String,
    subject: (String, String),
    /// `−0.20 to +0.44 (+0.64)`
    score: Option<String>,
    /// The members that changed sides: the member, the stance before and after.
    crossings: Vec<(Person, String, String)>,
    missing: Named,
    /// The subject's session that is open: its path, its day, when it closes.
    next: Option<(String, Markup, Markup)>,
}

/// A session and the latest take of each of its members.
type SessionWithTakes = (Arc<Session>, Vec<PublicTake>);

/// The records of the page.
struct Records {
    open: Vec<SessionWithTakes>,
    pending: Vec<Arc<SessionSummary>>,
    published: Vec<Arc<SessionSummary>>,
    /// The latest result of a subject, and what changed since the one before.
    changes: Vec<(Arc<SessionSummary>, Arc<Movement>)>,
    takes: Vec<PublicTake>,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let records = Records::read(&request, times).await?;
    let subjects = Subjects::find(tenant, records.subjects()).await?;
    let people = People::find(tenant, &records.members()).await?;
    let site = SiteContext::of(&request);
    let row = |session: &Arc<SessionSummary>| SessionRow::new(session, &subjects, times);
    let remarks = no_result_texts(tenant, &records.takes).await?;
    let takes = records.takes.iter().map(|take| {
        let view = TakeView::in_list(take, &subjects, &people, times);
        view.remarked(remarks.get(&take.session_id()))
    });
    let page = HomePage {
        open: records.open.iter().map(|it| open_session(it, &subjects, &people, times)).collect(),
        pending: records.pending.iter().map(row).collect(),
        changes: records.change_views(&subjects, &people, times),
        published: records.published.iter().map(row).collect(),
        takes: takes.collect(),
        frame: Frame::new(site.clone(), site.name, "/").with_description(&site.about),
    };
    Ok(html(StatusCode::OK, &page))
}

impl Records {
    async fn read(request: &RequestContext, times: TimeFormatter) -> Result<Self, Error> {
        let tenant = request.tenant();
        use SessionState::{Aggregated, Collecting, Scheduled, WindowClosed};
        let mut open = Vec::new();
        let mut pending = Vec::new();
        for state in [Scheduled, Collecting, WindowClosed, Aggregated] {
            let list = SessionList::InState(state);
            for session in tenant.summaries(list, MAX_OPEN, None).await?.sessions {
                match stage_text::stage_of(&session, times) {
                    // It has no result to wait for.
                    _ if session.voided.is_some() => {}
                    Stage::Scheduled | Stage::Open | Stage::Closing => open.push(session),
                    _ => pending.push(session),
                }
            }
        }
        // First what closes first; what has no deadline last.
        open.sort_by_key(|it| (it.window_closes_at.is_none(), it.window_closes_at, it.id));
        open.truncate(MAX_OPEN);
        pending.sort_by_key(|session| std::cmp::Reverse(session.id));
        pending.truncate(MAX_PENDING);
        let published = tenant.published(MAX_PUBLISHED).await?;
        let with_takes = open.iter().map(|session| tenant.session(session.id));
        Ok(Self {
            open: try_join_all(with_takes).await?,
            changes: changes(request, &published).await?,
            takes: tenant.newest_takes(MAX_TAKES, None, |_| true).await?.takes,
            pending,
            published,
        })
    }

    fn change_views(
        &self,
        subjects: &Subjects,
        people: &People,
        times: TimeFormatter,
    ) -> Vec<Change> {
        let view = |(session, movement): &(Arc<SessionSummary>, Arc<Movement>)| {
            let is_next = |open: &&SessionWithTakes| {
                open.0.counts() && open.0.subject_id == session.subject_id
            };
            let next = self.open.iter().find(is_next).map(|(session, _)| &**session);
            change((&**session, &**movement), next, (subjects, people), times)
        };
        self.changes.iter().map(view).collect()
    }

    fn subjects(&self) -> impl Iterator<Item = &swarm_core::domain::SubjectId> {
        let of_open = self.open.iter().map(|(session, _)| &session.subject_id);
        let listed = self.pending.iter().chain(&self.published);
        let of_takes = self.takes.iter().map(PublicTake::subject_id);
        of_open.chain(listed.map(|session| &session.subject_id)).chain(of_takes)
    }

    /// The members that the page names.
    fn members(&self) -> Vec<MemberId> {
        let author = |take: &PublicTake| take.member_id().clone();
        let mut ids: Vec<_> = self.takes.iter().map(author).collect();
        for (session, takes) in &self.open {
            ids.extend(takes.iter().map(author).take(MAX_NAMED));
            ids.extend(missing(session, takes).into_iter().take(MAX_NAMED).cloned());
        }
        for (_, movement) in &self.changes {
            ids.extend(movement.crossings.iter().map(|it| it.member.clone()).take(MAX_NAMED));
            ids.extend(movement.missing.iter().take(MAX_NAMED).cloned());
        }
        ids
    }
}

/// The latest result of each subject among these, and what changed since the one before.
async fn changes(
    request: &RequestContext,
    published: &[Arc<SessionSummary>],
) -> Result<Vec<(Arc<SessionSummary>, Arc<Movement>)>, Error> {
    let mut changes: Vec<(Arc<SessionSummary>, Arc<Movement>)> = Vec::new();
    for session in published {
        let is_known = changes.iter().any(|(known, _)| known.subject_id == session.subject_id);
        if is_known || changes.len() == MAX_CHANGES {
            continue;
        }
        let moved = request.site.movements.of(request.tenant(), session).await?;
        changes.extend(moved.map(|moved| (Arc::clone(session), moved)));
    }
    Ok(changes)
}

/// The expected members that have not filed.
fn missing<'a>(session: &'a Session, takes: &[PublicTake]) -> Vec<&'a MemberId> {
    let filed = |id: &MemberId| takes.iter().any(|take| take.member_id() == id);
    rules::missing(session, filed)
}

fn open_session(
    (session, takes): &SessionWithTakes,
    subjects: &Subjects,
    people: &People,
    times: TimeFormatter,
) -> OpenSession {
    let expected = session.roster.as_ref().map(|roster| roster.expected().count());
    let count = takes.len();
    let filed = match (expected, count) {
        (Some(expected), _) => format!("{count} of {expected} have filed"),
        (None, 0) => "No takes yet".to_owned(),
        (None, 1) => "1 member has filed".to_owned(),
        (None, _) => format!("{count} members have filed"),
    };
    let ids: Vec<_> = takes.iter().map(PublicTake::member_id).collect();
    let summary = session.summary();
    let open = takes.iter().filter_map(PublicTake::open);
    let counts = counts_of(open.clone().map(|take| take.draft().stance.as_str()));
    OpenSession {
        href: links::session(session.id),
        subject: subjects.link(&session.subject_id),
        day: times.day(session.date),
        deadline: stage_text::deadline(&summary, times),
        filed,
        people: Named::new(&ids, MAX_NAMED, people),
        missing: match stage_text::stage_of(&summary, times) {
            Stage::Scheduled => Named::default(),
            _ => Named::new(&missing(session, takes), MAX_NAMED, people),
        },
        strip: (open.count() > 0).then(|| (strip(&counts), counts.words())),
    }
}

fn change(
    (session, movement): (&SessionSummary, &Movement),
    next: Option<&Session>,
    (subjects, people): (&Subjects, &People),
    times: TimeFormatter,
) -> Change {
    let score = movement.score.map(|(from, to)| {
        // The difference of the figures shown: readers subtract them.
        let [before, after, by] = [from, to, shown(to) - shown(from)].map(signed);
        if before == after {
            format!("{after}, unchanged")
        } else {
            format!("{before} to {after} ({by})")
        }
    });
    let crossings = movement.crossings.iter().take(MAX_NAMED);
    let crossings = crossings.map(|it| (people.person(&it.member), it.from.clone(), it.to.clone()));
    let missing: Vec<_> = movement.missing.iter().collect();
    Change {
        when: times.day(session.date),
        href: links::session(session.id),
        subject: subjects.link(&session.subject_id),
        score,
        crossings: crossings.collect(),
        missing: Named::new(&missing, MAX_NAMED, people),
        next: next.map(|next| {
            let closes = stage_text::deadline(&next.summary(), times);
            (links::session(next.id), times.day(next.date), closes)
        }),
    }
}
