//! `/swarm/sessions/<id>`: a session, its takes, roster and history.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{
    Brief, LogEntry, LogLine, RosterEntry, SessionEntry, SessionSummary, Snapshot,
};
use swarm_core::json::Json;
use swarm_core::rules::{PublicTake, resolve};
use swarm_core::{Error, MemberId, Session, TakeId};

use super::acts::{self, Terms};
use super::charts::{Shares, shares_of, stance_field};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::key_figures::KeyFigures;
use super::lists::{Named, StanceRow, TakeView, number_param, part_title};
use super::markup::{Markup, clipped};
use super::outcome::{OutcomeView, QuestionView};
use super::people::People;
use super::time_text::TimeFormatter;
use super::{links, lists, stage_text, take};
use crate::request::RequestContext;
use crate::response::Reply;

/// Takes per page, and maximum number of members named in a line.
const PER_PAGE: usize = 15;
const NAMED: usize = 60;

/// Maximum number of members listed one by one in the table below the chart.
const LISTED: usize = 30;

/// Maximum number of members named in the chart.
const IN_CHART: usize = 120;

/// Longest excerpt of a prompt, in letters.
const PROMPT: usize = 4_000;

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    frame: Frame,
    id: String,
    subject: (String, String),
    stage: String,
    /// Why it counts for nothing, with the operator's note.
    no_result: Option<(Markup, String)>,
    /// Whether a take filed now would count.
    open: bool,
    aggregated: bool,
    /// Whether what members filed is not shown yet.
    sealed: bool,
    date: Markup,
    deadline: Markup,
    question: Option<QuestionView>,
    figures: KeyFigures,
    outcome: Option<OutcomeView>,
    field: Option<Field>,
    weights: Option<Shares>,
    takes: Vec<TakeView>,
    later: bool,
    next: Option<String>,
    roster: Option<Expected>,
    acts: Vec<Act>,
    brief: Option<BriefView>,
    /// The sessions of the subject before and after this one.
    earlier: Option<(String, Markup)>,
    following: Option<(String, Markup)>,
    /// The command that verifies the newest take.
    verify: Option<String>,
}

struct Field {
    chart: Markup,
    /// `1 bearish, 4 cautious`
    counts: String,
    /// The table: a row for each member, or of many members a row for each stance.
    members: Vec<StanceRow>,
    stances: Vec<(String, String, String)>,
}

struct Expected {
    missing: Named,
    excused: Named,
}

struct Act {
    when: Markup,
    what: String,
}

