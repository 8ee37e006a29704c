//! The tenants of the configuration file, or the default tenant without one; and a warning about tenants that a store holds
//! although they are not served.

use std::collections::{BTreeSet, HashMap, HashSet};

use swarm_core::domain::committee::KeyPrefix;
use swarm_core::domain::{Actor, AdminTokenHash, Invalid, MAX_WINDOW_MILLIS, TimeOfDay};
use swarm_core::store::Store;
use swarm_core::{CommitteeSettings, TenantId};
use swarm_http::{AdminTokens, FooterLink, Host, Operator, PublicOrigin, Role, TenantConfig};

use crate::config::{AdminTokenTable, CommitteeTable, Config, FooterTable, TenantTable};
use crate::failure::with_causes;
use crate::mail::checked_sender;
use crate::schedule::{millis, schedule};
use crate::secrets::check_token;
use crate::{Failure, timestamps, webhooks, witnesses};

/// The only tenant of a server without configured tenants, on every host. `source` names the place of the token in
/// errors.
pub(crate) fn default_tenant(source: &str, admin_token: &str) -> Result<TenantConfig, Failure> {
    check_token(source, admin_token)?;
    let operators = AdminTokens::single(AdminTokenHash::of(admin_token.as_bytes()));
    Ok(TenantConfig::new(TenantId::parse("default")?, operators))
}

/// Checks the tenants of the file.
pub(crate) fn configured(tables: &[TenantTable]) -> Result<Vec<TenantConfig>, Failure> {
    let mut ids = HashSet::new();
    let configs: Vec<_> = tables.iter().map(tenant).collect::<Result<_, Failure>>()?;
    match configs.iter().find(|config| !ids.insert(&config.id)) {
        Some(twice) => Err(format!("tenants: duplicate id {:?}", twice.id.as_str()).into()),
        None => Ok(configs),
    }
}

/// What a server warns of at its start: logs that cannot be told apart, and links that lead to another tenant. Each text is
/// about the tenant before it.
pub(crate) fn warnings(tenants: &[TenantConfig]) -> Vec<(TenantId, String)> {
    let mut urls = HashMap::new();
    let mut warning = |tenant: &TenantConfig| match tenant.public_url() {
        None => Some(
            "the log is called localhost/…: set public_origin, or nobody else can tell it apart"
                .to_owned(),
        ),
        Some(url) => {
            let other = urls.insert(url.clone(), tenant.id.clone())?;
            Some(format!("public_origin is {url}, as of {other}: its links lead to one of them"))
        }
    };
    let warned = tenants.iter().filter_map(|tenant| Some((tenant.id.clone(), warning(tenant)?)));
    warned.collect()
}

