//! `/`: what this is, the open sessions, those that await their result, the subjects with their scores, the newest takes,
//! and how to get started.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::domain::{Seq, SessionSummary};
use swarm_core::rules::{self, MIN_SCORED, PublicTake, ScoreFilter, Stage};
use swarm_core::service::Board;
use swarm_core::{Error, MemberId, Session};

use super::about::{self, Step};
use super::charts::{Counts, strip};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{Named, SessionRow, Subjects, TakeSessions, TakeView, expected_takes, missing};
use super::markup::{Markup, clipped};
use super::people::People;
use super::subject_card::SubjectCard;
use super::subjects::in_order;
use super::time_text::TimeFormatter;
use super::{links, ranking, stage_text};
use crate::request::RequestContext;
use crate::response::Reply;

/// Maximum number of open sessions, of those that await their result, of subjects, and of takes.
const MAX_OPEN: usize = 4;
const MAX_PENDING: usize = 6;
const MAX_SUBJECTS: usize = 6;
const MAX_TAKES: usize = 4;

/// Maximum number of members named in a line.
const MAX_NAMED: usize = 6;

/// Longest excerpt of a question, in letters.
const MAX_QUESTION: usize = 200;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    scale: Vec<Step>,
    open: Vec<OpenSession>,
    /// Whether more sessions are open.
    more_open: bool,
    pending: Vec<SessionRow>,
    subjects: Vec<SubjectCard>,
    takes: Vec<TakeView>,
    news: NewsLinks,
    /// Whether any member is better than the crowd, in a sentence.
    verdict: Option<String>,
}

/// The pages of what changed: after which entry of the log.
struct NewsLinks {
    /// `day` and `week`, where something happened in them.
    spans: Vec<(&'static str, Seq)>,
    end: Seq,
}

struct OpenSession {
    href: String,
    subject: (String, String),
    day: Markup,
    question: Option<String>,
    deadline: Markup,
    /// `3 of 11 filed`
    filed: String,
    people: Named,
    missing: Named,
    strip: Option<(Markup, String)>,
}

/// A session and the latest take of each of its members, if it would count.
type SessionWithTakes = (Arc<Session>, Vec<PublicTake>);

/// The records of the page.
struct Records {
    open: Vec<SessionWithTakes>,
    more_open: bool,
    pending: Vec<Arc<SessionSummary>>,
    board: Arc<Board>,
    takes: Vec<PublicTake>,
    news: NewsLinks,
    /// Maximum number of members named in a line.
    named: usize,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let records = Records::read(&request, times).await?;
    let subjects = Subjects::find(tenant, records.subjects()).await?;
    let people = People::find(tenant, &records.members()).await?;
    let site = SiteContext::of(&request);
    let row = |session: &Arc<SessionSummary>| SessionRow::new(session, &subjects, times);
    let sessions = TakeSessions::find(tenant, &records.takes).await?;
    let takes = records.takes.iter();
    let takes = takes.map(|take| TakeView::in_list(take, &sessions, &subjects, &people, times));
    let every_session = ScoreFilter::default();
    let mut scores = request.served.scores().await;
    let ranking = scores.ranking(tenant, &every_session, MIN_SCORED).await?;
    let trends = in_order(&records.board, times);
    let cards = trends.iter().take(request.portion.of(MAX_SUBJECTS));
    let page = HomePage {
        scale: about::scale(),
        open: records
            .open
            .iter()
            .map(|it| open_session(it, records.named, (&subjects, &people), times))
            .collect(),
        more_open: records.more_open,
        pending: records.pending.iter().map(row).collect(),
        subjects: cards.map(|trend| SubjectCard::new(trend, times)).collect(),
        takes: takes.collect(),
        news: records.news,
        verdict: ranking::verdict(&ranking.ranking),
        frame: Frame::new(site.clone(), site.name, "/").with_description(&site.about),
    };
    Ok(html(StatusCode::OK, &page))
}

impl Records {
    async fn read(request: &RequestContext, times: TimeFormatter) -> Result<Self, Error> {
        let tenant = request.tenant();
        let mut overview = request.served.overview().await;
        let board = overview.board(tenant).await?;
        let unfinished = overview.unfinished(tenant).await?;
        let end = tenant.log_size().await?;
        let mut spans = Vec::new();
        for (word, days) in [("day", 1), ("week", 7)] {
            let after = overview.entry_before(tenant, times.days_ago(days)).await?;
            if after < end && !spans.iter().any(|(_, other)| *other == after) {
                spans.push((word, after));
            }
        }
        let most = request.portion.of(MAX_OPEN);
        let mut open = overview.open_sessions(tenant, |_| true, most.saturating_add(1)).await?;
        drop(overview);
        let more_open = open.len() > most;
        open.truncate(most);
        let awaits = |it: &&Arc<SessionSummary>| {
            // A voided one has no result to wait for.
            it.voided.is_none() && stage_text::stage_of(it, times) == Stage::AwaitingResult
        };
        let mut pending: Vec<_> = unfinished.values().filter(awaits).cloned().collect();
        pending.sort_by_key(|session| std::cmp::Reverse(session.id));
        pending.truncate(request.portion.of(MAX_PENDING));
        let with_takes = open.iter().map(|session| tenant.session(session.id));
        let open = try_join_all(with_takes).await?.into_iter().map(|(session, takes)| {
            let takes = expected_takes(&session, &takes);
            (session, takes)
        });
        let open = open.collect();
        let takes = tenant.newest_takes(None, request.portion.of(MAX_TAKES), |_| true).await?.takes;
        let named = request.portion.of(MAX_NAMED);
        Ok(Self { open, more_open, pending, board, takes, news: NewsLinks { spans, end }, named })
    }

