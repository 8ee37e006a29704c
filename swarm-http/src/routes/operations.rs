//! Routes of health, readiness and metrics.

use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;
use swarm_core::store::Readiness;
use swarm_core::wire::Problem::Unavailable;

use crate::Site;
use crate::request::route::{Route, Section, server};
use crate::response::{Answer, ApiError, Reply, ok};

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
        server("/healthz", health).about("The process is up").answers(200, &["Health"]),
        server("/readyz", ready)
            .about("The store answers and is safe to use")
            .answers(200, &["Readiness"])
            .refuses(&[Unavailable]),
        metrics.about("Metrics, as OpenMetrics").answers(200, &["application/openmetrics-text"]),
    ])
}

#[derive(Serialize)]
struct State {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Answers that the process is up.
pub(crate) async fn health(_: Arc<Site>) -> Reply {
    ok(&State { status: "ok", warnings: Vec::new() })
}

/// Answers 503 if the store is not ready, with the cause if it may be public (API.md, 13.4). Warnings of
/// the store do not make the server unready.
pub(crate) async fn ready(site: Arc<Site>) -> Reply {
    let Readiness { warnings } = site.ready().await.map_err(ApiError::NotReady)?;
    ok(&State { status: "ready", warnings })
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
