//! The keys of logs and of dumps, derived from the one secret of a server (API.md, 11.5).

use hkdf::Hkdf;
use sha2::Sha256;

use super::DumpKey;
use super::note::{KeyKind, NoteSigner};
use crate::domain::Invalid;

/// The secret of a server: 32 bytes, from which its other keys are derived. `Debug` hides it.
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
        let seed = self.derived(&[b"swarm log key v1\n", origin.as_bytes()])?;
        NoteSigner::new(origin, KeyKind::Ed25519, &seed)
    }

    /// Returns the key with which this server signs dumps. Its seed is the HKDF-SHA256 of the secret, without salt, for
    /// `swarm dump key v1`.
    ///
    /// # Errors
    /// [`Invalid`] when the key cannot be derived.
    pub fn dump_key(&self) -> Result<DumpKey, Invalid> {
        Ok(DumpKey::from_seed(&self.derived(&[b"swarm dump key v1"])?))
    }

    fn derived(&self, info: &[&[u8]]) -> Result<[u8; 32], Invalid> {
        let mut seed = [0; 32];
        let expanded = Hkdf::<Sha256>::new(None, &self.0).expand_multi_info(info, &mut seed);
        expanded.map_err(|_| Invalid::new("key", "could not be derived")).map(|()| seed)
    }
}

impl std::fmt::Debug for ServerSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerSecret(..)")
    }
}
