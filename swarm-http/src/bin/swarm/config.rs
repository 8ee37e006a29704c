//! Flags, environment and file (contract, section 7). A flag beats the environment, which beats
//! the file; what is unknown or bad stops the start with a message that names it.

use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use crate::Failure;

/// Signed takes on dated sessions, before a deadline that nobody can argue with.
#[derive(Parser)]
#[command(name = "swarm", version)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server.
    Serve(Options),
    /// Serve an in-memory store, filled through the API with a subject, members, sessions and
    /// signed takes, and say what to open.
    Demo(DemoOptions),
    /// Write today's briefs to the folders that the configuration names (committee.export_to), and
    /// say how many.
    Export(Source),
}

#[derive(Args, Default)]
pub(crate) struct Source {
    /// Where everything is kept: memory, redis://host:port, rediss://host:port,
    /// redis-cluster://host:port,host:port or redis-sentinel://host:port,host:port/name; behind
    /// ?strict=true a server that may lose writes is refused, ?wait=1 has each commit on a replica.
    /// Everyone on the machine can read flags: a password is better off in the environment or
    /// the file [default: memory]
    #[arg(long, env = "SWARM_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// A TOML file with the flags of serve by name, and the tenants
    #[arg(long, env = "SWARM_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Address and port to listen on; port 0 takes any [default: 127.0.0.1:8080]
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR")]
    listen: Option<String>,
    #[command(flatten)]
    source: Source,
    /// Believe X-Forwarded-Host and X-Forwarded-Proto
    #[arg(long, env = "SWARM_TRUST_FORWARDED", value_name = "BOOL", num_args = 0..=1,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    trust_forwarded: Option<bool>,
    /// How the log is written to standard error [default: text]
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// The mail server, smtp://user:password@host:port or smtps://…; without one, mail stays in
    /// the outbox. Everyone on the machine can read flags: a password is better off in the
    /// environment or the file
    #[arg(long, env = "SWARM_SMTP_URL", hide_env_values = true, value_name = "URL")]
    smtp_url: Option<String>,
    /// Whom mail is from; needed with a mail server
    #[arg(long, env = "SWARM_MAIL_FROM", value_name = "ADDRESS")]
    mail_from: Option<String>,
}

#[derive(Args)]
pub(crate) struct DemoOptions {
    /// Address and port to listen on; port 0 takes any
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR", default_value = DEFAULT_LISTEN)]
    pub(crate) listen: String,
    /// How the log is written to standard error
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// The store that outlives no process.
pub(crate) const MEMORY: &str = "memory";

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
            store: or(store, file.store, MEMORY),
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
