//! The acts of the log, by operator, the newest first.

use swarm_core::domain::{LogLine, Seq};
use swarm_core::service::{LogQuery, PageEntry};

use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, anchor};
use crate::pages::acts;
use crate::pages::links::part;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Acts on a page.
const PER_PAGE: usize = 50;

/// Entries in one read, and the maximum number of reads for a page: many takes may come between two acts.
const AT_ONCE: u64 = 500;
const MAX_READS: usize = 8;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let (by, per_page) = (context.query("by"), context.request.portion.of(PER_PAGE));
    let size = tenant.log_size().await?.0;
    let before = context.query("before").and_then(|seq| number(&seq));
    let mut end = before.map_or(size, |before| size.min(before.saturating_sub(1)));
    let mut entries = Vec::new();
    'reads: for _ in 0..MAX_READS {
        let start = end.saturating_sub(AT_ONCE);
        let count = usize::try_from(end - start).unwrap_or_default();
        if count == 0 {
            break;
        }
        for entry in tenant.log(&LogQuery::all(Seq(start), count)).await?.entries.into_iter().rev()
        {
            end = entry.seq().0 - 1;
            let is_shown = entry
                .line()
                .and_then(|line| line.entry.by())
                .is_some_and(|actor| by.as_deref().is_none_or(|by| actor.as_str() == by));
            if is_shown {
                entries.push(entry);
            }
            if entries.len() == per_page {
                break 'reads;
            }
        }
    }
    let people = acts::people(tenant, &entries).await?;
    // A memo may be retracted by now, so it is not linked.
    let row = |line: &LogLine| {
        let what = acts::describe(line, true, &people, context.times);
        vec![context.times.time(line.at), what]
    };
    let rows = entries.iter().filter_map(PageEntry::line).map(row);
    let mut page = Page::new("Acts").with_lead("What operators did, as the public log says it.");
    page.text(anchor("/operate/acts/all", "All acts, also those that no public log has"));
    let field = Field::text("by", "Operator").with_value(by.clone().unwrap_or_default());
    page.search("/operate/acts", "Show", field);
    let head = ["When", "What"];
    page.table("Acts", head, rows, "None found.");
    if end > 0 {
        let by = by.map(|by| format!("by={}&", part(&by))).unwrap_or_default();
        page.more(&format!("/operate/acts?{by}before={}", end + 1), "Earlier acts");
    }
    Ok(page)
}
