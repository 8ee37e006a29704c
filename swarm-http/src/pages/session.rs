//! `/swarm/sessions/<id>`: a session, its takes, roster and history.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Brief, LogEntry, LogLine, RosterEntry, SessionEntry, Snapshot};
use swarm_core::json::Json;
use swarm_core::rules::resolve;
use swarm_core::{Error, MemberId, Session, Take, TakeId, Timestamp};

use super::acts::{self, Terms};
use super::charts::{Dot, signed, stance_field};
use super::frame::{Frame, SiteContext, html, reading};
use super::lists::{Named, TakeView, counts_of, number_param, part_title, state};
use super::markup::{Markup, clipped};
use super::people::People;
use super::shares::{Shares, shares_of};
use super::time_text::Reading;
use super::{links, lists, stance, take};
use crate::request::RequestContext;
use crate::response::Reply;

/// Takes per page, and maximum number of members named in a line.
const PER_PAGE: usize = 30;
const NAMED: usize = 60;

/// Maximum number of members listed one by one in the table below the chart.
const LISTED: usize = 120;

/// Longest excerpt of a prompt, in letters.
const PROMPT: usize = 4_000;

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    frame: Frame,
    id: String,
    subject: (String, String),
    state: &'static str,
    /// Whether takes can still come in.
    open: bool,
    aggregated: bool,
    date: Markup,
    deadline: Markup,
    /// Labels and figures.
    facts: Vec<(String, String)>,
    field: Option<Field>,
    weights: Option<Shares>,
    takes: Vec<TakeView>,
    later: bool,
    next: Option<String>,
    roster: Option<Expected>,
    acts: Vec<Act>,
    brief: Option<BriefView>,
    /// The command that verifies the newest take.
    verify: Option<String>,
}

struct Field {
    chart: Markup,
    is_by_member: bool,
    rows: Vec<(String, String, String)>,
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
    let reading = reading(&request).await?;
    let before = number_param(&request, "before")?.map(TakeId);
    let tenant = request.tenant();
    let (session, filed) = tenant.session_filed(request.session_id()?).await?;
    let brief = tenant.brief(session.id).await?;
    let entries = tenant.acts_on(session.id).await?;
    let subject = lists::subject(tenant, &session.subject_id).await?;
    let mut counted = resolve(&filed);
    counted.sort_unstable_by_key(|take| std::cmp::Reverse(take.id));
    let shown: Vec<_> = counted
        .iter()
        .filter(|take| before.is_none_or(|before| take.id < before))
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
    let view = |take: &&Arc<Take>| {
        TakeView::new(take, &people, reading).after(take, &filed).counted_in(take, snapshot)
    };
    let address = |before: TakeId| format!("{}?before={before}", links::session(session.id));
    let path = before.map_or_else(|| links::session(session.id), address);
    let here = format!("{}, {}", subject.1, reading.day_text(session.date));
    let part = part_title(&format!("Session {}", session.id), "before take", before);
    let title = format!("{part}: {here}");
    let (state, open) = state(&session, reading);
    let site = SiteContext::of(&request);
    let page = SessionPage {
        id: session.id.to_string(),
        state,
        open,
        aggregated: snapshot.is_some(),
        date: Reading::weekday(session.date),
        deadline: deadline(&session, reading),
        facts: facts(&session, &counted),
        field: field(snapshot, &counted, &people),
        weights: snapshot.and_then(shares),
        takes: shown.iter().map(view).collect(),
        later: before.is_some(),
        next: shown.last().filter(|_| !rest.is_empty()).map(|last| address(last.id)),
        roster: expected,
        acts: acts(&entries, &people, reading),
        brief: brief.map(|brief| brief_view(&brief, reading)),
        verify: counted.first().map(|newest| take::command(&site, newest)),
        frame: Frame::new(site, title, path)
            .below("/swarm/sessions", "Sessions")
            .called(&here)
            .article(),
        subject,
    };
    Ok(html(StatusCode::OK, &page))
}

/// The members of the roster that have not filed, and those excused.
fn split<'a>(
    entries: &'a [RosterEntry],
    counted: &[Arc<Take>],
) -> (Vec<&'a MemberId>, Vec<&'a MemberId>) {
    let filed = |id: &MemberId| counted.iter().any(|take| take.draft().member_id == *id);
    let (excused, expected): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.excused);
    let ids = |entries: Vec<&'a RosterEntry>| entries.into_iter().map(|entry| &entry.member_id);
    (ids(expected).filter(|id| !filed(id)).collect(), ids(excused).collect())
}

/// The members named on the page.
async fn people(
    request: &RequestContext,
    session: &Session,
    counted: &[Arc<Take>],
    shown: &[&Arc<Take>],
    listed: Option<&(Vec<&MemberId>, Vec<&MemberId>)>,
    entries: &[LogLine],
) -> Result<People, Error> {
    let author = |take: &Arc<Take>| take.draft().member_id.clone();
    let mut ids: Vec<_> = shown.iter().map(|take| author(take)).collect();
    if counted.len() <= LISTED {
        ids.extend(counted.iter().map(author));
        let quotes = session.snapshot.iter().flat_map(|snapshot| &snapshot.quotes);
        ids.extend(quotes.map(|quote| quote.member_id.clone()));
    }
    ids.extend(session_entries(entries).filter_map(|(_, entry)| excused_member(entry)).take(NAMED));
    if let Some((missing, excused)) = listed {
        ids.extend(missing.iter().take(NAMED).map(|id| (*id).clone()));
        ids.extend(excused.iter().take(NAMED).map(|id| (*id).clone()));
    }
    People::find(request.tenant(), &ids).await
}

