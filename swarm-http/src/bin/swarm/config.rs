//! Flags, environment and file (contract, section 7). A flag beats the environment, which beats
//! the file; what is unknown or bad stops the start with a message that names it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Failure;
use crate::arguments::{DEFAULT_LISTEN, LogFormat, Options, Source};
use crate::store::DEFAULT_STORE;

/// The file, as written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    store: Option<String>,
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

/// One `[[tenants]]` of the file, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantTable {
    pub(crate) id: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) public_origin: Option<String>,
    pub(crate) admin_token_hash: String,
    #[serde(default)]
    pub(crate) committee: CommitteeTable,
}

/// A tenant's `[tenants.committee]`, as written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitteeTable {
    pub(crate) key_prefix: Option<String>,
    pub(crate) brief_at: Option<String>,
    pub(crate) deadline: Option<String>,
    pub(crate) export_to: Option<PathBuf>,
}

/// What the server goes by.
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) store: String,
    pub(crate) trust_forwarded: bool,
    pub(crate) log_format: LogFormat,
    pub(crate) mail: Option<MailConfig>,
    pub(crate) tenants: Vec<TenantTable>,
}

/// How mail is sent.
pub(crate) struct MailConfig {
    pub(crate) smtp_url: String,
    pub(crate) from: String,
}

impl Source {
    /// What a server would go by that is given nothing else.
    pub(crate) fn resolve(self) -> Result<Config, Failure> {
        Options { source: self, ..Options::default() }.resolve()
    }
}

impl Options {
    /// Puts flags, environment and file together.
    pub(crate) fn resolve(self) -> Result<Config, Failure> {
        let Source { store, config } = self.source;
        let file = config.as_deref().map(read).transpose()?.unwrap_or_default();
        let mail = match (self.smtp_url.or(file.smtp_url), self.mail_from.or(file.mail_from)) {
            (Some(smtp_url), Some(from)) => Some(MailConfig { smtp_url, from }),
            (Some(_), None) => return Err("smtp_url needs mail_from".into()),
            (None, _) => None,
        };
        let or = |flag: Option<String>, file: Option<String>, default: &str| {
            flag.or(file).unwrap_or_else(|| default.to_owned())
        };
        Ok(Config {
            listen: or(self.listen, file.listen, DEFAULT_LISTEN),
            store: or(store, file.store, DEFAULT_STORE),
            trust_forwarded: self.trust_forwarded.or(file.trust_forwarded).unwrap_or_default(),
            log_format: self.log_format.or(file.log_format).unwrap_or_default(),
            mail,
            tenants: file.tenants,
        })
    }
}

fn read(path: &Path) -> Result<File, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    Ok(toml::from_str(&text).map_err(|error| {
        // The line itself may hold a password: it is named, not shown.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("{name}: line {line}: {}", error.message())
    })?)
}
