//! What the server counts, in the text format of OpenMetrics.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use warp::http::{Method, StatusCode};

/// Upper bounds of the buckets of durations, in seconds.
const SECONDS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<AtRoute, Histogram>,
    in_flight: Gauge,
    store_warnings: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AtRoute {
    route: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("swarm");
        let requests = Family::default();
        let seconds: Family<_, _> = Family::new_with_constructor(durations);
        let (in_flight, store_warnings) = (Gauge::default(), Gauge::default());
        registry.register(
            "store_warnings",
            "What the store warned of when it was last asked whether it is ready",
            store_warnings.clone(),
        );
        let http = registry.sub_registry_with_prefix("http");
        http.register("requests", "Requests answered", requests.clone());
        http.register_with_unit(
            "request_duration",
            "Time from the head of a request to its answer",
            Unit::Seconds,
            seconds.clone(),
        );
        http.register("requests_in_flight", "Requests being answered", in_flight.clone());
        Self { registry, requests, seconds, in_flight, store_warnings }
    }
}

fn durations() -> Histogram {
    Histogram::new(SECONDS)
}

impl Metrics {
    /// Counts a request in flight until the guard is dropped.
    pub(crate) fn enter(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    pub(crate) fn record(
        &self,
        method: &Method,
        route: &'static str,
        status: StatusCode,
        seconds: f64,
    ) {
        let answered = Answered { method: known(method), route, status: status.as_u16() };
        self.requests.get_or_create(&answered).inc();
        self.seconds.get_or_create(&AtRoute { route }).observe(seconds);
    }

    pub(crate) fn store_warns(&self, warnings: usize) {
        self.store_warnings.set(i64::try_from(warnings).unwrap_or(i64::MAX));
    }

    /// All of it, as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string fails only where a metric's own text fails, and none of ours does.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The name of a method that we answer; clients must not make up labels.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}
