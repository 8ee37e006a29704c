//! Webhooks, for operators.

use swarm_core::domain::{Actor, DeliveryId, DeliveryState, WebhookName};
use swarm_core::wire::Problem::{InvalidRequest, NotFound};
use swarm_core::{Invalid, Refusal, wire};

use crate::request::RequestContext;
use crate::request::command::Command;
use crate::request::credential::Access::Operator;
use crate::request::extract::{NoFields, Order};
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page, number};
use crate::request::route::{Route, Section, Work, post, read_as};
use crate::response::Reply;
use crate::schema::HasSchema as _;
use crate::tenants::Role;

pub(super) fn routes() -> Vec<Route> {
    Section::Operating.rows(vec![
        read_as(Operator(Role::Reader), "/api/swarm/admin/webhooks", list)
            .about("Webhooks, and deliveries to them, the newest first")
            .query(&[
                ("state", DeliveryState::SCHEMA),
                ("limit", PAGE_LIMIT),
                ("before", DeliveryId::SCHEMA),
            ])
            .with(Work::Long)
            .answers(200, &["Webhooks"])
            .refuses(&[InvalidRequest]),
        post(Operator(Role::Admin), "/api/swarm/admin/webhooks/test", test)
            .about("Queue an event that tests a webhook")
            .answers(200, &["DeliveryChanged"])
            .mints("delivery.id")
            .refuses(&[InvalidRequest, NotFound])
            .command(
                Command::new("test", "https://hooks.acme.example/swarm", "the test is queued")
                    .below("webhook")
                    .awaited("delivery")
                    .form("Send a test", "The test is queued"),
            ),
        post(Operator(Role::Admin), "/api/swarm/admin/webhooks/{id}/retry", retry)
            .about("Queue a delivery again")
            .answers(200, &["DeliveryChanged"])
            .refuses(&[InvalidRequest, NotFound])
            .command(
                Command::new("retry", "7", "delivery {id} is queued again")
                    .below("webhook")
                    .form("Deliver again", "The delivery is queued again"),
            ),
    ])
}

/// The webhooks, with the state of each, and a page of deliveries.
pub(crate) async fn list(request: RequestContext) -> Reply {
    let state = request.query().get("state").map(|text| {
        DeliveryState::parse(text).ok_or_else(|| {
            let invalid = Invalid::new("state", "must be queued, delivered or failed");
            Refusal::InvalidRequest(invalid)
        })
    });
    let state = state.transpose()?;
    let Page { limit, position } =
        request.page(MAX_PAGE, "before", |id| number(id).map(DeliveryId))?;
    let webhooks = request.tenant().webhook_status().await?;
    let page = request.tenant().webhook_deliveries(state, position, limit).await?;
    let answer = wire::webhooks::deliveries(webhooks, &page);
    Ok(request.linked(answer, "before", page.next_before))
}

/// Queues the event `webhook.test`.
pub(crate) async fn test(
    request: RequestContext,
    Order(WebhookName { url }): Order<WebhookName>,
    by: Actor,
) -> Reply {
    let delivery = request.tenant().test_webhook(&url, &by).await?;
    Ok(wire::webhooks::delivery_changed(&delivery).into())
}

pub(crate) async fn retry(
    request: RequestContext,
    _: NoFields,
    id: DeliveryId,
    by: Actor,
) -> Reply {
    let delivery = request.tenant().retry_delivery(id, &by).await?;
    Ok(wire::webhooks::delivery_changed(&delivery).into())
}
