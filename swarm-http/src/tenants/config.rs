//! The settings of a tenant.

use std::fmt;
use std::sync::Arc;

use swarm_core::domain::{Quotas, Schedule, WebhookSettings};
use swarm_core::proof::witness::WitnessKey;
use swarm_core::service::signed_log::LogSigner;
use swarm_core::store::Store;
use swarm_core::{CommitteeSettings, Policy, Swarm, TenantId};

use super::{BasePath, MemberSignOn, Operators, OwnFigures, PublicOrigin};
use crate::committee::SiteCommittees;

/// The settings of a tenant: id, hosts, operators, quotas (MANUAL.md, 13.2).
#[derive(Clone)]
#[non_exhaustive]
pub struct TenantConfig {
    /// The id in the store.
    pub id: TenantId,
    /// The display name; the id by default.
    pub name: String,
    /// A paragraph about the tenant, in plain text; may be empty.
    pub about: String,
    /// The hosts that the tenant is served on, without ports; case does not matter. A custom directory may
    /// find tenants in other ways.
    pub hosts: Vec<String>,
    /// The origin for links in mail and files; by default the one that a request was sent to.
    pub public_origin: Option<PublicOrigin>,
    /// The path below which the tenant is served, in place of the path of the public origin; see
    /// [`base_path`](Self::base_path).
    pub below: Option<BasePath>,
    /// The sender of mail, such as `Acme <desk@acme.example>`; by default the server's.
    pub mail_from: Option<String>,
    /// The witnesses that the log's checkpoints are offered to; none by default.
    pub witnesses: Vec<WitnessConfig>,
    /// The URL of the time-stamping authority that is asked for timestamps of the log's checkpoints; none by default.
    pub timestamp_url: Option<String>,
    /// The webhooks; none by default.
    pub webhooks: Arc<[WebhookSettings]>,
    /// How long before a deadline expected members are reminded that have not filed, in milliseconds; `None`: never.
    pub remind_millis: Option<i64>,
    /// Who may operate the tenant.
    pub operators: Arc<dyn Operators>,
    /// Which members the program around the service has authenticated, without a bearer token; none by default.
    pub members: Option<Arc<dyn MemberSignOn>>,
    /// The quotas: how much the tenant accepts.
    pub quotas: Quotas,
    /// A rule of the program around the service, which may refuse takes that the rules accept; none by default.
    pub policy: Option<Arc<dyn Policy>>,
    /// Figures of the program around the service, shown beside the result of a session as not verified; none by default.
    pub figures: Option<Arc<dyn OwnFigures>>,
    /// The number of days after which unsuccessful applications are erased; `None`: never.
    pub retention_days: Option<u32>,
    /// The sessions that convene by themselves; none by default.
    pub schedule: Schedule,
    /// The committee's settings, if the site has committees.
    pub committee: CommitteeSettings,
    /// Whether search engines are kept out, by `/robots.txt` and a header.
    pub noindex: bool,
    /// Links at the foot of every page, such as an imprint; none by default.
    pub footer: Vec<FooterLink>,
}

impl TenantConfig {
    /// A tenant with this id, also as its name, and these operators; without hosts, and with defaults for
    /// everything else (MANUAL.md, 13.2).
    pub fn new(id: TenantId, operators: impl Operators) -> Self {
        Self {
            name: id.as_str().to_owned(),
            id,
            about: String::new(),
            hosts: Vec::new(),
            public_origin: None,
            below: None,
            mail_from: None,
            witnesses: Vec::new(),
            timestamp_url: None,
            webhooks: Arc::default(),
            remind_millis: None,
            operators: Arc::new(operators),
            quotas: Quotas::default(),
            members: None,
            policy: None,
            figures: None,
            retention_days: None,
            schedule: Schedule::default(),
            committee: CommitteeSettings::default(),
            noindex: false,
            footer: Vec::new(),
        }
    }

    /// The host in the name of the tenant's log: the host of the public origin, without its port (API.md, 11.5).
    pub fn log_host(&self) -> &str {
        self.public_origin.as_ref().map_or("localhost", PublicOrigin::host)
    }

