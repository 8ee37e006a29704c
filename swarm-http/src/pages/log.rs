//! `/swarm/log`: the log by day, newest first, with takes of a session folded together, and filtered by kind.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use swarm_core::domain::{Day, LogEntry, LogLine, MemoId, Seq};
use swarm_core::service::{LogFilter, LogQuery, PageEntry};
use swarm_core::{Error, SessionId, Tenant};

use super::acts;
use super::frame::{Frame, SiteContext, html, time_formatter};
use super::lists::{number_param, part_title};
use super::markup::Markup;
use super::people::People;
use super::time_text::TimeFormatter;
use crate::request::RequestContext;
use crate::response::Reply;

/// Entries per page.
const PER_PAGE: usize = 40;

/// Number of entries read at a time to find those of some kinds, and maximum number of such reads for one page.
const SCANNED_AT_ONCE: u64 = 500;
const MAX_SCANS: usize = 4;

/// The number of takes of a session on a day from which on they are folded together.
const FOLDED: usize = 3;

/// The filters: their words, and the kinds of entries.
const FILTERS: [(&str, &str); 8] = [
    ("Everything", ""),
    ("Takes", "take,take-mark,opening"),
    ("Sessions", "session"),
    ("Members", "member"),
    ("Memos", "memo"),
    ("Subjects", "subject,subject-snapshot"),
    ("Context", "regime,signal"),
    ("Operation", "operation"),
];

/// The filter of tenants with a committee.
const COMMITTEE: (&str, &str) = ("Committee", "committee-day,committee-take");

#[derive(Template)]
#[template(path = "log.html")]
struct LogPage {
    frame: Frame,
    /// The filters: words, addresses, and whether each is chosen.
    chips: Vec<(&'static str, String, bool)>,
    days: Vec<DayOfLog>,
    is_filtered: bool,
    later: bool,
    first: String,
    next: Option<String>,
}

/// The entries of a day.
struct DayOfLog {
    day: Markup,
    rows: Vec<Row>,
}

/// An entry, or several that are alike.
enum Row {
    One(EntryRow),
    /// What they are, their numbers, and all of them.
    Many(String, String, Vec<EntryRow>),
}

struct EntryRow {
    seq: u64,
    /// The path of the entry as JSON.
    href: String,
    when: Markup,
    what: Markup,
    /// The path of its proof, if it is a take in a signed log.
    proof: Option<String>,
}

/// What entries have in common that are folded together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fold {
    /// Takes that were filed in a session.
    Filed(SessionId),
    /// Takes that were opened.
    Opened,
}

/// Entries that may be folded together, and what they have in common.
type Group = (Option<Fold>, Vec<EntryRow>);

async fn is_retracted(tenant: &Tenant, memo: MemoId) -> Result<bool, Error> {
    Ok(Error::if_any(tenant.memo(memo).await)?.is_none())
}

pub(crate) async fn page(request: RequestContext) -> Reply {
    let times = time_formatter(&request).await?;
    let tenant = request.tenant();
    let before = number_param(&request, "before")?;
    let kinds = request.filter("kind", LogFilter::kinds)?.unwrap_or_default();
    let size = tenant.log_size().await?.0;
    let end = before.map_or(size, |before| size.min(before.saturating_sub(1)));
    let (entries, start) = newest(tenant, &kinds, end, request.portion.of(PER_PAGE)).await?;
    let people = acts::people(tenant, &entries).await?;
    let mut rows = Vec::with_capacity(entries.len());
    let is_signed = request.served.signed_log().is_some();
    for entry in &entries {
        let line = entry.line();
        let is_retracted = match line.and_then(|line| acts::published_memo(&line.entry)) {
            Some(memo) => is_retracted(tenant, memo).await?,
            None => false,
        };
        rows.push((line, row(entry, is_retracted, &people, times, is_signed)));
    }
    let address = |kinds: &str, before: Option<u64>| {
        let kinds = (!kinds.is_empty()).then(|| format!("kind={kinds}"));
        let before = before.map(|before| format!("before={before}"));
        let query: Vec<_> = kinds.into_iter().chain(before).collect();
        let joint = if query.is_empty() { "" } else { "?" };
        format!("/swarm/log{joint}{}", query.join("&"))
    };
    let named = kinds.join(",");
    let committee = request.served.committee.is_served().then_some(COMMITTEE);
    let chips = FILTERS.into_iter().chain(committee);
    let chips = chips.map(|(word, of)| (word, address(of, None), of == named));
    let title = if named.is_empty() { "Log".to_owned() } else { format!("Log: {named}") };
    let page = LogPage {
        chips: chips.collect(),
        days: days(rows),
        is_filtered: !kinds.is_empty(),
        later: before.is_some(),
        first: address(&named, None),
        next: (start > 0).then(|| address(&named, Some(start + 1))),
        frame: Frame::new(
            SiteContext::of(&request),
            part_title(&title, "before", before),
            address(&named, before),
        ),
    };
    Ok(html(StatusCode::OK, &page))
}

