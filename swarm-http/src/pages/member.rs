//! `/swarm/members/<id>`: a member, its stances on each subject over time, how it compares with the others,
//! its takes and memos.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{MemberState, SessionSummary, SubjectId};
use swarm_core::rules::{
    Counting, MemberFigures, RankedPosition, ScoreFilter, member_figures, stance_changes,
};
use swarm_core::service::{ComparedMember, TakeInSession};
use swarm_core::{Error, Member, SessionId, Take};

use super::charts::{Point, StanceAxis, member_line};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{
    Subjects, memo_title, no_result_text, number_param, part_title, uncounted_text, withheld_text,
};
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::{Markup, clipped, count};
use super::outcome::RecordView;
use super::people::member_name;
use super::time_text::{TimeFormatter, day_number, span};
use super::{links, stage_text, stance};
use crate::request::RequestContext;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 30;

/// Number of sessions whose rosters are checked for whether a member that the list does not compare filed when it was expected.
const EXPECTED_AMONG: usize = 20;

/// Maximum number of open sessions that are looked at for what the member owes.
const MAX_OWED: usize = 20;

/// Maximum number of subjects with a chart.
const MAX_CHARTS: usize = 8;

/// Longest excerpt of a take's body, in letters.
const MAX_EXCERPT: usize = 110;

/// Maximum number of memos on the page.
const MAX_MEMOS: usize = 50;

