//! `/swarm/sessions/<id>`: a session: its result, who disagrees, its takes, who has not filed, and the last acts on it.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{
    Brief, LogLine, Method, RosterEntry, SessionAct, SessionSummary, Snapshot,
};
use swarm_core::json::Json;
use swarm_core::rules::{PublicTake, Stage, dissent, resolve};
use swarm_core::wire::Problem;
use swarm_core::{Error, MemberId, Refusal, Session, SessionId};

use super::charts::{Counts, Mean, Shares, float, shares_of, stance_field};
use super::citation::Citation;
use super::disagreement::{self, Alike, Moves, Sides};
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::key_figures::KeyFigures;
use super::lists::{MAX_EXCERPT, Named, StanceRow, TakeView};
use super::markup::{Markup, clipped};
use super::outcome::{OutcomeView, QuestionView};
use super::people::People;
use super::session_history::{History, acts, excused_members, session_entries};
use super::session_roster::roster_path;
use super::take_list::{ListedTake, Place};
use super::time_text::TimeFormatter;
use super::{card, declaration, links, lists, stage_text, take};
use crate::request::RequestContext;
use crate::request::portion::Portion;
use crate::response::{Answer, Reply};
use crate::tenants::OwnFigure;

/// Maximum number of members named in a line, and of members listed with their scores.
const NAMED: usize = 24;
const SCORED: usize = 20;

/// Length of all excerpts of takes on a page together, and of one at least, in characters.
const EXCERPTS: usize = 6_000;
const MIN_EXCERPT: usize = 110;

/// Maximum number of members of a stance named in the table below the chart.
const LISTED: usize = 10;

/// Maximum number of members named in the chart.
const IN_CHART: usize = 250;

/// Maximum number of buckets in the chart of weights and in its table.
const BUCKETS: usize = 24;

