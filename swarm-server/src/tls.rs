//! TLS for the accept loop, with rustls and a certificate that can be replaced at run time.

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use swarm_core::proof::pem_text;
use tokio::io::{AsyncRead, AsyncWrite};
pub(crate) use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::socket::Socket;

/// A certificate chain and its private key. Clones share them: [`replace`](Self::replace) takes effect with the next
/// handshake; open connections are not affected.
#[derive(Clone)]
pub struct TlsCertificate(Arc<Current>);

/// Why a certificate and its key cannot be used. The text never contains the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The chain is not PEM, or contains no certificate.
    #[error("no certificate in PEM form: {0}")]
    Certificate(PemFault),
    /// The key is not PEM, or contains no private key.
    #[error("no private key in PEM form: {0}")]
    Key(PemFault),
    /// The program has installed no cryptography provider in rustls, and the feature `ring` is off.
    #[error("rustls has no cryptography provider: install one, or enable the feature ring")]
    Provider,
    /// The cryptography provider has no cipher suite of TLS 1.2 or 1.3.
    #[error("rustls' cryptography provider supports neither TLS 1.2 nor TLS 1.3")]
    Versions(#[source] rustls::Error),
    /// rustls rejects the pair, for example because the key belongs to another certificate.
    #[error("certificate and key cannot be used together: {0}")]
    Pair(rustls::Error),
}

/// What is wrong with a PEM file. The text has nothing of the file, which may be a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PemFault {
    /// It has no section of the kind that is needed.
    #[error("it has no such section")]
    Nothing,
    /// A line that begins or ends a section is incomplete, as in a file whose line ends became spaces, or a backslash and an n,
    /// or has more, as where files were joined without a line end.
    #[error("a section does not begin and end with lines of its own")]
    Lines,
    /// What is in a section is not base64.
    #[error("a section is not base64")]
    Base64,
}

impl From<pem::Error> for PemFault {
    fn from(error: pem::Error) -> Self {
        match error {
            pem::Error::MissingSectionEnd { .. } | pem::Error::IllegalSectionStart { .. } => {
                Self::Lines
            }
            pem::Error::Base64Decode(_) => Self::Base64,
            _ => Self::Nothing,
        }
    }
}

impl TlsCertificate {
    /// Parses a certificate chain, the server's own certificate first, and its private key (PKCS#8, PKCS#1 or SEC1).
    ///
    /// # Errors
    /// [`TlsError`] if either is not PEM, they do not match, or there is no cryptography provider.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        Ok(Self(Arc::new(Current(RwLock::new(certified(chain, key)?)))))
    }

    /// Replaces the certificate and the key.
    ///
    /// # Errors
    /// Like [`from_pem`](Self::from_pem); the old pair then stays in use.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), TlsError> {
        let new = certified(chain, key)?;
        *self.0.0.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// When the server's own certificate expires, since the beginning of 1970; `None` if the certificate cannot be read.
    pub fn not_after(&self) -> Option<Duration> {
        let current = self.0.0.read().unwrap_or_else(PoisonError::into_inner);
        let certificate = Certificate::from_der(current.cert.first()?).ok()?;
        Some(certificate.tbs_certificate.validity.not_after.to_unix_duration())
    }

    /// The acceptor of handshakes: TLS 1.2 and 1.3, HTTP/1.1.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let mut config = ServerConfig::builder_with_provider(provider()?)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Versions)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.0) as Arc<dyn ResolvesServerCert>);
        // Probes may offer HTTP/1.0 alone.
        config.alpn_protocols = vec![b"http/1.1".to_vec(), b"http/1.0".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl fmt::Debug for TlsCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsCertificate").finish_non_exhaustive()
    }
}

fn certified(chain: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain = pem_text(chain).ok_or(TlsError::Certificate(PemFault::Lines))?;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Certificate(PemFault::from(error)))?;
    if chain.is_empty() {
        return Err(TlsError::Certificate(PemFault::Nothing));
    }
    let key = pem_text(key).ok_or(TlsError::Key(PemFault::Lines))?;
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(PemFault::from(error)))?;
    let provider = provider()?;
    CertifiedKey::from_der(chain, key, &provider).map(Arc::new).map_err(TlsError::Pair)
}

/// The provider that the program has installed, else ring, if it is built in. None is installed here: the program around may
/// use its own.
fn provider() -> Result<Arc<CryptoProvider>, TlsError> {
    if let Some(installed) = CryptoProvider::get_default() {
        return Ok(Arc::clone(installed));
    }
    #[cfg(feature = "ring")]
    return Ok(Arc::new(rustls::crypto::ring::default_provider()));
    #[cfg(not(feature = "ring"))]
    return Err(TlsError::Provider);
}

/// The pair in use.
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").finish_non_exhaustive()
    }
}

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Performs the TLS handshake, if `tls` is given.
pub(crate) async fn accept(
    socket: Socket,
    tls: Option<TlsAcceptor>,
) -> io::Result<Box<dyn Stream>> {
    match tls {
        Some(tls) => Ok(Box::new(tls.accept(socket).await?)),
        None => Ok(Box::new(socket)),
    }
}
