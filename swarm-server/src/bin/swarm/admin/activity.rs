//! The takes that members filed lately, read from the end of the public log: a bounded number of requests, however long the log
//! is.

use std::collections::HashMap;

use swarm_core::Timestamp;
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
        let mut by_member = HashMap::new();
        let (mut after, mut oldest) = (start, None);
        let progress = Progress::of_requests();
        loop {
            progress.add(1);
            let entries = entries(operator, after, PAGE)?;
            let Some(last) = entries.last() else { break };
            after = number(last, "seq")?;
            for entry in &entries {
                let at = Timestamp::parse("at", &text_of(entry, "at"))?;
                oldest = oldest.or(Some(at));
                if text_of(entry, "kind") != "take" {
                    continue;
                }
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
        Ok(Self { by_member })
    }

    /// When a member filed last, and how many takes in the last 30 days.
    pub(super) fn of(&self, member: &str) -> (Option<Timestamp>, u64) {
        self.by_member.get(member).map_or((None, 0), |filed| (Some(filed.last), filed.lately))
    }
}

/// The number of the last entry.
fn size(operator: &Operator) -> Result<u64, CommandError> {
    Ok(operator.calls().status()?.log.size.0)
}

fn entries(operator: &Operator, after: u64, limit: u64) -> Result<Vec<Json>, CommandError> {
    let page = operator.get(&format!("/api/swarm/log?after={after}&limit={limit}"))?;
    match page.into_object().take("entries") {
        Some(Json::List(entries)) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}

fn number(of: &Json, field: &str) -> Result<u64, CommandError> {
    let text = text_of(of, field);
    text.parse().map_err(|_| CommandError::Refused(format!("the log has the {field} {text:?}")))
}
