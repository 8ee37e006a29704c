//! The servers of an address: several hosts are tried in their order.

use std::net::IpAddr;
use std::path::Path;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::failure::{Failure, Outcome};

const PORT: u16 = 5432;

/// The folders in which a server has its socket by default.
const SOCKET_FOLDERS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// The hosts that are tried when the address has none: the socket of this machine, as libpq does, and then the network.
#[cfg(unix)]
const DEFAULT_HOSTS: &str = "/var/run/postgresql,localhost";
#[cfg(not(unix))]
const DEFAULT_HOSTS: &str = "localhost";

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// How to connect to it. It may hold a password.
    pub(crate) config: Config,
    /// The names of its host in a file with passwords.
    pub(super) hosts: Vec<String>,
    pub(super) port: u16,
}

/// Where servers are: the values of `host`, `hostaddr` and `port`.
#[derive(Default)]
pub(super) struct Places {
    pub(super) hosts: String,
    pub(super) addresses: String,
    pub(super) ports: String,
}

impl Places {
    /// The servers there, with these settings.
    pub(super) fn servers(&self, settings: &Config) -> Outcome<Vec<Server>> {
        let is_default = self.hosts.is_empty() && self.addresses.is_empty();
        let hosts = list(if is_default { DEFAULT_HOSTS } else { &self.hosts });
        let (addresses, ports) = (list(&self.addresses), list(&self.ports));
        if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
            return Err(Failure::invalid("hostaddr", "as many as host"));
        }
        let count = hosts.len().max(addresses.len());
        if ports.len() > 1 && (is_default || ports.len() != count) {
            return Err(Failure::invalid("port", "one, or as many as host"));
        }
        let mut servers = Vec::new();
        for index in 0..count {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or_default();
            servers.push(server(
                settings,
                hosts.get(index).copied().unwrap_or_default(),
                addresses.get(index).copied().unwrap_or_default(),
                port_number(port)?,
            )?);
        }
        Ok(servers)
    }
}

fn server(settings: &Config, host: &str, address: &str, port: u16) -> Outcome<Server> {
    let mut config = settings.clone();
    config.port(port);
    if !address.is_empty() {
        let parsed: IpAddr =
            address.parse().map_err(|_| Failure::invalid("hostaddr", "an IP address"))?;
        config.hostaddr(parsed);
    }
    let shown = match (host, address) {
        // An entry of a list may be empty.
        ("", "") => "localhost",
        ("", address) => address,
        (host, _) => host,
    };
    // With an address, the host is the name in the certificate alone: TLS needs one.
    let is_socket = host.starts_with(['/', '@']);
    match host.strip_prefix('@') {
        // A socket without a file, whose name begins with a NUL (Linux).
        #[cfg(unix)]
        Some(name) if address.is_empty() => config.host_path(format!("\0{name}")),
        _ => config.host(if is_socket && !address.is_empty() { address } else { shown }),
    };
    let mut names = vec![shown.to_owned()];
    if address.is_empty() && cfg!(unix) && is_socket {
        // No TLS over a socket, whatever `sslmode` says.
        config.ssl_mode(SslMode::Disable);
        if SOCKET_FOLDERS.iter().any(|folder| Path::new(folder) == Path::new(host)) {
            names.push("localhost".to_owned());
        }
    }
    Ok(Server { config, hosts: names, port })
}

/// The entries of a list, which has none if it is empty.
fn list(values: &str) -> Vec<&str> {
    if values.is_empty() { Vec::new() } else { values.split(',').map(str::trim).collect() }
}

fn port_number(port: &str) -> Outcome<u16> {
    if port.is_empty() {
        return Ok(PORT);
    }
    let number = port.parse().ok().filter(|port| *port != 0);
    number.ok_or_else(|| Failure::invalid("port", "from 1 to 65535"))
}
