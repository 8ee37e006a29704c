//! A site: the tenants that one server serves, and the state that they share.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use http::{Extensions, HeaderMap};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use swarm_core::domain::Schedule;
use swarm_core::service::signed_log::{Damage, SignedLog};
use swarm_core::store::{Readiness, Store, StoreError, StoreErrorKind};
use swarm_core::{Error, Swarm, Tenant, TenantId, Timestamp};
use swarm_maintenance::{ClockCheck, Directory, MaintainedTenant, Maintenance};
use tokio::sync::Semaphore;

use crate::applications::ApplicationCounts;
use crate::budget::Budget;
use crate::cache::AnswerCache;
use crate::certificate::CertificateExpiry;
use crate::client_address::{ClientAddress, forwarded_address};
use crate::fairness::{ClientShare, Scheduler, processors};
use crate::following::Followers;
use crate::metrics::{CountRecords, Metrics};
use crate::tenants::{
    DuplicateTenant, EveryHost, HostTable, OpenTenants, ServedTenant, Services, TenantConfig,
    TenantDirectory, TenantRequest,
};
use crate::token_attempts::TokenAttempts;
use crate::workers::WorkerPool;

/// The services and the tenants of one server, with the state that all requests share.
pub struct Site {
    tenants: OpenTenants,
    directory: Box<dyn TenantDirectory>,
    pub(crate) origins: Origins,
    pub(crate) metrics: Metrics,
    operations_apart: bool,
    /// Whether messages are delivered.
    sends_mail: bool,
    /// Limits the memory for bodies and answers in flight.
    pub(crate) budget: Budget,
    /// The clients behind a trusted proxy, or of the program around the service.
    scheduler: Scheduler,
    pub(crate) workers: Arc<WorkerPool>,
    pub(crate) cache: Arc<AnswerCache>,
    clocks: Arc<ClockCheck>,
    pub(crate) applications: ApplicationCounts,
    pub(crate) token_attempts: TokenAttempts,
    pub(crate) followers: Followers,
    /// The state of the console: the sign-ins of operators.
    #[cfg(feature = "pages")]
    pub(crate) console: crate::console::Console,
    /// The movements between results, for the page of news.
    #[cfg(feature = "pages")]
    pub(crate) movements: crate::movements::MovementCache,
    /// Limits concurrent diagnoses of signatures.
    pub(crate) diagnoses: Arc<Semaphore>,
}

/// The optional routes of a site.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// Interface B.
    pub(crate) committees: bool,
    /// Health, readiness and metrics.
    pub(crate) operations: bool,
}

/// Texts that name the tenant that each is about.
fn named(texts: Vec<(TenantId, String)>) -> Vec<String> {
    texts.into_iter().map(|(tenant, text)| format!("{tenant}: {text}")).collect()
}

impl Parts {
    /// All optional routes.
    #[cfg(test)]
    pub(crate) const ALL: Self = Self { committees: true, operations: true };
}

/// How the origin of a request is determined, besides its host.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origins {
    /// Whether the headers of a proxy determine the origin.
    pub(crate) trust_forwarded: bool,
    /// Whether requests come over TLS, unless a proxy says otherwise.
    pub(crate) over_tls: bool,
}

impl Site {
    /// A site with the tenants of this directory, which may change at any time. A
    /// [`Swarm`](swarm_core::Swarm) alone serves interface A; with
    /// `swarm_core::Committees`, interface B too.
    pub fn new(services: impl Into<Services>, directory: impl TenantDirectory) -> Self {
        let workers = Arc::<WorkerPool>::default();
        Self {
            tenants: OpenTenants::new(services.into()),
            directory: Box::new(directory),
            origins: Origins::default(),
            metrics: Metrics::default(),
            operations_apart: false,
            sends_mail: true,
            budget: Budget::default(),
            scheduler: Scheduler::default(),
            cache: Arc::new(AnswerCache::new(Arc::clone(&workers))),
            workers,
            clocks: Arc::default(),
            applications: ApplicationCounts::default(),
            token_attempts: TokenAttempts::default(),
            followers: Followers::default(),
            #[cfg(feature = "pages")]
            console: crate::console::Console::default(),
            #[cfg(feature = "pages")]
            movements: crate::movements::MovementCache::default(),
            diagnoses: diagnosis_permits(),
        }
    }

