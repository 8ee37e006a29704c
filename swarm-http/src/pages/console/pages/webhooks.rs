//! Webhooks, and deliveries to them.

use swarm_core::domain::{DeliveryId, DeliveryState};

use super::super::acts::{RETRY_DELIVERY, TEST_WEBHOOK};
use super::super::context::ConsoleContext;
use super::super::form::Field;
use super::super::layout::{Page, quoted, two_lines};
use crate::pages::Markup;
use crate::request::parameters::number;
use crate::response::ApiError;

/// Deliveries on a page.
const PER_PAGE: usize = 50;

pub(super) async fn page(context: &ConsoleContext) -> Result<Page, ApiError> {
    let tenant = context.request.tenant();
    let state = context.query("state").and_then(|text| DeliveryState::parse(&text));
    let before = context.query("before").and_then(|id| number(&id)).map(DeliveryId);
    let webhooks = tenant.webhook_status().await?;
    let found =
        tenant.webhook_deliveries(state, before, context.request.portion.of(PER_PAGE)).await?;
    let mut page = Page::new("Webhooks").with_lead("Programs that are told what happens here.");
    let rows = webhooks.iter().map(|webhook| {
        let oldest = webhook.oldest.map(|oldest| context.times.time(oldest));
        vec![
            quoted(&webhook.url),
            Markup::text(if webhook.failing { "failing" } else { "well" }),
            oldest.unwrap_or_else(|| Markup::text("none")),
        ]
    });
    let head = ["URL", "State", "Waits since"];
    page.table("Webhooks", head, rows, "None is configured.");
    if !webhooks.is_empty() {
        let urls = webhooks.iter().map(|webhook| (&webhook.url, &webhook.url));
        let choice = Field::choice("url", "Webhook", urls, "");
        let test = context.form(&TEST_WEBHOOK, &[], vec![choice]);
        let lead = "A test delivery shows whether the receiver answers.";
        page.fold("Test a webhook", lead, test);
    }
    page.heading("Deliveries");
    let states = DeliveryState::ALL.map(|it| (it.as_str(), it.as_str()));
    let options = [("", "all")].into_iter().chain(states);
    let chosen = state.map_or("", DeliveryState::as_str);
    page.search("/operate/webhooks", "Show", Field::choice("state", "State", options, chosen));
    let rows = found.deliveries.iter().map(|delivery| {
        let time = delivery.delivered_at.unwrap_or(delivery.queued_at);
        let id = delivery.id.to_string();
        let cells = vec![
            Markup::text(&id),
            two_lines(&Markup::text(&delivery.draft.event), &quoted(&delivery.draft.url)),
            two_lines(&Markup::text(delivery.state.as_str()), &context.times.time(time)),
            Markup::text(delivery.last_error.as_deref().unwrap_or_default()),
        ];
        (cells, context.row_form(&RETRY_DELIVERY, "delivery", &id).into_iter().collect())
    });
    let head = ["Number", "Event", "State", "Last error"];
    page.act_table("Deliveries", head, rows, "No deliveries.");
    if let Some(next) = found.next_before {
        page.more(&format!("/operate/webhooks?before={next}"), "Older deliveries");
    }
    Ok(page)
}
