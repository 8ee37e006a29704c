//! Flags of the commands, and the environment variables that may take their place (MANUAL.md, 13.1 and 13.3).

use std::convert::Infallible;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::text_file::trimmed;

pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

#[derive(Args, Clone, Default)]
pub(crate) struct Source {
    /// The store: sqlite:PATH (created if missing), memory, postgres://user@host/database,
    /// redis://host:port, rediss://host:port, redis-cluster://host:port,host:port or
    /// redis-sentinel://host:port,host:port/name. With ?strict=true, a server that may lose writes is
    /// refused; with ?wait=1, each commit waits for a Redis replica. Flags are visible to all users of the machine: give passwords in the environment
    /// or the file [default: sqlite:swarm.db]
    #[arg(long, env = "SWARM_STORE", hide_env_values = true, value_name = "URL", value_parser = address)]
    pub(crate) store: Option<String>,
    /// Configuration file (TOML): the flags of serve by name, and the tenants
    #[arg(long, env = "SWARM_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Clone, Default)]
pub(crate) struct Options {
    /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) source: Source,
    /// The server's signing key (PKCS#8 PEM, mode 0600); made if missing, and for a store in memory kept by
    /// the process alone [default: swarm.key]
    #[arg(long, env = "SWARM_SIGNING_KEY", value_name = "FILE")]
    pub(crate) signing_key: Option<PathBuf>,
    /// Certificate chain for TLS (PEM file); reloaded on SIGHUP
    #[arg(long, env = "SWARM_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM file)
    #[arg(long, env = "SWARM_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Serve /metrics, /healthz and /readyz on this address instead of the public one
    #[arg(long, env = "SWARM_METRICS_LISTEN", value_name = "ADDR", value_parser = address)]
    pub(crate) metrics_listen: Option<String>,
    /// Serve only reads: refuse every commit, and run no background work
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Trust X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-For, as set by a proxy
    #[arg(long, env = "SWARM_TRUST_FORWARDED", value_name = "BOOL", num_args = 0..=1,
          default_missing_value = "true", value_parser = Trimmed(BoolishValueParser::new()))]
    pub(crate) trust_forwarded: Option<bool>,
    /// Format of the log on standard error [default: text]
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT",
          value_parser = Trimmed(EnumValueParser::<LogFormat>::new()))]
    pub(crate) log_format: Option<LogFormat>,
    /// Mail server, smtp://user:password@host:port or smtps://…; without one, mail stays in the
    /// outbox. Flags are visible to all users of the machine: give passwords in the environment or
    /// the file
    #[arg(long, env = "SWARM_SMTP_URL", hide_env_values = true, value_name = "URL", value_parser = address)]
    pub(crate) smtp_url: Option<String>,
    /// Sender of mail; required with a mail server
    #[arg(long, env = "SWARM_MAIL_FROM", value_name = "ADDRESS", value_parser = address)]
    pub(crate) mail_from: Option<String>,
}

#[derive(Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) options: Options,
    /// Also connect to the store, and print whether it answers and what it warns of; a new store gets
    /// its tables
    #[arg(long)]
    pub(crate) connect: bool,
}

#[derive(Args)]
pub(crate) struct HashTokenOptions {
    /// Generate a token, and print it before its hash
    #[arg(long)]
    pub(crate) new: bool,
}

