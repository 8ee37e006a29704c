//! The mail server that an address names, and connections to it (API.md, 7.5).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use lettre::Message;
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use rustls_native_certs::load_native_certs;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use url::Url;

use crate::store::encodes_percent_signs;

/// Maximum number of bytes of a reply of the mail server, several times what SMTP allows.
const MAX_REPLY: usize = 64 << 10;

/// How long the mail server may take to end the session, after it has accepted a message.
const MAX_QUIT: Duration = Duration::from_secs(1);

const NO_ADDRESS: &str =
    "must be smtp://host:port or smtps://host:port, user and password percent-encoded";

const IN_CLEAR: &str = "would send the password without TLS: use smtps://, or add ?tls=required for STARTTLS, or \
                        ?insecure=true where everybody on the way is trusted";

/// A mail server.
#[derive(Clone)]
pub(super) struct MailServer {
    host: String,
    port: u16,
    security: Security,
    credentials: Option<Credentials>,
    /// The name for EHLO, if the address has one.
    helo: Option<String>,
    /// Whether the password may be sent without TLS.
    insecure: bool,
}

#[derive(Clone)]
enum Security {
    Clear,
    /// STARTTLS, without which nothing is sent.
    Required(TlsParameters),
    /// STARTTLS if the server offers it.
    Opportunistic(TlsParameters),
    Tls(TlsConnector, ServerName<'static>),
}

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeliveryError {
    #[error(transparent)]
    Smtp(#[from] smtp::Error),
    #[error("connection error: {0}")]
    Connection(#[from] io::Error),
    #[error("the mail server offers no TLS, and the password is not sent without")]
    NoTls,
}

/// The parameters of an address.
#[derive(Default)]
struct Parameters {
    /// Whether STARTTLS is required, or only used if the server offers it.
    starttls: Option<bool>,
    helo: Option<String>,
    insecure: bool,
}

impl Parameters {
    fn parse(url: &Url) -> Result<Self, &'static str> {
        let mut parameters = Self::default();
        // A path is the name for EHLO too.
        let path = url.path().trim_matches('/');
        let mut helo = (!path.is_empty()).then(|| path.to_owned());
        for (name, value) in url.query_pairs() {
            match (&*name, &*value) {
                ("tls", "required") => parameters.starttls = Some(true),
                ("tls", "opportunistic") => parameters.starttls = Some(false),
                ("tls", _) => return Err("tls: must be required or opportunistic"),
                ("helo", name) => helo = Some(name.to_owned()),
                ("insecure", "true" | "false") => parameters.insecure = value == "true",
                ("insecure", _) => return Err("insecure: must be true or false"),
                _ => return Err("has a parameter other than tls, helo and insecure"),
            }
        }
        let helo = helo.map(|name| match name.parse() {
            // The literals of RFC 5321, section 4.1.3.
            Ok(IpAddr::V4(address)) => Some(format!("[{address}]")),
            Ok(IpAddr::V6(address)) => Some(format!("[IPv6:{address}]")),
            Err(_) => idna::domain_to_ascii(&name).ok().filter(|name| is_name(name)),
        });
        let helo = helo.map(|name| name.ok_or("helo: must be the name of a host")).transpose()?;
        Ok(Self { helo, ..parameters })
    }
}

impl MailServer {
    /// Parses an address. The error is the rule, without the address, which may have a password.
    pub(super) fn parse(address: &str) -> Result<Self, &'static str> {
        let url = Url::parse(address).map_err(|_| NO_ADDRESS)?;
        let Parameters { starttls, helo, insecure } = Parameters::parse(&url)?;
        let text = |part: &str| {
            if !encodes_percent_signs(part) {
                return Err(NO_ADDRESS);
            }
            let decoded = percent_decode_str(part).decode_utf8().map_err(|_| NO_ADDRESS)?;
            Ok::<_, &'static str>(decoded.into_owned())
        };
        let host = text(url.host_str().filter(|host| !host.is_empty()).ok_or(NO_ADDRESS)?)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = idna::domain_to_ascii(host).map_err(|_| NO_ADDRESS)?;
        let tls = || TlsParameters::new(host.clone()).map_err(|_| NO_ADDRESS);
        let (security, port) = match (url.scheme(), starttls) {
            ("smtp", None) => (Security::Clear, 25),
            ("smtp", Some(true)) => (Security::Required(tls()?), 587),
            ("smtp", Some(false)) => (Security::Opportunistic(tls()?), 587),
            ("smtps", _) => {
                let name = ServerName::try_from(host.clone()).map_err(|_| NO_ADDRESS)?;
                let connector = connector().map_err(|_| "smtps needs TLS 1.2 or 1.3")?;
                (Security::Tls(connector, name), 465)
            }
            _ => return Err(NO_ADDRESS),
        };
        let credentials = match url.password() {
            Some(password) => Some(Credentials::new(text(url.username())?, text(password)?)),
            None => None,
        };
        if credentials.is_some() && matches!(security, Security::Clear) && !insecure {
            return Err(IN_CLEAR);
        }
        let port = url.port().unwrap_or(port);
        Ok(Self { host, port, security, credentials, helo, insecure })
    }

    /// Sends a letter. The name in EHLO is `sender`, unless the address of the server has `helo=`.
    pub(super) async fn send(&self, letter: &Message, sender: &str) -> Result<(), DeliveryError> {
        let helo = ClientId::Domain(self.helo.as_deref().unwrap_or(sender).to_owned());
        let mut connection = self.connect(&helo).await?;
        connection.send(letter.envelope(), &letter.formatted()).await?;
        // The letter is accepted, however the session ends.
        let _ = timeout(MAX_QUIT, connection.quit()).await;
        Ok(())
    }

    /// This error; if the server does not seem to speak as the address says, with the scheme that may be meant.
    pub(super) fn explained(&self, error: String) -> String {
        match &self.security {
            Security::Tls(..) if error.contains("InvalidContentType") => {
                error
                    + "; a port that begins without TLS, such as 587, needs smtp://, with ?tls=required"
            }
            Security::Tls(..) => error,
            // It waits for the first bytes of TLS.
            _ if error.ends_with("took too long") => {
                error + "; a port with TLS from the start, such as 465, needs smtps://"
            }
            _ => error,
        }
    }

    async fn connect(&self, helo: &ClientId) -> Result<AsyncSmtpConnection, DeliveryError> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;
        let address = stream.peer_addr()?;
        let stream: Box<dyn AsyncTokioStream> = match &self.security {
            Security::Tls(connector, name) => {
                let stream = connector.connect(name.clone(), stream).await?;
                Box::new(Bounded { stream, address, read: 0 })
            }
            _ => Box::new(Bounded { stream, address, read: 0 }),
        };
        let mut connection = AsyncSmtpConnection::connect_with_transport(stream, helo).await?;
        match &self.security {
            Security::Required(tls) => connection.starttls(tls.clone(), helo).await?,
            Security::Opportunistic(tls) if connection.can_starttls() => {
                connection.starttls(tls.clone(), helo).await?;
            }
            _ => {}
        }
        if let Some(credentials) = &self.credentials {
            let is_secret = matches!(self.security, Security::Tls(..)) || connection.is_encrypted();
            if !is_secret && !self.insecure {
                return Err(DeliveryError::NoTls);
            }
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }
}

/// TLS that trusts the authorities of the system.
fn connector() -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
    !name.is_empty() && name.len() <= 255 && name.bytes().all(is_part)
}

/// A connection that ends when the mail server sends more than [`MAX_REPLY`] at a time: a reply is read to the end of its
/// line, however long that is.
#[derive(Debug)]
struct Bounded<S> {
    stream: S,
    address: SocketAddr,
    /// The number of bytes that were read since the last write.
    read: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read > MAX_REPLY {
            return Poll::Ready(Err(io::Error::other("the reply is too long")));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.read += buf.filled().len() - before;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.read = 0;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug> AsyncTokioStream
    for Bounded<S>
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
