//! The takes that members filed lately, read from the end of the public log: a bounded number of requests, however long the log
//! is.

use std::collections::{BTreeMap, HashMap};

use swarm_core::Timestamp;
use swarm_core::domain::Day;
use swarm_core::json::Json;

use super::operator::Operator;
use crate::command::{Progress, note, now, text_of};
use crate::failure::CommandError;

/// The most entries that one request answers.
const PAGE: u64 = 1_000;

/// The most entries that are read.
const MAX_ENTRIES: u64 = 20 * PAGE;

/// The days that count as lately.
const DAYS: i64 = 30;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// The takes of the entries that were read.
pub(super) struct Activity {
    by_member: HashMap<String, Filed>,
    by_day: BTreeMap<Day, u64>,
}

/// The takes of a member.
struct Filed {
    last: Timestamp,
    lately: u64,
}

impl Activity {
    pub(super) fn read(operator: &Operator) -> Result<Self, CommandError> {
        let size = size(operator)?;
        let start = size.saturating_sub(MAX_ENTRIES);
        let since = now().plus_millis(-DAYS * DAY_MILLIS);
        let (mut by_member, mut by_day) = (HashMap::new(), BTreeMap::new());
        let (mut after, mut oldest) = (start, None);
        let progress = Progress::of_requests();
        loop {
            progress.add(1);
            let entries = entries(operator, after, PAGE)?;
            let Some(last) = entries.last() else { break };
            after = seq(last)?;
            for entry in &entries {
                let at = Timestamp::parse("at", &text_of(entry, "at"))?;
                oldest = oldest.or(Some(at));
                if text_of(entry, "kind") != "take" {
                    continue;
                }
                *by_day.entry(at.day()).or_default() += 1;
                let filed = by_member
                    .entry(text_of(entry, "memberId"))
                    .or_insert(Filed { last: at, lately: 0 });
                filed.last = at;
                filed.lately += u64::from(at >= since);
            }
            if after >= size {
                break;
            }
        }
        drop(progress);
        if start > 0 && oldest.is_some_and(|oldest| oldest > since) {
            note(&format!("counted in the last {MAX_ENTRIES} entries of the log alone"));
        }
        Ok(Self { by_member, by_day })
    }

    /// When a member filed last, and how many takes in the last 30 days.
    pub(super) fn of(&self, member: &str) -> (Option<Timestamp>, u64) {
        self.by_member.get(member).map_or((None, 0), |filed| (Some(filed.last), filed.lately))
    }

    /// The takes of each of the last seven days, today last.
    pub(super) fn by_day(&self) -> Vec<(Day, u64)> {
        let days = (0..7).rev().map(|ago| now().plus_millis(-ago * DAY_MILLIS).day());
        days.map(|day| (day, self.by_day.get(&day).copied().unwrap_or_default())).collect()
    }
}

/// The number of the last entry: by doubling, then by halves.
fn size(operator: &Operator) -> Result<u64, CommandError> {
    let has_more = |after| entries(operator, after, 1).map(|entries| !entries.is_empty());
    let mut above = 1;
    while has_more(above)? {
        above *= 2;
    }
    let mut below = 0;
    while below < above {
        let middle = below + (above - below) / 2;
        if has_more(middle)? { below = middle + 1 } else { above = middle }
    }
    Ok(above)
}

fn entries(operator: &Operator, after: u64, limit: u64) -> Result<Vec<Json>, CommandError> {
    let page = operator.get(&format!("/api/swarm/log?after={after}&limit={limit}"))?;
    match page.into_object().take("entries") {
        Some(Json::List(entries)) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}

fn seq(entry: &Json) -> Result<u64, CommandError> {
    let text = text_of(entry, "seq");
    text.parse().map_err(|_| CommandError::Refused(format!("a log entry with the number {text:?}")))
}