fn tenant(table: &TenantTable) -> Result<TenantConfig, Failure> {
    let bad = |key: &str, fault: &str| format!("tenants: {:?}: {key}: {fault}", table.id);
    let id = TenantId::parse(table.id.as_str()).map_err(|invalid| bad("id", &invalid.rule))?;
    if table.hosts.is_empty() {
        return Err(bad("hosts", "must name at least one").into());
    }
    if let Some(host) = table.hosts.iter().find(|host| !is_host(host)) {
        return Err(bad(
            "hosts",
            &format!("{host:?} must be a host name without a port, an international one as xn--…"),
        )
        .into());
    }
    let operators = admin_tokens(table)?;
    let mut tenant = TenantConfig::new(id, operators).on_hosts(&table.hosts);
    if let Some(name) = &table.name {
        tenant.name = one_line(name, 1, 100)
            .ok_or_else(|| bad("name", "must be a line of 1 to 100 characters"))?;
    }
    if let Some(about) = &table.about {
        let about = one_line(about.trim(), 0, 2_000);
        tenant.about = about
            .ok_or_else(|| bad("about", "must be one paragraph of at most 2000 characters"))?;
    }
    let origin = table.public_origin.as_deref().map(PublicOrigin::parse).transpose();
    tenant.public_origin = origin.map_err(|invalid| bad("public_origin", &invalid.rule))?;
    if let Some(from) = &table.mail_from {
        checked_sender(from).map_err(|rule| bad("mail_from", rule))?;
        tenant.mail_from = Some(from.clone());
    }
    tenant.witnesses =
        witnesses::configured(&table.witnesses).map_err(|fault| bad("witnesses", &fault))?;
    let timestamp_url = table.timestamp_url.as_deref().map(timestamps::configured).transpose();
    tenant.timestamp_url = timestamp_url.map_err(|fault| bad("timestamp_url", &fault))?;
    tenant.webhooks =
        webhooks::configured(&table.webhooks).map_err(|fault| bad("webhooks", &fault))?;
    tenant.remind_millis =
        table.remind.as_deref().map(remind).transpose().map_err(|rule| bad("remind", rule))?;
    tenant.quotas = table.quotas;
    // With 0 days every application would be gone at once.
    for (key, days) in [
        ("pending_days", Some(table.quotas.pending_days)),
        ("retention_days", table.retention_days),
    ] {
        if days == Some(0) {
            return Err(bad(key, "must be at least 1").into());
        }
    }
    tenant.retention_days = table.retention_days;
    tenant.noindex = table.noindex;
    tenant.footer = footer(&table.footer).map_err(|fault| bad("footer", &fault))?;
    tenant.schedule = schedule(&table.schedule).map_err(|(key, fault)| bad(&key, &fault))?;
    tenant.committee = committee(&table.committee)
        .map_err(|invalid| bad(&format!("committee.{}", invalid.field), &invalid.rule))?;
    Ok(tenant)
}

/// How long before a deadline members are reminded. The error is the rule.
fn remind(text: &str) -> Result<i64, &'static str> {
    let before = millis(text).filter(|before| (1_000..=MAX_WINDOW_MILLIS).contains(before));
    before.ok_or("must be from 1s to 31d, as in 30m")
}

/// The operators of a tenant of the file, that of `admin_token_hash` first.
pub(crate) fn admin_tokens(table: &TenantTable) -> Result<AdminTokens, Failure> {
    let bad = |(key, fault)| format!("tenants: {:?}: {key}: {fault}", table.id);
    Ok(operators(table).map_err(bad)?)
}

/// The error is the invalid key and the reason.
fn operators(table: &TenantTable) -> Result<AdminTokens, (&'static str, String)> {
    const HASH: &str = "must be sha256: and 64 hexadecimal digits";
    if table.admin_token_hash.is_none() && table.admin_tokens.is_empty() {
        return Err(("admin_token_hash", "is missing, and there are no admin_tokens".to_owned()));
    }
    let mut operators = AdminTokens::new();
    if let Some(hash) = &table.admin_token_hash {
        let hash = AdminTokenHash::parse(hash).ok_or(("admin_token_hash", HASH.to_owned()))?;
        operators = AdminTokens::single(hash);
    }
    for AdminTokenTable { name, hash, role } in &table.admin_tokens {
        let bad = |fault: &str| ("admin_tokens", format!("{name:?}: {fault}"));
        let hash = AdminTokenHash::parse(hash).ok_or_else(|| bad(HASH))?;
        let actor = Actor::operator(name.as_str()).map_err(|invalid| bad(&invalid.to_string()))?;
        let role = role.as_deref().map_or(Some(Role::Admin), Role::parse);
        let role = role.ok_or_else(|| bad("role: must be admin, operator or reader"))?;
        let more = operators.with(Operator::new(actor, role), hash);
        operators = more.map_err(|_| {
            bad("a hash stands under one name and once, and a name has one role and at most two hashes")
        })?;
    }
    Ok(operators)
}

fn footer(tables: &[FooterTable]) -> Result<Vec<FooterLink>, String> {
    if tables.len() > FooterLink::MAX {
        return Err(format!("must be at most {} links", FooterLink::MAX));
    }
    let link = |table: &FooterTable| {
        FooterLink::new(&table.text, &table.url).ok_or_else(|| {
            let rule =
                "must be a text of 1 to 60 characters and an address with https, http or mailto, an international domain as xn--…";
            format!("{:?}: {rule}", table.text)
        })
    };
    tables.iter().map(link).collect()
}

