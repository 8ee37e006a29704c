//! The certificate authorities that a client trusts: those of the system, which `SSL_CERT_FILE` and `SSL_CERT_DIR`
//! replace, and those that the program names.

use std::sync::LazyLock;

use swarm_core::proof::pem_text;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Certificate authorities that a client trusts besides those of the system.
#[derive(Clone, Debug, Default)]
pub struct Authorities(Vec<Certificate<'static>>);

/// Not the certificates of authorities in PEM form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no certificates in PEM form, whose sections begin and end with lines of their own")]
pub struct InvalidAuthorities;

impl Authorities {
    /// The certificates in a PEM file.
    ///
    /// # Errors
    /// [`InvalidAuthorities`] if it is not PEM, or contains no certificate.
    pub fn from_pem(pem: &[u8]) -> Result<Self, InvalidAuthorities> {
        let mut certificates = Vec::new();
        for item in parse_pem(pem_text(pem).ok_or(InvalidAuthorities)?) {
            if let PemItem::Certificate(certificate) = item.map_err(|_| InvalidAuthorities)? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() { Err(InvalidAuthorities) } else { Ok(Self(certificates)) }
    }

    /// A configuration of TLS that trusts these and those of the system. On a system without any, those that the
    /// library brings take their place.
    pub(crate) fn config(&self) -> TlsConfig {
        let roots = match (self.0.is_empty(), SYSTEM.is_empty()) {
            (true, true) => RootCerts::WebPki,
            _ => RootCerts::from(SYSTEM.iter().chain(&self.0).cloned()),
        };
        TlsConfig::builder().root_certs(roots).build()
    }
}

/// The authorities of the system, read once: there are some hundred.
static SYSTEM: LazyLock<Vec<Certificate<'static>>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let section = |content: &str| {
            format!("-----BEGIN CERTIFICATE-----\n{content}\n-----END CERTIFICATE-----")
        };
        let joined = section("AAAA").repeat(2);
        for pem in ["", "no PEM", &section("*"), &joined] {
            assert_eq!(Authorities::from_pem(pem.as_bytes()).unwrap_err(), InvalidAuthorities);
        }
    }
}