    /// A site with one tenant, on every host.
    pub fn single(services: impl Into<Services>, tenant: TenantConfig) -> Self {
        Self::new(services, EveryHost(Arc::new(tenant)))
    }

    /// A site that finds tenants by host and refuses unknown hosts (API.md, 2.1). To change the tenants
    /// later, keep a [`HostTable`] and pass it to [`new`](Self::new).
    ///
    /// # Errors
    /// [`DuplicateTenant`] if two tenants share a host or an id, or a host is not one.
    pub fn by_host(
        services: impl Into<Services>,
        tenants: impl IntoIterator<Item = TenantConfig>,
    ) -> Result<Self, DuplicateTenant> {
        let table = HostTable::new();
        table.replace(tenants)?;
        Ok(Self::new(services, table))
    }

    /// Takes the origin from `X-Forwarded-Host` and `X-Forwarded-Proto`, and the client from the last address
    /// in `X-Forwarded-For`. Only for servers that are reachable only through a proxy.
    #[must_use]
    pub fn trust_forwarded(mut self, trust: bool) -> Self {
        self.origins.trust_forwarded = trust;
        self
    }

    /// Makes links begin with `https`, for a program that terminates TLS before it passes requests to the
    /// [`service`](crate::service). `X-Forwarded-Proto` of a trusted proxy takes precedence.
    #[must_use]
    pub fn over_tls(mut self, is: bool) -> Self {
        self.origins.over_tls = is;
        self
    }

