//! Connects to the first server of an address that answers and takes writes. As libpq, it uses TLS over the network alone,
//! never over a Unix socket.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use swarm_core::{Entropy as _, SystemEntropy};
use tokio::time::timeout;
use tokio_postgres::config::{LoadBalanceHosts, SslMode, TargetSessionAttrs};
use tokio_postgres::{Error, NoTls};

use crate::connect::{Connect, ConnectError, Opened, names};
use crate::failure::{Outcome, takes_no_writes};
use crate::options::Options;
use crate::settings::{Server, Settings};

#[cfg(feature = "tls")]
type Tls = crate::tls_stream::MakeEncrypted;
#[cfg(not(feature = "tls"))]
type Tls = NoTls;

/// The longest time in which an address of a server has to accept a connection, unless the parameters say another time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The servers, and how to encrypt connections to them.
pub(crate) struct Connector {
    servers: Vec<Server>,
    /// The position of the server that was connected to last. It is tried first.
    last: AtomicUsize,
    /// Whether any server is tried first instead.
    is_random: bool,
    /// The longest time in which servers are tried before they are tried again as ones that are only read.
    round: Duration,
    /// `None` where no connection is encrypted.
    tls: Option<Tls>,
    is_read_only: bool,
    /// Why the file with passwords is left out, if one is.
    left_out: Option<String>,
    /// The hint for a rejected server certificate: the file that `sslrootcert` names. `None` with the system's authorities.
    #[cfg(feature = "tls")]
    authorities: Option<String>,
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
        let Options { is_read_only, statement_timeout, .. } = settings.options;
        Ok(Self {
            servers: settings.servers.clone(),
            last: AtomicUsize::default(),
            is_random: settings.config.get_load_balance_hosts() == LoadBalanceHosts::Random,
            round: statement_timeout * 4 / 5 / if is_read_only { 2 } else { 1 },
            tls,
            is_read_only,
            left_out: settings.left_out.clone(),
            #[cfg(feature = "tls")]
            authorities: crate::tls::authorities_file(&settings.tls).map(|file| {
                format!("the authorities are those of sslrootcert, {}", file.display())
            }),
        })
    }

    /// Connects to the first server that has these attributes. Where one does not answer soon, the next one is tried beside it.
    async fn first(&self, attributes: TargetSessionAttrs) -> Result<Opened, ConnectError> {
        let mut refused = ConnectError::Before("the address has no host".into());
        let mut servers: Vec<_> = self.servers.iter().enumerate().collect();
        servers.rotate_left(self.begin());
        let patience = self.round / u32::try_from(servers.len()).unwrap_or(u32::MAX).max(1);
        let (mut servers, mut trying) = (servers.into_iter(), FuturesUnordered::new());
        loop {
            if let Some((position, server)) = servers.next() {
                trying.push(async move { (position, self.connect_to(server, attributes).await) });
            }
            let tried = match servers.len() {
                0 => trying.next().await,
                _ => match timeout(patience, trying.next()).await {
                    Ok(tried) => tried,
                    Err(_) => continue,
                },
            };
            match tried {
                Some((position, Ok(connected))) => {
                    self.last.store(position, Ordering::Relaxed);
                    return Ok(connected);
                }
                // A server that takes no writes says more than another that does not answer.
                Some((_, Err(error))) => {
                    if !matches!(&refused, ConnectError::Client(refused) if takes_no_writes(refused))
                    {
                        refused = ConnectError::Client(error);
                    }
                }
                None => return Err(refused),
            }
        }
    }

    /// What may be the cause of an error.
    fn hint(&self, error: &Error) -> Option<&String> {
        #[cfg(feature = "tls")]
        if is_about_certificate(error) {
            return self.authorities.as_ref();
        }
        self.left_out.as_ref().filter(|_| is_about_password(error))
    }

    /// The position of the server that is tried first.
    fn begin(&self) -> usize {
        let mut random = [0];
        match self.is_random && SystemEntropy.fill(&mut random).is_ok() {
            true => usize::from(random[0]) % self.servers.len().max(1),
            false => self.last.load(Ordering::Relaxed),
        }
    }

    async fn connect_to(
        &self,
        server: &Server,
        attributes: TargetSessionAttrs,
    ) -> Result<Opened, Error> {
        let mut config = server.config.clone();
        config.target_session_attrs(attributes);
        if config.get_connect_timeout().is_none() {
            // A name may have an address of each version of IP.
            config.connect_timeout(CONNECT_TIMEOUT.min(self.round / 2));
        }
        let is_plain = config.get_ssl_mode() == SslMode::Disable;
        match self.tls.as_ref().filter(|_| !is_plain) {
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
        let writable = self.first(TargetSessionAttrs::ReadWrite);
        let connected = match self.is_read_only {
            false => writable.await,
            true => match timeout(self.round, writable).await {
                Ok(Ok(connected)) => Ok(connected),
                _ => self.first(TargetSessionAttrs::Any).await,
            },
        };
        connected.map_err(|error| match error {
            ConnectError::Client(error) => match self.hint(&error) {
                Some(hint) => ConnectError::Hinted(error, hint.clone()),
                None => error.into(),
            },
            error => error,
        })
    }

    fn servers(&self) -> String {
        let names: Vec<_> = self.servers.iter().map(|server| names(&server.config)).collect();
        names.join(", ")
    }
}

/// Returns whether a server refused the role or its password, or asked for a password that there is not.
fn is_about_password(error: &Error) -> bool {
    match error.code() {
        Some(code) => code.code().starts_with("28"),
        None => error.source().is_some_and(|cause| !cause.is::<std::io::Error>()),
    }
}

/// Returns whether the certificate of the server is not accepted.
#[cfg(feature = "tls")]
fn is_about_certificate(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let cause = cause.and_then(std::io::Error::get_ref).and_then(|it| it.downcast_ref());
    matches!(cause, Some(rustls::Error::InvalidCertificate(_)))
}
