//! Until when the certificate of the server is valid, for `/readyz` and `/metrics` (MANUAL.md, 13.4).

use std::sync::Arc;
use std::time::SystemTime;

use swarm_core::Timestamp;

/// How long before its end a certificate is warned of.
const WARN_MILLIS: i64 = 14 * 86_400_000;

/// Returns when the certificate in use expires.
#[derive(Clone)]
pub(crate) struct CertificateExpiry(Arc<dyn Fn() -> Option<Timestamp> + Send + Sync>);

impl CertificateExpiry {
    pub(crate) fn new(not_after: impl Fn() -> Option<Timestamp> + Send + Sync + 'static) -> Self {
        Self(Arc::new(not_after))
    }

    pub(crate) fn not_after(&self) -> Option<Timestamp> {
        (self.0)()
    }

    pub(crate) fn warning(&self) -> Option<String> {
        expiry_warning((self.0)()?, server_time())
    }
}

/// The warning about a certificate that is valid until `not_after`, where it has expired, or will within 14 days.
pub fn expiry_warning(not_after: Timestamp, now: Timestamp) -> Option<String> {
    if not_after < now {
        return Some(format!("the TLS certificate expired at {not_after}"));
    }
    (not_after < now.plus_millis(WARN_MILLIS))
        .then(|| format!("the TLS certificate expires at {not_after}"))
}

/// The time of this machine, by which the certificate is judged, as clients judge it by theirs.
#[allow(clippy::disallowed_methods, reason = "a certificate has nothing to do with the store")]
fn server_time() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::EPOCH.plus_millis(since.as_millis().try_into().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_warned_of_for_its_last_two_weeks_and_afterwards() {
        let now = Timestamp::parse("now", "2026-11-21T12:00:00Z").unwrap();
        let warning = |millis| expiry_warning(now.plus_millis(millis), now);
        assert_eq!(warning(WARN_MILLIS), None);
        let soon = warning(WARN_MILLIS - 1).unwrap();
        assert_eq!(soon, "the TLS certificate expires at 2026-12-05T11:59:59.999Z");
        assert!(warning(0).unwrap().contains("expires at"));
        assert!(warning(-1).unwrap().contains("expired at 2026-11-21T11:59:59.999Z"));
    }
}
