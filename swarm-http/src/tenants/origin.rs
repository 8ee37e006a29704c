//! The origin that a tenant's links name.

use std::fmt;

use http::uri::Authority;
use swarm_core::Invalid;

/// `https://acme.example` or `http://acme.example:8080`: a scheme and a host, perhaps with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin(String);

impl PublicOrigin {
    /// The origin that `text` is.
    ///
    /// # Errors
    /// [`Invalid`] for anything else than `http://` or `https://` and a host.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let authority = authority.and_then(|host| host.parse::<Authority>().ok());
        let host = authority.as_ref().map(Authority::host).unwrap_or_default();
        if host.is_empty() || text.contains('@') {
            let rule = "must be http:// or https:// and a host, nothing more";
            return Err(Invalid::new("public_origin", rule));
        }
        Ok(Self(text))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PublicOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