/// Which certificates of services a command trusts.
#[derive(Args, Clone, Default)]
pub(crate) struct Trust {
    /// A PEM file with certificate authorities to trust besides those of the system [the environment variables
    /// SSL_CERT_FILE and SSL_CERT_DIR name others in place of those of the system]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

#[derive(Args)]
#[command(override_usage = "swarm verify TAKE [--key MEMBER-KEY]
       swarm verify TAKE PROOF --key LOG-KEY [--member-key MEMBER-KEY]
       swarm verify BUNDLE [--key LOG-KEY] [--log URL|DIR] [--policy FILE] [--members FILE]
                           [--timestamp-ca FILE] [--strict]
       swarm verify OLD-CHECKPOINT NEW-CHECKPOINT URL --key LOG-KEY
       swarm verify RECEIPT [BODY] --request 'POST /api/swarm/submit' --key LOG-KEY")]
pub(crate) struct VerifyOptions {
    /// What is verified: files, URLs, or - for standard input. A receipt is what curl -i prints; URL is where the log's tiles are
    #[arg(value_name = "FILE|URL", required = true, num_args = 1..=3, value_parser = address)]
    pub(crate) things: Vec<String>,
    /// The key, obtained from elsewhere: of a take alone its member's, else the log's (logKey or signingKey)
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub(crate) key: Option<String>,
    /// The member's key, for a take with its proof
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub(crate) member_key: Option<String>,
    /// Of a bundle: all entries of the log too, from its address or from a folder with its tiles
    #[arg(long, value_name = "URL|DIR", value_parser = address)]
    pub(crate) log: Option<String>,
    /// Of a bundle: the witnesses that must have cosigned the checkpoint, as a C2SP tlog-policy
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Of a bundle: keys of members, obtained from elsewhere; a memberId and a key on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) members: Option<PathBuf>,
    /// Of a bundle: a PEM file with certificates of time-stamping authorities to trust, or of those that certify them. Its
    /// timestamp is checked by the program openssl
    #[arg(long, value_name = "FILE")]
    pub(crate) timestamp_ca: Option<PathBuf>,
    /// Exit with 3 where something is notable
    #[arg(long)]
    pub(crate) strict: bool,
    /// Method and path of the request that a receipt answers
    #[arg(long, value_name = "METHOD PATH")]
    pub(crate) request: Option<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
#[command(
    after_help = "Example, in a crontab: 17 * * * * swarm watch https://desk.example --state /var/lib/desk-log"
)]
pub(crate) struct WatchOptions {
    /// Address of the service, or of its log; or the folder of a mirror
    #[arg(value_parser = address)]
    pub(crate) url: String,
    /// Folder in which to keep what was seen; made if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// The log's key, obtained from elsewhere; else the one that the server names at the first run
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub(crate) key: Option<String>,
    /// Keep the entries in DIR/mirror, under the paths that the log serves them at
    #[arg(long)]
    pub(crate) mirror: bool,
    /// The log and the witnesses to trust, a C2SP tlog-policy
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Exit with 3 where the log shows nothing newer than this (6h, 1d)
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pub(crate) max_age: Option<Duration>,
    /// Look once and exit; the default
    #[arg(long, conflicts_with = "every")]
    pub(crate) once: bool,
    /// Look again after this time (60s, 5m, 1h), until the log does not continue
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pub(crate) every: Option<Duration>,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
pub(crate) struct ExportOptions {
    /// Address of the service
    #[arg(value_parser = address)]
    pub(crate) url: String,
    /// Folder for the files; made if missing, else empty
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// A key, without the white space and the byte order marks around it that it was copied with.
fn key(text: &str) -> Result<String, Infallible> {
    Ok(text.trim_matches(|mark: char| mark.is_whitespace() || mark == '\u{feff}').to_owned())
}

/// A number with s, m, h or d.
fn pause(text: &str) -> Result<Duration, String> {
    let seconds = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let read = seconds.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*seconds)
    });
    let pause = read.filter(|seconds| *seconds > 0).map(Duration::from_secs);
    pause.ok_or_else(|| "must be a number with s, m, h or d".to_owned())
}

#[derive(Args)]
pub(crate) struct DemoOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, env = "SWARM_LISTEN", value_name = "ADDR", default_value = DEFAULT_LISTEN,
          value_parser = address)]
    pub(crate) listen: String,
    /// Format of the log on standard error
    #[arg(long, env = "SWARM_LOG_FORMAT", value_name = "FORMAT", default_value = "text",
          value_parser = Trimmed(EnumValueParser::<LogFormat>::new()))]
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

/// Reads a value that is no text and no path as [`address`] reads a text.
#[derive(Clone)]
struct Trimmed<P>(P);

impl<P: TypedValueParser> TypedValueParser for Trimmed<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        let value = value.to_str().map_or(value, |text| OsStr::new(trimmed(text)));
        self.0.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// An address or a name without the line ends and byte order marks at its ends, which files and shells leave there.
#[allow(clippy::unnecessary_wraps, reason = "a value parser returns a result")]
pub(crate) fn address(text: &str) -> Result<String, Infallible> {
    Ok(trimmed(text).to_owned())
}