/// The newest entries of these kinds, of all if none is named, up to the one with the number `end`, newest first and `most` of
/// them; and the number after which they were looked for.
async fn newest(
    tenant: &Tenant,
    kinds: &[&str],
    end: u64,
    most: usize,
) -> Result<(Vec<PageEntry>, u64), Error> {
    let at_once = if kinds.is_empty() { most as u64 } else { SCANNED_AT_ONCE };
    let (mut found, mut end) = (Vec::new(), end);
    for _ in 0..MAX_SCANS {
        let start = end.saturating_sub(at_once);
        let count = usize::try_from(end - start).unwrap_or_default();
        if count == 0 {
            break;
        }
        let page = tenant.log(&LogQuery::all(Seq(start), count)).await?;
        for entry in page.entries.into_iter().rev() {
            let kind = entry.line().map(|line| line.entry.kind());
            let is_selected = kinds.is_empty() || kind.is_some_and(|kind| kinds.contains(&kind));
            if !is_selected {
                continue;
            }
            let seq = entry.seq().0;
            found.push(entry);
            if found.len() == most {
                return Ok((found, seq.saturating_sub(1)));
            }
        }
        end = start;
    }
    Ok((found, end))
}

fn row(
    entry: &PageEntry,
    is_retracted: bool,
    people: &People,
    times: TimeFormatter,
    is_signed: bool,
) -> EntryRow {
    let seq = entry.seq().0;
    let href = format!("/api/swarm/log?after={}&limit=1", seq.saturating_sub(1));
    let Some(line) = entry.line() else {
        let what = Markup::text("cannot be read: what it is about is gone from the store");
        return EntryRow { seq, href, when: Markup::text("?"), what, proof: None };
    };
    let proof = match &line.entry {
        LogEntry::Take(take) if is_signed => Some(format!("/api/swarm/takes/{}/proof", take.id)),
        _ => None,
    };
    let what = acts::describe(line, is_retracted, people, times);
    EntryRow { seq, href, when: TimeFormatter::clock(line.at), what, proof }
}

/// The rows by day. Of entries that are alike, the newest says where they are.
fn days(rows: Vec<(Option<&LogLine>, EntryRow)>) -> Vec<DayOfLog> {
    let mut days: Vec<(Option<Day>, Vec<Group>)> = Vec::new();
    for (line, row) in rows {
        // What cannot be read is of the day of the entry after it.
        let last = days.last().and_then(|(day, _)| *day);
        let day = line.map(|line| line.at.day()).or(last);
        if days.is_empty() || last != day {
            days.push((day, Vec::new()));
        }
        let Some((_, groups)) = days.last_mut() else { continue };
        let fold = line.and_then(fold);
        let known = groups.iter_mut().find(|(other, _)| fold.is_some() && *other == fold);
        match known {
            Some((_, group)) => group.push(row),
            None => groups.push((fold, vec![row])),
        }
    }
    let day = |(day, groups): (Option<Day>, Vec<Group>)| DayOfLog {
        day: day.map_or_else(|| Markup::text("Unknown"), TimeFormatter::weekday),
        rows: folded(groups),
    };
    days.into_iter().map(day).collect()
}

fn fold(line: &LogLine) -> Option<Fold> {
    match &line.entry {
        LogEntry::Take(take) => Some(Fold::Filed(take.session_id)),
        LogEntry::Opening(_) => Some(Fold::Opened),
        _ => None,
    }
}

fn folded(groups: Vec<Group>) -> Vec<Row> {
    // Few entries that are alike stay where they are.
    let mut rows = BTreeMap::new();
    for (fold, group) in groups {
        let (newest, oldest) = (group.first().map(|row| row.seq), group.last().map(|row| row.seq));
        let Some((newest, oldest)) = newest.zip(oldest) else { continue };
        match fold.filter(|_| group.len() >= FOLDED) {
            Some(fold) => {
                let count = group.len();
                let what = match fold {
                    Fold::Filed(id) => format!("{count} takes filed in session {id}"),
                    Fold::Opened => format!("{count} takes opened"),
                };
                let has_others = newest - oldest >= count as u64;
                let joint = if has_others { " … " } else { "–" };
                let numbers = format!("{oldest}{joint}{newest}");
                rows.insert(newest, Row::Many(what, numbers, group));
            }
            None => rows.extend(group.into_iter().map(|row| (row.seq, Row::One(row)))),
        }
    }
    rows.into_values().rev().collect()
}
