//! `/swarm/members/<id>`: a member, its stances on each subject over time, how it compares with the others,
//! its takes and memos.

use std::sync::Arc;

use askama::Template;
use futures_util::future::try_join_all;
use http::StatusCode;
use swarm_core::domain::{MemberState, SubjectId};
use swarm_core::rules::{MemberFigures, member_figures, stance_changes};
use swarm_core::{Error, Member, MemberId, SessionId, Tenant};

use super::charts::{Point, member_line};
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{Subjects, memo_title, number_param, part_title};
use super::markdown::{HeadingLevel, first_words, markdown};
use super::markup::{Markup, clipped};
use super::member_takes::{self, MemberTake};
use super::people::member_name;
use super::time_text::{Reading, day_number, span};
use super::{links, stance};
use crate::request::RequestContext;
use crate::response::Reply;

/// Number of sessions that a page looks through.
const SESSIONS: usize = 60;

/// Maximum number of takes whose time of filing is compared with the deadline.
const MAX_TIMED: usize = 20;

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
    joined: Option<Markup>,
    lens: Option<Markup>,
    /// Labels and figures.
    figures: Vec<(&'static str, String)>,
    charts: Vec<SubjectChart>,
    takes: Vec<Line>,
    /// The address of all its takes.
    every_take: String,
    later: bool,
    next: Option<String>,
    memos: Vec<(Markup, String, String)>,
    key: Option<String>,
    /// The paths of the takes as CSV and JSON.
    files: [String; 2],
}

