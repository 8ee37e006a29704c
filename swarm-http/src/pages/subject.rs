//! `/swarm/subjects/<id>`: a subject, its score and value over time, its sessions and its record.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::SessionId;
use swarm_core::domain::{Day, Memo, SessionSummary, Stances, SubjectId, SubjectSnapshot};
use swarm_core::rules::{MemoFilter, Stage, dissent};
use swarm_core::store::SessionList;

use super::charts::{Mark, Score, StanceAxis, Timeline, Value, subject_lines};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{SessionRow, memo_title, number_param, part_title, subject_title};
use super::markup::{Markup, clipped};
use super::result::ResultView;
use super::subject_card::dollars;
use super::subject_record::record;
use super::time_text::{TimeFormatter, day_number};
use super::{feed, links, outcome, stage_text};
use crate::request::RequestContext;
use crate::request::portion::Portion;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 20;

/// Number of days of the committee that are looked through for those about the subject.
const COMMITTEE_DAYS: usize = 40;

/// Maximum number of snapshots in the chart and its table, of positions and of notes.
const MAX_SNAPSHOTS: usize = 30;
const MAX_POSITIONS: usize = 12;
const MAX_NOTES: usize = 12;

/// Longest thesis, in letters.
const MAX_BLURB: usize = 1_000;

/// Maximum number of memos in the chart.
const MAX_MEMOS: usize = 24;

