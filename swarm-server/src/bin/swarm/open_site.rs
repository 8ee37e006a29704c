//! Builds the site from a configuration, and reloads its tenants.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use swarm_core::service::{WebhookSender, with_causes};
use swarm_core::store::Store;
use swarm_core::{TenantId, Timestamp};
use swarm_http::{HostTable, ServedTenant, Site, TenantConfig};
use swarm_maintenance::{
    DeliverMail, DeliverWebhooks, LogQueuedMail, MaintainedTenant as _, Maintenance,
    OfferCheckpoints, RemindMembers, Reminding, StoreReadiness, TimestampCheckpoints,
};

use crate::brief_files::{self, ExportBriefs, Exports};
use crate::config::{self, Config, MailConfig, TenantTable};
use crate::mail::Smtp;
use crate::secrets::{GivenToken, mint_token};
use crate::store::Opened;
use crate::webhooks::HttpSender;
use crate::{Failure, console, failure, tenants, timestamps, witnesses};

/// The consequence of a changed `key_prefix`.
pub(crate) const OTHER_PREFIXES: &str =
    "committee keys issued with another prefix are refused: rotate them";

/// What becomes of a token beside tenants.
pub(crate) const IGNORED_TOKEN: &str =
    "the token of SWARM_ADMIN_TOKEN is ignored: each tenant has its own tokens";

/// The checked tenants of a configuration file.
pub(crate) struct CheckedTenants {
    pub(crate) tenants: Vec<TenantConfig>,
    exports: Exports,
}

impl CheckedTenants {
    pub(crate) fn of(tables: &[TenantTable], mail: Option<&MailConfig>) -> Result<Self, Failure> {
        let tenants = tenants::configured(tables)?;
        let replaced = HostTable::new().replace(tenants.iter().cloned());
        replaced.map_err(|error| format!("tenants: {error}"))?;
        let silent = |tenant: &&TenantConfig| tenant.mail_from.is_none();
        if let (Some(MailConfig { from: None, .. }), Some(tenant)) =
            (mail, tenants.iter().find(silent))
        {
            return Err(
                format!("tenants: {:?}: smtp_url needs mail_from", tenant.id.as_str()).into()
            );
        }
        Ok(Self { tenants, exports: brief_files::folders(tables)? })
    }
}

/// The site, with the state that reloading needs.
pub(crate) struct OpenSite {
    pub(crate) site: Arc<Site>,
    pub(crate) store: Store,
    pub(crate) exports: Arc<RwLock<Exports>>,
    /// `None` for a single tenant on every host.
    hosts: Option<HostTable>,
    mail: Option<MailConfig>,
    smtp: Option<Smtp>,
    is_read_only: bool,
    /// The admin token of a single tenant for which none was given.
    pub(crate) minted_token: Option<String>,
}

/// Opens the site of a configuration. Everything is checked before `open_store` connects to the store.
/// `admin_token` is for a single tenant; `expiry` returns when the certificate in use expires.
pub(crate) async fn open(
    config: Config,
    admin_token: Option<GivenToken>,
    expiry: Option<impl Fn() -> Option<Timestamp> + Send + Sync + 'static>,
    open_store: impl AsyncFnOnce(&str) -> Result<Opened, Failure>,
) -> Result<OpenSite, Failure> {
    let CheckedTenants { tenants, exports } =
        CheckedTenants::of(&config.tenants, config.mail.as_ref())?;
    let (over_tls, operations_apart) = (config.tls.is_some(), config.metrics_listen.is_some());
    let smtp = config.mail.as_ref().map(MailConfig::smtp).transpose()?;
    let (mut minted_token, hosts) = (None, HostTable::new());
    let single = if tenants.is_empty() {
        Some(match &admin_token {
            Some(given) => tenants::default_tenant(&given.source, &given.token)?,
            None => tenants::default_tenant("admin token", minted_token.insert(mint_token()?))?,
        })
    } else {
        if admin_token.is_some() {
            tracing::warn!("{IGNORED_TOKEN}");
        }
        hosts.replace(tenants)?;
        None
    };
    let Opened { services, store } = open_store(&config.store).await?;
    let (site, hosts) = match single {
        Some(tenant) => (Site::single(services, tenant), None),
        None => (Site::new(services, hosts.clone()), Some(hosts)),
    };
    let site = site
        .trust_forwarded(config.trust_forwarded)
        .over_tls(over_tls)
        .operations_apart(operations_apart)
        .with_build_info(env!("CARGO_PKG_VERSION"), env!("SWARM_BUILD_COMMIT"));
    let site = match expiry {
        Some(expiry) => site.with_certificate_expiry(expiry),
        None => site,
    };
    let site = match &smtp {
        Some(_) => site,
        None => site.without_mail(),
    };
    Ok(OpenSite {
        site: Arc::new(
            site.with_dropped_log_lines(console::lines_dropped)
                .with_export_faults(brief_files::faults),
        ),
        store,
        exports: Arc::new(RwLock::new(exports)),
        hosts,
        mail: config.mail,
        smtp,
        is_read_only: config.read_only,
        minted_token,
    })
}