/// The text, if it is one line of `min` to `max` characters.
fn one_line(text: &str, min: usize, max: usize) -> Option<String> {
    let fits = (min..=max).contains(&text.chars().count());
    (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Whether the text is a valid host without a port.
fn is_host(host: &str) -> bool {
    Host::parse(host).is_some_and(|parsed| parsed.name().eq_ignore_ascii_case(host))
}

/// The committee's settings, with defaults for those that are not set (MANUAL.md, 13.2).
fn committee(table: &CommitteeTable) -> Result<CommitteeSettings, Invalid> {
    let default = CommitteeSettings::default();
    let time = |field, text: &Option<String>, default| match text {
        Some(text) => TimeOfDay::parse(field, text),
        None => Ok(default),
    };
    let prefix = match &table.key_prefix {
        Some(prefix) => KeyPrefix::parse(prefix.as_str())?,
        None => default.key_prefix().clone(),
    };
    let brief_at = time("brief_at", &table.brief_at, default.brief_at())?;
    CommitteeSettings::new(prefix, brief_at, time("deadline", &table.deadline, default.deadline())?)
}

/// The ids of the tenants that a configuration serves.
pub(crate) struct ServedIds(BTreeSet<String>);

impl ServedIds {
    pub(crate) fn of(config: &Config) -> Self {
        let ids = config.tenants.iter().map(|table| table.id.clone());
        Self(if config.tenants.is_empty() { ["default".to_owned()].into() } else { ids.collect() })
    }

    /// A warning that names the tenants in the store that are not served, if there are any.
    pub(crate) async fn warning(&self, store: &Store) -> Option<String> {
        let held = match store.tenants().await {
            Ok(held) => held,
            Err(error) => {
                return Some(with_causes("the tenants of the store are not listed", &error));
            }
        };
        let unserved: Vec<_> =
            held.iter().map(TenantId::as_str).filter(|id| !self.0.contains(*id)).collect();
        let ids = unserved.join(", ");
        let warning = || format!("the store holds tenants that are not served: {ids}");
        (!unserved.is_empty()).then(warning)
    }
}

#[cfg(test)]
mod tests {
    use swarm_core::domain::Quotas;

    use super::*;

    #[test]
    fn hosts_have_no_port() {
        assert!(is_host("acme.example") && is_host("127.0.0.1") && is_host("[::1]"));
        for bad in ["", "acme.example:80", "a@b", "a b", "http://acme.example"] {
            assert!(!is_host(bad), "{bad}");
        }
    }

    /// Each quota is read from its own key, with its default (MANUAL.md, 13.2).
    #[test]
    fn quotas_override_defaults() {
        let read = |text: &str| toml::from_str::<Quotas>(text).unwrap();
        let with = |change: fn(&mut Quotas)| {
            let mut quotas = Quotas::default();
            change(&mut quotas);
            quotas
        };
        assert_eq!(read(""), Quotas::default());
        assert_eq!(read("pending_applications = 1"), with(|it| it.pending_applications = 1));
        assert_eq!(
            read("applications_per_address = 2"),
            with(|it| it.applications_per_address = 2)
        );
        assert_eq!(read("pending_days = 3"), with(|it| it.pending_days = 3));
        assert_eq!(read("memos_per_day = 0"), with(|it| it.memos_per_day = 0));
        assert_eq!(read("subjects = 5"), with(|it| it.subjects = 5));
        assert_eq!(read("signals_per_day = 6"), with(|it| it.signals_per_day = 6));
        assert_eq!(read("documents_bytes = 7"), with(|it| it.documents_bytes = 7));
        let submissions = with(|it| it.committee_submissions_per_day = 4);
        assert_eq!(read("committee_submissions_per_day = 4"), submissions);
    }
}
