//! Flags of the commands, and the environment variables that may take their place (API.md, 13.1 and 13.3).

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use serde::Deserialize;

pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

#[derive(Args, Clone, Default)]
pub(crate) struct Source {
    /// The store: sqlite:PATH (created if missing), memory, postgres://user@host/database,
    /// redis://host:port, rediss://host:port, redis-cluster://host:port,host:port or
    /// redis-sentinel://host:port,host:port/name. With ?strict=true, a server that may lose writes is
    /// refused; with ?wait=1, each commit waits for a Redis replica. Flags are visible to all users of the machine: give passwords in the environment
    /// or the file [default: sqlite:swarm.db]
    #[arg(long, env = "SWARM_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Configuration file (TOML): the flags of serve by name, and the tenants
    #[arg(long, env = "SWARM_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Clone, Default)]
pub(crate) struct Options {
    /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Certificate chain for TLS (PEM file); reloaded on SIGHUP
    #[arg(long, env = "SWARM_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM file)
    #[arg(long, env = "SWARM_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Serve /metrics, /healthz and /readyz on this address instead of the public one
    #[arg(long, env = "SWARM_METRICS_LISTEN", value_name = "ADDR")]
    pub(crate) metrics_listen: Option<String>,
    /// Serve only reads: refuse every commit, and run no background work
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Trust X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-For, as set by a proxy
    #[arg(long, env = "SWARM_TRUST_FORWARDED", value_name = "BOOL", num_args = 0..=1,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) trust_forwarded: Option<bool>,
    /// Format of the log on standard error [default: text]
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Mail server, smtp://user:password@host:port or smtps://…; without one, mail stays in the
    /// outbox. Flags are visible to all users of the machine: give passwords in the environment or
    /// the file
    #[arg(long, env = "SWARM_SMTP_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) smtp_url: Option<String>,
    /// Sender of mail; required with a mail server
    #[arg(long, env = "SWARM_MAIL_FROM", value_name = "ADDRESS")]
    pub(crate) mail_from: Option<String>,
}

#[derive(Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) options: Options,
    /// Also connect to the store, and print whether it answers and what it warns of; the layout of a
    /// store from an older version is brought up to date
    #[arg(long)]
    pub(crate) connect: bool,
}

#[derive(Args)]
pub(crate) struct HashTokenOptions {
    /// Generate a token, and print it before its hash
    #[arg(long)]
    pub(crate) new: bool,
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The take: a file with its record, or the URL of its page
    #[arg(value_name = "FILE|URL")]
    pub(crate) take: String,
    /// The member's public key, obtained independently of the take
    #[arg(long, value_name = "BASE64")]
    pub(crate) key: Option<String>,
}

#[derive(Args)]
pub(crate) struct DemoOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR", default_value = DEFAULT_LISTEN)]
    pub(crate) listen: String,
    /// Format of the log on standard error
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Readable lines.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}
