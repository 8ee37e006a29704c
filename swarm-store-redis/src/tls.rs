//! The cryptography provider of TLS connections: ring, where the program has installed none.
//!
//! The driver has no parameter for a provider. It takes the one that is installed in rustls for the whole process, and rustls
//! panics where none is. So this installs one, but never for an address without TLS: the process belongs to the program.

use rustls::crypto::{CryptoProvider, ring};

/// Installs ring in rustls if connections to this address use TLS and nothing is installed.
pub(crate) fn install_provider(url: &str) {
    if uses_tls(url) && CryptoProvider::get_default().is_none() {
        // Another thread may have installed one since: then that one is used.
        let _ = ring::default_provider().install_default();
    }
}

/// Whether connections use TLS: what is before `://`, or before `-cluster` or `-sentinel`, is a scheme of TLS.
fn uses_tls(url: &str) -> bool {
    let scheme = url.split([':', '-']).next().unwrap_or_default();
    ["rediss", "valkeys"].iter().any(|tls| scheme.eq_ignore_ascii_case(tls))
}

#[cfg(test)]
mod tests {
    use super::uses_tls;

    #[test]
    fn only_schemes_of_tls_need_a_provider() {
        for secure in [
            "rediss://a",
            "REDISS://a",
            "valkeys://a",
            "rediss-cluster://a:1,b:2",
            "rediss-sentinel://a:1/b",
        ] {
            assert!(uses_tls(secure), "{secure}");
        }
        for plain in [
            "redis://a",
            "valkey://a",
            "redis://rediss:x@a",
            "redis-cluster://a:1",
            "redis-sentinel://a:1/rediss",
            "unix:///a",
        ] {
            assert!(!uses_tls(plain), "{plain}");
        }
    }
}
