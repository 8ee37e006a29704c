//! Connects to the first server of an address that answers and takes writes. As libpq, it uses TLS over the network alone,
//! never over a Unix socket.

use swarm_core::{Entropy as _, SystemEntropy};
use tokio::task::JoinHandle;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres::tls::TlsStream;
use tokio_postgres::{Client, Config, Connection, Error, NoTls, Socket};

use crate::failure::{Outcome, takes_no_writes};
use crate::settings::{Access, Server, Settings};

#[cfg(feature = "tls")]
type Tls = tokio_postgres_rustls::MakeRustlsConnect;
#[cfg(not(feature = "tls"))]
type Tls = NoTls;

/// The servers, and how to encrypt connections to them.
pub(crate) struct Connector {
    config: Config,
    servers: Vec<Server>,
    tls: Tls,
    access: Access,
}

/// A connection, and the task that drives it.
pub(crate) type Connected = (Client, JoinHandle<()>);

impl Connector {
    pub(crate) fn new(settings: &Settings, access: Access) -> Outcome<Self> {
        #[cfg(feature = "tls")]
        let tls = crate::tls::connector(&settings.tls)?;
        #[cfg(not(feature = "tls"))]
        let tls = NoTls;
        let (config, servers) = (settings.config.clone(), settings.servers.clone());
        Ok(Self { config, servers, tls, access })
    }

    /// Connects to the first server that takes writes; if it is only read, to another if there is none.
    pub(crate) async fn connect(&self) -> Result<Connected, Error> {
        let writable = self.first(TargetSessionAttrs::ReadWrite).await;
        match (writable, self.access) {
            (Err(_), Access::ReadOnly) => self.first(TargetSessionAttrs::Any).await,
            (connected, _) => connected,
        }
    }

    /// Connects to the first server that has these attributes.
    async fn first(&self, attributes: TargetSessionAttrs) -> Result<Connected, Error> {
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
                self.config.connect(NoTls).await.map(|(client, _)| (client, tokio::spawn(async {})))
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
    ) -> Result<Connected, Error> {
        let mut config = server.config.clone();
        config.target_session_attrs(attributes);
        if server.is_socket {
            let (client, connection) = config.connect(NoTls).await?;
            return Ok((client, drive(connection, &server.name)));
        }
        let (client, connection) = config.connect(self.tls.clone()).await?;
        Ok((client, drive(connection, &server.name)))
    }
}

/// Spawns the task of a connection.
fn drive<S>(connection: Connection<Socket, S>, server: &str) -> JoinHandle<()>
where
    S: TlsStream + Unpin + Send + 'static,
{
    let server = server.to_owned();
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!("postgres at {server}: the connection ended: {error}");
        }
    })
}
