//! How the server is.

use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;
use swarm_core::store::Readiness;

use crate::Site;
use crate::response::{Answer, ApiError, Reply, ok};

#[derive(Serialize)]
struct State {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The process is up.
pub(crate) async fn health(_: Arc<Site>) -> Reply {
    ok(&State { status: "ok", warnings: Vec::new() })
}

/// The store answers; otherwise 503, with the cause where it may be public (API.md, 13.4).
/// Warnings of the store do not make the server unready.
pub(crate) async fn ready(site: Arc<Site>) -> Reply {
    let Readiness { warnings } = site.ready().await.map_err(ApiError::NotReady)?;
    ok(&State { status: "ready", warnings })
}

pub(crate) async fn metrics(site: Arc<Site>) -> Reply {
    const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(Answer::new(StatusCode::OK, OPENMETRICS, site.metrics.text()))
}
