//! The server's metrics, in the OpenMetrics text format.
//!
//! Strangers see [less](Metrics::public_text) than the operator of the server: the names of tenants are its own, and
//! durations depend on what was filed, also while that is sealed.

mod figures;

use std::collections::BTreeMap;
use std::fmt;

use http::{Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use swarm_core::TenantId;
use swarm_core::wire::Problem;

use crate::certificate::CertificateExpiry;
pub(crate) use figures::CountRecords;
use figures::{AllFigures, FiguresByTenant};

/// What the names of all metrics begin with.
const PREFIX: &str = "swarm";

/// Upper bounds of the histogram buckets of durations, in seconds.
const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

pub(crate) struct Metrics {
    requests: Family<RequestLabels, Counter>,
    /// The outcomes of submissions, in the order of [`Submitted::ALL`].
    submits: [Family<Outcome, Counter>; Submitted::ALL.len()],
    seconds: Family<AtRoute, Histogram>,
    in_flight: Gauge,
    /// Open connections.
    pub(crate) connections: Gauge,
    pub(crate) store_warnings: Count,
    pub(crate) log_disputes: Count,
    pub(crate) missed_timestamps: Count,
    pub(crate) figures: AllFigures,
    /// The version and the commit of the program.
    pub(crate) build: Option<[(&'static str, &'static str); 2]>,
    pub(crate) certificate: Option<CertificateExpiry>,
    /// The number of log lines that the log writer has dropped.
    pub(crate) dropped_log_lines: Option<fn() -> u64>,
    /// Why briefs could not be exported the last time, of the tenants that this happened to.
    pub(crate) export_faults: Option<fn() -> BTreeMap<TenantId, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

/// `accepted`, or the code of the error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

/// A submission whose outcomes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// `swarm_submits_total`.
    Take,
    /// `swarm_committee_submits_total`.
    #[cfg(feature = "committee")]
    CommitteeTake,
}

impl Submitted {
    /// All of them, each with the name and the help of its counter.
    const ALL: &[(Self, &str, &str)] = &[
        (Self::Take, "submits", "Submissions of takes, by outcome"),
        #[cfg(feature = "committee")]
        (Self::CommitteeTake, "committee_submits", "Submissions to the committee, by outcome"),
    ];
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AtRoute {
    route: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            submits: std::array::from_fn(|_| Family::default()),
            seconds: Family::new_with_constructor(durations),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            store_warnings: Count::default(),
            log_disputes: Count::default(),
            missed_timestamps: Count::default(),
            figures: AllFigures::default(),
            build: None,
            certificate: None,
            dropped_log_lines: None,
            export_faults: None,
        }
    }
}

/// A gauge of how many there are.
#[derive(Default)]
pub(crate) struct Count(Gauge);

impl Count {
    pub(crate) fn set(&self, count: usize) {
        self.0.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}

fn durations() -> Histogram {
    Histogram::new(BUCKETS)
}

impl Metrics {
    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn start_request(&self) -> GaugeGuard {
        GaugeGuard::increment(&self.in_flight)
    }

    pub(crate) fn record(
        &self,
        (method, route): (&Method, &'static str),
        status: StatusCode,
        seconds: f64,
    ) {
        let labels = RequestLabels { method: method_label(method), route, status: status.as_u16() };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&AtRoute { route }).observe(seconds);
    }

    /// Counts a submission by its outcome: `accepted`, or the error code.
    pub(crate) fn submitted(&self, what: Submitted, error: Option<Problem>) {
        let outcome = error.map_or("accepted", Problem::code);
        let kinds = Submitted::ALL.iter().zip(&self.submits);
        for (_, submits) in kinds.filter(|((kind, ..), _)| *kind == what) {
            submits.get_or_create(&Outcome { outcome }).inc();
        }
    }

    /// All metrics as text, for the operator of the server.
    pub(crate) fn text(&self) -> String {
        let mut registry = Registry::default();
        self.register(&mut registry);
        text(&registry)
    }

