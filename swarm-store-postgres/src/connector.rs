//! Connects to the first server of an address that answers and takes writes. As libpq, it uses TLS over the network alone,
//! never over a Unix socket.

use async_trait::async_trait;
use swarm_core::{Entropy as _, SystemEntropy};
#[cfg(feature = "tls")]
use tokio_postgres::config::SslMode;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres::{Config, Error, NoTls};

use crate::access::Access;
use crate::connect::{Connect, ConnectError, Opened};
use crate::failure::{Outcome, takes_no_writes};
use crate::settings::{Server, Settings};

#[cfg(feature = "tls")]
type Tls = tokio_postgres_rustls::MakeRustlsConnect;
#[cfg(not(feature = "tls"))]
type Tls = NoTls;

/// The servers, and how to encrypt connections to them.
pub(crate) struct Connector {
    config: Config,
    servers: Vec<Server>,
    /// `None` where no connection is encrypted.
    tls: Option<Tls>,
    access: Access,
}

impl Connector {
    pub(crate) fn new(settings: &Settings) -> Outcome<Self> {
        #[cfg(feature = "tls")]
        let tls = match settings.config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(crate::tls::connector(&settings.tls)?),
        };
        #[cfg(not(feature = "tls"))]
        let tls = None;
        let (config, servers) = (settings.config.clone(), settings.servers.clone());
        Ok(Self { config, servers, tls, access: settings.options.access })
    }

    /// Connects to the first server that has these attributes.
    async fn first(&self, attributes: TargetSessionAttrs) -> Result<Opened, Error> {
        let mut refused = None;
        for server in self.in_order() {
            match self.connect_to(server, attributes).await {
                Ok(connected) => return Ok(connected),
                // A server that takes no writes says more than another that does not answer.
                Err(error) if !refused.as_ref().is_some_and(takes_no_writes) => {
                    refused = Some(error);
                }
                Err(_) => {}
            }
        }
        match refused {
            Some(error) => Err(error),
            // Settings without a host cannot be connected to: the error says so.
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                Ok(Opened::new(client, connection))
            }
        }
    }

    /// The servers in the order in which they are tried.
    fn in_order(&self) -> Vec<&Server> {
        let mut servers: Vec<_> = self.servers.iter().collect();
        if self.config.get_load_balance_hosts() == LoadBalanceHosts::Random {
            let mut random = [0];
            if SystemEntropy.fill(&mut random).is_ok() {
                let count = servers.len().max(1);
                servers.rotate_left(usize::from(random[0]) % count);
            }
        }
        servers
    }

    async fn connect_to(
        &self,
        server: &Server,
        attributes: TargetSessionAttrs,
    ) -> Result<Opened, Error> {
        let mut config = server.config.clone();
        config.target_session_attrs(attributes);
        match self.tls.as_ref().filter(|_| !server.is_socket) {
            Some(tls) => {
                let (client, connection) = config.connect(tls.to_owned()).await?;
                Ok(Opened::new(client, connection))
            }
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                Ok(Opened::new(client, connection))
            }
        }
    }
}

#[async_trait]
impl Connect for Connector {
    /// Connects to the first server that takes writes; if it is only read, to another if there is none.
    async fn connect(&self) -> Result<Opened, ConnectError> {
        let writable = self.first(TargetSessionAttrs::ReadWrite).await;
        Ok(match (writable, self.access) {
            (Err(_), Access::ReadOnly) => self.first(TargetSessionAttrs::Any).await?,
            (connected, _) => connected?,
        })
    }

    fn servers(&self) -> String {
        let names: Vec<_> = self.servers.iter().map(|server| &*server.name).collect();
        names.join(", ")
    }
}
