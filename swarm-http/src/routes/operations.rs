//! Routes of health, readiness and metrics.

use std::sync::Arc;

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use swarm_core::domain::Actor;
use swarm_core::json::Json;
use swarm_core::store::{ActQuery, Readiness};
use swarm_core::wire::Problem::Unavailable;
use swarm_core::{Timestamp, wire};

use crate::Site;
use crate::desk::Desk;
use crate::request::RequestContext;
use crate::request::credential::Access::Operator;
use crate::request::parameters::{MAX_PAGE, PAGE_LIMIT, Page};
use crate::request::route::{Route, Section, Work, read_as, server};
use crate::response::{Answer, ApiError, Reply, ok};
use crate::schema::{SchemaRef, schema};
use crate::tenants::Role;

/// The routes that anyone may use, the same on every host.
pub(super) fn public() -> Vec<Route> {
    routes(server("/metrics", public_metrics))
}

/// The routes of an address that only the operator of the server can reach.
pub(super) fn apart() -> Vec<Route> {
    routes(server("/metrics", metrics))
}

fn routes(metrics: Route) -> Vec<Route> {
    Section::Server.rows(vec![
        server("/healthz", health).about("The process is up").answers_as(200, HEALTH),
        server("/readyz", ready)
            .about("The store answers and is safe to use")
            .answers_as(200, READINESS)
            .refuses(&[Unavailable]),
        metrics.about("Metrics, as OpenMetrics").answers(200, &["application/openmetrics-text"]),
    ])
}

/// The state of the tenant that the request is for.
pub(super) fn of_tenant() -> Vec<Route> {
    Section::Operating.rows(vec![
        read_as(Operator(Role::Reader), "/api/swarm/admin/status", status)
            .with(Work::Long)
            .about("What waits for an operator, and how the server is")
            .answers(200, &["DeskStatus"]),
        read_as(Operator(Role::Reader), "/api/swarm/admin/acts", acts)
            .with(Work::Long)
            .about("What operators did in the last 400 days, the latest first")
            .query(&[
                ("by", OPERATOR_NAME),
                ("since", MOMENT),
                ("before", MOMENT),
                ("limit", PAGE_LIMIT),
            ])
            .answers(200, &["OperatorActs"]),
    ])
}

/// Of the name of a token of operators.
const OPERATOR_NAME: SchemaRef = schema!("server", "OperatorName", {
    "type": "string", "examples": ["operator"], "description": "The name of a token of operators."
});

/// Of a time in a query.
const MOMENT: SchemaRef = SchemaRef::Declared(Timestamp::SENT);

const HEALTH: SchemaRef = schema!("server", "Health", of Health);
const READINESS: SchemaRef = schema!("server", "Readiness", of Ready);

#[derive(JsonSchema, Serialize)]
struct Health {
    #[schemars(with = "Json", extend("const" = "ok"))]
    status: &'static str,
}

#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Readiness")]
struct Ready {
    #[schemars(with = "Json", extend("const" = "ready"))]
    status: &'static str,
    /// Risks of losing records, or of refusing commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Answers that the process is up.
pub(crate) async fn health(_: Arc<Site>) -> Reply {
    ok(&Health { status: "ok" })
}

/// Answers 503 if the store is not ready, with the cause if it may be public (MANUAL.md, 13.4). Warnings of
/// the store do not make the server unready.
pub(crate) async fn ready(site: Arc<Site>) -> Reply {
    let Readiness { warnings } = site.ready().await.map_err(ApiError::NotReady)?;
    ok(&Ready { status: "ready", warnings })
}

pub(crate) async fn metrics(site: Arc<Site>) -> Reply {
    Ok(openmetrics(site.metrics.text()))
}

pub(crate) async fn public_metrics(site: Arc<Site>) -> Reply {
    Ok(openmetrics(site.metrics.public_text()))
}

fn openmetrics(text: String) -> Answer {
    const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Answer::new(StatusCode::OK, OPENMETRICS, text)
}

/// What operators did.
pub(crate) async fn acts(request: RequestContext) -> Reply {
    let by = request.filter_of("by", |name| Actor::operator(&name))?;
    let since = request.filter_of("since", |time| Timestamp::parse("since", &time))?;
    let Page { limit, position: before } =
        request.page(MAX_PAGE, "before", |time| Timestamp::parse("before", time).ok())?;
    let query = ActQuery { by, since, before, limit };
    let page = request.tenant().operator_acts(&query).await?;
    let next = page.next_before;
    Ok(request.linked(wire::desk::operator_acts(&page), "before", next))
}

/// What waits for an operator, and how the server is.
pub(crate) async fn status(request: RequestContext) -> Reply {
    let Desk { server, status, committee, agenda } = Desk::read(&request).await?;
    Ok(wire::desk::status(server, status, committee, agenda).into())
}