/// The member's stances on one subject.
struct SubjectChart {
    subject: (String, String),
    chart: Option<Markup>,
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
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let member = tenant.member(&request.member_id(swarm_core::Resource::Member)?).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let found = tenant.sessions(SESSIONS, before).await?;
    let takes = member_takes::find(tenant, &member.id, &found.sessions).await?;
    let ids = takes.iter().map(|take| &take.session.subject_id);
    let subjects = Subjects::find(tenant, ids).await?;
    let mut memos = tenant.memos_of(&member.id).await?;
    memos.sort_unstable_by_key(|memo| std::cmp::Reverse(memo.id));
    let base = links::member(&member.id);
    let address = |before: SessionId| format!("{base}?before={before}");
    let path = before.map_or_else(|| base.clone(), address);
    let frame = Frame::new(SiteContext::of(&request), member_name(&member), path)
        .showing(part_title(&kind(tenant, &member).await?, "before", before));
    let memo = |memo: &swarm_core::domain::Memo| {
        (reading.day(memo.published_at.day()), links::memo(memo.id), memo_title(memo))
    };
    let compared = member_figures(&member.id, found.sessions.iter().map(AsRef::as_ref));
    let page = MemberPage {
        frame: frame
            .below("/swarm/members", "Members")
            .described(&first_words(member.lens.as_str(), 200))
            .with_feed("Takes and memos of this member", format!("{base}/feed.xml"))
            .article(),
        files: [".csv", ".json"].map(|suffix| format!("{base}{suffix}")),
        active: member.state.is_active(),
        joined: member.joined_at.map(|joined| reading.day(joined.day())),
        lens: (!member.lens.as_str().trim().is_empty())
            .then(|| markdown(member.lens.as_str(), HeadingLevel::H1)),
        figures: figures(&compared, time_before_deadline(tenant, &takes).await?),
        charts: charts(&member.id, &takes, &subjects, reading),
        takes: takes.iter().map(|take| line(take, &subjects, reading)).collect(),
        every_take: format!("/swarm/takes?member={}", links::part(member.id.as_str())),
        later: before.is_some(),
        next: found.next_before.map(address),
        memos: memos.iter().take(MAX_MEMOS).map(memo).collect(),
        key: member
            .public_key
            .as_ref()
            .filter(|_| member.state != MemberState::Rejected)
            .map(ToString::to_string),
        path: base.clone(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// `Member` or `Former member`, with the id if another member has the same name.
async fn kind(tenant: &Tenant, member: &Member) -> Result<String, Error> {
    const MAX_ID: usize = 9;
    let members = tenant.members().await?;
    let name = member_name(member);
    let is_twin = |other: &&Arc<Member>| other.id != member.id && member_name(other) == name;
    let active = if member.state.is_active() { "Member" } else { "Former member" };
    Ok(match members.iter().find(is_twin) {
        Some(_) => format!("{active} {}", clipped(member.id.as_str(), MAX_ID)),
        None => active.to_owned(),
    })
}

/// The median time between a take and the deadline of its session, of the newest takes, in milliseconds.
async fn time_before_deadline(tenant: &Tenant, takes: &[MemberTake]) -> Result<Option<i64>, Error> {
    let timed = takes.iter().filter(|take| take.session.window_closes_at.is_some());
    let read = timed.take(MAX_TIMED).map(|take| async move {
        let on_file = tenant.take(take.take).await?;
        let deadline = take.session.window_closes_at;
        Ok::<_, Error>(deadline.map(|it| it.millis() - on_file.take.filed_at.millis()))
    });
    let mut left: Vec<_> = try_join_all(read).await?.into_iter().flatten().collect();
    left.sort_unstable();
    Ok(left.get(left.len() / 2).copied())
}

fn figures(compared: &MemberFigures, before: Option<i64>) -> Vec<(&'static str, String)> {
    let MemberFigures { expected, filed, distance, decided, against } = *compared;
    let of = |part: usize, of: usize| (of > 0).then(|| format!("{part} of {of}"));
    let rows = [
        ("filed when expected", of(filed, expected)),
        ("mean distance from the others, 0–4", distance.map(|far| format!("{far:.2}"))),
        ("against the consensus", of(against, decided)),
        ("median time before the deadline", before.map(|left| span(left.max(0)))),
    ];
    rows.into_iter().filter_map(|(label, figure)| Some((label, figure?))).collect()
}

/// A chart for each subject, those with the most recent takes first.
fn charts(
    member: &MemberId,
    takes: &[MemberTake],
    subjects: &Subjects,
    reading: Reading,
) -> Vec<SubjectChart> {
    let mut ids: Vec<&SubjectId> = Vec::new();
    for take in takes {
        if !ids.contains(&&take.session.subject_id) {
            ids.push(&take.session.subject_id);
        }
    }
    let chart = |id: &SubjectId| {
        let of_subject = takes.iter().rev().filter(|take| take.session.subject_id == *id);
        let of_subject: Vec<_> = of_subject.collect();
        let sessions = of_subject.iter().map(|take| take.session.as_ref());
        let figures = member_figures(member, sessions);
        let changes = stance_changes(of_subject.iter().map(|take| &take.stance));
        SubjectChart {
            subject: subjects.link(id),
            chart: line_chart(&of_subject, reading),
            facts: subject_facts(of_subject.len(), changes, &figures),
        }
    };
    ids.into_iter().take(MAX_CHARTS).map(chart).collect()
}

/// `8 takes · changed stance twice · 0.84 from the others · against the consensus in 1 of 5`
fn subject_facts(takes: usize, changes: usize, figures: &MemberFigures) -> String {
    let takes = if takes == 1 { "1 take".to_owned() } else { format!("{takes} takes") };
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

/// The takes with known stances, oldest first, as a chart.
fn line_chart(takes: &[&MemberTake], reading: Reading) -> Option<Markup> {
    let point = |take: &&MemberTake| {
        let rank = stance::rank(take.stance.as_str())?;
        let day = reading.day_text(take.session.date);
        let confidence = take.confidence.get();
        Some(Point {
            rank,
            confidence,
            title: format!("{day}: {} {confidence:.2}", take.stance),
            day: (day_number(take.session.date)?, day),
            href: links::take(take.take),
        })
    };
    let points: Vec<_> = takes.iter().filter_map(point).collect();
    let (first, last) = (points.first()?, points.last()?);
    let label = match points.len() {
        1 => format!("Stance on {}", first.day.1),
        count => format!("Stances in {count} sessions, from {} to {}", first.day.1, last.day.1),
    };
    Some(member_line(&points, &label))
}

fn line(take: &MemberTake, subjects: &Subjects, reading: Reading) -> Line {
    Line {
        day: reading.day(take.session.date),
        session: links::session(take.session.id),
        take: links::take(take.take),
        subject: subjects.link(&take.session.subject_id),
        words: first_words(take.body.as_str(), MAX_EXCERPT),
        remark: take.remark,
        stance: stance::stance(&take.stance, take.confidence),
    }
}