    /// The path below which the tenant is served: every link leads below it, and requests for other paths are not answered.
    /// The path of the public origin unless [`below`](Self::below) is set; empty by default.
    pub fn base_path(&self) -> &BasePath {
        static ROOT: BasePath = BasePath::ROOT;
        let of_origin = || self.public_origin.as_ref().map_or(&ROOT, PublicOrigin::path);
        self.below.as_ref().unwrap_or_else(of_origin)
    }

    /// The public origin with the base path, if there is a public origin.
    pub fn public_url(&self) -> Option<String> {
        let origin = self.public_origin.as_ref()?.origin();
        Some(format!("{origin}{}", self.base_path()))
    }

    /// The address for links in mail that no request causes: that of the public origin, or `https` on the first host.
    pub fn origin_without_request(&self) -> String {
        self.public_url().unwrap_or_else(|| {
            let host = self.hosts.first().map_or("localhost", String::as_str);
            format!("https://{host}{}", self.base_path())
        })
    }

    /// Sets the path below which the tenant is served.
    #[must_use]
    pub fn below(self, path: BasePath) -> Self {
        Self { below: Some(path), ..self }
    }

    /// Sets the hosts: names or addresses, without a port.
    #[must_use]
    pub fn on_hosts(self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hosts: hosts.into_iter().map(Into::into).collect(), ..self }
    }
}

impl std::fmt::Debug for TenantConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, hosts, .. } = self;
        f.debug_struct("TenantConfig").field("id", id).field("hosts", hosts).finish_non_exhaustive()
    }
}

/// A link at the foot of every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FooterLink {
    text: String,
    url: String,
}

impl FooterLink {
    /// The most links of a tenant.
    pub const MAX: usize = 6;

    /// A link with this text, 1 to 60 characters on a line, to an address that begins with `https://`, `http://` or
    /// `mailto:`. `None` for any other.
    pub fn new(text: &str, url: &str) -> Option<Self> {
        let is_line = (1..=60).contains(&text.chars().count()) && !text.contains(char::is_control);
        let schemes = ["https://", "http://", "mailto:"];
        let goes = schemes
            .iter()
            .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        let is_address = url.len() <= 2_000 && url.bytes().all(|byte| byte.is_ascii_graphic());
        (is_line && goes && is_address).then(|| Self { text: text.to_owned(), url: url.to_owned() })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the address.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// A witness of a tenant's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WitnessConfig {
    /// Its submission prefix.
    pub url: String,
    /// The key that it cosigns with.
    pub key: WitnessKey,
}

impl WitnessConfig {
    /// The witness with this submission prefix, which cosigns with this key.
    pub fn new(url: impl Into<String>, key: WitnessKey) -> Self {
        Self { url: url.into(), key }
    }
}

/// The services of a site: the session API, and optionally the daily committee.
#[derive(Clone)]
#[non_exhaustive]
pub struct Services {
    /// Interface A.
    pub swarm: Swarm,
    /// Interface B.
    pub(crate) committees: SiteCommittees,
    /// The feed of changed tenants, if the store has one. Without it, maintenance polls every tenant.
    pub changes: Option<Store>,
    /// The signer of the logs. Without a signer there are no checkpoints, proofs and receipts.
    pub signer: Option<LogSigner>,
}

impl Services {
    /// Sets the feed of changed tenants.
    #[must_use]
    pub fn with_changes(self, changes: impl Into<Store>) -> Self {
        Self { changes: Some(changes.into()), ..self }
    }

    /// Sets the signer of the logs.
    #[must_use]
    pub fn with_signer(self, signer: LogSigner) -> Self {
        Self { signer: Some(signer), ..self }
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { swarm, committees, changes, signer } = self;
        let mut services = f.debug_struct("Services");
        services.field("swarm", swarm).field("committees", committees);
        services.field("changes", &changes.is_some()).field("signer", signer).finish()
    }
}

impl From<Swarm> for Services {
    fn from(swarm: Swarm) -> Self {
        Self { swarm, committees: SiteCommittees::default(), changes: None, signer: None }
    }
}
