//! Connects to the first server of an address that answers and takes writes. As libpq, it uses TLS over the network alone,
//! never over a Unix socket.

use std::pin::Pin;

use deadpool_postgres::Connect;
use swarm_core::{Entropy as _, SystemEntropy};
use tokio::task::JoinHandle;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Client, Config, Connection, Error, NoTls, Socket};

use crate::failure::takes_no_writes;
use crate::settings::{Access, Server};

/// The servers, and how to encrypt connections to them.
pub(crate) struct Connector<T> {
    servers: Vec<Server>,
    tls: T,
    access: Access,
}

type Connected = (Client, JoinHandle<()>);

impl<T> Connector<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    pub(crate) fn new(servers: Vec<Server>, tls: T, access: Access) -> Self {
        Self { servers, tls, access }
    }

    /// Connects to the first server that has these attributes.
    async fn first(
        &self,
        settings: &Config,
        attributes: TargetSessionAttrs,
    ) -> Result<Connected, Error> {
        let mut refused = None;
        for server in self.in_order(settings) {
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
                settings.connect(NoTls).await.map(|(client, _)| (client, tokio::spawn(async {})))
            }
        }
    }

    /// The servers in the order in which they are tried.
    fn in_order(&self, settings: &Config) -> Vec<&Server> {
        let mut servers: Vec<_> = self.servers.iter().collect();
        if settings.get_load_balance_hosts() == LoadBalanceHosts::Random {
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

impl<T> Connect for Connector<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(
        &self,
        settings: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<Connected, Error>> + Send + '_>> {
        let settings = settings.clone();
        Box::pin(async move {
            let writable = self.first(&settings, TargetSessionAttrs::ReadWrite).await;
            match (writable, self.access) {
                (Err(_), Access::ReadOnly) => self.first(&settings, TargetSessionAttrs::Any).await,
                (connected, _) => connected,
            }
        })
    }
}
