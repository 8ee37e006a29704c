//! The keys of logs, derived from the one secret of a server (API.md, 11.5).

use hkdf::Hkdf;
use sha2::Sha256;

use super::note::{KeyKind, NoteSigner};
use crate::domain::Invalid;

/// The secret of a server: 32 bytes, from which the key of each log is derived. `Debug` hides it.
#[derive(Clone)]
pub struct ServerSecret([u8; 32]);

impl ServerSecret {
    /// The secret with these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the key of the log with this origin. No two logs have the same: its seed is the
    /// HKDF-SHA256 of the secret, without salt, for `swarm log key v1`, a line feed and the origin.
    ///
    /// # Errors
    /// [`Invalid`] when the origin cannot name a key: it is empty, or has white space or a `+` in
    /// it.
    pub fn log_key(&self, origin: &str) -> Result<NoteSigner, Invalid> {
        let mut seed = [0; 32];
        let info = [b"swarm log key v1\n", origin.as_bytes()];
        let expanded = Hkdf::<Sha256>::new(None, &self.0).expand_multi_info(&info, &mut seed);
        expanded.map_err(|_| Invalid::new("key", "could not be derived"))?;
        NoteSigner::new(origin, KeyKind::Ed25519, &seed)
    }
}

impl std::fmt::Debug for ServerSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerSecret(..)")
    }
}
