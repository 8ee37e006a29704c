//! Parses the options of a store's address, and holds the settings of all connections.

use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{ConnectionInfo, ProtocolVersion};
use swarm_core::StoreError;
use swarm_core::store::Result;

/// How long a server may take to answer.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

/// How many commands may be in flight on a connection; others wait.
pub(super) const MAX_IN_FLIGHT: usize = 512;

/// An address, parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The address without its options. It may hold a password.
    pub(crate) url: String,
    /// Whether to refuse a server that may lose what it has acknowledged.
    pub(crate) strict: bool,
    /// The number of replicas that must have a commit before it is acknowledged.
    pub(crate) replicas: u8,
}

impl Options {
    /// Reads `…?strict=true&wait=1`. Errors name the option, never the address.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (url, options) = text.split_once('?').unwrap_or((text, ""));
        let mut parsed = Self { url: url.to_owned(), strict: false, replicas: 0 };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            parsed.set(option).map_err(|wrong| StoreError::misconfigured("connect", wrong))?;
        }
        Ok(parsed)
    }

    fn set(&mut self, option: &str) -> std::result::Result<(), &'static str> {
        match option.split_once('=') {
            Some(("strict", value)) => {
                self.strict = value.parse().map_err(|_| "strict must be true or false")?;
            }
            Some(("wait", value)) => {
                self.replicas = value.parse().map_err(|_| "wait must be a number from 0 to 255")?;
            }
            _ => return Err("an address takes the options strict and wait, nothing else"),
        }
        Ok(())
    }
}

/// Splits `[user:password@]host:port,…` into an address per host. The credentials before the first
/// host apply to all.
pub(super) fn each_host(scheme: &str, hosts: &str) -> Vec<String> {
    let (credentials, hosts) = match hosts.rsplit_once('@') {
        Some((credentials, hosts)) => (format!("{credentials}@"), hosts),
        None => (String::new(), hosts),
    };
    let hosts = hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
    hosts.map(|host| format!("{scheme}://{credentials}{host}")).collect()
}

/// The settings that all connections share.
pub(super) fn tuned(info: ConnectionInfo) -> ConnectionInfo {
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    info.set_redis_settings(settings).set_tcp_settings(TcpSettings::default().set_nodelay(true))
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn options_are_parsed_and_removed_from_the_url() {
        let parse = |text| Options::parse(text).ok();
        let options =
            |url: &str, strict, replicas| Some(Options { url: url.to_owned(), strict, replicas });
        assert_eq!(parse("redis://a:1/2"), options("redis://a:1/2", false, 0));
        assert_eq!(parse("redis://a?"), options("redis://a", false, 0));
        assert_eq!(parse("rediss://a/?strict=true"), options("rediss://a/", true, 0));
        let both = parse("redis-cluster://u:p@a:1,b:2?wait=2&strict=true");
        assert_eq!(both, options("redis-cluster://u:p@a:1,b:2", true, 2));
        assert_eq!(parse("redis://a?wait=0&strict=false"), options("redis://a", false, 0));
    }

    #[test]
    fn error_names_the_option_but_not_the_address() {
        for (option, named) in [
            ("strict", "strict"),
            ("strict=", "strict"),
            ("strict=yes", "strict"),
            ("wait=-1", "wait"),
            ("wait=256", "wait"),
            ("wait=one", "wait"),
            ("wait=1#", "wait"),
            ("protocol=2", "nothing else"),
            ("Wait=1", "nothing else"),
        ] {
            let error = Options::parse(&format!("redis://user:secret@host?{option}")).err();
            let why = error.as_ref().and_then(|error| error.source()).map(ToString::to_string);
            let why = why.unwrap_or_default();
            assert!(why.contains(named) && !why.contains("secret"), "{option}: {why}");
        }
    }
}