    /// Compares the clock of the store with this one in place of the system's, for a test that sets the clock of the store:
    /// [`maintenance`](Self::maintenance) pauses while they differ by more than an hour.
    #[must_use]
    pub fn with_clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clocks = Arc::new(ClockCheck::with_clock(now));
        self
    }

    /// Leaves `/healthz`, `/readyz` and `/metrics` out of the [`service`](crate::service), for a server that
    /// serves them on another address with [`operations`](crate::operations).
    #[must_use]
    pub fn operations_apart(mut self, apart: bool) -> Self {
        self.operations_apart = apart;
        self
    }

    /// The optional routes that this site has.
    pub(crate) fn parts(&self) -> Parts {
        Parts { committees: self.has_committees(), operations: !self.operations_apart }
    }

    /// Exposes `dropped`, the number of log lines that the log writer has dropped since the start, as
    /// `swarm_log_lines_dropped_total`.
    #[must_use]
    pub fn with_dropped_log_lines(mut self, dropped: fn() -> u64) -> Self {
        self.metrics.dropped_log_lines = Some(dropped);
        self
    }

    /// Shows in the status of each tenant why its briefs could not be exported the last time, as `faults` says of those that
    /// fail, and exposes their number as `swarm_exports_failing`.
    #[must_use]
    pub fn with_export_faults(mut self, faults: fn() -> BTreeMap<TenantId, String>) -> Self {
        self.metrics.export_faults = Some(faults);
        self
    }

    /// Says in the status that messages stay in the outbox, for a server without mail delivery.
    #[must_use]
    pub fn without_mail(mut self) -> Self {
        self.sends_mail = false;
        self
    }

    /// Exposes the version of the program and the commit that it was built from, as `swarm_build_info`. The commit may be
    /// empty.
    #[must_use]
    pub fn with_build_info(mut self, version: &'static str, commit: &'static str) -> Self {
        self.metrics.build = Some([("version", version), ("commit", commit)]);
        self
    }

    /// Warns in `/readyz` of a certificate that has expired, or will within 14 days, and exposes
    /// `swarm_tls_not_after_seconds`. `not_after` returns when the certificate in use expires, if that is known.
    #[must_use]
    pub fn with_certificate_expiry(
        mut self,
        not_after: impl Fn() -> Option<Timestamp> + Send + Sync + 'static,
    ) -> Self {
        self.metrics.certificate = Some(CertificateExpiry::new(not_after));
        self
    }

    /// The gauge `swarm_connections` of `/metrics`, to be set by the accept loop.
    pub fn connections(&self) -> Gauge {
        self.metrics.connections.clone()
    }

    /// Registers the metrics of the site in the registry of the program, under the names that they have in `/metrics`:
    /// `swarm_http_requests_total`, and so on. They are those that the operator of the server may see, as of
    /// [`metrics`](crate::metrics): some have names of tenants in their labels, and there are durations. So serve the registry
    /// to nobody else.
    ///
    /// The registry shares the figures, and reads them whenever it is encoded. Call this once, after every `with_…` of the
    /// site: what is exposed later is not registered. Several sites in one registry would have the same names. Figures
    /// of records are those that [`maintenance`](Self::maintenance) has counted last.
    ///
    /// A prefix of the registry stands before these names. `Registry` is that of
    /// [`prometheus_client`](crate::prometheus_client), whose version is part of this interface.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
    }

    /// Ends the requests that wait for an entry of a log, and the streams of events, so that connections can be closed. To be
    /// called when the server begins to stop.
    pub fn end_following(&self) {
        self.followers.stop();
    }

    /// Forgets large answers in the cache that nobody has asked for within some seconds. A server that gives memory back calls
    /// it about once a second.
    pub fn forget_idle_answers(&self) {
        self.cache.forget_idle();
    }

    /// All tenants that are served now.
    pub fn tenants(&self) -> Vec<Arc<ServedTenant>> {
        self.tenants.retain(self.directory.tenants())
    }

    /// The tenant with this id, if it is served.
    pub fn tenant(&self, id: &TenantId) -> Option<Arc<ServedTenant>> {
        self.directory.tenant(id).map(|config| self.tenants.get(config))
    }

    /// Whether the site serves interface B.
    pub fn has_committees(&self) -> bool {
        self.tenants.services().committees.are_served()
    }

    /// The service of interface A on the store, for all tenants.
    pub fn swarm(&self) -> &Swarm {
        &self.tenants.services().swarm
    }

    /// Opens a tenant that the site does not serve yet, such as to check [its log](ServedTenant::signed_log) before it does.
    pub fn open_tenant(&self, config: TenantConfig) -> ServedTenant {
        ServedTenant::open(self.tenants.services(), Arc::new(config))
    }

    /// The background work for the tenants of the site, including the counts of `/metrics`. Add mail delivery,
    /// and run it alongside the server.
    pub fn maintenance(self: &Arc<Self>) -> Maintenance<Self> {
        let site = Arc::clone(self);
        Maintenance::new(self, &self.clocks)
            .with(move || CountRecords::new(site.metrics.figures.of_tenant()))
    }

    /// Checks the readiness of the store, as `/readyz` does, and sets `swarm_store_warnings` of `/metrics` to
    /// the number of warnings that are about the store; a store that is not ready counts as one. Witnesses, timestamps and the
    /// certificate have gauges of their own. Call it once before serving, so that the gauge is right from the start.
    ///
    /// # Errors
    /// [`Error::Store`] if the store does not answer or is not to be used.
    pub async fn ready(&self) -> Result<Readiness, Error> {
        let mut ready = self.tenants.services().swarm.ready().await;
        let foreign = self.foreign_logs();
        if ready.is_ok() && !foreign.is_empty() {
            let tenants: Vec<_> = foreign.iter().map(TenantId::as_str).collect();
            let foreign = format!(
                "{}: another key signed the last checkpoint of the log: nothing is signed until the right key is given; \
                 to go on with this one: swarm admin accept key",
                tenants.join(", ")
            );
            ready = Err(StoreError::misconfigured("sign", foreign).into());
        }
        // The tenants whose entries differ from those that were signed.
        for (tenant, damage) in self.of_logs(SignedLog::damage) {
            let text = format!("{tenant}: {damage}: the store was edited, or is damaged");
            match (&mut ready, damage) {
                (Ok(readiness), Damage::Unreadable(..)) => readiness.warnings.push(text),
                // The store refuses commits because of this damage.
                (Err(Error::Store(error)), Damage::Changed(_))
                    if error.kind() == StoreErrorKind::WentBack =>
                {
                    ready = Err(StoreError::new(StoreErrorKind::WentBack, "ready", text).into());
                }
                _ => {}
            }
        }
        if let Ok(readiness) = &mut ready {
            readiness.warnings.extend(self.clocks.warning());
        }
        let warnings = ready.as_ref().map_or(1, |readiness| readiness.warnings.len());
        self.metrics.store_warnings.set(warnings);
        if let Ok(readiness) = &mut ready {
            readiness.warnings.extend(self.disputes());
            readiness.warnings.extend(self.missed_timestamps());
            let certificate = self.metrics.certificate.as_ref();
            readiness.warnings.extend(certificate.and_then(CertificateExpiry::warning));
        }
        ready
    }

    /// Why the briefs of this tenant could not be exported the last time.
    pub(crate) fn export_fault(&self, tenant: &TenantId) -> Option<String> {
        self.metrics.export_faults?().remove(tenant)
    }

    /// Whether messages are delivered.
    pub(crate) fn sends_mail(&self) -> bool {
        self.sends_mail
    }

    /// When the certificate in use expires, if that is known.
    pub(crate) fn certificate_expiry(&self) -> Option<Timestamp> {
        self.metrics.certificate.as_ref().and_then(CertificateExpiry::not_after)
    }

    /// The tenants the last checkpoint of whose log was signed by another key than this server's.
    fn foreign_logs(&self) -> Vec<TenantId> {
        let foreign = self.of_logs(|log| log.is_foreign().then_some(()));
        foreign.into_iter().map(|(tenant, ())| tenant).collect()
    }

    /// What witnesses have against the logs, also in `swarm_log_disputes` of `/metrics`.
    fn disputes(&self) -> Vec<String> {
        let disputes = named(self.of_logs(SignedLog::disputes));
        self.metrics.log_disputes.set(disputes.len());
        disputes
    }

    /// The logs without a timestamp of their last checkpoint that needs one, also in `swarm_missed_timestamps` of `/metrics`.
    fn missed_timestamps(&self) -> Vec<String> {
        let missed = named(self.of_logs(SignedLog::missed_timestamp));
        self.metrics.missed_timestamps.set(missed.len());
        missed
    }

    /// What this function finds in the logs, each with its tenant.
    fn of_logs<F: IntoIterator>(&self, find: impl Fn(&SignedLog) -> F) -> Vec<(TenantId, F::Item)> {
        let tenants = match &self.tenants.services().signer {
            Some(_) => self.tenants(),
            None => Vec::new(),
        };
        let found = tenants.iter().filter_map(|served| {
            let found = find(served.signed_log()?).into_iter();
            Some(found.map(|found| (served.config().id.clone(), found)))
        });
        found.flatten().collect()
    }

    /// The client whose address a trusted proxy forwards, or the program around the service says. Requests that a proxy forwards
    /// without an address count as requests of one client, so that their shares and counts are bounded too.
    pub(crate) fn client_of(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<Arc<ClientShare>> {
        let address = if self.origins.trust_forwarded {
            forwarded_address(headers).unwrap_or(Ipv4Addr::UNSPECIFIED.into())
        } else {
            extensions.get::<ClientAddress>()?.0
        };
        Some(self.scheduler.client(address))
    }

    /// Whether the host of a request decides which tenant it is for.
    pub(crate) fn finds_by_host(&self) -> bool {
        self.directory.is_by_host()
    }

    /// The tenant that a request is for.
    pub(crate) fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<ServedTenant>> {
        self.directory.find(request).map(|config| self.tenants.get(config))
    }
}

impl Directory for Site {
    type Tenant = ServedTenant;

    fn tenants(&self) -> Vec<Arc<ServedTenant>> {
        Self::tenants(self)
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<ServedTenant>> {
        Self::tenant(self, id)
    }

    fn changes(&self) -> Option<&Store> {
        self.tenants.services().changes.as_ref()
    }
}

impl MaintainedTenant for ServedTenant {
    fn id(&self) -> &TenantId {
        &self.config().id
    }

    fn tenant(&self) -> &Tenant {
        Self::tenant(self)
    }

    #[cfg(feature = "committee")]
    fn committee(&self) -> Option<&swarm_core::CommitteeTenant> {
        Self::committee(self)
    }

    fn signed_log(&self) -> Option<&SignedLog> {
        Self::signed_log(self)
    }

    fn schedule(&self) -> &Schedule {
        &self.config().schedule
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("tenants", &self.directory.tenants()).finish_non_exhaustive()
    }
}

/// Permits for diagnoses: for half the processors. A diagnosis is the most expensive request that needs
/// no credential.
fn diagnosis_permits() -> Arc<Semaphore> {
    Arc::new(Semaphore::new((processors() / 2).max(1)))
}