    /// The metrics that anyone may see as text: they name no tenant, and have no durations.
    pub(crate) fn public_text(&self) -> String {
        let mut registry = Registry::default();
        self.register_public(registry.sub_registry_with_prefix(PREFIX));
        text(&registry)
    }

    /// Registers all metrics, for the operator of the server. The registry shares them, and reads them when it is encoded.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix(PREFIX);
        self.register_public(registry);
        self.register_private(registry);
    }

    fn register_public(&self, registry: &mut Registry) {
        for ((_, name, help), submits) in Submitted::ALL.iter().zip(&self.submits) {
            registry.register(*name, *help, submits.clone());
        }
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register(
            "store_warnings",
            "Warnings of the last readiness check of the store",
            self.store_warnings.0.clone(),
        );
        registry.register(
            "log_disputes",
            "Witnesses that have cosigned another log under the name of one of these",
            self.log_disputes.0.clone(),
        );
        registry.register(
            "missed_timestamps",
            "Logs whose last checkpoint after a close has no timestamp",
            self.missed_timestamps.0.clone(),
        );
        if let Some(build) = self.build {
            registry.register("build", "Version and commit of the program", Info::new(build));
        }
        registry.register_collector(Box::new(self.figures.clone()));
        if let Some(expiry) = self.certificate.clone() {
            registry.register_collector(Box::new(Read {
                name: "tls_not_after",
                help: "When the TLS certificate expires, in seconds since the beginning of 1970",
                unit: Some(Unit::Seconds),
                read: move || {
                    let not_after = expiry.not_after()?;
                    Some(ConstGauge::new(not_after.millis().div_euclid(1_000)))
                },
            }));
        }
        if let Some(dropped) = self.dropped_log_lines {
            registry.register_collector(Box::new(Read {
                name: "log_lines_dropped",
                help: "Log lines dropped because they could not be written in time",
                unit: None,
                read: move || Some(ConstCounter::new(dropped())),
            }));
        }
        if let Some(faults) = self.export_faults {
            registry.register_collector(Box::new(Read {
                name: "exports_failing",
                help: "Tenants whose briefs could not be exported the last time",
                unit: None,
                read: move || {
                    let failing = i64::try_from(faults().len()).unwrap_or(i64::MAX);
                    Some(ConstGauge::new(failing))
                },
            }));
        }
        let http = registry.sub_registry_with_prefix("http");
        http.register("requests", "Requests answered", self.requests.clone());
        http.register("requests_in_flight", "Requests being answered", self.in_flight.clone());
    }

    /// Registers what names a tenant, and durations.
    fn register_private(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(FiguresByTenant(self.figures.clone())));
        registry.sub_registry_with_prefix("http").register_with_unit(
            "request_duration",
            "Time from the head of a request to its answer",
            Unit::Seconds,
            self.seconds.clone(),
        );
    }
}

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing to a string fails only if a metric's encoder fails, and none here does.
    let _ = encode(&mut text, registry);
    text
}

/// A metric that is read whenever it is collected; none while there is nothing to read.
struct Read<F> {
    name: &'static str,
    help: &'static str,
    unit: Option<Unit>,
    read: F,
}

impl<F> fmt::Debug for Read<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Read").field(&self.name).finish()
    }
}

impl<F, M> Collector for Read<F>
where
    F: Fn() -> Option<M> + Send + Sync + 'static,
    M: EncodeMetric,
{
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(metric) = (self.read)() else { return Ok(()) };
        let kind = metric.metric_type();
        let unit = self.unit.as_ref();
        metric.encode(encoder.encode_descriptor(self.name, self.help, unit, kind)?)
    }
}

/// The label of a method. Unknown methods share one, so that clients cannot create labels.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Increments a gauge, and decrements it on drop.
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    pub(crate) fn increment(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
