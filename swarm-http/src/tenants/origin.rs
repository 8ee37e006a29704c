//! The configured origin of a tenant, for links.

use std::fmt;

use swarm_core::Invalid;

use super::Host;

/// A scheme and a host with an optional port, in lower case: `https://acme.example`,
/// `http://acme.example:8080`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin(String);

impl PublicOrigin {
    /// Parses an origin.
    ///
    /// # Errors
    /// [`Invalid`] for anything but `http://` or `https://` and a host.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, Invalid> {
        let parts = text.as_ref().split_once("://");
        let origin = parts.and_then(|(scheme, host)| {
            let scheme = scheme.to_ascii_lowercase();
            let host = Host::parse(host).filter(|_| matches!(&*scheme, "http" | "https"))?;
            Some(Self(format!("{scheme}://{host}")))
        });
        let rule = "must be http:// or https:// and a host, nothing more";
        origin.ok_or_else(|| Invalid::new("public_origin", rule))
    }

    /// The host, without its port.
    pub fn host(&self) -> &str {
        let host = self.0.split_once("://").map_or("", |(_, host)| host);
        let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PublicOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
