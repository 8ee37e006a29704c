//! How the server is.

use std::sync::Arc;

use serde::Serialize;
use warp::http::StatusCode;

use crate::Site;
use crate::reply::{Answer, Fault, Reply, ok};

#[derive(Serialize)]
struct State {
    status: &'static str,
}

/// The process is up.
pub(crate) async fn health(_: Arc<Site>) -> Reply {
    ok(&State { status: "ok" })
}

/// The store answers; else 503.
pub(crate) async fn ready(site: Arc<Site>) -> Reply {
    site.services.swarm.ready().await?;
    ok(&State { status: "ready" })
}

pub(crate) async fn metrics(site: Arc<Site>) -> Reply {
    const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let text = site.metrics.text().map_err(|_| Fault::Panicked)?;
    Ok(Answer::new(StatusCode::OK, OPENMETRICS, text))
}
