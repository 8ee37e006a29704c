//! Connections over TLS, with the channel binding `tls-server-end-point` (RFC 5929, section 4): it ties the proof of the
//! password to the certificate of the server.

use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::db::rfc5912::{
    ECDSA_WITH_SHA_256, ECDSA_WITH_SHA_384, ECDSA_WITH_SHA_512, SHA_1_WITH_RSA_ENCRYPTION,
    SHA_256_WITH_RSA_ENCRYPTION, SHA_384_WITH_RSA_ENCRYPTION, SHA_512_WITH_RSA_ENCRYPTION,
};

/// Makes connections with this configuration.
#[derive(Clone)]
pub(crate) struct MakeEncrypted {
    pub(crate) config: Arc<ClientConfig>,
    /// Whether the certificate has to have the name of the host.
    pub(crate) verifies_name: bool,
}

/// The next handshake.
pub(crate) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// A connection over TLS.
pub(crate) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S> MakeTlsConnect<S> for MakeEncrypted
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            Err(_) if self.verifies_name => {
                let why = format!(
                    "no certificate can have the name {host:?}, which sslmode=verify-full compares"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            // Nobody looks at it: an address is not sent to the server.
            Err(_) => Ipv4Addr::UNSPECIFIED.into(),
        };
        Ok(Handshake { connector: Arc::clone(&self.config).into(), name })
    }
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connected = self.connector.connect(self.name, stream);
        Box::pin(async move { Ok(Encrypted(connected.await?)) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        let certificate = session.peer_certificates().and_then(|chain| chain.first());
        let hash = certificate.and_then(|certificate| end_point(certificate));
        hash.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// The hash of a certificate, by the algorithm of its signature, but SHA-256 for SHA-1. `None` where the algorithm has none of
/// these, as Ed25519.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    match Certificate::from_der(certificate).ok()?.signature_algorithm.oid {
        SHA_1_WITH_RSA_ENCRYPTION | SHA_256_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_256 => {
            Some(Sha256::digest(certificate).to_vec())
        }
        SHA_384_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_384 => {
            Some(Sha384::digest(certificate).to_vec())
        }
        SHA_512_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_512 => {
            Some(Sha512::digest(certificate).to_vec())
        }
        _ => None,
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
