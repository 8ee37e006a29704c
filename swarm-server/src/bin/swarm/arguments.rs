//! Flags of the commands, and the environment variables that may take their place (API.md, 13.1 and 13.3).

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use serde::Deserialize;

pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

#[derive(Args, Default)]
pub(crate) struct Source {
    /// Where everything is kept: sqlite:PATH, a file that is made where there is none, memory,
    /// redis://host:port, rediss://host:port, redis-cluster://host:port,host:port or
    /// redis-sentinel://host:port,host:port/name; behind ?strict=true a server that may lose writes
    /// is refused, ?wait=1 has each commit on a replica. Everyone on the machine can read flags: a
    /// password is better off in the environment or the file [default: sqlite:swarm.db]
    #[arg(long, env = "SWARM_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A TOML file with the flags of serve by name, and the tenants
    #[arg(long, env = "SWARM_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Address and port to listen on; port 0 takes any [default: 127.0.0.1:8080]
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Speak TLS with this certificate chain, a PEM file; read again on SIGHUP
    #[arg(long, env = "SWARM_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, a PEM file
    #[arg(long, env = "SWARM_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Serve /metrics, /healthz and /readyz on this address, and not on the public one
    #[arg(long, env = "SWARM_METRICS_LISTEN", value_name = "ADDR")]
    pub(crate) metrics_listen: Option<String>,
    /// Serve reads alone: refuse every commit, and run no background work
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Believe X-Forwarded-Host and X-Forwarded-Proto
    #[arg(long, env = "SWARM_TRUST_FORWARDED", value_name = "BOOL", num_args = 0..=1,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) trust_forwarded: Option<bool>,
    /// How the log is written to standard error [default: text]
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// The mail server, smtp://user:password@host:port or smtps://…; without one, mail stays in
    /// the outbox. Everyone on the machine can read flags: a password is better off in the
    /// environment or the file
    #[arg(long, env = "SWARM_SMTP_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) smtp_url: Option<String>,
    /// Whom mail is from; needed with a mail server
    #[arg(long, env = "SWARM_MAIL_FROM", value_name = "ADDRESS")]
    pub(crate) mail_from: Option<String>,
}

#[derive(Args)]
pub(crate) struct HashTokenOptions {
    /// Mint a token, and print it before its line
    #[arg(long)]
    pub(crate) new: bool,
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The record of a take: a file, or the address of its page.
    #[arg(value_name = "FILE|URL")]
    pub(crate) take: String,
    /// The public key of its member, from another source than the take
    #[arg(long, value_name = "BASE64")]
    pub(crate) key: Option<String>,
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

/// How lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