struct BriefView {
    when: Markup,
    href: String,
    prompt: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let before = number_param(&request, "before")?.map(TakeId);
    let tenant = request.tenant();
    let (session, filed) = tenant.session_filed(request.session_id()?).await?;
    let brief = tenant.brief(session.id).await?;
    let entries = tenant.acts_on(session.id).await?;
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let mut counted = resolve(&filed);
    counted.sort_unstable_by_key(|take| std::cmp::Reverse(take.id()));
    let shown: Vec<_> = counted
        .iter()
        .filter(|take| before.is_none_or(|before| take.id() < before))
        .take(PER_PAGE + 1)
        .collect();
    let (shown, rest) = shown.split_at(shown.len().min(PER_PAGE));
    let listed = session.roster.as_ref().map(|roster| split(roster.entries(), &counted));
    let people = people(&request, &session, &counted, shown, listed.as_ref(), &entries).await?;
    let expected = listed.map(|(missing, excused)| Expected {
        missing: Named::new(&missing, NAMED, &people),
        excused: Named::new(&excused, NAMED, &people),
    });
    let snapshot = session.snapshot.as_deref();
    let view = |take: &&PublicTake| {
        TakeView::new(take, &people, times).after(take, &filed).counted_in(take, snapshot)
    };
    let address = |before: TakeId| format!("{}?before={before}", links::session(session.id));
    let path = before.map_or_else(|| links::session(session.id), address);
    let here = format!("{}, {}", subject.1, times.day_text(session.date));
    let part = part_title(&format!("Session {}", session.id), "before take", before);
    let title = format!("{part}: {here}");
    let summary = session.summary();
    let stage = stage_text::stage_of(&summary, times);
    let [earlier, next_of_subject] = tenant.neighbours(session.id, &session.subject_id).await?;
    let neighbour =
        |session: Arc<SessionSummary>| (links::session(session.id), times.day(session.date));
    let site = SiteContext::of(&request);
    let page = SessionPage {
        id: session.id.to_string(),
        stage: match stage_text::mark(&summary) {
            Some("void") => "void".to_owned(),
            Some(mark) => format!("{mark}, {}", stage_text::word(stage)),
            None => stage_text::word(stage).to_owned(),
        },
        no_result: no_result(&session, times),
        open: stage.takes_count(),
        aggregated: snapshot.is_some(),
        sealed: session.is_sealed(),
        date: TimeFormatter::weekday(session.date),
        deadline: stage_text::deadline(&summary, times),
        question: QuestionView::of(&session.question, times),
        figures: KeyFigures::of(&session, &counted, times),
        outcome: OutcomeView::of(&session, &people, times),
        earlier: earlier.map(neighbour),
        following: next_of_subject.map(neighbour),
        field: field(snapshot, session.voided.is_some(), &counted, &people),
        weights: snapshot.filter(|_| session.voided.is_none()).and_then(shares),
        takes: shown.iter().map(view).collect(),
        later: before.is_some(),
        next: shown.last().filter(|_| !rest.is_empty()).map(|last| address(last.id())),
        roster: expected,
        acts: acts(&entries, &people, times),
        brief: brief.map(|brief| brief_view(&brief, times)),
        verify: counted
            .first()
            .and_then(PublicTake::open)
            .map(|newest| take::command(&site, newest)),
        frame: Frame::new(site, title, path)
            .below("/swarm/sessions", "Sessions")
            .called(&here)
            .with_description(&super::feed::summary(&summary, times))
            .pictured(session.id)
            .article(),
        subject,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The members of the roster that have not filed, and those excused.
fn split<'a>(
    entries: &'a [RosterEntry],
    counted: &[PublicTake],
) -> (Vec<&'a MemberId>, Vec<&'a MemberId>) {
    let filed = |id: &MemberId| counted.iter().any(|take| take.member_id() == id);
    let (excused, expected): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.excused);
    let ids = |entries: Vec<&'a RosterEntry>| entries.into_iter().map(|entry| &entry.member_id);
    (ids(expected).filter(|id| !filed(id)).collect(), ids(excused).collect())
}

/// The members named on the page.
async fn people(
    request: &RequestContext,
    session: &Session,
    counted: &[PublicTake],
    shown: &[&PublicTake],
    listed: Option<&(Vec<&MemberId>, Vec<&MemberId>)>,
    entries: &[LogLine],
) -> Result<People, Error> {
    let author = |take: &PublicTake| take.member_id().clone();
    let mut ids: Vec<_> = shown.iter().map(|take| author(take)).collect();
    if counted.len() <= IN_CHART {
        ids.extend(counted.iter().map(author));
        let quotes = session.snapshot.iter().flat_map(|snapshot| &snapshot.quotes);
        ids.extend(quotes.map(|quote| quote.member_id.clone()));
    }
    ids.extend(session_entries(entries).filter_map(excused_member).take(NAMED));
    if let Some((missing, excused)) = listed {
        ids.extend(missing.iter().take(NAMED).map(|id| (*id).clone()));
        ids.extend(excused.iter().take(NAMED).map(|id| (*id).clone()));
    }
    People::find(request.tenant(), &ids).await
}

