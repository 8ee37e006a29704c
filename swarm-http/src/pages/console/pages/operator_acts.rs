//! All acts of operators, also those that no public log has, the latest first.

use swarm_core::Timestamp;
use swarm_core::domain::Actor;
use swarm_core::store::ActQuery;

use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, quoted};
use crate::pages::Markup;
use crate::pages::links::part;
use crate::response::ApiError;

/// Acts on a page.
const PER_PAGE: usize = 50;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let by = context.query("by").filter(|by| !by.is_empty());
    let before = context.query("before").and_then(|at| Timestamp::parse("before", &at).ok());
    let named = by.as_deref().map(Actor::operator);
    let found = match named {
        // Nobody has a name that no operator can have.
        Some(Err(_)) => None,
        named => {
            let by = named.transpose().unwrap_or_default();
            let query =
                ActQuery { by, since: None, before, limit: context.request.portion.of(PER_PAGE) };
            Some(context.request.tenant().operator_acts(&query).await?)
        }
    };
    let (acts, next) = found.map_or((Vec::new(), None), |found| (found.acts, found.next_before));
    let mut page = Page::new("All acts").with_lead(
        "What operators did in the last 400 days, also what no public log says: reviews, mail, the committee, sign-ins.",
    );
    let field = Field::text("by", "Operator").with_value(by.clone().unwrap_or_default());
    page.search("/operate/acts/all", "Show", field);
    let text = |text: Option<&str>| text.map_or_else(Markup::default, quoted);
    let rows = acts.iter().map(|recorded| {
        let act = &recorded.act;
        vec![
            context.times.time(recorded.at),
            text(act.by.as_ref().map(Actor::as_str)),
            Markup::text(&act.act),
            text(act.target.as_deref()),
            text(act.note.as_ref().map(|note| note.as_str())),
        ]
    });
    let head = ["When", "Operator", "Act", "Of", "Note"];
    page.table("All acts", head, rows, "None found.");
    if let Some(next) = next {
        let by = by.map(|by| format!("by={}&", part(&by))).unwrap_or_default();
        page.more(&format!("/operate/acts/all?{by}before={next}"), "Earlier acts");
    }
    Ok(page)
}