    fn subjects(&self) -> impl Iterator<Item = &swarm_core::domain::SubjectId> {
        let of_open = self.open.iter().map(|(session, _)| &session.subject_id);
        let of_takes = self.takes.iter().map(PublicTake::subject_id);
        of_open.chain(self.pending.iter().map(|session| &session.subject_id)).chain(of_takes)
    }

    /// The members that the page names.
    fn members(&self) -> Vec<MemberId> {
        let author = |take: &PublicTake| take.member_id().clone();
        let mut ids: Vec<_> = self.takes.iter().map(author).collect();
        for (session, takes) in &self.open {
            ids.extend(takes.iter().map(author).take(self.named));
            ids.extend(missing(session, takes).into_iter().take(self.named).cloned());
        }
        ids
    }
}

fn open_session(
    (session, takes): &SessionWithTakes,
    named: usize,
    (subjects, people): (&Subjects, &People),
    times: TimeFormatter,
) -> OpenSession {
    let expected = session.roster.as_ref().map(|roster| roster.expected().count());
    let filed = rules::filed(session, takes.iter().map(PublicTake::member_id));
    let filed = match (expected, filed) {
        (Some(expected), count) => format!("{count} of {expected} filed"),
        (None, 0) => "no takes yet".to_owned(),
        (None, 1) => "1 member filed".to_owned(),
        (None, count) => format!("{count} members filed"),
    };
    let ids: Vec<_> = takes.iter().map(PublicTake::member_id).collect();
    let summary = session.summary();
    let open = takes.iter().filter_map(PublicTake::open);
    let scale = session.declaration.scale();
    let counts = Counts::of_each(scale, open.clone().map(|take| &take.draft().stance));
    let question = summary.question.text.as_ref();
    OpenSession {
        href: links::session(session.id),
        subject: subjects.link(&session.subject_id),
        day: times.day(session.date),
        question: question.map(|text| clipped(text.as_str(), MAX_QUESTION)),
        deadline: stage_text::deadline_in_row(&summary, times),
        filed,
        people: Named::new(&ids, named, people),
        missing: match stage_text::stage_of(&summary, times) {
            Stage::Scheduled => Named::default(),
            _ => Named::new(&missing(session, takes), named, people),
        },
        strip: (open.count() > 0).then(|| (strip(&counts), counts.sides())),
    }
}
