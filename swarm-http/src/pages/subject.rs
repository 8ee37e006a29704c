//! `/swarm/subjects/<id>`: a subject, its value over time, and its sessions.

use std::sync::Arc;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Subject, SubjectId, SubjectSnapshot};
use swarm_core::{Error, Session, SessionId, Tenant};

use super::charts::{Legend, Value, value_line};
use super::frame::{Frame, SiteContext, html, reading};
use super::links;
use super::lists::{SessionRow, Subjects, number_param, part_title, subject_title};
use super::markup::{Markup, clipped, escape};
use super::time_text::{Reading, day_number};
use crate::request::RequestContext;
use crate::response::Reply;

/// Sessions per page.
const PER_PAGE: usize = 30;

/// Maximum number of sessions of any subject that one request scans.
const MAX_SCANNED: usize = 200;

/// Maximum number of snapshots in the chart and its table, of positions and of notes.
const MAX_SNAPSHOTS: usize = 120;
const MAX_POSITIONS: usize = 12;
const MAX_NOTES: usize = 12;

#[derive(Template)]
#[template(path = "subject.html")]
struct SubjectPage {
    frame: Frame,
    path: String,
    status: String,
    blurb: Option<String>,
    value: Option<ValueView>,
    holdings: Option<Holdings>,
    sessions: Vec<SessionRow>,
    later: bool,
    next: Option<String>,
    /// Labels and values.
    record: Vec<(&'static str, Markup)>,
}

struct ValueView {
    chart: Markup,
    rows: Vec<(Markup, String)>,
}

struct Holdings {
    day: Markup,
    positions: Vec<(String, String, String, String)>,
    more: usize,
    notable: Vec<String>,
    href: String,
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let reading = reading(&request).await?;
    let tenant = request.tenant();
    let subject = tenant.subject(&request.subject_id()?).await?;
    let snapshots = tenant.snapshots(&subject.id).await?;
    let before = number_param(&request, "before")?.map(SessionId);
    let (sessions, next) = sessions(tenant, &subject.id, before).await?;
    // The rows name their sessions.
    let subjects = Subjects::default();
    let base = links::subject(&subject.id);
    let address = |before: SessionId| format!("{base}?before={before}");
    let path = before.map_or_else(|| base.clone(), address);
    let page = SubjectPage {
        frame: Frame::new(SiteContext::of(&request), subject_title(&subject), path)
            .showing(part_title("Subject", "before", before))
            .below("/swarm/subjects", "Subjects"),
        status: clipped(&subject.status, 30),
        blurb: subject.thesis_blurb.clone(),
        value: value(&snapshots, &sessions, reading),
        holdings: snapshots.last().map(|latest| holdings(latest, &subject.id, reading)),
        sessions: sessions.iter().map(|one| row(one, &subjects, reading)).collect(),
        later: before.is_some(),
        next: next.map(address),
        record: record(&subject, reading),
        path: base.clone(),
    };
    Ok(html(StatusCode::OK, &page))
}

/// A session labelled by its number, because the subject is the title of the page.
fn row(session: &Session, subjects: &Subjects, reading: Reading) -> SessionRow {
    let subject = format!("Session {}", session.id);
    SessionRow { subject, ..SessionRow::new(session, subjects, reading) }
}

/// The newest sessions of a subject before `before`, and where the next page starts.
async fn sessions(
    tenant: &Tenant,
    subject: &SubjectId,
    mut before: Option<SessionId>,
) -> Result<(Vec<Arc<Session>>, Option<SessionId>), Error> {
    let mut found = Vec::new();
    let mut scanned = 0;
    while found.len() < PER_PAGE && scanned < MAX_SCANNED {
        let page = tenant.sessions(PER_PAGE, before).await?;
        scanned += page.sessions.len();
        found.extend(page.sessions.into_iter().filter(|session| session.subject_id == *subject));
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    if found.len() > PER_PAGE {
        found.truncate(PER_PAGE);
        before = found.last().map(|last| last.id);
    }
    Ok((found, before))
}

fn value(
    snapshots: &[SubjectSnapshot],
    sessions: &[Arc<Session>],
    reading: Reading,
) -> Option<ValueView> {
    let mut valued: Vec<_> = snapshots
        .iter()
        .filter_map(|snapshot| {
            let usd = snapshot.draft.total_value_usd?;
            Some((snapshot.draft.date, day_number(snapshot.draft.date)?, usd))
        })
        .collect();
    valued.sort_by_key(|(_, day, _)| *day);
    let valued = valued.split_off(valued.len().saturating_sub(MAX_SNAPSHOTS));
    let (first, last) = (valued.first()?, valued.last()?);
    let lowest = valued.iter().map(|value| value.2).fold(f64::INFINITY, f64::min);
    let highest = valued.iter().map(|value| value.2).fold(f64::NEG_INFINITY, f64::max);
    let points: Vec<_> = valued
        .iter()
        .map(|(date, day, usd)| Value {
            day: *day,
            usd: *usd,
            title: format!("{}: {}", reading.day_text(*date), dollars(*usd)),
        })
        .collect();
    let ticks: Vec<_> = sessions.iter().filter_map(|session| day_number(session.date)).collect();
    let days = (reading.day_text(first.0), reading.day_text(last.0));
    let figures = (dollars(lowest), dollars(highest));
    let label = format!(
        "Total value from {} to {}, between {} and {}",
        days.0, days.1, figures.0, figures.1
    );
    let legend =
        Legend { days: (&days.0, &days.1), figures: (&figures.0, &figures.1), label: &label };
    let row = |(date, _, usd): &(_, _, f64)| (reading.day(*date), dollars(*usd));
    Some(ValueView {
        chart: value_line(&points, &ticks, &legend),
        rows: valued.iter().rev().map(row).collect(),
    })
}

fn holdings(latest: &SubjectSnapshot, subject: &SubjectId, reading: Reading) -> Holdings {
    let draft = &latest.draft;
    let position = |position: &swarm_core::domain::Position| {
        (
            clipped(&position.token, 40),
            clipped(position.chain.as_deref().unwrap_or("–"), 30),
            position.value_usd.map_or("–".to_owned(), dollars),
            position.pct.map_or("–".to_owned(), |part| format!("{part} %")),
        )
    };
    Holdings {
        day: reading.day(draft.date),
        positions: draft.positions.iter().take(MAX_POSITIONS).map(position).collect(),
        more: draft.positions.len().saturating_sub(MAX_POSITIONS),
        notable: draft.notable.iter().take(MAX_NOTES).map(|note| clipped(note, 500)).collect(),
        href: format!("/api/swarm/subjects/{}/snapshots", links::part(subject.as_str())),
    }
}

/// The fields of the record that have a value.
fn record(subject: &Subject, reading: Reading) -> Vec<(&'static str, Markup)> {
    let shown = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(plain);
    let homepage = subject.homepage.as_deref().map(|text| match links::web(text) {
        Some(href) => Markup(format!(
            "<a href=\"{0}\" rel=\"nofollow noopener\"><bdi>{0}</bdi></a>",
            escape(href)
        )),
        None => plain(text),
    });
    let notes: Vec<_> =
        subject.structural_notes.iter().take(MAX_NOTES).map(|note| plain(note).0).collect();
    let rows = [
        ("Id", Some(plain(subject.id.as_str()))),
        ("Operator", shown(&subject.operator)),
        ("Homepage", homepage),
        ("X", shown(&subject.x_handle)),
        ("Source", shown(&subject.source)),
        ("Recommendation", shown(&subject.recommendation_type)),
        ("Notes", (!notes.is_empty()).then(|| Markup(notes.join("<br>")))),
        ("Last reviewed", subject.last_reviewed.map(|day| reading.day(day))),
    ];
    rows.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

fn plain(text: &str) -> Markup {
    Markup(format!("<bdi>{}</bdi>", escape(&clipped(text, 1_000))))
}

/// A short amount: `$1.24 M`.
pub(super) fn dollars(amount: f64) -> String {
    let size = amount.abs();
    let (part, unit) = match size {
        size if size >= 1e15 => return format!("${amount:.2e}"),
        size if size >= 1e12 => (1e12, " T"),
        size if size >= 1e9 => (1e9, " B"),
        size if size >= 1e6 => (1e6, " M"),
        size if size >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    };
    let sign = if amount < 0.0 { "−" } else { "" };
    format!("{sign}${:.2}{unit}", size / part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (amount, text) in [
            (0.0, "$0.00"),
            (9_999.5, "$9999.50"),
            (12_345.0, "$12.35 k"),
            (-1_240_000.0, "−$1.24 M"),
            (7.5e9, "$7.50 B"),
            (1e300, "$1.00e300"),
        ] {
            assert_eq!(dollars(amount), text);
        }
    }
}