#[derive(Template)]
#[template(path = "member.html")]
struct MemberPage {
    frame: Frame,
    path: String,
    active: bool,
    /// What an active member owes now.
    owed: Option<Owed>,
    /// The number of its takes on the page that are sealed.
    sealed: usize,
    joined: Option<Markup>,
    lens: Option<Markup>,
    /// Labels and figures.
    figures: Vec<(&'static str, String)>,
    /// The number of results that it is compared over, as in the list of members; `None`: those of the takes on the page.
    compared_over: Option<usize>,
    record: Option<RecordView>,
    charts: Vec<SubjectChart>,
    takes: Vec<Line>,
    /// The address of its record as JSON.
    api_record: String,
    /// The address of all its takes.
    every_take: String,
    later: bool,
    next: Option<String>,
    memos: Vec<(Markup, String, String)>,
    /// The address of all its memos, if not all are on the page.
    every_memo: Option<String>,
    key: Option<String>,
    /// The paths of the takes as CSV and JSON.
    files: [String; 2],
}

/// The latest take of the member in a session, unless it is sealed.
pub(super) struct OpenTake {
    pub(super) take: Arc<Take>,
    pub(super) session: Arc<SessionSummary>,
    pub(super) counting: Option<Counting>,
}

/// What a member owes: takes in the open sessions that expect it.
struct Owed {
    /// The sessions in which it has not filed: path, day, subject, deadline.
    sessions: Vec<(String, Markup, (String, String), Markup)>,
    /// The number of open sessions that expect it and in which it has filed.
    filed: usize,
}

/// The member's stances on one subject.
struct SubjectChart {
    subject: (String, String),
    chart: Option<Markup>,
    /// The chart as a table: day, stance and confidence, latest first.
    rows: Vec<(Markup, String, f64)>,
    facts: String,
}

struct Line {
    day: Markup,
    /// The path of the session.
    session: String,
    /// The path of the take.
    take: String,
    subject: (String, String),
    words: String,
    /// Why the take is not counted, if it is not.
    remark: Option<&'static str>,
    stance: Markup,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let member = tenant.member(&request.member_id(swarm_core::Resource::Member)?).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let found = tenant.member_takes(&member.id, before, request.portion.of(PER_PAGE)).await?;
    let every_session = ScoreFilter::default();
    let record = request.served.scores().await.record(tenant, &member.id, &every_session).await?;
    let comparison = request.served.overview().await.comparison(tenant).await?;
    let listed = comparison.get(&member.id);
    let expected = match listed {
        Some(listed) => ("filed when expected", (listed.filed, listed.expected)),
        None => {
            let takes = &found.takes;
            let filed = tenant.filed_of_expected(&member.id, takes, before, EXPECTED_AMONG).await?;
            ("filed when expected, last 20 sessions", filed)
        }
    };
    let owes = match member.state.is_active() && before.is_none() {
        true => Some(owes(&request, &member).await?),
        false => None,
    };
    let takes = open(&found.takes);
    let of_takes = takes.iter().map(|take| &take.session.subject_id);
    let owed = owes.iter().flat_map(|(sessions, _)| sessions);
    let ids = of_takes.chain(owed.map(|session| &session.subject_id));
    let subjects = Subjects::find(tenant, ids).await?;
    let mut memos = tenant.memos_of(&member.id).await?;
    let most_memos = request.portion.of(MAX_MEMOS);
    memos.sort_unstable_by_key(|memo| std::cmp::Reverse(memo.id));
    let base = links::member(&member.id);
    let address = |before: SessionId| format!("{base}?before={before}");
    let path = before.map_or_else(|| base.clone(), address);
    let frame = Frame::new(SiteContext::of(&request), member_name(&member), path)
        .showing(part_title(&kind(&member), "before", before));
    let memo = |memo: &swarm_core::domain::Memo| {
        (times.day(memo.published_at.day()), links::memo(memo.id), memo_title(memo))
    };
    let page = MemberPage {
        frame: frame
            .below("/swarm/members", "Members")
            .with_description(&first_words(member.lens.as_str(), 200))
            .with_feed("Takes and memos of this member", format!("{base}/feed.xml"))
            .article(),
        files: [".csv", ".json"].map(|suffix| format!("{base}{suffix}")),
        active: member.state.is_active(),
        owed: owes.map(|owes| Owed::new(owes, &subjects, times)),
        sealed: found.takes.len().saturating_sub(takes.len()),
        joined: member.joined_at.map(|joined| times.day(joined.day())),
        lens: (!member.lens.as_str().trim().is_empty())
            .then(|| markdown(member.lens.as_str(), HeadingLevel::H1)),
        figures: figures(&takes, listed, expected),
        compared_over: listed.map(|_| comparison.results),
        record: RecordView::of(&record),
        charts: charts(&takes, request.portion.of(MAX_CHARTS), &subjects, times),
        takes: takes.iter().map(|take| line(take, &subjects, times)).collect(),
        api_record: format!("/api/swarm/members/{}/record", links::part(member.id.as_str())),
        every_take: format!("/swarm/takes?member={}", links::part(member.id.as_str())),
        later: before.is_some(),
        next: found.next_before.map(address),
        memos: memos.iter().take(most_memos).map(memo).collect(),
        every_memo: (memos.len() > most_memos)
            .then(|| format!("/swarm/memos?member={}", links::part(member.id.as_str()))),
        key: member
            .public_key
            .as_ref()
            .filter(|_| member.state != MemberState::Rejected)
            .map(ToString::to_string),
        path: base.clone(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// The open sessions that expect the member and in which it has not filed, the soonest deadline first; and the number of
/// those in which it has. Sessions for practice expect nobody.
async fn owes(
    request: &RequestContext,
    member: &Member,
) -> Result<(Vec<Arc<SessionSummary>>, usize), Error> {
    let tenant = request.tenant();
    let (mut owed, mut filed) = (Vec::new(), 0);
    let mut overview = request.served.overview().await;
    let expecting = |session: &SessionSummary| session.counts() && session.has_roster;
    let open = overview.open_sessions(tenant, expecting, MAX_OWED).await?;
    drop(overview);
    for session in open {
        // It may have been withdrawn meanwhile.
        let record = Error::if_any(tenant.session_record(session.id).await)?;
        if !record.is_some_and(|session| session.expects(&member.id)) {
            continue;
        }
        let before = Some(SessionId(session.id.0.saturating_add(1)));
        let latest = tenant.member_takes(&member.id, before, 1).await?.takes;
        match latest.first().is_some_and(|take| take.session.id == session.id) {
            true => filed += 1,
            false => owed.push(session),
        }
    }
    Ok((owed, filed))
}

impl Owed {
    fn new(
        (sessions, filed): (Vec<Arc<SessionSummary>>, usize),
        subjects: &Subjects,
        times: TimeFormatter,
    ) -> Self {
        let row = |session: &Arc<SessionSummary>| {
            let deadline = stage_text::deadline(session, times);
            let subject = subjects.link(&session.subject_id);
            (links::session(session.id), times.day(session.date), subject, deadline)
        };
        Self { sessions: sessions.iter().map(row).collect(), filed }
    }
}

/// The takes that are not sealed, newest session first.
pub(super) fn open(takes: &[TakeInSession]) -> Vec<OpenTake> {
    let open = takes.iter().filter_map(|filed| {
        let take = Arc::clone(filed.take.open()?);
        Some(OpenTake { take, session: Arc::clone(&filed.session), counting: filed.counting })
    });
    let mut open: Vec<_> = open.collect();
    open.sort_by_key(|filed| std::cmp::Reverse((filed.session.date, filed.session.id)));
    open
}

impl OpenTake {
    /// The position of the stance, if it has a rank.
    fn position(&self) -> Option<RankedPosition> {
        RankedPosition::of_take(self.session.declaration.scale(), &self.take)
    }

    /// The position of the stance, if the take counts in a snapshot.
    pub(super) fn counted(&self) -> Option<RankedPosition> {
        let counts = self.counting == Some(Counting::Counted) && self.session.counts();
        self.position().filter(|_| counts)
    }
}

/// `Member` or `Former member`, and the beginning of the id: members may share a name.
fn kind(member: &Member) -> String {
    const MAX_ID: usize = 9;
    let active = if member.state.is_active() { "Member" } else { "Former member" };
    format!("{active} {}", clipped(member.id.as_str(), MAX_ID))
}

/// How the member compares with the others in these sessions.
fn compared<'a>(takes: impl IntoIterator<Item = &'a OpenTake>) -> MemberFigures {
    let counted = takes.into_iter();
    member_figures(counted.filter_map(|it| Some((it.counted()?, it.session.figures.as_ref()?))))
}

/// The median time between a take and the deadline of its session, in milliseconds.
fn time_before_deadline(takes: &[OpenTake]) -> Option<i64> {
    let left = |filed: &OpenTake| {
        Some(filed.session.window_closes_at?.millis() - filed.take.filed_at.millis())
    };
    let counted = takes.iter().filter(|filed| filed.session.counts());
    let mut left: Vec<_> = counted.filter_map(left).collect();
    left.sort_unstable();
    left.get(left.len() / 2).copied()
}

/// The figures of the list of members, if it has the member; those that nothing is known of are left out.
fn figures(
    takes: &[OpenTake],
    listed: Option<&ComparedMember>,
    (filed_when, (filed, expected)): (&'static str, (usize, usize)),
) -> Vec<(&'static str, String)> {
    let MemberFigures { distance, decided, against } = match listed {
        Some(&ComparedMember { distance, decided, against, .. }) => {
            MemberFigures { distance, decided, against }
        }
        None => compared(takes),
    };
    let of = |part: usize, of: usize| (of > 0).then(|| format!("{part} of {of}"));
    let rows = [
        (filed_when, of(filed, expected)),
        ("mean distance from the others, 0–4", distance.map(|far| format!("{far:.2}"))),
        ("against the consensus", of(against, decided)),
        (
            "median time before the deadline, takes on this page",
            time_before_deadline(takes).map(|left| span(left.max(0))),
        ),
    ];
    rows.into_iter().filter_map(|(label, figure)| Some((label, figure?))).collect()
}

/// A chart for each subject, those with the most recent takes first.
fn charts(
    takes: &[OpenTake],
    most: usize,
    subjects: &Subjects,
    times: TimeFormatter,
) -> Vec<SubjectChart> {
    let takes: Vec<_> = takes.iter().filter(|filed| filed.session.counts()).collect();
    let mut ids: Vec<&SubjectId> = Vec::new();
    for take in &takes {
        if !ids.contains(&&take.session.subject_id) {
            ids.push(&take.session.subject_id);
        }
    }
    let chart = |id: &SubjectId| {
        let of_subject = takes.iter().rev().filter(|take| take.session.subject_id == *id);
        let of_subject: Vec<_> = of_subject.copied().collect();
        let figures = compared(of_subject.iter().copied());
        let changes = stance_changes(of_subject.iter().map(|it| &it.take.draft().stance));
        SubjectChart {
            subject: subjects.link(id),
            chart: line_chart(&of_subject, times),
            rows: of_subject.iter().rev().filter_map(|filed| row(filed, times)).collect(),
            facts: subject_facts(of_subject.len(), changes, &figures),
        }
    };
    ids.into_iter().take(most).map(chart).collect()
}

/// `8 takes · changed stance twice · 0.84 from the others · against the consensus in 1 of 5`
fn subject_facts(takes: usize, changes: usize, figures: &MemberFigures) -> String {
    let takes = count(takes, "take", "takes");
    let changes = match changes {
        0 => "never changed stance".to_owned(),
        1 => "changed stance once".to_owned(),
        2 => "changed stance twice".to_owned(),
        many => format!("changed stance {many} times"),
    };
    let distance = figures.distance.map(|far| format!("{far:.2} from the others"));
    let MemberFigures { against, decided, .. } = figures;
    let against =
        (*decided > 0).then(|| format!("against the consensus in {against} of {decided}"));
    let facts = [Some(takes), Some(changes), distance, against];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A row of the table; `None` for a stance that the chart does not show.
fn row(filed: &OpenTake, times: TimeFormatter) -> Option<(Markup, String, f64)> {
    let RankedPosition { confidence, .. } = filed.position()?;
    let stance = filed.take.draft().stance.as_str().to_owned();
    Some((times.day(filed.session.date), stance, confidence))
}

/// The takes with known stances, oldest first, as a chart.
fn line_chart(takes: &[&OpenTake], times: TimeFormatter) -> Option<Markup> {
    let point = |filed: &&OpenTake| {
        let RankedPosition { rank, confidence } = filed.position()?;
        let day = times.day_text(filed.session.date);
        Some(Point {
            rank,
            confidence,
            title: format!("{day}: {} {confidence:.2}", filed.take.draft().stance),
            day: (day_number(filed.session.date)?, day),
            href: links::take(filed.take.id),
        })
    };
    let points: Vec<_> = takes.iter().filter_map(point).collect();
    let (first, last) = (points.first()?, points.last()?);
    let label = match points.len() {
        1 => format!("Stance on {}", first.day.1),
        count => format!("Stances in {count} sessions, from {} to {}", first.day.1, last.day.1),
    };
    let known = takes.iter().filter(|filed| filed.position().is_some());
    let axis = StanceAxis::of(known.map(|filed| filed.session.declaration.scale()));
    Some(member_line(&points, &axis, &label))
}

fn line(filed: &OpenTake, subjects: &Subjects, times: TimeFormatter) -> Line {
    let draft = filed.take.draft();
    Line {
        day: times.day(filed.session.date),
        session: links::session(filed.session.id),
        take: links::take(filed.take.id),
        subject: subjects.link(&filed.session.subject_id),
        words: match &filed.take.withheld {
            Some(mark) => withheld_text(mark),
            None => first_words(draft.body.as_str(), MAX_EXCERPT),
        },
        remark: no_result_text(&filed.session).or(filed.counting.and_then(uncounted_text)),
        stance: stance::on_scale(
            filed.session.declaration.scale(),
            &draft.stance,
            Some(draft.confidence),
        ),
    }
}
