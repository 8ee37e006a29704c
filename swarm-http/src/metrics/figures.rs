//! Gauges summed over all tenants, from the last count of each.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use swarm_core::TenantId;
use swarm_core::domain::MailState;

/// The counts of one tenant.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) open_sessions: u64,
    pub(crate) pending_applications: u64,
    pub(crate) messages: Vec<(MailState, u64)>,
    pub(crate) log_size: u64,
}

/// The last counts of each tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllFigures(Arc<Mutex<HashMap<TenantId, Figures>>>);

/// Sets the counts of one tenant; dropping it removes them.
#[derive(Debug)]
pub(crate) struct TenantFigures {
    all: AllFigures,
    tenant: Option<TenantId>,
}

impl AllFigures {
    pub(crate) fn of_tenant(&self) -> TenantFigures {
        TenantFigures { all: self.clone(), tenant: None }
    }

    fn sum(&self, figure: impl Fn(&Figures) -> u64) -> i64 {
        i64::try_from(self.lock().values().map(figure).sum::<u64>()).unwrap_or(i64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Figures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TenantFigures {
    pub(crate) fn set(&mut self, tenant: &TenantId, figures: Figures) {
        self.tenant = Some(tenant.clone());
        self.all.lock().insert(tenant.clone(), figures);
    }
}

impl Drop for TenantFigures {
    fn drop(&mut self) {
        if let Some(tenant) = &self.tenant {
            self.all.lock().remove(tenant);
        }
    }
}

impl Collector for AllFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut gauge = |name, help, value| {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(value).encode(metric)
        };
        gauge("open_sessions", "Sessions in state collecting", self.sum(|it| it.open_sessions))?;
        gauge(
            "pending_applications",
            "Applications awaiting review",
            self.sum(|it| it.pending_applications),
        )?;
        gauge("log_size", "Log entries", self.sum(|it| it.log_size))?;
        self.encode_outbox(encoder)
    }
}

impl AllFigures {
    fn encode_outbox(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Messages to members";
        let mut family = encoder.encode_descriptor("outbox", help, None, MetricType::Gauge)?;
        for state in MailState::ALL {
            let in_state = |figures: &Figures| {
                let of_state = figures.messages.iter().filter(|(it, _)| *it == state);
                of_state.map(|(_, count)| count).sum()
            };
            let gauge = ConstGauge::new(self.sum(in_state));
            gauge.encode(family.encode_family(&[("state", state.as_str())])?)?;
        }
        Ok(())
    }
}