#[derive(Template)]
#[template(path = "subject.html")]
struct SubjectPage {
    frame: Frame,
    path: String,
    /// The addresses of its memos and of its takes.
    memos: String,
    takes: String,
    status: String,
    blurb: Option<String>,
    latest: Option<Latest>,
    /// The session that closes first: its path, its day and its deadline.
    ahead: Option<(String, Markup, Markup)>,
    chart: Option<Markup>,
    /// Whether the chart has scores, and whether it has values.
    has_scores: bool,
    has_values: bool,
    has_memos: bool,
    /// Days of sessions and their results, latest first.
    scores: Vec<(Markup, String)>,
    /// Days and values, latest first.
    values: Vec<(Markup, String)>,
    holdings: Option<Holdings>,
    sessions: Vec<SessionRow>,
    /// Whether a session of the page has the stances of the service.
    has_service_stances: bool,
    /// Whether a strip has a segment of other stances.
    has_other: bool,
    /// The ranking on this subject, if a session has an outcome.
    ranking: Option<String>,
    later: bool,
    next: Option<String>,
    /// Days of the committee about it: paths and days.
    committee: Vec<(String, Markup)>,
    /// The paths of the sessions as CSV and JSON.
    files: [String; 2],
    /// The path of their deadlines as a calendar.
    calendar: String,
    /// Labels and values.
    record: Vec<(&'static str, Markup)>,
    /// The path of the record as JSON.
    api_record: String,
    /// When one of the sessions on the page last changed: for print.
    as_of: Option<Markup>,
}

/// The latest result.
struct Latest {
    /// The path of the session.
    href: String,
    score: String,
    stance: Markup,
    agreement: String,
    day: Markup,
}

impl Latest {
    /// Returns the result of the latest day, of these sessions whose result counts and met its quorum.
    fn of(sessions: &[Arc<SessionSummary>], times: TimeFormatter) -> Option<Self> {
        let latest = sessions.iter().filter_map(|session| {
            let figures = session.figures.as_ref().filter(|_| session.counts())?;
            let result = ResultView::of(figures).filter(|it| it.quorum_missed.is_none())?;
            Some((session, result))
        });
        let (session, result) = latest.max_by_key(|(session, _)| (session.date, session.id))?;
        Some(Self {
            href: links::session(session.id),
            score: result.score,
            stance: result.stance,
            agreement: result.agreement,
            day: times.day(session.date),
        })
    }
}

struct Holdings {
    day: Markup,
    positions: Vec<(String, String, String, String)>,
    more: usize,
    notable: Vec<String>,
    href: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let subject = tenant.subject(&request.subject_id()?).await?;
    let snapshots = tenant.snapshots(&subject.id).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let list = SessionList::About(subject.id.clone());
    let found = tenant.summaries(list, before, request.portion.of(PER_PAGE)).await?;
    let base = links::subject_path(&subject.id);
    let address = |before: SessionId| format!("{base}?before={before}");
    let path = before.map_or_else(|| base.clone(), address);
    let (session_days, scores) = scores(&found.sessions, times);
    let values = values(&snapshots, request.portion.of(MAX_SNAPSHOTS));
    let of_subject = MemoFilter { subject: Some(subject.id.clone()), ..MemoFilter::default() };
    let memos = tenant.memo_page(&of_subject, None, request.portion.of(MAX_MEMOS)).await?.memos;
    let is_open = |session: &&Arc<SessionSummary>| {
        let stage = stage_text::stage_of(session, times);
        session.counts()
            && matches!(stage, Stage::Open | Stage::Scheduled)
            && session.is_newest_of_its_day(&found.sessions)
    };
    let open = found.sessions.iter().filter(is_open).min_by_key(|session| session.date);
    let open = open.map(|session| (session.date, stage_text::stage_of(session, times).word()));
    let first = found.sessions.iter().filter(is_open).min_by_key(|session| {
        (session.window_closes_at.is_none(), session.window_closes_at, session.id)
    });
    let ahead = first.filter(|_| before.is_none()).map(|session| {
        let deadline = stage_text::deadline(session, times);
        (links::session(session.id), times.day(session.date), deadline)
    });
    let has_outcome = found.sessions.iter().any(|session| outcome::listed(session).is_some());
    let days = request.tenant_committee().days_about(&subject.id, COMMITTEE_DAYS).await?;
    let row = |session: &Arc<SessionSummary>| SessionRow::without_subject(session, times);
    let sessions: Vec<_> = found.sessions.iter().map(row).collect();
    let changed = found.sessions.iter().map(|session| feed::changed_at(session)).max();
    let frame = Frame::new(SiteContext::of(&request), subject_title(&subject), path);
    let page = SubjectPage {
        frame: frame
            .showing(part_title(&format!("Subject {}", subject.id), "before", before))
            .below("/swarm/subjects", "Subjects")
            .with_description(subject.thesis_blurb.as_deref().unwrap_or_default())
            .with_feed("Sessions and takes on this subject", format!("{base}/feed.xml")),
        committee: days.iter().map(|day| (links::committee(*day), times.day(*day))).collect(),
        files: [".csv", ".json"].map(|suffix| format!("{base}{suffix}")),
        calendar: format!("{base}/deadlines.ics"),
        memos: format!("/swarm/memos?subject={}", links::part(subject.id.as_str())),
        takes: format!("/swarm/takes?subject={}", links::part(subject.id.as_str())),
        status: clipped(&subject.status, 30),
        blurb: subject.thesis_blurb.as_deref().map(|blurb| clipped(blurb, MAX_BLURB)),
        latest: Latest::of(&found.sessions, times).filter(|_| before.is_none()),
        ahead,
        ranking: has_outcome
            .then(|| format!("/swarm/ranking?subject={}", links::part(subject.id.as_str()))),
        has_scores: !scores.is_empty(),
        has_values: !values.is_empty(),
        scores: found.sessions.iter().filter_map(|session| score_row(session, times)).collect(),
        chart: chart(
            (&session_days, &scores, &axis(&found.sessions)),
            &values,
            &memos,
            open,
            times,
        ),
        has_memos: !memos.is_empty(),
        values: values.iter().rev().map(|it| (times.day(it.0), dollars(it.2))).collect(),
        holdings: snapshots
            .last()
            .map(|latest| holdings(latest, request.portion, &subject.id, times)),
        has_other: sessions.iter().any(|row| row.has_other),
        sessions,
        has_service_stances: found.sessions.iter().any(|it| it.declaration.stances.is_none()),
        later: before.is_some(),
        next: found.next_before.map(address),
        record: record(tenant, &subject, request.portion, times).await?,
        api_record: format!("/api{base}"),
        as_of: changed.map(|at| times.time(at)),
        path: base.clone(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// The scores of the sessions that have a consensus, oldest first, with their days.
fn scores(sessions: &[Arc<SessionSummary>], times: TimeFormatter) -> (Vec<Day>, Vec<Score>) {
    let score = |session: &Arc<SessionSummary>| {
        let figures = session.figures.as_ref().filter(|_| session.counts())?;
        let consensus = figures.consensus.as_ref()?;
        let words = ResultView::words(figures)?;
        let scale = figures.stances.scale();
        let score = Score {
            day: day_number(session.date)?,
            score: scale.normalized(consensus.score),
            dissent: scale.normalized_distance(dissent(&figures.stances, consensus.score)?),
            is_result: figures.quorum.as_ref().is_none_or(|quorum| quorum.met),
            counts: ranked(&figures.stances),
            title: format!("{}: {words}", times.day_text(session.date)),
            href: links::session(session.id),
        };
        Some((session.date, score))
    };
    let mut scores: Vec<_> = sessions.iter().filter_map(score).collect();
    scores.sort_by_key(|(_, score)| score.day);
    scores.into_iter().unzip()
}

/// The rank of each stance on the scale of the service, and the number of members that took it.
fn ranked(stances: &Stances) -> Vec<(f64, usize)> {
    let scale = stances.scale();
    stances.counts().map(|(stance, count)| (scale.normalized(stance.rank), count)).collect()
}

/// The axis of the scores of these sessions.
fn axis(sessions: &[Arc<SessionSummary>]) -> StanceAxis {
    let with_score = |session: &&Arc<SessionSummary>| {
        let figures = session.figures.as_ref().filter(|_| session.counts());
        figures.is_some_and(|figures| figures.consensus.is_some())
    };
    let sessions = sessions.iter().filter(with_score);
    StanceAxis::of(sessions.map(|session| session.declaration.scale()))
}

/// A row of the table of scores.
fn score_row(session: &SessionSummary, times: TimeFormatter) -> Option<(Markup, String)> {
    let figures = session.figures.as_ref().filter(|_| session.counts())?;
    Some((times.day(session.date), ResultView::words(figures)?))
}

/// The latest snapshots that have a value, oldest first: day, day number, US dollars.
fn values(snapshots: &[SubjectSnapshot], most: usize) -> Vec<(Day, i64, f64)> {
    let value = |snapshot: &SubjectSnapshot| {
        let draft = &snapshot.draft;
        Some((draft.date, day_number(draft.date)?, draft.total_value_usd?))
    };
    let mut values: Vec<_> = snapshots.iter().filter_map(value).collect();
    values.sort_by_key(|(_, day, _)| *day);
    values.split_off(values.len().saturating_sub(most))
}

/// Maximum number of days that are named below the chart.
const MAX_DAYS: usize = 4;

fn chart(
    (session_days, scores, axis): (&[Day], &[Score], &StanceAxis),
    values: &[(Day, i64, f64)],
    memos: &[Memo],
    open: Option<(Day, &'static str)>,
    times: TimeFormatter,
) -> Option<Markup> {
    let days = session_days.iter().copied().chain(values.iter().map(|value| value.0));
    let (first, last) = (days.clone().min()?, days.clone().max()?);
    let usd = values.iter().map(|value| value.2);
    let lowest = dollars(usd.clone().fold(f64::INFINITY, f64::min));
    let highest = dollars(usd.fold(f64::NEG_INFINITY, f64::max));
    let about = match (scores.len(), values.len()) {
        (_, 0) => format!("Scores of {} sessions", scores.len()),
        (0, _) => format!("Total value, between {lowest} and {highest}"),
        _ => format!(
            "Scores of {} sessions, and total value, between {lowest} and {highest}",
            scores.len()
        ),
    };
    let label = format!("{about}, from {} to {}", times.day_text(first), times.day_text(last));
    // What is older than the first session or value says nothing here.
    let memos: Vec<_> = memos.iter().filter_map(|memo| mark(memo, first, times)).collect();
    let memo_days = memos.iter().map(|memo| memo.0);
    let named = named_days(days.chain(memo_days).chain(open.map(|(day, _)| day)).collect(), times);
    let marks: Vec<_> = memos.into_iter().map(|(_, mark)| mark).collect();
    let point = |(date, day, usd): &(Day, i64, f64)| Value {
        day: *day,
        usd: *usd,
        title: format!("{}: {}", times.day_text(*date), dollars(*usd)),
    };
    let points: Vec<_> = values.iter().map(point).collect();
    Some(subject_lines(&Timeline {
        scores,
        axis,
        values: &points,
        memos: &marks,
        open: open.and_then(|(day, word)| Some((day_number(day)?, word))),
        days: &named,
        figures: (&lowest, &highest),
        last_value: &last_value(values, times),
        label: &label,
    }))
}

/// A memo as a mark, unless it is older than the chart.
fn mark(memo: &Memo, first: Day, times: TimeFormatter) -> Option<(Day, Mark)> {
    let day = memo.published_at.day();
    let title = format!("{}: {}", times.day_text(day), clipped(&memo_title(memo), 60));
    let mark = Mark { day: day_number(day)?, title, href: links::memo(memo.id) };
    (day >= first).then_some((day, mark))
}

/// The first and the last of these days and the nearest to even steps between them, in words.
fn named_days(mut days: Vec<Day>, times: TimeFormatter) -> Vec<(i64, String)> {
    days.sort_unstable();
    days.dedup();
    let known: Vec<_> = days.into_iter().filter_map(|day| Some((day, day_number(day)?))).collect();
    let (Some((_, first)), Some((_, last))) = (known.first(), known.last()) else {
        return Vec::new();
    };
    let steps = i64::try_from(MAX_DAYS - 1).unwrap_or(1);
    let mut named: Vec<(i64, String)> = Vec::new();
    for step in 0..=steps {
        let wish = first + (last - first) * step / steps;
        let nearest = known.iter().min_by_key(|(_, number)| (number - wish).abs());
        // Two that are nearer than an eighth of the whole would touch.
        let Some((day, number)) = nearest else { continue };
        let is_apart = |other: i64| (number - other).abs() * 8 > last - first;
        let before_last = step < steps && !is_apart(*last) && number != last;
        let touches = named.last().is_some_and(|(other, _)| !is_apart(*other));
        if !before_last && (!touches || named.is_empty()) {
            named.push((*number, times.day_text(*day)));
        }
    }
    named
}

/// `$1.24 M, +3.1 % since 20 Nov`: the last value, and what it changed since the one before.
fn last_value(values: &[(Day, i64, f64)], times: TimeFormatter) -> String {
    match values {
        [] => String::new(),
        [(_, _, only)] => dollars(*only),
        [.., (day, _, before), (_, _, last)] => {
            let change = (last / before - 1.0) * 100.0;
            let since = times.day_text(*day);
            match change.is_finite() && *before > 0.0 {
                true => {
                    let sign = if change < 0.0 { '−' } else { '+' };
                    format!("{}, {sign}{:.1} % since {since}", dollars(*last), change.abs())
                }
                false => dollars(*last),
            }
        }
    }
}

fn holdings(
    latest: &SubjectSnapshot,
    portion: Portion,
    subject: &SubjectId,
    times: TimeFormatter,
) -> Holdings {
    let draft = &latest.draft;
    let shown = portion.of(MAX_POSITIONS);
    let position = |position: &swarm_core::domain::Position| {
        (
            clipped(&position.token, 40),
            clipped(position.chain.as_deref().unwrap_or("–"), 30),
            position.value_usd.map_or("–".to_owned(), dollars),
            position.pct.map_or("–".to_owned(), percent),
        )
    };
    Holdings {
        day: times.day(draft.date),
        positions: draft.positions.iter().take(shown).map(position).collect(),
        more: draft.positions.len().saturating_sub(shown),
        notable: draft
            .notable
            .iter()
            .take(portion.of(MAX_NOTES))
            .map(|note| clipped(note, 500))
            .collect(),
        href: format!("/api/swarm/subjects/{}/snapshots", links::part(subject.as_str())),
    }
}

/// `80 %`, `−12.5 %`
fn percent(part: f64) -> String {
    let sign = if part < 0.0 { "−" } else { "" };
    format!("{sign}{} %", part.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_below_zero_have_the_minus_of_amounts() {
        for (part, text) in [(80.0, "80 %"), (-12.5, "−12.5 %"), (-0.0, "0 %")] {
            assert_eq!(percent(part), text);
        }
    }
}