/// Why the session counts for nothing, and the operator's note; `None` if it counts.
fn no_result(session: &Session, times: TimeFormatter) -> Option<(Markup, String)> {
    match &session.voided {
        Some(voided) => {
            let since = times.time(voided.at);
            let text = format!("Void since {since}. What it found counts for nothing.");
            Some((Markup(text), clipped(voided.note.as_str(), 500)))
        }
        None => session.practice.then(|| {
            let text = "For practice: every active member may file here, and nothing of it counts.";
            (Markup::text(text), String::new())
        }),
    }
}

/// The stance field of the counted takes: of the snapshot, or so far. That of a void session has no score.
fn field(
    snapshot: Option<&Snapshot>,
    is_void: bool,
    counted: &[PublicTake],
    people: &People,
) -> Option<Field> {
    let consensus =
        snapshot.filter(|_| !is_void).and_then(|snapshot| snapshot.figures.consensus.as_ref());
    let mut rows: Vec<StanceRow> = match snapshot {
        Some(snapshot) => {
            snapshot.quotes.iter().map(|quote| StanceRow::of_quote(quote, people)).collect()
        }
        None => {
            let open = counted.iter().filter_map(PublicTake::open);
            open.map(|take| StanceRow::of_take(take, people)).collect()
        }
    };
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| (b.rank().cmp(&a.rank())).then(b.confidence.total_cmp(&a.confidence)));
    let dots: Vec<_> = rows.iter().filter_map(StanceRow::dot).collect();
    let chart = stance_field(&dots, consensus.map(|consensus| consensus.score));
    let counts = lists::counts_of(rows.iter().map(|row| row.stance.as_str())).words();
    Some(if rows.len() <= LISTED {
        Field { chart, counts, members: rows, stances: Vec::new() }
    } else {
        Field { chart, counts, stances: by_stance(&rows), members: Vec::new() }
    })
}

fn by_stance(rows: &[StanceRow]) -> Vec<(String, String, String)> {
    let row = |stance: &'static str| {
        let sure: Vec<_> =
            rows.iter().filter(|row| row.stance == stance).map(|row| row.confidence).collect();
        let count = u32::try_from(sure.len()).unwrap_or(u32::MAX).max(1);
        let mean = sure.iter().sum::<f64>() / f64::from(count);
        (stance.to_owned(), sure.len().to_string(), format!("{mean:.2}"))
    };
    super::charts::STANCES.into_iter().rev().map(row).collect()
}

fn shares(snapshot: &Snapshot) -> Option<Shares> {
    let weights = snapshot.weights.as_ref()?;
    let bar = |weight: &swarm_core::domain::BucketWeight| {
        (weight.bucket.as_str().to_owned(), weight.weight)
    };
    let named: Vec<_> = weights.iter().map(bar).collect();
    Some(shares_of(&named, |share| format!("{:.1} %", share * 100.0), "Mean shares of the buckets"))
}

/// The acts of operators and of the schedule on the session and its takes.
fn acts(entries: &[LogLine], people: &People, times: TimeFormatter) -> Vec<Act> {
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
fn session_entries(entries: &[LogLine]) -> impl Iterator<Item = &SessionEntry> {
    entries.iter().filter_map(|line| match &line.entry {
        LogEntry::Session(entry) => Some(&**entry),
        _ => None,
    })
}

fn excused_member(entry: &SessionEntry) -> Option<MemberId> {
    entry.excuse.as_ref().map(|excuse| excuse.member_id.clone())
}

fn brief_view(brief: &Brief, times: TimeFormatter) -> BriefView {
    let prompt = match brief.body.clone() {
        Json::Object(mut body) => body.take("prompt"),
        _ => None,
    };
    let user = prompt.and_then(|prompt| prompt.into_object().text("user").ok());
    BriefView {
        when: times.time(brief.created_at),
        href: format!("/api/swarm/brief?session={}", brief.session_id),
        prompt: clipped(&user.unwrap_or_default(), PROMPT),
    }
}
