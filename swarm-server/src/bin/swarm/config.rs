//! Configuration from flags, environment and file (MANUAL.md, 13.1 and 13.2). A flag overrides the
//! environment, which overrides the file. Unknown or invalid settings stop the start with a message
//! that names them.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use swarm_core::domain::Quotas;
use toml::value::Datetime;

use crate::Failure;
use crate::arguments::{DEFAULT_LISTEN, LogFormat, Options, Source};
use crate::failure::full_path;
use crate::mail::{Smtp, checked_sender};
use crate::schedule::ScheduleTable;
use crate::secrets::is_quoted;
use crate::store::DEFAULT_STORE;
use crate::text_file::{read_text, trimmed};
use crate::webhooks::WebhookTable;

/// The configuration file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    store: Option<String>,
    #[serde(alias = "signing-key")]
    signing_key: Option<PathBuf>,
    #[serde(alias = "tls-cert")]
    tls_cert: Option<PathBuf>,
    #[serde(alias = "tls-key")]
    tls_key: Option<PathBuf>,
    #[serde(alias = "metrics-listen")]
    metrics_listen: Option<String>,
    #[serde(default, alias = "read-only")]
    read_only: bool,
    #[serde(alias = "trust-forwarded")]
    trust_forwarded: Option<bool>,
    #[serde(alias = "log-format")]
    log_format: Option<LogFormat>,
    #[serde(alias = "smtp-url")]
    smtp_url: Option<String>,
    #[serde(alias = "mail-from")]
    mail_from: Option<String>,
    #[serde(default)]
    tenants: Vec<TenantTable>,
}

/// One `[[tenants]]` table of the file, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantTable {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) public_origin: Option<String>,
    pub(crate) admin_token_hash: Option<String>,
    #[serde(default)]
    pub(crate) admin_tokens: Vec<AdminTokenTable>,
    pub(crate) mail_from: Option<String>,
    pub(crate) retention_days: Option<u32>,
    #[serde(default)]
    pub(crate) noindex: bool,
    #[serde(default)]
    pub(crate) footer: Vec<FooterTable>,
    #[serde(default)]
    pub(crate) witnesses: Vec<WitnessTable>,
    pub(crate) timestamp_url: Option<String>,
    pub(crate) remind: Option<String>,
    #[serde(default)]
    pub(crate) webhooks: Vec<WebhookTable>,
    #[serde(default)]
    pub(crate) quotas: Quotas,
    #[serde(default)]
    pub(crate) schedule: Vec<ScheduleTable>,
    #[serde(default)]
    pub(crate) committee: CommitteeTable,
}

/// One of a tenant's `admin_tokens`, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdminTokenTable {
    pub(crate) name: String,
    pub(crate) hash: String,
    pub(crate) role: Option<String>,
}

/// One of a tenant's links at the foot of its pages, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FooterTable {
    pub(crate) text: String,
    pub(crate) url: String,
}

/// One of a tenant's `witnesses`, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WitnessTable {
    pub(crate) url: String,
    pub(crate) key: String,
}

/// A tenant's `[tenants.committee]`, not yet checked.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitteeTable {
    pub(crate) key_prefix: Option<String>,
    pub(crate) brief_at: Option<String>,
    pub(crate) deadline: Option<String>,
    pub(crate) export_to: Option<PathBuf>,
    pub(crate) export_mode: Option<String>,
}

/// The merged configuration.
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) store: String,
    pub(crate) signing_key: Option<PathBuf>,
    /// The certificate file and the key file.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) metrics_listen: Option<String>,
    pub(crate) read_only: bool,
    pub(crate) trust_forwarded: bool,
    pub(crate) log_format: LogFormat,
    pub(crate) mail: Option<MailConfig>,
    pub(crate) tenants: Vec<TenantTable>,
    /// The file, for reloading the tenants.
    pub(crate) file: Option<PathBuf>,
}

/// The mail settings.
pub(crate) struct MailConfig {
    pub(crate) smtp_url: String,
    /// The sender for tenants without `mail_from`, as `checked_sender` returned it.
    pub(crate) from: Option<String>,
}

impl MailConfig {
    /// The connection to the mail server, which is not opened yet.
    pub(crate) fn smtp(&self) -> Result<Smtp, Failure> {
        Smtp::new(&self.smtp_url, self.from.as_deref())
    }
}

impl Source {
    /// The configuration of a command that opens the store and serves nothing: the settings of servers do not count, so those of
    /// the file need not be complete without flags and environment.
    pub(crate) fn resolve(self) -> Result<Config, Failure> {
        let File { store, signing_key, log_format, tenants, .. } = self.read()?;
        let file = File { store, signing_key, log_format, tenants, ..File::default() };
        Options { source: self, ..Options::default() }.merged(file)
    }

    fn read(&self) -> Result<File, Failure> {
        Ok(self.config.as_deref().map(read).transpose()?.unwrap_or_default())
    }
}

impl Options {
    /// Merges flags, environment and file.
    pub(crate) fn resolve(self) -> Result<Config, Failure> {
        let file = self.source.read()?;
        self.merged(file)
    }