/// Longest excerpt of a prompt, in letters.
const PROMPT: usize = 1_500;

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    frame: Frame,
    id: String,
    subject: (String, String),
    stage: String,
    /// Why it counts for nothing, with the operator's note.
    no_result: Option<(Markup, String)>,
    /// Whether it is announced or open.
    is_open: bool,
    is_void: bool,
    /// When the takes of a blind session were opened.
    opened: Option<Markup>,
    /// Whether a take filed now would count.
    open: bool,
    /// The newer session of the day and subject that takes go to.
    hidden_by: Option<SessionId>,
    aggregated: bool,
    /// Figures of the program around the service.
    own: Vec<OwnFigure>,
    /// Whether what members filed is not shown yet.
    sealed: bool,
    date: Markup,
    deadline: Markup,
    question: Option<QuestionView>,
    /// The declaration of the session about its takes: labels and values.
    declared: Vec<(&'static str, String)>,
    /// How its score comes about, if it has one.
    score: Option<String>,
    figures: KeyFigures,
    outcome: Option<OutcomeView>,
    field: Option<Field>,
    sides: Option<Sides>,
    moves: Option<Moves>,
    weights: Option<Shares>,
    /// The texts that begin like another one, and all texts.
    alike: Option<(usize, usize)>,
    /// Before there is a result, the number of takes with weights.
    weighted: usize,
    /// The orders of the takes: in words, and the address, unless it is this page.
    orders: Vec<(&'static str, Option<String>)>,
    takes: Vec<ListedTake>,
    later: bool,
    next: Option<String>,
    roster: Option<Expected>,
    history: History,
    roster_path: String,
    brief: Option<BriefView>,
    /// The sessions of the subject before and after this one.
    earlier: Option<(String, Markup)>,
    following: Option<(String, Markup)>,
    citation: Option<Citation>,
    /// The number of takes, revisions too, whose texts are withheld.
    withheld: usize,
    /// The command that verifies the newest take.
    verify: Option<String>,
}

struct Field {
    chart: Markup,
    /// `1 bearish, 4 cautious`
    counts: String,
    mean: Option<Mean>,
    /// The table: a row for each stance that occurs.
    rows: Vec<FieldRow>,
}

struct FieldRow {
    stance: Markup,
    count: usize,
    mean: f64,
    /// The members, highest confidence first, and how many more there are.
    members: Vec<StanceRow>,
    more: usize,
}

struct Expected {
    missing: Named,
    excused: Named,
}

struct BriefView {
    when: Markup,
    href: String,
    prompt: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let place = Place::of(&request)?;
    let tenant = request.tenant();
    let id = request.session_id()?;
    let (session, filed) = match tenant.session_filed(id).await {
        Ok(found) => found,
        Err(error @ Error::Refused(Refusal::NotFound(_))) => {
            return withdrawn(&request, id, times).await?.ok_or_else(|| error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let brief = tenant.brief(session.id).await?;
    let entries = tenant.acts_on(session.id).await?;
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let mut counted = resolve(&filed);
    // Of takes that are sealed nothing is known but when they were filed.
    let place = place.in_order_of(&session);
    let scale = session.declaration.scale();
    place.sort(scale, &mut counted);
    let own = match &request.served.config().figures {
        Some(figures) if place.is_first() => figures.of_session(&session, &counted).await,
        _ => Vec::new(),
    };
    let portion = request.portion;
    let (shown, next) = place.part(&counted, portion);
    let listed = session.roster.as_ref().map(|roster| split(roster.entries(), &counted));
    let snapshot = session.snapshot.as_deref();
    let counting = snapshot.filter(|_| session.voided.is_none());
    let consensus = counting.and_then(|snapshot| snapshot.figures.consensus.as_ref());
    let expected_takes = lists::expected_takes(&session, &counted);
    let voices = disagreement::voices(scale, snapshot, &expected_takes);
    let texts = disagreement::voices(scale, None, &counted);
    let alike = Alike::of(&texts);
    let last = disagreement::last_result(tenant, &session).await?;
    let mut named = disagreement::quoted_members(&voices);
    named.extend(disagreement::moved_members(last.as_deref(), &voices));
    let people =
        people(&request, &session, &counted, shown, listed.as_ref(), &entries, named).await?;
    let expected = listed.map(|(missing, excused)| Expected {
        missing: Named::new(&missing, portion.of(NAMED), &people),
        excused: Named::new(&excused, portion.of(NAMED), &people),
    });
    let room = portion.of(EXCERPTS) / shown.len().max(1);
    let room = room.clamp(portion.of(MIN_EXCERPT), MAX_EXCERPT);
    let view = |take: &PublicTake| {
        let words = take.open().filter(|take| take.withheld.is_none());
        TakeView::excerpted((scale, take), room, &people, times)
            .after(take, &filed)
            .counted_in(take, &session)
            .with_remark(words.and_then(|take| alike.text(take.draft().body.as_str())))
    };
    let base = links::session(session.id);
    let here = (subject.1.as_str(), times.day_text(session.date));
    let part = place.title(&format!("Session {}", session.id));
    let title = format!("{part}: {}, {}", here.0, here.1);
    let summary = session.summary();
    let stage = stage_text::stage_of(&summary, times);
    let hidden_by = match stage.takes_count() {
        true => tenant.newest_of_day(session.date, &session.subject_id).await?,
        false => None,
    };
    let hidden_by = hidden_by.filter(|newest| *newest != session.id);
    let [earlier, next_of_subject] = tenant.neighbours(&summary).await?;
    let neighbour =
        |session: Arc<SessionSummary>| (links::session(session.id), times.day(session.date));
    let site = SiteContext::of(&request);
    let embedded_at = card::oembed_address(&site, session.id);
    let page = SessionPage {
        id: session.id.to_string(),
        stage: stage_text::flagged(&summary, times),
        is_open: matches!(stage, Stage::Scheduled | Stage::Open),
        is_void: session.voided.is_some(),
        opened: session.opened_at.map(|opened| times.time(opened)),
        no_result: no_result(&session, times),
        open: stage.takes_count() && hidden_by.is_none(),
        hidden_by,
        aggregated: snapshot.is_some(),
        own: own.into_iter().take(OwnFigure::MAX).collect(),
        sealed: session.is_sealed(),
        date: TimeFormatter::weekday(session.date),
        deadline: stage_text::deadline_text(&summary, times),
        question: QuestionView::of(&session.question, times),
        declared: declaration::facts(&session.declaration),
        score: consensus.map(|_| declaration::score(&session.declaration)),
        figures: KeyFigures::of(&session, &counted, hidden_by.is_some(), times),
        outcome: OutcomeView::of(&session, portion.of(SCORED), &people, times)
            .filter(|_| place.is_first()),
        earlier: earlier.map(neighbour),
        following: next_of_subject.map(neighbour),
        field: field(&session, &expected_takes, portion, &people).filter(|_| place.is_first()),
        sides: Sides::of(scale, &voices, &alike, &people).filter(|_| place.is_first()),
        moves: last
            .filter(|_| place.is_first())
            .and_then(|last| Moves::of((&last, &session), &voices, portion, &people, times)),
        alike: alike.total(),
        weighted: match snapshot {
            Some(_) => 0,
            None => {
                let open = expected_takes.iter().filter_map(PublicTake::open);
                open.filter(|take| take.draft().weights.is_some()).count()
            }
        },
        orders: place.links(&session, counted.len(), &base),
        weights: snapshot
            .filter(|_| session.voided.is_none() && place.is_first())
            .and_then(|snapshot| shares(snapshot, portion.of(BUCKETS))),
        takes: place.listed(scale, shown, &voices, view),
        later: !place.is_first(),
        next: next.map(|next| next.address(&base)),
        roster: expected,
        history: History::new(session.id, acts(&entries, &people, times), portion),
        roster_path: roster_path(session.id),
        brief: brief.map(|brief| brief_view(&brief, portion.of(PROMPT), times)),
        citation: Citation::of_session(
            &site,
            &session,
            &card::title(&summary, &subject.1),
            &entries,
            times,
        ),
        withheld: filed.iter().filter(|take| take.withheld().is_some()).count(),
        verify: counted
            .iter()
            .max_by_key(|take| take.id())
            .and_then(PublicTake::open)
            .map(|newest| take::command(&site, newest)),
        frame: Frame::new(site, title, place.canonical(&base))
            .below("/swarm/sessions", "Sessions")
            .called(here)
            .with_description(&super::feed::summary(&summary, times))
            .pictured(session.id)
            .embedded_at(embedded_at)
            .article(),
        subject,
    };
    Ok(html(StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "session_withdrawn.html")]
struct WithdrawnPage {
    frame: Frame,
    subject: (String, String),
    date: Markup,
    history: History,
}

/// The page of a session that was withdrawn, which the log alone remembers; `None` if there was none with this id.
async fn withdrawn(
    request: &RequestContext,
    id: SessionId,
    times: TimeFormatter,
) -> Result<Option<Answer>, Error> {
    let tenant = request.tenant();
    let entries = tenant.acts_on(id).await?;
    let last = session_entries(&entries).last();
    let Some(last) = last.filter(|entry| entry.act == SessionAct::Withdrawn) else {
        return Ok(None);
    };
    let people = People::find(tenant, &excused_members(&entries)).await?;
    let title = format!("Session {id} was withdrawn");
    let frame = Frame::new(SiteContext::of(request), title, links::session(id));
    let page = WithdrawnPage {
        frame: frame.below("/swarm/sessions", "Sessions"),
        subject: lists::subject(tenant, &last.session.subject_id).await?,
        date: times.day(last.session.date),
        history: History::new(id, acts(&entries, &people, times), request.portion),
    };
    Ok(Some(html(StatusCode::NOT_FOUND, &page).of_problem(Problem::NotFound)))
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
    shown: &[PublicTake],
    listed: Option<&(Vec<&MemberId>, Vec<&MemberId>)>,
    entries: &[LogLine],
    mut ids: Vec<MemberId>,
) -> Result<People, Error> {
    let author = |take: &PublicTake| take.member_id().clone();
    ids.extend(shown.iter().map(author));
    if counted.len() <= IN_CHART {
        ids.extend(counted.iter().map(author));
        let quotes = session.snapshot.iter().flat_map(|snapshot| &snapshot.quotes);
        ids.extend(quotes.map(|quote| quote.member_id.clone()));
    }
    ids.extend(excused_members(entries));
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

/// The stance field of the takes that count: of the snapshot, or so far. That of a void session has no score.
fn field(
    session: &Session,
    counted: &[PublicTake],
    portion: Portion,
    people: &People,
) -> Option<Field> {
    let (scale, snapshot) = (session.declaration.scale(), session.snapshot.as_deref());
    let mean = snapshot.filter(|_| session.voided.is_none()).and_then(mean);
    let mut rows: Vec<StanceRow> = match snapshot {
        Some(snapshot) => {
            snapshot.quotes.iter().map(|quote| StanceRow::of_quote(scale, quote, people)).collect()
        }
        None => {
            let open = counted.iter().filter_map(PublicTake::open);
            open.map(|take| StanceRow::of_take(scale, take, people)).collect()
        }
    };
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| (b.place().cmp(&a.place())).then(b.confidence.total_cmp(&a.confidence)));
    let dots: Vec<_> = rows.iter().filter_map(StanceRow::dot).collect();
    let chart = stance_field(scale, &dots, mean);
    let counts = Counts::of_each(scale, rows.iter().map(|row| &row.stance)).words();
    Some(Field { chart, counts, mean, rows: by_stance(rows, portion.of(LISTED)) })
}

/// The mean of a result, and the mean distance of the members from it.
fn mean(snapshot: &Snapshot) -> Option<Mean> {
    let figures = &snapshot.figures;
    let consensus = figures.consensus.as_ref()?;
    let score = consensus.score;
    Some(Mean {
        score,
        distance: dissent(&figures.stances, score)?,
        is_median: consensus.method == Some(Method::WeightedMedian),
        is_consensus: figures.quorum.as_ref().is_none_or(|quorum| quorum.met),
    })
}

/// The members by stance, of which those that aggregation does not know come last. They are sorted by stance and
/// confidence.
fn by_stance(members: Vec<StanceRow>, most: usize) -> Vec<FieldRow> {
    let mut rows: Vec<FieldRow> = Vec::new();
    for member in members {
        let is_of = |row: &&mut FieldRow| {
            row.members.first().is_some_and(|first| first.place() == member.place())
        };
        match rows.iter_mut().find(is_of) {
            Some(row) => {
                row.mean += (member.confidence - row.mean) / float(row.count + 1);
                row.count += 1;
                if row.members.len() < most {
                    row.members.push(member);
                } else {
                    row.more += 1;
                }
            }
            None => rows.push(FieldRow {
                stance: match member.place() {
                    Some(_) => member.word(),
                    None => Markup::text("other"),
                },
                count: 1,
                mean: member.confidence,
                members: vec![member],
                more: 0,
            }),
        }
    }
    rows
}

fn shares(snapshot: &Snapshot, most: usize) -> Option<Shares> {
    let weights = snapshot.weights.as_ref()?;
    let bar = |weight: &swarm_core::domain::BucketWeight| {
        (weight.bucket.as_str().to_owned(), weight.weight)
    };
    let named: Vec<_> = weights.iter().map(bar).collect();
    Some(shares_of(
        &named,
        most,
        |share| format!("{:.1} %", share * 100.0),
        "Mean shares of the buckets",
    ))
}

fn brief_view(brief: &Brief, room: usize, times: TimeFormatter) -> BriefView {
    let prompt = match brief.body.clone() {
        Json::Object(mut body) => body.take("prompt"),
        _ => None,
    };
    let user = prompt.and_then(|prompt| prompt.into_object().text("user").ok());
    BriefView {
        when: times.time(brief.created_at),
        href: format!("/api/swarm/brief?session={}", brief.session_id),
        prompt: clipped(&user.unwrap_or_default(), room),
    }
}
