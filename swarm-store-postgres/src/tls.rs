//! TLS: what `sslmode` verifies of the server's certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use swarm_core::proof::pem_text;

use crate::failure::{Failure, Outcome};
use crate::settings::{Tls, Verify};
use crate::tls_stream::MakeEncrypted;

/// A connector that verifies what the settings say.
pub(crate) fn connector(tls: &Tls) -> Outcome<MakeEncrypted> {
    let provider = provider()?;
    let verifier = Verifier {
        verify: tls.verify,
        authorities: authorities(tls, &provider)?,
        provider: Arc::clone(&provider),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::misconfigured(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    // What `sslnegotiation=direct` wants.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    let verifies_name = tls.verify == Verify::AuthorityAndName;
    Ok(MakeEncrypted { config: Arc::new(config), verifies_name })
}

/// The file with the authorities, unless they are those of the system.
pub(crate) fn authorities_file(tls: &Tls) -> Option<&Path> {
    tls.root_certificate.as_deref().filter(|file| *file != Path::new("system"))
}

/// The provider that the program has installed, else ring, if it is built in. None is installed here: another store or
/// server in the program may use its own.
fn provider() -> Outcome<Arc<CryptoProvider>> {
    if let Some(installed) = CryptoProvider::get_default() {
        return Ok(Arc::clone(installed));
    }
    #[cfg(feature = "ring")]
    return Ok(Arc::new(rustls::crypto::ring::default_provider()));
    #[cfg(not(feature = "ring"))]
    return Err(Failure::misconfigured(
        "rustls has no cryptography provider: install one, enable the feature `ring`, or say sslmode=disable",
    ));
}

/// Verifies certificates by the authorities of the settings; `None` where none is verified.
fn authorities(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Outcome<Option<Arc<WebPkiServerVerifier>>> {
    if tls.verify == Verify::Nothing {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    match authorities_file(tls) {
        Some(file) => {
            let unreadable = |error: &dyn std::fmt::Display| {
                Failure::misconfigured(format!(
                    "sslrootcert, {}, cannot be read: {error}",
                    file.display()
                ))
            };
            let pem = std::fs::read(file).map_err(|error| unreadable(&error))?;
            let pem = pem_text(&pem).ok_or_else(|| {
                unreadable(&"a section does not begin and end with lines of its own")
            })?;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let added = roots.add(certificate.map_err(|error| unreadable(&error))?);
                added.map_err(|error| Failure::misconfigured(format!("sslrootcert: {error}")))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let verifier = verifier.build();
    verifier.map(Some).map_err(|error| Failure::misconfigured(format!("sslrootcert: {error}")))
}

#[derive(Debug)]
struct Verifier {
    verify: Verify,
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The name is checked last, so everything else holds.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verify == Verify::Authority => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(all(test, feature = "ring"))]
mod tests {
    use tokio::net::TcpStream;
    use tokio_postgres::tls::MakeTlsConnect;

    use super::*;

    /// libpq connects to such hosts.
    #[test]
    fn host_may_be_no_name_unless_it_is_verified() {
        let tls = Tls { verify: Verify::Nothing, root_certificate: None };
        let mut connector = connector(&tls).ok().unwrap();
        let mut made = |verifies_name, host| {
            connector.verifies_name = verifies_name;
            let made = MakeTlsConnect::<TcpStream>::make_tls_connect(&mut connector, host);
            made.map(drop).map_err(|error| error.to_string())
        };
        for host in ["fe80::1%lo", "127.1", "db-.x", "bücher.example"] {
            assert_eq!(made(false, host), Ok(()), "{host}");
            let refused = made(true, host).unwrap_err();
            assert!(refused.contains(&format!("{host:?}")), "{refused}");
        }
        assert_eq!(made(true, "db.example"), Ok(()));
    }

    #[test]
    fn authorities_that_were_joined_without_a_line_end_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
        std::fs::write(file.path(), format!("{one}{one}\n")).unwrap();
        let root_certificate = Some(file.path().to_owned());
        let refused = connector(&Tls { verify: Verify::Authority, root_certificate }).err();
        let why = refused.map(|failure| failure.to_string()).unwrap_or_default();
        assert!(why.starts_with("sslrootcert") && why.contains("lines of its own"), "{why}");
    }
}