/// Warns of the settings of tenants that `swarm check` warns of, too.
pub(crate) fn warn_of(tenants: &[TenantConfig]) {
    for (tenant, warning) in tenants::warnings(tenants) {
        tracing::warn!(%tenant, "{warning}");
    }
}

/// Compares each log with the checkpoint that this server remembers.
pub(crate) async fn check_logs(site: &Site) {
    for served in site.tenants() {
        check_log(&served).await;
    }
}

async fn check_log(served: &ServedTenant) {
    let tenant = served.id();
    let Some(log) = served.signed_log() else { return };
    if let Err(error) = log.check().await {
        tracing::error!("{}", failure::with_causes(&format!("{tenant}: log"), &error));
    }
}

/// Begins the webhooks of all tenants, so that they are told what is committed from now on.
pub(crate) async fn begin_webhooks(site: &Site) {
    for served in site.tenants() {
        if let Err(error) = served.tenant().begin_webhooks().await {
            let tenant = &served.config().id;
            tracing::error!(%tenant, error = with_causes(&error), "webhooks not begun");
        }
    }
}

/// When the members of a tenant are reminded.
fn reminding(tenant: &TenantConfig) -> Option<Reminding> {
    let before_millis = tenant.remind_millis?;
    Some(Reminding { before_millis, origin: tenant.origin_without_request() })
}

impl OpenSite {
    /// The background work.
    pub(crate) fn maintenance(&self) -> Maintenance<Site> {
        let exports = Arc::clone(&self.exports);
        let sender: Arc<dyn WebhookSender> = Arc::new(HttpSender::default());
        let readiness = Arc::new(StoreReadiness::new(self.site.swarm().clone()));
        let maintenance = self.site.maintenance();
        let maintenance = maintenance
            .with(move || ExportBriefs::new(Arc::clone(&exports)))
            .with(|| OfferCheckpoints::new(|served: &ServedTenant| witnesses::of(served.config())))
            .with(|| {
                TimestampCheckpoints::new(|served: &ServedTenant| timestamps::of(served.config()))
            })
            .with(|| RemindMembers::new(|served: &ServedTenant| reminding(served.config())))
            .with(move || DeliverWebhooks::new(Arc::clone(&sender), Arc::clone(&readiness)));
        match self.smtp.clone() {
            Some(smtp) => maintenance.with(move || {
                let smtp = smtp.clone();
                DeliverMail(move |served: &ServedTenant| smtp.mailer(served.config()))
            }),
            None => maintenance.with(LogQueuedMail::default),
        }
    }

    /// Reloads the tenants. An error in the file is logged and changes nothing.
    pub(crate) async fn reload(&self, file: &Path) {
        match self.replace_tenants(file).await {
            Ok(count) => {
                tracing::info!(count, "tenants reloaded");
                if !self.is_read_only {
                    // Tenants may be new, and their webhooks.
                    let site = Arc::clone(&self.site);
                    tokio::spawn(async move { begin_webhooks(&site).await });
                    self.record_reload();
                }
            }
            Err(error) => tracing::error!(%error, "tenants not reloaded"),
        }
    }

    /// Records the reload with the acts of operators of each tenant.
    fn record_reload(&self) {
        let tenants = self.site.tenants();
        tokio::spawn(async move {
            for served in tenants {
                if let Err(error) = served.tenant().record_reload().await {
                    tracing::warn!(tenant = %served.config().id, %error, "reload not recorded");
                }
            }
        });
    }

    async fn replace_tenants(&self, file: &Path) -> Result<usize, Failure> {
        let Some(hosts) = &self.hosts else {
            return Err("the server was started without tenants: restart it".into());
        };
        let CheckedTenants { tenants, exports } =
            CheckedTenants::of(&config::tenants(file)?, self.mail.as_ref())?;
        if tenants.is_empty() {
            return Err("tenants: none are listed".into());
        }
        let count = tenants.len();
        let before = self.site.tenants();
        if !self.is_read_only {
            warn_of(&tenants);
            let is_new = |it: &&TenantConfig| before.iter().all(|old| old.config().id != it.id);
            for tenant in tenants.iter().filter(is_new) {
                // Before anything is committed.
                check_log(&self.site.open_tenant(tenant.clone())).await;
            }
        }
        self.warn_of_changed_prefixes(&tenants);
        hosts.replace(tenants)?;
        // The server is ready whatever becomes of the logs of others.
        let is_served = |id: &TenantId| self.site.tenant(id).is_some();
        let gone = before.iter().map(|served| &served.config().id).filter(|id| !is_served(id));
        gone.for_each(|id| self.store.set_aside(id));
        brief_files::forget_faults_but_of(&exports);
        *self.exports.write().unwrap_or_else(PoisonError::into_inner) = exports;
        Ok(count)
    }

    /// Warns of changed prefixes: keys keep the prefix that they were issued with, and are refused under another.
    fn warn_of_changed_prefixes(&self, tenants: &[TenantConfig]) {
        for served in self.site.tenants() {
            let before = served.config();
            let Some(after) = tenants.iter().find(|tenant| tenant.id == before.id) else {
                continue;
            };
            let [from, to] = [before, after].map(|it| it.committee.key_prefix().as_str());
            if from != to {
                tracing::warn!(tenant = %after.id, from, to, "key_prefix changed: {OTHER_PREFIXES}");
            }
        }
    }
}
