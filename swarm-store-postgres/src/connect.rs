//! How connections are opened: by an address, or by the program itself.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_postgres::config::Host;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Client, Config, Connection, Error, Socket};

use crate::failure::Failure;

/// The port of a server that names none.
const DEFAULT_PORT: u16 = 5432;

/// Opens connections to a database: how a program brings its own servers, TLS and passwords. The pool calls it when it needs
/// another connection.
///
/// A connection may begin with settings of its own, such as a role. It must not be in a transaction, and its
/// `search_path` does not matter.
#[async_trait]
pub trait Connect: Send + Sync {
    /// Opens a connection. It may take as long as the statement timeout of the pool.
    ///
    /// # Errors
    /// [`ConnectError`]: that of the client decides whether a call is tried again.
    async fn connect(&self) -> Result<Opened, ConnectError>;

    /// Names the servers in errors and logs, without secrets.
    fn servers(&self) -> String;
}

/// Why no connection was opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The error of the client.
    #[error(transparent)]
    Client(#[from] Error),
    /// The error of the client, and what may be its cause.
    #[error("{0}; {1}")]
    Hinted(#[source] Error, String),
    /// Something that has to come first failed, such as the source of the password. The store is unavailable meanwhile. The text is
    /// logged.
    #[error(transparent)]
    Before(Box<dyn std::error::Error + Send + Sync>),
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Client(error) => error.into(),
            ConnectError::Hinted(error, hint) => Self::from(error).hinted(&hint),
            ConnectError::Before(cause) => Self::of_program(cause),
        }
    }
}

/// The source of a password that changes.
type PasswordSource =
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<String, ConnectError>> + Send>> + Send + Sync;

/// An open connection, and what drives it.
pub struct Opened {
    pub(crate) client: Client,
    pub(crate) driver: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
}

impl Opened {
    /// A connection as `tokio_postgres` opens it. The pool drives it in a task on the runtime of the call.
    pub fn new<S>(client: Client, connection: Connection<Socket, S>) -> Self
    where
        S: TlsStream + Unpin + Send + 'static,
    {
        Self { client, driver: Box::pin(connection) }
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

/// Connections by a configuration of `tokio_postgres`, with a TLS connector of the program's choice, or
/// [`NoTls`](tokio_postgres::NoTls).
#[derive(Clone)]
pub struct ConfigConnect<T> {
    config: Config,
    tls: T,
    password: Option<Arc<PasswordSource>>,
}

impl<T> ConfigConnect<T> {
    /// Connects by this configuration.
    pub fn new(config: Config, tls: T) -> Self {
        Self { config, tls, password: None }
    }

    /// Asks this source for the password, with each connection: for passwords that change, as databases in the cloud have them.
    #[must_use]
    pub fn with_password<F, E>(self, source: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let ask = move || -> Pin<Box<dyn Future<Output = _> + Send>> {
            let asked = source();
            Box::pin(async move { asked.await.map_err(|error| ConnectError::Before(error.into())) })
        };
        Self { password: Some(Arc::new(ask)), ..self }
    }
}

impl<T> ConfigConnect<T>
where
    T: MakeTlsConnect<Socket> + Clone,
{
    /// Opens a connection, for the program's own use. It has to drive the second part, in a task.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn open(&self) -> Result<(Client, Connection<Socket, T::Stream>), ConnectError> {
        let mut config = self.config.clone();
        if let Some(password) = &self.password {
            config.password(password().await?);
        }
        Ok(config.connect(self.tls.clone()).await?)
    }
}

impl<T> fmt::Debug for ConfigConnect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client leaves the password out.
        f.debug_struct("ConfigConnect").field("config", &self.config).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T> Connect for ConfigConnect<T>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: TlsStream + Unpin + Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    async fn connect(&self) -> Result<Opened, ConnectError> {
        let (client, connection) = self.open().await?;
        Ok(Opened::new(client, connection))
    }

    fn servers(&self) -> String {
        names(&self.config)
    }
}

/// The hosts of a configuration with their ports, for messages.
pub(crate) fn names(config: &Config) -> String {
    let ports = config.get_ports();
    let named = |(at, host): (usize, &Host)| {
        // One port is that of all hosts.
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        match host {
            Host::Tcp(address) if address.contains(':') => format!("[{address}]:{port}"),
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            // A socket without a file is written with an `@`.
            Host::Unix(folder) => {
                format!("{}:{port}", folder.display().to_string().replace('\0', "@"))
            }
        }
    };
    config.get_hosts().iter().enumerate().map(named).collect::<Vec<_>>().join(", ")
}