/// `closed 20 Nov, 21:00 UTC`, or the time left.
pub(super) fn deadline(session: &Session, reading: Reading) -> Markup {
    let Some(deadline) = session.window_closes_at else {
        let text =
            if session.snapshot.is_some() { "no deadline was set" } else { "no deadline yet" };
        return Markup(text.to_owned());
    };
    let time = reading.time(deadline);
    Markup(match reading.left(deadline) {
        Some(left) => format!("closes {time}, in {left}"),
        None => format!("closed {time}"),
    })
}

/// The key figures: of the snapshot, or so far.
fn facts(session: &Session, counted: &[Arc<Take>]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let Some(snapshot) = session.snapshot.as_deref() else {
        let expected = session
            .roster
            .as_ref()
            .map(|roster| roster.entries().iter().filter(|entry| !entry.excused).count());
        facts.push(("filed so far".to_owned(), of(counted.len(), expected)));
        facts.push(("so far".to_owned(), counts_of(counted).words()));
        facts.extend(session.quorum.map(|quorum| ("quorum".to_owned(), quorum.to_string())));
        return facts;
    };
    if let Some(consensus) = &snapshot.consensus {
        let score = format!("consensus, {} of ±2", signed(consensus.score));
        facts.push((score, consensus.stance.to_owned()));
    }
    let participation = &snapshot.participation;
    let filed = match participation.expected {
        Some(_) => "expected members filed",
        None => "members filed",
    };
    facts.push((filed.to_owned(), of(participation.members, participation.expected)));
    if let Some(consensus) = &snapshot.consensus {
        facts.push(("mean confidence".to_owned(), format!("{:.2}", consensus.confidence)));
    }
    if let Some(quorum) = &snapshot.quorum {
        let met = if quorum.met { "met" } else { "missed" };
        facts.push((format!("quorum of {}", quorum.required), met.to_owned()));
    }
    facts
}

fn of(members: usize, expected: Option<usize>) -> String {
    expected.map_or(members.to_string(), |expected| format!("{members} of {expected}"))
}

/// The stance field of the counted takes: of the snapshot, or so far.
fn field(snapshot: Option<&Snapshot>, counted: &[Arc<Take>], people: &People) -> Option<Field> {
    let consensus = snapshot.and_then(|snapshot| snapshot.consensus.as_ref());
    let mut rows: Vec<(String, String, f64)> = match snapshot {
        Some(snapshot) => {
            let row = |quote: &swarm_core::domain::Quote| {
                let name = people.person(&quote.member_id).name;
                (name, quote.stance.as_str().to_owned(), quote.confidence.get())
            };
            snapshot.quotes.iter().map(row).collect()
        }
        None => {
            let row = |take: &Arc<Take>| {
                let draft = take.draft();
                let name = people.person(&draft.member_id).name;
                (name, draft.stance.as_str().to_owned(), draft.confidence.get())
            };
            counted.iter().map(row).collect()
        }
    };
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| (stance::rank(&b.1).cmp(&stance::rank(&a.1))).then(b.2.total_cmp(&a.2)));
    let dots: Vec<_> = rows
        .iter()
        .filter_map(|(name, stance, confidence)| {
            let rank = stance::rank(stance)?;
            Some(Dot { name: name.clone(), rank, confidence: *confidence })
        })
        .collect();
    let is_by_member = rows.len() <= LISTED;
    Some(Field {
        chart: stance_field(&dots, consensus.map(|consensus| consensus.score)),
        is_by_member,
        rows: if is_by_member { by_member(rows) } else { by_stance(&rows) },
    })
}

fn by_member(rows: Vec<(String, String, f64)>) -> Vec<(String, String, String)> {
    rows.into_iter().map(|(name, word, sure)| (name, word, format!("{sure:.2}"))).collect()
}

fn by_stance(rows: &[(String, String, f64)]) -> Vec<(String, String, String)> {
    let row = |stance: &'static str| {
        let sure: Vec<_> = rows.iter().filter(|row| row.1 == stance).map(|row| row.2).collect();
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

/// The acts of operators and of the schedule on the session.
fn acts(entries: &[LogLine], people: &People, reading: Reading) -> Vec<Act> {
    let mut before = None;
    let mut acts = Vec::with_capacity(entries.len());
    for (at, entry) in session_entries(entries) {
        let what = acts::act(entry, before.as_ref(), people, reading);
        acts.push(Act { when: reading.time(at), what });
        before = Some(Terms::of(&entry.session));
    }
    acts
}

/// The acts on a session, with their times.
fn session_entries(entries: &[LogLine]) -> impl Iterator<Item = (Timestamp, &SessionEntry)> {
    entries.iter().filter_map(|line| match &line.entry {
        LogEntry::Session(entry) => Some((line.at, &**entry)),
        _ => None,
    })
}

fn excused_member(entry: &SessionEntry) -> Option<MemberId> {
    entry.excuse.as_ref().map(|excuse| excuse.member_id.clone())
}

fn brief_view(brief: &Brief, reading: Reading) -> BriefView {
    let prompt = match brief.body.clone() {
        Json::Object(mut body) => body.take("prompt"),
        _ => None,
    };
    let user = prompt.and_then(|prompt| prompt.into_object().text("user").ok());
    BriefView {
        when: reading.time(brief.created_at),
        href: format!("/api/swarm/brief?session={}", brief.session_id),
        prompt: clipped(&user.unwrap_or_default(), PROMPT),
    }
}