    fn merged(self, file: File) -> Result<Config, Failure> {
        let Source { store, config: path } = self.source;
        let from = self.mail_from.or(file.mail_from);
        let from = from.as_deref().map(checked_sender).transpose();
        let from = from.map_err(|rule| format!("mail_from: {rule}"))?;
        let smtp_url = file.smtp_url.map(|url| trimmed(&url).to_owned());
        let mail = match self.smtp_url.or(smtp_url) {
            Some(_) if from.is_none() && file.tenants.is_empty() => {
                return Err("smtp_url needs mail_from".into());
            }
            smtp_url => smtp_url.map(|smtp_url| MailConfig { smtp_url, from }),
        };
        let or = |flag: Option<String>, file: Option<String>, default: &str| {
            flag.or(file).unwrap_or_else(|| default.to_owned())
        };
        let listen = or(self.listen, file.listen, DEFAULT_LISTEN);
        let metrics_listen = self.metrics_listen.or(file.metrics_listen);
        let [signing_key, tls_cert, tls_key] = [
            ("signing_key", self.signing_key.or(file.signing_key)),
            ("tls_cert", self.tls_cert.or(file.tls_cert)),
            ("tls_key", self.tls_key.or(file.tls_key)),
        ]
        .map(|(key, path)| path.map(|path| checked_path(key, path)).transpose());
        for (key, address) in
            [("listen", Some(&listen)), ("metrics_listen", metrics_listen.as_ref())]
        {
            if let Some(address) = address.filter(|address| !is_host_and_port(address)) {
                return Err(format!(
                    "{key}: must be HOST:PORT, not {address:?}; every address is 0.0.0.0:8080 or, with IPv6, [::]:8080"
                )
                .into());
            }
        }
        if metrics_listen.as_ref().is_some_and(|address| are_same(&listen, address)) {
            return Err("metrics_listen: must be another address than listen".into());
        }
        let tls = match (tls_cert?, tls_key?) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(_), None) => return Err("tls_cert needs tls_key".into()),
            (None, Some(_)) => return Err("tls_key needs tls_cert".into()),
        };
        Ok(Config {
            listen,
            store: or(store, file.store.map(|store| trimmed(&store).to_owned()), DEFAULT_STORE),
            signing_key: signing_key?,
            tls,
            metrics_listen,
            read_only: self.read_only || file.read_only,
            trust_forwarded: self.trust_forwarded.or(file.trust_forwarded).unwrap_or_default(),
            log_format: self.log_format.or(file.log_format).unwrap_or_default(),
            mail,
            tenants: file.tenants,
            file: path,
        })
    }
}

/// The path of a setting, unless a file for environment variables has put more into it: quotation marks, or a line end of Windows.
fn checked_path(key: &str, path: PathBuf) -> Result<PathBuf, Failure> {
    let text = path.to_string_lossy().into_owned();
    let fault = if is_quoted(&text) {
        "is in quotation marks, which would be part of it"
    } else if text.chars().any(char::is_control) || text.trim() != text {
        "has white space at an end, or control characters"
    } else {
        return Ok(path);
    };
    Err(format!("{key}: {text:?} {fault}").into())
}

/// Whether the text has the form HOST:PORT. The host is resolved when the server starts.
fn is_host_and_port(address: &str) -> bool {
    let Some((host, port)) = address.rsplit_once(':') else { return false };
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]%".contains(&byte);
    !host.is_empty() && host.bytes().all(is_of_host) && port.parse::<u16>().is_ok()
}

/// Whether only one of two addresses can be listened on, as far as that is known without resolving names.
fn are_same(one: &str, other: &str) -> bool {
    // It is another one each time.
    if one.ends_with(":0") {
        return false;
    }
    match (one.parse::<SocketAddr>(), other.parse::<SocketAddr>()) {
        (Ok(one), Ok(other)) => {
            let is_same = one.ip() == other.ip() || has_all(&one, &other) || has_all(&other, &one);
            one.port() == other.port() && is_same
        }
        _ => one == other,
    }
}

/// Whether an address is that of all hosts to which the other one belongs: `[::]` has those of IPv4 too.
fn has_all(address: &SocketAddr, other: &SocketAddr) -> bool {
    address.ip().is_unspecified() && (address.is_ipv6() || other.is_ipv4())
}

/// Reads the tenants from the file again.
pub(crate) fn tenants(path: &Path) -> Result<Vec<TenantTable>, Failure> {
    Ok(read(path)?.tenants)
}

fn read(path: &Path) -> Result<File, Failure> {
    let path = full_path(path);
    let name = path.display();
    let text =
        fs::File::open(&path).and_then(read_text).map_err(|error| format!("{name}: {error}"))?;
    Ok(toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let value = error.span().and_then(|span| text.get(span)).unwrap_or_default();
        let fault = fault(value, error.message());
        format!("{name}: line {line}: {}{fault}", key_before(before))
    })?)
}

/// What is wrong with a value. The dates and times of TOML are no texts, and its reader calls them maps.
fn fault<'a>(value: &str, message: &'a str) -> &'a str {
    let lacks_text = message == "invalid type: map, expected a string";
    if lacks_text && value.parse::<Datetime>().is_ok() {
        "a date or a time must be in quotation marks"
    } else {
        message
    }
}

/// The key on the last line of `before`, if there is one. Never the value, which may be a password.
fn key_before(before: &str) -> String {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.split_once('=').map(|(key, _)| key.trim()).filter(|key| !key.is_empty());
    key.map(|key| format!("{key}: ")).unwrap_or_default()
}
