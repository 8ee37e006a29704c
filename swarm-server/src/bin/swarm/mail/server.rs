//! The mail server that an address names, and connections to it (API.md, 7.5).

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use lettre::Message;
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::Starttls;
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use rustls_native_certs::load_native_certs;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use url::Url;

use crate::store::encodes_percent_signs;

use super::replies::{Replies, Stream, Subject};

/// The maximum time for the end of a session, after the mail server has accepted a message.
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
    /// STARTTLS if the server offers it; where it is required, nothing is sent without.
    StartTls {
        tls: Tls,
        required: bool,
    },
    Tls(Tls),
}

/// TLS with this server, by its name.
#[derive(Clone)]
struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    async fn connect<S: Stream>(&self, stream: S) -> io::Result<TlsStream<S>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeliveryError {
    #[error(transparent)]
    Smtp(#[from] smtp::Error),
    /// It is about the recipient, or the letter.
    #[error(transparent)]
    Letter(smtp::Error),
    #[error("connection error: {0}")]
    Connection(#[from] io::Error),
    #[error("the mail server offers no TLS, and the password is not sent without")]
    NoTls,
    #[error("STARTTLS is not supported by the mail server")]
    NoStartTls,
    #[error("no connection to the mail server in time")]
    Unreached,
    /// It did not say a word.
    #[error("the mail server took too long")]
    Silent,
    #[error("the mail server took too long")]
    Slow,
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
        let tls = || {
            let name = ServerName::try_from(host.clone()).map_err(|_| NO_ADDRESS)?;
            let connector = connector().map_err(|_| "needs TLS 1.2 or 1.3")?;
            Ok::<_, &'static str>(Tls { connector, name })
        };
        let (security, port) = match (url.scheme(), starttls) {
            ("smtp", None) => (Security::Clear, 25),
            ("smtp", Some(required)) => (Security::StartTls { tls: tls()?, required }, 587),
            ("smtps", _) => (Security::Tls(tls()?), 465),
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

    /// Sends a letter in this time, half of it at most for the connection. The name in EHLO is `sender`, unless the address of the
    /// server has `helo=`.
    pub(super) async fn send(
        &self,
        letter: &Message,
        sender: &str,
        limit: Duration,
    ) -> Result<(), DeliveryError> {
        let end = Instant::now() + limit;
        let helo = ClientId::Domain(self.helo.as_deref().unwrap_or(sender).to_owned());
        let reached = timeout(limit / 2, self.reach(limit / 2)).await;
        let stream = reached.map_err(|_elapsed| DeliveryError::Unreached)??;
        if !matches!(self.security, Security::Tls(_)) {
            let spoken = timeout_at(end, stream.readable()).await;
            spoken.map_err(|_elapsed| DeliveryError::Silent)??;
        }
        let delivered = timeout_at(end, self.deliver(stream, letter, &helo)).await;
        let mut connection = delivered.map_err(|_elapsed| DeliveryError::Slow)??;
        // The letter is accepted, however the session ends.
        // `abort` sends QUIT once. `quit` sends it again where no answer comes, and none is read.
        let _ = timeout(MAX_QUIT, connection.abort()).await;
        Ok(())
    }

    /// The text of an error; if the server does not seem to speak as the address says, with the scheme that may be meant.
    pub(super) fn explained(&self, error: &DeliveryError) -> String {
        let text = error.to_string();
        match (&self.security, error) {
            (Security::Tls(_), _) if text.contains("InvalidContentType") => {
                text + "; a port that begins without TLS, such as 587, needs smtp://, with ?tls=required"
            }
            // It waits for the first bytes of TLS.
            (_, DeliveryError::Silent) => {
                text + "; a port with TLS from the start, such as 465, needs smtps://"
            }
            _ => text,
        }
    }

    async fn reach(&self, limit: Duration) -> Result<TcpStream, DeliveryError> {
        let addresses: Vec<_> = lookup_host((&*self.host, self.port)).await?.collect();
        first_reached(&addresses, limit).await
    }

    async fn deliver(
        &self,
        stream: TcpStream,
        letter: &Message,
        helo: &ClientId,
    ) -> Result<AsyncSmtpConnection, DeliveryError> {
        let (mut connection, replies) = self.session(stream, helo).await?;
        let sent = connection.send(letter.envelope(), &letter.formatted()).await;
        let Err(error) = sent else { return Ok(connection) };
        let is_of_the_letter = match replies.subject() {
            // lettre itself refuses an address that the server does not take.
            Subject::Sender => error.is_client(),
            Subject::Recipient => !is_recipient_refused_for_us(&error),
            Subject::Letter => !is_letter_refused_for_us(&error),
        };
        Err(if is_of_the_letter { DeliveryError::Letter(error) } else { error.into() })
    }

    /// A session that is ready for letters.
    async fn session(
        &self,
        stream: TcpStream,
        helo: &ClientId,
    ) -> Result<(AsyncSmtpConnection, Replies), DeliveryError> {
        let address = stream.peer_addr()?;
        let mut replies = match &self.security {
            Security::Tls(tls) => Replies::new(tls.connect(stream).await?, address),
            _ => Replies::new(stream, address),
        };
        let mut is_secret = matches!(self.security, Security::Tls(_));
        let mut connection = greeted(&replies, helo).await?;
        if let Security::StartTls { tls, required } = &self.security {
            if connection.can_starttls() {
                connection.command(Starttls).await?;
                drop(connection);
                let stream = tls.connect(replies.into_clear()?).await?;
                replies = Replies::upgraded(stream, address);
                connection = greeted(&replies, helo).await?;
                is_secret = true;
            } else if *required {
                return Err(DeliveryError::NoStartTls);
            }
        }
        if let Some(credentials) = &self.credentials {
            if !is_secret && !self.insecure {
                return Err(DeliveryError::NoTls);
            }
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok((connection, replies))
    }
}

/// Whether a refusal of the recipient is about us by its enhanced status code (RFC 3463): about the address of the sender, the commands or the policy.
/// Mail servers such as Postfix refuse the client and the sender only once they hear of the recipient. 5.5.0 is about the mailbox.
fn is_recipient_refused_for_us(error: &smtp::Error) -> bool {
    let code = enhanced_code(error);
    let is_of_command = matches!(&*code, "5.5.1" | "5.5.2" | "5.5.3" | "5.5.4");
    is_of_sender(&code) || is_of_command || code.starts_with("5.7.")
}

/// Whether a refusal of the letter is about us: about the address of the sender, or what proves the sender, such as SPF and DKIM (RFC 7372, RFC 7505).
fn is_letter_refused_for_us(error: &smtp::Error) -> bool {
    let code = enhanced_code(error);
    let detail: Option<u8> = code.strip_prefix("5.7.").and_then(|detail| detail.parse().ok());
    is_of_sender(&code) || detail.is_some_and(|detail| (20..=27).contains(&detail))
}

fn is_of_sender(code: &str) -> bool {
    matches!(code, "5.1.7" | "5.1.8")
}

/// What a reply begins with: its enhanced status code, if it has one.
fn enhanced_code(error: &smtp::Error) -> String {
    let text = error.source().map(ToString::to_string).unwrap_or_default();
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

async fn greeted(replies: &Replies, helo: &ClientId) -> Result<AsyncSmtpConnection, smtp::Error> {
    AsyncSmtpConnection::connect_with_transport(Box::new(replies.clone()), helo).await
}

/// A connection to the first of these addresses that answers. Each has the same share of the time, so that one that does not
/// answer leaves the others theirs.
async fn first_reached(
    addresses: &[SocketAddr],
    limit: Duration,
) -> Result<TcpStream, DeliveryError> {
    let share = limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut fault = DeliveryError::Unreached;
    for address in addresses {
        match timeout(share, TcpStream::connect(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => fault = error.into(),
            Err(_elapsed) => fault = DeliveryError::Unreached,
        }
    }
    Err(fault)
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

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    #[tokio::test]
    async fn address_that_does_not_answer_leaves_time_for_the_next() {
        // The system drops connections to a full backlog.
        let dead = TcpSocket::new_v4().unwrap();
        dead.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let dead = dead.listen(0).unwrap();
        let silent = dead.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = first_reached(&[silent], Duration::from_millis(200)).await {
            waiting.push(stream);
            assert!(waiting.len() < 64, "the backlog is never full");
        }
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let answering = alive.local_addr().unwrap();
        let stream = first_reached(&[silent, answering], Duration::from_millis(400)).await;
        assert_eq!(stream.unwrap().peer_addr().unwrap(), answering);
        let fault = first_reached(&[silent], Duration::from_millis(200)).await.unwrap_err();
        assert!(matches!(fault, DeliveryError::Unreached), "{fault}");
    }
}
