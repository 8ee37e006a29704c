//! Gauges of records, summed over all tenants and of each tenant, and the background job that counts the records.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use swarm_core::domain::{DeliveryState, MailState, MemberState, SessionState};
use swarm_core::store::Countable;
use swarm_core::{Error, TenantId};
use swarm_maintenance::{Job, Next};

use crate::tenants::ServedTenant;

/// Maximum number of tenants with figures of their own, which bounds the number of series.
const MAX_LABELLED: usize = 100;

/// The longest time between two counts of the deliveries to webhooks.
const DELIVERIES_INTERVAL: Duration = Duration::from_secs(15);

/// The counts of one tenant.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) open_sessions: u64,
    pub(crate) pending_applications: u64,
    pub(crate) messages: Vec<(MailState, u64)>,
    pub(crate) deliveries: Vec<(DeliveryState, u64)>,
    pub(crate) failing_webhooks: u64,
    /// Windows of the schedule that get no session as things stand.
    pub(crate) skipped_windows: u64,
    pub(crate) log_size: u64,
}

/// The last counts of each tenant; collects their sums.
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
        gauge(
            "failing_webhooks",
            "Webhooks whose last delivery failed",
            self.sum(|it| it.failing_webhooks),
        )?;
        let help = "Windows of the schedule, open or among the next three of their entry, that get no session as things stand";
        gauge("schedule_skipped", help, self.sum(|it| it.skipped_windows))?;
        let help = "Deliveries to webhooks, of the last seven days";
        let states = DeliveryState::ALL.map(|state| (state, state.as_str()));
        self.encode_states(&mut encoder, ("webhook_deliveries", help), states, |it| {
            &it.deliveries
        })?;
        let states = MailState::ALL.map(|state| (state, state.as_str()));
        let outbox = ("outbox", "Messages to members");
        self.encode_states(&mut encoder, outbox, states, |it| &it.messages)
    }
}

/// Collects the counts of each tenant, unless there are more than [`MAX_LABELLED`].
#[derive(Debug)]
pub(crate) struct FiguresByTenant(pub(crate) AllFigures);

impl Collector for FiguresByTenant {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        type Figure = (&'static str, &'static str, fn(&Figures) -> u64);
        const FIGURES: [Figure; 5] = [
            ("tenant_open_sessions", "Sessions in state collecting, by tenant", |it| {
                it.open_sessions
            }),
            ("tenant_pending_applications", "Applications awaiting review, by tenant", |it| {
                it.pending_applications
            }),
            (
                "tenant_failed_messages",
                "Messages to members that were not delivered, by tenant",
                |it| {
                    let is_failed =
                        |state| matches!(state, MailState::Failed | MailState::Undeliverable);
                    let failed = it.messages.iter().filter(|(state, _)| is_failed(*state));
                    failed.map(|(_, count)| count).sum()
                },
            ),
            ("tenant_log_size", "Log entries, by tenant", |it| it.log_size),
            (
                "tenant_schedule_skipped",
                "Windows of the schedule that get no session as things stand, by tenant",
                |it| it.skipped_windows,
            ),
        ];
        let all = self.0.lock();
        let mut tenants: Vec<_> = all.iter().collect();
        if tenants.len() > MAX_LABELLED {
            return Ok(());
        }
        tenants.sort_unstable_by_key(|(tenant, _)| *tenant);
        for (name, help, figure) in FIGURES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (tenant, figures) in &tenants {
                let gauge = ConstGauge::new(i64::try_from(figure(figures)).unwrap_or(i64::MAX));
                gauge.encode(family.encode_family(&[("tenant", tenant.as_str())])?)?;
            }
        }
        Ok(())
    }
}

impl AllFigures {
    /// A gauge of the records in each state.
    fn encode_states<S: Copy + PartialEq>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help): (&str, &str),
        states: impl IntoIterator<Item = (S, &'static str)>,
        counts: fn(&Figures) -> &[(S, u64)],
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (state, word) in states {
            let in_state = |figures: &Figures| {
                let of_state = counts(figures).iter().filter(|(it, _)| *it == state);
                of_state.map(|(_, count)| count).sum()
            };
            let gauge = ConstGauge::new(self.sum(in_state));
            gauge.encode(family.encode_family(&[("state", word)])?)?;
        }
        Ok(())
    }
}

/// Counts the records of a tenant in the background, so that reading `/metrics` costs the store nothing.
#[derive(Debug)]
pub(crate) struct CountRecords(TenantFigures);

impl CountRecords {
    pub(crate) fn new(figures: TenantFigures) -> Self {
        Self(figures)
    }
}

#[async_trait]
impl Job<ServedTenant> for CountRecords {
    async fn round(&mut self, served: &ServedTenant) -> Next {
        // Not logged here: the job that closes windows logs the same store failure.
        let Ok(figures) = figures(served).await else { return Next::Soon };
        self.0.set(&served.config().id, figures);
        match served.tenant().webhooks() {
            [] => Next::Changed,
            // No feed announces deliveries.
            _ => Next::In(DELIVERIES_INTERVAL),
        }
    }
}

async fn figures(served: &ServedTenant) -> Result<Figures, Error> {
    let tenant = served.tenant();
    let mut messages = Vec::with_capacity(MailState::ALL.len());
    for state in MailState::ALL {
        messages.push((state, tenant.count(Countable::Messages(state)).await?));
    }
    let mut deliveries = Vec::new();
    let mut failing_webhooks = 0;
    if !tenant.webhooks().is_empty() {
        for state in DeliveryState::ALL {
            deliveries.push((state, tenant.count(Countable::Deliveries(state)).await?));
        }
        let status = tenant.webhook_status().await?;
        failing_webhooks = status.iter().map(|webhook| u64::from(webhook.failing)).sum();
    }
    let windows = tenant.schedule_status(&served.config().schedule).await?;
    let skipped_windows = windows.iter().filter(|window| window.skipped.is_some()).count();
    Ok(Figures {
        deliveries,
        failing_webhooks,
        open_sessions: tenant.count(Countable::Sessions(SessionState::Collecting)).await?,
        pending_applications: tenant.count(Countable::Members(MemberState::Applied)).await?,
        messages,
        skipped_windows: u64::try_from(skipped_windows).unwrap_or(u64::MAX),
        log_size: tenant.log_size().await?.0,
    })
}
